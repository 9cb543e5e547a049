"""Wins near the rounding of a loss are inside the ends, and none is called impossible."""

from __future__ import annotations

import math

import pytest
from mpmath import erf, mp, mpf, sqrt

from simulator.worst import worst_case


@pytest.mark.parametrize("sigma", [5.0, 1e4, 1e6, 1e9, 1e13, 1e16])
def test_a_wide_gaussian_stays_inside(sigma):
    with mp.workdps(40):
        truth = erf(1 / (2 * mpf(sigma)) / sqrt(mpf(2)))
        found = worst_case(f"gaussian:{sigma!r}", rounds=1, epsilon=0.0, seconds=1).delta
        assert found.lower <= truth <= found.upper


@pytest.mark.parametrize(
    ("loss", "epsilon"), [(3e-14, 0.0), (0.1, 0.1 - 2e-14), (1e-300, 0.0), (1e-14, 0.0)]
)
def test_an_answer_that_exceeds_epsilon_by_little_wins_little(loss, epsilon):
    gain = loss - epsilon  # exact: the two are near each other, or epsilon is 0
    truth = -math.expm1(-gain) / (1.0 + math.exp(-loss))
    found = worst_case(f"randomized-response:{loss!r}", rounds=1, epsilon=epsilon).delta
    assert found.lower <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= found.upper <= truth * 1.01 + 1e-299


def test_decimal_losses_that_add_up_to_epsilon_win_nothing():
    found = worst_case("randomized-response:0.1", rounds=10, epsilon=1.0).delta
    assert (found.lower, found.upper) == (0.0, 0.0)
