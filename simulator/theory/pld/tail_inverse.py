"""Inversion of the certified curve delta(epsilon) of a composition engine."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from simulator.foundations.roots import crossing
from simulator.theory.bracket import Bracket
from simulator.theory.inverse import walk_outward
from simulator.theory.pld.tail import SlopedBracket, Tail

_NEWTON = 7
"""Steps of Newton's method, and the share of the bracket's width that the last may have."""
_CLOSE = 0.05


def invert(tail: Tail, delta: float, start: float, low: float, high: float) -> Bracket:
    """Certified bracket of epsilon(delta) = least epsilon in [low, high] with delta(.) <= delta.

    delta(.) never increases: epsilon is an upper end once the upper end of delta there is at
    most ``delta``, and a lower end while the lower end there is above it. Condition: ``low`` and
    ``high`` are certain.
    """
    found = _quick(tail, delta, start, low, high)
    if found is not None:
        return found
    above = upper_end(tail, delta, start, low, high)
    below = lower_end(tail, delta, above, low, high)
    return Bracket(min(below, above), above)


def _quick(tail: Tail, delta: float, start: float, low: float, high: float) -> Bracket | None:
    """The bracket by Newton's method on the middle, and one check at either end.

    None where delta is not smooth enough around the root, or the root is near an end.
    """
    epsilon = start
    for _ in range(_NEWTON):
        value = tail.at(epsilon)
        if not (value.lower > 0.0 and value.slope < 0.0):
            return None
        steepness = -value.slope / value.upper
        width = (value.upper - value.lower) / value.upper / steepness + 4 * math.ulp(epsilon)
        middle = (value.lower + value.upper) / 2
        step = math.log(middle / delta) / steepness
        if abs(step) <= _CLOSE * width:
            apart = (0.5 + 2 * _CLOSE) * width
            below, above = epsilon - apart, epsilon + apart
            inside = low < below and above < high
            holds = inside and tail.at(below).lower > delta and tail.at(above).upper <= delta
            return Bracket(below, above) if holds else None
        epsilon += min(max(step, -tail.reach), tail.reach)
        if not low < epsilon < high:
            return None
    return None


def upper_end(
    tail: Tail, delta: float, start: float, low: float, high: float, *, room: float = 0.0
) -> float:
    """An epsilon in [low, high] that is enough for ``delta``, close to the least.

    Where delta is smooth, it may be above by twice the ``room``, for a shorter search.
    """
    near = _within(tail, delta, start, (low, high), room=room, sign=1)
    if near is not None:
        return near
    root = _search(tail, delta, start, low, high, end=lambda value: value.upper)
    return walk_outward(root, +1, low, high, certified=lambda e: tail.at(e).upper <= delta)


def lower_end(
    tail: Tail, delta: float, start: float, low: float, high: float, *, room: float = 0.0
) -> float:
    """An epsilon in [low, high] that is not enough for ``delta``, or ``low``.

    Where delta is smooth, it may be below by twice the ``room``, for a shorter search.
    """
    near = _within(tail, delta, start, (low, high), room=room, sign=-1)
    if near is not None:
        return near
    root = _search(tail, delta, start, low, high, end=lambda value: value.lower)
    return walk_outward(root, -1, low, high, certified=lambda e: tail.at(e).lower > delta)


def _within(
    tail: Tail, delta: float, start: float, inside: tuple[float, float], *, room: float, sign: int
) -> float | None:
    """Newton's method until about half the ``room`` is left; then a point at that room, checked."""
    epsilon = start
    for _ in range(_NEWTON if room else 0):
        value = tail.at(epsilon)
        here = value.upper if sign > 0 else value.lower
        if not (here > 0.0 and value.slope < 0.0):
            return None
        step = _newton_step(here, value.slope, delta, tail.reach)
        left = step * step * -value.slope / here  # twice the next step, about
        epsilon += step + (sign * room if left <= room else 0.0)
        if not inside[0] < epsilon < inside[1]:
            return None
        if left <= room:
            value = tail.at(epsilon)
            if value.upper <= delta if sign > 0 else value.lower > delta:
                return epsilon
    return None


def _search(  # the result is only a guess, which walk_outward certifies
    tail: Tail,
    delta: float,
    start: float,
    low: float,
    high: float,
    *,
    end: Callable[[SlopedBracket], float],
) -> float:
    """Newton's method on ln delta until the root is enclosed, then Brent's method.

    Between atoms delta is nearly flat and drops at each atom, so Newton's method alone would cycle.
    """
    epsilon, seen = min(max(start, low), high), {1: False, -1: False}

    def excess(at: float) -> float:
        return math.log(max(end(tail.at(at)), 1e-320) / delta)

    for attempt in range(60):
        value = tail.at(epsilon)
        here = end(value)
        if here > delta:
            low, seen[1] = max(low, epsilon), True
        else:
            high, seen[-1] = min(high, epsilon), True
        target = epsilon + _newton_step(here, value.slope, delta, tail.reach)
        close = max(1e-15 * abs(epsilon), 1e-13 * min(tail.reach, 1e-3))
        if attempt < _NEWTON and abs(target - epsilon) <= close:
            break
        if all(seen.values()) and not (attempt < _NEWTON and low < target < high):
            resolution = max(2 * float(np.spacing(abs(high))), 1e-13 * min(tail.reach, 1e-3))
            if high - low <= resolution or excess(low) * excess(high) >= 0:
                return high
            return crossing(excess, low, high, xtol=resolution, rtol=1e-15)
        if not (low <= target <= high and math.isfinite(target)):  # as where the slope is 0
            target = low + (high - low) / 2 if math.isfinite(high) else 2 * abs(epsilon) + 1
            target = min(max(target, epsilon - tail.reach), epsilon + tail.reach)
        if abs(target - epsilon) <= close:
            break
        epsilon = target
    return epsilon


def _newton_step(here: float, slope: float, delta: float, reach: float) -> float:
    if here <= 0 or slope >= 0:
        return math.copysign(reach, here - delta)
    step = here / -slope * math.log(here / delta)
    return min(max(step, -reach), reach)
