"""Private selection: the worst order of scores by enumeration, and claims that are wrong."""

import itertools
import math

import numpy as np
import pytest

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.games import RowKind, Standing, find
from simulator.games.library.selection import NUMBERS, OneMore
from simulator.mechanisms import FixedRuns, NegativeBinomialRuns, PoissonRuns
from simulator.mechanisms.best_of import best_of_law
from simulator.theory import FiniteLaw
from simulator.worst.score_orders import hockey_stick_terms, largest_loss, renyi_terms, worst_order
from tests.helpers.cases import case

RUNS = [
    NegativeBinomialRuns.of_mean(6.0),
    NegativeBinomialRuns.of_mean(6.0, 0.0),
    PoissonRuns(6.0),
    FixedRuns(6),
]
SELECTION = find("selection")


def best_pair(on_0, on_1, runs):
    return tuple(best_of_law(law, range(len(law)), runs) for law in (on_0, on_1))


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


def random_runs(draws, epsilon):
    """A random epsilon-DP pair: randomized response through a random channel, in random order."""
    channel = draws.dirichlet(np.full(4, 0.4), size=2)
    truth = 1.0 / (1.0 + math.exp(-epsilon))
    on_0 = truth * channel[0] + (1.0 - truth) * channel[1]
    on_1 = (1.0 - truth) * channel[0] + truth * channel[1]
    return on_0, on_1


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


@pytest.mark.parametrize("inner", [NegativeBinomialRuns.of_mean(4.0), PoissonRuns(4.0)], ids=str)
def test_one_run_more(inner):
    """Its law from the generating function, and its growth against random runs."""
    law = np.array([0.2, 0.5, 0.3])
    runs = OneMore(inner)

    def generating(x):
        if isinstance(inner, PoissonRuns):
            return x * math.exp(inner.rate * (x - 1.0))
        return x * inner.gamma * x / (1.0 - (1.0 - inner.gamma) * x)

    expected = np.diff([generating(x) for x in (0.0, 0.2, 0.7, 1.0)])
    assert best_of_law(law, range(3), runs) == pytest.approx(expected, rel=1e-9)
    draws = np.random.default_rng(2)
    for _ in range(300):
        first, second = best_pair(*random_runs(draws, 0.8), runs)
        assert np.abs(np.log(first / second)).max() <= 0.8 + runs.growth(0.8)


@pytest.mark.sampled
@pytest.mark.parametrize("runs", NUMBERS)
def test_every_number_of_runs_is_as_expected_and_its_wrong_claims_are_caught(runs):
    outcome = SELECTION.play(runs=runs, trials=1000)
    for each in outcome.judged:
        with case(f"{each.row.quantity}: {each.row.what}"):
            assert each.standing.as_expected
    caught = [each for each in outcome.judged if each.standing is Standing.CAUGHT]
    assert len(caught) >= 4


def test_what_adapting_to_earlier_selections_is_worth():
    """The adaptive adversary is above the best order that is kept, by more than the ends."""
    outcome = SELECTION.play(trials=100, selections=3, at=1.0)
    quantity = outcome.quantities[-1]
    adaptive = outcome.row("order chosen by what was selected (6 slices)", quantity)
    kept = outcome.row("the best order that is kept", quantity)
    assert adaptive.kind is RowKind.WORST
    assert adaptive.lower > 1.05 * kept.upper


def test_probabilities_that_underflow_are_one_line():
    with pytest.raises(NotApplicable, match="the best of 1000 runs has probabilities below"):
        largest_loss(3.0, FixedRuns(1000))


def test_hostile_knobs_are_one_line_or_numbers():
    with pytest.raises(InvalidInput, match="runs must be one of geometric, logarithmic"):
        SELECTION.play(runs="binomial")
    with pytest.raises(InvalidInput, match="runs must be one of geometric"):
        SELECTION.read(["runs=binomial"])
    for changes in (
        {"epsilon": 0.01},
        {"epsilon": 3.0, "mean": 200.0, "selections": 1},
        {"mean": 1.0, "runs": "logarithmic"},
        {"at": 0.0},
        {"at": 10.0, "selections": 1},
    ):
        with case(str(changes)):
            outcome = SELECTION.play(trials=100, **changes)
            assert outcome.as_expected
            assert not any(math.isnan(row.upper) for row in outcome.rows)
