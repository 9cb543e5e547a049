"""Random games: no crash, no refusal, and a bracket that contains what plain recursion finds."""

from __future__ import annotations

import pytest

from simulator.foundations.ties import tolerance
from simulator.worst import worst_case
from simulator.worst.menu_parsing import entries
from simulator.worst.search import WorstCase
from tests.helpers.cases import case
from tests.worst.random_games import ROUNDING, RandomGame, random_game, witnesses


def searched(game: RandomGame) -> WorstCase:
    return worst_case(
        game.menu,
        epsilon=game.epsilon,
        rounds=game.rounds,
        filter=game.filter,
        experiment=game.experiment,
        seconds=0.3,
    )


def encloses(game: RandomGame, lower: float, upper: float) -> bool:
    """Whether the ends enclose the witnesses; a loss equal to epsilon up to rounding is no win."""
    low, high = witnesses(game)
    assert game.rounds is not None
    tie = tolerance(game.epsilon, game.rounds)
    return low <= upper * (1 + 1e-11) + tie + ROUNDING and lower <= high * (1 + 1e-11) + ROUNDING


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "seeds", [range(12), *(pytest.param(range(i, i + 24), marks=pytest.mark.nightly)
                           for i in range(12, 300, 24))],
)  # fmt: skip
def test_a_random_game_is_answered_and_its_ends_enclose_plain_recursion(seeds: range) -> None:
    for seed in seeds:
        with case(str(seed)):
            game = random_game(seed)
            found = searched(game)
            assert encloses(game, found.delta.lower, found.delta.upper), game


def test_ends_that_are_moved_are_seen() -> None:
    """The check can fail: with either end on the other side of the truth by a thousandth."""
    seen = 0
    for seed in range(12):
        game = random_game(seed)
        low, high = witnesses(game)
        if 1e-6 < low == high:
            seen += 1
            assert not encloses(game, low * 1.001, low * 1.002)
            assert not encloses(game, low * 0.997, low * 0.999)
    assert seen >= 2


@pytest.mark.parametrize(
    ("menu", "options"),
    [
        ("randomized-response:0.3,laplace:0.2", {"filter": "sum:1"}),
        ("laplace:0.3,exponential:0.2", {"filter": "sum:1"}),
        ("randomized-response:0.01..0.3,laplace:0.2", {"filter": "sum:1"}),
        ("randomized-response:0.1", {"filter": "sum:1"}),
        ("laplace:1e-7,exponential:1e-8", {"rounds": 5}),
        ("randomized-response:0.25,exponential:0.25", {"rounds": 4}),
    ],
)
def test_losses_that_cannot_reach_epsilon_together_win_exactly_nothing(
    menu: str, options: dict[str, object]
) -> None:
    found = worst_case(menu, epsilon=1.0, **options)  # type: ignore[arg-type]
    assert (found.delta.lower, found.delta.upper) == (0.0, 0.0)
    assert found.verdict in (None, "sound")
    assert found.non_adaptive == found.delta
    assert found.policy.value == 0.0
    nearer = worst_case(menu, epsilon=1e-9, seconds=0.1, **options)  # type: ignore[arg-type]
    assert nearer.delta.lower > 0.0


@pytest.mark.parametrize(
    ("menu", "epsilon"),
    [
        ("exponential:5e-324,randomized-response:1e5", 1.0),
        ("randomized-response:5e-324,randomized-response:1e-300,laplace:0.3", 0.1),
        ("randomized-response:5e-324,geometric:9", 0.0),
    ],
)
def test_losses_of_the_smallest_doubles_are_searched(menu: str, epsilon: float) -> None:
    largest = menu.rpartition(",")[2]
    found = worst_case(menu, rounds=2, epsilon=epsilon, tolerance=0.01)
    alone = worst_case(largest, rounds=2, epsilon=epsilon, tolerance=0.01)
    assert found.delta.lower <= alone.delta.upper
    assert alone.delta.lower <= found.delta.upper
    assert found.reached


def test_a_free_parameter_wins_nothing_where_filter_and_rounds_together_allow_too_little() -> None:
    """Four rounds with squares within 0.1313 add up to at most twice its root, 0.7247."""
    menu = "randomized-response:0.15..0.3"
    for epsilon, won in ((0.74, False), (0.7, True)):
        found = worst_case(
            menu, filter="whitehouse:1.8,1e-5", rounds=4, epsilon=epsilon, seconds=0.1
        )
        assert (found.delta.upper > 0.0) == won, epsilon


def test_a_natural_filter_of_more_rounds_than_its_table_holds_is_searched() -> None:
    menu = "randomized-response:2.5e-6,laplace:5e-8"
    found = worst_case(menu, filter="natural:3e-5,1e-5", rounds=3, epsilon=3e-6, seconds=0.1)
    assert found.reached


def test_a_fine_step_has_a_bounded_number_of_free_parameters() -> None:
    (entry,) = entries("randomized-response:0.00015..0.0003")
    options = entry.options(0, 1.3e-10)
    sizes = [option.guarantee.pure_epsilon for option in options]
    assert len(options) <= 1002
    assert (sizes[0], sizes[-1]) == (0.00015, 0.0003)
    assert all(option.least.pure_epsilon <= size for option, size in zip(options, sizes))
    assert [option.least.pure_epsilon for option in options[1:]] == sizes[:-1]
