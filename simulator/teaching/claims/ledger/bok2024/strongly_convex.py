"""The exact Gaussian privacy of the last iterate on strongly convex losses."""

from __future__ import annotations

import math

from simulator.teaching.claims.findings import equal
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.games.library.hidden_state import contracted


@claim(
    "bok2024-strongly-convex",
    "abstract, and the formula of its published code",
    "The first exact privacy analysis of strongly convex losses: √((1-cᵗ)/(1+cᵗ)·(1+c)/(1-c)) "
    "times the μ of one step; ours: attained by a quadratic loss.",
    Verdict.HOLDS,
    wrong={"factor": 0.9},
)
def quadratic_attains_it(
    *, contraction: float = 0.9, steps: int = 32, factor: float = 1.0
) -> Finding:
    """The formula, and the last iterate of a quadratic loss, whose mean and variance are summed."""
    powers = [contraction**j for j in range(steps)]
    mu = math.fsum(powers) / math.sqrt(math.fsum(power**2 for power in powers))
    return equal(mu, factor * contracted(contraction, steps), "μ of the last iterate")
