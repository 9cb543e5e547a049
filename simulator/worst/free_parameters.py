"""A free parameter under a filter, priced too low: what the upper end may ask.

Every epsilon of a cell pays what the cell's lower end costs and plays the law of its upper end. A
cell spans a share of its cost that shrinks as the grid is refined, and costs whole units of the
budget, so nothing is lost to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import scipy

from simulator.foundations.errors import NotApplicable
from simulator.theory.guarantees.families import Guarantee
from simulator.worst.filter_graphs import cost_of
from simulator.worst.game import Game
from simulator.worst.menu import FreeEntry, Option

COARSEST = 4
"""Units that the cheapest free parameter costs on level 0; twice as many on each next."""


def budget_unit(game: Game, level: int) -> float:
    """The unit of the budget on a level."""
    cost = cost_function(game)
    low = min(cost(e.promise_of(e.low)) for e in game.menu if isinstance(e, FreeEntry))
    if not 0.0 < low < math.inf:
        raise NotApplicable("the filter admits no free parameter of the menu, or charges nothing")
    others = [cost(e.guarantee) for e in game.menu if not isinstance(e, FreeEntry)]
    return min([low / (COARSEST * 2**level), *(cost for cost in others if cost > 0.0)])


def cost_function(game: Game) -> Callable[[Guarantee], float]:
    """What the filter charges, of the sum that it keeps."""
    filter_ = game.filter
    assert filter_ is not None
    largest = max((entry.guarantee for entry in game.menu), key=lambda g: g.core.pure_epsilon)
    return lambda guarantee: cost_of(filter_, guarantee, largest)


def cell_options(game: Game, step: float, unit: float, level: int) -> list[Option]:
    """FixedEntry entries as they are, free ones in cells."""
    cost = cost_function(game)
    found: list[Option] = []
    for place, entry in enumerate(game.menu):
        if isinstance(entry, FreeEntry):
            found += _cells(entry, place, cost, unit, 1.0 + 1.0 / (COARSEST * 2**level))
        else:
            found += entry.options(place, step)
    return game.seen(found)


def _cells(
    entry: FreeEntry, place: int, cost: Callable[[Guarantee], float], unit: float, ratio: float
) -> list[Option]:
    def priced(epsilon: float) -> float:
        return cost(entry.promise_of(epsilon)) / unit

    found = []
    below, high = entry.low, _largest_admitted(priced, entry.low, entry.high)
    units = math.floor(priced(below) * (1.0 + 1e-12) + 1e-9)
    while True:
        units = max(units + 1, math.floor(units * ratio))
        last = priced(high) <= units
        top = high if last else _root(priced, units, below, high)
        found.append(entry.option(place, top, below))
        if last:
            return found
        below = top


def _root(priced: Callable[[float], float], units: float, low: float, high: float) -> float:
    """The epsilon that costs so many units."""
    return float(
        scipy.optimize.brentq(
            lambda epsilon: priced(epsilon) - units, low, high, xtol=1e-15, rtol=1e-14
        )
    )


def _largest_admitted(priced: Callable[[float], float], low: float, high: float) -> float:
    """The largest epsilon that the filter admits alone, to rounding: no cell goes beyond it."""
    if math.isfinite(priced(high)):
        return high
    while high - low > 1e-15 * high:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if math.isfinite(priced(middle)) else (low, middle)
    return low
