"""Inversion of monotone curves: certified ends of a root, a whole number."""

from __future__ import annotations

import math
from collections.abc import Callable

from simulator.foundations.roots import crossing
from simulator.theory.bracket import Bracket

_SMALL = 1e-9  # below it a number is resolved to the rounding of this one
_LOG_OF_ZERO = -800.0  # below the logarithm of the smallest double


def falling_root(curve: Callable[[float], float], level: float, high: float) -> float:
    """The approximate least x in [0, high] with curve(x) <= level, else ``high``; curve decreases.

    The search is in the logarithm of the curve, which is nearly linear in the tails.
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
    """The first point from ``start``, in growing steps, where ``certified`` holds.

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
    """Bracket of the least x in [0, top] where a decreasing curve is at most ``level``.

    ``curve`` returns brackets; ``start`` is a guess of the inverse; at ``top`` the curve is at most
    ``level``.
    """
    start = min(max(start, 0.0), top)
    high = walk_outward(start, +1, 0.0, top, certified=lambda x: curve(x).upper <= level)
    low = walk_outward(start, -1, 0.0, top, certified=lambda x: curve(x).lower > level)
    if low == 0.0 or high == 0.0:  # the walk down ends at 0, certified or not
        low = 0.0
        high = 0.0 if curve(0.0).upper <= level else high
    return Bracket(low, max(low, high))


def first_without(holds: Callable[[int], bool], near: int, farthest: int) -> int:
    """The first whole number for which ``holds`` is false, true before; within +-``farthest``."""
    low = high = near
    step = 1
    if holds(near):
        while high < farthest and holds(high):
            low, high, step = high, min(high + step, farthest), 2 * step
    else:
        while low > -farthest and not holds(low):
            low, high, step = max(low - step, -farthest), low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high
