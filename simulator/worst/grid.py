"""A grid of losses, and the law of one round on it.

Let x = e^-z for the loss z minus epsilon. The value of a game is convex in x, and a round takes its
mean over the loss. So two ways of moving the law onto the grid have an error of known sign (see
:mod:`simulator.theory.pld.grid_laws`):

- spreading each mass between the grid points around it, keeping the masses in both experiments,
  never lowers the value: :func:`outward_layout`;
- an adversary that only remembers the nearest grid point wins with probabilities a and b in
  experiments 0 and 1, and its value is a - x b at the true x. :class:`NearestLayout` keeps both, so
  the value of that adversary has no error of the grid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.foundations.errors import NotApplicable
from simulator.theory.lattice import common_step
from simulator.theory.laws.base import Floats, PrivacyLossLaw
from simulator.theory.laws.quantile import loss_range
from simulator.theory.outward import UNIT

GridArray = NDArray[Any]
"""Numbers on a grid: float64, or longdouble where all losses lie on the grid."""

FEW = 24
"""Most points of a law that is applied point by point."""
TAIL = 1e-25
"""Probability of the tails of an unbounded law that have no grid points."""
ON_POINT = 1e-12
"""Largest distance in steps at which a loss counts as on a grid point."""
ON_CELLS = 64
"""Rounding errors of the masses of a cell, in units: what they move between its ends, over the
step, does no more than so many units on each loss."""


@dataclass(frozen=True)
class Grid:
    """The points z_j = (first + j) step + offset, j = 0 .. points-1, of the loss past epsilon."""

    step: float
    first: int
    points: int
    offset: float = 0.0

    @cached_property
    def z(self) -> GridArray:
        """All points, ascending, shape (points,)."""
        return self.outside(0, self.points)

    def outside(self, start: int, count: int) -> GridArray:
        """``count`` points from number ``start`` on, which may lie outside of the grid."""
        return (self.first + start + np.arange(count)) * self.step + self.offset


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights at the points from ``first`` steps beyond a point on."""

    first: int
    weights: GridArray

    @cached_property
    def places(self) -> list[int]:
        """The indices of nonzero weights."""
        return [int(place) for place in np.flatnonzero(self.weights)]

    def sum(self, padded: GridArray, start: int, points: int) -> GridArray:
        """Sum over c of weights[c] padded[start + j + first + c], for every j < points."""
        start += self.first
        if len(self.places) > FEW:
            span = padded[start : start + points + len(self.weights) - 1]
            return np.correlate(span, self.weights, "valid")
        if not self.places:
            return np.zeros(points, dtype=self.weights.dtype)
        begin = start + self.places[0]
        total = self.weights[self.places[0]] * padded[begin : begin + points]
        term = np.empty_like(total)
        for place in self.places[1:]:
            here = padded[start + place : start + place + points]
            total += np.multiply(self.weights[place], here, out=term)
        return total


@dataclass(frozen=True)
class Layout:
    """A round's law on a grid: weights from ``first`` steps beyond the starting point on.

    Attributes
    ----------
    infinite : mass at an infinite loss.
    loss_error : the largest distance of a loss from the point on which it counts.
    weight_error : bound on the relative error of the weights.
    leaks : whether some answer is impossible in one of the experiments.
    """

    first: int
    weights: GridArray
    infinite: float
    _: KW_ONLY
    loss_error: float = 0.0
    weight_error: float = 64 * UNIT
    leaks: bool = False

    @property
    def reach(self) -> tuple[int, int]:
        """The least and the greatest shift, in steps."""
        return self.first, self.first + len(self.weights) - 1

    @cached_property
    def _weights(self) -> Weights:
        return Weights(self.first, self.weights)

    def mean(self, padded: GridArray, start: int, points: int) -> GridArray:
        """Expectation of the values from each of ``points`` points from ``start`` on."""
        found = self._weights.sum(padded, start, points)
        return found + self.infinite if self.infinite else found

    @property
    def terms(self) -> int:
        """The number of terms of a mean."""
        return len(self._weights.places) + 1


@dataclass(frozen=True)
class NearestLayout:
    """A round's law by nearest points, for the pair of probabilities of winning.

    Attributes
    ----------
    law : the masses m0 in experiment 0.
    tilted : E0[e^-(loss - point); the losses nearest to the point], that is e^point times m1.
    gained : m0 - ``tilted``, computed without cancellation.
    """

    law: Layout
    tilted: GridArray
    gained: GridArray

    @cached_property
    def _tilted(self) -> Weights:
        return Weights(self.law.first, self.tilted)

    @cached_property
    def _gained(self) -> Weights | None:
        return Weights(self.law.first, self.gained) if self.gained.any() else None

    def value(self, values: GridArray, won: GridArray, start: int, points: int) -> GridArray:
        """Expectation of the values, corrected for the distance of each loss from its point."""
        found = self.law.mean(values, start, points)
        return found if self._gained is None else found + self._gained.sum(won, start, points)

    def won(self, won: GridArray, start: int, points: int) -> GridArray:
        """Expectation of e^-z times the probability of winning in experiment 1."""
        return self._tilted.sum(won, start, points)


def support(law: PrivacyLossLaw) -> tuple[float, float]:
    """The range of finite losses, with at most the probability TAIL outside on either side."""
    return loss_range(law, TAIL)


def _leaks(law: PrivacyLossLaw) -> bool:
    return law.infinite_mass > 0.0 or law.dual_infinite_mass > 0.0


def lattice_layout(law: PrivacyLossLaw, step: float) -> Layout:
    """The layout in longdouble of a law whose losses are all multiples of the step.

    The error of a weight is that of the logarithm of its mass, a few units of itself.
    """
    places = np.rint(law.atom_losses / step).astype(np.int64)
    first = int(places.min(initial=0))
    weights = np.zeros(int(places.max(initial=0)) - first + 1, dtype=np.longdouble)
    logs = np.asarray(law.atom_log_masses, dtype=np.longdouble)
    weights[places - first] += np.exp(logs)
    losses = np.asarray(law.atom_losses, dtype=np.longdouble)
    error = float(np.abs(losses - places * np.longdouble(step)).max(initial=0.0))
    weight_error = UNIT * (1.0 + 3.0 * float(np.abs(logs).max(initial=0.0)))
    return Layout(
        first,
        weights,
        law.infinite_mass,
        loss_error=error,
        weight_error=weight_error,
        leaks=_leaks(law),
    )


def outward_layout(law: PrivacyLossLaw, step: float) -> Layout:
    """The layout that lowers no value: each mass is split between the two points around it."""
    low, high = support(law)
    first, last = math.floor(low / step + ON_POINT), math.ceil(high / step - ON_POINT)
    last = max(last, first + 1)
    points: Floats = np.arange(first, last + 1, dtype=np.float64) * step
    weights = np.zeros(len(points))
    infinite = law.infinite_mass
    if not law.is_discrete:
        under0, under1 = law.continuous_masses(points)
        # on the cell from z to z + step the masses w of its ends have w + w' = m0 and
        # w e^-z + w' e^-(z + step) = m1
        with np.errstate(over="ignore", invalid="ignore"):
            lower = under1 * np.exp(points[:-1]) - under0 * math.exp(-step)
        # where that overflows all mass is moved to the right
        lower = np.where(np.isfinite(lower), lower, 0.0)
        lower = np.clip(lower / -math.expm1(-step), 0.0, under0)
        weights[:-1] += lower
        weights[1:] += under0 - lower
        above0, above1 = (
            float(m[0]) for m in law.continuous_masses(np.array([points[-1], np.inf]))
        )
        kept = min(above1 * math.exp(min(points[-1], 700.0)), above0)
        weights[-1] += kept
        infinite += above0 - kept
        weights[0] += float(law.continuous_masses(np.array([-np.inf, points[0]]))[0][0])
    error = 0.0
    if not law.is_discrete:  # rounding of the split: as if a loss were moved by some units
        error = ON_CELLS * UNIT * (1.0 + max(abs(points[0]), abs(points[-1])))
    for loss, log_mass in zip(law.atom_losses, law.atom_log_masses):
        place = loss / step - first
        below = min(max(math.floor(place), 0), len(points) - 2)
        nearest = round(place)
        if abs(place - nearest) <= ON_POINT * max(1.0, abs(loss / step)):
            weights[nearest] += math.exp(log_mass)
            error = max(error, abs(loss - points[nearest]) + UNIT * abs(loss))
            continue
        rise = loss - points[below]
        share = math.expm1(-rise) / math.expm1(-step)
        weights[below + 1] += math.exp(log_mass) * share
        weights[below] += math.exp(log_mass) * (1.0 - share)
    return Layout(first, weights, infinite, loss_error=error, leaks=_leaks(law))


def nearest_place(loss: float, step: float) -> int:
    """The number of steps nearest to a loss."""
    return math.floor(loss / step + 0.5)


def nearest_layout(law: PrivacyLossLaw, step: float) -> NearestLayout:
    """The layout by nearest points, with the masses in both experiments."""
    low, high = support(law)
    first, last = nearest_place(low, step), nearest_place(high, step)
    places = np.arange(first, last + 1)
    mass = np.zeros(len(places))
    tilted = np.zeros(len(places))
    gained = np.zeros(len(places))
    if not law.is_discrete:
        edges: Floats = (np.arange(first, last + 2, dtype=np.float64) - 0.5) * step
        edges[0], edges[-1] = -np.inf, np.inf
        under0, under1 = law.continuous_masses(edges)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = under1 * np.exp(places * step)
        # where that overflows, its upper bound
        scaled = np.where(np.isfinite(scaled), scaled, under0 * math.exp(0.5 * step))
        mass += under0
        tilted += scaled
        gained += under0 - scaled
    for loss, log_mass in zip(law.atom_losses, law.atom_log_masses):
        place = nearest_place(float(loss), step) - first
        residue = loss - (place + first) * step
        mass[place] += math.exp(log_mass)
        tilted[place] += math.exp(log_mass - residue)
        gained[place] += math.exp(log_mass) * -math.expm1(-residue)
    layout = Layout(first, mass, law.infinite_mass, leaks=_leaks(law))
    return NearestLayout(layout, tilted, gained)


def lattice_step(laws: Sequence[PrivacyLossLaw]) -> float | None:
    """The coarsest step of which every finite loss of all laws is a multiple, or None."""
    if not all(law.is_discrete for law in laws):
        return None
    losses = np.abs(np.concatenate([law.atom_losses for law in laws]))
    if not (losses > 0.0).any():
        return 1.0
    step = common_step(losses)
    return step if step is not None and losses.max() / step <= 1e5 else None


class TooLarge(NotApplicable):
    """A grid on which a game takes more memory or time than is allowed."""


def require_size(points: float, nodes: int, limit: float, remedy: str) -> None:
    """Raise TooLarge where the values of all nodes would not fit the limit (in bytes)."""
    size = 8.0 * points * nodes
    if size > limit:
        raise TooLarge(
            f"the game's values would take {size / 1e9:.3g} GB ({nodes} states by {points:.3g} "
            f"losses), where {limit / 1e9:.3g} GB are allowed; {remedy}"
        )
