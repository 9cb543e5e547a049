"""The fast betting engine against a transcription of the game, and its guarantees' premises."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, poisson

from simulator.analysis.estimation import (
    betting,
    betting_interval,
    betting_lower,
    betting_upper,
    empirical_bernstein,
    proportion_lower,
    proportion_upper,
)
from simulator.analysis.estimation.betting import (
    bet_above,
    bet_below,
    bets_on_mean,
    lower_limit,
    upper_limit,
)
from simulator.analysis.estimation.wealth import ABOVE, BELOW, Wealth
from simulator.engine.outcomes.points import Points, epoch_starts
from simulator.foundations.errors import InvalidInput
from tests.helpers.exploring import examples

ALPHA = 0.025


@pytest.fixture(autouse=True, scope="module")
def cells_for_small_samples():
    """Small samples have cells too, so that each of their games is a test of cells."""
    fewest, betting._FEWEST = betting._FEWEST, 4
    yield
    betting._FEWEST = fewest


samples = st.lists(st.sampled_from([0.0, 0.0, 0.2, 0.7, 1.0]), min_size=1, max_size=120).map(
    np.array
)
quick = examples(60)


def cell_of(bets, candidate):
    """The row of sizes for a candidate: of the first cell that ends at or beyond it."""
    for row, end in enumerate(bets.ends):
        if bets.side * (end - candidate) >= 0.0:
            return bets.sizes[row]
    return bets.sizes[-1]


def play(sample, bets, candidate):
    """The game as it is written: one gambler, one coin at a time."""
    wealth, peak, side = 1.0, 0.0, bets.side
    for epoch, (start, end) in enumerate(zip(bets.starts[:-1], bets.starts[1:])):
        room = candidate if side == ABOVE else 1.0 - candidate
        stake = cell_of(bets, candidate)[epoch]
        if room > 0:
            stake = min(stake, 0.99 / room)
        for value in sample[start:end]:
            wealth *= 1.0 + side * stake * (value - candidate)
        peak = wealth if epoch == 0 else max(peak, wealth)
    return math.log(peak)


@given(samples, st.floats(0.0, 1.0), st.sampled_from([ABOVE, BELOW]))
@quick
def test_wealth_is_that_of_the_game(sample, candidate, side):
    bets = bets_on_mean(Points(sample), ALPHA, side)
    fast = Wealth(Points(sample), bets.starts)
    found = fast.log_peak(candidate, side, cell_of(bets, candidate))
    assert found == pytest.approx(play(sample, bets, candidate), abs=1e-9)


@given(samples, st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.integers(0, 1000))
@quick
def test_wealth_is_monotone_in_the_candidate_for_the_bets_of_a_cell(sample, one, other, row):
    low, high = sorted((one, other))
    for side in (ABOVE, BELOW):
        bets = bets_on_mean(Points(sample), ALPHA, side)
        wealth = Wealth(Points(sample), bets.starts)
        sizes = bets.sizes[row % len(bets.sizes)]
        here, there = (wealth.log_peak(each, side, sizes) for each in (low, high))
        assert side * (here - there) >= -1e-9


@given(samples, st.integers(0, 119))
@quick
def test_bets_know_nothing_of_the_future(sample, cut):
    """Nor do the cells, which are chosen before the bets of each begin."""
    cut = min(cut, sample.size - 1)
    changed = sample.copy()
    changed[cut:] = 1.0 - changed[cut:]
    for side in (ABOVE, BELOW):
        mine, theirs = (bets_on_mean(Points(x), ALPHA, side) for x in (sample, changed))
        known = mine.starts[:-1] <= cut
        for candidate in np.linspace(0.0, 1.0, 9):
            np.testing.assert_allclose(
                cell_of(mine, candidate)[known], cell_of(theirs, candidate)[known], rtol=1e-12
            )


@pytest.mark.parametrize(("side", "mean"), [(ABOVE, 0.3), (BELOW, 0.3), (BELOW, 0.72)])
def test_a_fair_game_keeps_its_mean(side, mean):
    """All 2^8 sequences of a coin: the wealth against the true mean averages to exactly 1."""
    length, total, cells = 8, 0.0, 0
    for word in range(2**length):
        sample = np.array([(word >> bit) & 1 for bit in range(length)], dtype=float)
        bets = bets_on_mean(Points(sample), ALPHA, side)
        cells = max(cells, len(bets.ends))
        room = mean if side == ABOVE else 1.0 - mean
        stakes = np.repeat(np.minimum(cell_of(bets, mean), 0.99 / room), np.diff(bets.starts))
        chance = math.prod(np.where(sample == 1.0, mean, 1 - mean))
        total += chance * math.prod(1.0 + side * stakes * (sample - mean))
    assert total == pytest.approx(1.0, rel=1e-10)
    assert cells > 0


def test_a_bet_that_sees_its_own_coin_is_caught():
    """The same average, with the bets of a sample that has one more coin at its head."""
    length, mean, total = 8, 0.3, 0.0
    for word in range(2**length):
        sample = np.array([(word >> bit) & 1 for bit in range(length)], dtype=float)
        bets = bets_on_mean(Points(np.append(sample, 0.0)), ALPHA, ABOVE)
        stakes = np.repeat(np.minimum(cell_of(bets, mean), 0.99 / mean), np.diff(bets.starts))
        chance = math.prod(np.where(sample == 1.0, mean, 1 - mean))
        total += chance * math.prod(1.0 + stakes[1:] * (sample - mean))
    assert abs(total - 1.0) > 1e-3


@given(samples)
@quick
def test_every_candidate_beyond_a_limit_is_rejected(sample):
    threshold = math.log(1 / ALPHA)
    points = Points(sample)
    lower, upper = betting_lower(sample, ALPHA), betting_upper(sample, ALPHA)
    assert 0.0 <= lower <= sample.mean() + 1e-15
    assert sample.mean() - 1e-15 <= upper <= 1.0
    for side, far, limit in ((ABOVE, 0.0, lower), (BELOW, 1.0, upper)):
        bets = bets_on_mean(points, ALPHA, side)
        for candidate in np.linspace(far, limit, 23)[:-1]:
            if side * (limit - candidate) > 1e-6 * limit:
                assert play(sample, bets, candidate) >= threshold - 1e-6


@pytest.mark.parametrize("expected", [4.0, 30.0, 1000.0])
def test_bets_hedge_the_event_of_few_or_many_hits(expected):
    """What a hit multiplies by the chance of at least, or at most, so many Poisson hits."""
    for alpha in (0.3, 0.025, 1e-4):
        root = np.array(math.sqrt(expected))
        least = int(poisson.isf(alpha, expected)) + 1
        chance = poisson.sf(least - 1, expected)
        after = poisson.sf(least - 2, expected)
        bet = float(bet_above(root, norm.ppf(np.array(chance))))
        assert 1.0 + bet == pytest.approx(after / chance, rel=0.25), (alpha, "above")
        most = int(poisson.ppf(alpha, expected)) - 1
        if most >= 1:
            chance, after = poisson.cdf(most, expected), poisson.cdf(most - 1, expected)
            bet = float(bet_below(root, norm.ppf(np.array(chance))))
            assert 1.0 - bet == pytest.approx(after / chance, rel=0.25), (alpha, "below")


def test_within_a_few_percent_of_the_best_there_is():
    """Zeros and ones, where Clopper-Pearson is the best: means of 8 samples, at most 1.15 of it."""
    for trials, hits in ((20_000, 20), (20_000, 300), (2000, 900)):
        ratios = []
        for seed in range(8):
            sample = np.zeros(trials)
            sample[np.random.default_rng(seed).choice(trials, hits, replace=False)] = 1.0
            exact = proportion_upper(hits, trials, ALPHA) - proportion_lower(hits, trials, ALPHA)
            ratios.append((betting_upper(sample, ALPHA) - betting_lower(sample, ALPHA)) / exact)
        assert np.mean(ratios) < 1.15, hits


@pytest.mark.parametrize(("side", "limit"), [(ABOVE, lower_limit), (BELOW, upper_limit)])
def test_cells_are_what_makes_it_narrow(side, limit):
    """Mean widths of 16 samples differ by more than 2%."""
    narrow, wide = [], []
    for seed in range(16):
        points = Points((np.random.default_rng(seed).random(5000) < 0.4) * 1.0)
        bets = bets_on_mean(points, ALPHA, side)
        common = replace(bets, ends=bets.ends[:0], sizes=bets.sizes[-1:])
        narrow.append(abs(limit(points, ALPHA, bets) - points.mean()))
        wide.append(abs(limit(points, ALPHA, common) - points.mean()))
    assert np.mean(wide) > 1.02 * np.mean(narrow)


def test_cells_lie_around_the_limit_that_is_expected():
    """The limit is at the middle of the cells but for noise of a sixth of them per sample.

    Hence the mean over 24 samples is off by 0.15 with probability below 2e-5 per side.
    """
    for side, limit in ((ABOVE, lower_limit), (BELOW, upper_limit)):
        places = []
        for seed in range(24):
            points = Points((np.random.default_rng(seed).random(2000) < 0.4) * 1.0)
            bets = bets_on_mean(points, ALPHA, side)
            rejected = side * (limit(points, ALPHA, bets) - bets.ends) > 0.0
            places.append(rejected.mean())
        assert np.mean(places) == pytest.approx(0.5, abs=0.15), side


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
    bets = bets_on_mean(Points(sample / 1e60), ALPHA, ABOVE)
    wealth = Wealth(Points(sample), bets.starts)
    assert all(math.isfinite(wealth.log_peak(1.0, ABOVE, sizes)) for sizes in bets.sizes)


def test_epochs_cover_every_trial_once():
    for trials in (1, 2, 7, 1000):
        starts = epoch_starts(Points(np.zeros(trials)))
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
