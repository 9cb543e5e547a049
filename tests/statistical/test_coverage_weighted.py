"""Importance-weighted intervals against exact answers; each test's false alarm is 1e-6.

The case is randomized response composed k times, sampled under a tilt: the number of truthful
answers is binomial, so δ(ε) and every tail are finite sums.
"""

import math

import numpy as np
import pytest
from scipy.stats import binom

from simulator.analysis.estimation import (
    delta_log_bound,
    exchanged_log_weights,
    tail_log_bound,
    weighted_delta,
    weighted_epsilon,
    weighted_tail,
)
from tests.helpers.interval_coverage import assert_covers

CONFIDENCE = 0.9
RATE = 1.0 - CONFIDENCE
ROUNDS, ROUND_EPSILON, THETA = 30, 0.4, 1.5
TRUTHFUL = 1.0 / (1.0 + math.exp(-ROUND_EPSILON))
TILTED = 1.0 / (1.0 + math.exp(-(1.0 + 2.0 * THETA) * ROUND_EPSILON))
PSI = ROUNDS * math.log(
    TRUTHFUL * math.exp(THETA * ROUND_EPSILON) + (1 - TRUTHFUL) * math.exp(-THETA * ROUND_EPSILON)
)
EPSILON = 6.0
TRIALS = 400

LATTICE = (2 * np.arange(ROUNDS + 1) - ROUNDS) * ROUND_EPSILON
MASS = binom.pmf(np.arange(ROUNDS + 1), ROUNDS, TRUTHFUL)
EXACT_DELTA = float((MASS * -np.expm1(np.minimum(EPSILON - LATTICE, 0.0))).sum())
EXACT_TAIL = float(MASS[LATTICE > EPSILON].sum())


def tilted_play(rng, trials=TRIALS):
    losses = (2 * rng.binomial(ROUNDS, TILTED, trials) - ROUNDS) * ROUND_EPSILON
    return losses, PSI - THETA * losses


def ends(estimate):
    return estimate.lower, estimate.upper


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("estimator", "bound", "truth"),
    [
        (weighted_delta, delta_log_bound(THETA, PSI, EPSILON), EXACT_DELTA),
        (weighted_tail, tail_log_bound(THETA, PSI, EPSILON), EXACT_TAIL),
    ],
)
def test_bounded_weights_cover(estimator, bound, truth):
    assert_covers(
        lambda rng: ends(
            estimator(*tilted_play(rng), EPSILON, confidence=CONFIDENCE, log_bound=bound)
        ),
        truth,
        RATE,
    )


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("estimator", "truth"), [(weighted_delta, EXACT_DELTA), (weighted_tail, EXACT_TAIL)]
)
def test_valid_ends_without_a_bound_cover(estimator, truth):
    """The ceiling is the truth itself: the least that is allowed."""

    def estimate(rng, least=truth):
        return estimator(*tilted_play(rng), EPSILON, confidence=CONFIDENCE, ceiling=least)

    assert_covers(lambda rng: ends(estimate(rng)), truth, RATE / 2.0)
    found = estimate(np.random.default_rng(1), 10.0 * truth)
    assert found.upper == 10.0 * truth
    assert found.lower > 0.3 * truth


@pytest.mark.parametrize(
    ("estimator", "bound"),
    [
        (weighted_delta, delta_log_bound(THETA, PSI, EPSILON)),
        (weighted_tail, tail_log_bound(THETA, PSI, EPSILON)),
    ],
)
def test_a_value_above_its_ceiling_stays_within_its_ends(estimator, bound):
    losses, log_weights = tilted_play(np.random.default_rng(1))
    ceiling = 0.1 * EXACT_TAIL * 1e-3
    found = estimator(losses, log_weights, EPSILON, ceiling=ceiling, log_bound=bound)
    assert found.lower <= found.value <= found.upper
    assert type(found.lower) is type(found.upper) is float


@pytest.mark.nightly
def test_the_other_direction_from_the_same_sample():
    """Randomized response is symmetric, so both directions have the same exact answer."""

    def interval(rng):
        losses, log_weights = tilted_play(rng)
        # a tilt by -(1 + theta) of experiment 0 is a tilt by theta of experiment 1
        mirrored = exchanged_log_weights(-losses, PSI - (1.0 + THETA) * losses)
        np.testing.assert_allclose(mirrored, log_weights, rtol=1e-12)
        return weighted_delta(-losses, mirrored, EPSILON, confidence=CONFIDENCE, experiment=1)

    assert_covers(lambda rng: ends(interval(rng)), EXACT_DELTA, RATE)


@pytest.mark.nightly
@pytest.mark.parametrize("theta", [1.0, 2.0])
def test_skewed_weights(theta):
    """The lower end for the mean of log-normal weights, 1, from 300 of them.

    A probability is at most 1, which is the ceiling here and the truth.
    """
    sigma = 0.5 * theta

    def interval(rng):
        log_weights = rng.normal(-(sigma**2) / 2, sigma, 300)
        return weighted_tail(np.ones(300), log_weights, 0.5, confidence=CONFIDENCE)

    assert_covers(lambda rng: ends(interval(rng)), 1.0, RATE)


@pytest.mark.nightly
@pytest.mark.parametrize("bounded", [True, False])
def test_epsilon(bounded):
    bound = (lambda e: delta_log_bound(THETA, PSI, e)) if bounded else None
    assert_covers(
        lambda rng: ends(
            weighted_epsilon(*tilted_play(rng), EXACT_DELTA, confidence=CONFIDENCE, log_bound=bound)
        ),
        EPSILON,
        RATE,
    )


def test_the_valid_lower_end_of_epsilon_needs_no_bound():
    def interval(rng):
        found = weighted_epsilon(*tilted_play(rng), EXACT_DELTA, confidence=CONFIDENCE)
        assert found.lower > 0.5 * EPSILON
        return ends(found)

    assert_covers(interval, EPSILON, RATE, repetitions=200)


@pytest.mark.nightly
def test_weighted_tails_at_an_atom():
    """The tilted play added up round by round, at the atom of 10 net truths."""
    atom = 10
    truth = float(MASS[2 * np.arange(ROUNDS + 1) - ROUNDS > atom].sum())
    bound = tail_log_bound(THETA, PSI, atom * ROUND_EPSILON)

    def interval(rng, threshold=atom * ROUND_EPSILON):
        signs = np.where(rng.random((TRIALS, ROUNDS)) < TILTED, ROUND_EPSILON, -ROUND_EPSILON)
        losses = np.add.accumulate(signs, axis=1)[:, -1]
        weights = PSI - THETA * losses
        return ends(
            weighted_tail(
                losses, weights, threshold, confidence=CONFIDENCE, rounds=ROUNDS, log_bound=bound
            )
        )

    assert_covers(interval, truth, RATE)
    with pytest.raises(AssertionError, match="intervals miss"):  # where the atom counts as above
        assert_covers(lambda rng: interval(rng, (atom - 0.5) * ROUND_EPSILON), truth, RATE)
