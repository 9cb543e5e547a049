"""Losses whose last iterate reveals as much as all iterates."""

from __future__ import annotations

import math

from simulator.teaching.claims.findings import number, statement
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.games.library.last_iterate import remembered


@claim(
    "muthu2024-no-amplification",
    "abstract",
    "For specific losses the final iterate alone leaks as much as the sequence of all iterates; "
    "ours: a loss that keeps each noisy gradient in a coordinate of its own, within 0.01 percent.",
    Verdict.HOLDS,
    wrong={"magnified": 1.0},
)
def last_iterate_tells_all(*, steps: int = 16, magnified: float = 1000.0) -> Finding:
    """The mu of the last iterate over that of all iterates, the square root of their number."""
    share = remembered(steps, magnified) / math.sqrt(steps)
    return statement(
        share > 0.9999,
        f"the last iterate has {number(share)} of the μ of all iterates",
        printed="as much as all iterates",
    )
