"""Inverting a monotone curve: where it passes a level, and certain ends of that point."""

from __future__ import annotations

import math
from collections.abc import Callable

import scipy

from simulator.theory.bracket import Bracket

_SMALL = 1e-9  # a number below it is resolved to the rounding of this
_LOG_OF_ZERO = -800.0  # below the logarithm of the smallest double


def crossing(
    excess: Callable[[float], float],
    low: float,
    high: float,
    *,
    xtol: float,
    rtol: float = 2.0**-50,
) -> float:
    """About the root of a function whose signs at ``low`` and ``high`` differ."""
    return float(scipy.optimize.brentq(excess, low, high, xtol=xtol, rtol=rtol, disp=False))


def falling_root(curve: Callable[[float], float], level: float, high: float) -> float:
    """About the least x in [0, high] with curve(x) <= level, for a falling curve; else ``high``.

    The search is in the logarithm of the curve, which is close to straight in the tails.
    """
    log_level = math.log(level)

    def excess(x: float) -> float:
        value = curve(x)
        return (math.log(value) if value > 0.0 else _LOG_OF_ZERO) - log_level

    if excess(0.0) <= 0.0:
        return 0.0
    if excess(high) >= 0.0:
        return high
    return crossing(excess, 0.0, high, xtol=max(2e-16 * high, 1e-300), rtol=1e-15)


def walk_outward(
    start: float, sign: int, low: float, high: float, *, certified: Callable[[float], bool]
) -> float:
    """First point, walking from ``start`` in growing steps, where ``certified`` holds.

    ``sign`` is +1 to walk up, -1 to walk down; ``high`` or ``low`` where no point before it is.
    """
    step = 2 * math.ulp(max(abs(start), _SMALL))
    point = start
    while point < high if sign > 0 else point > low:
        if certified(point):
            return point
        point = start + sign * step
        step *= 3
    return high if sign > 0 else low


def certain_inverse(
    curve: Callable[[float], Bracket], level: float, *, start: float, top: float
) -> Bracket:
    """Bracket of the least x in [0, top] where a falling curve is at most ``level``.

    ``curve`` gives a bracket of itself; ``start`` is a guess of the inverse, and the curve is at
    most ``level`` at ``top``.
    """
    start = min(max(start, 0.0), top)
    high = walk_outward(start, +1, 0.0, top, certified=lambda x: curve(x).upper <= level)
    low = walk_outward(start, -1, 0.0, top, certified=lambda x: curve(x).lower > level)
    if low == 0.0 or high == 0.0:  # walking down ends there, certain or not
        low = 0.0
        high = 0.0 if curve(0.0).upper <= level else high
    return Bracket(low, max(low, high))
