"""Where parameters reach the ends of the floats: the right answer, or one clear line."""

import math
import warnings

import pytest

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory import (
    ApproxDP,
    BoundedRange,
    Composition,
    GaussianLaw,
    LaplaceLaw,
    PureDP,
    bound,
    bounds_for,
    compose_laws,
    randomized_response,
)
from simulator.theory.bracket import Bracket
from simulator.theory.laws.gaussian_curve import gaussian_epsilon


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# --- leaks and deltas ---------------------------------------------------------------------------


def test_leaks_far_beyond_the_total_are_refused():
    for asked in bounds_for(Composition.repeat(ApproxDP(50.0, 0.5), 10**6)):
        with pytest.raises(NotApplicable, match="the rounds' own deltas"):
            asked.epsilon(1e-6)


def test_denormal_deltas_are_refused_by_every_bound():
    for asked in bounds_for(Composition.repeat(PureDP(0.1), 10)):
        for delta in (5e-324, 1e-320, 9e-301):
            with pytest.raises(InvalidInput, match="1e-300"):
                asked.epsilon(delta)
        assert asked.epsilon(1e-300).value >= 0.0
    with pytest.raises(InvalidInput, match="1e-300"):
        compose_laws([(LaplaceLaw(0.1), 10)]).epsilon(1e-320)


def test_a_delta_that_leaks_leave_denormal_is_refused():
    asked = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(ApproxDP(0.1, 9.999e-301), 1))
    with pytest.raises(NotApplicable, match="leave only"):
        asked.epsilon(1e-300)


# --- one round ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mu", [1e-300, 1e-100, 1e-9, 1e3, 1e5, 1e50, 1e99])
@pytest.mark.parametrize("delta", [1e-300, 1e-6, 0.3, 0.99])
def test_one_gaussian_round_at_every_scale(mu, delta):
    found = compose_laws([(GaussianLaw(mu), 1)]).epsilon(delta)
    expected = gaussian_epsilon(mu, delta)
    assert found.lower * (1 - 1e-12) <= expected <= found.upper * (1 + 1e-12) < math.inf


@pytest.mark.parametrize(
    ("mu", "delta", "epsilon"),
    [  # by 60-digit arithmetic
        (1e-9, 1e-300, 3.63852370396964e-8),
        (3.1622776601683796e-14, 1e-290, 1.12125537405658e-12),
        (1e-3, 1e-290, 0.0361321018999308),
    ],
)
def test_small_mu_keeps_its_digits(mu, delta, epsilon):
    assert gaussian_epsilon(mu, delta) == pytest.approx(epsilon, rel=1e-13)
    for rounds in (1, 900):
        found = compose_laws([(GaussianLaw(mu / math.sqrt(rounds)), rounds)]).epsilon(delta)
        assert found.lower <= epsilon * (1 + 1e-14)
        assert found.upper >= epsilon * (1 - 1e-14)
        assert found.width <= 1e-6 * epsilon


@pytest.mark.parametrize("mu", [1e-300, 1e-9, 1.0])
def test_a_gaussian_tail_beyond_the_floats_is_nothing(mu):
    assert GaussianLaw(mu).delta(1e6) == 0.0
    assert GaussianLaw(1e99).delta(1e6) == 1.0


def test_a_parameter_whose_square_overflows_is_refused():
    for law in (GaussianLaw, LaplaceLaw):
        with pytest.raises(InvalidInput, match="1e\\+100"):
            law(1e200)


# --- many rounds --------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [GaussianLaw, LaplaceLaw])
@pytest.mark.parametrize(("size", "rounds"), [(1e3, 10**6), (1e99, 9), (1e-300, 10**6)])
def test_spreads_that_cannot_be_inverted_are_refused(law, size, rounds):
    pld = compose_laws([(law(size), rounds)])
    for ask in (lambda: pld.epsilon(1e-300), lambda: pld.epsilon(1e-296), lambda: pld.delta(0.0)):
        with pytest.raises(NotApplicable, match="too wide or too narrow"):
            ask()


@pytest.mark.parametrize("law", [GaussianLaw, LaplaceLaw])
def test_a_delta_above_all_total_variation_needs_no_engine(law):
    found = compose_laws([(law(1e-300), 10**6)]).epsilon(0.3)
    assert (found.lower, found.upper) == (0.0, 0.0)


@pytest.mark.parametrize("mu", [1e-15, 1e-9, 1e3])
def test_the_spreads_that_remain_are_answered(mu):
    found = compose_laws([(GaussianLaw(mu), 1000)], tolerance=1e-5).epsilon(1e-290)
    assert found.lower <= gaussian_epsilon(mu * math.sqrt(1000), 1e-290) <= found.upper
    assert found.width <= 1e-5 * found.upper


@pytest.mark.parametrize("epsilon", [1e-300, 1e-15, 1e-9])
def test_tiny_losses_are_not_merged_into_none(epsilon):
    # odd k: delta(0) = tanh(epsilon/2) (2j+1) C(2j, j) / 4^j at k = 2j + 1, to first order
    for j in (1, 500):
        expected = (2 * j + 1) * math.comb(2 * j, j) / 4**j * math.tanh(epsilon / 2)
        found = compose_laws([(randomized_response(epsilon), 2 * j + 1)]).delta(0.0)
        assert found.lower <= expected * (1 + 1e-6)
        assert found.upper >= expected * (1 - 1e-6)
        assert found.width <= 2e-6 * expected


@pytest.mark.parametrize("epsilon", [1e6, 1e12, 1e99])
def test_an_untilted_lattice_leaves_no_loss_out(epsilon):
    # all losses are epsilon but for e^-epsilon: nothing is private at epsilon 0
    found = compose_laws([(randomized_response(epsilon), 1000)]).delta(0.0)
    assert found.upper == 1.0
    assert found.lower >= 1 - 1e-6


# --- bounded range ------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1e-4, 1.0, 709.0, 1e4, 6e5])
@pytest.mark.parametrize("delta", [1e-290, 1e-6, 0.3, 0.99])
def test_one_round_of_bounded_range_in_closed_form(width, delta):
    # sup over t of (1 - e^(t-w)) (1 - e^(E-t)) / (1 - e^-w) is at t = (w + E)/2
    truth = max(0.0, width + 2 * math.log1p(-math.sqrt(delta * -math.expm1(-width))))
    answer = bound("bounded-range-adaptive").on(Composition.repeat(BoundedRange(width), 1))
    found = answer.epsilon(delta)
    assert found.lower * (1 - 1e-12) <= truth <= found.upper * (1 + 1e-12)


@pytest.mark.parametrize("width", [1e-300, 1e-9, 1e6, 1e100])
@pytest.mark.parametrize("rounds", [1, 7, 200])
def test_ranges_that_the_lattice_cannot_resolve_are_refused(width, rounds):
    with pytest.raises(NotApplicable, match="needs a range in"):
        bound("bounded-range-adaptive").on(Composition.repeat(BoundedRange(width), rounds))


def test_nothing_at_all_stays_nothing():
    assert compose_laws([]).epsilon(1e-6) == Bracket(0.0, 0.0)
