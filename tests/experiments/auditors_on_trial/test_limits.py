"""Limits of auditors against enumeration, simulation with fixed seeds, and theorems."""

import math

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from experiments.auditors_on_trial.limits import (
    best_event,
    growth,
    interfering_counts,
    median_bound,
    one_run_bound,
)
from simulator.analysis.estimation.intervals import proportion_lower, proportion_upper
from simulator.foundations.errors import InvalidInput


def test_the_median_bound_is_that_of_all_pairs_of_counts():
    n, p0, p1, level, delta = 12, 0.8, 0.3, 0.05, 0.01
    found = []
    for x in range(n + 1):
        for y in range(n + 1):
            low = proportion_lower(x, n, level / 2) - delta
            bound = max(0.0, math.log(low / proportion_upper(y, n, level / 2))) if low > 0 else 0.0
            mass = scipy.stats.binom.pmf(x, n, p0) * scipy.stats.binom.pmf(y, n, p1)
            found.append((bound, mass))
    bounds, masses = np.array(sorted(found)).T
    bound = bounds[np.searchsorted(np.cumsum(masses), 0.5)]
    assert median_bound(p0, p1, n, delta=delta, level=level) == pytest.approx(bound, rel=1e-12)


def test_the_median_bound_nears_the_log_ratio_and_an_impossible_event_is_refused():
    bounds = [median_bound(0.5, 0.25, n, delta=0.0, level=0.05) for n in (100, 1000, 10_000)]
    assert bounds[0] < bounds[1] < bounds[2] < math.log(2.0)
    assert bounds[2] > 0.92 * math.log(2.0)
    with pytest.raises(InvalidInput, match="0 <= p1 <= p0 <= 1"):
        median_bound(0.2, 0.3, 10, delta=0.0, level=0.05)


def test_the_best_event_is_the_best_of_all():
    p0, p1 = np.array([0.9, 0.5, 0.1, 0.01]), np.array([0.8, 0.2, 0.02, 0.001])
    every = [median_bound(a, b, 500, delta=1e-3, level=0.05) for a, b in zip(p0, p1)]
    assert best_event(p0, p1, 500, delta=1e-3, level=0.05) == (
        int(np.argmax(every)),
        pytest.approx(max(every)),
    )


@pytest.mark.parametrize(("group", "margin"), [(1, 0.0), (4, 1.0), (8, 4.0)])
def test_guesses_of_counts_are_those_of_a_simulation(group, margin):
    """Two million counts: every frequency within five standard errors."""
    rng = np.random.default_rng(1)
    sums = rng.binomial(group, 0.5, 500_000)
    y = sums + rng.laplace(0.0, 1.0, len(sums)) - group / 2
    right = np.concatenate([sums[y > margin], group - sums[y < -margin]])
    guessed, correct = interfering_counts(1.0, group, margin)
    error = math.sqrt(guessed * (1.0 - guessed) / len(sums))
    assert abs(len(right) / len(sums) - guessed) <= 5 * error + 1e-9
    seen = np.bincount(right, minlength=group + 1) / len(right)
    assert np.all(np.abs(seen - correct) <= 5 * np.sqrt(correct / len(right)) + 1e-9)


def test_beyond_the_group_guesses_are_independent_and_as_good_as_epsilon_allows():
    """There the likelihood is e^(epsilon sum), a product."""
    _, correct = interfering_counts(1.0, 8, 4.0)
    right = 1.0 / (1.0 + math.exp(-1.0))
    assert correct == pytest.approx(scipy.stats.binom.pmf(np.arange(9), 8, right), abs=1e-12)


def test_the_bound_of_one_run_without_interference_is_that_of_a_binomial():
    right = 1.0 / (1.0 + math.exp(-1.0))
    found = one_run_bound(1000, 1, 1.0, np.array([1.0 - right, right]), level=0.05)
    middle = int(scipy.stats.binom.median(1000, right))
    q = proportion_lower(middle, 1000, 0.05)
    assert found == pytest.approx(math.log(q / (1 - q)), abs=0.01)
    assert found < 1.0


def test_interference_costs():
    bounds = [
        max(
            one_run_bound(960 // g, g, *interfering_counts(1.0, g, m), level=0.05)
            for m in (0.0, g / 4, g / 2)
        )
        for g in (1, 4, 16)
    ]
    assert bounds[0] > bounds[1] > bounds[2] > 0.0


def test_growth_is_the_least_divergence_by_a_general_optimiser():
    p0, p1, claim = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.3, 0.5]), 0.3

    def divergence(x):
        q0, q1 = np.exp(x[:3]), np.exp(x[3:])
        return float(np.sum(p0 * np.log(p0 / q0)) + np.sum(p1 * np.log(p1 / q1)))

    rules = [
        {"type": "eq", "fun": lambda x: np.exp(x[:3]).sum() - 1.0},
        {"type": "eq", "fun": lambda x: np.exp(x[3:]).sum() - 1.0},
        {"type": "ineq", "fun": lambda x: claim - (x[:3] - x[3:])},
        {"type": "ineq", "fun": lambda x: claim + (x[:3] - x[3:])},
    ]
    start = np.log(np.full(6, 1 / 3))
    least = scipy.optimize.minimize(
        divergence, start, constraints=rules, method="SLSQP", options={"ftol": 1e-13}
    )
    assert growth(np.log(p0 / p1), p0, p1, claim) == pytest.approx(least.fun, rel=1e-5)


def test_what_keeps_its_claim_has_no_growth_and_an_impossible_answer_has_some():
    right = 1.0 / (1.0 + math.exp(-1.0))
    losses, p0 = np.array([1.0, -1.0]), np.array([right, 1.0 - right])
    assert growth(losses, p0, p0[::-1], 1.0) == pytest.approx(0.0, abs=1e-9)
    assert growth(losses, p0, p0[::-1], 0.5) > 0.01
    leak = growth(
        np.array([np.inf, 0.0, -np.inf]), np.array([0.1, 0.9, 0.0]), np.array([0.0, 0.9, 0.1]), 1.0
    )
    assert 0.0 < leak < math.inf
