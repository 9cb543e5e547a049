"""Filters whose state is a number of any meaning: both ends from merged states."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from simulator.foundations.errors import InvalidInput
from simulator.theory.filters import residue
from simulator.theory.filters.rules import residue_step
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP
from simulator.worst import filter_graphs, merged_states, worst_case
from simulator.worst.game_graph import CLOSED, GameGraph, graph_of_layers, graph_of_states
from simulator.worst.merged_states import merged_graph
from simulator.worst.own_filter import Transitions
from simulator.worst.recursion import largest_sums
from tests.helpers.cases import case
from tests.worst.brute_force import response, worst

SIZES = (0.0201, 0.0313, 0.0557)
MENU = [f"randomized-response:{size}" for size in SIZES]


class Numbered:
    """A filter of one number: ``after(state, epsilon)`` within a limit."""

    monotone, initial = True, 0.0

    def __init__(self, limit: float, after: Callable[[float, float], float]) -> None:
        self.limit, self.after = limit, after

    def admit(self, state: float, guarantee: Guarantee) -> tuple[bool, float]:
        """Admit while the next state is within the limit."""
        after = self.after(state, guarantee.pure_epsilon)
        return after <= self.limit, after


def root(state: float, epsilon: float) -> float:
    """The root of the sum of squares."""
    return math.sqrt(state * state + epsilon * epsilon)


def whitehouse(state: float, epsilon: float) -> float:
    """The epsilon of Whitehouse's formula at 1e-6, from the epsilon so far."""
    log_inverse = math.log(1e6)
    spent = (math.sqrt(2 * log_inverse + 2 * state) - math.sqrt(2 * log_inverse)) ** 2
    squares = (spent if state else 0.0) + epsilon * epsilon
    return max(state, math.sqrt(2 * squares * log_inverse) + squares / 2)


TABLE = dict(zip(SIZES, (1.0, 3.0, 8.0)))


def listed(state: float, epsilon: float) -> float:
    """A table's cost, which depends on the state; other rounds have none."""
    return state + TABLE[epsilon] * (1.0 + 0.3 * math.sin(state / 60.0) ** 2)


GAMES: dict[str, tuple[float, Callable[[float, float], float], float]] = {
    "root": (0.2324, root, 1.0),
    "whitehouse": (1.0, whitehouse, 1.0),
    "power": (0.4, lambda state, epsilon: state + epsilon**1.5, 0.5),
    "table": (200.0, listed, 0.5),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", list(GAMES))
def test_a_state_of_any_meaning_is_searched_within_five_percent(name: str) -> None:
    limit, after, epsilon = GAMES[name]
    found = worst_case(MENU, filter=Numbered(limit, after), epsilon=epsilon, tolerance=0.05,
                       seconds=20.0)  # fmt: skip
    assert found.reached
    assert found.policy.value == pytest.approx(found.last.delta(epsilon).lower, rel=1e-9)


@pytest.mark.nightly
def test_the_root_of_a_sum_of_squares_is_searched() -> None:
    found = worst_case(MENU, filter=Numbered(0.2324, root), epsilon=1.0, tolerance=0.2).delta
    assert found.lower <= 6.0e-7 <= found.upper
    assert found.width <= 0.2 * found.upper


@pytest.mark.nightly
def test_the_same_filter_in_two_coordinates_has_one_worst_case() -> None:
    """The root of a sum of squares, and the sum."""
    squares = Numbered(0.2324**2, lambda state, epsilon: state + epsilon * epsilon)
    ends = [
        worst_case(MENU, filter=each, epsilon=1.0, tolerance=0.05, rounds=rounds).delta
        for each, rounds in ((squares, None), (Numbered(0.2324, root), None),
                             (Numbered(0.2324, root), 140))
    ]  # fmt: skip
    assert max(each.lower for each in ends) <= min(each.upper for each in ends)
    assert all(each.width <= 0.05 * each.upper for each in ends)


def random_rule(seed: int) -> Callable[[float, float], float]:
    """A monotone rule: in a random coordinate, a cost that depends on the state."""
    rng = np.random.default_rng(seed)
    power, slope, kink = rng.uniform(0.3, 3.0), rng.uniform(0.0, 0.5), rng.uniform(0.2, 1.0)

    def after(state: float, epsilon: float) -> float:
        plain = state**power + epsilon * (1.0 + slope * (state > kink))
        return max(float(plain ** (1.0 / power)), state)

    return after


@pytest.mark.parametrize(
    "seeds", [range(3), pytest.param(range(3, 40), marks=pytest.mark.nightly)]
)  # fmt: skip
def test_marks_enclose_plain_recursion(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small games, with a ruler in place of their own few states."""
    monkeypatch.setattr(filter_graphs, "FEW_SUMS", 0)
    sizes = (0.31, 0.47, 0.83)
    for seed in seeds:
        with case(str(seed)):
            rule, limit = random_rule(seed), 1.9

            def admit(state: float, option: int, rule: Any = rule, limit: float = limit) -> Any:
                after = rule(state, sizes[option])
                return after if after <= limit else None

            for rounds in (3, 5):
                truth = worst([response(e) for e in sizes], 0.6, rounds, admit=admit, state=0.0)
                found = worst_case(
                    [f"randomized-response:{e}" for e in sizes], filter=Numbered(limit, rule),
                    epsilon=0.6, rounds=rounds, seconds=0.2,
                )  # fmt: skip
                assert found.delta.lower <= truth * (1 + 1e-11)
                assert truth <= found.delta.upper * (1 + 1e-11)


def whole_cost(state: float, epsilon: float) -> float:
    """Whole numbers, of which the limit is one."""
    return state + (1.0 if epsilon > 0.4 else 0.0)


@pytest.mark.parametrize("few", [0, 10])
def test_a_limit_that_whole_numbers_reach_is_reached(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In units, and where the states are few but not after every number of rounds."""
    monkeypatch.setattr(filter_graphs, "FEW_SUMS", few)
    sizes = (0.31, 0.83)

    def admit(state: float, option: int) -> float | None:
        after = whole_cost(state, sizes[option])
        return after if after <= 2.0 else None

    truth = worst([response(e) for e in sizes], 0.6, 6, admit=admit, state=0.0)
    found = worst_case([f"randomized-response:{e}" for e in sizes],
                       filter=Numbered(2.0, whole_cost), epsilon=0.6, rounds=6).delta  # fmt: skip
    assert found.lower == pytest.approx(truth, rel=1e-9)
    assert found.upper == pytest.approx(truth, rel=1e-9)


def admits(graph: GameGraph, choices: Sequence[int]) -> bool:
    """Whether a graph admits rounds one after the other."""
    node = graph.start
    for choice in choices:
        node = int(graph.follow[node, choice])
        if node == CLOSED:
            return False
    return True


@pytest.mark.parametrize("exchanged", [False, True])
def test_merged_by_counts_the_graphs_enclose_all_plays(exchanged: bool) -> None:
    """Every play of the filter: and exchanged, the graphs are not on either side of it."""
    sizes, limit, wrong = (0.31, 0.47, 0.83), 2.6, 0
    for seed in range(6):
        rule = random_rule(seed)
        transitions = Transitions(Numbered(limit, rule))
        kinds = [PureDP(size) for size in sizes]
        ends = []
        for up in (True, False):
            layers = merged_states.layers_by_counts(transitions, kinds, 6, 1_000, up=up)
            ends.append(graph_of_layers(layers))
        certain, possible = reversed(ends) if exchanged else ends
        for choices in itertools.product(range(3), repeat=6):
            state, played = 0.0, 0
            while played < 6 and rule(state, sizes[choices[played]]) <= limit:
                state, played = rule(state, sizes[choices[played]]), played + 1
            wrong += not admits(possible, choices[:played])
            wrong += played < 6 and admits(certain, choices[: played + 1])
    assert (wrong > 0) == exchanged


def test_a_graph_of_counts_is_taken_where_it_is_about_to_be_the_larger_one() -> None:
    """It has no error where the order of the rounds does not matter."""
    transitions = Transitions(Numbered(0.2324**2, lambda state, e: state + e * e))
    spent = []
    for up in (True, False):
        graph = merged_graph(transitions, [PureDP(e) for e in SIZES], 30, 2_000, up=up)
        assert graph.nodes > 2_000
        spent.append(float(largest_sums(graph, np.array([size**2 for size in SIZES]))[graph.start]))
    assert spent[0] == pytest.approx(spent[1], rel=1e-12)


def test_a_state_moved_the_wrong_way_is_seen() -> None:
    """The check can fail: merged into the smallest, states admit more than their limit."""
    transitions = Transitions(Numbered(0.2324, root))
    squares = np.array([size**2 for size in SIZES])
    for rounds in (None, 60):
        spent = {}
        for up in (True, False):
            graph = merged_graph(transitions, [PureDP(e) for e in SIZES], rounds, 300, up=up)
            spent[up] = float(largest_sums(graph, squares)[graph.start])
        assert 0.9 * 0.2324**2 < spent[True] <= 0.2324**2 < spent[False]


def saturating(state: float, epsilon: float) -> float:
    """A sum that ends at a half, where every round is admitted without end."""
    return min(state + epsilon, 0.5)


def test_a_round_that_does_not_raise_the_state_is_named() -> None:
    menu = [f"randomized-response:{0.0071 * root!r}" for root in (1.0, 2**0.5, 5**0.5, 7**0.5)]
    with pytest.raises(
        InvalidInput, match=r"raises the filter's state 0.5 by less than the search"
    ):
        worst_case(menu, filter=Numbered(1.0, saturating), epsilon=0.5)
    ends = worst_case(menu, filter=Numbered(1.0, saturating), epsilon=0.01, rounds=3).delta
    assert ends.lower > 0.0


def test_states_in_layers_are_counted_once_for_each_number_of_rounds() -> None:
    layer, last = np.array([[0, 1], [1, CLOSED]]), np.full((2, 2), CLOSED)
    for rounds in (1, 2, 5):
        graph = graph_of_layers([layer[:1], *(layer for _ in range(rounds - 1)), last])
        assert graph.depth[graph.start] == rounds
        assert (graph.follow < np.arange(graph.nodes)[:, None]).all()
    graph = graph_of_states(np.array([[1, 2], [2, CLOSED], [CLOSED, CLOSED]]))
    assert graph.follow.tolist() == [[CLOSED, CLOSED], [0, CLOSED], [1, 0]]


@pytest.mark.nightly
@pytest.mark.parametrize("sizes", [(0.0201, 0.0313), (0.0184, 0.036, 0.0433, 0.049)])
def test_the_residue_filter_is_tried_by_the_search_and_keeps_its_promise(
    sizes: tuple[float, ...],
) -> None:
    menu = [f"randomized-response:{size}" for size in sizes]
    found = worst_case(menu, filter="residue:1,1e-6", epsilon=1.0, tolerance=0.05, seconds=30.0)
    assert found.verdict == "sound"
    assert found.delta.width <= 0.08 * found.delta.upper


def test_few_transitions_of_the_residue_filter_are_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its states after the same rounds in another order differ: an enumeration is in vain."""
    calls = 0

    def counted(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        return residue_step(*arguments)

    monkeypatch.setattr(residue, "residue_step", counted)
    menu = [f"randomized-response:{size}" for size in (0.04, 0.07, 0.09, 0.11)]
    found = worst_case(menu, filter="residue:1,1e-4", epsilon=1.0, seconds=0.01)
    assert found.last.graph.nodes > 1000
    assert calls < 20 * found.last.graph.nodes
    assert found.delta.lower == pytest.approx(found.delta.upper, rel=0.12)
