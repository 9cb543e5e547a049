"""Games whose losses together cannot exceed epsilon: delta(epsilon) is 0, and no grid is needed.

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
from simulator.worst.menu import Entry, FixedEntry
from simulator.worst.recursion import Values

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


def _largest_loss(entry: Entry, game: Game) -> float:
    """The largest loss of a round of an entry, in the experiment that is searched."""
    if not isinstance(entry, FixedEntry):
        return max(entry.lengths)
    law = entry.law.reversed() if game.experiment else entry.law
    return math.inf if law.infinite_mass else max(law.support[1], 0.0)


def _largest_under_filter(game: Game) -> float:
    """A bound on the loss of a play from the filter's sum; infinite where none is known."""
    filter_ = game.filter
    if not isinstance(filter_, Filter) or not filter_.prices_vary or filter_.observes:
        return math.inf
    fixed = all(isinstance(entry, FixedEntry) for entry in game.menu)
    if not fixed and not isinstance(filter_, SumFilter):
        return math.inf
    losses, prices = [], []
    for entry in game.menu:
        losses.append(_largest_loss(entry, game))
        if isinstance(entry, FixedEntry):
            option = entry.options(0, 1.0)[0]
            prices.append(price_of(filter_, option, game.relation)[0])
        else:  # of the sum filter, whose cost is the largest loss itself
            prices.append(filter_.price(entry.guarantee)[0])
    try:
        budget = budget_of(filter_, max(prices))
    except NotApplicable:
        return math.inf
    costs = [(loss, budget.cost(price)) for loss, price in zip(losses, prices) if loss > 0.0]
    rates = [loss / cost if cost > 0.0 else math.inf for loss, cost in costs]
    return budget.possible * max(rates, default=0.0)


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
