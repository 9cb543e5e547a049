"""Claims about Renyi divergences are tested by a variational bound, as curves show too little."""

import math

import numpy as np
import pytest

from simulator.auditing import audit
from simulator.auditing.evidence.ratio_bets import ScoreCounts
from simulator.auditing.evidence.variational import RenyiBets, ScoreGains, Statistic
from simulator.theory import ZCDP, RenyiDP

SUPPORT = np.arange(-60, 61)


def discrete_gaussian(sigma):
    weights = np.exp(-(SUPPORT**2) / (2.0 * sigma**2))
    weights /= weights.sum()

    def sample(value, n, rng):
        return value + rng.choice(SUPPORT, size=n, p=weights)

    return sample


def test_a_discrete_gaussian_with_a_sigma_5_percent_low_is_shown_in_200_000_draws():
    """rho = 1 / (2 * 1.9^2) = .1385, claimed .125: hockey-stick curves would need 1.9e11 draws."""
    found = audit(discrete_gaussian(1.9), 0, 1, claimed=ZCDP(0.125), samples=200_000)
    assert found.violated
    assert "0.125 is claimed" in found.divergence
    assert found.divergence in str(found)


def test_one_that_keeps_its_claim_is_not_blamed():
    found = audit(discrete_gaussian(2.0), 0, 1, claimed=ZCDP(0.125), samples=50_000)
    assert not found.violated
    assert not found.divergence


def test_a_single_order_of_a_renyi_claim_is_tested():
    def response(truth):
        return lambda bit, n, rng: (rng.random(n) < truth) == bool(bit)

    def divergence(p, order):  # of Bernoulli(p) from Bernoulli(1 - p), by its definition
        total = p**order * (1 - p) ** (1 - order) + (1 - p) ** order * p ** (1 - order)
        return math.log(total) / (order - 1)

    true = divergence(0.7, 4.0)
    less = audit(response(0.7), 0, 1, claimed=RenyiDP(4.0, 0.6 * true), samples=20_000)
    assert less.violated
    assert not audit(response(0.7), 0, 1, claimed=RenyiDP(4.0, true), samples=10_000).violated


def statistic(order, claimed, g, shift):
    return Statistic(order, claimed, 0, low=g.min(), high=g.max(), shift=shift)


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 5.0])
def test_the_mean_gain_at_the_truth_is_what_the_theorem_says(order):
    """With g = ln dP/dQ the gain is 0 at the true divergence, and above 0 for any smaller claim."""
    p, q = np.array([0.2, 0.3, 0.5]), np.array([0.4, 0.35, 0.25])
    g = np.log(p / q)
    true = float(p @ g) if order == 1.0 else math.log(p**order @ q ** (1 - order)) / (order - 1)
    for claimed, sign in ((true, 0), (0.9 * true, 1), (1.1 * true, -1)):
        one = statistic(order, claimed, g, math.log(q @ np.exp(order * g)) / order)
        mean = p @ one.gained(g) - q @ one.lost(g)
        assert mean == pytest.approx(0.0, abs=1e-12) if sign == 0 else sign * mean > 1e-3


def evidence_of(order, share, rng):
    """The exact mean evidence of one pair of draws, by some function g, at a share of the truth."""
    p, q = np.array([0.2, 0.3, 0.5]), np.array([0.4, 0.35, 0.25])
    true = math.log(p**order @ q ** (1 - order)) / (order - 1) if order > 1 else p @ np.log(p / q)
    g = np.log(p / q) + rng.normal(0.0, 0.5, 3)
    counts = rng.multinomial(30, [*p, 0.0]), rng.multinomial(30, [*q, 0.0])
    tally = ScoreCounts(
        score=lambda batch: batch.answers, edges=np.arange(3.0), centres=g, cost=0.0,
        counts=np.array(counts, dtype=float),
    )  # fmt: skip
    one = statistic(order, share * true, g, float(rng.normal(0.0, 0.2)))
    gains = ScoreGains(np.append(g, math.nan), [one], tally)
    factors = [
        [math.exp(gains.growth(0, np.eye(4)[[x, 3]] * [[1.0], [0.0]])) for x in range(3)],
        [math.exp(gains.growth(0, np.eye(4)[[3, y]] * [[0.0], [1.0]])) for y in range(3)],
    ]
    return float(p @ factors[0]) * float(q @ factors[1])


@pytest.mark.parametrize("order", [1.0, 1.25, 2.0, 9.0])
def test_no_function_gains_on_a_true_claim_and_some_do_on_a_false_one(order):
    rng = np.random.default_rng(3)
    assert max(evidence_of(order, 1.0, rng) for _ in range(200)) <= 1.0 + 1e-12
    assert max(evidence_of(order, 0.5, rng) for _ in range(200)) > 1.001


@pytest.mark.nightly
def test_false_alarms_are_as_rare_as_stated():
    """60 honest audits at 10%: 6 alarms are expected; more than 15 have probability 3e-4."""
    alarms = sum(
        audit(
            discrete_gaussian(2.0), 0, 1, claimed=ZCDP(0.125), samples=2000, confidence=0.9,
            seed=seed,
        ).violated
        for seed in range(60)
    )  # fmt: skip
    assert alarms <= 15


def test_nothing_is_bet_where_nothing_is_claimed():
    assert [order for order, _ in RenyiBets(RenyiDP(2.0, 0.1).renyi, (2.0,)).bounds][-1] == 2.0
