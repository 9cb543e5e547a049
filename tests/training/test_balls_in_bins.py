"""Balls in bins with correlated noise, step by step with scipy, and against quadrature."""

import math

import numpy as np
import pytest
from scipy import stats

from simulator.adversaries.contract import Challenge
from simulator.analysis.simulate import simulate
from simulator.auditing.declared.examining import require_declared
from simulator.auditing.declared.verdict import FalseLikelihood
from simulator.data.databases import ADD_REMOVE, Database
from simulator.data.queries import counting_query
from simulator.foundations.errors import InvalidInput
from simulator.mechanisms import Gaussian
from simulator.theory import GaussianDP
from simulator.training import BallsInBins, GradientStep, LogisticGradient, RandomAllocation
from simulator.training.mechanisms.balls_in_bins import square_root_coefficients
from tests.helpers.two_steps import missed

OTHERS = Database([(1.0, 0.3, 1.0), (1.0, -2.0, 0.0), (1.0, 0.3, 1.0), (0.2, 0.1, 0.0)])
ALICE = (3.0, 4.0, 0.0)
WITH_HER = OTHERS.add(ALICE)
STEP = GradientStep(LogisticGradient((0.1, -0.2), 1.0), 0.8, 1.0)
COUNT = Gaussian(counting_query(lambda record: True), 1.0)
BANDED = (1.0, 0.5, -0.25)
X, WITH_ALICE = Database(["x"]), Database(["x", "alice"])


def gradient(weights, record, clip=1.0):
    x = np.array(record[:-1])
    found = (1.0 / (1.0 + math.exp(-float(x @ weights))) - record[-1]) * x
    return found * min(1.0, clip / np.linalg.norm(found))


def log_density(answer, bin_of_hers, training):
    """Each sum given those before it: what noise was drawn so far moves the next one's centre."""
    c, weights = training.coefficients, np.array(training.step.query.weights)
    total, noises = 0.0, []
    for i, (public, noisy) in enumerate(zip(*answer)):
        hers = gradient(weights, ALICE) if i % training.bins == bin_of_hers else 0.0
        drawn = sum(c[k] * noises[i - k] for k in range(1, min(len(c), i + 1)))
        centre = public + hers - np.asarray(drawn) / c[0]
        total += stats.norm.logpdf(noisy, centre, training.step.sigma / c[0]).sum()
        noises.append(noisy - public - hers)
        weights = weights - training.step_size * noisy
    return total


@pytest.mark.parametrize(
    ("bins", "epochs", "coefficients"),
    [(1, 1, (1.0,)), (3, 2, (1.0,)), (3, 2, BANDED), (2, 3, (2.0, 1.0)), (4, 1, BANDED)],
)
def test_the_loss_is_the_ratio_of_densities_step_by_step(bins, epochs, coefficients):
    training = BallsInBins(STEP, bins, epochs, coefficients, step_size=0.7)
    pair, turned = training.pair(OTHERS, WITH_HER), training.pair(WITH_HER, OTHERS)
    noise = np.random.default_rng(3)
    for b in (0, 1, 0, 1):
        answer = pair.sample(b, noise)
        present = np.logaddexp.reduce([log_density(answer, j, training) for j in range(bins)])
        expected = log_density(answer, None, training) - present + math.log(bins)
        assert pair.loss(answer) == pytest.approx(expected, rel=1e-9, abs=1e-11)
        assert turned.loss(answer) == -pair.loss(answer)


def test_the_noise_has_the_covariance_of_the_matrix():
    training = BallsInBins(COUNT, 2, 2, BANDED)
    seen = training.noises(np.random.default_rng(2).standard_normal((4, 20_000))).T
    c = sum(value * np.eye(4, k=-k) for k, value in enumerate(BANDED))
    white = seen @ c.T  # independent, of variance 1: each mean product is off by 1/sqrt(n)
    assert np.abs(white.T @ white / len(white) - np.eye(4)).max() < 6.0 * math.sqrt(2.0 / 20_000)
    assert np.abs(seen.T @ seen / len(seen) - np.eye(4)).max() > 0.1


def test_without_correlation_one_epoch_is_a_random_allocation():
    binned, allocated = BallsInBins(COUNT, 5), RandomAllocation(COUNT, 5)
    pair, noise = binned.pair(X, WITH_ALICE), np.random.default_rng(0)
    for b in (0, 1):
        answer = pair.sample(b, noise)
        expected = allocated.pair(X, WITH_ALICE).loss(answer)
        assert pair.loss(answer) == pytest.approx(expected, rel=1e-12, abs=1e-13)


@pytest.mark.nightly
def test_play_of_two_bins_with_correlated_noise_holds_the_quadrature():
    """Without the correlation it misses."""

    def adversary(coins):
        yield X, WITH_ALICE, BallsInBins(COUNT, 2, 1, (1.0, 0.9))

    found = simulate(adversary, GaussianDP(2.0), 1, 1500, seed=5, jobs=1, progress=False)
    assert missed(found, means=((1.0, 0.9), (0.0, 1.0))) == []
    assert len(missed(found)) > 0


class Uncorrelated(BallsInBins):
    """Broken on purpose: its loss ignores the correlation of the noise."""

    __slots__ = ()

    def whitened(self, sums):
        return sums


@pytest.mark.nightly
def test_a_loss_that_ignores_the_correlation_is_caught():
    for kind, caught in ((BallsInBins, False), (Uncorrelated, True)):
        challenge = Challenge(OTHERS, WITH_HER, kind(STEP, 2, 2, (1.0, 0.7), 0.5))
        if not caught:
            assert require_declared([challenge], ADD_REMOVE, 5, draws=2048).mechanisms == 1
            continue
        with pytest.raises(FalseLikelihood, match="Uncorrelated"):
            require_declared([challenge], ADD_REMOVE, 5, draws=2048)


def test_the_coefficients_of_the_square_root_make_prefix_sums():
    root = square_root_coefficients(6)
    assert root[:3] == (1.0, 0.5, 0.375)
    np.testing.assert_allclose(np.convolve(root, root)[:6], np.ones(6), rtol=1e-12)


def test_what_it_promises():
    """The longest bin: with signs the terms may be turned against the signs of C."""
    c = sum(abs(value) * np.eye(6, k=-k) for k, value in enumerate(BANDED))
    longest = max(np.linalg.norm(c[:, j::3].sum(axis=1)) for j in range(3))
    assert BallsInBins(STEP, 3, 2, BANDED).guarantee().gdp_mu == pytest.approx(longest / 0.8)
    assert BallsInBins(COUNT, 3, 4).guarantee().gdp_mu == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: BallsInBins(STEP, 0), "bins"),
        (lambda: BallsInBins(STEP, 2, 0), "epochs"),
        (lambda: BallsInBins(STEP, 2, 1, ()), "at least one"),
        (lambda: BallsInBins(STEP, 2, 1, (0.0, 1.0)), "above 0"),
        (lambda: BallsInBins(STEP, 2, 1, (1.0, math.nan)), "finite"),
        (lambda: BallsInBins(STEP, 2, 1, (1.0, 0.5, 0.2)), "there are 2 steps"),
    ],
)
def test_input(build, message):
    with pytest.raises(InvalidInput, match=message):
        build()
