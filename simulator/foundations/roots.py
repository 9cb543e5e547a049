"""Roots and least points of functions of one number.

The two searches take the steps that scipy.optimize takes, to the bit. They stand here because its
import takes longer than most plays.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_GOLDEN = 0.5 * (3.0 - math.sqrt(5.0))
_ROOT_OF_UNIT = math.sqrt(2.2e-16)
_LONGEST = 500
"""The most values in a search for the least point."""


def crossing(
    excess: Callable[[float], float],
    low: float,
    high: float,
    *,
    xtol: float = 2e-12,
    rtol: float = 2.0**-50,
) -> float:
    """The approximate root of a function whose signs at ``low`` and ``high`` differ.

    It is within ``xtol + rtol * abs(root)`` of a change of sign; ``rtol`` is at least 2^-50. Raises
    ValueError where the signs agree or a value is NaN.

    Source: Brent 1973, Algorithms for Minimization without Derivatives, Chapter 4, as scipy's
    ``brentq``.
    """
    before, here = float(low), float(high)
    value_before, value = _number(excess, before), _number(excess, here)
    if value_before == 0.0:
        return before
    if value != 0.0 and (value_before < 0.0) == (value < 0.0):
        raise ValueError(f"no change of sign between {low!r} and {high!r}")
    beyond, value_beyond, step_before, step = before, value_before, 0.0, 0.0
    while True:
        if value_before != 0.0 and value != 0.0 and (value_before < 0.0) != (value < 0.0):
            beyond, value_beyond = before, value_before
            step_before = step = here - before
        if abs(value_beyond) < abs(value):
            before, here, beyond = here, beyond, here
            value_before, value, value_beyond = value, value_beyond, value
        least = (xtol + rtol * abs(here)) / 2.0
        half = (beyond - here) / 2.0
        if value == 0.0 or abs(half) < least:
            return here
        tried = math.inf
        if abs(step_before) > least and abs(value) < abs(value_before):
            try:
                if before == beyond:
                    tried = -value * (here - before) / (value - value_before)
                else:
                    rise = (value_before - value) / (before - here)
                    rise_beyond = (value_beyond - value) / (beyond - here)
                    tried = -value * (value_beyond * rise_beyond - value_before * rise)
                    tried /= rise_beyond * rise * (value_beyond - value_before)
            except ZeroDivisionError:  # the slopes underflow
                tried = math.inf
        if 2.0 * abs(tried) < min(abs(step_before), 3.0 * abs(half) - least):
            step_before, step = step, tried
        else:
            step_before = step = half
        before, value_before = here, value
        here += step if abs(step) > least else math.copysign(least, half)
        value = _number(excess, here)


def _number(excess: Callable[[float], float], x: float) -> float:
    value = float(excess(x))
    if math.isnan(value):
        raise ValueError(f"the value at {x!r} is NaN")
    return value


def least_point(
    function: Callable[[float], float], low: float, high: float, *, xtol: float = 1e-5
) -> tuple[float, float]:
    """The point between ``low`` and ``high`` with the least value found, and this value.

    A local minimum, within about ``xtol`` of it where the function has one.

    Source: Brent 1973, Chapter 5, as scipy's ``minimize_scalar`` of the method "bounded".
    """
    low, high = float(low), float(high)
    best = second = third = low + _GOLDEN * (high - low)
    least = of_second = of_third = float(function(best))
    step = step_before = 0.0
    for _ in range(_LONGEST - 1):
        middle = 0.5 * (low + high)
        close = _ROOT_OF_UNIT * abs(best) + xtol / 3.0
        if abs(best - middle) <= 2.0 * close - 0.5 * (high - low):
            break
        golden = True
        if abs(step_before) > close:
            r = (best - second) * (least - of_third)
            q = (best - third) * (least - of_second)
            p = (best - third) * q - (best - second) * r
            q = 2.0 * (q - r)
            p, q = (-p if q > 0.0 else p), abs(q)
            r, step_before = step_before, step
            if abs(p) < abs(0.5 * q * r) and q * (low - best) < p < q * (high - best):
                golden = False
                step = (p + 0.0) / q
                x = best + step
                if x - low < 2.0 * close or high - x < 2.0 * close:
                    step = close if middle >= best else -close
        if golden:
            step_before = (low if best >= middle else high) - best
            step = _GOLDEN * step_before
        x = best + (1.0 if step >= 0.0 else -1.0) * max(abs(step), close)
        value = float(function(x))
        if value <= least:
            low, high = (best, high) if x >= best else (low, best)
            third, of_third, second, of_second = second, of_second, best, least
            best, least = x, value
        else:
            low, high = (x, high) if x < best else (low, x)
            if value <= of_second or second == best:
                third, of_third, second, of_second = second, of_second, x, value
            elif value <= of_third or third in (best, second):
                third, of_third = x, value
    return best, least
