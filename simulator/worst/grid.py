"""The line of losses, cut into points one step apart, and one round's law laid out on it.

Let x = e^-z for the loss z past epsilon. The value of a game is convex in x and a mean of it over
one round's loss, so two ways of moving the law onto the grid err on a known side (see
:mod:`simulator.theory.pld.grid_laws`):

- spreading each piece between the grid points around it, so that its masses in both experiments
  stay, never lowers the value: :func:`outward_layout`;
- an adversary that only remembers the nearest grid point wins with certain probabilities a and b
  in experiments 0 and 1, and gets a - x b, whatever x it really has: :class:`NearestLayout` keeps
  both, so the value of that adversary has no error of the grid.
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
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.quantile import loss_range
from simulator.theory.outward import UNIT

GridArray = NDArray[Any]
"""Numbers on a grid: float64, or more digits than that where all losses lie on the grid."""

FEW = 24
"""A law on at most so many points is applied point by point."""
TAIL = 1e-25
"""Probability of the losses of an unbounded law that are not given points of their own."""
ON_POINT = 1e-12
"""In steps: how far from a grid point a loss still counts as on it."""


@dataclass(frozen=True)
class Grid:
    """The points z_j = (first + j) step + offset, j = 0 .. points-1, of the loss past epsilon."""

    step: float
    first: int
    points: int
    offset: float = 0.0

    @cached_property
    def z(self) -> GridArray:
        """Every point, ascending, shape (points,)."""
        return self.outside(0, self.points)

    def outside(self, start: int, count: int) -> GridArray:
        """The points from the ``start``-th on, which may lie before or beyond the grid."""
        return (self.first + start + np.arange(count)) * self.step + self.offset


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights at ``first`` steps from a point and on."""

    first: int
    weights: GridArray

    @cached_property
    def places(self) -> list[int]:
        """Where they are not zero."""
        return [int(place) for place in np.flatnonzero(self.weights)]

    def sum(self, padded: GridArray, start: int, points: int) -> GridArray:
        """Sum over c of weights[c] padded[start + j + first + c], for every j < points."""
        start += self.first
        if len(self.places) > FEW:
            span = padded[start : start + points + len(self.weights) - 1]
            return np.correlate(span, self.weights, "valid")
        total = np.zeros(points, dtype=self.weights.dtype)
        for place in self.places:
            total += self.weights[place] * padded[start + place : start + place + points]
        return total


@dataclass(frozen=True)
class Layout:
    """A round's law on a grid: weights at ``first`` steps from where the round began and on.

    Attributes
    ----------
    infinite : mass at an infinite loss.
    loss_error : how far a loss lies from the point that carries it, where it counts as on it.
    weight_error : the relative error of the weights, at most.
    leaks : whether an answer is impossible in one of the experiments.
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
        """Expectation of the values, beginning at each of ``points`` points from ``start`` on."""
        found = self._weights.sum(padded, start, points)
        return found + self.infinite if self.infinite else found

    @property
    def terms(self) -> int:
        """How many terms a mean adds up."""
        return len(self._weights.places) + 1


@dataclass(frozen=True)
class NearestLayout:
    """A round's law by nearest points, for the pair of probabilities of winning.

    Attributes
    ----------
    law : the masses m0 in experiment 0.
    tilted : E0[e^-(loss - point); the losses nearest to the point], that is e^point times m1.
    gained : m0 less ``tilted``, computed as such.
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
        """Expectation of the values, where each loss is off its point."""
        found = self.law.mean(values, start, points)
        return found if self._gained is None else found + self._gained.sum(won, start, points)

    def won(self, won: GridArray, start: int, points: int) -> GridArray:
        """Expectation of e^-z times the chance of winning in experiment 1."""
        return self._tilted.sum(won, start, points)


def cell_masses(law: PrivacyLossLaw, edges: GridArray) -> tuple[GridArray, GridArray]:
    """Masses in experiments 0 and 1 of the law's continuous part between the edges."""
    if law.is_discrete:
        return np.zeros(len(edges) - 1), np.zeros(len(edges) - 1)
    return law.continuous_masses(edges)


def support(law: PrivacyLossLaw) -> tuple[float, float]:
    """Finite losses between which the law lies except for the probability TAIL on either side."""
    return loss_range(law, TAIL)


def _leaks(law: PrivacyLossLaw) -> bool:
    return law.infinite_mass > 0.0 or law.dual_infinite_mass > 0.0


def lattice_layout(law: PrivacyLossLaw, step: float) -> Layout:
    """Lay out a law whose losses are all multiples of the step, to more digits than a double has.

    A logarithm of a mass is off by a few units of itself: that is the error of the weights.
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
    """Lay the law out so that no value is lowered: each piece between the two points around it."""
    low, high = support(law)
    first, last = math.floor(low / step + ON_POINT), math.ceil(high / step - ON_POINT)
    last = max(last, first + 1)
    points = np.arange(first, last + 1) * step
    weights = np.zeros(len(points))
    infinite = law.infinite_mass
    if not law.is_discrete:
        under0, under1 = cell_masses(law, points)
        # on the cell from z to z + step the masses w of its ends have w + w' = m0 and
        # w e^-z + w' e^-(z + step) = m1
        with np.errstate(over="ignore", invalid="ignore"):
            lower = under1 * np.exp(points[:-1]) - under0 * math.exp(-step)
        # where that overflows all is moved to the right
        lower = np.where(np.isfinite(lower), lower, 0.0)
        lower = np.clip(lower / -math.expm1(-step), 0.0, under0)
        weights[:-1] += lower
        weights[1:] += under0 - lower
        above0, above1 = (float(m[0]) for m in cell_masses(law, np.array([points[-1], np.inf])))
        kept = min(above1 * math.exp(min(points[-1], 700.0)), above0)
        weights[-1] += kept
        infinite += above0 - kept
        weights[0] += float(cell_masses(law, np.array([-np.inf, points[0]]))[0][0])
    error = 0.0
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
    """Lay the law out by nearest points, with its masses in both experiments."""
    low, high = support(law)
    first, last = nearest_place(low, step), nearest_place(high, step)
    places = np.arange(first, last + 1)
    mass = np.zeros(len(places))
    tilted = np.zeros(len(places))
    gained = np.zeros(len(places))
    if not law.is_discrete:
        edges = (np.arange(first, last + 2) - 0.5) * step
        edges[0], edges[-1] = -np.inf, np.inf
        under0, under1 = cell_masses(law, edges)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = under1 * np.exp(places * step)
        # where that overflows, the most that it can be
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
    """Return the coarsest step of which every finite loss of all laws is a multiple, or None."""
    if not all(law.is_discrete for law in laws):
        return None
    losses = np.abs(np.concatenate([law.atom_losses for law in laws]))
    if not (losses > 0.0).any():
        return 1.0
    step = common_step(losses)
    return step if step is not None and losses.max() / step <= 1e5 else None


def require_size(points: float, nodes: int, limit: float, remedy: str) -> None:
    """Raise NotApplicable where the values of all nodes would not fit the limit (in bytes)."""
    size = 8.0 * points * nodes
    if size > limit:
        raise NotApplicable(
            f"the game's values would take {size / 1e9:.3g} GB ({nodes} states by {points:.3g} "
            f"losses), where {limit / 1e9:.3g} GB are allowed; {remedy}"
        )
