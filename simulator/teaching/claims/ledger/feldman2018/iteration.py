"""A record that is used in one step, hidden by the noise of later ones."""

from __future__ import annotations

import math

from simulator.teaching.claims.findings import upper_bound
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim


@claim(
    "feldman2018-one-step",
    "Theorem 22, for projected noisy SGD",
    "The Rényi divergence of the t-th record of n is at most 2αL²/(σ²(n+1-t)); ours: a linear "
    "loss, which attains it.",
    Verdict.HOLDS,
    wrong={"factor": 0.9},
)
def hidden_by_later_noise(
    *, steps: int = 16, order: float = 3.0, noise_multiplier: float = 2.0, factor: float = 1.0
) -> Finding:
    """The divergence of the last of ``steps`` iterates where the first gradient is changed.

    Two gradients of norm L = 1/2 differ by 1. All noise that is added is independent, so the last
    iterate is shifted by 1 under a variance that is summed over the steps.
    """
    variance = math.fsum(noise_multiplier**2 for _ in range(steps))
    attained = 0.5 * order / variance
    claimed = factor * 2.0 * order * 0.25 / (noise_multiplier**2 * steps)
    return upper_bound(attained, claimed, f"divergence of order {order:g}")
