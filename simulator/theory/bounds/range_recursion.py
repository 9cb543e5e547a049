"""Certified ends of the worst adaptive adversary against bounded range, by backward recursion.

With i rounds left and a remaining threshold E, the largest delta of an adversary is V_i(E) = sup
over t of p_t V_{i-1}(E - t) + (1 - p_t) V_{i-1}(E - t + w), where w is the width, p_t = (1 -
e^(t-w)) / (1 - e^(-w)) and V_0(E) = (1 - e^E)_+. On a lattice that divides w:

- restricting t to the lattice is a strategy, so it gives a lower bound;
- V_{i-1} is convex in x = e^E (a supremum of convex functions), so between lattice points it is
  below its chord. With v = e^(t_j - t) the objective is then, on the cell from t_j on, (beta -
  alpha v - gamma / v) / (1 - e^-w), whose largest value is explicit: an upper bound over every t.
  It exceeds the objective at t_j by (root alpha - root gamma)^2 / (1 - e^-w), which is computed in
  this form: near the largest loss the terms of the objective cancel.

A cell is a power of two of the width, so the lattice is exact. Every other operation is rounded
outwards by more than its error; underflow loses less than 1e-300 in total.

Source: the recursion is Dong, Durfee and Rogers 2020, Section 6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simulator.theory.bracket import Bracket
from simulator.theory.outward import UNIT
from simulator.theory.pld.response_atoms import Floats

UNDERFLOW = 1e-300
_WORK = 4e6  # (rounds x cells)^2: about a third of a second
_MOST_CELLS, _LEAST_CELLS = 1024, 8
SHORTEST_STEP, LONGEST_STEP = 1e-9, 600.0
"""In nats. In shorter cells the chords lose all digits, across longer ones e^epsilon overflows."""
_UP = 1.0 + 2.0**-47  # above the rounding error of a round's dozen operations


def cells_per_width(rounds: int) -> int | None:
    """Lattice cells per width, a power of two limited by _WORK; None where too few."""
    most = min(_MOST_CELLS, math.sqrt(2.0 * _WORK) / rounds)
    return 2 ** int(math.log2(most)) if most >= _LEAST_CELLS else None


@dataclass(frozen=True, eq=False)
class EnclosedCurve:
    """Certified ends of delta at the points ``epsilons`` (increasing)."""

    epsilons: Floats
    lower: Floats
    upper: Floats

    def invert(self, delta: float) -> Bracket:
        """Bracket of the epsilon where the curve is ``delta``.

        By convexity in e^epsilon. The upper end is on the chord of the upper ends. The lower end is
        on the extended line from the upper end on the left to the lower end at the last point that
        is certainly above ``delta``.
        """
        right = int(np.argmax(self.upper <= delta))
        if right == 0:  # below delta everywhere
            return Bracket(-math.inf, -math.inf)
        step = float(self.epsilons[1] - self.epsilons[0])
        rounding = 2.0**-48 * max(abs(float(self.epsilons[right])), step)
        high = self._crossing(right, float(self.upper[right]), delta) + rounding
        left = int(np.argmax(self.lower < delta)) - 1
        if left < 1:
            return Bracket(-math.inf, high)
        low = self._crossing(left, float(self.lower[left]), delta) - rounding
        return Bracket(min(low, float(self.epsilons[left + 1]), high), high)

    def _crossing(self, point: int, value: float, delta: float) -> float:
        """Where the line from the upper end before ``point`` to ``value`` there meets ``delta``."""
        start, before = float(self.epsilons[point - 1]), float(self.upper[point - 1])
        if before <= value:  # flat within rounding: the crossing is not beyond the point
            return float(self.epsilons[point])
        growth = math.expm1(float(self.epsilons[point]) - start)
        return start + math.log1p(growth * (before - delta) / (before - value))


@lru_cache(maxsize=16)
def enclosed_curve(width: float, rounds: int, cells: int, offset: float) -> EnclosedCurve:
    """Lower and upper ends of V_rounds at ``offset`` plus the multiples of width / cells.

    ``cells`` is a power of two; ``offset`` may be off by one rounding unit of the step.
    """
    step = width / cells
    reach = (rounds + 1) * cells  # beyond, the curve is 1 - e^E on the left and 0 on the right
    index = np.arange(-reach - cells, reach + cells + 1, dtype=np.float64)
    points = offset + step * index
    rounding = 4 * UNIT * (abs(offset) + step * (np.abs(index) + 1.0))
    lowest, highest = _trivial(points + rounding) / _UP, _trivial(points - rounding) * _UP
    lower, upper = lowest.copy(), np.minimum(highest, 1.0)
    inner = slice(cells, points.size - cells)
    for _ in range(rounds):
        lower[inner] = np.maximum(lowest[inner], _best_on_lattice(lower, cells, width) / _UP)
        on_lattice = _best_on_lattice(upper, cells, width)
        best = np.maximum(on_lattice, best_in_cells(upper, cells, width))
        upper[inner] = np.minimum(best * _UP, 1.0)
    certain = np.minimum(upper[inner] + UNDERFLOW, 1.0)
    return EnclosedCurve(points[inner], lower[inner], certain)


def _trivial(points: Floats) -> Floats:
    """(1 - e^E)_+, the value with no round left."""
    return np.maximum(0.0, -np.expm1(np.minimum(points, 0.0)))


def _shifted(values: Floats, cells: int, by: int) -> Floats:
    """The values at (point - by steps) for every inner point."""
    return values[cells - by : values.size - cells - by]


def _probabilities(cells: int, width: float, jump: int) -> tuple[float, float]:
    """The probabilities p_t and 1 - p_t at t = jump steps."""
    step, scale = width / cells, -math.expm1(-width)
    rest = (cells - jump) * step
    return -math.expm1(-rest) / scale, math.exp(-rest) * -math.expm1(-jump * step) / scale


def _best_on_lattice(values: Floats, cells: int, width: float) -> Floats:
    best = np.zeros(values.size - 2 * cells)
    for jump in range(cells + 1):
        p, q = _probabilities(cells, width, jump)
        reached = p * _shifted(values, cells, jump) + q * _shifted(values, cells, jump - cells)
        np.maximum(best, reached, out=best)
    return best


def best_in_cells(values: Floats, cells: int, width: float) -> Floats:
    """An upper bound on the chord objective over the inside of every cell of t (0 where none).

    In a cell, with v = e^(t_j - t) and F(v) (1 - e^-w) = beta - alpha v - gamma / v, the objective
    at t_j is F(1), its slope there is alpha - gamma, and its largest value over v > 0 is
    F(1) + (root alpha - root gamma)^2 / (1 - e^-w). Every cell whose slopes at its ends do not
    certainly have one sign counts.
    """
    best = np.zeros(values.size - 2 * cells)
    scale, step = -math.expm1(-width), width / cells
    drop, growth = -math.expm1(-step), math.expm1(step)
    tiny = 2.0**-47
    for jump in range(cells):
        p, q = _probabilities(cells, width, jump)
        p_end, q_end = _probabilities(cells, width, jump + 1)
        high, high_end = (_shifted(values, cells, jump + i) for i in (0, 1))
        low, low_end = (_shifted(values, cells, jump + i - cells) for i in (0, 1))
        rise, rise_low = high_end - high, low_end - low
        near = math.exp((jump - cells) * step) / scale  # e^(t_j - w) / (1 - e^-w)
        gained, lost = (p * rise + q * rise_low) / drop, near * (high - low)
        slope = gained - lost + tiny * (np.abs(gained) + np.abs(lost))
        gained, lost = (p_end * rise + q_end * rise_low) / growth, near * (high_end - low_end)
        lost = lost * math.exp(step)
        slope_end = gained - lost - tiny * (np.abs(gained) + np.abs(lost))
        inside = (slope > 0.0) & (slope_end < 0.0)
        if not inside.any():
            continue
        slope = slope[inside]
        parts = rise[inside], math.exp(-width) * rise_low[inside]
        alpha = (parts[0] - parts[1] - tiny * (np.abs(parts[0]) + np.abs(parts[1]))) / drop / scale
        alpha = np.maximum(alpha, 0.0)
        roots = np.sqrt(alpha) + np.sqrt(np.maximum(alpha - slope, 0.0))
        excess = slope * np.minimum(slope / np.maximum(roots, 1e-160) ** 2, 1.0)
        peak = p * high[inside] + q * low[inside] + excess
        best[inside] = np.maximum(best[inside], peak)
    return best
