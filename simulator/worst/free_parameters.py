"""Options of the upper end for a free parameter under a filter.

Every epsilon of a cell has the cost of the cell's lower end and the law of its upper end. Cells
become narrower as the grid is refined. Costs are whole units of the budget, so they have no
rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from simulator.foundations.errors import NotApplicable
from simulator.theory.guarantees.families import Guarantee
from simulator.theory.inverse import crossing
from simulator.worst.filter_graphs import cost_of
from simulator.worst.game import Game
from simulator.worst.menu import FreeEntry, Option

COARSEST = 4
"""Cost in units of the least free parameter on level 0; it doubles on each next level."""


def budget_unit(game: Game, level: int) -> float:
    """The unit of the budget on a level; raises NotApplicable where there is none."""
    cost = cost_function(game)
    low = min(cost(e.promise_of(e.low)) for e in game.menu if isinstance(e, FreeEntry))
    if not 0.0 < low < math.inf:
        raise NotApplicable("the filter admits no free parameter of the menu, or charges nothing")
    others = [cost(e.guarantee) for e in game.menu if not isinstance(e, FreeEntry)]
    return min([low / (COARSEST * 2**level), *(cost for cost in others if cost > 0.0)])


def cost_function(game: Game) -> Callable[[Guarantee], float]:
    """The cost of a round in the filter's sum, as a function of the guarantee."""
    filter_ = game.filter
    assert filter_ is not None
    largest = max((entry.guarantee for entry in game.menu), key=lambda g: g.core.pure_epsilon)
    return lambda guarantee: cost_of(filter_, guarantee, largest)


def cell_options(game: Game, step: float, unit: float, level: int) -> list[Option]:
    """The options of all entries, those of free ones in cells."""
    cost = cost_function(game)
    found: list[Option] = []
    for place, entry in enumerate(game.menu):
        if isinstance(entry, FreeEntry):
            found += _cells(entry, place, cost, unit, 1.0 + 1.0 / (COARSEST * 2**level))
        else:
            found += entry.options(place, step)
    return game.in_experiment(found)


def _cells(
    entry: FreeEntry, place: int, cost: Callable[[Guarantee], float], unit: float, ratio: float
) -> list[Option]:
    def cost_in_units(epsilon: float) -> float:
        return cost(entry.promise_of(epsilon)) / unit

    found = []
    below, high = entry.low, _largest_admitted(cost_in_units, entry.low, entry.high)
    units = math.floor(cost_in_units(below) * (1.0 + 1e-12) + 1e-9)
    while True:
        units = max(units + 1, math.floor(units * ratio))
        last = cost_in_units(high) <= units
        top = high if last else _root(cost_in_units, units, below, high)
        found.append(entry.option(place, top, below))
        if last:
            return found
        below = top


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
