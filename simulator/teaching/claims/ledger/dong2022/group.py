"""Group privacy of Gaussian differential privacy."""

from __future__ import annotations

from simulator.teaching.claims.ledger.theorems.groups import gaussian_group
from simulator.teaching.claims.model import Verdict
from simulator.teaching.claims.registry import claim

claim(
    "dong2022-theorem-2-14",
    "Theorem 2.14",
    "A μ-GDP mechanism is kμ-GDP for groups of k; ours: Gaussian noise, which attains it.",
    Verdict.HOLDS,
    wrong={"power": 0.5},
)(gaussian_group)
