"""Rules that combine the per-round deltas with the delta of the composition."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from simulator.foundations.errors import NotApplicable
from simulator.theory.bounds.composition import Composition


@dataclass(frozen=True)
class LeakRule:
    """A rule that combines the rounds' own deltas with delta', their delta where no record leaks.

    Attributes
    ----------
    join : from the composition and delta' to the total delta.
    split : from the composition and the total delta to delta'; raises NotApplicable where the
        rounds' own deltas alone exceed the total.
    """

    join: Callable[[Composition, float], float]
    split: Callable[[Composition, float], float]


def _refuse(total: float, spent: float) -> NotApplicable:
    return NotApplicable(
        f"no epsilon is enough at delta {total!r}: the rounds' own deltas alone amount to {spent!r}"
    )


def _join_one(composition: Composition, delta: float) -> float:
    if delta >= 1.0:
        return 1.0
    return max(0.0, -math.expm1(math.log1p(-delta) + composition.log_kept))


def _split_one(composition: Composition, total: float) -> float:
    log_kept = composition.log_kept
    if log_kept == 0.0:
        return total
    log_allowed = math.log1p(-total) - log_kept  # of 1 - delta'; positive where the leaks pass it
    if log_allowed > 0.0:
        raise _refuse(total, -math.expm1(log_kept))
    return -math.expm1(log_allowed)


def _split_sum(composition: Composition, total: float) -> float:
    allowed = total - composition.leaks
    if allowed < 0.0:
        raise _refuse(total, composition.leaks)
    return allowed


ONE_LEAK = LeakRule(_join_one, _split_one)
"""Total 1 - (1 - delta') prod(1 - delta_i): Kairouz, Oh and Viswanath 2017, Theorem 3.5."""

SUM_OF_LEAKS = LeakRule(lambda composition, delta: composition.leaks + delta, _split_sum)
"""Total delta' + sum delta_i: Dwork and Roth 2014, Theorem 3.20."""
