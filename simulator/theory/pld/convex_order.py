"""Certified ends of the divergence of random allocation, by grid laws in convex order.

One record takes part in one of ``steps`` steps, chosen uniformly. Under Q, the noise alone, the
likelihood ratio of the pair is the average U of ``steps`` independent ratios V = dP/dQ of one
step, so E_Q U = 1. Removal: delta(epsilon) = E (U - e^epsilon)+. Addition:
E (1 - e^epsilon U)+. Both are expectations of convex functions of U.

*Upper end.* In each cell of a geometric grid the mass of V moves to the two ends of the cell, and
the mean is kept: by Jensen's inequality on the cell the new law is larger in convex order. A sum
of independent terms keeps that order. So does the same step after each sum.

*Lower end.* The mass of a cell moves to its conditional mean: the new law is smaller in convex
order, again by Jensen's inequality.

*Tails.* Outside the grid, V is replaced by 0. This lowers U by a variable of expectation r, the
mass of P outside, and both functions change by at most r and e^epsilon r, in the direction that
the methods state. *Round-off.* All terms are sums and products of non-negative numbers. Their
relative error is far below ``_ROUND_OFF``, by which masses and epsilon are moved outward.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from simulator.foundations.errors import InvalidInput
from simulator.theory.bracket import Bracket
from simulator.theory.parameters import count, positive

Floats = NDArray[np.float64]

_ROUND_OFF = 1e-9
"""A relative error no sum here reaches: cells are differences of normal distribution functions
with ten digits or more, and 2^15 terms of relative error 2^-52 are added some twenty times."""

_REACH = 10.0
"""Standard deviations of the loss under P that the grid covers: the mass outside is below 2e-23."""


_MOST_CELLS = 2**15
"""The largest grid. It keeps a cell wider than 6e-4 standard deviations, hence the digits above."""

_UNDERFLOW = 1e-290
"""More than all masses that can underflow: 2^30 products below 1e-308 in each sum."""


@dataclass(frozen=True)
class _Law:
    """A law on [0, infinity): mass at zero, and in each cell a mass and its first moment."""

    zero: float
    masses: Floats
    moments: Floats


@dataclass(frozen=True)
class GaussianAllocation:
    """The pair of one Gaussian step of ``steps``, sensitivity 1, with certified divergences.

    Parameters
    ----------
    sigma
        The noise's standard deviation over the sensitivity.
    steps
        How many steps an epoch has; the record takes part in exactly one.
    spacing
        The grid's spacing in the loss. The error of both ends is of second order in it.

    Raises
    ------
    InvalidInput
        If ``sigma`` or ``spacing`` is not positive and finite, or ``steps`` not a whole number
        of at least 1.
    """

    sigma: float
    steps: int
    spacing: float = 0.01

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))
        object.__setattr__(self, "steps", count("steps", self.steps))
        object.__setattr__(self, "spacing", positive("spacing", self.spacing))
        shift = 1 / self.sigma
        if shift**2 / 2 + _REACH * shift + math.log(self.steps) > 600:
            raise InvalidInput(
                f"sigma {self.sigma!r} is too small for a grid of ratios below e^600"
            )
        width = 2 * _REACH * shift + math.log(self.steps)
        if width > _MOST_CELLS * self.spacing:
            raise InvalidInput(
                f"spacing {self.spacing!r} makes more than {_MOST_CELLS} cells; take at least "
                f"{width / _MOST_CELLS:.2g}"
            )

    def removal(self, epsilon: float) -> Bracket:
        """The ends of E (U - e^epsilon)+, the divergence of P from Q."""
        # Outside the grid V is lowered to 0: U falls, and by r on average.
        lower = self._excess(self._smaller, epsilon + _ROUND_OFF) * (1 - _ROUND_OFF)
        upper = self._excess(self._larger, epsilon - _ROUND_OFF) * (1 + _ROUND_OFF) + self._outside
        return Bracket(lower, min(1.0, upper))

    def addition(self, epsilon: float) -> Bracket:
        """The ends of E (1 - e^epsilon U)+, the divergence of Q from P."""
        # Lowering U raises this function, by e^epsilon r at most.
        lost = math.exp(epsilon) * self._outside
        lower = self._shortfall(self._smaller, epsilon + _ROUND_OFF) * (1 - _ROUND_OFF) - lost
        upper = self._shortfall(self._larger, epsilon - _ROUND_OFF) * (1 + _ROUND_OFF)
        upper += _UNDERFLOW
        return Bracket(max(0.0, lower), min(1.0, upper))

    @cached_property
    def _points(self) -> Floats:
        shift = 1 / self.sigma
        low = math.floor((shift**2 / 2 - _REACH * shift) / self.spacing)
        high = math.ceil((shift**2 / 2 + _REACH * shift + math.log(self.steps)) / self.spacing)
        return np.asarray(np.exp(self.spacing * np.arange(low, high + 3 + self._spare)))

    @property
    def _spare(self) -> int:
        """Cells above the largest sum: each sum moves mass up by less than one cell."""
        return 2 * self.steps.bit_length()

    @cached_property
    def _inside(self) -> int:
        """How many cells, from the lowest, one step's ratio can be in."""
        return len(self._points) - 2 - self._spare - math.floor(math.log(self.steps) / self.spacing)

    @cached_property
    def _outside(self) -> float:
        """P's mass outside the grid, an upper end."""
        shift = 1 / self.sigma
        losses = np.log(self._points[[0, self._inside]])
        standard = (losses - shift**2 / 2) / shift
        return float(ndtr(standard[0]) + ndtr(-standard[1])) * 1.001

    @cached_property
    def _one(self) -> _Law:
        """One step's law, exact: Q's mass and P's mass of every cell (P's is the moment of V)."""
        shift = 1 / self.sigma
        losses = np.log(self._points[: self._inside + 1])
        cells = []
        for mean in (-(shift**2) / 2, shift**2 / 2):
            z = (losses - mean) / shift
            low, high = z[:-1], z[1:]
            mass = np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
            cells.append(np.concatenate([mass, np.zeros(len(self._points) - 1 - len(mass))]))
        first = (losses[0] + shift**2 / 2) / shift
        last = (losses[-1] + shift**2 / 2) / shift
        return _Law(float(ndtr(first) + ndtr(-last)), cells[0], cells[1])

    @cached_property
    def _smaller(self) -> _Law:
        return self._sum(self._one, self._add_smaller)

    @cached_property
    def _larger(self) -> _Law:
        one, low, high = self._one, self._points[:-1], self._points[1:]
        up = np.clip((one.moments - low * one.masses) / (high - low), 0, one.masses)
        masses = one.masses - up
        masses[1:] += up[:-1]
        return self._sum(_Law(one.zero, masses, masses * low), self._add_larger)

    def _sum(self, one: _Law, add: Callable[[_Law, _Law], _Law]) -> _Law:
        """The law of the sum of ``steps`` terms, by doubling."""
        total = one
        for digit in bin(self.steps)[3:]:
            total = add(total, total)
            total = add(total, one) if digit == "1" else total
        return total

    def _add_larger(self, a: _Law, b: _Law) -> _Law:
        size, h = len(a.masses), self.spacing
        out = a.zero * b.masses + b.zero * a.masses
        first, last = _support(a, b)
        for d in range(last - first):
            pairs = a.masses[first + d : last] * b.masses[first : last - d]
            if d:
                pairs = pairs + b.masses[first + d : last] * a.masses[first : last - d]
            offset = math.log1p(math.exp(-h * d)) / h
            cell = math.floor(offset)
            weight = math.expm1(h * (offset - cell)) / math.expm1(h)
            start = first + d + cell
            kept = min(len(pairs), size - start - 1)
            out[start : start + kept] += pairs[:kept] * (1 - weight)
            out[start + 1 : start + 1 + kept] += pairs[:kept] * weight
        return _Law(a.zero * b.zero, out, out * self._points[:-1])

    def _add_smaller(self, a: _Law, b: _Law) -> _Law:
        size, h = len(a.masses), self.spacing
        masses = a.zero * b.masses + b.zero * a.masses
        moments = a.zero * b.moments + b.zero * a.moments
        first, last = _support(a, b)
        means = [
            np.divide(x.moments, x.masses, out=self._points[:-1].copy(), where=x.masses > 0)
            for x in (a, b)
        ]
        orders = [(a, b, means[0], means[1]), (b, a, means[1], means[0])]
        for d in range(last - first):
            start = first + d + math.floor(math.log1p(math.exp(-h * d)) / h)
            for x, y, u, v in orders[: 1 if d == 0 else 2]:
                pairs = x.masses[first + d : last] * y.masses[first : last - d]
                values = u[first + d : last] + v[first : last - d]
                kept = min(len(pairs), size - start - 1)
                pairs, values = pairs[:kept], values[:kept]
                above = pairs * (values >= self._points[start + 1 : start + 1 + kept])
                below = pairs - above
                masses[start : start + kept] += below
                masses[start + 1 : start + 1 + kept] += above
                moments[start : start + kept] += below * values
                moments[start + 1 : start + 1 + kept] += above * values
        return _Law(a.zero * b.zero, masses, moments)

    def _excess(self, law: _Law, epsilon: float) -> float:
        gains = law.moments / self.steps - math.exp(epsilon) * law.masses
        return float(np.sum(np.maximum(gains, 0.0)))

    def _shortfall(self, law: _Law, epsilon: float) -> float:
        gains = law.masses - math.exp(epsilon) * law.moments / self.steps
        return float(law.zero + np.sum(np.maximum(gains, 0.0)))


def _support(a: _Law, b: _Law) -> tuple[int, int]:
    """The first cell with mass, and one past the last, of either law."""
    cells = np.flatnonzero((a.masses > 0) | (b.masses > 0))
    return int(cells[0]), int(cells[-1]) + 1
