"""Outward rounding, which makes certain ends of computed numbers."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from fractions import Fraction

from simulator.theory.bracket import Bracket

UNIT = 2.0**-53
"""The unit roundoff 2^-53: the relative error of one operation."""

_SMALLEST_NORMAL = sys.float_info.min  # a number below it has fewer digits, or none


def above(value: float) -> float:
    """The next double above."""
    return math.nextafter(value, math.inf)


def below(value: float) -> float:
    """The next double below."""
    return math.nextafter(value, -math.inf)


def not_lost(value: float) -> float:
    """Return a number >= 0, rounded up where it underflows."""
    return value if value >= _SMALLEST_NORMAL else above(value)


def sum_bracket(terms: Iterable[tuple[float, int]]) -> Bracket:
    """Neighbouring doubles around the exact sum of value * count; a point where it is one."""
    pairs = list(terms)
    infinite = next((value for value, _ in pairs if math.isinf(value)), None)
    if infinite is not None:
        return Bracket(infinite, infinite)
    exact = sum((Fraction(value) * count for value, count in pairs), Fraction(0))
    nearest = float(exact)
    if Fraction(nearest) == exact:
        return Bracket(nearest, nearest)
    if Fraction(nearest) < exact:
        return Bracket(nearest, above(nearest))
    return Bracket(below(nearest), nearest)
