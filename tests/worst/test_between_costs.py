"""Free randomized response between whole costs, against plays as they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from simulator.theory.filters.interface import Filter
from simulator.theory.filters.renyi import RenyiFilter, ZCDPFilter
from simulator.theory.filters.sums import SumFilter
from simulator.theory.laws.extremal import randomized_response
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.worst import Game, entries
from simulator.worst.between_costs import BetweenCosts, bulge_of, is_response
from simulator.worst.filters.sum_budgets import budget_of
from simulator.worst.free_parameters import free_game
from simulator.worst.grid import GridArray, outward_layout
from simulator.worst.grid_pass import grid_for, run_pass
from simulator.worst.recursion import extended, payoff, upper_sweep
from tests.helpers.cases import case

LOW, HIGH = 0.5, 0.9
FILTERS = (ZCDPFilter(2.0, 2e-2), RenyiFilter(1.8, 2e-2), SumFilter(1.37))


def game_of(filter_: Filter) -> Game:
    return Game(entries(f"randomized-response:{LOW}..{HIGH}"), None, filter_)


def played(filter_: Filter, epsilon: float, parameters: list[float]) -> float:
    """The largest value of plays of these parameters that the filter's own step admits."""
    step = type(filter_).step

    def value(state: Any, z: float) -> float:
        best = max(0.0, -math.expm1(-z))
        for e in parameters:
            admitted, after = step(state, e, 0.0)
            if not admitted:
                break  # a larger parameter costs more
            p = 1.0 / (1.0 + math.exp(-e))
            best = max(best, p * value(after, z + e) + (1.0 - p) * value(after, z - e))
        return best

    return value(filter_.initial, -epsilon)


CHOICES = np.linspace(LOW, HIGH, 51).tolist()


def test_the_ends_enclose_plays_that_the_filter_admits() -> None:
    for filter_ in FILTERS:
        for epsilon in (0.3, 0.8):
            with case(filter_.name, epsilon):
                truth = played(filter_, epsilon, CHOICES)
                found = run_pass(game_of(filter_), epsilon, 0).delta(epsilon)
                assert truth <= found.upper < 1.01 * truth
                assert 0.98 * truth < found.lower


def test_a_fixed_entry_beside_the_free_one_counts() -> None:
    filter_ = FILTERS[0]
    menu = entries(f"randomized-response:{LOW}..{HIGH},randomized-response:0.42")
    free = free_game(Game(menu, None, filter_), 0.05, 0)
    assert free.bulges is not None
    assert free.bulges[-1] is None
    truth = played(filter_, 1.3, [0.42, *CHOICES])
    assert truth > 1e-3 > played(filter_, 1.3, CHOICES)  # four rounds in place of two
    found = run_pass(Game(menu, None, filter_), 1.3, 0).delta(1.3)
    assert truth <= found.upper < 1.02 * truth
    few = Game(menu, 3, filter_)
    assert free_game(few, 0.05, 0).bulges is None  # the rounds count too


def largest_gain(filter_: Filter, low: float, high: float) -> float:
    """The largest gain of a round over upper values, relative, at any budget and parameter."""
    game = Game(entries(f"randomized-response:{low}..{high}"), None, filter_)
    step, level = low / 4.0, 0
    free = free_game(game, step, level)
    assert free.bulges is not None
    layouts = [outward_layout(option.law, step) for option in free.options]
    grid = grid_for(step, 0.5, free.possible, layouts, free.options)
    between = BetweenCosts(free.bulges, payoff(grid.z), free.share)
    values = [*upper_sweep(free.possible, grid, layouts, between=between)]
    budget = budget_of(filter_, high)
    least = budget.cost(low)
    unit = least / round(least * (len(values) - 2 + free.share) / budget.possible)
    generator = np.random.default_rng(3)
    worst = 0.0
    for _ in range(600):
        e = low + (high - low) * generator.random() ** 2
        left = budget.possible / unit * generator.random()
        after = left - budget.cost(e) / unit
        if after < 0.0:
            continue
        layout = outward_layout(randomized_response(e), step)
        pad = max(-layout.first, layout.first + len(layout.weights))
        mean = layout.mean(extended(between_nodes(values, after), grid, pad), pad, grid.points)
        now = between_nodes(values, left)
        worst = max(worst, float(((mean - now) / (now + 1e-6)).max()))
    return worst


def between_nodes(values: list[GridArray], budget: float) -> GridArray:
    below = math.floor(budget)
    return values[below] + (budget - below) * (values[below + 1] - values[below])


def without_bulges(self: BetweenCosts, option: int, here: slice, upper: GridArray) -> GridArray:
    self._bulges = [None if bulge is None else 0.0 for bulge in self._bulges]
    return EXACT(self, option, here, upper)


def of_the_ends_alone(self: BetweenCosts, option: int, here: slice, upper: GridArray) -> GridArray:
    known, lower = self._before.get(option), self._lower
    before = None if known is None else known[1, here].copy()
    found = EXACT(self, option, here, upper)
    if self._bulges[option] is None:
        return found
    return lower if before is None else np.maximum(lower, before)


EXACT = BetweenCosts.__call__


@pytest.mark.nightly
def test_no_round_gains_at_any_budget_between_whole_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """The inequality of the induction; it fails without the bulges, and for the ends alone."""
    for filter_ in (ZCDPFilter(2.0, 1e-3), SumFilter(2.0)):
        with case(filter_.name):
            # the values between grid points of the loss are convex up to a part in a million
            assert largest_gain(filter_, 0.15, 0.9) < 2e-6
    for broken in (without_bulges, of_the_ends_alone):
        with case(broken.__name__):
            monkeypatch.setattr(BetweenCosts, "__call__", broken)
            assert largest_gain(ZCDPFilter(2.0, 1e-3), 0.15, 0.9) > 1e-4


def test_a_bulge_is_the_largest_distance_between_share_and_cost() -> None:
    costs = {
        "squares": lambda e: e * e,
        "zcdp": lambda e: e * math.tanh(e / 2.0),
        "sum": lambda e: e,
    }
    for name, cost in costs.items():
        for low, high in ((0.1, 0.12), (0.5, 0.9), (1.0, 3.0)):
            with case(name, low):
                unit = cost(high) - cost(low)
                e = np.linspace(low, high, 2001)[1:-1]
                spent = np.array([cost(x) - cost(low) for x in e.tolist()]) / unit
                tanh = np.tanh(e / 2.0)
                share = (tanh - math.tanh(low / 2)) / (math.tanh(high / 2) - math.tanh(low / 2))
                bulge = bulge_of(lambda x: cost(x) / unit, low, high)  # noqa: B023
                needed = max(
                    (share - spent).max(),
                    ((share - spent) / spent).max() / 4,
                    ((share - spent) / (1.0 - spent)).max() / 4,
                )
                assert needed <= bulge <= 1.6 * needed + 1e-8
    assert (
        bulge_of(lambda e: math.sqrt(e) / (math.sqrt(0.2) - math.sqrt(0.1)), 0.1, 0.2) == math.inf
    )


def test_only_randomized_response_has_cells_of_second_order() -> None:
    assert is_response(randomized_response(0.3), 0.3)
    for law in (randomized_response(0.3, 1e-3), LaplaceLaw(0.3), randomized_response(0.31)):
        assert not is_response(law, 0.3)
    game = Game(entries("laplace:0.5..0.9"), None, FILTERS[0])
    assert free_game(game, 0.05, 0).bulges is None


@pytest.mark.nightly
def test_a_free_response_of_many_rounds_is_within_an_eighth() -> None:
    """The ends were 3.9 times apart after as long."""
    game = Game(entries("randomized-response:0.01..0.2"), None, ZCDPFilter(1.0, 1e-6))
    found = run_pass(game, 1.0, 2).delta(1.0)
    assert found.lower == pytest.approx(2.615e-7, rel=1e-3)
    assert found.lower < found.upper < 1.135 * found.lower
