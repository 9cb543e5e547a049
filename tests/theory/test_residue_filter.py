"""The residue filter: its step against 40 digits, its lemma on a grid, and adversaries."""

import math
import random

import mpmath
import pytest

from experiments.filter_trial.variants import SquaresOfCurve
from simulator.errors import NotApplicable
from simulator.theory import ApproxDP, BoundedRange, GaussianDP, PureDP, ResidueFilter
from simulator.theory.filters.residue import OneNumber
from simulator.theory.filters.rules import residue_step
from simulator.worst import worst_case
from simulator.worst.filters.admitted import most_rounds, published_rounds, rounds_admitted


def gaussian_delta(mu, epsilon):
    if mu == 0:
        return max(mpmath.mpf(0), 1 - mpmath.exp(epsilon))
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(
        -mu / 2 - epsilon / mu
    )


def composed_delta(mu, round_epsilon, epsilon):
    """delta(epsilon) of randomized response composed with a Gaussian pair, by conditioning."""
    up = 1 / (1 + mpmath.exp(-round_epsilon))
    return up * gaussian_delta(mu, epsilon - round_epsilon) + (1 - up) * gaussian_delta(
        mu, epsilon + round_epsilon
    )


def largest_left(mu, epsilon):
    """The largest m of the lemma, by bisection of the two total variation distances."""
    whole = gaussian_delta(mu, mpmath.mpf(0))
    if composed_delta(mpmath.mpf(0), epsilon, mpmath.mpf(0)) > whole:
        return None
    low, high = mpmath.mpf(0), mu
    for _ in range(110):
        middle = (low + high) / 2
        fits = composed_delta(middle, epsilon, mpmath.mpf(0)) <= whole
        low, high = (middle, high) if fits else (low, middle)
    return low


def left_of(mu, epsilon):
    admitted, state = residue_step((mu, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), epsilon, 0.0)
    return state[0] if admitted else None


def cases(count):
    draw = random.Random(3)
    for _ in range(count):
        mu = 10.0 ** draw.uniform(-3.0, 0.8)
        yield mu, mu * 10.0 ** draw.uniform(-4.0, 0.3)


def test_a_step_leaves_a_little_less_than_the_exact_residue():
    with mpmath.workdps(40):
        for mu, epsilon in cases(12):
            exact, found = largest_left(mpmath.mpf(mu), mpmath.mpf(epsilon)), left_of(mu, epsilon)
            if found is None:
                assert exact is None or exact < 0.1 * mu
            else:
                assert exact - 1e-10 * mu <= found <= exact


def test_what_is_left_composed_with_the_round_is_below_the_curve_everywhere():
    with mpmath.workdps(40):
        for mu, epsilon in ((0.24, 0.02), (0.24, 0.19), (1.5, 0.3), (1.5, 1.2), (0.01, 0.002)):
            left = left_of(mu, epsilon)
            grid = [mpmath.mpf(j) * mu / 4 for j in range(-40, 41)]
            for at in grid:
                slack = gaussian_delta(mpmath.mpf(mu), at) - composed_delta(left, epsilon, at)
                assert slack >= 0
            # one per mille more is above it, at epsilon = 0
            more = composed_delta(min(left * 1.001 + 1e-6, mu), epsilon, mpmath.mpf(0))
            assert more > gaussian_delta(mpmath.mpf(mu), mpmath.mpf(0))


MENU = "randomized-response:0.1,randomized-response:0.2,randomized-response:0.3"


def test_no_adversary_of_a_menu_gets_more_than_is_promised_and_one_does_of_the_squares():
    promise = 1.0, 1e-2
    sound = worst_case(MENU, epsilon=1.0, filter=OneNumber(ResidueFilter(*promise)), tolerance=0.02)
    assert sound.verdict == "sound"
    assert sound.delta.lower > 0.7 * promise[1]
    broken = worst_case(MENU, epsilon=1.0, filter=SquaresOfCurve(*promise), tolerance=0.02)
    assert broken.verdict == "broken"
    assert broken.delta.lower > 1.02 * promise[1]


def test_more_small_rounds_than_any_published_filter_and_nearly_all_that_are_possible():
    promise, epsilon = (1.0, 1e-6), 0.01
    found = rounds_admitted(ResidueFilter(*promise), epsilon)
    assert found >= 1.12 * max(published_rounds(promise, epsilon).values())
    assert 0.99 * most_rounds(promise, epsilon) <= found <= most_rounds(promise, epsilon)


def test_gaussian_rounds_leave_the_difference_of_squares():
    running = ResidueFilter(1.0, 1e-6).fresh()
    mu = running.spec.mu
    running.spend(GaussianDP(0.6 * mu))
    assert math.isclose(running.state[0], 0.8 * mu, rel_tol=1e-12)
    running.spend(GaussianDP(0.8 * mu * (1 - 1e-9)))
    assert not running.admits(GaussianDP(1e-3 * mu))
    assert running.spec.fresh().admits(GaussianDP(mu))
    assert not running.spec.fresh().admits(GaussianDP(mu * (1 + 1e-9)))


def test_basic_composition_admits_large_rounds_and_ends_the_curve():
    running = ResidueFilter(1.0, 1e-6).fresh()
    running.spend(PureDP(0.9))
    assert running.state[0] == -1.0
    assert running.admits(PureDP(0.1))
    assert not running.admits(PureDP(0.11))
    assert not running.admits(GaussianDP(1e-6))  # what it loses is not bounded
    assert not ResidueFilter(1.0, 1e-6, basic=False).fresh().admits(PureDP(0.9))
    assert left_of(0.0, 5e-324) is None


def test_prices_of_other_guarantees():
    filter_ = ResidueFilter(1.0, 1e-6, 1e-7)
    # a large pure round has a Gaussian pair of a smaller mu, but only its epsilon adds up
    assert PureDP(5.0).gdp_mu < 5.0
    assert filter_.price(PureDP(5.0)) == (5.0, 0.0)
    assert ResidueFilter(5.0, 1e-6).fresh().admits(PureDP(5.0))
    assert filter_.price(ApproxDP(0.1, 1e-8)) == (0.1, 1e-8)
    assert filter_.price(BoundedRange(0.1))[0] == -BoundedRange(0.1).gdp_mu
    with pytest.raises(NotApplicable):
        OneNumber(filter_).admit(-0.2, ApproxDP(0.1, 1e-8))


def test_a_published_filter_outside_its_range_admits_nothing():
    found = published_rounds((1e-300, 1e-6), 2e-303)
    assert found["rogers"] == 0
    assert found["sum"] == 500
    assert published_rounds((1.0, 0.5), 0.1)["rogers"] == 0
