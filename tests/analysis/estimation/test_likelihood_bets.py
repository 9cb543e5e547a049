"""Bets on likelihood ratios against linear programs over all pairs that keep a claim."""

import math

import numpy as np
import pytest
import scipy.optimize

from experiments.auditors_on_trial.limits import growth
from simulator.analysis.estimation.likelihood_bets import best_bet, factors
from tests.helpers.cases import case

CLAIMS = [(0.0, 0.0), (0.1, 0.0), (1.5, 0.0), (0.0, 0.2), (0.5, 0.01), (1.0, 1e-5)]


def largest_sum(first, second, epsilon, delta):
    """The largest E0[first] + E1[second] over pairs of laws that keep the claim, by HiGHS."""
    k, c = len(first), math.exp(epsilon)
    one, none = np.eye(k), np.zeros((k, k))
    # laws q0, q1, and the excess of each over c times the other, at most delta in all
    above = np.hstack([one, -c * one, -one, none])
    below = np.hstack([-c * one, one, none, -one])
    zero, ones = np.zeros(k), np.ones(k)
    found = scipy.optimize.linprog(
        -np.concatenate([first, second, zero, zero]),
        A_ub=np.vstack([above, below, [np.r_[zero, zero, ones, zero]],
                        [np.r_[zero, zero, zero, ones]]]),
        b_ub=np.r_[np.zeros(2 * k), delta, delta],
        A_eq=[np.r_[ones, zero, zero, zero], np.r_[zero, ones, zero, zero]],
        b_eq=[1.0, 1.0],
    )  # fmt: skip
    assert found.status == 0
    return -found.fun


def test_no_pair_that_keeps_its_claim_gains_whatever_is_estimated():
    rng = np.random.default_rng(1)
    for epsilon, delta in CLAIMS:
        with case(f"epsilon {epsilon}, delta {delta}"):
            for _ in range(12):
                share = np.concatenate([rng.random(5), [0.0, 1.0]])
                caps = (1.0, 1.0) if delta == 0.0 else tuple(rng.random(2))
                first, second = factors(share, epsilon, delta, np.array(rng.random()), caps)
                assert min(first.min(), second.min()) >= 0.0
                assert largest_sum(first, second, epsilon, delta) <= 2.0 + 1e-9


def test_the_program_catches_bets_that_forget_delta_or_the_other_direction():
    share = np.array([0.98, 0.5, 0.02])
    first, second = factors(share, 0.5, 0.0, np.array(0.5), (1.0, 1.0))
    assert largest_sum(first, second, 0.5, 0.05) > 2.01
    assert largest_sum(first + 0.01, second, 0.5, 0.0) > 2.005
    first, second = factors(share, 0.4, 0.0, np.array(0.5), (1.0, 1.0))
    assert largest_sum(first, second, 0.5, 0.0) > 2.01


def test_bets_less_bold_are_valid_too():
    share = np.array([0.9, 0.6, 0.5, 0.1])
    bet = best_bet(share, (share / share.sum(), (1 - share) / (1 - share).sum()), 0.5, 0.03)
    for boldness in (0.0, 0.3, 1.0):
        first, second = map(np.exp, bet.logs(boldness))
        assert largest_sum(first, second, 0.5, 0.03) <= 2.0 + 1e-9


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.7])
def test_the_growth_of_a_pure_claim_is_the_least_divergence(epsilon):
    rng = np.random.default_rng(2)
    for _ in range(5):
        p0, p1 = rng.dirichlet(np.ones(6), 2)
        bet = best_bet(p0 / (p0 + p1), (p0, p1), epsilon, 0.0)
        assert bet.rate == pytest.approx(growth(np.log(p0 / p1), p0, p1, epsilon), rel=1e-3)
        assert bet.rate == pytest.approx(p0 @ np.log(bet.first) + p1 @ np.log(bet.second))


def test_the_growth_with_delta_is_nearly_the_least_divergence():
    p0, p1, epsilon, delta = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.3, 0.6]), 0.3, 0.05
    c = math.exp(epsilon)

    def divergence(q):
        return float(p0 @ np.log(p0 / q[:3]) + p1 @ np.log(p1 / q[3:]))

    rules = [
        {"type": "eq", "fun": lambda q: q[:3].sum() - 1.0},
        {"type": "eq", "fun": lambda q: q[3:].sum() - 1.0},
        {"type": "ineq", "fun": lambda q: delta - np.maximum(q[:3] - c * q[3:], 0.0).sum()},
        {"type": "ineq", "fun": lambda q: delta - np.maximum(q[3:] - c * q[:3], 0.0).sum()},
    ]
    least = scipy.optimize.minimize(
        divergence, np.full(6, 1 / 3), constraints=rules, bounds=[(1e-9, 1.0)] * 6,
        method="SLSQP", options={"ftol": 1e-12, "maxiter": 500},
    )  # fmt: skip
    bet = best_bet(p0 / (p0 + p1), (p0, p1), epsilon, delta)
    assert 0.97 * least.fun < bet.rate < least.fun + 1e-5


def test_laws_that_keep_the_claim_have_no_growth():
    p0, p1 = np.array([0.6, 0.4]), np.array([0.4, 0.6])
    assert best_bet(p0, (p0, p1), math.log(1.5), 0.0).rate == pytest.approx(0.0, abs=1e-9)
    assert best_bet(p0, (p0, p1), 0.0, 0.2).rate == pytest.approx(0.0, abs=1e-6)
    assert best_bet(p0, (p0, p1), 0.0, 0.1).rate > 0.005
