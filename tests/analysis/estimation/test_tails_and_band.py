"""Tails at one threshold and at all of them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from simulator.analysis.estimation import clopper_pearson, tail, tail_band
from simulator.analysis.estimation.band import exceedance_limits
from simulator.foundations.errors import InvalidInput
from tests.helpers.exploring import examples


def test_tail_counts_strictly_above():
    losses = [1.0, 2.0, 2.0, 3.0, math.inf, -math.inf]
    assert tail(losses, 2.0).value == 2 / 6
    assert tail(losses, 2.0) == clopper_pearson(2, 6)
    assert tail(losses, math.inf).value == 0.0


def test_experiment_1_exchanges_the_roles():
    losses = np.array([1.0, -2.0, -2.5, -math.inf])
    assert tail(losses, 2.0, experiment=1) == tail(-losses, 2.0)
    mine, mirror = tail_band(losses, [0.0, 2.0], experiment=1), tail_band(-losses, [0.0, 2.0])
    np.testing.assert_array_equal(mine.upper, mirror.upper)


@pytest.mark.parametrize("factor", [0.0, 0.5, 1.25, 3.0])
@pytest.mark.parametrize("candidate", [0.01, 0.3])
def test_the_likelihood_ratio_is_fair(factor, candidate):
    """E[R_c] = 1 exactly, summed over the binomial law of the count."""
    trials = 60
    counts = np.arange(trials + 1)
    ratio = factor ** counts.astype(float) * ((1 - factor * candidate) / (1 - candidate)) ** (
        trials - counts
    )
    assert (binom.pmf(counts, trials, candidate) * ratio).sum() == pytest.approx(1.0, rel=1e-12)


@given(st.integers(1, 5000), st.floats(1e-9, 0.5), st.data())
@examples(40)
def test_limits_are_ordered_and_monotone(trials, alpha, data):
    some = data.draw(st.lists(st.integers(0, trials), min_size=1, max_size=30))
    counts = np.sort(np.array(some))
    lower, upper = exceedance_limits(counts, trials, alpha)
    assert np.all((lower >= 0.0) & (lower <= counts / trials))
    assert np.all((upper <= 1.0) & (upper >= counts / trials))
    assert np.all(np.diff(lower) >= 0.0)
    assert np.all(np.diff(upper) >= 0.0)


def test_no_hits_have_the_limit_of_the_extreme_factor():
    """With no exceedance the factor 0 alone gives (1-p)^-n, so ln(2J/α)/n is an upper bound."""
    trials, alpha = 10_000, 0.05
    _, upper = exceedance_limits(np.array([0]), trials, alpha)
    terms = math.ceil(math.log2(math.sqrt(trials))) + 1
    assert math.log(2 / alpha) / trials < upper[0] < math.log(2 * terms / alpha) / trials


@pytest.mark.parametrize("trials", [2_000, 2_000_000])
def test_the_band_follows_the_tail_where_dkw_cannot(trials):
    counts = np.unique(np.geomspace(5, trials / 2, 60).astype(int))
    lower, upper = exceedance_limits(counts, trials, 0.05)
    point = [clopper_pearson(int(count), trials) for count in counts]
    widths = np.array([one.upper - one.lower for one in point])
    assert np.all((upper - lower) / widths < 2.2)
    dkw = math.sqrt(math.log(2 / 0.05) / (2 * trials))
    assert upper[0] - lower[0] < (counts[0] / trials + dkw) / 3


def test_the_band_contains_a_gaussian_tail_everywhere():
    losses = np.random.default_rng(11).normal(0.5, 1.0, 100_000)
    thresholds = np.linspace(-4, 6, 400)
    truth = norm.sf(thresholds - 0.5)
    result = tail_band(losses, thresholds, confidence=0.999)
    assert np.all((result.lower <= truth) & (truth <= result.upper))
    wrong = norm.sf(thresholds - 0.55)
    assert np.any((wrong < result.lower) | (wrong > result.upper))


def test_atoms_are_no_obstacle():
    losses = np.random.default_rng(5).choice([-1.0, 1.0], 5000)
    result = tail_band(losses, [-2.0, -1.0, 0.0, 1.0])
    np.testing.assert_array_equal(result.value[1:3], [result.value[1]] * 2)
    assert result.value[0] == 1.0
    assert result.upper[0] == 1.0
    assert result.value[3] == 0.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: tail([], 1.0),
        lambda: tail([math.nan], 1.0),
        lambda: tail([1.0], math.nan),
        lambda: tail([1.0], 1.0, experiment=2),
        lambda: tail([1.0], 1.0, confidence=0.0),
        lambda: tail_band([1.0], [math.nan]),
        lambda: tail_band([1.0], [[1.0]]),
    ],
)
def test_bad_input(call):
    with pytest.raises(InvalidInput):
        call()
