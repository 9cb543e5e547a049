"""Concurrent composition of approximate and of f-DP mechanisms."""

from __future__ import annotations

from simulator.teaching.claims.ledger.theorems.concurrency import optimal_composition, worst_curves
from simulator.teaching.claims.model import Verdict
from simulator.teaching.claims.registry import claim

claim(
    "vadhan2023-approximate-concurrent",
    "abstract",
    "Interactive (ε, δ)-DP mechanisms compose concurrently as mechanisms that answer once do; "
    "ours: the optimal composition holds for random trees, and is attained.",
    Verdict.HOLDS,
    wrong={"factor": 0.9},
    given={"delta": 0.01},
)(optimal_composition)

claim(
    "vadhan2023-f-dp-concurrent",
    "abstract",
    "Interactive f-DP mechanisms compose concurrently as mechanisms that answer once do; ours: the "
    "worst curves of random trees, composed, bound every interleaving.",
    Verdict.HOLDS,
    wrong={"factor": 0.9},
)(worst_curves)
