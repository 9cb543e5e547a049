"""Rounding outward: what turns a computed number into an end that is certain."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from fractions import Fraction

UNIT = 2.0**-53
"""Half the distance of 1 to the next double: the relative error of one operation."""

_SMALLEST_NORMAL = sys.float_info.min  # a number below it has fewer digits, or none

_SMALL = 1e-9  # a number below it is resolved to the rounding of this


def above(value: float) -> float:
    """The next double."""
    return math.nextafter(value, math.inf)


def below(value: float) -> float:
    """The double before."""
    return math.nextafter(value, -math.inf)


def not_lost(value: float) -> float:
    """Return a number >= 0 rounded up where it underflows: what is positive stays above 0."""
    return value if value >= _SMALLEST_NORMAL else above(value)


def sum_bracket(terms: Iterable[tuple[float, int]]) -> tuple[float, float]:
    """The nearest doubles below and above the exact sum of value * count, equal where it is one."""
    pairs = list(terms)
    infinite = next((value for value, _ in pairs if math.isinf(value)), None)
    if infinite is not None:
        return infinite, infinite
    exact = sum((Fraction(value) * count for value, count in pairs), Fraction(0))
    nearest = float(exact)
    if Fraction(nearest) == exact:
        return nearest, nearest
    return (nearest, above(nearest)) if Fraction(nearest) < exact else (below(nearest), nearest)


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


def epsilon_bracket(
    deltas: Callable[[float], tuple[float, float]], delta: float, *, start: float, top: float
) -> tuple[float, float]:
    """Ends that hold the least epsilon in [0, top] whose delta is at most ``delta``.

    ``deltas`` gives certain ends of a falling curve; ``start`` is a guess of its root, and the
    curve is at most ``delta`` at ``top``.
    """
    start = min(max(start, 0.0), top)
    high = walk_outward(start, +1, 0.0, top, certified=lambda e: deltas(e)[1] <= delta)
    low = walk_outward(start, -1, 0.0, top, certified=lambda e: deltas(e)[0] > delta)
    if low == 0.0 or high == 0.0:  # walking down ends there, certain or not
        low = 0.0
        high = 0.0 if deltas(0.0)[1] <= delta else high
    return low, max(low, high)
