"""Inverting a falling curve: where it comes down to a level."""

from __future__ import annotations

import math
from collections.abc import Callable

import scipy


def falling_root(curve: Callable[[float], float], level: float, high: float) -> float:
    """Least x in [0, high] with curve(x) <= level, for a falling curve with curve(high) <= level.

    The search is in the logarithm of the curve, which is close to straight in the tails.
    """
    if curve(0.0) <= level:
        return 0.0
    log_level = math.log(level)

    def excess(x: float) -> float:
        value = curve(x)
        return (math.log(value) if value > 0.0 else -800.0) - log_level

    return float(scipy.optimize.brentq(excess, 0.0, high, xtol=2e-16 * high, rtol=1e-15))
