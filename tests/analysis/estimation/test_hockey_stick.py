"""δ(ε) and ε(δ) against closed forms, and against each other."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

from simulator.analysis.estimation import delta, epsilon
from simulator.analysis.estimation.inversion import Inversion, WeightedCurve, point_epsilon
from simulator.analysis.estimation.wealth import ABOVE, BELOW
from simulator.engine.outcomes.loss_sample import excess
from simulator.foundations.errors import InvalidInput
from tests.helpers.exploring import examples


def gaussian_delta(mu, eps):
    """Balle and Wang (ICML 2018), Theorem 8."""
    return norm.cdf(mu / 2 - eps / mu) - math.exp(eps) * norm.cdf(-mu / 2 - eps / mu)


@pytest.mark.sampled
@pytest.mark.parametrize("experiment", [0, 1])
@pytest.mark.parametrize("eps", [0.0, 1.0, 2.5])
def test_gaussian(eps, experiment):
    sign = 1 if experiment == 0 else -1
    losses = np.random.default_rng(2).normal(sign * 0.5, 1.0, 200_000)
    estimate = delta(losses, eps, experiment, 0.999)
    assert estimate.lower <= gaussian_delta(1.0, eps) <= estimate.upper
    inverse = epsilon(losses, gaussian_delta(1.0, eps), experiment, 0.999)
    assert inverse.lower <= eps <= inverse.upper
    assert inverse.upper - inverse.lower < 0.15


def test_the_wrong_direction_is_told_apart():
    losses = np.random.default_rng(2).normal(0.5, 1.0, 20_000)
    assert delta(losses, 1.0, experiment=1).upper < delta(losses, 1.0).lower


loss_lists = st.lists(
    st.one_of(
        st.floats(-5, 5).map(lambda x: round(x, 2)),
        st.sampled_from([math.inf, -math.inf, 0.0, 1.0]),
    ),
    min_size=1,
    max_size=40,
).map(lambda some: np.array(some, dtype=float))


@given(loss_lists, st.floats(1e-3, 0.9))
@examples(200)
def test_the_point_is_the_least_epsilon_that_meets_the_target(losses, target):
    point = point_epsilon(losses, np.zeros_like(losses), math.log(target))
    if math.isinf(point):
        assert np.mean(losses == np.inf) > target * (1 - 1e-9)
        return
    assert excess(losses, point).mean() <= target + 1e-9
    if point > 0.0:
        assert excess(losses, point - 1e-6).mean() > target - 1e-9


@given(loss_lists, st.floats(0.05, 0.6))
@examples(60)
def test_the_interval_holds_the_point_and_shrinks_with_confidence(losses, target):
    wide, narrow = epsilon(losses, target, confidence=0.99), epsilon(losses, target, confidence=0.5)
    assert wide.lower <= wide.value <= wide.upper
    assert narrow.lower <= narrow.value <= narrow.upper


def test_the_upper_limit_may_lie_near_the_largest_loss():
    """Half the views lose 1, the others nothing: δ(ε) = (1 - e^{ε-1})/2, so ε(0.02) = 0.959."""
    losses = np.where(np.random.default_rng(4).random(20_000) < 0.5, 1.0, 0.0)
    estimate = epsilon(losses, 0.02, confidence=0.999)
    truth = 1.0 + math.log(0.96)
    assert estimate.lower <= truth <= estimate.upper < 0.97


def test_trials_set_aside_are_not_bet_on():
    losses = np.random.default_rng(4).normal(0.5, 1.0, 500)
    inversion = Inversion(WeightedCurve(losses, np.ones(500)), 0.1, 0.05, start=100)
    for side in (ABOVE, BELOW):
        bets = inversion._bets(side)
        idle = bets.starts[:-1] < 100
        assert 100 in bets.starts
        assert np.all(bets.sizes[:, idle] == 0.0)
        assert np.all(bets.sizes[-1, ~idle] > 0.0)


def test_weights_count_like_repeated_trials():
    losses = np.array([0.5, 1.0, 2.0, 3.0])
    repeats = np.array([4, 1, 2, 1])
    plain = np.repeat(losses, repeats)
    log_delta = math.log(0.2)
    shifted = log_delta + math.log(plain.size / losses.size)  # means are over 8 and over 4
    weighted = point_epsilon(losses, np.log(repeats), shifted)
    assert weighted == pytest.approx(point_epsilon(plain, np.zeros(8), log_delta), rel=1e-12)


def test_infinite_losses():
    rng = np.random.default_rng(4)
    losses = np.where(rng.random(20_000) < 0.02, np.inf, 0.3)
    estimate = delta(losses, 5.0)
    assert estimate.lower < 0.02 < estimate.upper
    never = epsilon(losses, 0.001)
    assert (never.value, never.lower, never.upper) == (math.inf, math.inf, math.inf)
    assert epsilon(losses, 0.5).value == 0.0
    nothing = delta(np.full(1000, -np.inf), 0.0)
    assert nothing.value == 0.0
    assert nothing.upper > 0.0


def test_too_few_trials_set_no_upper_limit_on_epsilon():
    losses = np.random.default_rng(6).normal(0.5, 1.0, 1000)
    estimate = epsilon(losses, 1e-6)
    assert estimate.upper == math.inf
    assert estimate.as_dict()["upper"] is None


def test_extreme_losses_raise_no_warning():
    losses = np.array([1e308, -1e308, 800.0, -800.0])
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        assert delta(losses, 700.0).value == 0.5
        assert delta(losses, -750.0).value == 0.5
        epsilon(losses, 0.25)


@pytest.mark.parametrize("target", [0.0, 1.0, -0.1, math.nan])
def test_epsilon_needs_a_proper_delta(target):
    with pytest.raises(InvalidInput):
        epsilon([1.0, 2.0], target)


@pytest.mark.parametrize("eps", [math.inf, math.nan])
def test_delta_needs_a_finite_epsilon(eps):
    with pytest.raises(InvalidInput):
        delta([1.0, 2.0], eps)


@pytest.mark.sampled
@pytest.mark.parametrize(("target", "most"), [(0.1, 1.12), (0.01, 1.12)])
def test_intervals_are_nearly_as_narrow_as_the_normal_one(target, most):
    """Means over 3 samples of the width over that for known variance; 1.07 at 100,000 trials."""
    trials, point = 50_000, float(brentq(lambda e: gaussian_delta(1.0, e) - target, 0.0, 9.0))
    ratios = []
    for seed in range(3):
        losses = np.random.default_rng(seed).normal(0.5, 1.0, trials)
        x = excess(losses, point)
        normal = 2 * norm.isf(0.025) * x.std() / math.sqrt(trials)
        slope = math.exp(point) * norm.cdf(-0.5 - point)
        of_delta, of_epsilon = delta(losses, point), epsilon(losses, target)
        ratios.append(
            (
                (of_delta.upper - of_delta.lower) / normal,
                (of_epsilon.upper - of_epsilon.lower) / (normal / slope),
            )
        )
    assert np.all(np.mean(ratios, axis=0) < most)


def test_an_epsilon_whose_first_trials_say_the_largest_loss_has_limits():
    """The curve is flat there, at the share of infinite losses: no bets are chosen by its slope."""
    losses = np.full(4000, 0.5)
    losses[:5], losses[700::100] = np.inf, 2.0
    found = epsilon(losses, 5 / 500)
    assert 0.4 < found.lower < found.upper < 1.2
