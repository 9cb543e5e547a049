"""The backward recursion over a game's nodes, and the two ends that it gives.

V(node, z) is the most that any adversary can still get from a node at the loss z past epsilon:
(1 - e^-z)_+ where the game ends, and otherwise the largest mean of V over what an open option
leads to. Playing on never costs anything: V is convex in e^-z, whose mean a round does not raise.

The upper end is this recursion with every law spread outward (:func:`~simulator.worst.grid.spread`)
and every operation's rounding added. Between grid points the chord in e^-z is above V.

The lower end follows one adversary: it remembers the node and the nearest grid point, and moves by
a table. The two numbers that the recursion carries are its probabilities of winning in the two
experiments, so it is the value of a policy that exists and can be played.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.theory.laws.base import Floats
from simulator.theory.outward import UNIT
from simulator.theory.range_recursion import best_in_cells
from simulator.worst.arena import Arena
from simulator.worst.grid import Grid, Layout, NearestLayout, weighted

UNDERFLOW = 1e-300


@dataclass(frozen=True)
class Range:
    """Any loss t of a mechanism of bounded range, beside those on the grid.

    Attributes
    ----------
    width : the range in nats, and ``cells`` in steps of the grid.
    options : the places of the range's own options on the grid, whose nodes it leads to.
    """

    width: float
    cells: int
    options: tuple[int, ...]


def payoff(z: Floats) -> Floats:
    """(1 - e^-z)_+, what the loss z past epsilon is worth at the end."""
    return np.maximum(0.0, -np.expm1(-np.maximum(z, 0.0)))


@dataclass(frozen=True)
class Values:
    """Values of the start over a grid, and how they were reached.

    Attributes
    ----------
    grid : the grid, of losses past epsilon: the value at -epsilon is delta(epsilon).
    value : shape (points,).
    won : shape (points,): of the lower end, e^-z times the probability of winning in experiment 1.
    rounding : the relative error of ``value``, at most.
    table : int16, shape (nodes, points): the option to play, CLOSED where the game has ended; None
        where it was not kept.
    """

    grid: Grid
    value: Floats
    won: Floats | None
    rounding: float
    table: np.ndarray | None = None

    def upper(self, epsilon: float, loss_error: float = 0.0) -> float:
        """An upper end of delta(epsilon): on the chord in e^-z, all losses moved against us."""
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
            # a value of the lattice itself; it falls to the left no faster than its chord beyond
            beside = float(self.value[min(place + 1, grid.points - 1)])
            fall = (beside - value) * math.expm1(max(-moved, 0.0)) / -math.expm1(-grid.step)
            return max(0.0, value * (1.0 - self.rounding) - fall)
        won = float(self.won[place])
        found = value - won * math.expm1(-moved)
        return max(0.0, found - self.rounding * (value + won))


def _beside(layouts: Sequence[Layout]) -> int:
    return max(max(-low, high, 1) for low, high in (layout.reach for layout in layouts))


def upper_values(
    arena: Arena,
    grid: Grid,
    layouts: Sequence[Layout],
    ranges: Sequence[Range] = (),
    keep_table: bool = False,
) -> Values:
    """Run the recursion with outward laws. See the module."""
    pad = max([_beside(layouts), *(r.cells for r in ranges)])
    ending = payoff(grid.z).astype(layouts[0].weights.dtype)
    right = np.exp(-grid.outside(grid.points, pad)).astype(ending.dtype)
    uses = arena.uses
    kept: dict[int, Floats] = {}
    least = np.ones(arena.nodes)  # E1 of what remains of a certain win
    duals = [float(layout.weights @ np.exp(-_steps(layout, grid))) for layout in layouts]
    duals = [1.0 if abs(dual - 1.0) < 1e-13 else dual for dual in duals]
    table = np.full((arena.nodes, grid.points), -1, dtype=np.int16) if keep_table else None
    for node in range(arena.nodes):
        best = ending.copy()
        chosen = None if table is None else table[node]
        worst = 1.0
        for option in _open(arena, node):
            after = int(arena.follow[node, option])
            reached = layouts[option].mean(kept[after], pad, grid.points)
            worst = min(worst, least[after] * min(duals[option], 1.0))
            if chosen is None:
                np.maximum(best, reached, out=best)
            else:
                better = reached >= best  # playing on is never worse than stopping
                best[better] = reached[better]
                chosen[better] = option
        for free in ranges:
            for after in {int(arena.follow[node, option]) for option in free.options} - {-1}:
                inside = best_in_cells(kept[after][::-1], free.cells, free.width)[::-1]
                start = pad - free.cells
                assert start >= 0
                trimmed = inside[start : start + grid.points] if start else inside
                np.maximum(best, trimmed, out=best)
        least[node] = worst
        np.minimum(best, 1.0, out=best)
        kept[node] = np.concatenate((np.full(pad, best[0]), best, 1.0 - worst * right))
        _release(arena, node, uses, kept)
    value = kept[arena.start][pad : pad + grid.points]
    terms = max(layout.terms for layout in layouts) + (12 if ranges else 0)
    each = (terms + 2) * float(np.finfo(value.dtype).eps)
    each += max(layout.weight_error for layout in layouts)
    rounding = (int(arena.depth[arena.start]) + 1) * each + 16 * UNIT
    return Values(grid, value, None, rounding, table)


def _steps(layout: Layout, grid: Grid) -> Floats:
    return (layout.first + np.arange(len(layout.weights))) * grid.step


def _open(arena: Arena, node: int) -> list[int]:
    return [int(option) for option in np.flatnonzero(arena.follow[node] >= 0)]


def _release(arena: Arena, node: int, uses: np.ndarray, kept: dict[int, Floats]) -> None:
    """Let go of the values that no later node asks for."""
    for after in arena.follow[node]:
        if after >= 0:
            uses[after] -= 1
            if uses[after] == 0:
                del kept[int(after)]


def lower_values(
    arena: Arena, grid: Grid, layouts: Sequence[NearestLayout], keep_table: bool = True
) -> Values:
    """Follow the best policy that remembers grid points. See the module."""
    pad = _beside([layout.law for layout in layouts])
    z = grid.outside(-pad, grid.points + 2 * pad)
    ending, ending_won = payoff(z), np.where(z > 0.0, np.exp(-np.maximum(z, 0.0)), 0.0)
    uses = arena.uses
    kept: dict[int, Floats] = {}
    table = np.full((arena.nodes, grid.points), -1, dtype=np.int16) if keep_table else None
    inner = slice(pad, pad + grid.points)
    for node in range(arena.nodes):
        best, best_won = ending.copy(), ending_won.copy()
        gain, won = best[inner], best_won[inner]
        for option in _open(arena, node):
            value, value_won = kept[int(arena.follow[node, option])]
            layout = layouts[option]
            law = layout.law
            reached = law.mean(value, pad, grid.points)
            reached += weighted(law.first, layout.gained, value_won, pad, grid.points)
            better = reached >= gain
            if not better.any():
                continue
            reached_won = weighted(law.first, layout.tilted, value_won, pad, grid.points)
            gain[better] = reached[better]
            won[better] = reached_won[better]
            if table is not None:
                table[node][better] = option
        np.maximum(gain, 0.0, out=gain)
        kept[node] = np.stack((best, best_won))
        _release(arena, node, uses, kept)
    terms = max(layout.law.terms for layout in layouts)
    rounding = 2 * (int(arena.depth[arena.start]) + 1) * (terms + 8) * UNIT
    value, won = (row[inner] for row in kept[arena.start])
    return Values(grid, value, won, rounding, table)

