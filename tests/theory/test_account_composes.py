"""``Account.then`` composes what a tree written at once composes."""

import csv
import math

import numpy as np
import pytest

from simulator import Account, PureDP
from simulator.foundations.errors import InvalidInput
from simulator.theory import Composition, bounds_for, events


def test_then_composes_as_a_tree_does():
    step = events.subsampled(events.gaussian(1.0), 0.01)
    grown = Account().then(step, 200).then(PureDP(0.1)).then("pure:0.2", 3)
    tree = events.compose(
        events.self_compose(step, 200),
        events.promise(PureDP(0.1)),
        events.self_compose(events.promise("pure:0.2"), 3),
    )
    assert grown == Account(tree)
    assert grown.epsilon(1e-5) == Account(tree).epsilon(1e-5)


def test_pure_rounds_add_up_and_nothing_costs_nothing():
    # delta 0 of pure rounds is the sum of their epsilons
    found = Account().then("pure:0.1", 4).then("pure:0.3").epsilon(1e-300)
    assert found.lower <= 0.7 <= found.upper
    assert Account().epsilon(1e-6).upper == 0.0
    assert Account(relation="replace-one").then("pure:0.1").relation == "replace-one"


@pytest.mark.nightly
def test_several_points_have_the_answers_of_single_calls():
    deltas, epsilons = [1e-2, 1e-9], np.array([0.5, 2.0])
    sampled = events.subsampled(events.gaussian(1.0), 0.1)
    for account in (
        Account().then(events.gaussian(1.0), 4),
        Account().then(sampled, 3),
        Account().then("zcdp:0.1"),
    ):
        found, inverse = account.epsilon(deltas), account.delta(epsilons)
        assert list(found) == [account.epsilon(delta) for delta in deltas]
        assert list(inverse) == [account.delta(float(epsilon)) for epsilon in epsilons]
        assert found.upper.tolist() == [each.upper for each in found]
        assert (found.at, inverse.at) == ("delta", "epsilon")


def test_a_bound_answers_several_points_as_single_calls():
    for applied in bounds_for(Composition.repeat(PureDP(0.3), 5)):
        if not applied.bound.costly:
            assert list(applied.delta([0.5, math.inf])) == [
                applied.delta(0.5),
                applied.delta(math.inf),
            ]
            found = applied.epsilon(np.array([1e-3, 1e-6]))
            assert list(found) == [applied.epsilon(1e-3), applied.epsilon(1e-6)]


def test_several_points_take_one_composition(monkeypatch):
    account, composed = Account().then(events.gaussian(1.0), 4), []
    directions = Account.directions
    monkeypatch.setattr(
        Account, "directions", lambda self, *a: composed.append(1) or directions(self, *a)
    )
    assert len(account.epsilon(np.geomspace(1e-9, 1e-1, 20))) == 20
    assert len(composed) == 1


def test_points_that_are_no_numbers_are_refused_in_one_line():
    account = Account().then("pure:0.1", 4)
    for points, line in (
        ([[1e-5]], "delta must be a number or a list"),
        ("x", "delta must be a number"),
        ([1e-5, "x"], "a list of numbers"),
        ([1e-5, 2.0], "delta must be in"),
    ):
        with pytest.raises(InvalidInput, match=line):
            account.epsilon(points)


def test_the_rows_of_the_bounds_are_a_table(tmp_path):
    rows = Account().then("pure:0.1", 4).compare(delta=1e-6)
    with open(rows.to_csv(tmp_path / "bounds.csv"), newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["bound"] for line in lines] == [row.name for row in rows]
    assert [float(line["upper"]) for line in lines] == [row.answer.upper for row in rows]
    assert rows == list(rows)
