"""Filters as games: what they admit, and games without an end."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory.filters.advanced import RogersFilter, WhitehouseFilter
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.renyi import RenyiFilter, ZCDPFilter
from simulator.theory.filters.sums import SumFilter
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP
from simulator.worst import Game, worst_case
from simulator.worst.filter_graphs import filter_graphs
from simulator.worst.filters.sum_budgets import budget_of
from simulator.worst.free_parameters import budget_unit, cell_options
from simulator.worst.game_graph import budget_graph, chain_graph, explored_graph
from simulator.worst.grid import nearest_layout, outward_layout
from simulator.worst.grid_pass import grid_for, run_pass
from simulator.worst.recursion import lower_values, upper_values
from tests.worst.brute_force import response, worst

EPSILONS = (0.3, 0.5)
MENU = ["randomized-response:0.3", "randomized-response:0.5"]


@pytest.mark.parametrize(
    "filter_",
    [
        SumFilter(1.2),
        WhitehouseFilter(2.0, 1e-2),
        ZCDPFilter(2.0, 1e-2),
        RenyiFilter(2.0, 1e-2),
        RogersFilter(4.0, 5e-2),
    ],
)
def test_a_filters_game_is_the_recursion_over_its_own_step(filter_: Filter) -> None:
    def admit(state: Any, option: int) -> Any:
        admitted, after = type(filter_).step(state, EPSILONS[option], 0.0)
        return after if admitted else None

    tables = [response(epsilon) for epsilon in EPSILONS]
    truth = worst(tables, 0.4, rounds=9, admit=admit, state=filter_.initial)
    found = worst_case(MENU, filter=filter_, epsilon=0.4, tolerance=1e-10)
    assert found.delta.lower * (1 - 1e-11) <= truth <= found.delta.upper * (1 + 1e-11)
    assert found.reached


def test_rounds_and_a_filter_both_count() -> None:
    filter_ = ZCDPFilter(2.0, 1e-2)

    def admit(state: Any, option: int) -> Any:
        admitted, after = ZCDPFilter.step(state, EPSILONS[option], 0.0)
        return after if admitted else None

    for rounds in (1, 2, 3):
        truth = worst(
            [response(e) for e in EPSILONS], 0.4, rounds, admit=admit, state=filter_.initial
        )
        found = worst_case(MENU, filter=filter_, rounds=rounds, epsilon=0.4)
        assert found.delta.lower * (1 - 1e-11) <= truth <= found.delta.upper * (1 + 1e-11)


@pytest.mark.parametrize(
    "kind", [SumFilter, WhitehouseFilter, ZCDPFilter, RenyiFilter, RogersFilter]
)
def test_a_budget_encloses_what_the_step_admits(kind: type[Filter]) -> None:
    """Random orders of random rounds: all within the certain budget pass, none beyond possible."""
    filter_ = kind(2.0) if kind is SumFilter else kind(2.0, 1e-3)
    largest = 0.4
    budget = budget_of(filter_, largest)
    assert budget.certain <= budget.possible
    rng = np.random.default_rng(3)
    for _ in range(30):
        state, spent = filter_.initial, 0.0
        for epsilon in rng.uniform(0.02, largest, 4000):
            cost = budget.cost(float(epsilon))
            admitted, after = type(filter_).step(state, float(epsilon), 0.0)
            if spent + cost <= budget.certain:
                assert admitted
            if spent + cost > budget.possible:
                assert not admitted
            if admitted:
                state, spent = after, spent + cost
        assert spent <= budget.possible


def test_a_free_parameter_is_enclosed_by_games_of_its_grid() -> None:
    """Any fixed choice of parameters is a policy of the free game."""
    filter_ = ZCDPFilter(2.0, 1e-2)
    free = worst_case(
        "randomized-response:0.2..0.6", filter=filter_, epsilon=0.4, tolerance=1e-3, seconds=4.0
    )
    for menu in (["0.2", "0.4", "0.6"], ["0.35"], ["0.25", "0.55"]):
        fixed = worst_case([f"randomized-response:{e}" for e in menu], filter=filter_, epsilon=0.4)
        assert fixed.delta.lower <= free.delta.upper
    assert free.delta.lower <= free.delta.upper


def test_a_free_parameter_under_a_sum_is_best_at_its_top() -> None:
    free = worst_case(
        "randomized-response:0.1..0.2", filter=SumFilter(1.0), epsilon=0.3, tolerance=5e-3
    )
    fixed = worst_case("randomized-response:0.2", filter=SumFilter(1.0), epsilon=0.3)
    assert free.delta.lower == pytest.approx(fixed.delta.lower, rel=1e-9)
    assert free.reached


class Alternating:
    """Admit each mechanism once, and never the same twice in a row."""

    initial = (0, 0, 0)

    def admit(self, state: Any, guarantee: Guarantee) -> tuple[bool, Any]:
        """Count them."""
        place = EPSILONS.index(guarantee.pure_epsilon)
        counts = (state[0] + (place == 0), state[1] + (place == 1))
        if max(counts) > 2 or state[2] == place + 1:
            return False, state
        return True, (*counts, place + 1)


def test_a_filter_of_ones_own_with_finitely_many_states() -> None:
    own = Alternating()

    def admit(state: Any, option: int) -> Any:
        admitted, after = own.admit(state, PureDP(EPSILONS[option]))
        return after if admitted else None

    truth = worst([response(e) for e in EPSILONS], 0.4, 4, admit=admit, state=own.initial)
    found = worst_case(MENU, filter=own, epsilon=0.4)
    assert found.delta.lower * (1 - 1e-11) <= truth <= found.delta.upper * (1 + 1e-11)
    assert found.verdict is None
    assert found.promised is None


class Endless:
    initial = 0

    def admit(self, state: int, guarantee: Guarantee) -> tuple[bool, int]:
        return True, 0


class Growing(Endless):
    def admit(self, state: int, guarantee: Guarantee) -> tuple[bool, int]:
        return True, state + 1


def test_a_filter_without_end_is_refused() -> None:
    with pytest.raises(InvalidInput, match="admits some mechanism without end"):
        worst_case(MENU, filter=Endless(), epsilon=1.0)
    with pytest.raises(NotApplicable, match="more than 50000 states"):
        worst_case(MENU, filter=Growing(), epsilon=1.0)
    assert worst_case(MENU, filter=Endless(), rounds=3, epsilon=1.0).delta.upper > 0.0
    assert worst_case(MENU, filter=Growing(), rounds=3, epsilon=1.0).delta.upper > 0.0


def test_nothing_that_ends_the_game_is_refused() -> None:
    with pytest.raises(InvalidInput, match="nothing ends the game"):
        worst_case(MENU, epsilon=1.0)
    with pytest.raises(InvalidInput, match="has a state `initial`"):
        worst_case(MENU, epsilon=1.0, filter=object())  # type: ignore[arg-type]


def test_a_filter_that_cannot_account_is_named() -> None:
    with pytest.raises(NotApplicable, match="sum filter cannot account for gdp"):
        worst_case("gdp:0.3", filter=SumFilter(1.0), epsilon=1.0)


def test_arenas_agree() -> None:
    """A budget of whole units, explored state by state and laid out at once."""
    costs = [2, 3]
    laid_out = budget_graph(costs, 11)
    tried = explored_graph(
        11, 2, lambda left, option: left - costs[option] if left >= costs[option] else None
    )
    assert laid_out.depth[laid_out.start] == tried.depth[tried.start] == 5
    assert tried.states[tried.start] == 11
    assert chain_graph(4, 3).depth.tolist() == [0, 1, 2, 3, 4]
    limited = budget_graph(costs, 11, rounds=3)
    assert limited.depth[limited.start] == 3


def test_possible_is_never_less_than_certain() -> None:
    game = Game("randomized-response:0.1..0.4", None, WhitehouseFilter(1.0, 1e-3))  # type: ignore[arg-type]
    options = game.options(0.05)
    graphs = filter_graphs(game.filter, options, None, 256, game.relation)
    certain, possible = graphs.certain, graphs.possible
    for menu in itertools.product(range(len(options)), repeat=3):
        here, there = certain.start, possible.start
        for option in menu:
            here = certain.follow[here, option] if here >= 0 else -1
            there = possible.follow[there, option] if there >= 0 else -1
            assert here < 0 or there >= 0


@pytest.mark.nightly
def test_a_sound_filter_with_a_free_parameter_is_found_sound() -> None:
    """Finer and finer passes, whose number does not depend on the machine."""
    filter_ = ZCDPFilter(1.0, 1e-4)
    game = Game("randomized-response:0.05..0.3", None, filter_)  # type: ignore[arg-type]
    last, uppers = None, []
    for level in range(4):
        last = run_pass(game, 1.0, level, last)
        uppers.append(last.delta(1.0).upper)
    assert uppers[0] > uppers[1] > uppers[2] > uppers[3]
    assert uppers[2] < filter_.delta  # sound
    assert last is not None
    fine = worst_case(
        [f"randomized-response:{0.05 * j:.2f}" for j in range(1, 7)], filter=filter_, epsilon=1.0
    )
    assert fine.delta.lower <= last.delta(1.0).lower < uppers[3] < 2.0 * last.delta(1.0).lower


@pytest.mark.nightly
def test_cells_that_paid_for_their_upper_end_would_fall_below() -> None:
    """The upper end of a free parameter can fail: priced fairly it is no bound."""
    filter_ = ZCDPFilter(2.0, 1e-2)
    game = Game("randomized-response:0.2..0.6", None, filter_)  # type: ignore[arg-type]
    unit = budget_unit(game, 1.0)
    cells, _ = cell_options(game, 0.05, unit, 0.25)
    fair = [dataclasses.replace(cell, least=cell.guarantee) for cell in cells]
    ends = []
    for options in (cells, fair):
        graph = filter_graphs(filter_, options, None, 0, game.relation, unit=unit).possible
        layouts = [outward_layout(option.law, 0.05) for option in options]
        grid = grid_for(0.05, 0.4, graph, layouts, options)
        ends.append(upper_values(graph, grid, layouts).upper(0.4))
    truth = worst_case(game.menu, filter=filter_, epsilon=0.4, seconds=4.0).delta.lower
    assert ends[1] < truth <= ends[0]


def test_nothing_is_lost_beyond_the_largest_loss() -> None:
    found = worst_case("laplace:0.5", filter=SumFilter(1.0), epsilon=1.0)
    assert found.delta.upper == 0.0
    assert found.verdict == "sound"


def test_the_largest_loss_of_a_range_is_its_width() -> None:
    """No option on the grid loses the whole width, but some t between them nearly does."""
    last = run_pass(Game("exponential:1", 2), 1.99, 0)  # type: ignore[arg-type]
    assert last.largest == pytest.approx(2.0)
    assert last.delta(1.99).upper > 0.0


class Within(Growing):
    """A sum of squares whose budget does not hold the dearest parameter."""

    monotone, initial = True, 0.0

    def admit(self, state: float, guarantee: Guarantee) -> tuple[bool, float]:  # type: ignore[override]
        after = state + guarantee.pure_epsilon**2
        return after <= 0.25, after if after <= 0.25 else state


def test_a_parameter_that_the_filter_never_admits_is_left_out() -> None:
    last = run_pass(Game("randomized-response:0.25..0.8", None, Within()), 0.4, 1)  # type: ignore[arg-type]
    found = last.delta(0.4)
    alone = worst_case(
        ["randomized-response:0.25", "randomized-response:0.5"], filter=Within(), epsilon=0.4
    )
    assert alone.delta.lower <= found.upper < 2.0 * alone.delta.upper


@pytest.mark.nightly
def test_the_lower_end_of_a_free_parameter_grows_with_its_grid() -> None:
    """A unit that does not divide the least cost once charged twice of it: .79e-7 after 2.6e-7."""
    filter_ = ZCDPFilter(1.0, 1e-6)
    game = Game("randomized-response:0.01..0.2", None, filter_)  # type: ignore[arg-type]
    lowers = []
    for step in (0.02, 0.01, 0.005):
        options = game.options(step)
        certain = filter_graphs(filter_, options, None, 512, game.relation).certain
        layouts = [outward_layout(option.law, step) for option in options]
        grid = grid_for(step, 1.0, certain, layouts, options)
        near = [nearest_layout(option.law, step) for option in options]
        lowers.append(lower_values(certain, grid, near, keep_table=False).lower(1.0))
    assert lowers == sorted(lowers)
    assert lowers[-1] == pytest.approx(2.59e-7, rel=1e-2)
