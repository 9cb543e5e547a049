"""Every upper bound is above the exact answer and every lower bound below it, on a wide grid."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.theory import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    Composition,
    GaussianDP,
    PureDP,
    bound,
    bounds_for,
)
from tests.helpers.exploring import examples

wide = examples(50)
epsilons = st.floats(-3.0, 1.0).map(lambda exponent: 10.0**exponent)
rounds = st.floats(0.0, 3.6).map(lambda exponent: int(10.0**exponent))
deltas = st.floats(-40.0, -1.0).map(lambda exponent: 10.0**exponent)
SLACK = 1e-9  # float noise of the formulas, relative


def check_against_truth(composition, exact_name, delta):
    """Both directions of every bound against one exact answer."""
    exact = bound(exact_name).on(composition)
    epsilon = exact.epsilon(delta).value
    true_delta = exact.delta(epsilon).value
    for asked in bounds_for(composition):
        if asked.kind == "approximation":
            continue
        at_delta, at_epsilon = asked.epsilon(delta), asked.delta(epsilon)
        assert at_delta.upper >= epsilon * (1 - SLACK), asked.name
        assert at_delta.lower <= epsilon * (1 + SLACK), asked.name
        assert at_epsilon.upper >= true_delta * (1 - 1e-6), asked.name
        assert at_epsilon.lower <= true_delta * (1 + 1e-6), asked.name


@wide
@given(epsilons, rounds, deltas)
def test_pure(epsilon, k, delta):
    check_against_truth(Composition.repeat(PureDP(epsilon), k), "kairouz-oh-viswanath-3.3", delta)


@wide
@given(epsilons, rounds, deltas, st.floats(-9.0, -2.0))
def test_approximate(epsilon, k, delta, exponent):
    composition = Composition.repeat(ApproxDP(epsilon, 10.0**exponent / k), k)
    total = min(0.9, composition.leaks + delta)
    check_against_truth(composition, "kairouz-oh-viswanath-3.3", total)


@wide
@given(st.dictionaries(epsilons, st.integers(1, 30), min_size=2, max_size=3), deltas)
def test_heterogeneous(counts, delta):
    composition = Composition.of(*((PureDP(e), n) for e, n in counts.items()))
    check_against_truth(composition, "murtagh-vadhan", delta)


@wide
@given(epsilons, rounds, deltas)
def test_gaussian(mu, k, delta):
    check_against_truth(Composition.repeat(GaussianDP(mu), k), "analytic-gaussian", delta)


@wide
@given(epsilons, rounds, deltas)
def test_families_without_an_exact_answer_are_enclosed(epsilon, k, delta):
    for guarantee in (ZCDP(epsilon), BoundedRange(epsilon)):
        composition = Composition.repeat(guarantee, min(k, 100))
        quickly = (asked for asked in bounds_for(composition) if not asked.bound.costly)
        answers = [asked.epsilon(delta) for asked in quickly]
        highest_lower = max(answer.lower for answer in answers)
        assert highest_lower <= min(answer.upper for answer in answers) * (1 + SLACK)
        assert highest_lower > 0.0 or delta > 1e-4


@pytest.mark.nightly
@wide
@given(epsilons, rounds, deltas)
def test_each_bound_inverts_itself(epsilon, k, delta):
    for guarantee in (PureDP(epsilon), GaussianDP(epsilon), BoundedRange(epsilon)):
        for asked in bounds_for(Composition.repeat(guarantee, min(k, 100))):
            if asked.bound.costly:
                continue
            answer = asked.epsilon(delta).value
            # A hair above, as near the largest loss the curve is ill-conditioned in epsilon.
            assert asked.delta(answer * (1 + 1e-12)).value <= delta * (1 + 1e-5), asked.name
            if answer > 1e-6 * epsilon and asked.delta(0.0).value < 1.0:
                assert asked.delta(answer * 0.99).value >= delta * (1 - 1e-5), asked.name


def test_a_halved_bound_is_caught():
    composition = Composition.repeat(PureDP(0.1), 1000)
    exact = bound("kairouz-oh-viswanath-3.3").on(composition).epsilon(1e-6).value
    assert bound("advanced").on(composition).epsilon(1e-6).value / 2 < exact


ZCDP_CKS = {1: 0.4299414688, 10: 1.471594751, 100: 5.221534445, 1000: 20.55194881}
ZCDP_CKS[10_000] = 100.6899052


@pytest.mark.parametrize("k", list(ZCDP_CKS))
def test_published_zcdp_values_are_of_rho_epsilon_squared_over_two(k):
    classic = bound("zcdp-canonne-kamath-steinke").on(Composition.repeat(ZCDP(0.1**2 / 2), k))
    assert classic.epsilon(1e-6).value == pytest.approx(ZCDP_CKS[k], rel=5e-10)
    tight = bound("zcdp-canonne-kamath-steinke").on(Composition.repeat(PureDP(0.1), k))
    assert tight.epsilon(1e-6).value < ZCDP_CKS[k]


def test_freedman_wins_where_the_variance_is_small():
    composition = Composition.repeat(PureDP(1.2), 10_000)
    freedman = bound("freedman").on(composition).epsilon(1e-6).value
    assert freedman < bound("kairouz-oh-viswanath-3.5").on(composition).epsilon(1e-6).value


def central_limit_ratio(epsilon_0, k, delta):
    composition = Composition.repeat(PureDP(epsilon_0), k)
    exact = bound("kairouz-oh-viswanath-3.3").on(composition).epsilon(delta).value
    return bound("gdp-clt").on(composition).epsilon(delta).value / exact


def test_the_central_limit_errs_on_both_sides():
    assert central_limit_ratio(0.1, 100, 0.3) < 0.995
    assert central_limit_ratio(0.1, 100, 1e-6) > 1.02


def test_the_central_limit_becomes_right_when_many_rounds_share_a_budget():
    errors = [abs(central_limit_ratio(k**-0.5, k, 1e-6) - 1) for k in (100, 1000, 100_000)]
    assert errors[0] > 5 * errors[1] > 100 * errors[2]
    assert errors[2] < 1e-4
