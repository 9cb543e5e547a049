"""Worst adversaries of odometers, which may stop after any round.

An odometer announces (epsilon, delta) after every round. The announcement must hold when the
adversary stops: E0[(1 - e^(epsilon - loss))_+] is at most delta, for every adaptive choice of
mechanisms and of when to stop. The recursion is that of :mod:`simulator.worst.recursion` on the
loss itself, with a stop in every node, where the loss is compared with the reading.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from simulator.adversaries.contract import Rule
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.foundations.errors import InvalidInput, NotApplicable, placed
from simulator.foundations.validation import positive, real, whole
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.interface import Guarantee
from simulator.worst.filter_graphs import FEW_NODES
from simulator.worst.game import Game
from simulator.worst.game_graph import GameGraph, explored_graph
from simulator.worst.grid import Grid, lattice_layout, nearest_layout, outward_layout
from simulator.worst.grid_pass import (
    RIGHT,
    GridPass,
    first_level,
    grid_for,
    loss_error_of,
    policy_of,
    ranges_of,
)
from simulator.worst.menu import FreeEntry
from simulator.worst.menu_parsing import entries
from simulator.worst.policy import Policy
from simulator.worst.recursion import lower_values, upper_values
from simulator.worst.refining import refined, verdict_of


class Odometer(Protocol):
    """An odometer, whose reading does not depend on the order of the rounds."""

    def fresh(self) -> Any:
        """An odometer at zero, with ``spend(guarantee)``, ``epsilon`` and ``delta``."""


@dataclass(frozen=True, kw_only=True)
class WorstOdometer:
    """The worst adversary of an odometer.

    Attributes
    ----------
    delta : ends of the largest E0[(1 - e^(reading - loss))_+] at the moment of stopping.
    announced : the delta that the odometer announces.
    tolerance, seconds, stopped : as of :class:`~simulator.worst.search.WorstCase`.
    policy : one that attains the lower end; it stops by playing no further round.

    >>> from simulator.theory import MixtureOdometer
    >>> from simulator.worst import worst_odometer
    >>> found = worst_odometer("randomized-response:0.5", MixtureOdometer(0.05), 3)
    >>> found.delta.upper <= found.announced
    True
    """

    delta: Bracket
    announced: float
    tolerance: float
    seconds: float
    stopped: str
    policy: Policy = field(repr=False)

    @property
    def ratio(self) -> Bracket | None:
        """Ends of the true delta over the announced one: above 1 the odometer is broken.

        None where it announces a delta of 0.
        """
        if self.announced == 0.0:
            return None
        return Bracket(self.delta.lower / self.announced, self.delta.upper / self.announced)

    @property
    def verdict(self) -> str:
        """Whether it keeps its promise: sound, broken or undecided."""
        return verdict_of(self.delta, self.announced)

    @property
    def adversary(self) -> Rule:
        """The policy as a rule over a menu."""
        return self.policy.adversary


def worst_odometer(
    menu: str | Iterable[Any],
    odometer: Odometer,
    rounds: int,
    *,
    relation: Relation = ADD_REMOVE,
    experiment: int = 0,
    tolerance: float = 1e-3,
    seconds: float = 60.0,
) -> WorstOdometer:
    """Certified ends of the worst delta of an adversary that stops after at most ``rounds`` rounds.

    Parameters
    ----------
    menu : as for :func:`~simulator.worst.search.worst_case`, with fixed parameters.
    odometer : one of this package, or any with the same methods; its reading may depend on the
        count of each guarantee, not on the order.

    Raises
    ------
    NotApplicable : a free parameter, too many states, or an announced delta that changes.

    >>> from simulator.theory import MixtureOdometer
    >>> from simulator.worst import worst_odometer
    >>> found = worst_odometer("randomized-response:0.5", MixtureOdometer(0.05), 3)
    >>> found.announced, found.delta.upper <= found.announced
    (0.05, True)
    """
    tolerance, seconds = positive("tolerance", tolerance), positive("seconds", seconds)
    game = Game(entries(menu, relation), whole("rounds", rounds), None, experiment, relation)
    if any(isinstance(entry, FreeEntry) for entry in game.menu):
        raise NotApplicable("an odometer is searched over fixed parameters only")
    announced = 0.0

    def run(level: int, last: GridPass | None) -> GridPass:
        nonlocal announced
        found, announced = _run(game, odometer, level)
        return found

    found = refined(
        run,
        first_level(game),
        0.0,
        tolerance=tolerance,
        seconds=seconds,
        nothing=lambda: 1e-12 * announced,
    )
    return WorstOdometer(
        delta=found.delta,
        announced=announced,
        tolerance=tolerance,
        seconds=found.seconds,
        stopped=found.stopped,
        policy=policy_of(found.best, 0.0, game),
    )


def _run(game: Game, odometer: Odometer, level: int) -> tuple[GridPass, float]:
    step = game.step(level)
    options = game.options(step)
    promises = [option.guarantee for option in options]
    graph, readings, announced = _readings_graph(odometer, promises, int(game.rounds or 0))
    ranges = ranges_of(game, options, step)
    laws = [option.law for option in options]
    exact = game.exact_step is not None
    layouts = [lattice_layout(law, step) if exact else outward_layout(law, step) for law in laws]
    near = [nearest_layout(law, step) for law in laws]
    plain = grid_for(step, 0.0, graph, layouts, options)
    beyond = int(min(float(readings.max()) + RIGHT, 1e6) / step) + 2
    grid = Grid(step, plain.first, -plain.first + min(plain.points, beyond) + 1)
    upper = upper_values(graph, grid, layouts, ranges, thresholds=readings)
    lower = lower_values(graph, grid, near, thresholds=readings)
    last = GridPass(
        step=step,
        options=options,
        graph=graph,
        upper=upper,
        lower=lower,
        loss_error=loss_error_of(graph, layouts),
        nearest_layouts=near,
        outward_layouts=layouts,
        thresholds=readings,
    )
    return last, announced


def _readings_graph(
    odometer: Odometer, promises: list[Guarantee], rounds: int
) -> tuple[GameGraph, np.ndarray, float]:
    """(Graph of the counts of guarantees spent, readings, announced delta)."""
    kinds = list(dict.fromkeys(promises))
    kind_of = [kinds.index(promise) for promise in promises]

    def admit(counts: Any, option: int) -> Hashable | None:
        if sum(counts) == rounds:
            return None
        kind = kind_of[option]
        return (*counts[:kind], counts[kind] + 1, *counts[kind + 1 :])

    graph = explored_graph((0,) * len(kinds), len(promises), admit, None, FEW_NODES)
    readings = np.empty(graph.nodes)
    deltas = np.empty(graph.nodes)
    for node, counts in enumerate(graph.states):
        with placed("the odometer"):
            running = odometer.fresh()
            for promise, times in zip(kinds, counts):
                for _ in range(times):
                    running.spend(promise)
            readings[node] = real("its epsilon", running.epsilon)
            deltas[node] = real("its delta", running.delta)
    if not np.isfinite(readings).all() or (readings < 0.0).any():
        raise InvalidInput("an odometer's reading must be finite and at least 0")
    if not ((deltas >= 0.0) & (deltas <= 1.0)).all():
        raise InvalidInput("an odometer's delta must lie in [0, 1]")
    if deltas.max() > deltas.min() * (1.0 + 1e-12):
        raise NotApplicable(
            "the announced delta grows with the rounds' own deltas; give mechanisms without delta"
        )
    return graph, readings, float(deltas.max())
