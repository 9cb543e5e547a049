"""Games that need no grid, or no filter.

Where all losses together cannot exceed epsilon, delta(epsilon) is 0, and no grid is needed.

The loss of a play is at most the number of rounds times the largest loss of one. Where a filter
keeps a sum of costs, it is at most the sum's limit times the largest loss per unit of cost.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from simulator.foundations.errors import NotApplicable
from simulator.foundations.ties import reached
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.sums import SumFilter
from simulator.worst.filter_graphs import price_of
from simulator.worst.filters.sum_budgets import budget_of
from simulator.worst.game import Game
from simulator.worst.game_graph import CLOSED, GameGraph
from simulator.worst.grid import Grid
from simulator.worst.grid_pass import GridPass
from simulator.worst.menu import Entry, FixedEntry, FreeEntry
from simulator.worst.recursion import Values

_CELLS = 400
"""Cells of a free parameter."""
_ROUNDING = 1e-12
_IDLE = 1e-6
"""The share of its budget that an idle filter leaves at least."""
FEW = 160
"""Rounds for whose rounding a filter's limit is allowed: it rounds its own sums outward."""


def reaches(game: Game, epsilon: float) -> bool:
    """Whether the loss of a play may exceed epsilon; False only where none does.

    True with a user's filter, whose contract only a search checks. Losses that equal epsilon up to
    the rounding of stated numbers do not exceed it (:mod:`simulator.foundations.ties`).
    """
    if game.filter is not None and not isinstance(game.filter, Filter):
        return True
    most = max(_largest_loss(entry, game) for entry in game.menu)
    if game.rounds is not None and game.rounds * most <= reached(epsilon, game.rounds):
        return False
    return _largest_under_filter(game) > reached(epsilon, FEW)


def without_idle_filter(game: Game) -> Game:
    """The game without its filter, where that admits all its rounds, whatever they are."""
    filter_ = game.filter
    if game.rounds is None or not isinstance(filter_, Filter):
        return game
    if not filter_.prices_vary or filter_.observes:
        return game
    if any(filter_.price(entry.guarantee)[1] > 0.0 for entry in game.menu):
        return game
    price = max(each for entry in game.menu for _, each in _losses_and_prices(entry, game, filter_))
    try:
        budget = budget_of(filter_, price)
    except NotApplicable:
        return game
    spent = game.rounds * budget.cost(price) * (1.0 + _IDLE)
    return replace(game, filter=None) if spent <= budget.certain else game


def _largest_loss(entry: Entry, game: Game) -> float:
    """The largest loss of a round of an entry, in the experiment that is searched."""
    if not isinstance(entry, FixedEntry):
        return max(entry.lengths)
    law = entry.law.reversed() if game.experiment else entry.law
    return math.inf if law.infinite_mass else max(law.support[1], 0.0)


def _largest_under_filter(game: Game) -> float:
    """A bound on the loss of a play from the filter's sum; infinite where none is known.

    With k rounds and a sum of costs within B, it is lambda B + k max (loss - lambda cost)_+ for
    every lambda >= 0; without a number of rounds the maximum must be 0.
    """
    filter_ = game.filter
    if not isinstance(filter_, Filter) or not filter_.prices_vary or filter_.observes:
        return math.inf
    found = [pair for entry in game.menu for pair in _losses_and_prices(entry, game, filter_)]
    try:
        budget = budget_of(filter_, max(price for _, price in found))
    except NotApplicable:
        return math.inf
    pairs = [(loss, budget.cost(price)) for loss, price in found if loss > 0.0]
    losses, costs = (np.array(each, dtype=np.float64) for each in zip(*pairs or [(0.0, 1.0)]))
    if not np.isfinite(losses).all():
        return math.inf
    with np.errstate(divide="ignore", over="ignore"):
        rates = losses / costs
    least = float(rates.max()) * budget.possible if np.isfinite(rates).all() else math.inf
    if game.rounds is None:
        return least
    finite = rates[np.isfinite(rates) & (rates > 0.0)]
    for slope in np.unique([*finite, *finite * 0.5]).tolist():
        beyond = max(0.0, float((losses - slope * costs).max()))
        least = min(least, (slope * budget.possible + game.rounds * beyond) * (1.0 + _ROUNDING))
    return least


def _losses_and_prices(entry: Entry, game: Game, filter_: Filter) -> list[tuple[float, float]]:
    """A loss that a round does not exceed, and the least price at which it has it.

    One pair for a mechanism, and one for each cell of a free parameter.
    """
    if isinstance(entry, FixedEntry):
        option = entry.options(0, 1.0)[0]
        price = price_of(filter_, option, game.relation)[0]
    else:
        price = filter_.price(entry.guarantee)[0]
    if not isinstance(entry, FreeEntry) or isinstance(filter_, SumFilter):
        # the sum filter's cost is the largest loss itself, whatever the parameter
        return [(_largest_loss(entry, game), price)]
    ends = np.geomspace(entry.low, entry.high, _CELLS + 1).tolist()
    ends[0], ends[-1] = entry.low, entry.high
    prices = [filter_.price(entry.promise_of(end))[0] for end in ends]
    return [*zip(ends[1:], prices), (entry.high, price)]


def nothing_won(game: Game, epsilon: float) -> GridPass:
    """The pass of a game in which no play wins at epsilon: its policy never plays."""
    step = game.step(0)
    grid = Grid(step, -1, 2, -epsilon)
    ends = Values(grid, np.ones(2), None, 0.0)
    return GridPass(
        step=step,
        options=[],
        graph=GameGraph(np.empty((1, 0), dtype=np.int32)),
        upper=ends,
        lower=replace(ends, value=np.zeros(2), table=np.full((1, 2), CLOSED, dtype=np.int16)),
        loss_error=0.0,
        nearest_layouts=[],
        outward_layouts=[],
        largest=epsilon,
    )
