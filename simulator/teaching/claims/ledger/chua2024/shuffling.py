"""Shuffled batches against Poisson samples."""

from __future__ import annotations

from simulator.teaching.claims.ledger.theorems.loaders import times_poisson
from simulator.teaching.claims.model import Verdict
from simulator.teaching.claims.registry import claim

claim(
    "chua2024-shuffling-against-poisson",
    "abstract",
    "With batches of a shuffled database ε can be substantially larger than Poisson accounting "
    "says; ours: ten times, in one epoch of 1,000 batches at noise multiplier 0.7.",
    Verdict.HOLDS,
    wrong={"noise_multiplier": 3.0},
    given={"noise_multiplier": 0.7, "batches": 1000, "epochs": 1, "times": 10.0},
)(times_poisson)
