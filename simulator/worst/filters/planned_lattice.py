"""Rows of a filter with a plan on a lattice, and their means over the pairs of a round.

This arithmetic rounds to nearest, for the search of :mod:`simulator.worst.filters.planned_rows`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Step = tuple[str, float]
"""A kind and a size of rounds."""


@dataclass(frozen=True)
class PlanLattice:
    """The points ln u = i step for first <= i <= last; epsilon is between start and start + 1."""

    step: float
    first: int
    start: int
    last: int

    @property
    def points(self) -> int:
        """How many points there are."""
        return self.last - self.first + 1


class Mean:
    """The mean of a row over a pair of laws; of bounded range, the largest over its pairs."""

    def __init__(self, step: Step, lattice: PlanLattice) -> None:
        kind, size = step
        h = lattice.step
        self.infinite, self.kernel, self.range = 0.0, np.zeros(0), 0
        self.taps: list[tuple[int, float]] = []
        if kind == "pure":
            shift, (up, farther_up, down, farther_down) = response_weights(size, h)
            self.taps = [(shift, up), (shift + 1, farther_up)]
            self.taps += [(-shift, down), (-shift - 1, farther_down)]
            self.taps = [(k, w) for k, w in self.taps if w > 1e-15]
            self.reach = shift + 1
        elif kind == "range":
            self.reach = self.range = steps_of(size, h)
            # loss k h, and the gap of the bound between two of them
            self.highs = np.expm1(h * (np.arange(self.range + 1) - self.range))
            self.highs /= math.expm1(-self.range * h)
            self.less = math.exp(-self.range * h)
            self.gap = math.tanh(h / 4.0) / -math.expm1(-self.range * h)
        elif kind == "gdp":
            self.kernel, self.infinite = gaussian_weights(size * size, h)
            self.reach = len(self.kernel) // 2
        else:
            self.kernel = laplace_weights(size, h)
            self.reach = len(self.kernel) // 2

    def __call__(self, row: Floats, pad: int) -> Floats:
        """The mean at the lattice's points, of a row extended by ``pad`` points to each side."""
        points = row.shape[-1] - 2 * pad
        if self.range:
            return self._largest(row, pad, points)
        if len(self.kernel):
            inner = row[pad - self.reach : pad + points + self.reach]
            return np.convolve(inner, self.kernel, mode="valid") + self.infinite
        found = np.zeros((*row.shape[:-1], points))
        for k, weight in self.taps:
            found += weight * row[..., pad + k : pad + k + points]
        return found

    def of_rows(self, table: Floats, pad: int) -> Floats:
        """The means of several rows."""
        if self.taps:
            return self(table, pad)
        return np.array([self(row, pad) for row in table])

    def _largest(self, row: Floats, pad: int, points: int) -> Floats:
        fall, width = row[:-1] - row[1:], self.range
        best = before = np.zeros(points)
        for k, high in enumerate(self.highs):
            at = pad - k
            now = high * row[at : at + points]
            now += (1.0 - high) * row[at + width : at + width + points]
            if k:
                cell = fall[at : at + points] - self.less * fall[at + width : at + width + points]
                best = np.maximum(best, np.maximum(before, now) + self.gap * np.maximum(cell, 0.0))
            before = now
        return best


def steps_of(size: float, step: float) -> int:
    """How many lattice steps hold a size, exactly."""
    return math.ceil(Fraction(size) / Fraction(step))


def response_weights(epsilon: float, step: float) -> tuple[int, tuple[float, ...]]:
    """The shift k and the weights of randomized response at k, k + 1, -k and -k - 1 steps of u."""
    shift = int(epsilon / step)
    rest = max(epsilon - shift * step, 0.0)
    worse = 1.0 / (1.0 + math.exp(epsilon))
    up, down = math.expm1(rest) / math.expm1(step), math.expm1(-rest) / math.expm1(-step)
    better = 1.0 - worse
    return shift, (worse * (1.0 - up), worse * up, better * (1.0 - down), better * down)


def gaussian_weights(square: float, step: float) -> tuple[Floats, float]:
    """The masses of losses -reach, ..., reach steps and of an infinite one, spread outward."""
    mu, reach = math.sqrt(square), int(10 * math.sqrt(square) / step) + 2
    ends = step * np.arange(-reach, reach + 1)
    masses = [
        np.diff(scipy.special.ndtr((ends + shift) / mu)) for shift in (-square / 2, square / 2)
    ]
    low, high = np.exp(-ends[:-1]), np.exp(-ends[1:])
    right = np.clip((masses[0] * low - masses[1]) / (low - high), 0.0, masses[0])
    weights = np.zeros(len(ends))
    weights[1:] += right
    weights[:-1] += masses[0] - right
    weights[0] += scipy.special.ndtr((ends[0] - square / 2) / mu)
    return weights, float(scipy.special.ndtr((square / 2 - ends[-1]) / mu))


def laplace_weights(size: float, step: float) -> Floats:
    """The masses of losses -k step, ..., k step of the Laplace pair, spread outward."""
    reach = int(size / step) + 1
    x = step * np.arange(-reach, reach + 1)
    height = np.where(x <= -size, -np.expm1(x), -np.expm1((np.minimum(x, size) - size) / 2.0))
    u = np.exp(x)
    slopes = np.diff(np.concatenate([[1.0], height, [0.0]])) / np.diff(
        np.concatenate([[0.0], u, [2.0 * u[-1]]])
    )
    # the loss k step moves u to u e^(-k step): np.convolve reverses its second argument
    return np.asarray(np.maximum(np.diff(slopes) * u, 0.0))


class PlanRows:
    """Rows on a lattice, extended to both sides: to 1 at u = 0, and constant."""

    def __init__(self, lattice: PlanLattice, pad: int) -> None:
        self.lattice, self.pad = lattice, pad
        self.fading = np.exp(-lattice.step * np.arange(pad, 0, -1))
        x = lattice.step * np.arange(lattice.first, lattice.last + 1)
        self.payoff = self.extended(np.maximum(0.0, -np.expm1(x)))

    def extended(self, values: Floats) -> Floats:
        """A row with both sides."""
        row = np.empty(len(values) + 2 * self.pad)
        row[self.pad : -self.pad] = np.minimum(values, 1.0)
        row[-self.pad :] = values[-1]
        row[: self.pad] = 1.0 - (1.0 - values[0]) * self.fading
        return row

    def at_start(self, row: Floats, epsilon: float) -> float:
        """The value at u = e^epsilon."""
        step, at = self.lattice.step, self.lattice.start
        low, high = row[self.pad + at - self.lattice.first :][:2]
        share = math.expm1(epsilon - at * step) / math.expm1(step)
        return float((1.0 - share) * low + share * high)
