"""Samples counted in bins, in the parts in which a run counts them."""

import itertools

from simulator.engine.outcomes.bins import LossBins
from simulator.engine.outcomes.loss_sample import LossSample
from simulator.engine.outcomes.weighted_bins import WeightedBins
from simulator.engine.outcomes.weighted_sample import WeightedSample


def parts_of(trials, head):
    """The trials [a, b) of each part: those after the head, each part as long as all before it."""
    cuts = [head << i for i in range(40) if head << i < trials] + [trials]
    return list(itertools.pairwise(cuts))


def counted(losses, head):
    """Losses, counted except for the first ``head``."""
    parts = [LossBins.of(losses[a:b]) for a, b in parts_of(losses.size, head)]
    return LossSample.counted(losses[:head], parts)


def counted_weights(losses, log_weights, head):
    """Losses with their log-weights, counted likewise."""
    parts = [WeightedBins.of(losses[a:b], log_weights[a:b]) for a, b in parts_of(losses.size, head)]
    return WeightedSample.counted((losses[:head], log_weights[:head]), parts)
