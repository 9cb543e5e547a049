"""Renyi guarantees over several orders, and compositions of families that mix."""

import itertools
import math

import mpmath
import numpy as np
import pytest

from simulator.foundations.errors import InvalidInput
from simulator.theory import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    Composition,
    GaussianDP,
    PureDP,
    RenyiDP,
    bound,
    bounds_for,
    events,
    parse_guarantee,
)
from simulator.theory.events import Unit
from simulator.theory.guarantees.law_renyi import law_renyi
from simulator.theory.guarantees.run_counts import NegativeBinomialRuns
from simulator.theory.laws.gaussian import GaussianLaw

CKS = "rdp-canonne-kamath-steinke"
ORDERS = (1.25, 1.5, 2.0, 3.0, 5.0, 8.0, 16.0, 32.0, 64.0)


def of(guarantee):
    return RenyiDP(ORDERS, tuple(guarantee.renyi(order) for order in ORDERS))


@pytest.mark.parametrize("guarantee", [PureDP(0.5), GaussianDP(0.3), BoundedRange(1.0)], ids=str)
def test_between_its_orders_a_curve_is_above_the_truth_and_below_its_largest_order(guarantee):
    curve = of(guarantee)
    assert guarantee.implies(curve)
    for alpha in (1.01, 1.3, 2.0, 2.5, 4.4, 10.0, 63.0):
        assert guarantee.renyi(alpha) * (1 - 1e-14) <= curve.renyi(alpha)
        later = min(order for order in ORDERS if order >= alpha)
        assert curve.renyi(alpha) <= guarantee.renyi(later)
    assert curve.renyi(64.1) == math.inf
    assert curve.mean_loss >= guarantee.mean_loss


def test_chords_are_those_of_sixty_digits_and_useless_orders_do_no_harm():
    curve = RenyiDP((2.0, 4.0, 9.0), (0.1, 5.0, 0.9))  # the middle one is implied by its neighbours
    with mpmath.workdps(60):
        start, end = mpmath.mpf(1) * mpmath.mpf(0.1), mpmath.mpf(8) * mpmath.mpf(0.9)
        for alpha in (2.5, 4.0, 8.5):
            x = mpmath.mpf(alpha) - 1
            chord = (start + (x - 1) * (end - start) / 7) / x
            assert curve.renyi(alpha) == pytest.approx(float(chord), rel=1e-14)
    assert RenyiDP((2.0, 3.0), (0.4, 0.1)).renyi(2.0) == 0.1  # the divergence grows with its order


@pytest.mark.parametrize("rounds", [1, 100, 10_000])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_a_curve_is_as_good_as_its_best_order_and_near_the_whole(rounds, delta):
    family = GaussianDP(0.02)
    whole = bound(CKS).on(Composition.repeat(family, rounds)).epsilon(delta).value
    curve = bound(CKS).on(Composition.repeat(of(family), rounds)).epsilon(delta).value
    single = [
        bound(CKS).on(Composition.repeat(RenyiDP(*at), rounds)).epsilon(delta).value
        for at in of(family).curve
    ]
    assert whole * (1 - 1e-12) <= curve <= min(single) * (1 + 1e-12)
    assert max(single) > 4 * curve  # what stating one order alone may cost


def test_mixed_families_meet_at_the_last_common_order():
    mixed = Composition.of((RenyiDP((2.0, 4.0), (0.1, 0.3)), 5), (PureDP(0.1), 3), (ZCDP(0.01), 1))
    found = bound(CKS).on(mixed).epsilon(1e-6).value
    at_four = mixed.renyi(4.0) + math.log(1 / 4e-6) / 3 + math.log(0.75)
    at_two = mixed.renyi(2.0) + math.log(1 / 2e-6) + math.log(0.5)
    assert found <= min(at_four, at_two) * (1 + 1e-12)


FAMILIES = [
    PureDP(0.1),
    PureDP(0.2),
    ApproxDP(0.1, 1e-9),
    GaussianDP(1.0),
    GaussianDP(2.0),
    ZCDP(0.1),
    ZCDP(0.2),
    BoundedRange(0.3),
    BoundedRange(0.4),
    RenyiDP(2.0, 0.1),
    RenyiDP((2.0, 3.0), (0.1, 0.2)),
    PureDP(0.0),
]


@pytest.mark.parametrize("pair", list(itertools.combinations(FAMILIES, 2)), ids=str)
def test_bounds_for_answers_whatever_is_mixed(pair):
    mixed = Composition.of((pair[0], 2), (pair[1], 1))
    asked = bounds_for(mixed)
    assert asked or ApproxDP(0.1, 1e-9) in pair
    for one in asked:
        answer = one.epsilon(1e-6)
        assert 0.0 <= answer.lower <= answer.upper
        assert math.isfinite(answer.value)


def test_numbers_of_every_kind_make_the_same_guarantee():
    for number in (np.float64(0.5), np.float32(0.5), mpmath.mpf(0.5)):
        assert PureDP(number) == PureDP(0.5)
        assert str(ApproxDP(number, number)) == "approx:0.5,0.5"
    mixed = Composition.of((PureDP(np.float64(0.1)), 2), (PureDP(np.float32(0.25)), np.int64(3)))
    assert bound("murtagh-vadhan-rounded").on(mixed).epsilon(1e-6).value < 1.0
    for bad in ("0.1", None, 10**400, 1j, math.nan):
        for kind in (PureDP, GaussianDP, ZCDP, BoundedRange):
            with pytest.raises(InvalidInput):
                kind(bad)


def test_a_curve_round_trips_and_nonsense_is_refused():
    curve = RenyiDP((8.0, 2.0), (0.5, 0.1))
    assert str(curve) == "renyi:2.0,0.1,8.0,0.5"
    assert parse_guarantee(str(curve)) == curve == RenyiDP([2, 8], [0.1, 0.5])
    assert RenyiDP((2.0,), (0.1,)) == RenyiDP(2.0, 0.1)
    for bad in (((2.0, 3.0), 0.1), ((2.0, 2.0), (0.1, 0.2)), ((), ()), ((2.0, 1.0), (0.1, 0.1))):
        with pytest.raises(InvalidInput):
            RenyiDP(*bad)
    for text in ("renyi:2", "renyi:2,0.1,3", "renyi:x,1"):
        with pytest.raises(InvalidInput, match="renyi"):
            parse_guarantee(text)


def test_the_curve_of_a_gaussian_law_is_a_line():
    for alpha in (1.5, 4.0):
        assert law_renyi(GaussianLaw(0.3), alpha) == pytest.approx(alpha * 0.3**2 / 2)


def test_a_poisson_number_of_runs_has_its_renyi_form():
    """Theorem 6 of Papernot and Steinke 2022, with the conversion of zCDP on a grid of orders."""
    mean, rho = 8.0, 0.1
    selection = events.select(events.promise(ZCDP(rho)), mean, math.inf)
    (part,) = selection.resolved(Unit("add-remove"))
    curve = part.guarantees[-1]
    theta = np.geomspace(1e-2, 1e4, 100_001)
    gain = (1 + theta) * np.log(theta / (1 + theta)) - np.log(theta)
    for order, value in curve.curve:
        epsilon = math.log(order / (order - 1))
        logs = theta * (rho * (1 + theta) - epsilon) + gain
        delta = math.exp(min(0.0, logs.min()))
        expected = rho * order + mean * delta + math.log(mean) / (order - 1)
        assert value == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("shape", [-0.5, 0.0, 2.0])
def test_some_run_is_the_best(shape):
    runs = NegativeBinomialRuns(shape, 0.1)
    assert runs.between(0.0, 1.0, 0.0) == pytest.approx(1.0, rel=1e-14)
    cells = runs.between([0.0, 0.2, 0.7], [0.2, 0.5, 0.3], [0.8, 0.3, 0.0])
    assert cells.sum() == pytest.approx(1.0, rel=1e-14)
