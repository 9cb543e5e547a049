"""Multilevel splitting: ends for the mean over runs."""

import math

import numpy as np
import pytest

from simulator.analysis.estimation import splitting_runs
from simulator.foundations.errors import InvalidInput, Refusal


@pytest.mark.nightly
def test_a_random_walk_by_splitting():
    """Pr[20 fair steps reach +10 or more at some time], by fixed effort against exact counts."""
    exact = _reflection(20, 10)
    rng = np.random.default_rng(12)
    values = [_split_walk(rng, 20, range(2, 11, 2), 200) for _ in range(60)]
    estimate = splitting_runs(values, 0.999, ceiling=0.5)
    assert exact / 2 < estimate.lower <= exact <= estimate.upper == 0.5
    assert estimate.no_value


def _reflection(steps, level):
    """Pr[max >= a] = Pr[S >= a] + Pr[S > a] for a simple random walk."""
    law = {steps - 2 * i: math.comb(steps, i) / 2**steps for i in range(steps + 1)}
    return sum(p * ((s >= level) + (s > level)) for s, p in law.items())


def _split_walk(rng, steps, levels, paths):
    times, value, position = np.zeros(paths, dtype=int), 1.0, 0
    for level in levels:
        arrivals = []
        for time in rng.choice(times, paths):
            walk = position + np.cumsum(rng.choice((-1, 1), steps - time))
            reached = np.flatnonzero(walk >= level)
            if reached.size:
                arrivals.append(time + reached[0] + 1)
        value *= len(arrivals) / paths
        if not arrivals:
            return 0.0
        times, position = np.array(arrivals), level
    return value


def test_refusals():
    with pytest.raises(Refusal):
        splitting_runs(np.zeros(50))
    dominated = splitting_runs([1.0] + [1e-9] * 49)
    assert dominated.upper == 1.0
    assert math.isnan(dominated.value)


def test_bad_runs():
    with pytest.raises(InvalidInput):
        splitting_runs([0.1, math.nan])
