"""Bounded range: the exponential mechanism's own composition, beside that of pure privacy."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import logsumexp

from simulator.errors import NotApplicable
from simulator.theory.answers import Answer
from simulator.theory.bounds.base import Bound, pure_epsilon
from simulator.theory.composition import Composition
from simulator.theory.concentration import azuma_deviation, azuma_tail
from simulator.theory.guarantees import BoundedRange
from simulator.theory.loss_atoms import log_binomial
from simulator.theory.range_recursion import (
    LONGEST_STEP,
    SHORTEST_STEP,
    UNDERFLOW,
    EnclosedCurve,
    cells_per_width,
    enclosed_curve,
)
from simulator.theory.roots import falling_root


def needs_range(core: Composition) -> str | None:
    """Condition shared by the bounds on rounds of bounded range."""
    return None if core.consists_of(BoundedRange) else "every round must be of bounded range"


def _needs_one_range(core: Composition) -> str | None:
    reason = needs_range(core)
    if reason is None and len(core.parts) > 1:
        return "every round must have the same range"
    return reason


class BoundedRangeAzuma(Bound):
    """Mean plus Azuma's deviation with range epsilon in place of 2 epsilon; capped by basic."""

    name = "bounded-range-azuma"
    source = "Durfee and Rogers 2019; Dong, Durfee and Rogers 2020, Section 7"

    def _why_not(self, core: Composition) -> str | None:
        return needs_range(core)

    def _amounts(self, core: Composition) -> tuple[float, float]:
        mean = core.total(lambda guarantee: guarantee.mean_loss)
        return mean, core.total(lambda guarantee: guarantee.range_width**2)

    def _delta(self, core: Composition, epsilon: float) -> float:
        if epsilon >= core.total(pure_epsilon):
            return 0.0
        mean, squared_ranges = self._amounts(core)
        return azuma_tail(epsilon - mean, squared_ranges)

    def _epsilon(self, core: Composition, delta: float) -> float:
        mean, squared_ranges = self._amounts(core)
        return min(core.total(pure_epsilon), mean + azuma_deviation(delta, squared_ranges))


class BoundedRangeAdaptive(Bound):
    """The best adaptive choice of every round's t, by backward recursion, with both ends."""

    name = "bounded-range-adaptive"
    source = "Dong, Durfee and Rogers 2020, Section 6 (recursion; here enclosed from both sides)"
    costly = True

    def _why_not(self, core: Composition) -> str | None:
        if (reason := _needs_one_range(core)) is not None:
            return reason
        cells = cells_per_width(core.rounds)
        if cells is None:
            return f"{core.rounds} rounds are too many for the recursion's lattice"
        step = core.total(pure_epsilon) / core.rounds / cells
        if step > 0.0 and not SHORTEST_STEP * (1 - 1e-9) <= step <= LONGEST_STEP:
            low, high = SHORTEST_STEP * cells, LONGEST_STEP * cells
            return f"the recursion's lattice needs a range in [{low:g}, {high:g}]"
        return None

    def _curve(self, core: Composition, epsilon: float) -> tuple[EnclosedCurve, int]:
        """The curve on a lattice through ``epsilon``, and the index of that point."""
        ((guarantee, rounds),) = core.parts
        width = guarantee.range_width
        cells = cells_per_width(rounds)
        assert cells is not None  # the condition was checked
        steps = int(epsilon * cells / width)
        curve = enclosed_curve(width, rounds, cells, epsilon - steps * width / cells)
        return curve, (rounds + 1) * cells + steps

    def _delta(self, core: Composition, epsilon: float) -> float:
        return self._delta_answer(core, epsilon).upper

    def _epsilon(self, core: Composition, delta: float) -> float:
        return self._epsilon_answer(core, delta).upper

    def _delta_answer(self, core: Composition, epsilon: float) -> Answer:
        if epsilon >= core.total(pure_epsilon):
            return Answer(0.0, 0.0, 0.0)
        curve, here = self._curve(core, epsilon)
        upper = float(curve.upper[here])
        return Answer(upper, min(float(curve.lower[here]), upper), upper)

    def _epsilon_answer(self, core: Composition, delta: float) -> Answer:
        if delta <= 2.0 * UNDERFLOW:
            raise NotApplicable(f"{self.name}: delta {delta!r} is below double precision's reach")
        if core.total(pure_epsilon) == 0.0:
            return Answer(0.0, 0.0, 0.0)
        low, high = (max(0.0, end) for end in self._curve(core, 0.0)[0].invert(delta))
        return Answer(high, low, high)


class BoundedRangeNonAdaptive(Bound):
    """The worst mechanisms fixed in advance: exact then, a lower bound for adaptive choice.

    All rounds use the extremal pair of the same t, one of the k + 1 candidates
    (E + (l+1) epsilon) / (k+1) clipped to [0, epsilon].
    """

    name = "bounded-range-non-adaptive"
    source = "Dong, Durfee and Rogers 2020, Section 5"
    kind = "lower"

    def _why_not(self, core: Composition) -> str | None:
        if (reason := _needs_one_range(core)) is not None:
            return reason
        if core.rounds > 20_000:
            return f"{core.rounds} rounds need their square in candidate terms; at most 20000"
        return None

    def _delta(self, core: Composition, epsilon: float) -> float:
        ((guarantee, rounds),) = core.parts
        width = guarantee.range_width
        if epsilon >= rounds * width:
            return 0.0
        return non_adaptive_delta(width, rounds, epsilon)

    def _epsilon(self, core: Composition, delta: float) -> float:
        ((guarantee, rounds),) = core.parts
        return falling_root(
            lambda epsilon: self._delta(core, epsilon), delta, rounds * guarantee.range_width
        )


@lru_cache(maxsize=256)
def non_adaptive_delta(width: float, rounds: int, epsilon: float) -> float:
    """Curve of ``rounds`` equal bounded-range pairs fixed in advance, at epsilon >= 0.

    The candidates are scanned coarsely and then ever more finely around the best. Whatever the
    scan would miss, each candidate alone is a valid lower bound.
    """
    low, high, best = 0, rounds, 0.0
    while True:
        stride = max(1, (high - low) // 16)
        values = {}
        for jump in range(low, high + 1, stride):
            t = min(width, max(0.0, (epsilon + jump * width) / (rounds + 1.0)))
            values[jump] = _repeated_pair_delta(width, rounds, t, epsilon)
        peak = max(values, key=values.__getitem__)
        best = max(best, values[peak])
        if stride == 1:
            return best
        low, high = max(0, peak - stride), min(rounds, peak + stride)


def _repeated_pair_delta(width: float, rounds: int, t: float, epsilon: float) -> float:
    if t <= 0.0 or t >= width:  # the loss is constant, hence zero
        return 0.0
    log_denominator = math.log(-math.expm1(-width))
    log_p = math.log(-math.expm1(t - width)) - log_denominator
    log_q = t - width + math.log(-math.expm1(-t)) - log_denominator
    losses = rounds * t - width * np.arange(rounds + 1)
    above = losses > epsilon
    successes = rounds - np.arange(rounds + 1, dtype=np.float64)[above]
    log_mass = log_binomial(rounds, successes, log_p, log_q)
    if log_mass.size == 0:
        return 0.0
    return math.exp(float(logsumexp(log_mass + np.log(-np.expm1(epsilon - losses[above])))))
