"""Roth 2011, Lecture 4: Definitions 2 to 4, their remark, and the bad set of Theorem 6's proof."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Annotated

import numpy as np

from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import number, statement
from simulator.teaching.claims.ledger.shared.exact_values import all_events, random_pairs
from simulator.teaching.claims.ledger.shared.parameters import Delta, Epsilon, Seed
from simulator.teaching.claims.ledger.theorems.divergences import (
    defined_on_every_event,
    divergence,
    one_direction,
    tail_and_delta,
)
from simulator.teaching.claims.model import Fault, Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.theory.laws.extremal import randomized_response
from simulator.theory.laws.finite import FiniteLaw

Answers = Annotated[
    int, "how many answers the listed pair has (all combinations are listed)", Within(1, 14)
]
Finite = Annotated[bool, "whether there are finitely many answers"]
Directions = Annotated[int, "of the two directions, how many are bounded", Within(1, 2)]
Threshold = Annotated[float, "the number that is compared with", Within(0.0, 1e6)]
Room = Annotated[float, "how far beyond ε' the tail is taken", Within(0.0, 10.0)]
Normalised = Annotated[bool, "whether both measures have mass 1"]

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
    wrong={"finite": True},
    fault=Fault.SLIP,
)
def divergence_is_attained(*, answers: Answers = 12, finite: Finite = False) -> Finding:
    """A pair whose answer n = 1, 2, ... has the ratio 2 - 2^-n, in exact fractions.

    Answer n has probability 2^-(n+1) under Y, and that over the ratio under Z; the rest of either
    falls to one more answer, more likely under Z. Listed are all events of the first ``answers``
    answers; where there are more, ratios rise to 2, and the best listed event is below the next
    answer's ratio, however many are listed. A ``finite`` pair has those answers only.
    """
    ratios = [Fraction(2) - Fraction(1, 2**n) for n in range(1, answers + 1)]
    y = [Fraction(1, 2 ** (n + 1)) for n in range(1, answers + 1)]
    best = Fraction(0)
    for kept in product((False, True), repeat=answers):
        under_z = sum((p / ratio for p, ratio, k in zip(y, ratios, kept) if k), Fraction(0))
        if under_z > 0:
            best = max(best, sum((p for p, k in zip(y, kept) if k), Fraction(0)) / under_z)
    supremum = max(ratios) if finite else Fraction(2)
    return statement(
        best == supremum,
        f"the best of 2^{answers} events has the ratio 2 - {2 - best}; the supremum is "
        f"{'that' if best == supremum else supremum}",
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
def within_by_divergence(
    *,
    delta: Delta = 0.0,
    pairs: Annotated[int, "random pairs of laws that are tried", Within(1, 1000)] = 200,
    directions: Directions = 2,
    seed: Seed = 3,
) -> Finding:
    """The larger divergence, by events, against the least ε of (ε, δ), by hockey sticks.

    Of random pairs, some answers being impossible, at δ, δ/10, δ/100 and δ/1000 in turn.
    """
    agreed = 0
    for i, (p, q) in enumerate(random_pairs(pairs, 5, seed=seed, impossible=0.1)):
        at, both = delta * 10.0 ** -(i % 4), ((p, q), (q, p))
        claimed = max(approximate_divergence(a, b, at) for a, b in both[:directions])
        within = max(divergence(FiniteLaw.from_probabilities(a, b), at) for a, b in both)
        agreed += claimed == within or math.isclose(claimed, within, rel_tol=1e-7)
    return statement(
        agreed == pairs,
        f"the least ε is the larger divergence for {agreed} of {pairs} random pairs",
    )


claim(
    "roth2011-remark-approximate",
    "remark after Definition 2",
    "A pair is within (ε, δ) exactly when both δ-approximate max divergences are at most ε.",
    Verdict.HOLDS,
    wrong={"directions": 1},
    given={"delta": 0.1, "seed": 4},
)(within_by_divergence)


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


claim(
    "roth2011-theorem-6-proof-bad-set",
    "proof of Theorem 6",
    "If the loss passes ε' with probability at most δ, the views are within (ε', δ).",
    Verdict.HOLDS,
    wrong={"share": 0.95},
)(tail_and_delta)


@claim(
    "roth2011-theorem-6-proof-bad-set-converse",
    "proof of Theorem 6, “this is equivalent”",
    "It is the inequality for every set S that is equivalent to (ε', δ), not the bound on the bad "
    "set before it: views within (ε', δ) may pass ε' with a probability above δ. (ours)",
    Verdict.HOLDS,
    wrong={"room": 0.1},
)
def bad_set_is_needed(
    *, epsilon: Epsilon = 1.0, threshold: Threshold = 0.9, room: Room = 0.0
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


claim(
    "roth2011-theorem-6-proof-bad-set-converse-with-room",
    "proof of Theorem 6, the converse that is true",
    "If the views are within (ε', δ), then Pr[L > ε'+τ] ≤ δ/(1-e^-τ). (ours)",
    Verdict.HOLDS,
    wrong={"share": 0.95},
    given={"room": 0.1, "converse": True},
)(tail_and_delta)


@claim(
    "roth2011-definition-3-nonnegative",
    "Definition 3, proof of Lemma 7",
    "The KL divergence of any pair is at least 0 (and 0 for equal laws).",
    Verdict.HOLDS,
    wrong={"normalised": False},
)
def divergence_is_nonnegative(
    *,
    pairs: Annotated[int, "random pairs of laws that are tried", Within(1, 1500)] = 300,
    normalised: Normalised = True,
    seed: Seed = 9,
) -> Finding:
    """Random pairs, nearer and nearer ones, equal laws; measures that are no laws break it."""
    scale = 1.0 if normalised else 0.5
    found = random_pairs(pairs, 6, seed=seed)
    found += [(p, p + 10.0**-i * (q - p)) for i, (p, q) in enumerate(found[:6])]
    least = min(float(p @ np.log(p / (q / scale))) for p, q in found)
    of_equal = float(found[0][0] @ np.log(found[0][0] / (found[0][0] / scale)))
    return statement(
        least > 0.0 and of_equal == 0.0,
        f"{number(of_equal)} of equal laws, at least {number(least)} of {len(found)} pairs",
    )
