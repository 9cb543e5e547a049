"""Checks that can fail: true claims pass, broken mechanisms and wrong bounds are caught."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from simulator.analysis.estimation import (
    BoundOutcome,
    tail_violation,
    violation,
    weighted_violation,
)
from simulator.foundations.errors import InvalidInput

ROUND_EPSILON = 0.5


def laplace_losses(claimed, actual, trials, rounds=1, seed=3):
    """Losses of a Laplace mechanism of sensitivity 1 whose noise has scale 1/``actual``.

    The claim is ``claimed``-DP a round; an honest mechanism has ``actual == claimed``.
    """
    noise = np.random.default_rng(seed).laplace(0.0, 1.0 / actual, (trials, rounds))
    return (actual * (np.abs(noise - 1.0) - np.abs(noise))).sum(axis=1)


def test_an_honest_laplace_keeps_its_claim():
    verdict = violation(laplace_losses(0.5, 0.5, 50_000), ROUND_EPSILON, 1e-3)
    assert verdict.outcome is BoundOutcome.HOLDS
    assert verdict.slack > 1e10


def test_rounding_on_the_bound_is_no_violation():
    """Every loss is exactly epsilon but for its rounding: pure DP at epsilon, so delta is 0."""
    losses = 0.5 + 1e-15 * np.random.default_rng(2).integers(-1, 2, 10_000)
    assert violation(losses, 0.5, 0.0).outcome is BoundOutcome.UNDECIDED
    assert tail_violation(losses, 0.5, 0.0).outcome is BoundOutcome.UNDECIDED
    assert tail_violation(losses, 0.5, 0.0).value == 0.0
    assert tail_violation(losses + 1e-13, 0.5, 0.0, rounds=1).outcome is BoundOutcome.VIOLATED
    assert weighted_violation(losses, np.zeros(10_000), 0.5, 0.0).outcome is BoundOutcome.UNDECIDED
    assert violation(np.zeros(10_000), 0.5, 0.0).slack == math.inf


def test_half_the_noise_is_caught():
    losses = laplace_losses(0.5, 1.0, 50_000)
    for verdict in (
        violation(losses, ROUND_EPSILON, 1e-3),
        violation(losses, ROUND_EPSILON, 0.0),
        violation(-losses, ROUND_EPSILON, 1e-3, experiment=1),
    ):
        assert verdict.outcome is BoundOutcome.VIOLATED
        assert verdict.lower > verdict.bound
        assert verdict.slack < 1.0


def test_between_the_limits_nothing_is_decided():
    losses = np.random.default_rng(1).normal(0.5, 1.0, 2000)
    exact = norm.cdf(-0.5) - math.e * norm.cdf(-1.5)
    assert violation(losses, 1.0, exact).outcome is BoundOutcome.UNDECIDED


@pytest.mark.parametrize("false_alarm", [0.01, 1e-6, 1e-12])
def test_stricter_levels_need_more_evidence(false_alarm):
    losses = np.random.default_rng(1).normal(0.5, 1.0, 5000)
    verdict = violation(losses, 1.0, 0.05, false_alarm=false_alarm)
    looser = violation(losses, 1.0, 0.05, false_alarm=0.2)
    assert verdict.lower < looser.lower < verdict.value < looser.upper < verdict.upper


def test_tails():
    losses = np.random.default_rng(1).normal(0.5, 1.0, 20_000)
    truth = float(norm.sf(1.5))
    assert tail_violation(losses, 2.0, 2 * truth).outcome is BoundOutcome.HOLDS
    assert tail_violation(losses, 2.0, truth / 2).outcome is BoundOutcome.VIOLATED
    assert tail_violation(-losses, 2.0, truth / 2, experiment=1).outcome is BoundOutcome.VIOLATED


class TestWeighted:
    """A Gaussian loss sampled under a tilt: L ~ N(1/2 + θ, 1), Ψ = θ(1+θ)/2."""

    theta, epsilon = 4.0, 4.5

    def sample(self, trials=20_000):
        losses = np.random.default_rng(5).normal(0.5 + self.theta, 1.0, trials)
        psi = self.theta * (1 + self.theta) / 2
        return losses, psi - self.theta * losses

    @property
    def exact(self):
        e = self.epsilon
        return norm.cdf(0.5 - e) - math.exp(e) * norm.cdf(-0.5 - e)

    def test_a_wrong_bound_is_caught_without_any_bound_on_the_weights(self):
        verdict = weighted_violation(*self.sample(), self.epsilon, 0.8 * self.exact)
        assert verdict.outcome is BoundOutcome.VIOLATED
        assert verdict.lower < self.exact

    def test_a_true_bound_is_not_called_wrong(self):
        verdict = weighted_violation(*self.sample(), self.epsilon, self.exact)
        assert verdict.outcome is BoundOutcome.UNDECIDED
        assert verdict.upper == math.inf

    def test_with_bounded_weights_it_can_hold(self):
        from simulator.analysis.estimation import delta_log_bound

        psi = self.theta * (1 + self.theta) / 2
        bound = delta_log_bound(self.theta, psi, self.epsilon)
        verdict = weighted_violation(
            *self.sample(), self.epsilon, 1.5 * self.exact, log_bound=bound
        )
        assert verdict.outcome is BoundOutcome.HOLDS

    def test_the_trials_that_set_the_scale_are_no_evidence(self):
        losses = np.where(np.arange(1000) < 100, 2.0, 0.0)
        assert weighted_violation(losses, np.zeros(1000), 1.0, 0.0).lower == 0.0
        assert weighted_violation(losses[::-1], np.zeros(1000), 1.0, 0.0).lower == 0.0

    def test_no_hits_are_no_evidence(self):
        losses = np.zeros(100)
        verdict = weighted_violation(losses, losses, 1.0, 0.0)
        assert verdict.outcome is BoundOutcome.UNDECIDED


@pytest.mark.parametrize("bound", [-0.1, math.nan])
def test_bounds_are_numbers(bound):
    with pytest.raises(InvalidInput):
        violation([1.0], 0.5, bound)


@pytest.mark.parametrize("false_alarm", [0.0, 1.0])
def test_false_alarms_have_a_probability(false_alarm):
    with pytest.raises(InvalidInput):
        violation([1.0], 0.5, 0.1, false_alarm=false_alarm)
