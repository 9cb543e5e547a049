"""The backward recursion over a game's nodes, and its two certified ends.

V(node, z) is the largest value of an adversary from a node at the loss z past epsilon: (1 - e^-z)_+
where the game ends, and otherwise the largest mean of V over an open option. Another round never
lowers V: it is convex in e^-z, whose mean a round does not raise.

The upper end is this recursion with every law spread outward
(:func:`~simulator.worst.grid.outward_layout`) and every operation's rounding added. Between grid
points the chord in e^-z is above V.

The lower end is the value of one adversary, which remembers the node and the nearest grid point,
and moves by a table. The recursion computes its probabilities of winning in the two experiments, so
it is the value of a policy that can be played.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from simulator.foundations.stages import in_stages
from simulator.theory.bounds.range_recursion import best_in_cells
from simulator.theory.outward import UNIT
from simulator.worst.between_costs import BetweenCosts
from simulator.worst.game_graph import CLOSED, GameGraph
from simulator.worst.grid import Grid, GridArray, Layout, NearestLayout

UNDERFLOW = 1e-300


@dataclass(frozen=True)
class Range:
    """The losses t of a mechanism of bounded range, also between grid points.

    Attributes
    ----------
    width : the range in nats, and ``cells`` in steps of the grid.
    options : the indices of the range's options on the grid, which lead to the same nodes.
    """

    width: float
    cells: int
    options: tuple[int, ...]


def payoff(z: GridArray) -> GridArray:
    """(1 - e^-z)_+, the value of the loss z past epsilon at the end of the game."""
    return np.maximum(0.0, -np.expm1(-np.maximum(z, 0.0)))


@dataclass(frozen=True)
class Values:
    """Values of the start over a grid, and the table of options.

    Attributes
    ----------
    grid : the grid, of losses past epsilon: the value at -epsilon is delta(epsilon).
    value : shape (points,).
    won : shape (points,), for the lower end: e^-z times the probability of winning in experiment 1.
    rounding : bound on the relative error of ``value``.
    table : int16, shape (nodes, points): the option to play, CLOSED where the game has ended; None
        where it was not kept.
    """

    grid: Grid
    value: GridArray
    won: GridArray | None
    rounding: float
    table: np.ndarray | None = None

    def upper(self, epsilon: float, loss_error: float = 0.0) -> float:
        """An upper end of delta(epsilon): on the chord in e^-z, with all losses moved upward."""
        grid = self.grid
        place = (-epsilon - grid.offset) / grid.step - grid.first
        below = min(max(math.floor(place + 1e-9), 0), grid.points - 2)
        low, high = float(self.value[below]), float(self.value[below + 1])
        rise = max(-epsilon - float(grid.z[below]), 0.0) + loss_error + 4 * UNIT * abs(epsilon)
        share = min(math.expm1(-rise) / math.expm1(-grid.step), 1.0)
        found = (low + (high - low) * share) * (1.0 + self.rounding) + UNDERFLOW
        return min(found, 1.0)

    def lower(self, epsilon: float, loss_error: float = 0.0) -> float:
        """The value of the policy that begins at the grid point nearest to -epsilon."""
        grid = self.grid
        place = round((-epsilon - grid.offset) / grid.step - grid.first)
        place = min(max(place, 0), grid.points - 1)
        value = float(self.value[place])
        moved = -epsilon - float(grid.z[place]) - loss_error - 4 * UNIT * abs(epsilon)
        if self.won is None:
            # exact on the lattice; to the left it decreases no faster than its chord to the right
            beside = float(self.value[min(place + 1, grid.points - 1)])
            fall = (beside - value) * math.expm1(max(-moved, 0.0)) / -math.expm1(-grid.step)
            return max(0.0, value * (1.0 - self.rounding) - fall)
        won = float(self.won[place])
        found = value - won * math.expm1(-moved)
        return max(0.0, found - self.rounding * (value + won))


def _padding(layouts: Sequence[Layout]) -> int:
    return max(max(-low, high, 1) for low, high in (layout.reach for layout in layouts))


def upper_values(
    graph: GameGraph,
    grid: Grid,
    layouts: Sequence[Layout],
    ranges: Sequence[Range] = (),
    *,
    thresholds: GridArray | None = None,
    between: BetweenCosts | None = None,
    keep_table: bool = False,
) -> Values:
    """The start's values by the recursion with outward laws; see the module.

    ``thresholds``, shape (nodes,), are the readings with which the loss is compared where the
    adversary stops in a node, in nats beyond the grid's zero; zero by default. With ``between`` the
    nodes are budgets in units, and the start lies between the last two.
    """
    table = _empty_table(graph, grid) if keep_table else None
    sweep = upper_sweep(
        graph, grid, layouts, ranges, thresholds=thresholds, between=between, table=table
    )
    *_, below, value = (None, *deque(sweep, maxlen=2))
    if between is not None and below is not None:
        value = below + between.share * (value - below)
    rounding = upper_rounding(graph, layouts, bool(ranges) or between is not None)
    return Values(grid, value, None, rounding, table)


def upper_rounding(graph: GameGraph, layouts: Sequence[Layout], more: bool = False) -> float:
    """The relative error of values after all rounds of the longest play.

    ``more`` : whether a value has further terms, of a range or between costs.
    """
    terms = max(layout.terms for layout in layouts) + (12 if more else 0)
    each = (terms + 2) * float(np.finfo(layouts[0].weights.dtype).eps)
    each += max(layout.weight_error for layout in layouts)
    return (int(graph.depth[graph.start]) + 1) * each + 16 * UNIT


def upper_sweep(
    graph: GameGraph,
    grid: Grid,
    layouts: Sequence[Layout],
    ranges: Sequence[Range] = (),
    *,
    thresholds: GridArray | None = None,
    between: BetweenCosts | None = None,
    table: np.ndarray | None = None,
) -> Iterator[GridArray]:
    """Yield every node's values, the start's last; fill ``table`` with the best options."""
    pad = max([_padding(layouts), *(r.cells for r in ranges)])
    kind = layouts[0].weights.dtype
    stopped = payoff(grid.z).astype(kind)
    kept = LiveValues(graph)
    window = Windows(graph, grid, layouts, thresholds)
    for node in in_stages(range(graph.nodes), "upper end"):
        if thresholds is not None:
            stopped = payoff(grid.z - thresholds[node]).astype(kind)
        best = stopped.copy()
        here = window[node]
        length = here.stop - here.start
        for option in np.flatnonzero(graph.follow[node] >= 0).tolist():
            after = int(graph.follow[node, option])
            reached = layouts[option].mean(kept[after], pad + here.start, length)
            if between is not None:
                reached = between(option, here, reached)
            if table is None:
                np.maximum(best[here], reached, out=best[here])
            else:
                better = reached >= best[here]  # a further round is never worse than stopping
                best[here][better] = reached[better]
                table[node, here][better] = option
        for free in ranges:
            for after in {int(graph.follow[node, option]) for option in free.options} - {CLOSED}:
                inside = best_in_cells(kept[after][::-1], free.cells, free.width)[::-1]
                start = pad - free.cells
                np.maximum(best, inside[start : start + grid.points], out=best)
        np.minimum(best, 1.0, out=best)
        kept.store(node, extended(best, grid, pad))
        yield best


def extended(values: GridArray, grid: Grid, pad: int) -> GridArray:
    """Upper values extended by ``pad`` points on either side.

    To the left the value decreases; to the right it is below the chord in e^-z to 1 at e^-z = 0.
    """
    beyond = np.exp(-grid.step * np.arange(1, pad + 1)).astype(values.dtype)
    right = 1.0 - (1.0 - values[-1]) * beyond
    return np.concatenate((np.full(pad, values[0]), values, right))


def _mass_of_1(layout: Layout, grid: Grid) -> float:
    """The mass in experiment 1, infinite or nan where it cannot be computed."""
    steps = (layout.first + np.arange(len(layout.weights))) * grid.step
    with np.errstate(over="ignore", invalid="ignore"):
        return float(layout.weights @ np.exp(-steps))


def _empty_table(graph: GameGraph, grid: Grid) -> np.ndarray:
    return np.full((graph.nodes, grid.points), CLOSED, dtype=np.int16)


class Windows:
    """The points of each node where further rounds can change the result.

    To the left no play wins, to the right every play wins. Where a loss may be infinite, or a stop
    is compared with a reading, all points are included.
    """

    def __init__(
        self, graph: GameGraph, grid: Grid, layouts: Sequence[Layout], thresholds: GridArray | None
    ) -> None:
        self.grid = grid
        self.whole = thresholds is not None or any(
            layout.infinite
            or layout.leaks
            or not abs(float(layout.weights.sum()) - 1.0) <= 1e-12
            or not abs(_mass_of_1(layout, grid) - 1.0) <= 1e-12
            for layout in layouts
        )
        self.up = largest_sums(graph, np.array([layout.reach[1] for layout in layouts]))
        self.down = largest_sums(graph, np.array([-layout.reach[0] for layout in layouts]))
        self.zero = -grid.first - grid.offset / grid.step

    def __getitem__(self, node: int) -> slice:
        if self.whole:
            return slice(0, self.grid.points)
        start = max(math.floor(self.zero - self.up[node]) - 2, 0)
        stop = min(math.ceil(self.zero + self.down[node]) + 3, self.grid.points)
        return slice(start, max(stop, start))


def is_exact(graph: GameGraph, layouts: Sequence[Layout], grid: Grid) -> bool:
    """Whether upper values are exact: every loss is on the lattice and within the grid.

    To the left of a grid, upper values are those of its first point.
    """
    if layouts[0].weights.dtype != np.longdouble:
        return False
    up = largest_sums(graph, np.array([layout.reach[1] for layout in layouts]))[graph.start]
    return bool(-grid.z[0] >= up * grid.step)


def largest_sums(graph: GameGraph, amounts: GridArray) -> GridArray:
    """The largest sum of the options' amounts along any play from each node."""
    each = [float(amount) for amount in amounts]
    reach: list[float] = []
    for row in graph.rows:
        open_ = [amount + reach[after] for amount, after in zip(each, row) if after >= 0]
        reach.append(max(open_, default=0.0))
    return np.array(reach)


class LiveValues:
    """The values of the nodes that a later node still needs."""

    def __init__(self, graph: GameGraph) -> None:
        self.graph = graph
        self.uses = graph.uses
        self.values: dict[int, GridArray] = {}

    def __getitem__(self, node: int) -> GridArray:
        return self.values[node]

    def store(self, node: int, values: GridArray) -> None:
        """Store a node's values, and drop those that no later node needs."""
        if self.uses[node]:
            self.values[node] = values
        for after in self.graph.follow[node]:
            if after >= 0:
                self.uses[after] -= 1
                if self.uses[after] == 0:
                    del self.values[int(after)]


def lower_values(
    graph: GameGraph,
    grid: Grid,
    layouts: Sequence[NearestLayout],
    *,
    thresholds: GridArray | None = None,
    keep_table: bool = True,
) -> Values:
    """The start's values under the best policy that remembers grid points; see the module."""
    table = _empty_table(graph, grid) if keep_table else None
    sweep = lower_sweep(graph, grid, layouts, thresholds=thresholds, table=table)
    value, won = deque(sweep, maxlen=1).pop()
    return Values(grid, value, won, lower_rounding(graph, layouts), table)


def lower_rounding(graph: GameGraph, layouts: Sequence[NearestLayout]) -> float:
    """The error of a value after all rounds, relative to the probability of winning."""
    terms = max(layout.law.terms for layout in layouts)
    return 2 * (int(graph.depth[graph.start]) + 1) * (terms + 64) * UNIT


def _stopped(z: GridArray) -> GridArray:
    """The value where the game ends at z, and e^-z times the probability of winning there."""
    return np.stack((payoff(z), np.where(z > 0.0, np.exp(-np.maximum(z, 0.0)), 0.0)))


def lower_sweep(
    graph: GameGraph,
    grid: Grid,
    layouts: Sequence[NearestLayout],
    *,
    thresholds: GridArray | None = None,
    table: np.ndarray | None = None,
) -> Iterator[tuple[GridArray, GridArray]]:
    """Yield every node's values and e^-z times the probability of winning in experiment 1."""
    pad = _padding([layout.law for layout in layouts])
    line = grid.outside(-pad, grid.points + 2 * pad)
    stopped = _stopped(line)
    kept = LiveValues(graph)
    window = Windows(graph, grid, [layout.law for layout in layouts], thresholds)
    inner = slice(pad, pad + grid.points)
    for node in in_stages(range(graph.nodes), "lower end"):
        if thresholds is not None:
            stopped = _stopped(line - thresholds[node])
        both = stopped.copy()
        here = window[node]
        start, length = pad + here.start, here.stop - here.start
        gain, won = both[:, start : start + length]
        chosen = np.full(length, CLOSED, dtype=np.int16)
        for option in np.flatnonzero(graph.follow[node] >= 0).tolist():
            value, value_won = kept[int(graph.follow[node, option])]
            reached = layouts[option].value(value, value_won, start, length)
            better = reached >= gain
            np.copyto(gain, reached, where=better)
            chosen[better] = option
        for option in np.unique(chosen[chosen >= 0]).tolist():
            reached = layouts[option].won(kept[int(graph.follow[node, option])][1], start, length)
            np.copyto(won, reached, where=chosen == option)
        if table is not None:
            table[node, here] = chosen
        np.maximum(gain, 0.0, out=gain)
        kept.store(node, both)
        yield both[0, inner], both[1, inner]
