"""Quantiles of the tails of a law of the privacy loss."""

from __future__ import annotations

import math
from collections.abc import Callable

from simulator.theory.laws.base import PrivacyLossLaw

_LEAST = 1e-9


def loss_range(law: PrivacyLossLaw, tail_mass: float) -> tuple[float, float]:
    """The range of losses with at most ``tail_mass`` of P0 on either side, infinity excluded."""
    low, high = law.support
    if not math.isfinite(high):
        high = tail_quantile(lambda x: law.sf(x) - law.infinite_mass, tail_mass)
    if not math.isfinite(low):
        low = -tail_quantile(lambda x: law.cdf(-x), tail_mass)
    return low, high


def tail_quantile(tail: Callable[[float], float], tail_mass: float) -> float:
    """A positive x with tail(x) <= tail_mass, at most a percent above the least."""
    high = _LEAST * 2.0**30
    while high > _LEAST and tail(high / 2) <= tail_mass:
        high /= 2
    while tail(high) > tail_mass:
        high *= 2
    low = high / 2
    while high > 1.01 * low:
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > tail_mass else (low, middle)
    return high
