"""Group privacy: exact values from other formulas, bounds at random parameters, worst chains."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom, norm

from simulator.data import (
    Database,
    counting_query,
)
from simulator.foundations.errors import NotApplicable
from simulator.teaching.games import Standing, find
from simulator.teaching.games.library.group import worst_chain
from simulator.theory import ApproxDP
from simulator.theory.guarantees.transforms import group
from tests.helpers.cases import case

GROUP = find("group")
COUNT = counting_query("hers")
OTHERS = Database({"others": 2})


def by_hand(mechanism, size, epsilon, point):
    """delta(point) of a group from the densities: Laplace, two normal tails, a binomial sum."""
    if mechanism == "laplace":
        total = size * epsilon
        return -math.expm1((point - total) / 2.0) if point < total else 0.0
    if mechanism == "gaussian":
        mu = size * epsilon
        return norm.cdf(mu / 2 - point / mu) - math.exp(point) * norm.cdf(-mu / 2 - point / mu)
    lies = np.arange(size + 1)
    loss = (size - 2 * lies) * epsilon
    chance = binom.pmf(lies, size, 1.0 / (1.0 + math.exp(epsilon)))
    return float(chance @ np.maximum(0.0, -np.expm1(point - loss)))


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian", "randomized-response"])
def test_every_mechanism_is_as_expected_at_random_parameters(mechanism):
    draws = np.random.default_rng(3)
    for _ in range(8):
        size, epsilon = int(draws.integers(1, 9)), float(draws.uniform(0.05, 1.5))
        at = float(draws.uniform(0.0, 1.2))
        outcome = GROUP.play(mechanism=mechanism, size=size, epsilon=epsilon, at=at, trials=100)
        with case(f"size {size}, epsilon {epsilon}, at {at}"):
            assert outcome.as_expected
            row = outcome.rows[0]
            exact = by_hand(mechanism, size, epsilon, at * size * epsilon)
            assert row.lower == pytest.approx(exact, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian", "randomized-response"])
def test_record_level_numbers_are_caught_at_user_level(mechanism):
    outcome = GROUP.play(mechanism=mechanism, trials=1000)
    caught = {each.row.what for each in outcome.judged if each.standing is Standing.CAUGHT}
    expected = {"the curve of one record", "(k epsilon, k delta)", "k rho"}
    assert caught == expected - ({"k rho"} if mechanism == "randomized-response" else set())


def by_program(epsilon, delta, size, at):
    """The worst chain by a linear program over the event's probabilities."""
    grow, rows, limits = math.exp(epsilon), [], []
    for i in range(size):
        for here, there in ((i, i + 1), (i + 1, i)):
            for sign, limit in ((1.0, delta), (-1.0, delta + grow - 1.0)):
                row = np.zeros(size + 1)
                row[here], row[there] = sign, -sign * grow
                rows.append(row)
                limits.append(limit)
    aim = np.r_[-1.0, np.zeros(size - 1), math.exp(at)]
    return -linprog(aim, np.array(rows), np.array(limits), bounds=(0.0, 1.0), method="highs").fun


def test_the_worst_chain_is_that_of_the_linear_program():
    draws = np.random.default_rng(6)
    for _ in range(60):
        size, epsilon = int(draws.integers(1, 8)), float(draws.uniform(0.05, 1.0))
        delta = float(draws.choice([0.0, 0.01, 0.1, 0.3]))
        at = float(draws.uniform(0.0, 1.1)) * size * epsilon
        found = worst_chain(epsilon, delta, size, at)
        with case(f"{size}, {epsilon}, {delta}, {at}"):
            assert found == pytest.approx(by_program(epsilon, delta, size, at), abs=1e-6)
            try:
                stated = group(ApproxDP(epsilon, delta), size).hockey_stick(at)
            except NotApplicable:  # the formula's delta reaches 1
                continue
            assert found <= stated * (1 + 1e-12) + 1e-15


def test_the_formula_of_an_approximate_promise_is_attained():
    """As in Vadhan 2017, Lemma 2.2, with the sum of delta e^(i epsilon) written out."""
    for size, epsilon in ((1, 0.3), (4, 0.3), (9, 1.0)):
        for delta in (1e-12, 1e-6, 1e-4):
            total = math.fsum(delta * math.exp(i * epsilon) for i in range(size))
            stated = group(ApproxDP(epsilon, delta), size)
            assert stated.delta == pytest.approx(total, rel=1e-12)
            found = worst_chain(epsilon, delta, size, size * epsilon)
            assert found == pytest.approx(total, rel=1e-9)
            assert size == 1 or found > 1.1 * size * delta
