"""The game that is searched: a menu, what ends the game, and the experiment."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from simulator.data.databases import ADD_REMOVE, Relation
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import experiment_number, whole
from simulator.theory.filters.interface import Filter
from simulator.theory.lattice import common_step
from simulator.theory.laws.base import Floats
from simulator.worst.grid import lattice_step
from simulator.worst.menu import BoundedRangeEntry, Entry, FixedEntry, FreeEntry, Option
from simulator.worst.menu_parsing import entries
from simulator.worst.own_filter import OwnFilter

MOST_ON_LATTICE = 2e9
"""Most terms of a game on the lattice of its losses; a larger game has a coarser grid."""
_COARSE = 100.0
"""Longest first step, in nats, for a range."""
_STEPS = 4_000
"""Steps that are tried where none divides all lengths."""


@dataclass(frozen=True)
class Game:
    """A game to search: a menu, what ends the game, and the experiment.

    Parameters
    ----------
    menu : entries, or a menu that :func:`~simulator.worst.menu_parsing.entries` takes.
    rounds : the largest number of mechanisms; None where the filter ends the game.
    filter : a privacy filter of this package, or a user's
        (:class:`~simulator.worst.own_filter.OwnFilter`); None for no filter.
    experiment : 0 for delta of (P0, P1), 1 for that of (P1, P0).
    relation : when two databases are neighbours.

    >>> from simulator.worst import Game
    >>> game = Game("randomized-response:0.2", rounds=5)
    >>> game.exact_step, len(game.menu)
    (0.2, 1)
    """

    menu: tuple[Entry, ...]
    rounds: int | None = None
    filter: Filter | OwnFilter | None = None
    experiment: int = 0
    relation: Relation = ADD_REMOVE

    def __post_init__(self) -> None:
        object.__setattr__(self, "menu", entries(self.menu, self.relation))
        object.__setattr__(self, "experiment", experiment_number(self.experiment))
        if self.rounds is not None:
            object.__setattr__(self, "rounds", whole("rounds", self.rounds))
        if self.rounds is None and self.filter is None:
            raise InvalidInput("nothing ends the game: give a number of rounds, or a filter")

    @cached_property
    def exact_step(self) -> float | None:
        """The step of the lattice that holds every loss; None where there is none."""
        if not all(entry.exact for entry in self.menu):
            return None
        laws = [entry.law for entry in self.menu if isinstance(entry, FixedEntry)]
        step = lattice_step(laws)
        if step is None or self.rounds is None:
            return step
        reach = max(abs(end) for law in laws for end in law.support) / step
        points = min(self.rounds * reach, 12.0 * math.sqrt(self.rounds) * reach + 40.0 / step)
        return step if points * self.rounds * len(laws) <= MOST_ON_LATTICE else None

    @cached_property
    def coarsest(self) -> float:
        """The first grid step in nats, where losses do not lie on a lattice."""
        scales = []
        for entry in self.menu:
            if isinstance(entry, FixedEntry):
                spread_of_law = math.sqrt(min(entry.law.variance, 1e4))
                reach = max(entry.lengths, default=0.0 if entry.law.is_discrete else math.inf)
                scales.append(min(max(spread_of_law, 1e-9), reach) / 8)
            else:
                scales.append(min(max(entry.lengths) / 16, _COARSE))
        # a law whose losses are rounding errors needs no grid
        largest = max(scales)
        return min([scale for scale in scales if scale > 1e-12 * largest], default=1.0)

    def step(self, level: int) -> float:
        """The grid step of a level, at most half that of the level before."""
        if self.exact_step is not None:
            return self.exact_step
        return self.dividing_step(self.coarsest / 2**level)

    def dividing_step(self, wanted: float) -> float:
        """A step of at most ``wanted`` that divides all the menu's lengths where possible.

        Otherwise a divisor of the widest range of an exponential mechanism, and without one the
        step of which the lengths are nearest to multiples, relative to themselves.
        """
        lengths = np.array([length for entry in self.menu for length in entry.lengths])
        base = common_step(lengths) if lengths.size else None
        if base is None or base < wanted / 4:
            widths = [entry.width for entry in self.menu if isinstance(entry, BoundedRangeEntry)]
            if not widths:
                return _nearly_dividing(lengths, wanted)
            base = max([wanted, *widths])
        return base / math.ceil(base / wanted - 1e-9)

    def options(self, step: float) -> list[Option]:
        """Return every option on a grid, with its law in the experiment that is searched."""
        found = [option for i, entry in enumerate(self.menu) for option in entry.options(i, step)]
        return self.in_experiment(found)

    def in_experiment(self, options: list[Option]) -> list[Option]:
        """Return the options with their laws in the experiment that is searched."""
        if self.experiment == 0:
            return options
        return [replace(option, law=option.law.reversed()) for option in options]

    @property
    def charges_free_parameters(self) -> bool:
        """Whether a filter charges for a parameter that the adversary chooses."""
        return self.filter is not None and any(isinstance(entry, FreeEntry) for entry in self.menu)


def _nearly_dividing(lengths: Floats, wanted: float) -> float:
    """The step between half of ``wanted`` and all of it that the lengths are nearest to dividing.

    Lengths below ``wanted`` are left out.
    """
    steps = wanted * np.linspace(1.0, 0.5, _STEPS)
    off = np.zeros(_STEPS)
    for length in np.unique(lengths[lengths > wanted]).tolist():
        count = length / steps
        np.maximum(off, np.abs(count - np.rint(count)) / count, out=off)
    return float(steps[off.argmin()])
