"""Filters of realised losses, and the one that trusts the central limit theorem."""

import math

import mpmath
import pytest

from simulator.errors import NotApplicable
from simulator.theory import (
    ZCDP,
    ApproxDP,
    CLTFilter,
    GaussianDP,
    PureDP,
    RealisedFilter,
    SubsampledGaussianDP,
    parse_filter,
)
from simulator.theory.filters.rules import realised_step
from simulator.worst import parse_family, worst_case

EPSILON = 1.0
LOSSES = (-1.4, -1.02, -0.95, -0.3, 0.0, 0.6, 0.81, 0.999, 1.0, 1.1, 1.3, 2.0)


def won(loss):
    return max(mpmath.mpf(0), 1 - mpmath.exp(EPSILON - loss))


def cost_of_response(epsilon, loss):
    up = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))
    return up * won(loss + epsilon) + (1 - up) * won(loss - epsilon) - won(loss)


def cost_of_gaussian(mu, loss):
    """By quadrature over the law of the loss, normal of mean mu^2/2 and variance mu^2."""

    def density(x):
        return mpmath.npdf(x, mu**2 / 2, mu) * won(loss + x)

    breaks = sorted({-8 * mu, EPSILON - loss, 8 * mu})
    return mpmath.quad(density, [b for b in breaks if -8 * mu <= b <= 8 * mu]) - won(loss)


@pytest.mark.parametrize(("price", "exact"), [(0.2, cost_of_response), (-0.2, cost_of_gaussian)])
def test_a_round_costs_what_it_adds_in_both_experiments(price, exact):
    for loss in LOSSES:
        state = (loss, 0.0, 0.0, 0.0, 0.0, EPSILON, 1.0, 0.0)
        admitted, after = realised_step(state, price, 0.0)
        assert admitted
        with mpmath.workdps(30):
            for found, at in zip(after[1:3], (mpmath.mpf(loss), -mpmath.mpf(loss))):
                due = exact(abs(price), at)
                assert found == pytest.approx(float(due), rel=1e-8, abs=1e-11)
                if price > 0.0:
                    assert found >= due - mpmath.mpf(2) ** -60


def test_rounds_whose_loss_cannot_pass_epsilon_are_free():
    running = RealisedFilter(1.0, 1e-6).fresh()
    for _ in range(500):
        running.spend(PureDP(0.9))
        running.observe(-0.0)
    assert running.state[1:3] == (0.0, 0.0)
    running.observe(0.2)
    assert not running.admits(PureDP(0.9))
    assert running.admits(PureDP(0.8))
    running.observe(math.inf)
    running.observe(-math.inf)
    assert not running.admits(PureDP(1e-9))  # a loss that is not a number


def test_deltas_of_rounds_have_their_part():
    running = RealisedFilter(1.0, 1e-3, 1e-4).fresh()
    running.spend(ApproxDP(0.1, 6e-5))
    assert not running.admits(ApproxDP(0.1, 6e-5))
    assert running.admits(ApproxDP(0.1, 4e-5))
    assert RealisedFilter(1.0, 1e-3).price(GaussianDP(0.3)) == (-0.3, 0.0)
    with pytest.raises(NotApplicable):
        RealisedFilter(1.0, 1e-3).price(ZCDP(0.1))


def test_the_limit_theorem_breaks_its_promise_by_far():
    filter_ = parse_filter("clt:1,1e-5")
    assert isinstance(filter_, CLTFilter)
    mu = filter_.price(SubsampledGaussianDP(2.0, 0.1))[0]
    assert mu == pytest.approx(0.1 * math.sqrt(math.exp(0.25) - 1))
    assert filter_.price(GaussianDP(0.3)) == (0.3, 0.0)
    found = worst_case(
        parse_family("subsampled-gaussian:2,0.1"), epsilon=1.0, filter=filter_, tolerance=0.1
    )
    assert found.delta.lower > 7e-5
    assert filter_.bounds_delta(1.0) == 1.0  # it proves nothing


@pytest.mark.parametrize(("epsilon", "loss"), [(800.0, 0.0), (1.0, -750.0)])
def test_a_large_gaussian_round_far_from_the_promise_is_not_free(epsilon, loss):
    """Its own delta at the gap is 1."""
    running = RealisedFilter(epsilon, 1e-6).fresh()
    running.observe(loss)
    assert not running.admits(GaussianDP(100.0))
    assert running.admits(GaussianDP(0.01))
