"""Weighted losses whose sums are a law's transform on a line, and atoms that enclose any law."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass

import numpy as np
import scipy

from simulator.theory.laws.base import (
    LEAST_MASS,
    Floats,
    PrivacyLossLaw,
    RealOrComplex,
    mass_errors,
)
from simulator.theory.outward import UNIT

_FEW = 256
"""Losses or points of a line up to which sums are of products; beyond, they are a transform."""
_BY_POWERS = 49
_FINER, _VARIANCE, _AWAY = 8, 2.3, np.arange(-12.0, 14.0)
"""Grid points for each point of a line, the variance of the Gaussian that spreads a loss, and the
points that it reaches from the one below; squares of distances are in grid points."""
_MARKS = 512
"""Points of a law from which cells are made."""
_NEGLIGIBLE = math.exp(-60.0)
"""Share of the tilted law below which a node is left out."""


@dataclass(frozen=True)
class Nodes:
    """Losses (n,) of a law tilted by theta, weights (n,) that add up to 1, the error of each loss.

    ``log_total`` is ln M(theta), off by ``wrong``; ``left_out`` is a bound on what is missing from
    every sum.
    """

    losses: Floats
    weights: Floats
    loss_error: Floats
    wrong: float
    log_total: float
    _: KW_ONLY
    left_out: float = 0.0

    def ratios(self, first: float, spacing: float, count: int) -> RealOrComplex:
        """M(z)/M(theta) at the ``count`` points Im z = first + spacing n >= 0."""
        # exp(i (first + spacing n) l), n = block a + b, is a product of two: few exponentials, and
        # of few points two, multiplied at most 14 times in a row.
        block = max(math.isqrt(count), 1)
        turns, blocks = 1j * self.losses, -(-count // block)
        if count <= _BY_POWERS:
            left = _powers(np.exp(first * turns) * self.weights, block * spacing * turns, blocks)
            right = _powers(np.ones(turns.size, dtype=complex), spacing * turns, block)
        else:
            outer = first + spacing * (block * np.arange(blocks))
            left = np.exp(outer[:, None] * turns) * self.weights
            right = np.exp((spacing * np.arange(block))[:, None] * turns)
        return np.asarray((left @ right.T).ravel()[:count])

    def on_line(self, spacing: float, count: int) -> tuple[RealOrComplex, float]:
        """The ratios at Im z = 0, spacing, ... (count,), and a bound on the error of every one.

        Each value of a transform of at most 2^30 points is a sum of all numbers times products of
        30 roots of unity at most (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
        Section 24.1).
        """
        if count <= _FEW or self.losses.size <= _FEW:
            return self.ratios(0.0, spacing, count), self.ratio_error(spacing * count)
        found, most = self._by_fft(spacing, count)
        return found, self._error(spacing * count, 3 * most + 4 * 30 * 5)

    def _by_fft(self, spacing: float, count: int) -> tuple[RealOrComplex, int]:
        """The values, and the most losses that are near one point.

        Each loss is spread by a Gaussian g over near points of a grid.

        By Poisson's formula the transform of the sums at a frequency of f <= 1/8 turns a point is
        g's own transform G(f) times the one wanted, and G(f + k) for other whole k. These are at
        most 2 exp(-3 pi^2 v/2) of G(f), v the variance: 4e-15. Where g is cut off it is at most
        exp(-13^2/2v), and G(0)/G(1/8) is at most 2.1: less than 1e-15 is missing (Greengard and
        Lee, Accelerating the Nonuniform Fast Fourier Transform, SIAM Review 46, 2004). The values
        of g, off by 10 units in the mean, and their sums at a point are divided by at least 0.47 of
        the sum of all, as is the transform.
        """
        size = scipy.fft.next_fast_len(_FINER * count, real=True)
        place = self.losses * (spacing * size / (2 * math.pi))
        before = np.floor(place)
        apart = _AWAY - (place - before)[:, None]
        masses = self.weights[:, None] * np.exp(apart**2 * (-0.5 / _VARIANCE))
        points = np.mod(before, size).astype(np.int64)[:, None] + _AWAY.astype(np.int64)
        points = (points % size).ravel()
        on_grid = np.bincount(points, masses.ravel(), size)
        turns, whole = np.arange(count) / size, math.sqrt(2 * math.pi * _VARIANCE)
        spread = np.exp(turns**2 * (2 * math.pi**2 * _VARIANCE)) / whole
        most = int(np.bincount(points).max())
        return np.asarray(scipy.fft.rfft(on_grid)[:count].conj() * spread), most

    def ratio_error(self, omega: float) -> float:
        """Bound on the error of every ratio at Im z <= omega, of a sum term by term."""
        return self._error(omega, 5 * (self.losses.size + 16))

    def _error(self, omega: float, summed: int) -> float:
        """That of sums which are rounded by ``summed`` units."""
        each = omega * (self.loss_error + 16 * UNIT * np.abs(self.losses))
        turned = float((self.weights * each).sum())
        return turned + (summed + 64) * UNIT + 2 * self.wrong + self.left_out


def _powers(first: RealOrComplex, log: RealOrComplex, count: int) -> RealOrComplex:
    """The rows first exp(n log), n = 0, ..., shape (count, n)."""
    rows = np.empty((count, log.size), dtype=complex)
    rows[0] = first
    if count > 1:
        factor = np.exp(log)
        for row in range(1, count):
            np.multiply(rows[row - 1], factor, out=rows[row])
    return rows


@dataclass(frozen=True, eq=False)
class Atoms:
    """Finitely many losses, ascending, with the logarithms of their P0-masses, each of shape (n,).

    ``mass_error`` (n,) bounds the relative error of each mass.
    """

    losses: Floats
    log_masses: Floats
    mass_error: Floats

    @classmethod
    def of(cls, law: PrivacyLossLaw, inside: tuple[float, float]) -> Atoms:
        """The atoms of a law in (low, high]."""
        losses, logs = law.atom_losses, law.atom_log_masses
        here = (losses > inside[0]) & (losses <= inside[1])
        return cls(
            losses[here],
            logs[here],
            4 * UNIT * (2 + np.abs(logs[here])) + law.loss_error,
        )

    def log_value(self, theta: float) -> tuple[float, float]:
        """Ln M(theta), and a bound on its error."""
        nodes = self.nodes(theta)
        return nodes.log_total, nodes.wrong

    def nodes(self, theta: float, omega: float = 0.0) -> Nodes:
        """Those of the law tilted by ``theta``; they serve every Im z."""
        exponents = self.log_masses + theta * self.losses
        top = float(exponents.max())
        masses = np.exp(exponents - top)
        total = float(masses.sum())
        kept = masses > _NEGLIGIBLE / masses.size * total
        weights, losses = masses[kept] / total, self.losses[kept]
        size = 4 + np.abs(self.log_masses[kept]) + 2 * np.abs(exponents[kept]) + abs(top)
        each = self.mass_error[kept] + 4 * UNIT * size
        wrong = float((weights * each).sum()) + 2 * _NEGLIGIBLE
        log_total = top + math.log(total)
        wrong += 8 * UNIT * (16 + abs(top) + abs(log_total))
        return Nodes(losses, weights, np.zeros(losses.size), wrong, log_total, left_out=_NEGLIGIBLE)


def cells_of(law: PrivacyLossLaw, inside: tuple[float, float], theta: float, cells: int) -> Floats:
    """Edges of about that many cells, from one end of ``inside`` to the other.

    Cells are narrow where the law tilted by ``theta`` has its mass, so that the sum of mass times
    squared width is least.
    """
    points = law.points[0]
    marks = np.r_[points[:: -(-points.size // _MARKS)], law.atom_losses]
    edges = np.unique(np.clip(np.r_[inside, marks], *inside))
    for budget in (cells // 4, cells):
        width = np.diff(edges)
        masses = np.maximum(law.continuous_masses(edges)[0], 1e-300)
        exponents = np.log(masses) + theta * edges[1:]
        tilted = np.exp(exponents - exponents.max())
        share = np.cbrt(tilted / tilted.sum() * (width / width.max()) ** 2)
        counts = np.maximum(np.rint(budget * share / share.sum()), 1.0).astype(np.int64)
        first = np.repeat(np.cumsum(counts) - counts, counts)
        part = (np.arange(counts.sum()) - first) / np.repeat(counts, counts)
        inner = np.repeat(edges[:-1], counts) + np.repeat(width, counts) * part
        edges = np.unique(np.append(inner, edges[-1]))
    return edges


def enclosing_atoms(
    law: PrivacyLossLaw, inside: tuple[float, float], theta: float, cells: int
) -> tuple[Atoms, Atoms]:
    """Atoms whose deltas enclose the law's at every epsilon, also composed.

    LOWER: each cell's masses under P0 and P1 are gathered at one loss, which is what forgetting the
    answer within the cell does. UPPER: the mass goes to the ends of its cell, keeping the masses
    under P0 and P1: a chord of the curve delta as a function of exp(epsilon), which is convex. Both
    differ from the law in second order of the widths, and no loss has to be on a grid. Losses that
    are not in (low, high] are left out. The law's own ``loss_error`` and ``shift_error`` are not in
    it.
    """
    edges = cells_of(law, inside, theta, cells)
    under0, under1, losses, off = law.gathered_cells(edges)
    width = np.diff(edges)
    usable = (under0 > LEAST_MASS) & (under1 > LEAST_MASS)
    logs0 = np.log(np.where(usable, under0, 1.0))
    size = 2 * mass_errors(logs0) + 2 * law.loss_error
    # The error of a rise is one of the losses, down for the lower law and up for the upper one.
    off = off + 2 * UNIT * np.maximum(np.abs(edges[:-1]), np.abs(edges[1:]))
    rise = np.where(usable, np.clip(losses - edges[:-1], 0.0, width), width)
    least = edges[:-1] - 16 * UNIT * np.abs(edges[:-1])
    lower = np.maximum(edges[:-1] + rise - off, least)[usable]
    upward = np.expm1(-rise) / np.expm1(-width)
    masses, wrong, moved = np.zeros(edges.size), np.zeros(edges.size), np.zeros(edges.size)
    for share, ends in ((upward, slice(1, None)), (1 - upward, slice(None, -1))):
        masses[ends] += under0 * share
        wrong[ends] += under0 * share * size
        moved[ends] = np.maximum(moved[ends], np.where(usable, off, 0.0))
    kept = masses > 0.0
    atoms = Atoms.of(law, inside)
    return (
        Atoms(
            np.r_[lower, atoms.losses],
            np.r_[logs0[usable], atoms.log_masses],
            np.r_[size[usable], atoms.mass_error],
        ),
        Atoms(
            np.r_[(edges + moved)[kept], atoms.losses],
            np.r_[np.log(masses[kept]), atoms.log_masses],
            np.r_[wrong[kept] / masses[kept], atoms.mass_error],
        ),
    )
