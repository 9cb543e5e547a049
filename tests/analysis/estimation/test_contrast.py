"""Evidence from pairs of draws: fair under every null, and growing at the rate that it states."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import rel_entr

from simulator.analysis.estimation.contrast import Bettor, nearest, rough_growth


def divergence(q, p):
    return rel_entr(q, p) + rel_entr(1.0 - q, 1.0 - p)


CASES = [
    (0.5, 0.4, 0.1, 0.0),
    (0.9, 0.2, 1.0, 0.0),
    (0.3, 1e-4, 0.5, 0.01),
    (1e-3, 1e-6, 2.0, 0.0),
    (0.999, 0.5, 0.3, 0.2),
    (0.02, 0.015, 0.1, 0.001),
]


@pytest.mark.parametrize(("q0", "q1", "epsilon", "delta"), CASES)
def test_the_nearest_point_of_the_null(q0, q1, epsilon, delta):
    t0, t1 = (float(t) for t in nearest(*map(np.array, (q0, q1, epsilon, delta))))
    assert t0 == pytest.approx(np.exp(epsilon) * t1 + delta, rel=1e-12)

    def distance(u):
        return divergence(q0, np.exp(epsilon) * u + delta) + divergence(q1, u)

    best = minimize_scalar(
        distance, bounds=(q1, (q0 - delta) / np.exp(epsilon)), method="bounded",
        options={"xatol": 1e-14},
    )  # fmt: skip
    assert distance(t1) <= best.fun + 1e-12


def largest_mean(bet, epsilon, delta):
    """The largest mean of what a pair of draws multiplies the evidence by, over the null."""
    p1 = np.concatenate([np.linspace(0, 1, 4001), np.geomspace(1e-9, 1, 2001)])[:, None]
    p0 = np.minimum(1.0, np.exp(epsilon) * p1 + delta) * np.linspace(0, 1, 21)[None]
    first = p0 * np.exp(bet.hit_0) + (1 - p0) * np.exp(bet.miss_0)
    return float(np.max(first * (p1 * np.exp(bet.hit_1) + (1 - p1) * np.exp(bet.miss_1))))


@pytest.mark.parametrize("boldness", [1.0, 0.4])
@pytest.mark.parametrize(("q0", "q1", "epsilon", "delta"), CASES)
def test_no_null_lets_the_evidence_grow(q0, q1, epsilon, delta, boldness):
    bet = Bettor(*map(np.array, (q0, q1, epsilon, delta))).odds(boldness)
    assert largest_mean(bet, epsilon, delta) <= 1.0 + 1e-12


def test_the_check_sees_a_bet_that_is_not_fair():
    bet = Bettor(*map(np.array, (0.5, 0.4, 0.1, 0.0))).odds(1.0)
    assert largest_mean(bet, 0.12, 0.0) > 1.0001  # a null that is weaker than the one bet against


def test_inside_the_null_nothing_is_bet():
    bet = Bettor(*map(np.array, (0.4, 0.5, 0.1, 0.0))).odds(1.0)
    assert not np.any([bet.hit_0, bet.miss_0, bet.hit_1, bet.miss_1])


def test_what_is_won_is_the_divergence_from_the_null():
    q0, q1 = 0.5, 0.4
    bettor = Bettor(*map(np.array, (q0, q1, 0.1, 0.0)))
    expected = divergence(q0, bettor.t0) + divergence(q1, bettor.t1)
    assert bettor.rate == pytest.approx(float(expected), rel=1e-9)
    rng = np.random.default_rng(0)
    n = 4_000_000
    won = bettor.odds(1.0).evidence(rng.binomial(n, q0), rng.binomial(n, q1), n)
    assert float(won) / n == pytest.approx(float(expected), rel=0.05)


@pytest.mark.parametrize(("q0", "q1", "epsilon", "delta"), CASES)
def test_the_rough_rate_is_right_to_a_factor_of_three(q0, q1, epsilon, delta):
    arrays = [np.array(v) for v in (q0, q1, epsilon, delta)]
    rate = float(Bettor(*arrays).rate)
    assert rate / 3 <= float(rough_growth(*arrays)) <= 3 * rate
