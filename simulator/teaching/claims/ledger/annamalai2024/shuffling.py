"""Shuffled batches, and batches that are formed before their order is shuffled."""

from __future__ import annotations

from simulator.teaching.claims.ledger.theorems.loaders import times_poisson
from simulator.teaching.claims.model import Verdict
from simulator.teaching.claims.registry import claim

claim(
    "annamalai2024-four-times",
    "abstract",
    "Training on shuffled batches loses up to 4 times the ε of Poisson accounting; ours: ten "
    "epochs of 100 batches at noise multiplier 1.2.",
    Verdict.HOLDS,
    wrong={"noise_multiplier": 2.5},
    given={"times": 4.0},
)(times_poisson)

claim(
    "annamalai2024-ten-times",
    "abstract",
    "Two common variants of shuffling lose up to 10 times the ε of Poisson accounting; ours: "
    "batches that are formed first, and then shuffled.",
    Verdict.HOLDS,
    wrong={"formed_first": False},
    given={"times": 10.0, "formed_first": True},
)(times_poisson)
