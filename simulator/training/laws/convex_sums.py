"""Sums of independent non-negative terms, between a smaller and a larger law in convex order.

The sum of ``count`` terms is made by doubling, see :mod:`simulator.training.laws.dyadic_runs`.
After each addition masses move to wider lattices where the law is wide enough for that, see
:func:`spacing_of`, and the far tails are gathered:

* Larger law: their masses go to 0 and their means to infinity, as mass under P where Q has none.
  So do the sums with one of these masses.
* Smaller law: they are left out, which lowers all divergences, as no term of them is negative.

*Round-off.* Masses are sums of products of non-negative numbers. A sum of n of them in any order
is off by n units of round-off at most, relatively, and errors of factors add up: ``mass_error``
counts both. The mean of a cell is off by as much of its distance from its point.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace

import numpy as np
import scipy

from simulator.theory.laws.base import Floats
from simulator.theory.outward import UNIT
from simulator.training.laws.dyadic_runs import Convolution, Runs

_LEAST = 1e-300
_STEP = 0.1
_WIDENINGS = 7
"""Scores over which the slope is taken: 0.2, and twice as many where all of that is one atom."""


@dataclass(frozen=True)
class Resolution:
    """How fine lattices are: their spacing in normal scores, and the mass of each tail gathered."""

    share: float
    tail: float


@dataclass(frozen=True, eq=False)
class Spacing:
    """The lattice spacing wanted: 2^exponents (m,) at ascending points (m,), and between."""

    points: Floats
    exponents: Floats

    def at(self, values: Floats) -> Floats:
        """The exponents (n,) at these values, whole numbers."""
        return np.floor(np.interp(values, self.points, self.exponents))

    @property
    def low(self) -> float:
        """Where the low tail ends."""
        return float(self.points[0])

    @property
    def high(self) -> float:
        """Where the high tail begins."""
        return float(self.points[-1])


def spacing_of(at: Floats, masses: Floats, resolution: Resolution) -> Spacing:
    """The spacing for a law of the ratio under Q, by its ascending atoms.

    It is the resolution's share of the change of the ratio per unit of its normal score, the mean
    of the normal quantiles of its distribution functions under Q and under P: a share of the
    standard deviation of a normal law, and of that of the logarithm of a lognormal one.
    """
    under = [masses / masses.sum(), masses * at / float(masses @ at)]
    scores = [_scores(each) for each in under]
    tail = scipy.special.ndtri(resolution.tail)
    low, high = (scores[0] > tail, scores[1] < -tail)
    kept = low & high if (low & high).any() else np.ones(at.size, dtype=bool)
    at = at[kept]
    score = np.maximum.accumulate(((scores[0] + scores[1]) / 2)[kept])
    grid = np.arange(score[0], score[-1] + _STEP, _STEP)
    slope = np.zeros(grid.size)
    for widening in range(_WIDENINGS):
        reach = _STEP * 2**widening
        ends = [np.clip(grid + sign * reach, score[0], score[-1]) for sign in (-1, 1)]
        below, above = (np.interp(end, score, at) for end in ends)
        rise = (above - below) / np.maximum(ends[1] - ends[0], 1e-9)
        slope = np.where(slope > 0.0, slope, np.where(rise > 1e-9 * above, rise, 0.0))
    points = np.interp(grid, score, at)
    slope = np.where(slope > 0.0, slope, 1e-2 * points)
    exponents = np.log2(resolution.share * slope)
    # Equal points, of one atom: the interpolation takes the last.
    first = np.r_[True, np.diff(points) > 0.0]
    return Spacing(points[first], exponents[first])


def _scores(masses: Floats) -> Floats:
    """Normal quantiles of the middle of each atom, from the nearer tail."""
    low = np.cumsum(masses) - masses / 2
    high = np.cumsum(masses[::-1])[::-1] - masses / 2
    near = np.clip(np.minimum(low, high), _LEAST, 0.5)
    return np.asarray(np.where(low < high, 1.0, -1.0) * scipy.special.ndtri(near))


@dataclass(frozen=True, eq=False)
class ConvexEnd:
    """A law under Q of a sum of ratios dP/dQ, larger or smaller in convex order than the truth.

    Attributes
    ----------
    runs : its masses.
    larger : which end it is.
    count : how many terms, each of mean 1.
    at_zero : mass at 0.
    gathered : mass of tails that went to 0.
    at_infinity : the part of the mean that lies at infinity.
    mass_error : of each mass, relative to it.
    point_error : of where each mass is, relative to that.
    """

    runs: Runs
    larger: bool
    _: KW_ONLY
    count: int = 1
    at_zero: float = 0.0
    gathered: float = 0.0
    at_infinity: float = 0.0
    mass_error: float = 0.0
    point_error: float = 0.0

    def sum_of(self, count: int, resolution: Resolution) -> ConvexEnd:
        """The sum of ``count`` independent terms of this law."""
        total = self
        for digit in bin(count)[3:]:
            total = total.plus(total).regridded(resolution)
            total = total.plus(self).regridded(resolution) if digit == "1" else total
        return total

    def plus(self, other: ConvexEnd) -> ConvexEnd:
        """The sum of independent terms of both laws."""
        found = Convolution.of(self.runs, other.runs)
        for one, two in ((self, other), (other, self)):
            if one.at_zero > 0.0:
                for w, run in two.runs.items():
                    found.out.put(w, run.part(np.full(run.masses.size, one.at_zero)))
        additions = 2 * found.additions + 256  # with those where runs get coarser
        return ConvexEnd(
            found.out,
            self.larger,
            count=self.count + other.count,
            at_zero=self.at_zero * other.at_zero,
            gathered=self.gathered + other.gathered,
            at_infinity=self.at_infinity
            + other.at_infinity
            + self.gathered * other.count
            + other.gathered * self.count,
            mass_error=self.mass_error + other.mass_error + additions * UNIT,
            point_error=max(self.point_error, other.point_error)
            + 4 * (1.0 + additions * found.drift) * UNIT,
        )

    def regridded(self, resolution: Resolution) -> ConvexEnd:
        """The law on lattices of the spacing that it is wide enough for, its tails gathered."""
        spacing = spacing_of(*self.runs.atoms(), resolution)
        gathered, at_infinity = self.gathered, self.at_infinity
        pending = Runs()
        for w, run in self.runs.items():
            at = run.at(w)
            beyond = (at < spacing.low) | (at > spacing.high)
            gathered += float(run.masses[beyond].sum())
            at_infinity += float(run.masses[beyond] @ at[beyond])
            pending.put(w, run.part((~beyond).astype(float)))
        kept = Runs()
        w, last = min(pending), max(pending)
        while w <= last:
            if w in pending:
                run = pending.pop(w)
                wide = spacing.at(run.at(w)) > w
                kept.put(w, run.part((~wide).astype(float)))
                moving = run.part(wide.astype(float))
                if moving.masses.size:
                    pending.put(w + 1, moving.coarser(w))
                    last = max(last, w + 1)
            w += 1
        return replace(
            self,
            runs=kept,
            gathered=gathered if self.larger else 0.0,
            at_infinity=at_infinity if self.larger else self.at_infinity,
            mass_error=self.mass_error + 64 * UNIT,
            point_error=self.point_error + 64 * UNIT,
        )
