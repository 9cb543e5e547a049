"""The band of δ(ε): against exact curves, at all ε at once."""

import numpy as np
import pytest
from scipy.stats import norm

from simulator.analysis.estimation import TailBand, delta, delta_band
from simulator.analysis.estimation.divergence_band import BEYOND, ladder, limits_of_delta
from simulator.analysis.estimation.tail_estimates import tail_band
from simulator.engine.outcomes.bins import LossBins
from simulator.engine.outcomes.loss_sample import LossSample
from simulator.foundations.errors import InvalidInput

EPSILONS = np.linspace(-1.0, 9.0, 51)
CONFIDENCE = 0.95
PLAYS = 100


def gaussian(rng, n):
    """Losses of a Gaussian pair with μ = 1.5, and their δ(ε) (Balle and Wang 2018, Theorem 8)."""
    mu = 1.5
    exact = norm.cdf(mu / 2 - EPSILONS / mu) - np.exp(EPSILONS) * norm.cdf(-mu / 2 - EPSILONS / mu)
    return rng.normal(mu**2 / 2, mu, n), exact


def leaky(rng, n):
    """Losses ±1, and infinite ones with probability 0.02."""
    chances = np.array([0.02, 0.98 * np.e / (1 + np.e), 0.98 / (1 + np.e)])
    losses = np.array([np.inf, 1.0, -1.0])
    gain = np.maximum(0.0, -np.expm1(EPSILONS[:, None] - losses))
    return rng.choice(losses, n, p=chances), gain @ chances


@pytest.mark.nightly
@pytest.mark.parametrize("law", [gaussian, leaky])
@pytest.mark.parametrize("trials", [40, 3000])
def test_the_band_holds_at_all_epsilons_at_once(law, trials):
    """At most 5% of 100 bands may miss; 14 or more do with probability 5e-4 at most."""
    rng = np.random.default_rng(7)
    missed = 0
    for _ in range(PLAYS):
        losses, exact = law(rng, trials)
        band = delta_band(losses, EPSILONS, confidence=CONFIDENCE)
        missed += bool(np.any((exact < band.lower - 1e-12) | (exact > band.upper + 1e-12)))
    assert missed < 14


def test_limits_taken_from_the_wrong_side_of_a_step_are_no_band():
    """The check above can fail: between two thresholds of a ladder the tail lies between theirs."""
    rng = np.random.default_rng(7)
    losses, exact = gaussian(rng, 3000)
    rungs = np.append(np.arange(-4.0, 9.0), BEYOND)
    tails = tail_band(losses, rungs)
    low, high = limits_of_delta(tails, EPSILONS)
    assert np.all((low <= exact) & (exact <= high))
    inward = TailBand(
        thresholds=rungs, value=tails.value, confidence=0.95, trials=3000,
        lower=np.append(1.0, tails.lower[:-1]), upper=np.append(tails.upper[1:], 0.0),
    )  # fmt: skip
    low, high = limits_of_delta(inward, EPSILONS)
    assert np.any(exact < low)
    assert np.any(exact > high)


def test_the_band_costs_little_and_contains_the_value():
    losses, exact = gaussian(np.random.default_rng(3), 100_000)
    band = delta_band(losses, EPSILONS)
    assert np.all((band.lower <= band.value) & (band.value <= band.upper))
    single = [delta(losses, float(e)) for e in (0.0, 2.0, 4.0)]
    for one, place in zip(single, (5, 15, 25)):
        width = band.upper[place] - band.lower[place]
        assert one.upper - one.lower < width < 3.5 * (one.upper - one.lower)
        assert band.value[place] == pytest.approx(one.value, abs=1e-12)
    assert exact[25] == pytest.approx(band.value[25], rel=0.05)


@pytest.mark.nightly
def test_the_ladder_moves_the_ends_by_its_step_only():
    losses, _ = gaussian(np.random.default_rng(3), 20_000)
    coarse = delta_band(losses, EPSILONS)
    every = np.append(np.sort(losses), BEYOND)
    lower, upper = limits_of_delta(tail_band(losses, every), EPSILONS)
    assert np.all((coarse.lower <= lower + 1e-9) & (coarse.upper >= upper - 1e-9))
    seen = coarse.value > 0
    np.testing.assert_allclose(coarse.upper[seen], upper[seen], rtol=0.02)
    np.testing.assert_allclose(coarse.lower[seen], lower[seen], rtol=0.02, atol=1e-6)


def test_the_other_direction_exchanges_the_roles():
    losses, _ = gaussian(np.random.default_rng(3), 500)
    band, mirrored = delta_band(losses, [0.5], 1), delta_band(-losses, [0.5], 0)
    assert (band.value, band.lower, band.upper) == (mirrored.value, mirrored.lower, mirrored.upper)


def test_a_single_trial_has_a_band():
    for losses in ([1.0], [np.inf], [-np.inf], [1.0, 1.0]):
        band = delta_band(losses, [0.0, 5.0])
        assert np.all((band.lower <= band.value) & (band.value <= band.upper))
        assert np.all((band.lower >= 0.0) & (band.upper <= 1.0))


def test_the_ladder_increases_and_ends_beyond_all():
    rungs = ladder(LossSample.of(np.r_[np.full(50, -np.inf), np.arange(1000.0), np.inf]))
    assert np.all(np.diff(rungs) > 0)
    assert rungs[-1] == BEYOND
    assert np.isfinite(rungs).all()


@pytest.mark.parametrize("epsilons", [[np.inf], [np.nan], [[1.0]], ["a"]])
def test_epsilons_that_are_none_are_refused(epsilons):
    with pytest.raises(InvalidInput, match="epsilons must be"):
        delta_band([1.0, 2.0], epsilons)


def test_losses_that_were_counted_have_the_same_band_but_for_their_widening():
    losses, exact = gaussian(np.random.default_rng(5), 50_000)
    counted = LossSample.counted(losses[:1000], [LossBins.of(losses[1000:])])
    band, wider = delta_band(losses, EPSILONS), delta_band(counted, EPSILONS)
    assert np.all((wider.lower <= exact) & (exact <= wider.upper))
    np.testing.assert_allclose(wider.lower, band.lower, rtol=0.03, atol=1e-6)
    np.testing.assert_allclose(wider.upper, band.upper, rtol=0.03)
    np.testing.assert_allclose(wider.value, band.value, rtol=1e-5, atol=1e-9)
    assert np.all(band.widened == 0.0)
    assert 0.0 < np.max(wider.widened) < 1e-3
