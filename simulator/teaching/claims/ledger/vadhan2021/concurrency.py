"""Concurrent composition of pure mechanisms."""

from __future__ import annotations

from simulator.teaching.claims.ledger.theorems.concurrency import optimal_composition
from simulator.teaching.claims.model import Verdict
from simulator.teaching.claims.registry import claim

claim(
    "vadhan2021-pure-concurrent",
    "abstract",
    "Interactive mechanisms that are pure compose concurrently with the parameters of the optimal "
    "theorem for mechanisms that answer once.",
    Verdict.HOLDS,
    wrong={"factor": 0.9},
)(optimal_composition)
