"""The bound on a ratio from paired draws: exact coverage by enumeration, and close to the best."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from simulator.analysis.estimation.paired_ratio import log_ratio_lower
from simulator.foundations.errors import InvalidInput


def misses(p, q, pairs, confidence):
    """The exact probability that the bound is above ln(p/q)."""
    cells = [p * (1 - q), (1 - p) * q, p * q]
    found = 0.0
    for first, second in itertools.product(range(pairs + 1), repeat=2):
        for both in range(pairs + 1 - first - second):
            bound = log_ratio_lower(first, second, first + both, pairs, confidence)
            if bound > max(math.log(p / q), 0.0) + 1e-12:
                counts = [first, second, both, pairs - first - second - both]
                found += stats.multinomial.pmf(counts, pairs, [*cells, 1 - sum(cells)])
    return found


@pytest.mark.parametrize(
    ("p", "q"),
    [(0.5, 0.5), (0.3, 0.3), (0.6, 0.2), (0.9, 0.05), (0.2, 0.1), (0.99, 0.9), (0.1, 0.5)],
)
def test_it_misses_with_the_stated_probability_at_most(p, q):
    for confidence in (0.9, 0.7):
        assert misses(p, q, 12, confidence) <= 1.0 - confidence


def test_a_bolder_bound_misses_more_often():
    # so the check above can fail: what holds with 0.3 misses more often than 0.9 allows
    assert misses(0.5, 0.4, 12, 0.3) > 0.1


@pytest.mark.parametrize(("p", "ratio"), [(0.5, math.exp(0.1)), (0.02, 1.2), (1e-3, 2.0)])
def test_it_costs_little_more_than_knowing_the_law(p, ratio):
    # against the normal bound with the true variance, of expected counts
    pairs, q = 10**6, p / ratio
    counts = [round(pairs * x) for x in (p * (1 - q), (1 - p) * q, p)]
    bound = log_ratio_lower(*counts, pairs, 0.9)
    error = math.sqrt((1 - p) / (pairs * p) + (1 - q) / (pairs * q))
    assert 1.25 * error < math.log(ratio) - bound < 1.6 * error


def test_what_never_hits_is_bounded_by_the_rule_of_three():
    assert log_ratio_lower(0, 0, 0, 1000, 0.9) == 0.0
    assert log_ratio_lower(0, 30, 10, 1000, 0.9) == 0.0
    exact = math.log(1000.0 / -math.log(0.095))
    assert log_ratio_lower(1000, 0, 1000, 10**6, 0.9) == pytest.approx(exact, abs=0.01)
    with pytest.raises(InvalidInput):
        log_ratio_lower(5, 5, 20, 10)


def test_it_grows_with_the_evidence():
    bounds = [log_ratio_lower(k, 50, 60 + k, 1000, 0.9) for k in range(60, 200, 10)]
    assert np.all(np.diff(bounds) > 0.0)
