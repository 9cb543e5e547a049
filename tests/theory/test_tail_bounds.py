"""Bounds whose delta(t) bounds the tail Pr[L > t] too, against exact tails."""

import numpy as np
import pytest
from scipy.stats import norm

from simulator.theory import (
    ApproxDP,
    BoundedRange,
    Composition,
    GaussianDP,
    PureDP,
    bounds_for,
    tail_bounds,
)
from simulator.theory.pld.response_atoms import repeated_atoms

PURE = {"basic", "advanced", "advanced-tight-mean", "freedman", "zcdp-bun-steinke"}
POINTS = np.linspace(0.0, 12.0, 97)


def response_tail(epsilon, rounds):
    """Of randomized response in every round."""
    atoms = repeated_atoms(epsilon, rounds)
    return lambda t: atoms.tail(t)


def gaussian_tail(mu, rounds):
    """The loss of rounds of a Gaussian pair is normal with mean half its variance."""
    spread = mu * np.sqrt(rounds)
    return lambda t: norm.sf((t - spread**2 / 2.0) / spread)


@pytest.mark.parametrize(
    ("family", "rounds", "tail", "names"),
    [
        (PureDP(0.1), 200, response_tail(0.1, 200), PURE),
        (PureDP(1.0), 5, response_tail(1.0, 5), PURE),
        (GaussianDP(0.3), 30, gaussian_tail(0.3, 30), {"zcdp-bun-steinke"}),
        (BoundedRange(0.4), 20, response_tail(0.2, 20), PURE | {"bounded-range-azuma"}),
    ],
    ids=["small rounds", "large rounds", "Gaussian", "bounded range"],
)
def test_they_are_above_exact_tails(family, rounds, tail, names):
    bounds = tail_bounds(Composition.repeat(family, rounds))
    assert {bound.name for bound in bounds} == names
    for bound in bounds:
        for t in POINTS:
            assert bound.delta(float(t)).upper >= tail(float(t)) * (1 - 1e-12), (bound.name, t)


def test_a_bound_of_the_divergence_alone_falls_below_the_tail():
    """So the check above can fail: an exact delta is below the exact tail."""
    composition = Composition.repeat(PureDP(0.1), 200)
    tail = response_tail(0.1, 200)
    missed = {
        bound.name
        for bound in bounds_for(composition)
        if not bound.bound.costly
        and any(bound.delta(float(t)).upper < tail(float(t)) for t in POINTS)
    }
    assert "kairouz-oh-viswanath-3.3" in missed
    assert not missed & PURE


def test_rounds_that_leak_have_none():
    assert tail_bounds(Composition.repeat(ApproxDP(0.1, 1e-6), 10)) == []
