"""The search encloses what plain recursion over every play finds."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from simulator.foundations.errors import NotApplicable
from simulator.theory import FiniteLaw, GaussianLaw, LaplaceLaw
from simulator.worst import Game, worst_case
from simulator.worst.game_graph import chain_graph
from simulator.worst.grid import Grid, nearest_layout, outward_layout
from simulator.worst.grid_pass import run_pass
from simulator.worst.recursion import lower_values, upper_values
from tests.worst.brute_force import response, worst


def random_tables(seed: int, entries: int, answers: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs of distributions whose losses share no lattice."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(entries):
        first = rng.dirichlet(np.full(answers, 4.0))
        second = first * np.exp(rng.normal(0.0, 0.4, answers))
        found.append((first, second / second.sum()))
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("experiment", [0, 1])
def test_random_tables_are_enclosed(seed: int, experiment: int) -> None:
    tables = random_tables(seed, entries=2 + seed % 2, answers=2 + seed % 3)
    laws = [FiniteLaw.from_probabilities(*table) for table in tables]
    ordered = [table[::-1] for table in tables] if experiment else tables
    for epsilon in (0.0, 0.3):
        truth = worst([tuple(t) for t in ordered], epsilon, rounds=3)
        found = worst_case(laws, epsilon=epsilon, rounds=3, experiment=experiment, tolerance=1e-3)
        assert found.delta.lower <= truth * (1 + 1e-12) <= found.delta.upper * (1 + 2e-12)
        assert found.delta.width <= 1e-3 * found.delta.upper
        assert found.policy.value == pytest.approx(found.last.delta(epsilon).lower, rel=1e-9)


def test_infinite_losses_count_for_the_adversary_alone() -> None:
    leaky = ((0.05, 0.6, 0.35, 0.0), (0.0, 0.35, 0.6, 0.05))
    table = FiniteLaw.from_probabilities(*leaky)
    truth = worst([leaky], 0.4, rounds=4)
    for experiment in (0, 1):
        found = worst_case([table], epsilon=0.4, rounds=4, experiment=experiment)
        assert found.delta.lower <= truth <= found.delta.upper * (1 + 1e-12)


def test_a_lattice_meets_to_twelve_digits_and_brute_force_agrees() -> None:
    found = worst_case(
        "randomized-response:0.2,randomized-response:0.5", epsilon=0.35, rounds=5, tolerance=1e-12
    )
    assert found.delta.width <= 1e-12 * found.delta.upper
    truth = worst([response(0.2), response(0.5)], 0.35, rounds=5)
    assert found.delta.lower * (1 - 1e-12) <= truth <= found.delta.upper * (1 + 1e-12)


def test_the_curve_is_one_pass_and_falls() -> None:
    found = worst_case("laplace:0.3,gdp:0.25", epsilon=0.5, rounds=6)
    epsilons, lower, upper = found.curve
    assert (np.diff(epsilons) > 0).all()
    assert (lower <= upper).all()
    assert (np.diff(upper) <= 1e-15).all()
    for epsilon in (0.2, 0.9):
        alone = worst_case("laplace:0.3,gdp:0.25", epsilon=epsilon, rounds=6)
        assert np.interp(epsilon, epsilons, lower) <= alone.delta.upper * (1 + 1e-2)
        assert alone.delta.lower <= np.interp(epsilon, epsilons, upper) * (1 + 1e-9)


@pytest.mark.parametrize("law", [LaplaceLaw(0.3), GaussianLaw(0.4)])
def test_a_finer_grid_only_tightens(law: LaplaceLaw | GaussianLaw) -> None:
    ends = []
    for step in (0.06, 0.03, 0.015):
        grid = Grid(step, -round(3 / step), round(6 / step))
        upper = upper_values(chain_graph(5, 1), grid, [outward_layout(law, step)]).upper(0.6)
        lower = lower_values(chain_graph(5, 1), grid, [nearest_layout(law, step)]).lower(0.6)
        ends.append((lower, upper))
    widths = [upper - lower for lower, upper in ends]
    assert widths[0] > 2 * widths[1] > 4 * widths[2] > 0.0
    assert max(lower for lower, _ in ends) <= min(upper for _, upper in ends)


def test_laws_laid_out_by_nearest_points_alone_are_no_upper_end() -> None:
    """The check of the upper end can fail: the same recursion without spreading falls below."""
    table = ((0.7, 0.3), (0.3, 0.7))
    law = FiniteLaw.from_probabilities(*table)  # losses +-0.847, off the grid below
    truth = worst([table], 0.3, rounds=4)
    step = 0.2
    grid = Grid(step, -40, 80, offset=-0.1)
    wrong = upper_values(chain_graph(4, 1), grid, [nearest_layout(law, step).law]).upper(0.3)
    right = upper_values(chain_graph(4, 1), grid, [outward_layout(law, step)]).upper(0.3)
    assert wrong < truth <= right


def test_a_lower_end_that_forgets_what_is_off_the_grid_is_above_the_truth() -> None:
    table = ((0.6, 0.4), (0.35, 0.65))
    law = FiniteLaw.from_probabilities(*table)
    truth = worst([table], 0.3, rounds=4)
    step = 0.28
    grid = Grid(step, -20, 40, offset=0.1)
    layout = nearest_layout(law, step)
    careless = dataclasses.replace(
        layout, gained=np.zeros_like(layout.gained), tilted=layout.law.weights
    )
    right = lower_values(chain_graph(4, 1), grid, [layout]).lower(0.3)
    wrong = lower_values(chain_graph(4, 1), grid, [careless]).lower(0.3)
    assert right <= truth < wrong


def test_time_runs_out_with_the_ends_that_were_reached() -> None:
    found = worst_case("laplace:0.3,gdp:0.25", epsilon=0.5, rounds=10, tolerance=1e-9, seconds=0.3)
    assert found.stopped == "time"
    assert not found.reached
    assert 0.0 < found.delta.lower < found.delta.upper


def test_one_pass_serves_any_epsilon_off_the_grid() -> None:
    game = Game("laplace:0.3,randomized-response:0.25", 4)  # type: ignore[arg-type]
    last = run_pass(game, 0.5, 3)
    for epsilon in (0.1234, 0.77, 1.0):
        ends, alone = last.delta(epsilon), run_pass(game, epsilon, 4).delta(epsilon)
        assert ends.lower <= alone.upper
        assert alone.lower <= ends.upper
        assert ends.width < 0.05 * ends.upper


def test_beyond_the_largest_loss_nothing_is_left() -> None:
    found = worst_case("laplace:0.3", epsilon=2.0, rounds=5)
    assert found.delta.lower == 0.0
    assert found.delta.upper < 1e-290
    assert math.isclose(found.delta.upper, 0.0, abs_tol=1e-290)


def test_a_pass_that_would_take_far_too_long_is_not_begun() -> None:
    game = Game("laplace:0.3", 50)  # type: ignore[arg-type]
    with pytest.raises(NotApplicable, match=r"would take about .* s .* states by .* losses"):
        run_pass(game, 1.0, 3, allowed=1e-6)
    assert run_pass(game, 1.0, 3, allowed=30.0).delta(1.0).upper > 0.0


def test_a_menu_with_one_mechanism_takes_its_upper_end_from_the_composition() -> None:
    """1,000 rounds on the coarsest grid: the recursion's own upper end is 7% too large."""
    game = Game("gdp:0.05", 1000)  # type: ignore[arg-type]
    found = worst_case("gdp:0.05", rounds=1000, epsilon=2.0, tolerance=0.05)
    truth = GaussianLaw(0.05 * math.sqrt(1000)).delta(2.0)
    assert found.delta.lower <= truth <= found.delta.upper <= truth * (1 + 1e-8)
    coarse = run_pass(game, 2.0, -2)
    assert coarse.upper.grid.points < 4000  # losses 12 standard deviations away are left out
    assert truth * 1.05 < coarse.delta(2.0).upper
    assert coarse.delta(2.0).lower <= truth
