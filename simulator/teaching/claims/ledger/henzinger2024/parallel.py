"""Parallel composition while data arrive."""

from __future__ import annotations

from simulator.teaching.claims.ledger.theorems.concurrency import (
    parallel_fails,
    parallel_is_tight,
    parallel_keeps_epsilon,
)
from simulator.teaching.claims.model import Verdict
from simulator.teaching.claims.registry import claim

claim(
    "henzinger2024-parallel-fails",
    "abstract",
    "Parallel composition of approximately private mechanisms fails once the data set is updated "
    "adaptively.",
    Verdict.HOLDS,
    wrong={"delta": 0.0},
)(parallel_fails)

claim(
    "henzinger2024-parallel-tight",
    "abstract",
    "There is a tight theorem for that case; ours: δ is at most 1 - (1 - δ)^k for k parts, which "
    "is attained.",
    Verdict.HOLDS,
    wrong={"factor": 0.9},
)(parallel_is_tight)

claim(
    "henzinger2024-parallel-pure",
    "abstract",
    "Parallel composition holds for pure mechanisms, with adaptive updates too.",
    Verdict.HOLDS,
    wrong={"factor": 0.9},
)(parallel_keeps_epsilon)
