"""The table of filters: its adversary against the search, and a row of few units."""

import itertools
import math

import pytest

from experiments.filters import table
from experiments.filters.__main__ import main
from experiments.filters.adversaries import least_broken, values
from experiments.filters.families import renyi
from experiments.filters.limits import most_of_one, most_of_schedule
from simulator.theory import Composition, PureDP, bound
from simulator.worst import worst_case
from simulator.worst.filters.admitted import most_rounds


class Squares:
    """Admit while the squares of tenths add up to a whole budget."""

    initial = 0

    def __init__(self, budget):
        self.budget = budget

    def admit(self, state, guarantee):
        spent = state + round(guarantee.epsilon * 10) ** 2
        return spent <= self.budget, spent


@pytest.mark.parametrize("budget", [5, 17, 30])
def test_the_adversary_of_the_limit_is_that_of_the_search(budget):
    menu = ",".join(f"randomized-response:0.{k}" for k in range(1, 6))
    found = worst_case(menu, filter=Squares(budget), epsilon=1.0).delta
    own = values(10, 1.0, budget)
    assert own[budget] == pytest.approx(found.lower, rel=1e-9, abs=1e-15)
    assert found.lower <= found.upper <= found.lower * (1 + 1e-9) + 1e-15
    assert own[-1] >= own[0]


def test_the_least_broken_budget_is_the_first_that_exceeds_delta():
    delta = values(50, 1.0, 150)
    found = least_broken(1.0, 1e-6, 50, 0.055)
    place = round(found * 2500)
    assert delta[place] > 1e-6 >= delta[place - 1]
    with pytest.raises(ValueError, match="is broken"):
        least_broken(1.0, 1e-6, 50, 0.04)


def test_the_limit_of_a_schedule_is_that_of_exact_composition():
    promise = (1.0, 1e-5)
    for size in (0.05, 0.04):
        most = most_of_schedule(promise, itertools.repeat(size), 1000)
        assert most == most_rounds(promise, size)
        assert most == most_of_one(promise, PureDP(size), 30)
    assert most_of_schedule(promise, itertools.repeat(0.05), 12) == 12
    mixed = [0.1, 0.1, *itertools.repeat(0.0317, 90)]
    most = most_of_schedule(promise, mixed, 1000)
    exact = bound("murtagh-vadhan")
    deltas = [
        exact.on(Composition.of((PureDP(0.1), 2), (PureDP(0.0317), n - 2))).delta(1.0).lower
        for n in (most, most + 1)
    ]
    assert deltas[0] <= 1e-5 < deltas[1]


def test_renyi_divergences_of_laplace_noise():
    """Mironov 2017, Proposition 6."""
    for size, order in ((0.1, 3.0), (1.5, 12.0), (0.05, 60.0)):
        up = order * math.exp((order - 1.0) * size)
        down = (order - 1.0) * math.exp(-order * size)
        exact = math.log((up + down) / (2.0 * order - 1.0)) / (order - 1.0)
        assert renyi("laplace", size, order) == pytest.approx(exact, rel=1e-9)


@pytest.mark.nightly
def test_a_table_of_one_promise(tmp_path, capsys):
    small = ["--units", "40", "--epsilon", "1", "--delta", "1e-5"]
    assert main([*small, "--folder", str(tmp_path)]) == 0
    page = (tmp_path / "rounds.md").read_text(encoding="utf-8")
    assert "| 1 | 1e-05 | 0.06" in page
    for name in table.SCHEDULES:
        assert f"## {name}" in page
    assert main([*small, "--folder", str(tmp_path)]) == 0  # proves the filters of the last run
    assert (tmp_path / "rounds.md").read_text(encoding="utf-8") == page
    assert "provenance" in (tmp_path / "rounds.json").read_text(encoding="utf-8")
