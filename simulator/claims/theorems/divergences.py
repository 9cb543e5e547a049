"""Max divergence, KL divergence, and which directions a definition must bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from simulator.claims.cast import Playing
from simulator.claims.enumeration import view_law
from simulator.claims.exact import all_events, largest_mean_loss, random_pairs
from simulator.claims.findings import statement, upper_bound
from simulator.claims.model import Finding
from simulator.data.databases import Database
from simulator.mechanisms import Exponential
from simulator.queries import counting_scores
from simulator.theory.guarantees import PureDP
from simulator.theory.laws import FiniteLaw


def mean_loss(*, epsilon: float = 0.1, factor: float = 1.0) -> Finding:
    """The largest mean loss of all pairs within epsilon, by linear program, against ε(e^ε-1)."""
    claimed = factor * epsilon * math.expm1(epsilon)
    return upper_bound(largest_mean_loss(epsilon), claimed, "mean loss")


def defined_on_every_event(
    *, epsilon: float = 0.5, delta: float = 0.01, strict: bool = False
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
    epsilon: float = 1.0,
    rounds: int = 3,
    delta: float = 0.0,
    may_exchange: bool = True,
    seed: int = 5,
) -> Finding:
    """D∞^δ(V1‖V0) of some adversaries, against the largest D∞^δ(V0‖V1) of all of them.

    One asks the exponential mechanism which of three is most common, Alice being one of the first;
    others have random lopsided pairs. Each may exchange its databases, as neighbours are neighbours
    of each other.
    """
    asked = [view_law(choose(epsilon, way), PureDP(epsilon), rounds) for way in (False, True)]
    pairs = random_pairs(20, 4, seed=seed)
    laws = [asked[0], *(FiniteLaw.from_probabilities(p, q) for p, q in pairs)]
    exchanged = [asked[1], *(FiniteLaw.from_probabilities(q, p) for p, q in pairs)]
    worst = 0.0
    for plain, other in zip(laws, exchanged):
        allowed = (plain, other) if may_exchange else (plain,)
        claimed = max(divergence(law, delta) for law in allowed)
        worst = max(worst, divergence(plain.reversed(), delta) - claimed)
    return upper_bound(
        math.exp(worst),
        1.0,
        "e^(D∞(V1‖V0) - claimed), the largest",
        right=f"D∞(V1‖V0) passes what bounds D∞(V0‖V1) by up to {worst:.3g}",
        note=f"{len(laws)} adversaries, asymmetric in the two databases, δ = {delta:g}",
    )


def choose(epsilon: float, exchanged: bool) -> Callable[[Any], Playing]:
    """Ask the exponential mechanism which of three is most common, Alice being one of the first."""
    without = Database({"a": 3, "b": 3, "c": 3})
    databases = (without, without.add("a"))
    mechanism = Exponential(counting_scores(["a", "b", "c"]), epsilon)

    def adversary(coins: Any) -> Playing:
        while True:
            yield (*(databases[::-1] if exchanged else databases), mechanism)

    return adversary
