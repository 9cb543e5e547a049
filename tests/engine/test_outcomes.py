"""Outcomes of a block, on numbers that can be counted by hand."""

import numpy as np
import pytest

from simulator.engine.outcomes.loss_sample import LossSample
from simulator.engine.outcomes.weighted_bins import WeightedBins


@pytest.mark.parametrize(
    ("trials", "cuts"), [(2, ()), (3, (2, 3)), (4, (2, 4)), (8, (2, 4, 8)), (9, (2, 4, 8, 9))]
)
def test_bets_change_where_the_trials_have_doubled_and_at_the_end(trials, cuts):
    sample = LossSample.of(np.arange(float(trials)), head=2)
    assert sample.cuts == tuple((cut, cut) for cut in cuts)


def test_no_weighted_losses_are_no_cells_and_add_nothing():
    none, some = WeightedBins.total([]), WeightedBins.of(np.array([0.5, 0.5]), np.zeros(2))
    assert none.trials == none.unknown == none.keys.size == 0
    assert (none + some).counts.tolist() == (some + none).counts.tolist() == [2]
