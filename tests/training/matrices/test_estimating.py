"""Estimates of balls in bins, against quadrature, brackets, counted draws and known values."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import toeplitz

from simulator.analysis.estimation import betting_interval, weighted_delta
from simulator.errors import InvalidInput
from simulator.theory.laws.gaussian_curve import gaussian_delta
from simulator.training.matrices import balls_in_bins, estimate_allocation
from simulator.training.matrices.addition import addition_measure
from simulator.training.matrices.occupancies import Occupancies
from simulator.training.matrices.parts import MomentPart
from simulator.training.matrices.removal import cut, removal_measure
from tests.helpers.allocated_steps import allocated, two_steps

HALF = (2 / math.sqrt(5), 1 / math.sqrt(5))
MEASURES = {"removal": removal_measure, "addition": addition_measure}
# every interval below has a confidence of 1 - 1e-6 with its seed


def test_two_bins_hold_the_quadrature():
    for sigma, epsilon in ((0.7, 1.5), (3.0, 0.1)):
        found = estimate_allocation(
            balls_in_bins(sigma, 2, 2), epsilon=epsilon, draws=20_000, confidence=1 - 1e-6
        )
        for estimate, exact in zip((found.removal, found.addition), two_steps(sigma, epsilon)):
            assert estimate.lower <= exact <= estimate.upper < 1.2 * exact


@pytest.mark.parametrize(
    ("sigma", "bins", "rounds", "epsilon"),
    [
        (1.0, 5, 5, 3.5),
        pytest.param(1.0, 10, 10, 3.5, marks=pytest.mark.nightly),
        pytest.param(1.0, 50, 50, 2.0, marks=pytest.mark.nightly),
        pytest.param(3.0, 10, 100, 2.5, marks=pytest.mark.nightly),
        pytest.param(4.5, 10, 10, 0.35, marks=pytest.mark.nightly),
    ],
)
def test_independent_bins_are_within_the_brackets_in_convex_order(sigma, bins, rounds, epsilon):
    found = estimate_allocation(
        balls_in_bins(sigma, bins, rounds), epsilon=epsilon, draws=20_000, confidence=1 - 1e-6
    )
    exact = allocated(sigma / math.sqrt(rounds / bins), bins)
    removal, addition = (each.delta(epsilon) for each in exact)
    assert found.removal.lower <= removal.upper
    assert removal.lower <= found.removal.upper < 1.25 * removal.upper
    assert found.addition.lower <= addition.upper
    assert addition.lower <= found.addition.upper


@pytest.mark.nightly
def test_published_prototype_values():
    hundred = balls_in_bins(1.0, 100, 100)
    for epsilon, value in ((2.0, 1.80e-10), (6.0, 2.39e-25)):
        found = estimate_allocation(hundred, epsilon=epsilon, direction="removal", draws=20_000)
        assert found.addition is None
        assert found.removal.value == pytest.approx(value, rel=0.1)
        assert found.removal.upper < 1.2 * found.removal.value
    banded = balls_in_bins(3.0, 10, 100, HALF)
    for epsilon, value in ((2.0, 1.50e-4), (4.0, 5.99e-9)):
        found = estimate_allocation(banded, epsilon=epsilon, direction="removal", draws=20_000)
        assert found.removal.value == pytest.approx(value, rel=0.1)
    at = estimate_allocation(hundred, delta=1e-5, direction="removal", draws=20_000)
    assert at.worst.lower <= 0.6209 <= at.worst.upper < 0.64


def plain(sigma, bins, c, draws, seed):
    """Losses ln U of draws from Q and from P, with C written out."""
    rng = np.random.default_rng(seed)
    rounds = len(c)
    held = (np.arange(rounds)[:, None] % bins == np.arange(bins)).astype(float)
    means = c @ held
    found = []
    for present in (False, True):
        noise = sigma * rng.standard_normal((draws, rounds))
        if present:
            noise += means[:, rng.integers(bins, size=draws)].T
        exponents = (noise @ means - 0.5 * (means**2).sum(axis=0)) / sigma**2
        found.append(np.log(np.exp(exponents).mean(axis=1)))
    return found


def test_much_loss_has_a_delta_below_one():
    """Large entries of G, where U is nearly that of one Gaussian."""
    pair = balls_in_bins(2.0, 10, 200, [1.0] + [0.3] * 30)
    found = estimate_allocation(pair, epsilon=2.0, draws=2000, confidence=1 - 1e-6)
    public = gaussian_delta(math.sqrt(float(pair.gram.max())), 2.0)
    for each in (found.removal, found.addition):
        assert 0.9 < each.lower <= public
        assert each.upper <= 1.0


@pytest.mark.sampled
@pytest.mark.parametrize("given_as", ["matrix", "coefficients"])
def test_a_delta_that_can_be_counted_is_what_plain_draws_count(given_as):
    sigma, bins, rounds, band, epsilon = 2.0, 5, 20, (1.0, 0.6, 0.3), 2.0
    c = toeplitz(np.r_[band, np.zeros(rounds - 3)], np.zeros(rounds))
    how = {"coefficients": band} if given_as == "coefficients" else {"matrix": c}
    pair = balls_in_bins(sigma, bins, rounds, **how)
    found = estimate_allocation(pair, epsilon=epsilon, draws=20_000, confidence=1 - 1e-6)
    without, present = plain(sigma, bins, c, 100_000, 7)
    counted = betting_interval(-np.expm1(np.minimum(epsilon - present, 0.0)), 1 - 1e-6)
    assert counted.lower <= found.removal.upper
    assert found.removal.lower <= counted.upper
    counted = betting_interval(-np.expm1(np.minimum(epsilon + without, 0.0)), 1 - 1e-6)
    assert counted.lower <= found.addition.upper
    assert found.addition.lower <= counted.upper
    assert 1e-3 < found.removal.value < 0.2


@pytest.mark.parametrize("direction", MEASURES)
@pytest.mark.parametrize("pair", [(1.0, 20, 20), (1.5, 12, 36, (1.0, 0.7, 0.4))])
def test_weights_keep_their_bound_and_come_near_it(direction, pair):
    pair = balls_in_bins(*pair)
    measure = MEASURES[direction](pair, 1.0)
    losses, log_weights = measure.draw(20_000, np.random.default_rng(11))
    excess = log_weights + np.log(np.maximum(-np.expm1(np.minimum(1.0 - losses, 0.0)), 1e-300))
    assert excess.max() <= measure.log_bound(1.0)
    assert excess.max() > measure.log_bound(1.0) - 3.0


@pytest.mark.nightly
@pytest.mark.parametrize("kept", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_a_kernel_of_fewer_interactions_has_the_same_mean_and_keeps_its_bound(kept):
    pair = balls_in_bins(8.0, 12, 24, (1.0, 0.7, 0.4))
    measure = removal_measure(pair, 0.4)
    assert measure.power.difference is None
    kernel, field = cut(pair.gram, kept)
    assert np.linalg.eigvalsh(kernel - pair.gram).min() > -1e-12
    theta = measure.power.theta
    power = MomentPart(pair, Occupancies(kernel, theta, field), theta)
    others = replace(measure, power=power)
    assert power.difference is not None
    first, second = (
        weighted_delta(
            *each.draw(8000, np.random.default_rng(4)),
            0.4,
            confidence=1 - 1e-6,
            log_bound=each.log_bound(0.4),
        )
        for each in (measure, others)
    )
    assert max(first.lower, second.lower) <= min(first.upper, second.upper)
    assert second.upper < 1.5 * first.value


def test_tuning_lowers_the_variance():
    measure = removal_measure(balls_in_bins(2.0, 30, 30), 0.5)
    tuned = measure.tuned(0.5, 4096, np.random.default_rng(1))
    assert sum(tuned.shares) == pytest.approx(1.0)
    plain, better = (
        weighted_delta(
            *each.draw(20_000, np.random.default_rng(2)), 0.5, log_bound=each.log_bound(0.5)
        )
        for each in (measure, tuned)
    )
    assert better.relative_standard_error < 0.9 * plain.relative_standard_error


def test_a_wrong_moment_is_found_out():
    """A moment half as large would halve the estimate; its bound is then exceeded."""
    pair = balls_in_bins(1.0, 10, 10)
    measure = removal_measure(pair, 3.5)
    measure = replace(measure, shares=(1.0,), others=())
    measure.power.__dict__["log_moment"] = measure.power.log_moment - math.log(4.0)
    sample = measure.draw(20_000, np.random.default_rng(3))
    exact = allocated(1.0, 10)[0].delta(3.5)
    found = weighted_delta(*sample, 3.5, confidence=1 - 1e-6, log_bound=measure.log_bound(3.5))
    assert found.upper < exact.lower


def test_the_draws_depend_on_the_question_and_the_seed_alone():
    pair = balls_in_bins(1.0, 10, 10)
    one = estimate_allocation(pair, epsilon=1.0, draws=2000)
    assert one == estimate_allocation(balls_in_bins(1.0, 10, 10), epsilon=1.0, draws=2000)
    assert one != estimate_allocation(pair, epsilon=1.0, draws=2000, seed=1)


def test_a_delta_below_floats_has_ends():
    found = estimate_allocation(balls_in_bins(0.5, 100, 100), epsilon=9.0, draws=1000)
    assert found.addition.no_value
    assert 0.0 == found.addition.lower <= found.addition.upper < 1e-290
    assert found.worst.value == found.removal.value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give the epsilon"),
        ({"epsilon": 1.0, "delta": 0.1}, "give the epsilon"),
        ({"epsilon": -1.0}, "epsilon must be a number >= 0"),
        ({"epsilon": float("nan")}, "epsilon must be finite, not nan"),
        ({"delta": 0.0}, "delta must lie strictly between 0 and 1"),
        ({"epsilon": 1.0, "draws": 0}, "draws must be at least 1"),
        ({"epsilon": 1.0, "confidence": 1.0}, "confidence must lie strictly"),
        ({"epsilon": 1.0, "direction": "up"}, "no direction 'up'; there are removal, addition"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        estimate_allocation(balls_in_bins(1.0, 2, 2), **arguments)


def outside(intervals, exact):
    """How many intervals are above the exact value, or below it, whichever is more."""
    below = sum(found.upper < exact for found in intervals)
    return max(below, sum(found.lower > exact for found in intervals))


@pytest.mark.parametrize("direction", MEASURES)
def test_intervals_cover_over_fresh_seeds(direction):
    """Each end may fail in 5%; more than 18 of 100 has a probability below 1e-6."""
    exact = dict(zip(MEASURES, two_steps(1.0, 1.0)))[direction]
    measure = MEASURES[direction](balls_in_bins(1.0, 2, 2), 1.0)
    found = [
        weighted_delta(
            *measure.draw(150, np.random.default_rng(seed)),
            1.0,
            confidence=0.9,
            log_bound=measure.log_bound(1.0),
        )
        for seed in range(100)
    ]
    assert outside(found, exact) <= 18


@pytest.mark.nightly
@pytest.mark.parametrize("direction", MEASURES)
@pytest.mark.parametrize("at", ["epsilon", "delta"])
def test_intervals_cover_over_five_hundred_fresh_seeds(direction, at):
    """Each end may fail in 5%; more than 50 of 500 has a probability below 1e-5."""
    delta = dict(zip(MEASURES, two_steps(1.0, 1.0)))[direction]
    question, exact = ({"epsilon": 1.0}, delta) if at == "epsilon" else ({"delta": delta}, 1.0)
    found = [
        getattr(
            estimate_allocation(
                balls_in_bins(1.0, 2, 2),
                **question,
                direction=direction,
                draws=1000,
                seed=seed,
                confidence=0.9,
            ),
            direction,
        )
        for seed in range(500)
    ]
    assert outside(found, exact) <= 50
