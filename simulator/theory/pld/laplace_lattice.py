"""The exact law of few rounds of Laplace noise whose epsilons share a lattice, in closed form.

Up to a factor exp((l - epsilon)/2)/2, one round is an atom at either end of [-epsilon, epsilon] and
the density 1/2 between. With a step h of which every 2 epsilon_i is m_i times, and q a move by one
step, that is

    1 + q^m_i + (h/2) (1 + q + ... + q^(m_i - 1)) B_1,

B_j the cardinal B-spline on [0, j], in steps. The product is a sum over j of polynomials in q times
(h/2)^j B_j: all of its terms are positive, so that each keeps its digits, however far out.

Between two points of the lattice the law is a polynomial p of degree d times an exponential.
Gauss's rule with d/2 + 12 nodes is off by at most 2 sup p times the distance of that exponential,
of exponent at most h/2 <= 1, to polynomials of degree 22: by Markov's inequality below
4 (d + 1)^2 exp(h) (h/4)^23/23! < 1e-23 of the mass there.

Where epsilons are multiples of a step up to rounding, multiples of two neighbouring steps enclose
them, and delta increases in every epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from simulator.theory.lattice import common_step
from simulator.theory.laws.base import Floats
from simulator.theory.outward import UNIT, above, below
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.pairwise_sums import dot
from simulator.theory.pld.splines import next_splines
from simulator.theory.pld.tail import SlopedBracket

_LARGEST_STEP = 2.0
_MOST_ROUNDS = 64
_MOST_WORK = 1 << 23
"""Products of a coefficient and a spline's value, for one curve."""
_QUADRATURE = 64 * UNIT
"""Error of the quadrature, relative to the mass above times the largest gain."""
_LOST = 1e-300


@dataclass(frozen=True, eq=False)
class LaplaceLatticeTail:
    """Curves of epsilons that are just below and just above the given ones."""

    lower: SplineCurve
    upper: SplineCurve
    reach: float = math.inf

    @classmethod
    def of(cls, parts: CountedLaws) -> LaplaceLatticeTail | None:
        """The tail of Laplace rounds with several parameters; None for others and if slow."""
        batch = parts.laplaces
        if parts.others or batch.epsilons.size < 2 or parts.rounds > _MOST_ROUNDS:
            return None
        spans = 2 * batch.epsilons
        step = common_step(spans)
        if step is None or step > _LARGEST_STEP:
            return None
        widths = np.rint(spans / step).astype(np.int64)
        counts = batch.counts.astype(np.int64)
        nodes = _nodes(parts.rounds)
        if int(widths @ counts) * parts.rounds**2 * nodes > 2 * _MOST_WORK:
            return None
        table, error = _coefficients(np.repeat(widths, counts))
        ends = (below(float((spans / widths).min())), above(float((spans / widths).max())))
        first, second = (SplineCurve(end, table, error) for end in ends)
        return cls(first, second)

    def at(self, epsilon: float) -> SlopedBracket:
        """Certified bracket of delta(epsilon)."""
        least, most = self.lower.at(epsilon), self.upper.at(epsilon)
        return SlopedBracket(least.lower, most.upper, slope=most.slope)


@dataclass(frozen=True, eq=False)
class SplineCurve:
    """The law sum over j of (h/2)^j times coefficients (j, n) of B_j moved by n, up to exp(l/2).

    ``step`` is h, ``coefficients`` have shape (k + 1, points), ``error`` is relative, of each.
    """

    step: float
    coefficients: Floats
    error: float

    @property
    def _points(self) -> int:
        return int(self.coefficients.shape[1])

    @cached_property
    def _scaled(self) -> Floats:
        """Shape (k + 1, k + points): k zeros come before the coefficients of each."""
        rounds = self.coefficients.shape[0] - 1
        scaled = self.coefficients * (self.step / 2) ** np.arange(rounds + 1.0)[:, None]
        return np.concatenate([np.zeros((rounds + 1, rounds)), scaled], axis=1)

    def _losses(self, x: Floats) -> Floats:
        return self.step * (x - (self._points - 1) / 2)

    def _weights(self, x: Floats) -> Floats:
        """Exp((l - largest)/2) at x steps above the least loss."""
        return np.exp((self.step / 2) * (x - (self._points - 1)))

    def _density(self, first: int, last: int, nodes: Floats) -> Floats:
        """Density in x at n + nodes for cells first <= n < last, shape (cells, nodes)."""
        total = np.zeros((last - first, nodes.size))
        splines = np.ones((1, nodes.size))
        rounds = self._scaled.shape[0] - 1
        back = rounds + np.arange(first, last)[:, None] - np.arange(rounds)
        for j, row in enumerate(self._scaled[1:], start=1):
            # B_j reaches j cells: those of coefficients n, n - 1, ..., n - j + 1.
            total += np.einsum("ci,in->cn", row[back[:, :j]], splines)
            splines = next_splines(splines, nodes)
        return total * self._weights(np.arange(first, last)[:, None] + nodes)

    @cached_property
    def _rule(self) -> tuple[Floats, Floats]:
        return _gauss(_nodes(self.coefficients.shape[0] - 1))

    @cached_property
    def _masses(self) -> tuple[Floats, Floats]:
        """Places and masses, each (points, 1 + nodes): of each atom, and in the cell above it."""
        nodes, weights = self._rule
        whole = np.arange(self._points, dtype=np.float64)
        x = np.full((self._points, 1 + nodes.size), float(self._points - 1))
        mass = np.zeros(x.shape)
        x[:, 0], mass[:, 0] = whole, self._scaled[0, -self._points :] * self._weights(whole)
        x[:-1, 1:] = whole[:-1, None] + nodes
        mass[:-1, 1:] = self._density(0, self._points - 1, nodes) * weights
        return x, mass

    def at(self, epsilon: float) -> SlopedBracket:
        """Certified bracket of delta(epsilon), and its slope."""
        place = epsilon / self.step + (self._points - 1) / 2
        cell = math.floor(min(max(place, -1.0), float(self._points)))
        x, mass = (each[cell + 1 :].ravel() for each in self._masses)
        gain = -np.expm1(epsilon - np.maximum(self._losses(x), epsilon))
        value, total = dot(mass, gain), float(mass.sum())
        if 0 <= cell < self._points - 1:
            nodes, weights = self._rule
            left = 1.0 - (place - cell)
            inner = place + left * nodes
            density = self._density(cell, cell + 1, place - cell + left * nodes)[0] * weights * left
            value += dot(density, -np.expm1(epsilon - np.maximum(self._losses(inner), epsilon)))
            total += float(density.sum())
        # An error of a loss or of a place moves delta by at most the mass above, a step further
        # down where splines are concerned: B_j' is a difference of B_(j-1).
        _, masses = self._masses
        nearly = float(masses[max(cell - 1, 0) :].sum())
        top = self.step * (self._points - 1) / 2
        moved = 32 * UNIT * (self.step * self._points + abs(epsilon))
        moved += _QUADRATURE * min(max(top - epsilon, 0.0), 1.0)
        noise = value * (self.error + UNIT * (64 + math.log2(mass.size + 2)))
        noise = (noise + nearly * moved) * (1 + 1e-9) + _LOST
        return SlopedBracket.of_delta(value - noise, value + noise, value - total)


def _nodes(rounds: int) -> int:
    return rounds // 2 + 12


@cache
def _gauss(count: int) -> tuple[Floats, Floats]:
    """Nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def _coefficients(widths: Floats) -> tuple[Floats, float]:
    """Coefficients of the product, halved once per round, (k + 1, points), and their error.

    The error is relative; it covers splines and exponentials of a few roundings each as well.
    """
    table = np.zeros((widths.size + 1, int(widths.sum()) + 1))
    table[0, 0] = 1.0
    additions = 0
    for done, width in enumerate(map(int, widths)):
        before = table[: done + 1]
        boxed, depth = _boxed(before, width)
        atoms = before.copy()
        atoms[:, width:] += before[:, :-width]
        table[: done + 1] = atoms / 2
        table[1 : done + 2] += boxed / 2
        additions += depth + 2
    return table, UNIT * (additions + 12 * widths.size + 64)


def _boxed(rows: Floats, width: int) -> tuple[Floats, int]:
    """Sums of ``width`` neighbours, those at and before each point; and additions in a row."""
    total, sums = np.zeros(rows.shape), rows
    filled, size, depth = 0, 1, 0
    while True:
        if width & size:
            total[:, filled:] += sums[:, : sums.shape[1] - filled]
            filled, depth = filled + size, depth + 1
        if 2 * size > width:
            return total, depth
        longer = sums.copy()
        longer[:, size:] += sums[:, :-size]
        sums, size, depth = longer, 2 * size, depth + 1
