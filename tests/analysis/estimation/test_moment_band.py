"""Bands for the moments along the rounds hold at the stated rate, and see what is wrong."""

import numpy as np
import pytest

from simulator import PureDP, simulate
from simulator.adversaries import make
from simulator.analysis.estimation import moment_band
from simulator.errors import InvalidInput, NotApplicable
from simulator.theory import GaussianDP

ROUNDS, EPSILON = 6, 0.5


def traced(rng, trials, epsilon=EPSILON):
    """Sums of a walk of +-epsilon steps with a known mean and deviation."""
    truth = 1.0 / (1.0 + np.exp(-epsilon))
    steps = np.where(rng.random((trials, ROUNDS)) < truth, epsilon, -epsilon)
    walk = steps.cumsum(axis=1)
    return np.array([walk.sum(axis=0), (walk**2).sum(axis=0), np.full(ROUNDS, trials)])


MEAN = EPSILON * np.tanh(EPSILON / 2.0) * np.arange(1, ROUNDS + 1)
DEVIATION = EPSILON / np.cosh(EPSILON / 2.0) * np.sqrt(np.arange(1, ROUNDS + 1))
REACH = EPSILON * np.arange(1, ROUNDS + 1)


@pytest.mark.parametrize("trials", [2, 5, 50, 2000])
def test_the_band_holds(trials):
    """At most 10% of 400 may miss; 66 have a probability below 1e-6."""
    rng = np.random.default_rng(4)
    missed = 0
    for _ in range(400):
        band = moment_band(traced(rng, trials), REACH, 0.9)
        inside = (band.mean_lower <= MEAN) & (band.mean_upper >= MEAN)
        inside &= (band.deviation_lower <= DEVIATION) & (band.deviation_upper >= DEVIATION)
        missed += not inside.all()
    assert missed < 66


def test_the_band_sees_another_law():
    band = moment_band(traced(np.random.default_rng(1), 200_000), REACH)
    assert not (band.mean_lower <= 1.5 * MEAN).all() or not (band.mean_upper >= 1.5 * MEAN).all()
    assert not (band.deviation_upper >= 1.2 * DEVIATION).all()


def test_of_a_result():
    family = PureDP(0.5)
    result = simulate(make("fixed-worst-case", family, 20), family, 20, 5000, trace=True)
    for b in (0, 1):
        mean, deviation = result.moments(b)
        band = result.moment_band(b)
        assert band.mean == pytest.approx(mean)
        assert band.deviation == pytest.approx(deviation, rel=1e-3)
        assert (band.mean_lower < mean).all()
        assert (mean < band.mean_upper).all()


def test_bad_input():
    with pytest.raises(InvalidInput, match="exceeds its stated reach"):
        moment_band(traced(np.random.default_rng(1), 50, 2.0), REACH / 10.0)
    with pytest.raises(InvalidInput, match="per round"):
        moment_band(traced(np.random.default_rng(1), 50), REACH[:-1])
    family = GaussianDP(0.5)
    result = simulate(make("fixed-worst-case", family, 5), family, 5, 50, trace=True)
    with pytest.raises(NotApplicable, match="no bound known in advance"):
        result.moment_band()
