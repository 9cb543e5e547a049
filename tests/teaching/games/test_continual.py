"""Continual observation: the numbers of the game made another way."""

import math

import numpy as np
import pytest
import scipy

from simulator.teaching.games import find
from simulator.teaching.games.library.continual import calibrated
from simulator.teaching.mechanisms.continual_counter import square_root_factor, tree_factor


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("steps", [1, 3, 8, 20])
def test_rows_by_other_formulas(steps):
    outcome = find("continual").play(steps=steps, trials=200, at=0.3, mu=0.7, epsilon=1.4)
    assert outcome.as_expected
    terms = np.array([math.comb(2 * k, k) / 4**k for k in range(steps)])
    variances = np.cumsum(terms**2) * (terms @ terms) / 0.49
    error = outcome.row("rows of B", "mean squared error, square root")
    assert error.upper == pytest.approx(variances.mean())
    fresh = outcome.row("norm of a column", "delta, fresh noise for every count")
    mu = 0.7 * math.sqrt(steps)
    cdf = scipy.stats.norm.cdf
    expected = cdf(mu / 2 - 0.3 / mu) - math.exp(0.3) * cdf(-mu / 2 - 0.3 / mu)
    assert fresh.upper == pytest.approx(expected)


def laplace_delta(parts, scale, at, draws=400_000):
    """Delta of Laplace noise on so many blocks, by simulation: (value, standard error)."""
    noise = np.random.default_rng(9).laplace(scale=scale, size=(draws, parts))
    loss = (np.abs(noise + 1.0) - np.abs(noise)).sum(axis=1) / scale
    gains = np.maximum(0.0, -np.expm1(at - loss))
    return gains.mean(), gains.std() / math.sqrt(draws)


def test_the_tree_has_the_delta_of_its_blocks():
    outcome = find("continual").play(trials=100, epsilon=2.0, at=0.7)
    found = outcome.row("the first element differs").upper
    value, error = laplace_delta(4, 2.0, 0.7)
    assert abs(found - value) < 4.5 * error  # false alarm below 1e-5


@pytest.mark.parametrize("factor", [tree_factor, square_root_factor])
def test_the_largest_column_has_the_stated_mu(factor):
    counter = calibrated(factor, 12, 0.9)
    assert counter.sensitivities.max() / counter.scale == pytest.approx(0.9)
    assert counter.kept().mu == pytest.approx(0.9)
