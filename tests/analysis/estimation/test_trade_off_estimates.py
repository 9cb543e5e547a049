"""The empirical trade-off function against the Gaussian one."""

import numpy as np
import pytest
from scipy.stats import norm

from simulator.analysis.estimation import empirical_trade_off
from simulator.analysis.estimation.band import exceedance_limits
from simulator.foundations.errors import InvalidInput

GRID = np.concatenate((np.geomspace(1e-6, 0.1, 60), np.linspace(0.1, 1.0, 60)))


def gaussian(errors, mu):
    """Dong, Roth and Su (2022), Definition 2.6."""
    return norm.cdf(norm.isf(errors) - mu)


def samples(mu, trials, seed=9):
    rng = np.random.default_rng(seed)
    return rng.normal(mu**2 / 2, mu, trials), rng.normal(-(mu**2) / 2, mu, trials)


@pytest.mark.parametrize("trials", [300, 20_000])
def test_the_band_holds_the_gaussian_trade_off(trials):
    curve = empirical_trade_off(*samples(1.0, trials), confidence=0.999)
    truth = gaussian(GRID, 1.0)
    assert np.all(curve.lower(GRID) <= truth + 1e-12)
    assert np.all(truth <= curve.upper(GRID) + 1e-12)


def test_a_neighbouring_curve_is_excluded():
    curve = empirical_trade_off(*samples(1.0, 20_000), confidence=0.999)
    for wrong in (0.8, 1.2):
        claimed = gaussian(GRID, wrong)
        assert np.any((claimed < curve.lower(GRID)) | (claimed > curve.upper(GRID)))


def test_points_are_the_tests_own_errors():
    curve = empirical_trade_off([0.0, 1.0, 2.0, 3.0], [-1.0, 0.0, 1.0, 1.0], [1.0, 0.5])
    np.testing.assert_array_equal(curve.thresholds, [0.5, 1.0])
    np.testing.assert_array_equal(curve.type_one, [0.25, 0.5])
    np.testing.assert_array_equal(curve.type_two, [0.5, 0.0])
    assert np.all(curve.type_one_lower <= curve.type_one)
    assert np.all(curve.type_two <= curve.type_two_upper)


def test_each_sample_gets_half_the_error():
    first, second = samples(1.0, 500)
    curve = empirical_trade_off(first, second, [0.0], confidence=0.9)
    lower, upper = exceedance_limits(np.array([np.sum(second > 0.0)]), 500, 0.05)
    limits = (curve.type_two_lower[0], curve.type_two_upper[0])
    assert limits == pytest.approx((lower[0], upper[0]), rel=1e-12)
    lower, upper = exceedance_limits(np.array([np.sum(first <= 0.0)]), 500, 0.05)
    limits = (curve.type_one_lower[0], curve.type_one_upper[0])
    assert limits == pytest.approx((lower[0], upper[0]), rel=1e-12)


def test_curves_descend_and_respect_guessing():
    curve = empirical_trade_off(*samples(0.5, 2000))
    for bound in (curve.lower(GRID), curve.upper(GRID)):
        assert np.all(np.diff(bound) <= 0.0)
        assert np.all((bound >= 0.0) & (bound <= 1.0 - GRID + 1e-12))


def test_identical_experiments_cannot_be_told_apart():
    same = np.zeros(1000)
    curve = empirical_trade_off(same, same)
    assert curve.upper([0.5])[0] == 0.5
    assert curve.thresholds.size == 1


def test_certain_views_are_seen():
    """Losses that are infinite in a tenth of the trials: power 0.1 at no type I error."""
    rng = np.random.default_rng(1)
    first = np.where(rng.random(20_000) < 0.1, np.inf, 0.0)
    second = np.where(rng.random(20_000) < 0.1, -np.inf, 0.0)
    curve = empirical_trade_off(first, second)
    assert curve.upper([0.001])[0] == pytest.approx(0.9, abs=0.02)


def test_bad_input():
    with pytest.raises(InvalidInput):
        empirical_trade_off([1.0], [])
    with pytest.raises(InvalidInput):
        empirical_trade_off([1.0], [1.0], [np.nan])
    with pytest.raises(InvalidInput):
        empirical_trade_off([1.0], [1.0]).lower([1.5])
