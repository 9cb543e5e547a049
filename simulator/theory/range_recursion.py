"""The worst adaptive adversary against bounded range, by backward recursion, enclosed.

With i rounds left and E to go, the best that an adversary can reach is
V_i(E) = sup over t of p_t V_{i-1}(E - t) + (1 - p_t) V_{i-1}(E - t + w), where w is the width,
p_t = (1 - e^(t-w)) / (1 - e^(-w)) and V_0(E) = (1 - e^E)_+. On a lattice that divides w:

- restricting t to the lattice is a strategy, so it gives a lower bound;
- V_{i-1} is convex in x = e^E (a supremum of convex functions), so between lattice points it is
  below its chord. With u = e^(-t) the objective is then (alpha u + beta + gamma / u) / (1 - e^-w)
  on each cell, whose largest value is explicit: an upper bound over every t. What double
  precision loses by underflow is less than 1e-300 in all and is added.

Source: the recursion is Dong, Durfee and Rogers 2020, Section 6; the enclosure is ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simulator.theory.loss_atoms import Floats

UNDERFLOW = 1e-300
_WORK = 4e6  # (rounds x cells)^2: about a third of a second
_MOST_CELLS, _LEAST_CELLS = 1000, 8
SHORTEST_STEP, LONGEST_STEP = 1e-7, 600.0
"""Nats: in shorter cells the chords cancel to nothing, across longer ones e^epsilon overflows."""


def cells_per_width(rounds: int) -> int | None:
    """Lattice cells in one width that the allowed work affords; None when too few are left."""
    cells = min(_MOST_CELLS, int(math.sqrt(_WORK) / rounds))
    return cells if cells >= _LEAST_CELLS else None


@dataclass(frozen=True, eq=False)
class EnclosedCurve:
    """delta on the points ``epsilons`` (increasing), certain to lie in [lower, upper]."""

    epsilons: Floats
    lower: Floats
    upper: Floats

    def invert(self, delta: float) -> tuple[float, float]:
        """Ends of an interval that holds the epsilon where the curve comes down to ``delta``.

        Above, the chord of the upper ends; below, the extension of the line from the upper end on
        the left to the lower end at the last point that is certainly above: both by convexity in
        e^epsilon.
        """
        right = int(np.argmax(self.upper <= delta))
        if right == 0:  # below delta everywhere
            return -math.inf, -math.inf
        high = self._crossing(right, float(self.upper[right]), delta)
        left = int(np.argmax(self.lower < delta)) - 1
        if left < 1:
            return -math.inf, high
        low = self._crossing(left, float(self.lower[left]), delta)
        return min(low, float(self.epsilons[left + 1]), high), high

    def _crossing(self, point: int, value: float, delta: float) -> float:
        """Where the line from the upper end before ``point`` to ``value`` there meets ``delta``."""
        start, before = float(self.epsilons[point - 1]), float(self.upper[point - 1])
        if before <= value:  # flat within rounding: nothing is known beyond the point
            return float(self.epsilons[point])
        growth = math.expm1(float(self.epsilons[point]) - start)
        return start + math.log1p(growth * (before - delta) / (before - value))


@lru_cache(maxsize=16)
def enclosed_curve(width: float, rounds: int, cells: int, offset: float) -> EnclosedCurve:
    """Lower and upper ends of V_rounds at ``offset`` plus the multiples of width / cells."""
    step = width / cells
    reach = (rounds + 1) * cells  # beyond, the curve is 1 - e^E on the left and 0 on the right
    points = offset + step * np.arange(-reach - cells, reach + cells + 1, dtype=np.float64)
    trivial = np.maximum(0.0, -np.expm1(np.minimum(points, 0.0)))
    lower, upper = trivial.copy(), trivial.copy()
    inner = slice(cells, points.size - cells)
    for _ in range(rounds):
        lower[inner] = np.maximum(trivial[inner], _best_on_lattice(lower, cells, width))
        on_lattice = _best_on_lattice(upper, cells, width)
        upper[inner] = np.maximum(on_lattice, _best_in_cells(upper, cells, width))
    certain = np.minimum(upper[inner] + UNDERFLOW, 1.0)
    return EnclosedCurve(points[inner], lower[inner], certain)


def _shifted(values: Floats, cells: int, by: int) -> Floats:
    """The values at (point - by steps) for every inner point."""
    return values[cells - by : values.size - cells - by]


def _best_on_lattice(values: Floats, cells: int, width: float) -> Floats:
    best = np.zeros(values.size - 2 * cells)
    for jump in range(cells + 1):
        t = jump * width / cells
        p = math.expm1(t - width) / math.expm1(-width)
        q = math.exp(t - width) * math.expm1(-t) / math.expm1(-width)
        reached = p * _shifted(values, cells, jump) + q * _shifted(values, cells, jump - cells)
        np.maximum(best, reached, out=best)
    return best


def _best_in_cells(values: Floats, cells: int, width: float) -> Floats:
    """The largest interior value of the chord objective over every cell of t (0 where none).

    Within a cell u is measured in units of its largest, v = u / u0, so that no width overflows;
    square roots are taken before products, so that no small value underflows.
    """
    best = np.zeros(values.size - 2 * cells)
    r, scale, step = math.exp(-width), -math.expm1(-width), width / cells
    least = math.exp(-step)
    for jump in range(cells):
        rho = math.exp(jump * step - width)
        first, second = (_shifted(values, cells, jump + i) for i in (0, 1))
        slope_a = (first - second) / -math.expm1(-step)
        const_a = first - slope_a
        first, second = (_shifted(values, cells, jump + i - cells) for i in (0, 1))
        slope_b = (first - second) / -math.expm1(-step)
        const_b = first - slope_b
        root_alpha = np.sqrt(np.maximum(0.0, r * slope_b - slope_a))
        root_gamma = np.sqrt(np.maximum(0.0, rho * (const_a - const_b)))
        beta = const_a - rho * slope_a + rho * slope_b - r * const_b
        inside = (root_gamma > least * root_alpha) & (root_gamma < root_alpha)
        peak = np.where(inside, (beta - 2.0 * root_alpha * root_gamma) / scale, 0.0)
        np.maximum(best, peak, out=best)
    return best
