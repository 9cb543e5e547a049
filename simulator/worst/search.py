"""The most that any adaptive adversary can get out of a menu, a filter and a number of rounds."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from simulator.adversaries.contract import Rule
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.errors import InvalidInput, NotApplicable
from simulator.theory.filters import Filter
from simulator.theory.laws.base import Floats
from simulator.theory.pld import Bracket
from simulator.theory.pld.loss_lattice import common_step
from simulator.validation import experiment_number, finite, nonnegative, positive, whole
from simulator.worst.arena import Arena
from simulator.worst.fixed import dominating_delta, in_advance
from simulator.worst.gates import Gate, OwnFilter, gate
from simulator.worst.grid import (
    Grid,
    Layout,
    NearestLayout,
    lattice_step,
    nearest,
    on_lattice,
    require_size,
    spread,
    support,
)
from simulator.worst.policy import Policy
from simulator.worst.menu import AnyRange, Entry, Fixed, Option, entries
from simulator.worst.recursion import Range, Values, lower_values, upper_values

MEMORY = 8e8
"""Bytes that one pass may take."""
RIGHT = 40.0
"""Nats past epsilon beyond which a win is certain to every digit of a double."""
FINEST = 60_000
"""Points that one pass may take where the grid may be chosen."""


@dataclass(frozen=True)
class Game:
    """What is searched: a menu, what ends the game, and the experiment.

    Parameters
    ----------
    menu : entries, or anything that :func:`~simulator.worst.menu.entries` takes.
    rounds : how many mechanisms may run at most; None where the filter ends the game.
    filter : a privacy filter of this package, or one of the user's own
        (:class:`~simulator.worst.gates.OwnFilter`); None for no filter.
    experiment : 0 for delta of (P0, P1), 1 for that of (P1, P0).
    relation : when two databases are neighbours.
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
        """The lattice that holds every loss; None where there is none."""
        if not all(entry.exact for entry in self.menu):
            return None
        return lattice_step([entry.law for entry in self.menu if isinstance(entry, Fixed)])

    @cached_property
    def coarsest(self) -> float:
        """A grid step to begin with, in nats, where losses do not lie on a lattice."""
        scales = []
        for entry in self.menu:
            if isinstance(entry, Fixed):
                spread_of_law = math.sqrt(min(entry.law.variance, 1e4))
                finite_losses = entry.lengths or (math.inf,)
                scales.append(min(max(spread_of_law, 1e-9), max(finite_losses)) / 8)
            else:
                scales.append(max(entry.lengths) / 16)
        return min(scales)

    def step(self, level: int) -> float:
        """The grid step of a level: each has half the step of the one before, or less."""
        if self.exact_step is not None:
            return self.exact_step
        wanted = self.coarsest / 2**level
        lengths = np.array([length for entry in self.menu for length in entry.lengths])
        base = common_step(lengths) if lengths.size else None
        if base is None or base < wanted / 4:
            return wanted
        return base / math.ceil(base / wanted - 1e-9)

    def options(self, step: float) -> list[Option]:
        """Everything that may be asked on a grid; the laws are those of the experiment."""
        found = [
            option for i, entry in enumerate(self.menu) for option in entry.options(i, step)
        ]
        if self.experiment == 0:
            return found
        return [
            Option(o.label, o.entry, o.law.reversed(), o.guarantee, o.least, o.challenge)
            for o in found
        ]


@dataclass(frozen=True)
class Pass:
    """One pass over a grid: both ends of the whole curve.

    Attributes
    ----------
    step : the grid's step, in nats.
    options : what could be asked.
    arena : the nodes of the lower end, which its policy lives on.
    upper, lower : the values, and the errors of the losses that go with them.
    """

    step: float
    options: list[Option]
    arena: Arena
    upper: Values
    lower: Values
    loss_error: float
    layouts: list[NearestLayout]
    spread: list[Layout]

    def delta(self, epsilon: float) -> Bracket:
        """Certified ends at one epsilon."""
        lower = self.lower.lower(epsilon, self.loss_error if self.lower.won is None else 0.0)
        upper = self.upper.upper(epsilon, self.loss_error)
        return Bracket(min(lower, upper), upper)


def _reach(arena: Arena, amounts: Floats) -> float:
    """The largest sum of one amount for each option along any play."""
    reach = np.zeros(arena.nodes)
    for node in range(arena.nodes):
        follow = arena.follow[node]
        open_ = follow >= 0
        if open_.any():
            reach[node] = float((amounts[open_] + reach[follow[open_]]).max())
    return float(reach[arena.start])


def grid_for(
    step: float, epsilon: float, arena: Arena, layouts: list[Layout], options: list[Option]
) -> Grid:
    """Points for every loss that matters: all that can occur where these are few enough."""
    up = _reach(arena, np.array([float(layout.reach[1]) for layout in layouts]))
    down = _reach(arena, np.array([float(-layout.reach[0]) for layout in layouts]))
    variances = [min(option.law.variance, 1e6) for option in options]
    if any(option.law.infinite_mass for option in options):
        low_high = [support(option.law) for option in options]
        variances = [max(a * a, b * b) for a, b in low_high]
    margin = 12.0 * math.sqrt(_reach(arena, np.array(variances))) / step
    start = epsilon / step
    right = int(min(down, RIGHT / step)) + 2
    left = int(up) + 2
    if left + right > FINEST:
        left = int(min(left, start + margin + max(-min(lay.reach[0] for lay in layouts), 1)))
    left = max(left, int(start) + 2)
    # -epsilon is a grid point: z_j = -epsilon + n step
    shift = -epsilon + round(start) * step
    return Grid(step, -left, left + right + 1, shift)


def run(game: Game, epsilon: float, level: int) -> Pass:
    """Run one pass. Raises NotApplicable where it would not fit into memory."""
    step = game.step(level)
    options = game.options(step)
    doors: Gate = gate(game.filter, options, game.rounds, 256 * 2**level)
    exact = game.exact_step is not None
    laws = [option.law for option in options]
    layouts = [on_lattice(law, step) if exact else spread(law, step) for law in laws]
    near = [nearest(law, step) for law in laws]
    grid = grid_for(step, epsilon, doors.possible, layouts, options)
    require_size(
        grid.points, _alive(doors.possible), MEMORY, "take a coarser tolerance or a smaller game"
    )
    ranges = _ranges(game, options, step)
    keep = 2.0 * grid.points * doors.certain.nodes <= MEMORY / 2
    upper = upper_values(
        doors.possible,
        grid,
        layouts,
        ranges,
        keep_table=keep and exact and doors.possible is doors.certain,
    )
    if exact and doors.certain is doors.possible:
        lower = upper
    else:
        lower = lower_values(doors.certain, grid, near, keep_table=keep)
    depth = int(doors.possible.depth[doors.possible.start])
    error = depth * max(layout.loss_error for layout in layouts)
    return Pass(step, options, doors.certain, upper, lower, error, near, layouts)


def _alive(arena: Arena) -> int:
    """How many nodes' values are held at once, at most."""
    last = np.full(arena.nodes, -1, dtype=np.int64)
    rows, columns = np.nonzero(arena.follow >= 0)
    np.maximum.at(last, arena.follow[rows, columns], rows)
    alive = np.zeros(arena.nodes + 2, dtype=np.int64)
    np.add.at(alive, np.arange(arena.nodes), 1)
    np.add.at(alive, np.maximum(last, np.arange(arena.nodes)) + 1, -1)
    return int(np.cumsum(alive).max())


def _ranges(game: Game, options: list[Option], step: float) -> list[Range]:
    found = []
    for place, entry in enumerate(game.menu):
        if isinstance(entry, AnyRange):
            own = tuple(i for i, option in enumerate(options) if option.entry == place)
            found.append(Range(entry.width, round(entry.width / step), own))
    return found


@dataclass(frozen=True)
class WorstCase:
    """The answer: what the worst adaptive adversary gets.

    Attributes
    ----------
    game : what was searched.
    epsilon : where it was asked.
    delta : certified ends of the largest delta(epsilon).
    tolerance : the relative width that was wanted.
    seconds : what it took.
    stopped : why no finer grid was tried: "tolerance", "time" or "size".
    passes : the last pass; its lower end belongs to a policy.
    """

    game: Game
    epsilon: float
    delta: Bracket
    tolerance: float
    seconds: float
    stopped: str
    last: Pass = field(repr=False)

    @property
    def reached(self) -> bool:
        """Whether the ends are within the tolerance."""
        return close(self.delta, self.tolerance)

    @cached_property
    def curve(self) -> tuple[Floats, Floats, Floats]:
        """(epsilons, lower, upper), ascending in epsilon >= 0: the whole curve of the last pass."""
        z = self.last.upper.grid.z
        epsilons = np.sort(-z[z <= 1e-12])
        epsilons[np.abs(epsilons) < 1e-12] = 0.0
        ends = [self.last.delta(float(e)) for e in epsilons]
        return epsilons, np.array([e.lower for e in ends]), np.array([e.upper for e in ends])

    @cached_property
    def _in_advance(self) -> tuple[Bracket | None, str]:
        last = self.last
        try:
            found = in_advance(
                self.game.menu,
                self.game.rounds,
                self.game.filter,
                self.epsilon,
                options=last.options,
                layouts=last.spread,
                near=last.layouts,
                grid=last.upper.grid,
            )
        except (InvalidInput, NotApplicable) as error:
            return None, str(error)
        # fixing the choices in advance is one way to be adaptive
        upper = min(found.upper, self.delta.upper)
        return Bracket(min(found.lower, upper), upper), ""

    @property
    def non_adaptive(self) -> Bracket | None:
        """Ends of the largest delta(epsilon) of choices fixed in advance; None if not computed."""
        return self._in_advance[0]

    @property
    def non_adaptive_reason(self) -> str:
        """Why :attr:`non_adaptive` is None, else the empty string."""
        return self._in_advance[1]

    @cached_property
    def dominating(self) -> float | None:
        """delta(epsilon) of the menu's dominating pair, composed; None with a filter."""
        game = self.game
        if game.filter is not None or game.rounds is None:
            return None
        return dominating_delta(
            game.menu, game.rounds, self.epsilon, self.last.step, game.experiment
        )

    @property
    def dominating_reason(self) -> str:
        """Why :attr:`dominating` is None, else the empty string."""
        return "" if self.dominating is not None else "a filter decides how many rounds there are"

    @cached_property
    def policy(self) -> Policy:
        """The policy whose value is the lower end. Raises NotApplicable where it is too large."""
        return policy_of(self.last, self.epsilon, self.game)

    @property
    def adversary(self) -> Rule:
        """The policy as a rule over a menu."""
        return self.policy.adversary

    @property
    def promised(self) -> float | None:
        """The filter's delta where it promises one at this epsilon, else None."""
        filter_ = self.game.filter
        if filter_ is None or not hasattr(filter_, "epsilon") or not hasattr(filter_, "delta"):
            return None
        return float(filter_.delta) if self.epsilon >= float(filter_.epsilon) else None

    @property
    def verdict(self) -> str | None:
        """Whether the filter keeps its promise: sound, broken or undecided; None without one."""
        promised = self.promised
        if promised is None:
            return None
        if self.delta.lower > promised:
            return "broken"
        return "sound" if self.delta.upper <= promised else "undecided"

    @property
    def ratio(self) -> float | None:
        """The lower end over what is promised."""
        promised = self.promised
        return None if not promised else self.delta.lower / promised


def policy_of(last: Pass, epsilon: float, game: Game) -> Policy:
    """The policy of a pass's lower end, begun at -epsilon.

    Raises NotApplicable where it was too large to be kept.
    """
    table = last.lower.table
    if table is None:
        raise NotApplicable("the policy of this game is too large to be kept; coarsen the game")
    used = np.unique(table)
    used = used[used >= 0]
    renumbered = np.full(len(last.options) + 1, -1, dtype=np.int16)
    renumbered[used] = np.arange(len(used))
    chosen = [last.options[i] for i in used]
    return Policy(
        menu=tuple(option.challenge for option in chosen),
        labels=tuple(option.label for option in chosen),
        relation=game.relation,
        experiment=game.experiment,
        epsilon=epsilon,
        grid=last.lower.grid,
        follow=last.arena.follow[:, used],
        table=renumbered[table],
        states=last.arena.states,
        layouts=tuple(last.layouts[i] for i in used),
    )


def close(found: Bracket, tolerance: float) -> bool:
    return found.width <= tolerance * found.upper or found.upper <= 1e-300


def worst_case(
    menu: str | Iterable[Any],
    *,
    epsilon: float,
    rounds: int | None = None,
    filter: Filter | OwnFilter | None = None,
    experiment: int = 0,
    relation: Relation = ADD_REMOVE,
    tolerance: float = 1e-3,
    seconds: float = 60.0,
) -> WorstCase:
    """Enclose the largest delta(epsilon) of any adaptive adversary, and find one that attains it.

    Parameters
    ----------
    menu : ``"laplace:0.1,gaussian:0.2"`` as ``dpcompose worst --menu``, or a sequence of names,
        mechanisms, challenges, finite laws or entries.
    epsilon : >= 0 and finite.
    rounds : how many mechanisms may run; None where a filter ends the game.
    filter : a filter of this package or one of one's own.
    experiment : 0 or 1: which experiment's hockey-stick divergence.
    tolerance : stop where the ends are within this of each other, relative to the upper end.
    seconds : begin no finer grid after so long.

    Raises
    ------
    InvalidInput : a number out of its range, or nothing that ends the game.
    NotApplicable : a mechanism without a law, a filter that cannot account for one, or a game that
        does not fit into memory.
    """
    epsilon = nonnegative("epsilon", finite("epsilon", epsilon))
    tolerance, seconds = positive("tolerance", tolerance), positive("seconds", seconds)
    game = Game(entries(menu, relation), rounds, filter, experiment, relation)
    start = time.perf_counter()
    found, best = Bracket(0.0, 1.0), None
    stopped = "time"
    for level, last in _passes(game, epsilon, start, seconds):
        ends = last.delta(epsilon)
        if best is None or ends.lower >= found.lower:
            best = last
        found = found.meet(ends)
        if close(found, tolerance):
            stopped = "tolerance"
            break
        if game.exact_step is not None and last.lower is last.upper:
            stopped = "size"
            break
    assert best is not None
    elapsed = time.perf_counter() - start
    return WorstCase(game, epsilon, found, tolerance, elapsed, stopped, best)


def _passes(
    game: Game, epsilon: float, start: float, seconds: float
) -> Iterator[tuple[int, Pass]]:
    """Passes over finer and finer grids, as long as the next one is likely to end in time."""
    for level in range(12):
        before = time.perf_counter()
        yield level, run(game, epsilon, level)
        took = time.perf_counter() - before
        if time.perf_counter() - start + 5.0 * took > seconds:
            return
