"""Outcomes of a block, on numbers that can be counted by hand."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from simulator.engine.outcomes.bins import PLACES, LossBins
from simulator.engine.outcomes.loss_sample import LossSample
from simulator.engine.outcomes.tally import BinsSum
from simulator.engine.outcomes.weighted_bins import WeightedBins
from tests.helpers.counting import counted_weights


@pytest.mark.parametrize(
    ("trials", "cuts"), [(2, ()), (3, (2, 3)), (4, (2, 4)), (8, (2, 4, 8)), (9, (2, 4, 8, 9))]
)
def test_bets_change_where_the_trials_have_doubled_and_at_the_end(trials, cuts):
    sample = LossSample.of(np.arange(float(trials)), head=2)
    assert sample.cuts == tuple((cut, cut) for cut in cuts)


def test_bins_that_no_numbers_have_are_named():
    bins = LossBins.of(np.array([-0.5, 0.25, 0.25, np.inf]))
    assert bins.problem() == ""
    for problem, changed in {
        "out of order": {"keys": bins.keys[::-1]},
        "count nothing, or too much": {"counts": bins.counts - 1},
        "places lie outside": {"places": bins.places + 3 * PLACES},
        "ends lie outside": {"largest": bins.largest + 1.0},
    }.items():
        assert problem in replace(bins, **changed).problem()


def test_a_sum_of_many_bins_is_taken_few_at_a_time(monkeypatch):
    at_once, total = [], LossBins.total
    monkeypatch.setattr(BinsSum, "MOST", 4)
    monkeypatch.setattr(LossBins, "total", lambda parts: at_once.append(len(parts)) or total(parts))
    found = BinsSum()
    for loss in range(40):
        found.add(LossBins.of(np.array([loss / 8.0])))
    assert found.total().trials == 40
    assert max(at_once) <= 6


def test_counts_stay_as_they_are():
    bins = LossBins.of(np.array([0.25]))
    with pytest.raises(FrozenInstanceError):
        bins.counts = bins.counts + 1


@pytest.mark.parametrize("scale", [-1.0, 0.5, 30.0])
def test_counted_weights_over_a_scale_have_a_mean_within_their_limits(scale):
    """Those above e^34 scales are clipped, in the sample of the very same weights as well."""
    noise = np.random.default_rng(3)
    log_weights = np.concatenate([noise.normal(0.0, 0.01, 400), noise.normal(33.0, 0.01, 400)])
    losses = noise.permutation(800) / 1000.0
    sample = counted_weights(losses, log_weights, head=8).above(0.3).scaled(scale)
    inside = np.where(losses > 0.3, log_weights, -np.inf)
    mean = np.exp(np.minimum(inside - scale, 34.0)).mean()
    low, high = ((sample.sample.counts * each).sum() / 800 for each in (sample.low, sample.high))
    assert low <= mean * (1.0 + 1e-12)
    assert mean <= high * (1.0 + 1e-12)
    assert high < 1.01 * low


def test_weights_are_counted_in_bins_of_a_128th_and_the_farthest_share_one():
    log_weights = np.array([-np.inf, -1e9, -1.0, 0.0, 1.0 / 256.0, 0.5, 1e9, 1e10])
    bins = WeightedBins.of(np.zeros(8), log_weights)
    assert bins.counts.tolist() == [2, 1, 2, 1, 2]
    assert bins.weight_keys[1:4].tolist() == [-128, 0, 64]
    assert bins.least_weights.tolist() == [-np.inf, -1.0, 0.0, 0.5, 1e9]
    assert bins.largest_weights.tolist() == [-1e9, -1.0, 1.0 / 256.0, 0.5, 1e10]


def test_no_weighted_losses_are_no_cells_and_add_nothing():
    none, some = WeightedBins.total([]), WeightedBins.of(np.array([0.5, 0.5]), np.zeros(2))
    assert none.trials == none.unknown == none.keys.size == 0
    assert (none + some).counts.tolist() == (some + none).counts.tolist() == [2]
