"""Lower ends for k of t steps, against exact curves and draws."""

import numpy as np
import pytest

from simulator.foundations.errors import NotApplicable
from simulator.theory.events import Account, gaussian
from simulator.theory.laws.gaussian_curve import gaussian_delta
from simulator.training import estimate_allocation, random_allocation, random_subset
from simulator.training.laws import subset_test
from simulator.training.laws.subset_test import SubsetTest
from tests.helpers.allocated_steps import two_steps


def test_all_steps_are_one_gaussian(monkeypatch):
    monkeypatch.setattr(subset_test, "_POINTS", 1 << 16)
    subset_test._tails.cache_clear()
    test = SubsetTest(2.0, steps=4, selected=4)
    for epsilon in (0.0, 0.5, 2.0):
        exact = gaussian_delta(1.0, epsilon)
        assert 0.95 * exact < test.delta(epsilon) <= exact
    assert gaussian_delta(1.0, test.epsilon(1e-6)) >= 1e-6
    subset_test._tails.cache_clear()


@pytest.mark.parametrize(
    ("sigma", "epsilon"), [(1.0, 1.5), pytest.param(0.6, 4.0, marks=pytest.mark.nightly)]
)
def test_one_of_two_steps_is_below_its_quadrature_and_near_it(monkeypatch, sigma, epsilon):
    monkeypatch.setattr(subset_test, "_POINTS", 1 << 18)
    exact = two_steps(sigma, epsilon)[0]
    assert 0.95 * exact < SubsetTest(sigma, steps=2, selected=1).delta(epsilon) <= exact
    monkeypatch.setattr(subset_test, "_SHARES", (1.0,))  # each step for itself
    assert SubsetTest(sigma, steps=2, selected=1).delta(epsilon) < 0.95 * exact
    subset_test._tails.cache_clear()


@pytest.mark.nightly
def test_one_step_is_below_its_certified_ends_and_near_them():
    ends = Account(random_allocation(gaussian(1.0), 20)).epsilon(1e-4)
    assert 0.9 * ends.lower < SubsetTest(1.0, steps=20, selected=1).epsilon(1e-4) < ends.upper


@pytest.mark.nightly
def test_several_steps_are_below_what_draws_show():
    """An interval that errs with probability 1e-6."""
    test, pair = SubsetTest(1.0, steps=30, selected=3), random_subset(1.0, 30, 3)
    drawn = estimate_allocation(
        pair, epsilon=1.0, direction="removal", draws=20_000, confidence=1.0 - 1e-6
    ).worst
    assert 0.9 * drawn.value < test.delta(1.0) < drawn.upper


def test_rounding_the_other_way_is_found(monkeypatch):
    """On a coarse lattice a term that is rounded down without the record is no bound."""
    monkeypatch.setattr(subset_test, "_POINTS", 1 << 10)
    subset_test._tails.cache_clear()
    held, exact = SubsetTest(2.0, steps=4, selected=4), gaussian_delta(1.0, 0.5)
    assert held.delta(0.5) <= exact
    subset_test._tails.cache_clear()
    honest = subset_test._masses

    def swapped(*args, moved, **rest):
        found = honest(*args, moved=moved, **rest)
        return found[1:] if moved < 0.0 else np.append([0.0], found)

    monkeypatch.setattr(subset_test, "_masses", swapped)
    assert held.delta(0.5) > exact
    subset_test._tails.cache_clear()


def test_what_is_not_tested_is_refused():
    with pytest.raises(NotApplicable, match="more than 10000 steps"):
        SubsetTest(1.0, steps=20_000, selected=2)
    with pytest.raises(NotApplicable, match="too small"):
        SubsetTest(0.05, steps=10, selected=2).delta(1.0)
    with pytest.raises(NotApplicable, match="too many for the test's lattice"):
        SubsetTest(1.0, steps=10_000, selected=9_999).delta(1.0)
