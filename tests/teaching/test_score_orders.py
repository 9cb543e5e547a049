"""The worst order of scores for private selection, by enumeration and against random runs."""

import itertools
import math

import numpy as np
import pytest

from simulator.foundations.errors import NotApplicable
from simulator.teaching.score_orders import (
    hockey_stick_terms,
    largest_loss,
    renyi_terms,
    worst_order,
)
from simulator.theory import FiniteLaw
from simulator.theory.guarantees.run_counts import FixedRuns, NegativeBinomialRuns, PoissonRuns
from tests.helpers.selection import best_pair, random_runs

RUNS = [
    NegativeBinomialRuns.of_mean(6.0),
    NegativeBinomialRuns.of_mean(6.0, 0.0),
    PoissonRuns(6.0),
    FixedRuns(6),
]


@pytest.mark.parametrize("runs", RUNS, ids=str)
@pytest.mark.parametrize("terms", [hockey_stick_terms(0.6), renyi_terms(3.0)])
def test_the_worst_order_is_the_best_of_all_orders(runs, terms):
    """All 70 orders of four slices of each answer, by the law of the best run."""
    truth = 1.0 / (1.0 + math.exp(-0.5)) / 4
    lie = math.exp(-0.5) * truth
    sums = []
    for rises in itertools.combinations(range(8), 4):
        on_0 = [truth if i in rises else lie for i in range(8)]
        on_1 = [lie if i in rises else truth for i in range(8)]
        first, second = best_pair(on_0, on_1, runs)
        sums.append(float(np.sum(terms(first, second))))
    found = worst_order(0.5, runs, terms, slices=4)
    assert found.value == pytest.approx(max(sums), rel=1e-12)
    assert float(np.sum(terms(*best_pair(found.on_0, found.on_1, runs)))) == pytest.approx(
        found.value, rel=1e-12
    )


@pytest.mark.parametrize("runs", RUNS, ids=str)
def test_no_random_runs_are_worse(runs):
    """400 pairs, against a search of 80 slices, which is within 1% of finer ones."""
    draws = np.random.default_rng(4)
    terms = hockey_stick_terms(0.6)
    limit = worst_order(0.5, runs, terms, slices=80).value
    coarser = worst_order(0.5, runs, terms, slices=40).value
    assert coarser <= limit <= 1.01 * coarser
    largest = 0.0
    for _ in range(400):
        first, second = best_pair(*random_runs(draws, 0.5), runs)
        largest = max(largest, float(np.sum(terms(first, second))))
    assert 0.3 * limit < largest <= 1.001 * limit


@pytest.mark.parametrize("runs", [*RUNS, FixedRuns(400)], ids=str)
def test_the_largest_loss_reaches_its_limit(runs):
    """From below, and by the law of the best run of 50 slices."""
    limit = 0.5 + runs.growth(0.5)
    assert limit * (1 - 2e-3) < largest_loss(0.5, runs) <= limit * (1 + 1e-9)
    truth = 1.0 / (1.0 + math.exp(-0.5))
    on_0 = [truth / 50] * 50 + [1.0 - truth]
    on_1 = [(1.0 - truth) / 50] * 50 + [truth]
    if runs.mean < 100:
        first, second = best_pair(on_0, on_1, runs)
        by_law = float(np.log(first / second).max())
        assert largest_loss(0.5, runs, slices=50) == pytest.approx(by_law, rel=1e-9)


def test_runs_that_may_reveal_the_bit_reveal_it_as_often_as_they_run():
    """A delta of 1e-3 in one run is one of about mean times as much in the selection."""
    runs = RUNS[0]
    found = worst_order(0.5, runs, hockey_stick_terms(2.0), slices=20, delta=1e-3)
    first, second = best_pair(found.on_0, found.on_1, runs)
    law = FiniteLaw.from_probabilities(first, second)
    assert law.delta(2.0) == pytest.approx(found.value, rel=1e-9)
    assert 0.9 * runs.mean * 1e-3 < law.infinite_mass < runs.mean * 1e-3
    assert law.delta(0.5 + runs.growth(0.5, 1e-3)) <= runs.mean * 1e-3


def test_probabilities_that_underflow_are_one_line():
    with pytest.raises(NotApplicable, match="the best of 1000 runs has probabilities below"):
        largest_loss(3.0, FixedRuns(1000))
