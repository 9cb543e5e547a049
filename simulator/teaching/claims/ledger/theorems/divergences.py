"""Max divergence, KL divergence, and which directions a definition must bound."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from scipy.optimize import brentq

from simulator.data.databases import Database
from simulator.data.queries import counting_scores
from simulator.foundations.knobs import Within
from simulator.mechanisms import Exponential
from simulator.mechanisms.table import Table
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.adversaries import (
    ALICE,
    WITH_ALICE,
    WITHOUT_ALICE,
    Adversary,
    Playing,
    challenges,
)
from simulator.teaching.claims.ledger.shared.enumerated_views import view_law
from simulator.teaching.claims.ledger.shared.exact_values import (
    all_events,
    chance_of_truth,
    largest_mean_loss,
    random_pairs,
)
from simulator.teaching.claims.ledger.shared.parameters import Delta, Epsilon, Factor, Seed
from simulator.teaching.claims.model import Finding
from simulator.theory.guarantees.pure import ApproxDP
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.extremal import randomized_response
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.gaussian import GaussianLaw

Strict = Annotated[bool, "whether events of probability δ are left out"]
Rounds = Annotated[int, "rounds k (all combinations are listed)", Within(1, 5)]
MayExchange = Annotated[bool, "whether an adversary may exchange its databases"]
Room = Annotated[float, "how far beyond ε' the tail is taken", Within(0.0, 10.0)]
Converse = Annotated[bool, "whether the tail is bounded by δ, and not δ by the tail"]
Tight = Annotated[bool, "whether tanh(ε/2) stands in place of e^ε-1"]

_MOST_ROUNDS = 9  # of which every view can be listed


def mean_loss(*, epsilon: Epsilon = 0.1, tight: Tight = False, factor: Factor = 1.0) -> Finding:
    """The largest mean loss of all pairs within epsilon, by linear program, against ε(e^ε-1).

    The ``tight`` form ε tanh(ε/2) is met by randomized response.
    """
    bound = math.tanh(epsilon / 2.0) if tight else math.expm1(epsilon)
    return upper_bound(largest_mean_loss(epsilon), factor * epsilon * bound, "mean loss")


def advantage(
    *,
    epsilon: Epsilon = 0.5,
    tight: Tight = True,
    pairs: Annotated[int, "random pairs of laws that are tried", Within(1, 1500)] = 300,
    factor: Factor = 1.0,
    seed: Seed = 8,
) -> Finding:
    """The total variation of random pairs within epsilon, and of the worst one.

    Against tanh(ε/2), or against e^ε-1 where not ``tight``.
    """
    truth = chance_of_truth(epsilon)
    found = [np.abs(p - q).sum() / 2.0 for p, q in random_pairs(pairs, 6, seed, epsilon)]
    return upper_bound(
        float(max(2.0 * truth - 1.0, *found)),
        factor * (math.tanh(epsilon / 2.0) if tight else math.expm1(epsilon)),
        "largest difference of an event's probability",
        note=f"of {pairs} random pairs {number(float(max(found)))}; a guess from even odds is "
        f"right with probability {number(truth)} at most",
    )


def tail_and_delta(
    *,
    epsilon: Epsilon = 1.0,
    room: Room = 0.0,
    converse: Converse = False,
    pairs: Annotated[int, "random pairs of laws that are tried", Within(1, 1000)] = 200,
    share: Factor = 1.0,
    seed: Seed = 19,
) -> Finding:
    """δ(ε) over Pr[L > ε], or with ``converse`` Pr[L > ε+τ](1-e^-τ) over δ(ε), τ the ``room``.

    Of random pairs, of two Gaussians, of a leak, and of randomized response just past ε+τ.
    """
    leak = FiniteLaw.from_probabilities([0.01, 0.99, 0.0], [0.0, 0.99, 0.01])
    laws: list[PrivacyLossLaw] = [
        leak,
        GaussianLaw(1.0),
        randomized_response(epsilon + room + 1e-9),
    ]
    laws += [
        FiniteLaw.from_probabilities(p, q)
        for p, q in random_pairs(pairs, 4, seed=seed, impossible=0.05)
    ]
    kept = -math.expm1(-room) if converse else 1.0
    worst = 0.0
    for law in laws:
        delta, tail = law.delta(epsilon), law.sf(epsilon + room)
        above, below = (kept * tail, delta) if converse else (delta, tail)
        if above > 0.0:
            worst = max(worst, above / below if below > 0.0 else math.inf)
    what = "Pr[L > ε+τ](1-e^-τ) over δ(ε)" if converse else "δ(ε) over Pr[L > ε]"
    return upper_bound(worst, share, f"largest {what}", note=f"of {len(laws)} pairs")


def defined_on_every_event(
    *, epsilon: Epsilon = 0.5, delta: Delta = 0.01, strict: Strict = False
) -> Finding:
    """The pair that dominates (epsilon, delta)-DP reveals the bit with probability exactly delta.

    On that event the print asks for ln(0/0), although the pair is (epsilon, delta)-DP.
    """
    lie = (1.0 - delta) / (1.0 + math.exp(epsilon))
    p = np.array([delta, 1.0 - delta - lie, lie, 0.0])
    events = all_events(4)
    first, second = events @ p, events @ p[::-1]
    admitted = first > delta if strict else first >= delta
    undefined = int((admitted & (first == delta) & (second == 0.0)).sum())
    return statement(
        undefined == 0,
        f"{undefined} admitted event(s) give ln(0/0) on the leaky randomized response",
        printed="Pr[Y ∈ S] ≥ δ",
        right="Pr[Y ∈ S] > δ",
    )


def divergence(law: FiniteLaw, delta: float) -> float:
    """The delta-approximate max divergence, the least epsilon with delta(epsilon) <= delta."""
    if delta == 0.0:
        return math.inf if law.infinite_mass > 0.0 else law.support[1]
    if law.infinite_mass > delta:
        return math.inf
    low, high = law.support[0] - 1.0, law.support[1]
    # the hockey-stick divergence is defined for thresholds below zero too
    if law.delta(high) >= delta or law.delta(low) <= delta:
        return high
    return float(brentq(lambda e: law.delta(e) - delta, low, high, xtol=1e-14))


def one_direction(
    *,
    epsilon: Epsilon = 1.0,
    rounds: Rounds = 3,
    delta: Delta = 0.0,
    may_exchange: MayExchange = True,
    seed: Seed = 5,
) -> Finding:
    """D∞^δ(V1‖V0) of some adversaries, against the largest D∞^δ(V0‖V1) that each can reach.

    One asks the exponential mechanism which of three is most common, Alice being one of the first;
    eight ask lopsided random mechanisms, by the last answer. Each may exchange its databases, as
    neighbours are neighbours of each other: then all its views are listed again.
    """
    adversaries = [choose(epsilon), *(ask_random_tables(seed + place) for place in range(8))]
    found = []
    for adversary in adversaries:
        ways = (adversary, exchanged(adversary))[: 1 + may_exchange]
        laws = [view_law(way, ApproxDP(100.0, 0.0), rounds) for way in ways]
        claimed = max(divergence(law, delta) for law in laws)
        found.append((divergence(laws[0].reversed(), delta), claimed))
    reached, claimed = max(found, key=lambda pair: (round(pair[0] - pair[1], 9), pair[0]))
    return upper_bound(
        math.exp(reached),
        math.exp(claimed),
        "e^D∞(V1‖V0)",
        right=f"D∞(V1‖V0) = {reached:.4g} where D∞(V0‖V1) = {claimed:.4g}",
        note=f"the worst of {len(found)} adversaries, asymmetric in the two databases, "
        f"δ = {delta:g}",
    )


def choose(epsilon: float) -> Adversary:
    """Ask the exponential mechanism which of three is most common, Alice being one of the first."""
    without = Database({"a": 3, "b": 3, "c": 3})
    mechanism = Exponential(counting_scores(["a", "b", "c"]), epsilon)
    return challenges(*[(without, without.add("a"), mechanism)] * _MOST_ROUNDS)


def ask_random_tables(seed: int) -> Adversary:
    """Ask one of five random mechanisms of four answers, by the last answer."""
    tables = [Table(ALICE, tuple(p), tuple(q)) for p, q in random_pairs(5, 4, seed=seed)]

    def adversary(coins: Any) -> Playing:
        place = 0
        while True:
            answer = yield WITHOUT_ALICE, WITH_ALICE, tables[place]
            place = (2 * place + int(answer) + 1) % len(tables)

    return adversary


def exchanged(adversary: Adversary) -> Adversary:
    """The same adversary with its two databases exchanged in every challenge."""

    def other(coins: Any) -> Playing:
        playing = adversary(coins)
        first, second, mechanism = next(playing)
        while True:
            answer = yield second, first, mechanism
            first, second, mechanism = playing.send(answer)

    return other
