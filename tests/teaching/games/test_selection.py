"""The game of private selection: its claims at every number of runs, and what adapting is worth."""

import math

import numpy as np
import pytest

from simulator.foundations.errors import InvalidInput
from simulator.teaching.games import RowKind, Standing, find
from simulator.teaching.games.library.selection import NUMBERS, OneMore
from simulator.teaching.games.outcome import outcome_of
from simulator.teaching.games.rows import reached
from simulator.teaching.mechanisms import NegativeBinomialRuns, PoissonRuns
from simulator.teaching.mechanisms.best_of import best_of_law
from simulator.teaching.score_orders import hockey_stick_terms, worst_order
from tests.helpers.cases import case
from tests.helpers.selection import best_pair, random_runs

SELECTION = find("selection")


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


@pytest.mark.parametrize("runs", ["geometric", "logarithmic", "poisson", "fixed"])
def test_runs_with_a_delta_are_charged_for_every_run(runs):
    """The worst of runs with delta 1e-4 is at mean times delta, and the short accounts are caught.

    By hand: the best of k runs reveals the bit with probability 1 - (1 - delta)^k.
    """
    outcome = SELECTION.play(runs=runs, leak=1e-4, trials=100, selections=1)
    quantity = "delta of one selection, of runs that may reveal the bit"
    row = outcome.row("the worst scores (40 slices)", quantity)
    assert 0.985e-3 < row.upper <= 1e-3
    if runs == "fixed":
        assert row.upper == pytest.approx(1.0 - (1.0 - 1e-4) ** 10, rel=1e-9)
    if runs == "poisson":
        assert row.upper == pytest.approx(1.0 - math.exp(-10.0 * 1e-4), rel=1e-9)
    standings = [str(j.standing) for j in outcome.judged if j.row.quantity == quantity]
    assert sorted(standings) == ["agrees", *["exceeded, as it must be"] * 2, "holds"]


def test_what_adapting_to_earlier_selections_is_worth():
    """The numbers of the page: for three selections 7% over the same orders, for two next to none.

    Orders beyond the menu may reach more, so no row is the worst case.
    """
    for selections, adaptive, kept in ((2, 0.0760, 0.0759), (3, 0.125, 0.117)):
        outcome = SELECTION.play(trials=100, selections=selections)
        quantity = outcome.quantities[-1]
        chosen = outcome.row("one of five orders, by what was selected", quantity)
        same = outcome.row("the best of these five orders, kept", quantity)
        assert chosen.kind is same.kind is RowKind.REACHED
        assert chosen.lower == pytest.approx(adaptive, rel=5e-3)
        assert same.lower == pytest.approx(kept, rel=5e-3)
        assert chosen.lower > same.upper
        kinds = {row.kind for row in outcome.rows if row.quantity == quantity}
        assert RowKind.WORST not in kinds


@pytest.mark.sampled(n=3)
@pytest.mark.parametrize("aim", [0.2, 0.25, 0.3])
@pytest.mark.parametrize("slices", [6, 40])
def test_no_order_that_is_kept_contradicts_the_game(aim, slices):
    """Orders that an adversary keeps: none is above a row that says it is the largest."""
    outcome = SELECTION.play(trials=100)
    quantity = outcome.quantities[-1]
    runs = NegativeBinomialRuns.of_mean(10.0)
    order = worst_order(0.5, runs, hockey_stick_terms(aim), slices=slices)
    laws = [best_of_law(law, range(2 * slices), runs) for law in (order.on_0, order.on_1)]
    pairs = [np.multiply.outer(law, law).ravel() for law in laws]  # of two selections
    value = float(np.maximum(pairs[0] - math.exp(0.9) * pairs[1], 0.0).sum())
    kept = reached(quantity, "this order, kept", value)
    judged = outcome_of("selection", {}, [*outcome.rows, kept]).judged
    assert all(each.standing.as_expected for each in judged)
    assert value > 0.064


def test_a_fixed_number_of_runs_is_whole():
    with pytest.raises(InvalidInput, match=r"a fixed number of runs is whole: .* not 2.5"):
        SELECTION.play(runs="fixed", mean=2.5, trials=100)
    quantities = SELECTION.play(mean=2.5, trials=100, selections=1).quantities
    assert "largest loss, fixed number of runs" not in quantities


def test_the_bound_of_mean_times_delta_is_no_more_than_one():
    outcome = SELECTION.play(mean=200.0, leak=0.01, trials=100, selections=1)
    assert outcome.row("mean times delta").upper == 1.0
    assert outcome.as_expected


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
