"""The fast betting engine against a transcription of the game, and its guarantees' premises."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

from simulator.analysis.estimation import (
    betting_interval,
    betting_lower,
    betting_upper,
    empirical_bernstein,
    proportion_lower,
    proportion_upper,
)
from simulator.analysis.estimation.betting import (
    ABOVE,
    BELOW,
    Wealth,
    aimed_growth,
    bet_sizes,
    plug_in_bets,
)
from simulator.engine.outcomes.points import Points, epoch_starts
from simulator.foundations.errors import InvalidInput
from tests.helpers.exploring import examples

ALPHA = 0.025
samples = st.lists(st.sampled_from([0.0, 0.0, 0.2, 0.7, 1.0]), min_size=1, max_size=120).map(
    np.array
)
quick = examples(60)


def play(sample, bets, candidate, side):
    """The game as it is written: one gambler, one coin at a time."""
    wealth, peak = 1.0, 0.0
    for epoch, (start, end) in enumerate(zip(bets.starts[:-1], bets.starts[1:])):
        room = candidate if side == ABOVE else 1.0 - candidate
        stake = bets.of(side)[epoch]
        if room > 0:
            stake = min(stake, 0.99 / room)
        for value in sample[start:end]:
            wealth *= 1.0 + side * stake * (value - candidate)
        peak = wealth if epoch == 0 else max(peak, wealth)
    return math.log(peak)


@given(samples, st.floats(0.0, 1.0), st.sampled_from([ABOVE, BELOW]))
@quick
def test_wealth_is_that_of_the_game(sample, candidate, side):
    bets = plug_in_bets(Points(sample), ALPHA)
    fast = Wealth(Points(sample), bets).log_peak(candidate, side)
    assert fast == pytest.approx(play(sample, bets, candidate, side), abs=1e-9)


@given(samples, st.floats(0.0, 1.0), st.floats(0.0, 1.0))
@quick
def test_wealth_is_monotone_in_the_candidate(sample, one, other):
    low, high = sorted((one, other))
    wealth = Wealth(Points(sample), plug_in_bets(Points(sample), ALPHA))
    assert wealth.log_peak(low, ABOVE) >= wealth.log_peak(high, ABOVE) - 1e-9
    assert wealth.log_peak(low, BELOW) <= wealth.log_peak(high, BELOW) + 1e-9


@given(samples, st.integers(0, 119))
@quick
def test_bets_know_nothing_of_the_future(sample, cut):
    cut = min(cut, sample.size - 1)
    changed = sample.copy()
    changed[cut:] = 1.0 - changed[cut:]
    mine, theirs = plug_in_bets(Points(sample), ALPHA), plug_in_bets(Points(changed), ALPHA)
    known = mine.starts[:-1] <= cut
    np.testing.assert_allclose(mine.above[known], theirs.above[known], rtol=1e-12)
    np.testing.assert_allclose(mine.below[known], theirs.below[known], rtol=1e-12)


def test_a_fair_game_keeps_its_mean():
    """All 2^12 sequences of a coin: the wealth against the true mean averages to exactly 1."""
    length, mean = 12, 0.3
    total = 0.0
    for word in range(2**length):
        sample = np.array([(word >> bit) & 1 for bit in range(length)], dtype=float)
        bets = plug_in_bets(Points(sample), ALPHA)
        stakes = np.repeat(np.minimum(bets.above, 0.99 / mean), np.diff(bets.starts))
        chance = math.prod(np.where(sample == 1.0, mean, 1 - mean))
        total += chance * math.prod(1.0 + stakes * (sample - mean))
    assert total == pytest.approx(1.0, rel=1e-10)


@given(samples)
@quick
def test_the_limits_are_where_wealth_reaches_the_threshold(sample):
    wealth = Wealth(Points(sample), plug_in_bets(Points(sample), ALPHA))
    threshold = math.log(1 / ALPHA)
    lower, upper = betting_lower(sample, ALPHA), betting_upper(sample, ALPHA)
    assert 0.0 <= lower <= sample.mean() + 1e-15
    assert sample.mean() - 1e-15 <= upper <= 1.0
    if 0.0 < lower < sample.mean():
        assert wealth.log_peak(lower, ABOVE) == pytest.approx(threshold, abs=1e-4)
    if sample.mean() < upper < 1.0:
        assert wealth.log_peak(upper, BELOW) == pytest.approx(threshold, abs=1e-4)


def test_bet_sizes_maximise_growth_at_the_limit():
    """Poisson hits of size s at the candidate that is just struck out: no better bet exists."""
    seen, trials, alpha = 1e9, 1e9, 1e-8
    whole = brentq(lambda left: aimed_growth(alpha, left) - math.log(1 / alpha), 1e-3, 1.0)
    for jump, expected in ((1.0, 20.0), (1.0, 100.0), (0.3, 300.0)):
        moments = np.array([[expected * jump**power] for power in (1, 2, 3)])
        above, _ = bet_sizes(np.array([seen]), moments, int(trials), alpha, np.array([whole]))

        def log_wealth(bet, rate, expected=expected, jump=jump):
            return expected * math.log1p(bet * jump) - bet * jump * rate

        bet = float(above[0])
        struck_out = (expected * math.log1p(bet * jump) - math.log(1 / alpha)) / (bet * jump)
        others = np.linspace(0.5, 2.0, 41) * bet
        assert max(log_wealth(b, struck_out) for b in others) <= math.log(1 / alpha) * 1.03


@pytest.mark.parametrize("alpha", [0.025, 1e-8, 1e-200])
def test_the_growth_aimed_at_hedges_the_event_of_passing_the_quantile(alpha):
    """ln Pr[a normal sum passes its quantile at the end], differentiated by finite differences."""
    for left in (1.0, 0.3, 1e-3):
        here, step = norm.isf(alpha) * -left, 1e-5 * left

        def log_chance(total, left=left):
            return norm.logcdf(total / math.sqrt(left))

        bet = (log_chance(here + step) - log_chance(here - step)) / (2 * step)
        assert aimed_growth(alpha, np.array(left)) == pytest.approx(bet**2 / 2, rel=1e-3)


def test_close_to_the_normal_interval_where_hits_are_many():
    rng = np.random.default_rng(5)
    ratios = []
    for _ in range(20):
        sample = rng.random(4000) * (rng.random(4000) < 0.5)
        interval = betting_interval(sample)
        ratios.append((interval.upper - interval.lower) / (3.92 * sample.std() / math.sqrt(4000)))
    assert 1.0 < np.mean(ratios) < 1.2


def test_narrower_than_empirical_bernstein_where_both_apply():
    rng = np.random.default_rng(3)
    for sample in (rng.random(500), rng.beta(0.2, 2, 2000), (rng.random(3000) < 0.01) * 1.0):
        bet, bernstein = betting_interval(sample), empirical_bernstein(sample)
        assert bet.upper - bet.lower < bernstein.upper - bernstein.lower


@pytest.mark.parametrize("hits", [0, 3, 20, 300])
@pytest.mark.parametrize("alpha", [ALPHA, 1e-8])
def test_close_to_clopper_pearson_among_very_many_zeros(hits, alpha):
    """With zeros and ones only, Clopper-Pearson is the best there is: stay within 60%."""
    trials = 400_000
    sample = np.zeros(trials)
    sample[np.random.default_rng(hits).choice(trials, hits, replace=False)] = 1.0
    exact = proportion_upper(hits, trials, alpha) - proportion_lower(hits, trials, alpha)
    assert betting_upper(sample, alpha) - betting_lower(sample, alpha) < 1.6 * exact


def test_small_jumps_are_told_from_large_ones():
    """The witness that the size of the hits is used: a tenth as large, a much shorter interval."""
    trials, hits = 200_000, 400
    sample = np.zeros(trials)
    sample[np.random.default_rng(8).choice(trials, hits, replace=False)] = 0.1
    interval = betting_interval(sample)
    as_if_ones = 2 * 1.96 * math.sqrt(0.1 * hits) / trials  # what the mean alone would give
    assert interval.upper - interval.lower < 0.6 * as_if_ones


@pytest.mark.parametrize("sample", [[0.0], [1.0], [0.0] * 1000, [1.0] * 1000, [0.3] * 1000])
def test_constant_samples(sample):
    estimate = betting_interval(sample)
    assert estimate.lower <= sample[0] <= estimate.upper
    if len(sample) > 1:
        assert estimate.upper - estimate.lower < 0.01


def test_the_interval_spends_half_the_error_on_each_side():
    sample = np.random.default_rng(3).random(300)
    estimate = betting_interval(sample, 0.95)
    assert estimate.lower == pytest.approx(betting_lower(sample, 0.025), rel=1e-9)
    assert estimate.upper == pytest.approx(betting_upper(sample, 0.025), rel=1e-9)


def test_wealth_on_huge_values_does_not_overflow():
    sample = np.where(np.arange(400) % 2 == 0, 0.5, 1e60)
    wealth = Wealth(Points(sample), plug_in_bets(Points(sample / 1e60), ALPHA))
    assert math.isfinite(wealth.log_peak(1.0, ABOVE))


def test_epochs_cover_every_trial_once():
    for trials in (1, 2, 7, 1000):
        starts = epoch_starts(Points(np.zeros(trials)), 1.1)
        assert starts[0] == 0
        assert starts[-1] == trials
        assert np.all(np.diff(starts) > 0)


@pytest.mark.parametrize("sample", [[], [-0.1], [1.1], [math.nan], [[0.5]]])
def test_only_samples_of_the_unit_interval(sample):
    with pytest.raises(InvalidInput):
        betting_interval(sample)
    with pytest.raises(InvalidInput):
        betting_lower(sample, 0.05)


@pytest.mark.parametrize("alpha", [0.0, 1.0, math.nan])
def test_error_levels_are_proper(alpha):
    with pytest.raises(InvalidInput):
        betting_upper([0.5], alpha)
