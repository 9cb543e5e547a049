"""Noise and losses by the formulas of the textbook, one line of arithmetic each."""

import math

import numpy as np
import pytest

from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database
from simulator.data.queries import counting_query, counting_scores, function_query
from simulator.mechanisms import (
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    LeakyRandomizedResponse,
    RandomizedResponse,
    ReportNoisyMax,
)

WITHOUT = Database({"bob": 1, "others": 8})
WITH = WITHOUT.add("alice")
ALICE = counting_query("alice")


def draws(mechanism, n=4000):
    pair, noise = mechanism.pair(WITHOUT, WITH), np.random.default_rng(5)
    return np.array([pair.sample(0, noise) for _ in range(n)])


def alices(database):
    return database.count_of("alice")


def test_laplace_noise_grows_with_the_sensitivity():
    one, four = (draws(Laplace(function_query(alices, s), 0.5), 50) for s in (1.0, 4.0))
    np.testing.assert_allclose(four, 4.0 * one, rtol=1e-14)


def test_the_loss_of_gaussian_noise_is_linear():
    pair = Gaussian(ALICE, 3.0).pair(WITHOUT, WITH)
    for y in (-2.0, 0.5, 4.0):
        assert pair.loss(y) == pytest.approx(((y - 1.0) ** 2 - y**2) / 18.0, rel=1e-14)
    tilted, noise = pair.tilted(30.0), np.random.default_rng(3)
    mean = np.mean([pair.sample_tilted(tilted, noise) for _ in range(400)])
    assert mean == pytest.approx(-30.0, abs=1.0)  # theta toward what database 0 makes likely


@pytest.mark.parametrize("kind", [Laplace, RandomizedResponse])
def test_psi_vanishes_at_both_ends_and_is_known_at_one(kind):
    pair = kind(ALICE, 0.7).pair(WITHOUT, WITH)
    assert pair.tilted(0.0)[0] == pytest.approx(0.0, abs=1e-14)
    assert pair.tilted(-1.0)[0] == pytest.approx(0.0, abs=1e-14)
    e = 0.7
    expected = {
        Laplace: 2 / 3 * math.exp(e) + 1 / 3 * math.exp(-2 * e),
        RandomizedResponse: (math.exp(2 * e) + math.exp(-e)) / (1 + math.exp(e)),
    }[kind]
    assert pair.tilted(1.0)[0] == pytest.approx(math.log(expected), rel=1e-13)


def test_the_exponential_mechanism_weighs_by_half_the_score():
    query = counting_scores(["alice", "bob"])
    pair = Exponential(query, 0.9).pair(WITHOUT, WITH)
    without, with_ = np.exp(0.45 * np.array([0.0, 1.0])), np.exp(0.45 * np.array([1.0, 1.0]))
    losses = np.log(without / without.sum()) - np.log(with_ / with_.sum())
    assert [pair.loss(answer) for answer in (0.0, 1.0)] == pytest.approx(losses, rel=1e-13)


def test_geometric_noise_is_symmetric():
    """Its deviation is 2.8, that of the mean of 4,000 draws 0.044: false alarm below 1e-7."""
    assert abs(draws(Geometric(ALICE, 0.5)).mean()) < 0.25


def test_report_noisy_max_needs_twice_the_noise_where_counts_move_both_ways():
    query = counting_scores(["alice", "bob"])
    mechanism = ReportNoisyMax(query, 0.5)
    assert mechanism.scale(ADD_REMOVE) == query.sensitivity(ADD_REMOVE) / 0.5
    assert mechanism.scale(REPLACE_ONE) == 2.0 * query.sensitivity(REPLACE_ONE) / 0.5


def test_the_probabilities_of_a_leaky_response_add_up_to_one():
    law = LeakyRandomizedResponse(ALICE, 0.7, 0.1).law(WITHOUT, WITH)
    assert np.exp(law.atom_log_masses).sum() + law.infinite_mass == pytest.approx(1.0, abs=1e-14)
    assert law.infinite_mass == pytest.approx(0.1, rel=1e-14)
