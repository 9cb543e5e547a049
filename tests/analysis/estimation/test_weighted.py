"""Importance-weighted estimates against exact sums; refusals; tiny numbers keep their digits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import binom

from simulator.analysis.estimation import (
    delta,
    delta_log_bound,
    epsilon,
    exchanged_log_weights,
    tail_log_bound,
    weighted,
    weighted_delta,
    weighted_epsilon,
    weighted_tail,
)
from simulator.analysis.estimation.weighted import HIDDEN
from simulator.engine.outcomes.log_mean import LogMean
from simulator.foundations.errors import InvalidInput, NotApplicable, Refusal
from tests.helpers.exploring import examples

# Bob's 10,000 databases: randomized response, tilted so that the loss centres on epsilon
ROUNDS, ROUND_EPSILON, THETA, EPSILON = 10_000, 1 / 801, 57.8, 0.890468


def log_cumulant(theta, rounds=ROUNDS, eps=ROUND_EPSILON):
    """Ψ of randomized response: rounds · ln(p e^{θε} + (1-p) e^{-θε})."""
    p = 1 / (1 + math.exp(-eps))
    return rounds * float(np.logaddexp(math.log(p) + theta * eps, math.log1p(-p) - theta * eps))


def tilted_play(theta, trials, rounds=ROUNDS, eps=ROUND_EPSILON, seed=7):
    truthful = 1 / (1 + math.exp(-(1 + 2 * theta) * eps))
    count = np.random.default_rng(seed).binomial(rounds, truthful, trials)
    losses = (2 * count - rounds) * eps
    return losses, log_cumulant(theta, rounds, eps) - theta * losses


def exact(epsilon_, rounds=ROUNDS, eps=ROUND_EPSILON):
    """(δ, tail) of composed randomized response by summing the binomial law in logarithms."""
    count = np.arange(rounds + 1)
    loss = (2 * count - rounds) * eps
    mass = binom.logpmf(count, rounds, 1 / (1 + math.exp(-eps)))
    above = loss > epsilon_
    factor = np.log(-np.expm1(epsilon_ - loss[above]))
    return math.exp(logsumexp(mass[above] + factor)), math.exp(logsumexp(mass[above]))


BOUNDS = (
    delta_log_bound(THETA, log_cumulant(THETA), EPSILON),
    tail_log_bound(THETA, log_cumulant(THETA), EPSILON),
)


@pytest.mark.parametrize("bounded", [True, False])
def test_bobs_databases(bounded):
    """1.26642e-14 with 1e5 samples: relative standard error below 1%, both intervals cover."""
    losses, log_weights = tilted_play(THETA, 100_000)
    delta_exact, tail_exact = exact(EPSILON)
    assert delta_exact == pytest.approx(1.26643e-14, rel=1e-5)
    bounds = BOUNDS if bounded else (None, None)
    measured = weighted_delta(losses, log_weights, EPSILON, confidence=0.999, log_bound=bounds[0])
    assert measured.lower <= delta_exact <= measured.upper
    assert measured.lower > 0.95 * delta_exact
    assert bool(measured.no_value) != bounded
    if bounded:
        assert measured.relative_standard_error < 0.01
        assert measured.upper < 1.1 * measured.lower
    measured = weighted_tail(losses, log_weights, EPSILON, confidence=0.999, log_bound=bounds[1])
    assert measured.lower <= tail_exact <= measured.upper


@pytest.mark.parametrize("bounded", [True, False])
def test_bobs_epsilon(bounded):
    losses, log_weights = tilted_play(THETA, 50_000)
    bound = (lambda e: delta_log_bound(THETA, log_cumulant(THETA), e)) if bounded else None
    found = weighted_epsilon(
        losses, log_weights, exact(EPSILON)[0], confidence=0.999, log_bound=bound
    )
    assert found.lower <= EPSILON <= found.upper
    assert found.lower > EPSILON - 0.003
    if bounded:
        assert found.upper - found.lower < 0.003
        centre, radius = (found.lower + found.upper) / 2, (found.upper - found.lower) / 2
        assert abs(found.value - centre) < radius / 3
        assert 0.0 < found.relative_standard_error < 1e-3


def test_both_directions_from_one_sample():
    """Experiment 1 sampled through weights of experiment 0, against its mirror image."""
    losses, log_weights = tilted_play(THETA, 100_000)
    mirrored = exchanged_log_weights(-losses, log_cumulant(THETA) - (1 + THETA) * losses)
    same = weighted_delta(losses, log_weights, EPSILON, log_bound=BOUNDS[0])
    other = weighted_delta(-losses, mirrored, EPSILON, experiment=1, log_bound=BOUNDS[0])
    assert other.value == pytest.approx(same.value, rel=1e-9)


def test_an_untilted_sample_serves_the_other_experiment():
    """Pr1[-L > t] = E0[e^{-L} 1{-L > t}], against a plain sample drawn in experiment 1."""
    losses, _ = tilted_play(0.0, 100_000, rounds=20, eps=0.2)
    weights = exchanged_log_weights(losses, np.zeros_like(losses))
    through = weighted_delta(losses, weights, 1.0, confidence=0.999, experiment=1)
    truth, _ = exact(1.0, rounds=20, eps=0.2)
    assert through.lower <= truth <= through.upper
    # and the same number in experiment 1 itself, whose losses mirror those of experiment 0
    plain = delta(-losses, 1.0, confidence=0.999, experiment=1)
    assert plain.lower <= truth <= plain.upper


def test_zero_variance_leaves_room_for_rounding():
    """Doob's transform gives every trial the same weight, but for rounding."""
    log_weights = -30.0 + 1e-12 * np.random.default_rng(1).normal(size=100)
    estimate = weighted_tail(np.ones(100), log_weights, 0.5)
    assert estimate.lower < math.exp(-30.0) < estimate.upper


def test_the_same_event_seen_from_experiment_1():
    """Pr1[L > t] from a sample tilted toward that event, against the binomial law."""
    losses, log_weights = tilted_play(1.0, 50_000, rounds=20, eps=0.4)
    weights = exchanged_log_weights(losses, log_weights)
    # the weights of experiment 1 fall by 2 a unit of loss: bounded by that at the threshold
    bound = log_cumulant(1.0, 20, 0.4) - 2.0 * 4.0
    measured = weighted_tail(losses, weights, 3.9, confidence=0.999, log_bound=bound)
    # 15 of 20 answers reach a loss of 4; in experiment 1 each has the chance of a lie
    truth = float(binom.sf(14, 20, 1 / (1 + math.exp(0.4))))
    assert measured.lower <= truth <= measured.upper
    assert measured.relative_standard_error < 0.02


def test_unweighted_samples_agree_with_the_plain_estimators():
    losses, _ = tilted_play(0.0, 5000, rounds=20, eps=0.2)
    zeros = np.zeros_like(losses)
    found = weighted_delta(losses, zeros, 0.5, log_bound=0.0)
    assert found.value == pytest.approx(delta(losses, 0.5).value)
    plain = epsilon(losses, 0.05)
    weighted = weighted_epsilon(losses, zeros, 0.05, log_bound=lambda _: 0.0)
    assert weighted.value == pytest.approx(plain.value, rel=1e-9)
    assert weighted.lower == pytest.approx(plain.lower, abs=0.1)
    assert weighted.upper == pytest.approx(plain.upper, abs=0.1)
    assert weighted_epsilon(losses, zeros, 0.05).upper == math.inf


@pytest.mark.parametrize("shift", [-70.0, -300.0, -650.0])
def test_tiny_values_keep_their_digits(shift):
    log_weights = np.random.default_rng(1).normal(0.0, 0.3, 1000)
    bound = float(log_weights.max())
    big = weighted_tail(np.ones(1000), log_weights, 0.0, log_bound=bound)
    tiny = weighted_tail(np.ones(1000), log_weights + shift, 0.0, log_bound=bound + shift)
    scale = math.exp(shift)
    assert tiny.value == pytest.approx(big.value * scale, rel=1e-11)
    assert tiny.lower == pytest.approx(big.lower * scale, rel=1e-11)
    assert tiny.relative_standard_error == pytest.approx(big.relative_standard_error, rel=1e-9)


def test_diagnostics_by_hand():
    weights = np.array([3.0, 1.0, 0.0, 0.0])
    with np.errstate(divide="ignore"):
        summary = LogMean.of(np.log(weights))
    assert summary.hits == 2
    assert math.exp(summary.log_value) == pytest.approx(1.0)
    assert summary.effective_sample_size == pytest.approx(16 / 10)
    assert summary.largest_share == pytest.approx(0.75)
    assert summary.relative_error == pytest.approx(weights.std() / weights.mean() / 2)


class TestRefusals:
    """Without a useful bound on the weights there are ends, and no value."""

    def test_zero_hits_are_not_zero(self):
        losses = np.zeros(1000)
        for estimator in (weighted_tail, weighted_delta):
            with pytest.raises(Refusal, match=r"0 of 1000 trials hit .* try more trials"):
                estimator(losses, losses, 5.0)

    @pytest.mark.parametrize("bounded", [False, True])
    def test_one_dominating_weight_leaves_the_valid_ends(self, bounded):
        """Also where a bound is known that is of no use: a value at it would outweigh all."""
        log_weights = np.full(100, -5.0)
        log_weights[3] = 0.0
        bound = 10.0 if bounded else None
        found = weighted_tail(np.ones(100), log_weights, 0.5, log_bound=bound)
        assert math.isnan(found.value)
        assert found.no_value == (f"{HIDDEN}: try 2.6e+06 trials" if bounded else HIDDEN)
        assert 0.0 <= found.lower < 0.02 < found.upper == 1.0
        assert found.as_dict()["value"] is None
        assert str(found).startswith(f"between {found.lower:.3g} and 1 (95%, betting")
        assert str(found).endswith(f"; no value: {found.no_value}")

    def test_a_dominating_weight_in_epsilon_leaves_the_valid_ends(self):
        log_weights = np.full(100, -9.0)
        log_weights[3] = 0.0
        found = weighted_epsilon(np.full(100, 2.0), log_weights, 1e-3, ceiling=5.0)
        assert math.isnan(found.value)
        assert found.no_value == HIDDEN
        assert 0.0 <= found.lower <= found.upper == 5.0

    def test_epsilon_from_a_sample_that_sees_nothing(self):
        with pytest.raises(Refusal):
            weighted_epsilon(np.full(100, -1.0), np.zeros(100), 1e-3)

    def test_values_below_every_float(self):
        with pytest.raises(Refusal, match="smallest float"):
            weighted_tail(np.ones(100), np.full(100, -800.0), 0.5)


@given(st.floats(0.0, 200.0), st.floats(-5, 5), st.floats(-3, 3), st.floats(1e-9, 50))
@examples(200)
def test_the_bounds_bound(theta, psi, eps, above):
    log_weight = psi - theta * (eps + above)
    assert log_weight <= tail_log_bound(theta, psi, eps) + 1e-9
    value = log_weight + math.log(-math.expm1(-above))
    assert value <= delta_log_bound(theta, psi, eps) + 1e-9


@pytest.mark.parametrize("theta", [1e-9, 0.5, 57.8, 1e6])
def test_the_delta_bound_is_attained(theta):
    above = math.log1p(1 / theta)  # e^{-above} = theta/(1+theta)
    value = -theta * above + math.log(-math.expm1(-above))
    assert value == pytest.approx(delta_log_bound(theta, 0.0, 0.0), rel=1e-9)


def test_no_tilt_bounds_delta_by_one():
    assert delta_log_bound(0.0, 0.0, 3.0) == 0.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("trials", [1, 2])
def test_very_few_trials_set_no_limits_and_give_no_warning(trials):
    losses, weights = np.full(trials, 5.0), np.full(trials, -3.0)
    found = weighted_epsilon(losses, weights, 1e-2, log_bound=lambda _: -3.0)
    assert found.no_value
    assert found.lower <= 5.0 < found.upper
    assert found.lower == 0.0 or trials > 1


def test_a_wrong_bound_is_found_out():
    losses, log_weights = tilted_play(THETA, 2000)
    with pytest.raises(InvalidInput, match="exceeds its bound"):
        weighted_tail(losses, log_weights, EPSILON, log_bound=BOUNDS[1] - 1.0)
    with pytest.raises(InvalidInput, match="exceeds its bound"):
        weighted_epsilon(
            losses,
            log_weights,
            1e-14,
            log_bound=lambda e: delta_log_bound(THETA, log_cumulant(THETA), e) - 1.0,
        )


def test_what_does_not_apply():
    with pytest.raises(NotApplicable):
        tail_log_bound(-0.1, 0.0, 1.0)
    with pytest.raises(NotApplicable):
        exchanged_log_weights([1.0, -math.inf], [0.0, 0.0])
    with pytest.raises(NotApplicable):
        weighted_epsilon(np.full(100, np.inf), np.zeros(100), 0.5)


@pytest.mark.parametrize("log_weights", [[0.0], [0.0, math.nan], [0.0, math.inf], [[0.0, 0.0]], []])
def test_bad_weights(log_weights):
    with pytest.raises(InvalidInput):
        weighted_tail([1.0, 2.0], log_weights, 0.5)


def test_the_errors_of_all_limits_add_up_to_what_the_confidence_leaves(monkeypatch):
    """Two lower limits, of which the better is taken, share the error of one end."""
    spent = []
    for name in ("lower_limit", "upper_limit"):
        function = getattr(weighted, name)

        def recorded(values, alpha, bets, function=function):
            spent.append(alpha)
            return function(values, alpha, bets)

        monkeypatch.setattr(weighted, name, recorded)
    losses, log_weights = tilted_play(THETA, 500)
    bound = delta_log_bound(THETA, log_cumulant(THETA), EPSILON)
    for log_bound, limits in ((bound, 3), (None, 1)):
        spent.clear()
        weighted_delta(losses, log_weights, EPSILON, 0, 0.9, log_bound=log_bound)
        assert len(spent) == limits
        assert math.fsum(spent) <= 0.1 * (1.0 + 1e-12)
