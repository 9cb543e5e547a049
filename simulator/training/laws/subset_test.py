"""A lower end for k of t steps: a test on the sum of ln(1 - q + q X_j).

The statement and its proof: simulator/theory/lemmas/subset-test.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from simulator.foundations.errors import NotApplicable
from simulator.theory.laws.base import Floats
from simulator.theory.outward import UNIT

_SHARES = (0.5, 0.7, 1.0)  # of k/t, for q
_POINTS = 1 << 21
_REACH = 45.0  # sums beyond it are left out, of probability exp(-45) under Q
_FAR = 9.0  # deviations of a step's sum that are kept
_MOST_STEPS = 10_000


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
        found = 0.0
        for with_record, without in self._tails:
            gain = with_record - math.exp(epsilon) * without
            found = max(found, float(gain.max()))
        return found

    def epsilon(self, delta: float) -> float:
        """Lower end of epsilon at 0 < ``delta`` < 1."""
        found = 0.0
        for with_record, without in self._tails:
            gain = with_record - delta
            seen = gain > 0.0
            if seen.any():
                ratio = gain[seen] / without[seen]
                found = max(found, math.log(float(ratio.max())))
        return found

    @property
    def _tails(self) -> Iterator[tuple[Floats, Floats]]:
        """P(A) rounded down and Q(A) rounded up, at all thresholds, for each q."""
        for share in _SHARES:
            q = share * self.selected / self.steps
            yield _tails(self.sigma, self.steps, self.selected, min(q, 1.0 - 2.0**-20))


@lru_cache(maxsize=3)
def _tails(sigma: float, steps: int, selected: int, q: float) -> tuple[Floats, Floats]:
    shift, start = 1.0 / sigma, math.log1p(-q)
    cell = (_REACH - steps * start) / _POINTS
    if steps * cell > 1.0:
        raise NotApplicable(f"{selected} of {steps} steps are too many for the test's lattice")
    log_held = float(np.logaddexp(start, math.log(q) + shift**2))  # of E exp(term) where held
    wrapped = math.exp(min(0.0, -_REACH + selected * log_held))
    beyond = math.exp(-_REACH + 2 * steps * cell) + steps * float(scipy.special.ndtr(-_FAR))
    empty, held = (_masses(shift, q, cell, mean=mean, moved=1.0) for mean in (0.0, shift))
    with_record, off = _tail_of_sum([(empty, steps - selected), (held, selected)])
    above = np.append(0.0, _masses(shift, q, cell, mean=0.0, moved=-1.0))
    without, off_without = _tail_of_sum([(above, steps)])
    return (
        with_record * (1.0 - 1e-9) - off - wrapped,
        np.maximum(without, 0.0) * (1.0 + 1e-9) + off_without + beyond,
    )


def _masses(shift: float, q: float, cell: float, *, mean: float, moved: float) -> Floats:
    """The law of a step's term less its least value, by cells, where Z is N(mean, 1).

    Edges are moved up or down by more than their rounding, and than that of the normal law.
    """
    largest = math.log1p(q / (1.0 - q) * math.exp(shift * (_FAR + mean) - shift**2 / 2.0))
    size = math.ceil(largest / cell)
    if size + 1 > _POINTS:
        raise NotApplicable(f"a noise of {1.0 / shift:g} is too small for the test's lattice")
    with np.errstate(divide="ignore"):
        edges = np.log(np.expm1(cell * np.arange(size + 1)) * (1.0 - q) / q)
    z = (edges + shift**2 / 2.0) / shift - mean
    rounding = (np.abs(edges[1:]) + shift**2 + _REACH) / shift + np.abs(z[1:]) + 1.0
    z[1:] += moved * 64.0 * UNIT * rounding
    # on the right of the middle from the other side, which keeps the digits of small masses
    left = np.diff(scipy.special.ndtr(z))
    return np.where(z[1:] > 0.0, -np.diff(scipy.special.ndtr(-z)), left)


def _tail_of_sum(terms: list[tuple[Floats, int]]) -> tuple[Floats, float]:
    """The tails of a sum of independent terms at all places, and a bound on their round-off."""
    unit = 8.0 * math.log2(_POINTS) * UNIT
    spectrum, moved = np.ones(_POINTS // 2 + 1, dtype=complex), np.ones(_POINTS // 2 + 1)
    for masses, count in terms:
        transform = scipy.fft.rfft(masses, _POINTS)
        spectrum *= transform**count
        moved *= (np.abs(transform) + unit) ** count
    size, count = np.abs(spectrum), sum(count for _, count in terms)
    wrong = moved - size + 64.0 * UNIT * count * moved
    noise = math.sqrt(2.0) * float(np.linalg.norm(wrong) + unit * np.linalg.norm(size))
    sums = scipy.fft.irfft(spectrum, _POINTS)
    return np.cumsum(sums[::-1])[::-1], noise * (1.0 + 1e-6) + 1e-9 * unit
