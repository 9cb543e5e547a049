"""One pass over a grid: both ends of the whole curve of a game, and the policy of the lower end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from simulator.foundations.errors import NotApplicable
from simulator.foundations.ties import reached
from simulator.theory.bracket import Bracket
from simulator.theory.laws.base import Floats
from simulator.worst.between_costs import BetweenCosts
from simulator.worst.filter_graphs import filter_graphs
from simulator.worst.free_parameters import free_game
from simulator.worst.game import Game
from simulator.worst.game_graph import GameGraph
from simulator.worst.grid import (
    Grid,
    Layout,
    NearestLayout,
    TooLarge,
    lattice_layout,
    nearest_layout,
    outward_layout,
    require_size,
    support,
)
from simulator.worst.menu import BoundedRangeEntry, FixedEntry, FreeEntry, Option
from simulator.worst.policy import Policy
from simulator.worst.recursion import (
    Range,
    Values,
    is_exact,
    largest_sums,
    lower_values,
    payoff,
    upper_values,
)

MEMORY = 8e8
"""Bytes that one pass may take."""
RIGHT = 40.0
"""Nats beyond epsilon at which a win is certain in double precision."""
MOST_PRODUCTS = 2e8
"""Approximate number of multiplications of the first pass, where the grid may be chosen."""
MOST_STEPS = 1e7
"""Most steps between a loss of zero and epsilon."""
SLOWER = 5
"""Levels from one grid of losses to the next, where the states separate the ends: the laws are
discrete, and the step is chosen for their losses."""
WIDEST_STEP = 300.0
"""Longest step in nats, of whose exponential a float has all digits."""
FINEST = 60_000
"""Most points of a pass, where the grid may be chosen."""
WIDEST = 4_000
"""Points beyond which a grid leaves out losses more than 12 standard deviations away."""


@dataclass(frozen=True, kw_only=True)
class GridPass:
    """One pass over a grid: both ends of the whole curve.

    Attributes
    ----------
    step : the grid's step, in nats.
    options : the options on the grid.
    graph : the nodes of the lower end, which its policy uses.
    upper, lower : the values of both ends.
    loss_error : bound on the distance of the loss of a play from its grid points.
    nearest_layouts, outward_layouts : the options' laws on the grid, for the lower and upper end.
    thresholds : the readings of the lower end's nodes, for an odometer.
    largest : the largest loss of a play, in nats, from which delta(epsilon) is 0, up to rounding
        (:mod:`simulator.foundations.ties`).
    growth : about how many times as long the next level takes, at most.
    """

    step: float
    options: list[Option]
    graph: GameGraph
    upper: Values
    lower: Values
    loss_error: float
    nearest_layouts: list[NearestLayout]
    outward_layouts: list[Layout]
    thresholds: Floats | None = None
    largest: float = math.inf
    growth: float = 5.0

    def delta(self, epsilon: float) -> Bracket:
        """Certified ends at one epsilon."""
        rounds = int(self.graph.depth[self.graph.start])
        if self.largest <= reached(epsilon, max(rounds, 1)):
            return Bracket(0.0, 0.0)
        lower = self.lower.lower(epsilon, self.loss_error if self.lower.won is None else 0.0)
        upper = self.upper.upper(epsilon, self.loss_error)
        return Bracket(min(lower, upper), upper)


def _largest_sum(graph: GameGraph, amounts: Sequence[float]) -> float:
    return float(largest_sums(graph, np.array(amounts, dtype=np.float64))[graph.start])


def grid_for(
    step: float, epsilon: float, graph: GameGraph, layouts: list[Layout], options: list[Option]
) -> Grid:
    """A grid for every loss that matters: all possible ones where these are few."""
    up = _largest_sum(graph, [layout.reach[1] for layout in layouts])
    down = _largest_sum(graph, [-layout.reach[0] for layout in layouts])
    variances = [min(option.law.variance, 1e6) for option in options]
    if any(option.law.infinite_mass for option in options):
        low_high = [support(option.law) for option in options]
        variances = [max(a * a, b * b) for a, b in low_high]
    margin = 12.0 * math.sqrt(_largest_sum(graph, variances)) / step
    start = epsilon / step
    if not start <= MOST_STEPS:
        raise NotApplicable(
            f"epsilon = {epsilon:g} is {start:.3g} steps of {step:.3g} away, where a grid has "
            f"{MOST_STEPS:.0e} at most; choose an epsilon nearer to the mechanisms' losses"
        )
    right = int(min(down, RIGHT / step)) + 2
    left = int(up) + 2
    if any(option.law.infinite_mass for option in options):
        left = max(
            left, int(start + max(down, 0.0)) + 2
        )  # an infinite loss can win from every point
    lattice = layouts[0].weights.dtype == np.longdouble
    if left + right > (FINEST if lattice else WIDEST):
        one_round = max(1, *(max(-lay.reach[0], lay.reach[1]) for lay in layouts))
        left = int(min(left, start + margin + one_round))
        right = right if lattice else int(min(right, margin + one_round)) + 2
    left = max(left, int(start) + 2)
    # -epsilon is a grid point: z_j = -epsilon + n step
    shift = -epsilon + round(start) * step
    return Grid(step, -left, left + right + 1, shift)


def first_level(game: Game) -> int:
    """The first level: negative where level 0 has too many steps for one pass."""
    if game.exact_step is not None:
        return 0
    if game.charges_free_parameters:
        return -2
    ends = [support(entry.law) for entry in game.menu if isinstance(entry, FixedEntry)]
    ends += [(0.0, max(entry.lengths)) for entry in game.menu if not isinstance(entry, FixedEntry)]
    spans = np.array([max(high - low, abs(low), abs(high)) for low, high in ends])
    many = np.array([not (isinstance(e, FixedEntry) and e.law.is_discrete) for e in game.menu])
    wide = [min(e.law.variance, 1e6) for e in game.menu if isinstance(e, FixedEntry)]
    deviation = min(math.sqrt(max(wide, default=math.inf)), float(spans.max()))
    rounds, level = game.rounds or 1, 0
    while level > -60:
        step = game.step(level)
        # a round leads from any point that matters to one that does, or beyond
        nats = min(rounds * spans.max(), 12.0 * math.sqrt(rounds) * deviation + RIGHT + spans.max())
        points = nats / step
        products = rounds * points * float(np.where(many, spans / step, 4.0).sum())
        if products <= MOST_PRODUCTS and spans.max() / step <= FINEST:
            break
        level -= 1
    if game.step(level) > WIDEST_STEP:
        raise NotApplicable(
            f"a round may lose {spans.max():.3g} nats, which is too many for a grid of losses; "
            "give less extreme parameters"
        )
    return level


def run_pass(
    game: Game,
    epsilon: float,
    level: int,
    before: GridPass | None = None,
    *,
    allowed: float = math.inf,
) -> GridPass:
    """The result of one pass.

    Parameters
    ----------
    before : the pass of a coarser level, whose lower end is reused for a free parameter under a
        filter once it is fine enough.
    allowed : the estimated time that each end may take, in seconds.

    Raises NotApplicable where it exceeds the memory or that time.
    """
    if game.charges_free_parameters:
        return _free(game, epsilon, level, before, allowed)
    step = game.step(level)
    options = game.options(step)
    graphs = filter_graphs(
        game.filter, options, game.rounds, 256 * 2 ** max(level, 0), game.relation
    )
    exact, more_states = game.exact_step is not None, False
    if graphs.certain is not graphs.possible and all(entry.exact for entry in game.menu):
        # the ends differ whatever the grid, so a grid that is much finer than needed is not used
        coarser = game.dividing_step(game.coarsest / 2 ** (level // SLOWER))
        exact = exact and coarser < 4.0 * step
        step = step if exact else coarser
        more_states = exact or (level + 1) % SLOWER != 0
    laws = [option.law for option in options]
    layouts = [lattice_layout(law, step) if exact else outward_layout(law, step) for law in laws]
    near = [nearest_layout(law, step) for law in laws]
    grid = _fitting(step, epsilon, graphs.possible, layouts, options, allowed=allowed)
    keep = _kept(grid, graphs.certain)
    ranges = ranges_of(game, options, step)
    upper = upper_values(
        graphs.possible,
        grid,
        layouts,
        ranges,
        keep_table=keep and exact and graphs.possible is graphs.certain,
    )
    if graphs.certain is graphs.possible and is_exact(graphs.possible, layouts, grid):
        lower = upper
    else:
        lower = lower_values(graphs.certain, grid, near, keep_table=keep)
    error = loss_error_of(graphs.possible, layouts)
    return GridPass(
        step=step,
        options=options,
        graph=graphs.certain,
        upper=upper,
        lower=lower,
        loss_error=error,
        nearest_layouts=near,
        outward_layouts=layouts,
        largest=_largest(graphs.possible, layouts, ranges, step),
        growth=2.0 if more_states else 5.0,
    )


FINE_ENOUGH = 2
"""The finest level of the lower end of a game with free parameters, on a grid of its own."""
MOST_IN_LOSS = 2_000
"""Most steps of the largest free parameter; losses far below it need not be distinguished."""
MANY_BUDGETS = 900
"""Whole budgets beyond which a lower end on the grid of the upper one is fine enough."""


def _free(
    game: Game, epsilon: float, level: int, before: GridPass | None, allowed: float
) -> GridPass:
    """The pass of a game whose filter charges for free parameters."""
    least = min(entry.low for entry in game.menu if isinstance(entry, FreeEntry))
    finest = max(entry.high for entry in game.menu if isinstance(entry, FreeEntry)) / MOST_IN_LOSS
    wanted = min(least / 4.0, game.coarsest) / 2.0 ** ((level + 1) // 2)
    fine = game.dividing_step(max(wanted, finest))
    free = free_game(game, fine, level)
    layouts = [outward_layout(option.law, fine) for option in free.options]
    grid = _fitting(fine, epsilon, free.possible, layouts, free.options, allowed=allowed)
    ranges = ranges_of(game, free.options, fine)
    between = BetweenCosts(free.bulges, payoff(grid.z), free.share) if free.bulges else None
    upper = upper_values(free.possible, grid, layouts, ranges, between=between)
    error = loss_error_of(free.possible, layouts)
    largest = _largest(free.possible, layouts, ranges, fine)
    own = min(max(level, 0), FINE_ENOUGH)
    if free.certain is not None:
        step, options, certain = fine, free.options, free.certain
        reused = level > 0 and before is not None and before.graph.nodes > MANY_BUDGETS
    else:
        step = game.dividing_step(max(game.coarsest / 2**own, finest))
        reused = before is not None and before.step == step
        reused = reused and level not in range(1, FINE_ENOUGH + 1)
    # the grid of losses becomes finer at every second level only
    growth = 5.0 if free.bulges is None or level % 2 == 0 else 2.5
    if before is not None and reused:
        return replace(before, upper=upper, loss_error=error, largest=largest, growth=growth)
    if free.certain is None:
        options, size = game.options(step), 256 * 2**own
        certain = filter_graphs(game.filter, options, game.rounds, size, game.relation).certain
        layouts = [outward_layout(option.law, step) for option in options]
        grid = _fitting(step, epsilon, certain, layouts, options, allowed=allowed)
    near = [nearest_layout(option.law, step) for option in options]
    lower = lower_values(certain, grid, near, keep_table=_kept(grid, certain))
    return GridPass(
        step=step,
        options=options,
        graph=certain,
        upper=upper,
        lower=lower,
        loss_error=error,
        nearest_layouts=near,
        outward_layouts=layouts,
        largest=largest,
        growth=growth,
    )


PACE = 3e8
"""Approximate number of terms of the recursion per second."""


def _fitting(
    step: float,
    epsilon: float,
    graph: GameGraph,
    layouts: list[Layout],
    options: list[Option],
    *,
    allowed: float,
) -> Grid:
    """The grid; raises TooLarge where it exceeds the memory or the time allowed."""
    grid = grid_for(step, epsilon, graph, layouts, options)
    require_size(grid.points, _alive(graph), MEMORY, "choose a coarser tolerance or a smaller game")
    open_in = (graph.follow >= 0).sum(axis=0)
    terms = float(open_in @ np.array([layout.terms for layout in layouts])) * grid.points
    if terms / PACE > allowed:
        raise TooLarge(
            f"the game would take about {terms / PACE:.0f} s ({graph.nodes} states by "
            f"{grid.points} losses); allow more seconds, or take fewer rounds or mechanisms"
        )
    return grid


def _kept(grid: Grid, graph: GameGraph) -> bool:
    """Whether the policy's table fits into memory."""
    return 2.0 * grid.points * graph.nodes <= MEMORY / 2


def _largest(
    graph: GameGraph, layouts: list[Layout], ranges: Sequence[Range], step: float
) -> float:
    """The largest loss of any play on the grid, in nats."""
    if any(layout.infinite for layout in layouts):
        return math.inf
    tops = [layout.reach[1] for layout in layouts]
    for free in ranges:  # includes losses up to the width, which no option on the grid has
        for option in free.options:
            tops[option] = free.cells
    return _largest_sum(graph, tops) * step


def loss_error_of(graph: GameGraph, layouts: Sequence[Layout]) -> float:
    """Bound on the distance of the loss of a play from its grid points."""
    return int(graph.depth[graph.start]) * max(layout.loss_error for layout in layouts)


def _alive(graph: GameGraph) -> int:
    """The largest number of nodes whose values are in memory at once."""
    last = np.full(graph.nodes, -1, dtype=np.int64)
    rows, columns = np.nonzero(graph.follow >= 0)
    np.maximum.at(last, graph.follow[rows, columns], rows)
    alive = np.zeros(graph.nodes + 2, dtype=np.int64)
    np.add.at(alive, np.arange(graph.nodes), 1)
    np.add.at(alive, np.maximum(last, np.arange(graph.nodes)) + 1, -1)
    return int(np.cumsum(alive).max())


def ranges_of(game: Game, options: list[Option], step: float) -> list[Range]:
    """The bounded ranges of the menu, which also have losses between grid points."""
    found = []
    for place, entry in enumerate(game.menu):
        if isinstance(entry, BoundedRangeEntry):
            own = tuple(i for i, option in enumerate(options) if option.entry == place)
            # where the step does not divide the width, a wider range
            cells = max(math.ceil(entry.width / step - 1e-9), 1)
            found.append(Range(max(entry.width, cells * step), cells, own))
    return found


def policy_of(last: GridPass, epsilon: float, game: Game) -> Policy:
    """The policy of a pass's lower end, started at -epsilon.

    Raises NotApplicable where its table was not kept.
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
        follow=last.graph.follow[:, used],
        table=renumbered[table],
        layouts=tuple(last.nearest_layouts[i] for i in used),
        thresholds=np.zeros(last.graph.nodes) if last.thresholds is None else last.thresholds,
    )
