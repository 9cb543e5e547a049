"""Games whose numbers are awkward: budgets met to the last bit, steps that divide nothing."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import pytest

from simulator.adversaries.contract import Challenge
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.mechanisms import RandomizedResponse
from simulator.theory import FiniteLaw, randomized_response
from simulator.theory.bounds.range_recursion import enclosed_curve
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.named import parse_filter
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP
from simulator.worst import Game, worst_case, worst_odometer
from simulator.worst.game_graph import chain_graph
from simulator.worst.grid import Grid, lattice_layout, nearest_layout
from simulator.worst.grid_pass import first_level
from simulator.worst.recursion import Windows, lower_values, upper_values
from simulator.worst.unreachable import without_idle_filter
from tests.worst.brute_force import response, worst


class Total:
    """A budget for the sum of epsilons, in floating point and without any slack."""

    initial = 0.0
    monotone = True

    def __init__(self, budget: float) -> None:
        self.budget = budget

    def admit(self, state: float, guarantee: Guarantee) -> tuple[bool, float]:
        """Admit while the sum is within the budget."""
        after = state + guarantee.pure_epsilon
        return (True, after) if after <= self.budget else (False, state)


@pytest.mark.parametrize(("budget", "rounds"), [(0.3, 2), (0.7, 7), (1.0, 10), (0.8, 8)])
def test_a_budget_that_is_met_to_the_last_bit_admits_what_its_own_sum_admits(
    budget: float, rounds: int
) -> None:
    """0.1 added seven times is 0.7, seven times 0.1 is not; thrice 0.1 is above 0.3."""
    found = worst_case("randomized-response:0.1", filter=Total(budget), epsilon=0.2)
    fixed = worst_case("randomized-response:0.1", rounds=rounds, epsilon=0.2)
    assert found.delta == fixed.delta


def test_a_budget_of_many_sums_encloses_its_last_bit() -> None:
    """Too many different sums: what rounding decides is never certain, and always possible.

    0.1 added 21 times is above 2.1 by rounding, and other orders are not.
    """
    menu = [f"randomized-response:{0.1 + 0.013 * i!r}" for i in range(6)]
    found = worst_case(menu, filter=Total(2.1), epsilon=1.0, tolerance=0.5)
    fewer = worst_case(menu[:1], filter=Total(2.1), epsilon=1.0)
    assert fewer.delta.lower <= found.delta.upper


@pytest.mark.parametrize("other", ["randomized-response:0.31415926", "exponential:0.7310585"])
def test_a_range_on_a_step_that_does_not_divide_it_is_enclosed(other: str) -> None:
    curve = enclosed_curve(1.0, 2, 256, 0.0)
    alone = float(curve.lower[(curve.epsilons >= -1e-12).argmax()])
    for tolerance in (0.2, 5e-3, 1e-4):
        found = worst_case(f"exponential:1,{other}", rounds=2, epsilon=0.0, tolerance=tolerance)
        assert alone <= found.delta.upper
        assert found.reached


class Reading:
    """Announce a fixed multiple of the number of rounds."""

    delta = 0.1

    def __init__(self, each: float) -> None:
        self.each, self.epsilon = each, 0.0

    def fresh(self) -> Reading:
        """Start at zero."""
        return Reading(self.each)

    def spend(self, guarantee: Guarantee) -> None:
        """Count a round."""
        self.epsilon += self.each


@pytest.mark.nightly
def test_an_odometer_over_a_range_is_enclosed_between_the_losses_on_the_grid() -> None:
    """One round: the best t is (width + reading)/2, beside the coarse grid's multiples of 1/16."""
    reading = 0.3
    truth = worst_case("exponential:1", rounds=1, epsilon=reading, tolerance=1e-7).delta
    found = worst_odometer("exponential:1", Reading(reading), 1, tolerance=0.2)
    assert found.delta.lower <= truth.upper
    assert truth.lower <= found.delta.upper


class Rule:
    initial: Any = 0.0
    monotone = True

    def __init__(self, answer: Any, monotone: bool = True) -> None:
        self.answer, self.monotone = answer, monotone

    def admit(self, state: Any, guarantee: Guarantee) -> Any:
        return self.answer


@pytest.mark.parametrize(
    ("answer", "monotone", "words"),
    [
        (None, True, "returns"),
        (True, False, "returns"),
        ((True, -1.0), True, "grows"),
        ((True, float("nan")), True, "grows"),
        ((True, float("inf")), True, "grows"),
        ((True, "much"), True, "grows"),
        ((True, [1]), False, "hashable"),
        ((True, None), False, "hashable"),
    ],
)
def test_a_filter_that_returns_nonsense_is_one_line(
    answer: Any, monotone: bool, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        worst_case("randomized-response:0.1", filter=Rule(answer, monotone), rounds=2, epsilon=1.0)


@pytest.mark.parametrize("menu", ["gdp:30", "gdp:50", "laplace:1000"])
def test_losses_whose_exponential_overflows_are_played(menu: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", pytest.fail)
        found = worst_case(menu, rounds=2, epsilon=1.0)
    assert found.delta.lower > 0.9999
    assert found.delta.upper <= 1.0


def test_a_leak_in_experiment_1_alone_leaves_no_window() -> None:
    """However small: 1e-13 of experiment 1 is not seen in a sum of masses to 1e-12."""
    leak = 1e-13
    p = 1.0 / (1.0 + math.exp(-0.25))
    law = FiniteLaw.from_probabilities(
        [p, 1 - p, 0.0], [(1 - p) * (1 - leak), p * (1 - leak), leak]
    )
    layout = lattice_layout(law, 0.25)
    assert Windows(chain_graph(3, 1), Grid(0.25, -4, 9), [layout], None).whole


class Ordered:
    """The larger one at first opens the smaller one twice; the smaller one at first, the larger."""

    initial = ()

    def admit(self, state: tuple[float, ...], guarantee: Guarantee) -> tuple[bool, Any]:
        """Remember all of it."""
        after = (*state, guarantee.pure_epsilon)
        whole = ((0.3, 0.5), (0.5, 0.3, 0.3))
        return any(after == play[: len(after)] for play in whole), after


class Behind(Ordered):
    """The larger one only behind the smaller one."""

    def admit(self, state: tuple[float, ...], guarantee: Guarantee) -> tuple[bool, Any]:
        """Remember all of it."""
        after = (*state, guarantee.pure_epsilon)
        return after == (0.3, 0.5)[: len(after)], after


@pytest.mark.parametrize("rounds", [None, 3, 7])
@pytest.mark.parametrize(
    ("filter_", "best"), [(Ordered(), (0.5, 0.3, 0.3)), (Behind(), (0.3, 0.5))]
)
def test_choices_fixed_in_advance_in_an_order_that_matters(
    filter_: Ordered, best: tuple[float, ...], rounds: int | None
) -> None:
    menu = ["randomized-response:0.3", "randomized-response:0.5"]
    found = worst_case(menu, filter=filter_, rounds=rounds, epsilon=0.4)
    composed = [(1.0, 1.0)]
    for epsilon in best:
        composed = [(p * a, q * b) for p, q in composed for a, b in zip(*response(epsilon))]
    exact = math.fsum(max(0.0, p - math.exp(0.4) * q) for p, q in composed)
    assert found.non_adaptive is not None
    assert found.non_adaptive.lower * (1 - 1e-11) <= exact <= found.non_adaptive.upper * (1 + 1e-11)


@pytest.mark.nightly
def test_values_that_no_later_node_needs_are_let_go_of() -> None:
    """2,000 nodes of 4,000 values of 16 bytes would be 130 MB."""
    tracemalloc.start()
    try:
        upper_values(chain_graph(2000, 1), Grid(0.1, -2000, 4001), [lattice_layout(_RESPONSE, 0.1)])
        lower_values(
            chain_graph(2000, 1),
            Grid(0.1, -2000, 4001),
            [nearest_layout(_RESPONSE, 0.1)],
            keep_table=False,
        )
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


_RESPONSE = randomized_response(0.1)


@pytest.mark.parametrize(
    "menu",
    [
        "gdp:1e-3,gdp:1",
        pytest.param("randomized-response:1e-9,laplace:30", marks=pytest.mark.nightly),
        "randomized-response:1e-9,randomized-response:30",
    ],
)
def test_losses_of_very_different_sizes_begin_on_a_grid_that_can_be_paid(menu: str) -> None:
    """On the steps of the smallest one, 1e-10 say, the grid would hold 1e11 points and more."""
    game = Game(menu, 3)  # type: ignore[arg-type]
    assert first_level(game) < 0
    found = worst_case(menu, rounds=2, epsilon=1.0, tolerance=0.1)
    assert found.reached
    assert found.dominating is not None
    assert found.dominating >= found.delta.lower * (1 - 1e-12)


def test_a_lattice_of_too_many_points_is_left_for_a_coarser_grid() -> None:
    game = Game("randomized-response:0.00001,randomized-response:1", 1000)  # type: ignore[arg-type]
    assert game.exact_step is None
    assert first_level(game) < 0
    fewer = Game("randomized-response:0.025,randomized-response:0.2", 1000)  # type: ignore[arg-type]
    assert fewer.exact_step == pytest.approx(0.025, rel=1e-12)
    assert first_level(fewer) == 0


@pytest.mark.parametrize(
    ("menu", "epsilon"),
    [("gdp:0.5", 1e308), ("gdp:1e-300", 1.0)],
)
def test_an_epsilon_out_of_all_proportion_is_named(menu: str, epsilon: float) -> None:
    with pytest.raises(NotApplicable, match="choose an epsilon nearer"):
        worst_case(menu, rounds=3, epsilon=epsilon)


def test_databases_that_are_no_neighbours_are_refused() -> None:
    far = Challenge(WITHOUT_ALICE, EVERYONE.add("x").add("y"), RandomizedResponse(ALICE, 0.7))
    with pytest.raises(InvalidInput, match="not neighbours"):
        worst_case([far], rounds=1, epsilon=0.3)


def test_an_odometers_delta_may_be_zero_but_nothing_below_or_beside() -> None:
    class Announcing(Reading):
        def __init__(self, delta: float) -> None:
            super().__init__(0.05)
            self.delta = delta

        def fresh(self) -> Announcing:
            return Announcing(self.delta)

    found = worst_odometer("randomized-response:0.1", Announcing(0.0), 2)
    assert found.verdict == "broken"
    assert found.ratio is None
    for delta in (-1.0, math.nan, 2.0):
        with pytest.raises(InvalidInput, match="delta must lie"):
            worst_odometer("randomized-response:0.1", Announcing(delta), 2)


def test_the_dominating_pair_is_not_lowered_by_a_leak_in_experiment_1() -> None:
    leak, p = 1e-10, 1.0 / (1.0 + math.exp(-0.25))
    menu = [
        FiniteLaw.from_probabilities([p, 1 - p, 0], [(1 - p) * (1 - leak), p * (1 - leak), leak]),
        FiniteLaw.from_probabilities([0.6, 0.4], [0.4, 0.6]),
    ]
    found = worst_case(menu, rounds=2, epsilon=0.0)
    assert found.dominating is not None
    assert found.dominating >= found.delta.lower * (1 - 1e-13)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 1.9])
@pytest.mark.parametrize(
    "law",
    [
        randomized_response(0.5, 0.1),
        FiniteLaw.from_probabilities([0.0, 0.7, 0.3], [0.4, 0.0, 0.6]),
    ],
)
def test_a_policy_plays_on_where_only_an_infinite_loss_wins(law: FiniteLaw, epsilon: float) -> None:
    """However far it has fallen behind, a leak may still come."""
    found = worst_case([law], rounds=4, epsilon=epsilon)
    assert found.policy.value == pytest.approx(found.delta.lower, rel=1e-9)


def test_a_table_that_loses_nothing_needs_no_grid() -> None:
    same = FiniteLaw.from_probabilities([0.3, 0.7], [0.3, 0.7])
    other = FiniteLaw.from_probabilities([0.31, 0.33, 0.36], [0.3, 0.34, 0.36])
    assert Game([same, other], 2).coarsest == Game([other], 2).coarsest  # type: ignore[arg-type]
    found = worst_case([same, other], rounds=2, epsilon=0.01)
    alone = worst_case([other], rounds=2, epsilon=0.01)
    assert found.delta.lower <= alone.delta.upper
    assert alone.delta.lower <= found.delta.upper


def test_a_filter_whose_first_state_is_a_number_is_refused():
    with pytest.raises(InvalidInput, match=r"OneNumber needs initial, .* as a tuple .*, not 0\.0"):
        OneNumber(1.0, 0.1)


class OneNumber(Filter):
    """Its first state is a number."""

    name = "one-number"
    step = staticmethod(lambda state, epsilon, delta: (True, state))
    initial = 0.0


class OnlyTwice(Filter):
    """Admit 0.3 exactly, twice: no sum, and a price next to it does not pass."""

    name = "only-twice"
    source = "none"
    step = staticmethod(
        lambda state, epsilon, delta: (
            (True, (state[0] + 1e-14,)) if epsilon == 0.3 and state[0] < 1.5e-14 else (False, state)
        )
    )

    @property
    def initial(self):
        """Nothing admitted; states differ by less than the rounding of sums."""
        return (0.0,)


def test_a_filter_that_is_no_sum_keeps_its_own_prices_and_states():
    found = worst_case(
        "randomized-response:0.3,randomized-response:0.5",
        filter=OnlyTwice(5.0, 0.1),
        epsilon=0.4,
    )
    truth = worst([response(0.3)], 0.4, rounds=2)
    assert found.delta.lower * (1 - 1e-12) <= truth <= found.delta.upper * (1 + 1e-12)


@pytest.mark.parametrize(
    "entry", ["exponential:1e3", "exponential:1e5", "laplace:1e4", "laplace:1e5", "gaussian:1e-3"]
)
def test_mechanisms_that_hide_nothing_win_always(entry: str) -> None:
    """e to a loss or to a step of the grid was beyond the range of floats, or the grid too fine."""
    found = worst_case(entry, rounds=2, epsilon=1.0, seconds=5.0)
    assert found.delta.lower == pytest.approx(1.0, abs=1e-9)
    assert found.delta.upper == 1.0
    assert found.dominating == pytest.approx(1.0) or "composed" in found.dominating_reason


@pytest.mark.parametrize("entry", ["exponential:1e7", "laplace:1e7", "gaussian:1e-5"])
def test_losses_too_large_for_a_grid_are_refused(entry: str) -> None:
    with pytest.raises(NotApplicable, match=r"a round may lose .* nats, which is too many"):
        worst_case(entry, rounds=2, epsilon=1.0)


@pytest.mark.parametrize("width", [5e-324, 1e-300, 1e-9])
def test_a_range_of_almost_nothing_has_a_dominating_pair(width: float) -> None:
    found = worst_case(f"exponential:{width!r}", rounds=2, epsilon=0.0)
    assert found.dominating is not None
    assert found.delta.lower <= found.dominating <= max(3.0 * width, 1e-300)


@pytest.mark.parametrize("filter_", ["whitehouse:1,1e-6", "zcdp:1,1e-6", "rogers:1,1e-6"])
def test_a_filter_that_admits_all_rounds_of_tiny_mechanisms_costs_nothing(filter_: str) -> None:
    """Its budget would be millions of times the least cost, which was refused."""
    menu = "randomized-response:0.00015..0.0003"
    found = worst_case(menu, filter=filter_, rounds=5, epsilon=3e-4)
    free = worst_case(menu, rounds=5, epsilon=3e-4)
    assert found.delta == free.delta
    assert found.reached
    assert found.policy is not None
    assert found.game.filter is not None


@pytest.mark.parametrize(("filter_", "most"), [("sum:1", 10), ("whitehouse:1,1e-6", 3)])
def test_a_filter_that_refuses_a_round_is_no_idle_one(filter_: str, most: int) -> None:
    for rounds in range(1, most + 3):
        game = Game("randomized-response:0.1", rounds, parse_filter(filter_))
        idle = without_idle_filter(game).filter is None
        running, admitted = parse_filter(filter_).fresh(), 0
        while admitted < rounds and running.admits(PureDP(0.1)):
            running.spend(PureDP(0.1))
            admitted += 1
        assert admitted == rounds or not idle
        assert idle == (rounds < most or (rounds == most and filter_ != "sum:1"))
