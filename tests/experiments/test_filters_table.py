"""The table of filters: its adversary against the search, and a row of few units."""

import pytest

from experiments.filters import table
from experiments.filters.__main__ import main
from experiments.filters.adversaries import least_broken, values
from simulator import worst_case


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


@pytest.mark.nightly
def test_a_table_of_one_promise(tmp_path, capsys):
    small = ["--units", "40", "--epsilon", "1", "--delta", "1e-5"]
    assert main([*small, "--folder", str(tmp_path)]) == 0
    page = (tmp_path / "rounds.md").read_text(encoding="utf-8")
    assert "| 1 | 1e-05 | 0.06" in page
    for name in table.SCHEDULES:
        assert f"## {name}" in page
    assert "provenance" in (tmp_path / "rounds.json").read_text(encoding="utf-8")
