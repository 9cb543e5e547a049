"""Non-asymptotic intervals miss no more often than stated; each test's false alarm is 1e-6."""

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from simulator.analysis.estimation import (
    betting_interval,
    betting_lower,
    clopper_pearson,
    delta,
    empirical_bernstein,
    epsilon,
    tail,
    tail_band,
)
from simulator.analysis.estimation.band import exceedance_limits
from simulator.analysis.estimation.estimate import Estimate
from tests.helpers.interval_coverage import allowed_misses, assert_covers

CONFIDENCE = 0.9
RATE = 1.0 - CONFIDENCE

SAMPLES = {
    "uniform": (lambda rng: rng.random(200), 0.5),
    "sparse": (lambda rng: (rng.random(300) < 0.02) * rng.random(300), 0.01),
    "Bernoulli, near 1": (lambda rng: (rng.random(150) < 0.95) * 1.0, 0.95),
    "skewed": (lambda rng: rng.beta(0.1, 1.9, 100), 0.05),
}


def ends(estimate: Estimate) -> tuple[float, float]:
    return estimate.lower, estimate.upper


def half_width(estimate: Estimate) -> tuple[float, float]:
    """A broken interval: right centre, half the length."""
    return (
        (estimate.value + estimate.lower) / 2.0,
        (estimate.value + estimate.upper) / 2.0,
    )


@pytest.mark.sampled
@pytest.mark.parametrize("method", [betting_interval, empirical_bernstein])
@pytest.mark.parametrize("name", SAMPLES)
def test_bounded_means(method, name):
    draw, mean = SAMPLES[name]
    assert_covers(lambda rng: ends(method(draw(rng), CONFIDENCE)), mean, RATE)


@pytest.mark.nightly
@pytest.mark.parametrize("hits", [15, 300])
def test_means_of_samples_with_cells_of_candidates(hits):
    """2,500 trials, which is enough for ``betting`` to divide the candidates into cells."""

    def interval(rng):
        return ends(betting_interval((rng.random(2500) < hits / 2500) * 1.0, CONFIDENCE))

    assert_covers(interval, hits / 2500, RATE, repetitions=600)


@pytest.mark.nightly
@pytest.mark.parametrize("eps", [0.5, 2.0])
def test_delta_and_epsilon_with_cells(eps):
    truth = gaussian_delta(eps)

    def of_delta(rng):
        return ends(delta(gaussian_losses(rng, 0, 2500), eps, 0, CONFIDENCE))

    def of_epsilon(rng):
        return ends(epsilon(gaussian_losses(rng, 0, 2500), truth, 0, CONFIDENCE))

    assert_covers(of_delta, truth, RATE, repetitions=400)
    assert_covers(of_epsilon, eps, RATE, repetitions=400)


def test_half_the_betting_interval_is_caught():
    draw, mean = SAMPLES["uniform"]
    with pytest.raises(AssertionError, match="intervals miss"):
        assert_covers(lambda rng: half_width(betting_interval(draw(rng), CONFIDENCE)), mean, RATE)


def test_one_sided_betting_keeps_half_the_error():
    draw, mean = SAMPLES["sparse"]
    assert_covers(lambda rng: (betting_lower(draw(rng), RATE / 2), 1.0), mean, RATE / 2)


@pytest.mark.parametrize(("probability", "trials"), [(0.3, 50), (0.01, 200), (0.99, 80)])
def test_clopper_pearson(probability, trials):
    def interval(rng):
        return ends(clopper_pearson(int(rng.binomial(trials, probability)), trials, CONFIDENCE))

    assert_covers(interval, probability, RATE, repetitions=2000)


def test_half_a_clopper_pearson_interval_is_caught():
    with pytest.raises(AssertionError, match="intervals miss"):
        assert_covers(
            lambda rng: half_width(clopper_pearson(int(rng.binomial(500, 0.3)), 500, CONFIDENCE)),
            0.3,
            RATE,
        )


MU = 1.0  # Gaussian mechanism, sensitivity over scale: L ~ N(mu²/2, mu²) in experiment 0


def gaussian_losses(rng, experiment, trials=200):
    mean = MU**2 / 2 if experiment == 0 else -(MU**2) / 2
    return rng.normal(mean, MU, trials)


def gaussian_delta(eps):
    return norm.cdf(MU / 2 - eps / MU) - math.exp(eps) * norm.cdf(-MU / 2 - eps / MU)


@pytest.mark.sampled
@pytest.mark.parametrize("experiment", [0, 1])
@pytest.mark.parametrize("eps", [0.5, 2.0])
def test_delta_of_a_gaussian(eps, experiment):
    assert_covers(
        lambda rng: ends(delta(gaussian_losses(rng, experiment), eps, experiment, CONFIDENCE)),
        gaussian_delta(eps),
        RATE,
    )


@pytest.mark.nightly
@pytest.mark.parametrize("experiment", [0, 1])
def test_epsilon_of_a_gaussian(experiment):
    assert_covers(
        lambda rng: ends(epsilon(gaussian_losses(rng, experiment), gaussian_delta(1.0), experiment,
                                 CONFIDENCE)),
        1.0,
        RATE,
    )  # fmt: skip


@pytest.mark.nightly
def test_half_an_epsilon_interval_is_caught():
    target = gaussian_delta(0.5)
    with pytest.raises(AssertionError, match="intervals miss"):
        assert_covers(
            lambda rng: half_width(
                epsilon(gaussian_losses(rng, 0, 500), target, confidence=CONFIDENCE)
            ),
            0.5,
            RATE,
        )


def test_tail_of_a_gaussian():
    truth = float(norm.sf((1.5 - MU**2 / 2) / MU))
    assert_covers(
        lambda rng: ends(tail(gaussian_losses(rng, 0), 1.5, confidence=CONFIDENCE)), truth, RATE
    )


def band_misses(repetitions, trials, alpha, shrink=1.0):
    """How often the band fails anywhere, over every threshold of a continuous loss."""
    counts = np.arange(trials + 1)
    lower, upper = exceedance_limits(counts, trials, alpha)
    share = counts / trials
    lower, upper = share + shrink * (lower - share), share + shrink * (upper - share)
    rng = np.random.default_rng(77)
    # exceedance probabilities of the order statistics: the count j is seen between V_j and V_j+1
    jumps = np.sort(rng.random((repetitions, trials)), axis=1)
    begins = np.hstack((np.zeros((repetitions, 1)), jumps))
    ends_ = np.hstack((jumps, np.ones((repetitions, 1))))
    return int(np.any((begins < lower) | (ends_ > upper), axis=1).sum())


@pytest.mark.parametrize("trials", [30, 300, 3000])
def test_the_band_holds_at_all_thresholds_at_once(trials):
    assert band_misses(2000, trials, RATE) <= allowed_misses(2000, RATE)


def test_a_pointwise_band_would_be_caught():
    assert band_misses(2000, 300, RATE, shrink=0.5) > allowed_misses(2000, RATE)


STAKE, ROUNDS = 0.1, 30
TRUTHFUL = 1.0 / (1.0 + math.exp(-STAKE))


def responses_added_up(rng, trials=400):
    """Losses of 30 randomized responses as a play adds them up, in the order of the rounds."""
    signs = np.where(rng.random((trials, ROUNDS)) < TRUTHFUL, STAKE, -STAKE)
    return np.add.accumulate(signs, axis=1)[:, -1]


@pytest.mark.parametrize("atom", [0, 2, 6])
def test_tails_at_atoms(atom):
    """No part of the atom at the threshold is above it."""
    truth = float(binom.sf((atom + ROUNDS) // 2, ROUNDS, TRUTHFUL))
    threshold = atom * STAKE

    def interval(rng):
        losses = responses_added_up(rng)
        return ends(tail(losses, threshold, confidence=CONFIDENCE, rounds=ROUNDS))

    def as_they_are(rng):
        hits = int(np.count_nonzero(responses_added_up(rng) > threshold))
        return ends(clopper_pearson(hits, 400, CONFIDENCE))

    assert_covers(interval, truth, RATE)
    if atom == 2:  # rounding splits this atom nearly in two: the same intervals without the rule
        with pytest.raises(AssertionError, match="intervals miss"):
            assert_covers(as_they_are, truth, RATE)


@pytest.mark.nightly
def test_the_band_holds_at_atoms():
    """Missed is a band that fails at any of the atoms or at a float beside one."""
    atoms = np.arange(-ROUNDS, ROUNDS + 1, 2)
    at = atoms * STAKE
    at = np.concatenate([at, np.nextafter(at, -np.inf), np.nextafter(at, np.inf)])
    truth = np.tile(binom.sf((atoms + ROUNDS) // 2, ROUNDS, TRUTHFUL), 3)

    def holds(rng):
        band = tail_band(responses_added_up(rng), at, confidence=CONFIDENCE, rounds=ROUNDS)
        inside = np.all(band.lower <= truth) and np.all(truth <= band.upper)
        return (0.0, 1.0) if inside else (2.0, 2.0)

    assert_covers(holds, 0.5, RATE, repetitions=150)
