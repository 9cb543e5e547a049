"""Roth 2011, Lecture 4: Algorithm 1, its view, and Theorem 1 (the epsilons add up)."""

from __future__ import annotations

from simulator.claims.cast import (
    respond_by_answer,
)
from simulator.claims.enumeration import view_law
from simulator.claims.findings import upper_bound
from simulator.claims.model import Finding, Verdict
from simulator.claims.registry import claim
from simulator.claims.sources import ROTH_2011
from simulator.theory.guarantees import PureDP


@claim(
    "roth2011-theorem-1",
    ROTH_2011,
    "Theorem 1",
    "k adaptively chosen ε-DP mechanisms are kε-DP in all: no view's loss passes kε.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
)
def basic_composition(*, epsilon: float = 0.3, rounds: int = 9, share: float = 1.0) -> Finding:
    """Every view of an adaptive adversary on randomized response is listed."""
    law = view_law(respond_by_answer([epsilon] * rounds), PureDP(epsilon), rounds)
    worst = max(map(abs, law.support))
    return upper_bound(worst, share * rounds * epsilon, "largest |loss| of a view")
