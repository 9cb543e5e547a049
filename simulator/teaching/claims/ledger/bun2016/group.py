"""Group privacy of concentrated differential privacy."""

from __future__ import annotations

from simulator.teaching.claims.ledger.theorems.groups import concentrated_group
from simulator.teaching.claims.model import Verdict
from simulator.teaching.claims.registry import claim

claim(
    "bun2016-proposition-1-9",
    "Proposition 1.9",
    "A rho-zCDP mechanism is k²rho-zCDP for groups of k; ours: Gaussian noise, which attains it.",
    Verdict.HOLDS,
    wrong={"power": 1.0},
)(concentrated_group)
