"""Bounded range: published values, and candidates against a fine scan of every t."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from simulator.theory import BoundedRange, Composition, bound
from simulator.theory.bounds.bounded_range import non_adaptive_delta


def scan(width, rounds, epsilon, points=4001):
    """The best common t on a fine grid, with scipy's binomial."""
    best = 0.0
    for t in np.linspace(0.0, width, points)[1:-1]:
        p = -math.expm1(t - width) / -math.expm1(-width)
        losses = rounds * t - width * np.arange(rounds + 1)
        mass = binom.pmf(np.arange(rounds, -1, -1), rounds, p)
        best = max(best, float(mass @ np.maximum(0.0, -np.expm1(epsilon - losses))))
    return best


@pytest.mark.parametrize("width", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("rounds", [1, 2, 5, 40])
def test_candidates_reach_the_scan_of_every_t(width, rounds):
    for share in (0.0, 0.1, 0.4):
        epsilon = share * rounds * width
        found, expected = non_adaptive_delta(width, rounds, epsilon), scan(width, rounds, epsilon)
        assert found >= expected * (1 - 1e-9)
        assert found == pytest.approx(expected, rel=1e-4, abs=1e-14)


def test_no_pair_of_unequal_t_is_worse():
    ts = np.linspace(0.0, 1.0, 101)[1:-1]
    worst = 0.0
    for first in ts:
        for second in ts:
            mass, losses = np.ones(1), np.zeros(1)
            for t in (first, second):
                p = -math.expm1(t - 1.0) / -math.expm1(-1.0)
                mass = np.concatenate((mass * p, mass * (1 - p)))
                losses = np.concatenate((losses + t, losses + t - 1.0))
            worst = max(worst, float(mass @ np.maximum(0.0, -np.expm1(-losses))))
    assert worst <= non_adaptive_delta(1.0, 2, 0.0) * (1 + 1e-12)


def test_published_non_adaptive_value():
    asked = bound("bounded-range-non-adaptive").on(Composition.repeat(BoundedRange(1.0), 2))
    assert asked.delta(0.0).value == pytest.approx(0.288317, abs=5e-7)


def test_the_coarse_scan_finds_what_a_full_scan_finds():
    for width, rounds, epsilon in ((0.1, 300, 2.0), (0.5, 200, 0.0), (1.0, 120, 30.0)):
        found = non_adaptive_delta(width, rounds, epsilon)
        assert found >= scan(width, rounds, epsilon) * (1 - 1e-9)
