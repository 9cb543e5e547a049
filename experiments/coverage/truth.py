"""The exact law of an adversary's loss, by recursions of this suite's own.

Finitely many losses: a dictionary from the adversary's state to the losses so far and their
probabilities, carried forward round by round; coins are integrated over the branches that the
subject states. All terms are positive, so rounding stays near 1e-13 relative.

Continuous losses: each round's loss is rounded to the nearest point of a grid, so that a play's
loss is off by ``slack`` at most, rounds times half a step; convolutions are done in Fourier space
on masses tilted by a few thetas, and every grid point is read off where it keeps most digits.

In experiment 1 losses are signed: -L, drawn from the views of experiment 1.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from experiments.coverage.entries import Atom, Entry
from experiments.coverage.subject import Subject

TIE = 2.0**-50
"""A loss that equals a threshold but for so much a round and a nat is not above it: the rule that
the page on results states for tails, no wider."""
SAME = 1e-11
"""Losses this near each other are one: they differ by rounding."""
CELLS = 4096
"""Steps of the grid in the smallest scale of a continuous mechanism's loss."""
THETAS = (0.0, 0.7, 2.0, 5.0, 12.0)
REFUSED = (Atom(math.nan, 1.0, 1.0),)
"""The outcome of a query that a filter refuses: no answer, no loss."""


class Bracket(NamedTuple):
    """lower <= truth <= upper; equal where the truth is exact."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Law:
    """The law of the signed loss in one experiment.

    Attributes
    ----------
    losses, masses : finite losses, ascending, and their probabilities, shape (atoms,) each.
    infinite : probability of an infinite loss.
    slack : by how much the true loss may differ from the one listed, on any path.
    rounds : how many losses each is the sum of.
    """

    losses: np.ndarray
    masses: np.ndarray
    infinite: float
    slack: float
    rounds: int

    def tail(self, epsilon: float) -> Bracket:
        """Pr[signed loss > epsilon]."""
        return self._bracket(self._tail_at, epsilon)

    def delta(self, epsilon: float) -> Bracket:
        """E[(1 - e^(epsilon - loss))+]."""
        return self._bracket(self._delta_at, epsilon)

    def epsilon(self, delta: float) -> Bracket:
        """Least epsilon >= 0 whose delta is at most ``delta``; infinite where leaks forbid it."""
        if self.infinite > delta:
            return Bracket(math.inf, math.inf)
        found = self._epsilon_at(delta)
        return Bracket(max(found - self.slack, 0.0), found + self.slack)

    def quantile(self, rare: float) -> float:
        """Least of the listed losses whose tail is at most ``rare``, or the largest."""
        beyond = np.cumsum(self.masses[::-1])[::-1] - self.masses + self.infinite
        return float(self.losses[min(int(np.sum(beyond > rare)), len(self.losses) - 1)])

    def atoms(self) -> np.ndarray:
        """The distinct positive losses, ascending, without ties by rounding."""
        positive = self.losses[self.losses > SAME]
        return positive[np.diff(positive, prepend=0.0) > SAME * positive]

    def _bracket(self, of: Callable[[float], float], epsilon: float) -> Bracket:
        if self.slack == 0.0:
            value = of(epsilon)
            return Bracket(value, value)
        return Bracket(of(epsilon + self.slack), of(epsilon - self.slack))

    def _tail_at(self, epsilon: float) -> float:
        tie = TIE * self.rounds * (40.0 + abs(epsilon))
        first = np.searchsorted(self.losses, epsilon + tie, "right")
        return math.fsum(self.masses[first:]) + self.infinite

    def _delta_at(self, epsilon: float) -> float:
        first = np.searchsorted(self.losses, epsilon, "right")
        terms = self.masses[first:] * -np.expm1(epsilon - self.losses[first:])
        return math.fsum(terms) + self.infinite

    def _epsilon_at(self, delta: float) -> float:
        # delta(epsilon) = infinite + A - e^epsilon C between neighbouring losses
        if self._delta_at(0.0) <= delta:
            return 0.0
        keep = self.losses > 0.0
        losses, masses = self.losses[keep], self.masses[keep]
        above = np.cumsum(masses[::-1])[::-1]
        decayed = np.cumsum((masses * np.exp(-losses))[::-1])[::-1]
        low, high = -1, len(losses) - 1  # delta is above the target at 0 (place -1)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._delta_at(losses[middle]) > delta else (low, middle)
        excess = above[high] + self.infinite - delta
        return math.log(excess / decayed[high])


def law_of(subject: Subject, b: int, cells: int = CELLS) -> Law:
    """The law of experiment ``b``'s signed loss."""
    return grid_law(subject, b, cells) if subject.is_continuous else finite_law(subject, b)


Node = tuple[Any, int, float]
"""The adversary's state, its next move, and what the filter has spent."""


def arrivals(
    subject: Subject, state: Any, i: int, answer: float, spent: float
) -> list[tuple[float, Node]]:
    """(probability, node) of every possible next move of the adversary."""
    return [(p, (after, move, spent)) for p, after, move in subject.moves(state, i, answer)]


def admitted(subject: Subject, node: Node) -> tuple[Entry | None, float]:
    """The entry played at a node, None where a filter refuses it; and what is spent then."""
    _, move, spent = node
    entry = subject.entries[move]
    if subject.gate is None:
        return entry, spent
    fits, after = subject.gate(spent, entry.price)
    return (entry if fits else None), after


def finite_law(subject: Subject, b: int) -> Law:
    """The law of an adversary with finitely many losses, exact but for rounding."""
    sign, infinite = (-1.0 if b else 1.0), 0.0
    here: dict[Node, tuple[np.ndarray, np.ndarray]] = {
        node: (np.zeros(1), np.array([p]))
        for p, node in arrivals(subject, subject.state, 0, math.nan, 0.0)
    }
    for i in range(subject.rounds):
        last = i + 1 == subject.rounds
        after: dict[Any, list[tuple[np.ndarray, np.ndarray]]] = defaultdict(list)
        for node, (losses, masses) in here.items():
            entry, spent = admitted(subject, node)
            for atom in REFUSED if entry is None else entry.atoms:
                mass = atom.mass_1 if b else atom.mass_0
                if mass == 0.0:
                    continue
                loss = sign * atom.loss
                if math.isinf(loss):
                    infinite += math.fsum(masses) * mass
                    continue
                follow = (
                    [(1.0, None)] if last else arrivals(subject, node[0], i + 1, atom.answer, spent)
                )
                for p, arrived in follow:
                    after[arrived].append((losses + loss, masses * (mass * p)))
        here = {node: merged(parts) for node, parts in after.items()}
    losses, masses = here.get(None, (np.zeros(1), np.zeros(1)))  # type: ignore[call-overload]
    return Law(losses, masses, infinite, 0.0, subject.rounds)


def merged(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Losses ascending, those that differ by rounding made one, and their masses."""
    losses = np.concatenate([part[0] for part in parts])
    masses = np.concatenate([part[1] for part in parts])
    order = np.argsort(losses, kind="stable")
    losses, masses = losses[order], masses[order]
    first = np.flatnonzero(np.append(True, np.diff(losses) > SAME))
    return losses[first], np.add.reduceat(masses, first)


@dataclass(frozen=True)
class Grid:
    """A grid of losses ``step * (0, +-1, ...)`` long enough for every sum, for Fourier space."""

    step: float
    length: int

    @classmethod
    def of(cls, subject: Subject, cells: int) -> Grid:
        """``cells`` steps in the smallest scale of a continuous entry."""
        noises = [entry.noise for entry in subject.entries if entry.noise]
        others = [abs(atom.loss) for entry in subject.entries for atom in entry.atoms]
        step = min(noise.scale for noise in noises) / cells
        most = math.ceil(max([noise.reach for noise in noises] + others) / step) + 1
        return cls(step, next_fast_len(2 * most * subject.rounds + 1, real=True))

    def spectrum(self, places: np.ndarray, masses: np.ndarray, theta: float) -> np.ndarray:
        """The transform of masses at grid places, tilted by theta."""
        tilted = np.zeros(self.length)
        np.add.at(tilted, places % self.length, masses * np.exp(theta * self.step * places))
        return rfft(tilted)

    def places(self) -> np.ndarray:
        """The place that each index of a transformed array stands for."""
        indices = np.arange(self.length)
        return np.where(indices > self.length // 2, indices - self.length, indices)


def pieces(entry: Entry, b: int, grid: Grid) -> list[tuple[float, np.ndarray, np.ndarray]]:
    """(answer, places of signed losses, masses) for all answers that the adversary treats alike."""
    sign = -1 if b else 1
    if entry.noise is None:
        return [
            (
                atom.answer,
                np.array([sign * round(atom.loss / grid.step)]),
                np.array([atom.mass_1 if b else atom.mass_0]),
            )
            for atom in entry.atoms
        ]
    noise, found = entry.noise, []
    most = math.ceil(noise.reach / grid.step)
    places = np.arange(-most, most + 1)
    # the answers of a cell of losses, the largest loss first
    edges = noise.answer_at((np.append(places - 0.5, most + 0.5)) * grid.step)
    edges[0], edges[-1] = math.inf, -math.inf
    for answer, low, high in entry.intervals:
        ends = np.clip(edges, low, high)
        with np.errstate(invalid="ignore"):
            masses = noise.between(ends[1:], ends[:-1], b)
        masses = np.where(ends[1:] < ends[:-1], masses, 0.0)
        keep = masses > 0.0
        found.append((answer, sign * places[keep], masses[keep]))
    return found


def grid_law(subject: Subject, b: int, cells: int) -> Law:
    """The law of an adversary with continuous losses, on a grid."""
    grid = Grid.of(subject, cells)
    places = grid.places()
    order = np.argsort(places)
    losses = places[order] * grid.step
    best, certain = np.zeros(grid.length), np.full(grid.length, -math.inf)
    for theta in THETAS:
        tilted = tilted_masses(subject, b, grid, theta)[order]
        # rounding is a share of the total; what is left of the digits after tilting back
        digits = theta * losses - math.log(tilted.sum())
        better = digits > certain
        best[better] = np.maximum(tilted[better], 0.0) * np.exp(-theta * losses[better])
        certain[better] = digits[better]
    # beyond the largest sum there is nothing but rounding
    keep = (best > 0.0) & (np.abs(places[order]) <= subject.rounds * widest(subject, b, grid))
    slack = 0.5 * grid.step * subject.rounds
    return Law(losses[keep], best[keep], 0.0, slack, subject.rounds)


def widest(subject: Subject, b: int, grid: Grid) -> int:
    """The farthest place of a round's loss from 0."""
    found = [places for entry in subject.entries for _, places, _ in pieces(entry, b, grid)]
    return max(int(np.abs(places).max()) for places in found if places.size)


def tilted_masses(subject: Subject, b: int, grid: Grid, theta: float) -> np.ndarray:
    """Probabilities of the grid's losses after the last round, times e^(theta loss)."""

    @cache
    def kernels(move: int) -> list[tuple[float, np.ndarray]]:
        return [
            (answer, grid.spectrum(places, masses, theta))
            for answer, places, masses in pieces(subject.entries[move], b, grid)
        ]

    one = np.ones(grid.length // 2 + 1, dtype=complex)
    here: dict[Any, np.ndarray] = {
        node: p * one for p, node in arrivals(subject, subject.state, 0, math.nan, 0.0)
    }
    for i in range(subject.rounds):
        last = i + 1 == subject.rounds
        after: dict[Any, np.ndarray] = {}
        for node, spectrum in here.items():
            for answer, kernel in kernels(node[1]):
                flow = spectrum * kernel
                follow = [(1.0, None)] if last else arrivals(subject, node[0], i + 1, answer, 0.0)
                for p, arrived in follow:
                    if arrived in after:
                        after[arrived] += p * flow
                    else:
                        after[arrived] = p * flow
        here = after
    return irfft(here[None], grid.length)
