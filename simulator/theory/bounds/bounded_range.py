"""Bounds on mechanisms of bounded range, such as the exponential mechanism."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import scipy

from simulator.foundations.errors import NotApplicable
from simulator.theory.bounds.base import Bound, largest_loss, needs_squares, pure_epsilon
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.concentration import azuma_deviation, azuma_tail
from simulator.theory.bounds.range_recursion import (
    LONGEST_STEP,
    SHORTEST_STEP,
    UNDERFLOW,
    EnclosedCurve,
    cells_per_width,
    enclosed_curve,
)
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.bounded_range import BoundedRange
from simulator.theory.inverse import certain_inverse, falling_root
from simulator.theory.laws.binomial import log_binomial, log_binomial_error
from simulator.theory.outward import UNIT
from simulator.theory.pld.response_atoms import LossAtoms


def needs_range(core: Composition) -> str | None:
    """Condition of the bounds on rounds of bounded range: why it fails, or None."""
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
    of_tail = True

    def _why_not(self, core: Composition) -> str | None:
        return needs_range(core) or needs_squares(core)

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
    """Both ends of the best adaptive choice of every round's t, by backward recursion."""

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
        offset = float(Fraction(epsilon) - steps * Fraction(width / cells))
        curve = enclosed_curve(width, rounds, cells, offset)
        return curve, (rounds + 1) * cells + steps

    def _delta_answer(self, core: Composition, epsilon: float) -> Bracket:
        if epsilon >= core.total(pure_epsilon):
            return Bracket(0.0, 0.0)
        curve, here = self._curve(core, epsilon)
        upper = float(curve.upper[here])
        return Bracket(min(float(curve.lower[here]), upper), upper)

    def _epsilon_answer(self, core: Composition, delta: float) -> Bracket:
        if delta <= 2.0 * UNDERFLOW:
            raise NotApplicable(f"{self.name}: delta {delta!r} is below double precision's reach")
        if core.total(pure_epsilon) == 0.0:
            return Bracket(0.0, 0.0)
        low, high = (max(0.0, end) for end in self._curve(core, 0.0)[0].invert(delta))
        return Bracket(low, high)


class BoundedRangeNonAdaptive(Bound):
    """The worst mechanisms fixed in advance: exact without adaptivity, a lower bound with it.

    All rounds use the extremal pair of the same t, one of the k + 1 candidates
    (E + (l+1) epsilon) / (k+1) clipped to [0, epsilon].
    """

    name = "bounded-range-non-adaptive"
    source = "Dong, Durfee and Rogers 2020, Section 5"
    kind = "lower"
    adversary = "one who ignores the answers"

    def _why_not(self, core: Composition) -> str | None:
        if (reason := _needs_one_range(core)) is not None:
            return reason
        if core.rounds > 20_000:
            return f"{core.rounds} rounds are too many for the sums over candidates; at most 20000"
        return None

    def _delta(self, core: Composition, epsilon: float) -> float:
        ((guarantee, rounds),) = core.parts
        width = guarantee.range_width
        if epsilon >= rounds * width:
            return 0.0
        return non_adaptive_delta(width, rounds, epsilon)

    def _delta_ends(self, core: Composition, epsilon: float) -> Bracket:
        ((guarantee, rounds),) = core.parts
        return Bracket(_certain_delta(guarantee.range_width, rounds, epsilon), 1.0)

    def _epsilon_ends(self, core: Composition, delta: float) -> Bracket:
        found = certain_inverse(
            lambda epsilon: self._delta_ends(core, epsilon),
            delta,
            start=self._epsilon(core, delta),
            top=largest_loss(core).upper,
        )
        return Bracket(found.lower, math.inf)

    def _epsilon(self, core: Composition, delta: float) -> float:
        ((guarantee, rounds),) = core.parts
        return falling_root(
            lambda epsilon: self._delta(core, epsilon), delta, rounds * guarantee.range_width
        )


@lru_cache(maxsize=256)
def non_adaptive_delta(width: float, rounds: int, epsilon: float) -> float:
    """delta(epsilon) of ``rounds`` equal bounded-range pairs fixed in advance, epsilon >= 0.

    The candidates are scanned in strides that shrink around the best one. The scan may miss the
    best; each candidate alone is a valid lower bound.
    """
    return _best_candidate(width, rounds, epsilon)[0]


def non_adaptive_ends(width: float, rounds: int, epsilon: float) -> Bracket:
    """Certain ends of the largest delta(epsilon) over all k + 1 candidates, epsilon >= 0.

    Raises NotApplicable for more than 2000 rounds.
    """
    if rounds > 2000:
        raise NotApplicable(f"{rounds} rounds have too many candidates to try; at most 2000")
    lower = upper = 0.0
    for jump in range(rounds + 1):
        t = min(width, max(0.0, (epsilon + jump * width) / (rounds + 1.0)))
        atoms = _repeated_pair(width, rounds, t)
        if atoms is not None and epsilon < rounds * width:
            low, high = atoms.delta_bracket(epsilon)
            lower, upper = max(lower, low), max(upper, high)
    return Bracket(lower, upper)


def _certain_delta(width: float, rounds: int, epsilon: float) -> float:
    """Certified lower end of the delta of the best candidate."""
    if epsilon >= rounds * width:
        return 0.0
    atoms = _best_candidate(width, rounds, epsilon)[1]
    return 0.0 if atoms is None else atoms.delta_bracket(epsilon).lower


@lru_cache(maxsize=256)
def _best_candidate(width: float, rounds: int, epsilon: float) -> tuple[float, LossAtoms | None]:
    """The largest delta among the candidates, and the atoms of the pair that reaches it."""
    low, high = 0, rounds
    best: tuple[float, LossAtoms | None] = (0.0, None)
    while True:
        stride = max(1, (high - low) // 16)
        values = {}
        for jump in range(low, high + 1, stride):
            t = min(width, max(0.0, (epsilon + jump * width) / (rounds + 1.0)))
            atoms = _repeated_pair(width, rounds, t)
            values[jump] = 0.0 if atoms is None else _delta_of(atoms, epsilon)
            if values[jump] > best[0]:
                best = values[jump], atoms
        if stride == 1:
            return best
        peak = max(values, key=values.__getitem__)
        low, high = max(0, peak - stride), min(rounds, peak + stride)


def _delta_of(atoms: LossAtoms, epsilon: float) -> float:
    above = atoms.losses > epsilon
    if not above.any():
        return 0.0
    terms = atoms.log_mass[above] + np.log(-np.expm1(epsilon - atoms.losses[above]))
    return math.exp(float(scipy.special.logsumexp(terms)))


def _repeated_pair(width: float, rounds: int, t: float) -> LossAtoms | None:
    """The positive atoms of ``rounds`` pairs of loss t and t - width; None if the loss is zero."""
    rest = width - t
    if t <= 0.0 or rest <= 0.0:  # the loss is constant, hence zero
        return None
    log_p = math.log(math.expm1(-rest) / math.expm1(-width))
    log_q = -rest + math.log(math.expm1(-t) / math.expm1(-width))
    losses = rounds * t - width * np.arange(rounds + 1, dtype=np.float64)
    positive = losses > 0.0
    successes = rounds - np.arange(rounds + 1, dtype=np.float64)[positive]
    law = (rounds, successes, log_p, log_q)
    return LossAtoms(
        losses[positive],
        log_binomial(*law),
        log_binomial_error(*law),
        4 * UNIT * rounds * width,
    )
