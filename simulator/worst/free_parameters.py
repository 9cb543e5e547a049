"""Options of the upper end for a free parameter under a filter.

Every epsilon of a cell has the cost of the cell's lower end and the law of its upper end. Cells
become narrower as the grid is refined. Costs are whole units of the budget, so they have no
rounding. Where a library's filter keeps one sum and every free entry is randomized response, cells
of one unit are of second order (:mod:`simulator.worst.between_costs`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from simulator.foundations.errors import NotApplicable
from simulator.foundations.roots import crossing
from simulator.theory.filters.interface import Filter
from simulator.theory.guarantees.interface import Guarantee
from simulator.worst.between_costs import bulge_of, is_response
from simulator.worst.filter_graphs import cost_of, filter_graphs
from simulator.worst.filters.sum_budgets import Budget, budget_of
from simulator.worst.game import Game
from simulator.worst.game_graph import GameGraph, budget_graph
from simulator.worst.menu import FreeEntry, Option

COARSEST = 4
"""Cost in units of the least free parameter on level 0; it doubles on each next level."""
_FINEST = 64
"""Fixed costs below this part of the least free one do not make the unit smaller, where a number of
rounds ends the game."""
RISE = 2.0**0.5
"""Growth of that cost from one level to the next, where cells are of second order: from level 0 on,
and 4 on level 2."""
LEAST_BUDGETS = 128
"""Least number of units of the budget on level 0, where cells are of second order."""
NARROW = 15
"""Cells of second order are those below this many times the least cost."""


@dataclass(frozen=True)
class FreeGame:
    """The upper end of a game with free parameters, and the lower one where budgets are whole.

    Attributes
    ----------
    options : the options of all entries, those of free ones in cells.
    possible : the graph of plays that are possible.
    certain : the graph of plays that are admitted, of the cells' upper ends, where cells are of
        second order; else None, as the following.
    bulges : of each option (:class:`~simulator.worst.between_costs.BetweenCosts`).
    share : the part of the last unit that the budget holds.
    """

    options: list[Option]
    possible: GameGraph
    certain: GameGraph | None = None
    bulges: list[float | None] | None = None
    share: float = 1.0


def free_game(game: Game, step: float, level: int) -> FreeGame:
    """The upper end on a level; raises NotApplicable where no budget is known."""
    limits = _limits_of_responses(game) if level >= 0 else None
    if limits is not None:
        unit = budget_unit(game, RISE ** (level - 2))
        unit /= math.ceil(LEAST_BUDGETS * RISE**level * unit / limits.possible)
        cells, bulges = cell_options(game, step, unit, 0.2 / 2.0**level, narrow=True)
        cost = cost_function(game)
        least = [math.floor(cost(o.least) / unit * (1.0 + 1e-12) + 1e-9) for o in cells]
        most = [math.ceil(cost(o.guarantee) / unit * (1.0 - 1e-12) - 1e-9) for o in cells]
        budget = limits.possible / unit * (1.0 + 1e-9)  # costs of cells are roots
        if game.rounds is None or game.rounds * min(least) > budget:
            possible = budget_graph(least, math.floor(budget) + 1)
            certain = budget_graph(most, math.floor(limits.certain / unit + 1e-9))
            return FreeGame(cells, possible, certain, bulges, budget - math.floor(budget))
    unit = budget_unit(game, 2.0**level)
    cells, _ = cell_options(game, step, unit, 1.0 / (COARSEST * 2.0**level))
    graph = filter_graphs(game.filter, cells, game.rounds, 0, game.relation, unit=unit).possible
    return FreeGame(cells, graph)


def _limits_of_responses(game: Game) -> Budget | None:
    """The filter's budget, where every free entry is randomized response; else None."""
    free = [entry for entry in game.menu if isinstance(entry, FreeEntry)]
    ends = [(entry.law_of(e), e) for entry in free for e in (entry.low, entry.high)]
    if not isinstance(game.filter, Filter) or not all(is_response(*end) for end in ends):
        return None
    if any(game.filter.price(entry.guarantee)[1] > 0.0 for entry in game.menu):
        return None
    budget = budget_of(game.filter, game.filter.price(_largest(game))[0])
    return budget if budget.possible > 0.0 else None


def budget_unit(game: Game, fineness: float) -> float:
    """The unit of the budget, for a least free parameter of ``COARSEST * fineness`` units.

    Raises NotApplicable where there is none.
    """
    cost = cost_function(game)
    free = [entry for entry in game.menu if isinstance(entry, FreeEntry)]
    low = min(cost(entry.promise_of(entry.low)) for entry in free)
    if low == 0.0 and game.rounds is not None:  # rounds that cost nothing end with their number
        low = min(_largest_cost(entry, cost) for entry in free) or 1.0
    if not 0.0 < low < math.inf:
        raise NotApplicable("the filter admits no free parameter of the menu, or charges nothing")
    others = [cost(e.guarantee) for e in game.menu if not isinstance(e, FreeEntry)]
    finest = low / (_FINEST * fineness) if game.rounds is not None else 0.0
    least = min([low / (COARSEST * fineness), *(cost for cost in others if cost > finest)])
    return low / math.ceil(low / least - 1e-9)


def _largest_cost(entry: FreeEntry, cost: Callable[[Guarantee], float]) -> float:
    """The cost of the largest parameter that is admitted as a first round."""

    def at(epsilon: float) -> float:
        return cost(entry.promise_of(epsilon))

    return at(_largest_admitted(at, entry.low, entry.high))


def _largest(game: Game) -> Guarantee:
    return max((entry.guarantee for entry in game.menu), key=lambda g: g.core.pure_epsilon)


def cost_function(game: Game) -> Callable[[Guarantee], float]:
    """The cost of a round in the filter's sum, as a function of the guarantee."""
    filter_ = game.filter
    assert filter_ is not None
    largest = _largest(game)
    return lambda guarantee: cost_of(filter_, guarantee, largest)


def cell_options(
    game: Game, step: float, unit: float, growth: float, *, narrow: bool = False
) -> tuple[list[Option], list[float | None]]:
    """The options of all entries, those of free ones in cells, with the cells' bulges.

    The cost of a cell's upper end is ``1 + growth`` times that of its lower end, and at least a
    unit more. With ``narrow`` the first cells are of one unit and have a bulge; elsewhere it is
    None.
    """
    cost = cost_function(game)
    options: list[Option] = []
    bulges: list[float | None] = []
    for place, entry in enumerate(game.menu):
        found = (
            _cells(entry, place, cost, unit, 1.0 + growth, narrow=narrow)
            if isinstance(entry, FreeEntry)
            else [(option, None) for option in entry.options(place, step)]
        )
        options += [option for option, _ in found]
        bulges += [bulge for _, bulge in found]
    return game.in_experiment(options), bulges


def _cells(
    entry: FreeEntry,
    place: int,
    cost: Callable[[Guarantee], float],
    unit: float,
    ratio: float,
    *,
    narrow: bool,
) -> list[tuple[Option, float | None]]:
    def cost_in_units(epsilon: float) -> float:
        return cost(entry.promise_of(epsilon)) / unit

    found: list[tuple[Option, float | None]] = []
    below, high = entry.low, _largest_admitted(cost_in_units, entry.low, entry.high)
    units = math.floor(cost_in_units(below) * (1.0 + 1e-12) + 1e-9)
    end = NARROW * units if narrow and abs(cost_in_units(below) - units) < 1e-9 else units
    if end > units:
        found.append((entry.option(place, below, below), None))
    while True:
        whole = units < end
        units = units + 1 if whole else max(units + 1, math.floor(units * ratio))
        last = cost_in_units(high) <= units
        top = high if last else _root(cost_in_units, units, below, high)
        whole = whole and (not last or cost_in_units(high) > units - 1e-9)
        bulge = bulge_of(cost_in_units, below, top) if whole else math.inf
        if math.isinf(bulge):
            end = units  # each narrow cell follows one
        found.append((entry.option(place, top, below), None if math.isinf(bulge) else bulge))
        if last:
            return found
        below = top
        # a cost may jump by several units
        units = max(units, math.floor(cost_in_units(below) * (1.0 + 1e-12) + 1e-9))


def _root(cost_in_units: Callable[[float], float], units: float, low: float, high: float) -> float:
    """The epsilon whose cost is ``units``."""
    return crossing(lambda e: cost_in_units(e) - units, low, high, xtol=1e-15, rtol=1e-14)


def _largest_admitted(cost_in_units: Callable[[float], float], low: float, high: float) -> float:
    """The largest epsilon that the filter admits as a first round, up to rounding."""
    if math.isfinite(cost_in_units(high)):
        return high
    while high - low > 1e-15 * high:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if math.isfinite(cost_in_units(middle)) else (low, middle)
    return low
