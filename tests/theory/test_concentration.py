"""Concentration inequalities against exact tails, inverses, and the two readings of Azuma."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from simulator.foundations.errors import InvalidInput
from simulator.theory import (
    azuma_absolute_tail,
    azuma_deviation,
    azuma_tail,
    bernstein_tail,
    freedman_deviation,
    freedman_tail,
    hoeffding_tail,
)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 1.2, 2.0, 5.0])
@pytest.mark.parametrize("k", [1, 10, 300])
def test_all_dominate_the_exact_tail_of_randomized_response(epsilon, k):
    p = 1 / (1 + math.exp(-epsilon))
    truthful = np.arange(k + 1)
    losses = (2 * truthful - k) * epsilon
    mean = k * epsilon * (2 * p - 1)
    variance, width = 4 * p * (1 - p) * epsilon**2 * k, 2 * epsilon
    for loss in losses:
        t = loss - mean
        exact = binom.sf(int((loss / epsilon + k) / 2 + 0.5) - 1, k, p)
        for tail in (
            azuma_tail(t, k * width**2),
            hoeffding_tail(t, k * width**2),
            azuma_absolute_tail(t, k * width**2),
            bernstein_tail(t, variance, 2 * epsilon * (1 - p)),
            freedman_tail(t, variance, epsilon),
        ):
            assert tail >= exact * (1 - 1e-9)


def test_a_range_taken_for_half_itself_is_caught():
    # Twenty fair signs: a range of 2 is needed; 1 gives a "bound" below the exact tail.
    exact = binom.sf(14, 20, 0.5)  # Pr[sum >= 10]
    assert azuma_tail(10.0, 20 * 2.0**2) >= exact > azuma_tail(10.0, 20 * 1.0**2)


def test_the_careless_reading_of_azuma_has_a_quarter_of_the_exponent():
    k, epsilon, t = 100, 0.1, 3.0
    sharp = azuma_tail(t, k * (2 * epsilon) ** 2)
    assert sharp == pytest.approx(math.exp(-(t**2) / (2 * k * epsilon**2)), rel=1e-12)
    careless = azuma_absolute_tail(t, k * (2 * epsilon) ** 2)
    assert math.log(careless) == pytest.approx(math.log(sharp) / 4, rel=1e-12)


@pytest.mark.parametrize("delta", [1e-300, 1e-6, 0.5])
def test_deviations_invert_tails(delta):
    assert azuma_tail(azuma_deviation(delta, 7.0), 7.0) == pytest.approx(delta, rel=1e-10)
    t = freedman_deviation(delta, 3.0, 0.5)
    assert freedman_tail(t, 3.0, 0.5) == pytest.approx(delta, rel=1e-10)


def test_edges():
    assert azuma_tail(-1.0, 1.0) == freedman_tail(0.0, 1.0, 1.0) == 1.0
    assert azuma_tail(1e-9, 0.0) == freedman_tail(1e-9, 0.0, 0.0) == 0.0
    assert azuma_tail(1e200, 1e-200) == 0.0
    for bad in (-1.0, math.nan):
        with pytest.raises(InvalidInput):
            azuma_tail(1.0, bad)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 1.27, 1.3, 2.0, 6.0])
def test_no_law_of_the_family_has_more_variance_than_stated(epsilon):
    """A linear programme over all laws on a grid with the mean fixed: the largest variance."""
    from scipy.optimize import linprog

    from simulator.theory import PureDP

    losses = np.linspace(-epsilon, epsilon, 161)
    top = epsilon * math.tanh(epsilon / 2)
    largest = 0.0
    for mean in np.linspace(0.0, top, 25):
        rows = np.array([np.ones_like(losses), np.exp(-losses), losses])
        solved = linprog(-(losses**2), A_eq=rows, b_eq=[1.0, 1.0, mean], bounds=(0, 1))
        if solved.status == 0:
            largest = max(largest, -solved.fun - mean**2)
    stated = PureDP(epsilon).loss_variance
    assert largest <= stated * (1 + 1e-6)
    if epsilon <= 1.27:
        assert largest == pytest.approx(stated, rel=1e-6)
