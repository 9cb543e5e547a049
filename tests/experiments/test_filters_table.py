"""The table of filters: its limits against other computations, and a row of one promise."""

import itertools
import math

import pytest

from experiments.filters import table
from experiments.filters.__main__ import main
from experiments.filters.families import renyi
from experiments.filters.limits import most_of_one, most_of_schedule
from simulator.theory import Composition, PureDP, bound
from simulator.worst.filters.admitted import most_rounds


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
    assert main(["--epsilon", "1", "--delta", "1e-5", "--folder", str(tmp_path)]) == 0
    page = (tmp_path / "rounds.md").read_text(encoding="utf-8")
    for name in table.SCHEDULES:
        assert f"## {name}" in page
        assert f"| {name} | 25 |" not in page
    assert '"plans"' in (tmp_path / "rounds.json").read_text(encoding="utf-8")
