"""A user's own filter: many units, its contract, and the mistakes that are caught."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import pytest

from simulator.foundations.errors import InvalidInput
from simulator.theory.filters.sums import SumFilter
from simulator.theory.guarantees.interface import Guarantee
from simulator.worst import worst_case
from simulator.worst.whole_units import Units
from tests.worst.brute_force import response, worst

MENU = ["randomized-response:0.3", "randomized-response:0.5"]


class Sum:
    """A monotone filter: a sum of epsilon^power with a limit."""

    monotone, initial = True, 0.0

    def __init__(self, budget: float, power: int = 1) -> None:
        self.budget, self.power = budget, power

    def admit(self, state: float, guarantee: Guarantee) -> tuple[bool, float]:
        """Admit while the sum is within the budget."""
        after = state + guarantee.pure_epsilon**self.power
        return (True, after) if after <= self.budget else (False, state)


@pytest.mark.nightly
def test_a_sum_of_more_than_two_thousand_units_is_searched() -> None:
    """2,150 and 2,160 units: rounding once took a whole unit, and the game had no end."""
    found = worst_case(
        ["randomized-response:0.001", "randomized-response:0.003"], filter=Sum(2.15), epsilon=1.0,
        seconds=1.0,
    )  # fmt: skip
    ours = worst_case(
        ["randomized-response:0.001", "randomized-response:0.003"], filter=SumFilter(2.15),
        epsilon=1.0, seconds=1.0,
    )  # fmt: skip
    assert found.delta.lower <= ours.delta.upper
    assert ours.delta.lower <= found.delta.upper
    assert found.delta.upper <= ours.delta.upper * 1.01
    squares = worst_case(
        [f"randomized-response:{0.005 * j:g}" for j in (1, 2, 20)], filter=Sum(0.054, 2),
        epsilon=1.0, seconds=1.0,
    )  # fmt: skip
    assert 0.0 < squares.delta.lower <= squares.delta.upper


def test_units_enclose_every_order_of_a_sum() -> None:
    """States rounded down are never above the true one, states rounded up never below."""
    for cost, initial in itertools.product((0.1, 0.003, 1e-7 / 3), (0.0, 12.5, -3.0)):
        units = Units(initial, cost)
        state, down, up = initial, 0, 0
        for _ in range(5000):
            state += cost
            down = units.count(units.state(down, up=False) + cost, up=False)
            up = units.count(units.state(up, up=True) + cost, up=True)
            assert units.state(down, up=False) <= state <= units.state(up, up=True)
        assert (down, up) == (5000, 5000)  # no unit is lost to rounding, and none is gained


class Leaping(Sum):
    """The second round leads from a small state to 1, and from a larger one to less."""

    def admit(self, state: float, guarantee: Guarantee) -> tuple[bool, float]:
        cost = guarantee.pure_epsilon
        after = 1.0 if 0.0 < state < 0.2 else state + (cost if state == 0.0 else cost**2)
        return after <= self.budget, after


class Reopening(Sum):
    """It refuses from 0.5 on and admits again from 0.7 on."""

    def admit(self, state: float, guarantee: Guarantee) -> tuple[bool, float]:
        after = state + guarantee.pure_epsilon
        return after <= self.budget and not 0.5 < state < 0.7, after


def test_a_filter_that_is_not_monotone_is_refused() -> None:
    menu = ["randomized-response:0.1", "randomized-response:0.25"]
    with pytest.raises(
        InvalidInput, match=r"says monotone = True, but .* leads from the state 0.1"
    ):
        worst_case(menu, filter=Leaping(1.2), epsilon=0.3, seconds=1.0)
    many = [f"randomized-response:{e}" for e in ("0.01", "0.0137", "0.25")]
    with pytest.raises(InvalidInput, match=r"refuses .* and the larger state .* admits it"):
        worst_case(many, filter=Reopening(0.9), epsilon=0.3, seconds=1.0)


class Counting(Sum):
    """It counts its calls, whatever the state says."""

    calls = 0

    def admit(self, state: float, guarantee: Guarantee) -> tuple[bool, float]:
        self.calls += 1
        return self.calls <= 6, state + guarantee.pure_epsilon


class Tossing(Sum):
    """It tosses a coin on every round."""

    def admit(self, state: float, guarantee: Guarantee) -> tuple[bool, float]:
        after = state + guarantee.pure_epsilon
        return after <= self.budget and random.random() < 0.5, after


@pytest.mark.parametrize("kind", [Counting, Tossing])
@pytest.mark.parametrize("monotone", [True, False])
def test_a_filter_that_is_no_function_of_its_state_is_refused(
    kind: type[Sum], monotone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind, "monotone", monotone, raising=False)
    random.seed(1)  # a coin that refuses every first round leaves nothing to compare
    with pytest.raises(InvalidInput, match="must depend on its two arguments alone"):
        worst_case(MENU, filter=kind(2.0), rounds=4, epsilon=0.3)


class FirstFree(Sum):
    """The first round costs nothing."""

    def admit(self, state: float, guarantee: Guarantee) -> tuple[bool, float]:
        after = 0.0 if guarantee.pure_epsilon == 0.3 else state + guarantee.pure_epsilon
        return after <= self.budget, max(after, state)


def test_a_round_that_costs_nothing_is_searched_where_rounds_end_the_game() -> None:
    def admit(state: float, option: int) -> Any:
        after = state + (0.0, 0.5)[option]
        return after if after <= 1.0 else None

    truth = worst([response(0.3), response(0.5)], 0.4, 5, admit=admit, state=0.0)
    found = worst_case(MENU, filter=FirstFree(1.0), rounds=5, epsilon=0.4)
    assert found.delta.lower * (1 - 1e-11) <= truth <= found.delta.upper * (1 + 1e-11)
    assert found.reached
    assert found.non_adaptive is not None
    with pytest.raises(InvalidInput, match="without end"):
        worst_case(MENU, filter=FirstFree(1.0), epsilon=0.4)


class Free(Sum):
    """No round costs anything."""

    def admit(self, state: float, guarantee: Guarantee) -> tuple[bool, float]:
        return True, state


def test_rounds_that_all_cost_nothing_are_rounds_without_a_filter() -> None:
    found = worst_case(MENU, filter=Free(1.0), rounds=5, epsilon=0.4)
    assert found.delta == worst_case(MENU, rounds=5, epsilon=0.4).delta


class Stated:
    """A filter of one state a round, with whatever else is set."""

    initial: Any = 0

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)

    def admit(self, state: Any, guarantee: Guarantee) -> tuple[bool, Any]:
        return state < 3, state + 1


class NotANumber(Stated):
    def admit(self, state: Any, guarantee: Guarantee) -> tuple[bool, Any]:
        return True, math.nan


@pytest.mark.parametrize(
    ("filter_", "words"),
    [
        (Stated(initial=[0]), "`initial` is hashable .*a tuple, not a list"),
        (Stated(initial=([],)), "`initial` is hashable"),
        (Stated(initial=math.nan), "equal to itself"),
        (Stated(initial="0", monotone=True), "`initial` is a finite number"),
        (Stated(initial=math.inf, monotone=True), "`initial` is a finite number"),
        (NotANumber(), "equal to themselves"),
        (Stated(epsilon="much", delta=0.1), "promise is two numbers"),
        (Stated(epsilon=0.1, delta=math.nan), "promise is two numbers"),
        (Stated(epsilon=0.1, delta=-1.0), "promise is two numbers"),
        (Stated(epsilon=-0.1), "promise is two numbers"),
    ],
)
def test_a_mistake_in_a_filter_is_one_line(filter_: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        worst_case(MENU, filter=filter_, rounds=2, epsilon=1.0)
    assert "\n" not in str(caught.value)


def test_a_filter_without_a_verdict_says_why() -> None:
    found = worst_case(MENU, filter=Stated(), epsilon=1.0)
    assert found.verdict is None
    assert "give it the attributes epsilon and delta" in found.verdict_reason
    below = worst_case(MENU, filter=Stated(epsilon=1.1), epsilon=1.0)
    assert (below.verdict, below.verdict_reason) == (
        None,
        "the filter promises nothing below epsilon = 1.1",
    )
    pure = worst_case(MENU, filter=Stated(epsilon=1.1), epsilon=1.2)
    assert (pure.promised, pure.verdict, pure.verdict_reason) == (0.0, "broken", "")


@pytest.mark.parametrize(
    ("ends", "limit", "tops"),
    [
        ((0.0, 1.0, 4.0), 4.0, (0.4, 0.6, 0.8)),  # a jump of several units
        ((2.0, 7.0, 11.0), 14.0, (0.4, 0.6, 0.8)),
        ((0.0, 0.0, 0.0), 1.0, (0.8, 0.8, 0.8)),
        ((0.0, 1.0, 9.0), 2.0, (0.4, 0.6, 0.6)),
    ],
)
def test_a_free_parameter_whose_cost_jumps_is_searched(
    ends: tuple[float, ...], limit: float, tops: tuple[float, ...]
) -> None:
    """The largest parameter of each cost is the best one: randomized response."""

    class Steps:
        monotone, initial = True, 0

        def admit(self, state: float, guarantee: Guarantee) -> tuple[bool, float]:
            epsilon = guarantee.pure_epsilon
            after = state + ends[(epsilon > 0.4) + (epsilon > 0.6)]
            return (True, after) if after <= limit else (False, state)

    def admit(state: float, option: int) -> float | None:
        after = state + ends[option]
        return after if after <= limit else None

    truth = worst([response(top) for top in tops], 0.7, 4, admit=admit, state=0.0)
    found = worst_case(
        "randomized-response:0.2..0.8", filter=Steps(), epsilon=0.7, rounds=4, seconds=0.2
    ).delta
    assert found.lower <= truth * (1.0 + 1e-9)
    assert truth * (1.0 - 1e-9) <= found.upper <= truth * 1.02
