"""Trade-off functions against brute force over tests, and against each other."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.foundations.errors import InvalidInput
from simulator.theory import FiniteLaw, GaussianLaw, LaplaceLaw, compose_laws, randomized_response
from simulator.theory.pld.trade_off import EnclosedTradeOff, GaussianTradeOff, PiecewiseTradeOff
from tests.helpers.exploring import examples

ALPHA = np.linspace(0, 1, 101)
EPSILONS = [-2.0, -0.3, 0.0, 0.4, 1.5]


def pair(seed):
    rng = np.random.default_rng(seed)
    p0, p1 = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4))
    return np.r_[p0 * 0.9, 0.1, 0.0], np.r_[p1 * 0.8, 0.0, 0.2]


@given(st.integers(0, 10**6))
@examples(30)
def test_finite_pair_against_all_deterministic_tests(seed):
    p0, p1 = pair(seed)
    tradeoff = PiecewiseTradeOff.from_law(FiniteLaw.from_probabilities(p0, p1))
    for reject in itertools.product([0.0, 1.0], repeat=len(p0)):
        alpha, beta = float(p0 @ reject), float(1 - p1 @ reject)
        assert tradeoff(min(alpha, 1.0)) <= beta + 1e-12
    for alpha, beta in zip(tradeoff.alpha, tradeoff.beta):  # and each vertex is attained
        tests = np.array(list(itertools.product([0.0, 1.0], repeat=len(p0))))
        gaps = np.abs(tests @ p0 - alpha) + np.abs(1 - tests @ p1 - beta)
        assert gaps.min() < 1e-9


@given(st.integers(0, 10**6), st.sampled_from(EPSILONS))
@examples(30)
def test_conjugation_gives_back_the_hockey_stick_of_the_exchanged_pair(seed, epsilon):
    law = FiniteLaw.from_probabilities(*pair(seed))
    tradeoff = PiecewiseTradeOff.from_law(law)
    assert tradeoff.delta(epsilon) == pytest.approx(law.reversed().delta(epsilon), abs=1e-12)


@pytest.mark.parametrize("delta", [0.0, 0.01, 1.0])
def test_guarantee_is_the_law_of_its_dominating_pair(delta):
    stated = PiecewiseTradeOff.from_guarantee(0.7, delta)
    formula = np.maximum(1 - delta - np.exp(0.7) * ALPHA, np.exp(-0.7) * (1 - delta - ALPHA))
    np.testing.assert_allclose(stated(ALPHA), np.maximum(formula, 0), atol=1e-14)
    if delta < 1:
        exact = PiecewiseTradeOff.from_law(randomized_response(0.7, delta))
        np.testing.assert_allclose(exact(ALPHA), stated(ALPHA), atol=1e-12)
        assert stated.delta(0.7) == pytest.approx(delta, abs=1e-14)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_gaussian_conjugate_by_a_fine_search(epsilon):
    tradeoff = GaussianTradeOff(1.3)
    alpha = np.linspace(0, 1, 400001)
    searched = np.max(1 - tradeoff(alpha) - np.exp(epsilon) * alpha)
    assert tradeoff.delta(epsilon) == pytest.approx(searched, abs=1e-9)


def test_gaussian_composition_adds_squares():
    assert GaussianTradeOff(3.0).compose(GaussianTradeOff(4.0)).mu == pytest.approx(5.0)
    assert GaussianTradeOff(0.0)(ALPHA) == pytest.approx(1 - ALPHA)
    assert GaussianTradeOff(0.0).delta(-1.0) == pytest.approx(1 - np.exp(-1))


def test_composition_brackets_hold_the_exact_gaussian():
    bracket = EnclosedTradeOff.from_pld(
        compose_laws([(GaussianLaw(0.3), 25)], 1e-4), np.linspace(-8, 8, 161)
    )
    exact = GaussianTradeOff(1.5)(ALPHA)
    assert all(float(GaussianTradeOff(1.5)(a)) in bracket(a) for a in (0.0, 0.01, 0.2, 0.7, 1.0))
    assert (bracket.lower(ALPHA) <= exact + 1e-12).all()
    assert (bracket.upper(ALPHA) >= exact - 1e-12).all()
    assert (bracket.lower(ALPHA) >= exact - 0.01).all()
    assert (bracket.upper(ALPHA) <= exact + 0.05).all()
    # A pair a little more revealing is not inside.
    assert (GaussianTradeOff(1.6)(ALPHA) < bracket.lower(ALPHA)).any()


def test_composed_laplace_lies_above_basic_composition_and_below_one_round():
    bracket = EnclosedTradeOff.from_pld(
        compose_laws([(LaplaceLaw(0.1), 10)], 1e-4), np.linspace(-1, 1, 41)
    )
    basic = PiecewiseTradeOff.from_guarantee(1.0)
    assert (bracket.upper(ALPHA) >= basic(ALPHA)).all()
    one = EnclosedTradeOff.from_pld(
        compose_laws([(LaplaceLaw(0.1), 1)], 1e-4), np.linspace(-0.1, 0.1, 41)
    )
    assert (bracket.lower(ALPHA) <= one.upper(ALPHA)).all()
    for epsilon in (0.0, 0.3):
        composed = compose_laws([(LaplaceLaw(0.1), 10)], 1e-4).delta(epsilon)
        assert bracket.lower.delta(epsilon) >= composed.lower
        assert bracket.upper.delta(epsilon) <= composed.upper


@pytest.mark.parametrize(
    "make",
    [
        lambda: GaussianTradeOff(-1.0),
        lambda: GaussianTradeOff(1.0)([0.5, 1.5]),
        lambda: GaussianTradeOff(1.0)(float("nan")),
        lambda: PiecewiseTradeOff.from_guarantee(1.0, 1.5),
        lambda: PiecewiseTradeOff.from_law(LaplaceLaw(0.1)),
        lambda: PiecewiseTradeOff(np.array([0.0, 0.5, 1.0]), np.array([1.0, 0.9, 0.0])),
        lambda: PiecewiseTradeOff(np.array([0.1, 1.0]), np.array([1.0, 0.0])),
        lambda: EnclosedTradeOff.from_pld(compose_laws([(LaplaceLaw(0.1), 2)]), [0.1]),
    ],
)
def test_nonsense_is_refused(make):
    with pytest.raises(InvalidInput):
        make()


@pytest.mark.parametrize("epsilon", [700.0, 709.7, 720.0, 745.0, 1000.0, 1e308, math.inf])
def test_an_epsilon_whose_exponential_overflows_is_answered(epsilon):
    assert PiecewiseTradeOff.from_guarantee(1.0).delta(epsilon) == 0.0
    assert PiecewiseTradeOff.from_guarantee(1.0, 0.25).delta(epsilon) == 0.25
    assert GaussianTradeOff(1.0).delta(epsilon) == 0.0
    assert GaussianTradeOff(0.0).delta(epsilon) == 0.0
    # A vertex so close to alpha = 0 that it still counts: e^720 * 1e-320 is not yet 1.
    corner = PiecewiseTradeOff(np.array([0.0, 1e-320, 1.0]), np.array([1.0, 0.5, 0.0]))
    expected = max(0.0, 0.5 - math.exp(min(epsilon + math.log(1e-320), 1.0)))
    assert corner.delta(epsilon) == pytest.approx(expected, rel=1e-9)


def test_an_epsilon_that_is_no_number_is_refused():
    for curve in (PiecewiseTradeOff.from_guarantee(1.0), GaussianTradeOff(1.0)):
        with pytest.raises(InvalidInput):
            curve.delta(math.nan)
