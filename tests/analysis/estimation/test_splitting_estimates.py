"""Multilevel splitting: products of shares, and means over runs."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from simulator.analysis.estimation import splitting_product, splitting_runs
from simulator.foundations.errors import InvalidInput, Refusal


def test_product_by_hand():
    estimate = splitting_product([100, 50], [1000, 200], 0.95)
    error = math.sqrt(0.9 / 100 + 0.75 / 50)
    assert estimate.value == pytest.approx(0.025)
    assert estimate.relative_standard_error == pytest.approx(error)
    assert estimate.guess[1] == pytest.approx(0.025 * math.exp(norm.isf(0.025) * error))
    assert (estimate.lower, estimate.upper) == (0.0, 1.0)


def test_many_levels_reach_far_down():
    estimate = splitting_product(np.full(30, 100), np.full(30, 1000))
    assert estimate.value == pytest.approx(1e-30, rel=1e-12)
    assert estimate.lower < 1e-30 < estimate.upper


@pytest.mark.nightly
def test_a_random_walk_by_splitting():
    """Pr[20 fair steps reach +10 or more at some time], by fixed effort against exact counts."""
    exact = _reflection(20, 10)
    rng = np.random.default_rng(12)
    values = [_split_walk(rng, 20, range(2, 11, 2), 200) for _ in range(60)]
    estimate = splitting_runs(values, 0.999, ceiling=0.5)
    assert exact / 2 < estimate.lower <= exact <= estimate.upper == 0.5
    low, high = estimate.guess
    assert low <= exact <= high
    assert high < 2 * low
    assert not low <= exact * 2 <= high


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
    with pytest.raises(Refusal, match="passed level 1"):
        splitting_product([100, 5], [1000, 200])
    with pytest.raises(Refusal):
        splitting_product([100, 0], [1000, 200], minimum_hits=0)
    with pytest.raises(Refusal):
        splitting_runs(np.zeros(50))
    dominated = splitting_runs([1.0] + [1e-9] * 49)
    assert (dominated.guess, dominated.upper) == (None, 1.0)
    assert "one trial carries" in dominated.no_guess


@pytest.mark.parametrize(
    ("passed", "started"), [([], []), ([3], [2]), ([-1], [2]), ([0], [0]), ([1, 1], [2])]
)
def test_bad_counts(passed, started):
    with pytest.raises(InvalidInput):
        splitting_product(passed, started)


def test_bad_runs():
    with pytest.raises(InvalidInput):
        splitting_runs([0.1, math.nan])
