"""A lower end for k of t steps: a test on the sum of ln(1 - q + q X_j).

The statement and its proof: simulator/theory/lemmas/subset-test.md. The choice of q is made on a
coarse lattice; near k/t the test is the best where each step holds the record with probability q,
and a small q makes it a test on the sum of X_j, the best for k = 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from simulator.foundations.errors import NotApplicable
from simulator.theory.laws.base import Floats
from simulator.theory.outward import UNIT

_SHARES = (2.0, *(2.0 ** (-i / 2) for i in range(9)), 2.0**-6, 2.0**-8)  # of k/t, for q
_POINTS, _COARSE = 1 << 21, 1 << 15
_REACH = 45.0  # sums beyond it are left out, of probability exp(-45) under Q
_FAR = 9.0  # deviations of a step's sum that are kept
_MOST_STEPS = 10_000

Tails = tuple[Floats, Floats]


@dataclass(frozen=True)
class SubsetTest:
    """The divergences that a test reaches against ``selected`` of ``steps`` Gaussian steps.

    >>> from simulator.training.laws.subset_test import SubsetTest
    >>> 1.7 < SubsetTest(1.0, steps=100, selected=3).epsilon(1e-5) < 1.77
    True
    """

    sigma: float
    steps: int
    selected: int

    def __post_init__(self) -> None:
        if self.steps > _MOST_STEPS:
            raise NotApplicable(f"more than {_MOST_STEPS} steps are not tested")

    def delta(self, epsilon: float) -> float:
        """Lower end of delta at ``epsilon`` >= 0, that a record's removal reaches."""
        return self._best(lambda ends: _delta_at(ends, epsilon))

    def epsilon(self, delta: float) -> float:
        """Lower end of epsilon at 0 < ``delta`` < 1."""
        return self._best(lambda ends: _epsilon_at(ends, delta))

    def _best(self, reached: Callable[[Tails], float]) -> float:
        shares = [min(share * self.selected / self.steps, 1.0 - 2.0**-20) for share in _SHARES]
        try:
            q = max(shares, key=lambda q: reached(_tails(self, q, _COARSE, False)))
        except NotApplicable:
            q = self.selected / self.steps
        return reached(_tails(self, min(q, 1.0 - 2.0**-20), _POINTS, True))


def _delta_at(tails: Tails, epsilon: float) -> float:
    with_record, without = tails
    return max(float((with_record - math.exp(epsilon) * without).max()), 0.0)


def _epsilon_at(tails: Tails, delta: float) -> float:
    gain = tails[0] - delta
    seen = (gain > 0.0) & (tails[1] > 0.0)
    return max(math.log(float((gain[seen] / tails[1][seen]).max())), 0.0) if seen.any() else 0.0


@lru_cache(maxsize=16)
def _tails(test: SubsetTest, q: float, points: int, certain: bool) -> Tails:
    """P(A) rounded down and Q(A) rounded up, at all thresholds; both down unless ``certain``."""
    shift, start, steps, selected = 1.0 / test.sigma, math.log1p(-q), test.steps, test.selected
    cell = (_REACH - steps * start) / points
    if certain and steps * cell > 1.0:
        raise NotApplicable(f"{selected} of {steps} steps are too many for the test's lattice")
    empty, held = (
        _masses(shift, q, cell, points=points, mean=mean, moved=1.0) for mean in (0.0, shift)
    )
    with_record, off = _tail_of_sum([(empty, steps - selected), (held, selected)], points)
    if not certain:
        return with_record - off, _tail_of_sum([(empty, steps)], points)[0] + off
    log_held = float(np.logaddexp(start, math.log(q) + shift**2))  # of E exp(term) where held
    wrapped = math.exp(min(0.0, -_REACH + selected * log_held))
    beyond = math.exp(-_REACH + 2 * steps * cell) + steps * float(scipy.special.ndtr(-_FAR))
    above = np.append(0.0, _masses(shift, q, cell, points=points, mean=0.0, moved=-1.0))
    without, off_without = _tail_of_sum([(above, steps)], points)
    return (
        with_record * (1.0 - 1e-9) - off - wrapped,
        np.maximum(without, 0.0) * (1.0 + 1e-9) + off_without + beyond,
    )


def _masses(
    shift: float, q: float, cell: float, *, points: int, mean: float, moved: float
) -> Floats:
    """The law of a step's term less its least value, by cells, where Z is N(mean, 1).

    Edges are moved up or down by more than their rounding, and than that of the normal law.
    """
    largest = math.log1p(q / (1.0 - q) * math.exp(shift * (_FAR + mean) - shift**2 / 2.0))
    size = math.ceil(largest / cell)
    if size + 1 > points:
        raise NotApplicable(f"a noise of {1.0 / shift:g} is too small for the test's lattice")
    with np.errstate(divide="ignore"):
        edges = np.log(np.expm1(cell * np.arange(size + 1)) * (1.0 - q) / q)
    z = (edges + shift**2 / 2.0) / shift - mean
    rounding = (np.abs(edges[1:]) + shift**2 + _REACH) / shift + np.abs(z[1:]) + 1.0
    z[1:] += moved * 64.0 * UNIT * rounding
    # on the right of the middle from the other side, which keeps the digits of small masses
    left = np.diff(scipy.special.ndtr(z))
    return np.where(z[1:] > 0.0, -np.diff(scipy.special.ndtr(-z)), left)


def _tail_of_sum(terms: list[tuple[Floats, int]], points: int) -> tuple[Floats, float]:
    """The tails of a sum of independent terms at all places, and a bound on their round-off."""
    unit = 8.0 * math.log2(points) * UNIT
    spectrum, moved = np.ones(points // 2 + 1, dtype=complex), np.ones(points // 2 + 1)
    for masses, count in terms:
        transform = scipy.fft.rfft(masses, points)
        spectrum *= transform**count
        moved *= (np.abs(transform) + unit) ** count
    size, count = np.abs(spectrum), sum(count for _, count in terms)
    wrong = moved - size + 64.0 * UNIT * count * moved
    noise = math.sqrt(2.0) * float(np.linalg.norm(wrong) + unit * np.linalg.norm(size))
    sums = scipy.fft.irfft(spectrum, points)
    return np.cumsum(sums[::-1])[::-1], noise * (1.0 + 1e-6) + 1e-9 * unit
