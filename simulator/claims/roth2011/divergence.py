"""Roth 2011, Lecture 4: Definitions 2 to 4, their remark, and the bad set of Theorem 6's proof."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from simulator.claims.exact import (
    all_events,
    optimal_delta,
    random_pairs,
    repeated,
    response_tail,
)
from simulator.claims.findings import equal, number, statement, upper_bound
from simulator.claims.model import Fault, Finding, Verdict
from simulator.claims.registry import claim
from simulator.claims.theorems.divergences import defined_on_every_event, one_direction
from simulator.theory.laws import FiniteLaw, randomized_response

Law = np.ndarray


def approximate_divergence(p: Law, q: Law, delta: float) -> float:
    """Delta-approximate max divergence by listing every event; 0/0 and P(S) <= delta count as -inf.

    Source: Roth 2011, Lecture 4, Definition 2, with the boundary put right.
    """
    events = all_events(len(p))
    gain, below = events @ p - delta, events @ q
    usable = gain > 1e-15
    with np.errstate(divide="ignore"):
        return float(np.max(np.log(gain[usable]) - np.log(below[usable]), initial=-np.inf))


@claim(
    "roth2011-definition-2-maximum",
    "Definition 2",
    "The max divergence is a maximum: some event attains it.",
    Verdict.FAILS,
    wrong={"rises": False},
    fault=Fault.SLIP,
)
def divergence_is_attained(*, answers: int = 100, rises: bool = True) -> Finding:
    """A pair whose answer n has the ratio 2 - 2^-n, in exact fractions; or, for ever, 3/2.

    Answer n has probability 2^-(n+1) under Y, and that over the ratio under Z; the halves that are
    left go to one more answer, more likely under Z. An event's ratio is a mean of its answers'
    ratios, so it stays below their supremum, unless some answer attains that.
    """
    supremum = Fraction(2) if rises else Fraction(3, 2)
    ratios = [Fraction(2) - Fraction(1, 2**n) if rises else supremum for n in range(1, answers + 1)]
    under_z = sum(Fraction(1, 2 ** (n + 1)) / ratio for n, ratio in enumerate(ratios, start=1))
    attained = max(ratios) == supremum
    return statement(
        attained and under_z < Fraction(1, 2),
        f"ratios rise to 2 - 2^-{answers} with {answers} answers, and 2 is never attained"
        if rises
        else f"every answer attains {supremum}",
        printed="max over events",
        right="sup over events, as in the Chinese note; it need not be attained",
    )


claim(
    "roth2011-definition-2-boundary",
    "Definition 2",
    "The δ-approximate max divergence is defined on every event with Pr[Y ∈ S] ≥ δ.",
    Verdict.FAILS,
    wrong={"strict": True},
    fault=Fault.SLIP,
)(defined_on_every_event)


@claim(
    "roth2011-remark-pure",
    "remark after Definition 2",
    "A pair is within ε exactly when both max divergences are at most ε.",
    Verdict.HOLDS,
    wrong={"directions": 1},
)
def pure_by_divergence(*, pairs: int = 200, directions: int = 2, seed: int = 3) -> Finding:
    """Events of random pairs, some answers impossible: the definition against the divergences."""
    agreed = 0
    for p, q in random_pairs(pairs, 5, seed=seed, impossible=0.1):
        both = ((p, q), (q, p))
        claimed = max(approximate_divergence(a, b, 0.0) for a, b in both[:directions])
        law = FiniteLaw.from_probabilities(p, q)
        lost = max(law.infinite_mass, law.dual_infinite_mass)
        within = math.inf if lost > 0.0 else max(map(abs, law.support))
        agreed += claimed == within or math.isclose(claimed, within, rel_tol=1e-9)
    return statement(
        agreed == pairs,
        f"the least ε is the larger divergence for {agreed} of {pairs} random pairs",
    )


@claim(
    "roth2011-remark-approximate",
    "remark after Definition 2",
    "A pair is within (ε, δ) exactly when both δ-approximate max divergences are at most ε.",
    Verdict.HOLDS,
    wrong={"directions": 1},
)
def approximate_by_divergence(*, pairs: int = 200, directions: int = 2, seed: int = 4) -> Finding:
    """At the larger divergence E of a random pair the larger hockey-stick divergence is delta."""
    agreed = 0
    for i, (p, q) in enumerate(random_pairs(pairs, 5, seed=seed, impossible=0.1)):
        delta = 10.0 ** -(1 + i % 4)
        both = ((p, q), (q, p))
        claimed = max(approximate_divergence(a, b, delta) for a, b in both[:directions])
        laws = [FiniteLaw.from_probabilities(a, b) for a, b in both]
        if math.isinf(claimed):
            agreed += max(law.infinite_mass for law in laws) > delta
        else:
            sticks = [law.delta(claimed) for law in laws]
            agreed += math.isclose(max(sticks), delta, rel_tol=1e-7)
    return statement(
        agreed == pairs,
        f"δ(E) = δ at the larger divergence E for {agreed} of {pairs} random pairs",
    )


claim(
    "roth2011-definition-4-one-direction",
    "Definition 4",
    "Bounding D∞(V⁰‖V¹) for every adversary is enough; D∞(V¹‖V⁰) needs no mention.",
    Verdict.HOLDS,
    wrong={"may_exchange": False},
)(one_direction)

claim(
    "roth2011-definition-4-approximate",
    "Definition 4",
    "So it is with (ε, δ): bounding D∞^δ(V⁰‖V¹) for every adversary bounds D∞^δ(V¹‖V⁰).",
    Verdict.HOLDS,
    wrong={"may_exchange": False},
    given={"delta": 0.01},
)(one_direction)


@claim(
    "roth2011-theorem-6-proof-bad-set",
    "proof of Theorem 6",
    "If the loss passes ε' with probability at most δ, the views are within (ε', δ).",
    Verdict.NOT_TIGHT,
    wrong={"share": 0.01},
)
def bad_set_suffices(
    *, epsilon: float = 0.1, rounds: int = 100, threshold: float = 4.0, share: float = 1.0
) -> Finding:
    """Tail against hockey-stick divergence of randomized response, both exact."""
    stick = optimal_delta(repeated(epsilon, rounds), threshold)
    tail = response_tail(epsilon, rounds, threshold)
    return upper_bound(stick, share * tail, f"δ({threshold:g})", note=f"Pr[L > {threshold:g}]")


@claim(
    "roth2011-theorem-6-proof-bad-set-converse",
    "proof of Theorem 6, “this is equivalent”",
    "It is the inequality for every set S that is equivalent to (ε', δ), not the bound on the bad "
    "set before it: views within (ε', δ) may pass ε' with a probability above δ. (ours)",
    Verdict.HOLDS,
    wrong={"room": 0.1},
)
def bad_set_is_needed(
    *, epsilon: float = 1.0, threshold: float = 0.9, room: float = 0.0
) -> Finding:
    """One randomized response: delta at the threshold is far below the tail there.

    With ``room`` the tail is taken that much further out, where it is within delta.
    """
    law = randomized_response(epsilon)
    stick, tail = law.delta(threshold), law.sf(threshold + room)
    return statement(
        tail > stick,
        f"Pr[L > {threshold + room:g}] = {number(tail)} with δ({threshold:g}) = {number(stick)}",
        note=f"randomized response with ε = {epsilon:g}; only Pr[L > ε'+τ] ≤ δ/(1-e^-τ) follows",
    )


@claim(
    "roth2011-theorem-6-proof-bad-set-converse-with-room",
    "proof of Theorem 6, the converse that is true",
    "If the views are within (ε', δ), then Pr[L > ε'+τ] ≤ δ/(1-e^-τ). (ours)",
    Verdict.HOLDS,
    wrong={"forget_room": True},
)
def converse_with_room(
    *, epsilon: float = 1.0, room: float = 0.1, forget_room: bool = False
) -> Finding:
    """Attained by randomized response whose loss is just past epsilon' + tau."""
    law = randomized_response(epsilon)
    threshold = epsilon - room - 1e-12
    stick, tail = law.delta(threshold), law.sf(threshold + room)
    claimed = stick if forget_room else stick / -math.expm1(-room)
    return upper_bound(tail, claimed, f"Pr[L > {threshold + room:g}]")


@claim(
    "roth2011-definition-3-nonnegative",
    "Definition 3, proof of Lemma 7",
    "The KL divergence of any pair is at least 0 (and 0 for equal laws).",
    Verdict.HOLDS,
    wrong={"normalised": False},
)
def divergence_is_nonnegative(
    *, pairs: int = 300, normalised: bool = True, seed: int = 9
) -> Finding:
    """Random pairs, and one with equal laws; measures that are no laws would break it."""
    found = random_pairs(pairs, 6, seed=seed)
    scale = 1.0 if normalised else 0.5
    least = min(float(p @ np.log(p / (q / scale))) for p, q in [*found, (found[0][0],) * 2])
    return equal(min(least, 0.0), 0.0, "least of 0 and all the divergences")
