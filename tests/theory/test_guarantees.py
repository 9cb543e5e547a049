"""What one round's guarantee is, implies and prints, each number with a second witness."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from simulator.foundations.errors import InvalidInput
from simulator.theory import Composition, bounds_for
from simulator.theory.guarantees.bounded_range import BoundedRange
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.named import parse_guarantee
from simulator.theory.guarantees.pure import ApproxDP, PureDP
from simulator.theory.guarantees.renyi import ZCDP, RenyiDP
from tests.helpers.exploring import examples

parameters = st.floats(1e-6, 8.0)
curves = st.one_of(
    st.builds(PureDP, parameters),
    st.builds(ApproxDP, parameters, st.floats(0.0, 0.9)),
    st.builds(GaussianDP, parameters),
    st.builds(BoundedRange, parameters),
)
quick = examples(60)


def finite_pair_delta(p0, p1, epsilon):
    return float(np.maximum(np.asarray(p0) - np.exp(epsilon) * np.asarray(p1), 0.0).sum())


def randomized_response(epsilon):
    p0 = np.array([1.0, math.exp(-epsilon)]) / (1.0 + math.exp(-epsilon))
    return p0, p0[::-1]


def extremal_range_pair(epsilon, t):
    p = -math.expm1(t - epsilon) / -math.expm1(-epsilon)
    p0 = np.array([p, 1 - p])
    return p0, p0 * np.exp(-np.array([t, t - epsilon]))


@pytest.mark.parametrize("epsilon", [-0.7, 0.0, 0.3, 0.999, 1.0, 4.0])
def test_one_round_curves_against_plain_sums(epsilon):
    p0, p1 = randomized_response(1.0)
    expected = finite_pair_delta(p0, p1, epsilon)
    assert PureDP(1.0).hockey_stick(epsilon) == pytest.approx(expected, rel=1e-13, abs=1e-15)
    with_delta = 0.1 + 0.9 * expected
    assert ApproxDP(1.0, 0.1).hockey_stick(epsilon) == pytest.approx(with_delta, rel=1e-13)
    grid = np.linspace(0.0, 1.0, 20_001)
    best = max(finite_pair_delta(*extremal_range_pair(1.0, t), epsilon) for t in grid[::10])
    assert BoundedRange(1.0).hockey_stick(epsilon) == pytest.approx(best, rel=1e-6, abs=1e-15)


@pytest.mark.parametrize("mu", [1e-3, 0.1, 1.0, 7.0])
@pytest.mark.parametrize("deviations", [-30.0, -2.0, 0.0, 3.0, 12.0, 36.0])
def test_gaussian_curve_against_sixty_digits(mu, deviations):
    epsilon = mu * mu / 2 + deviations * mu
    with mpmath.workdps(60):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        exact = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
    assert GaussianDP(mu).hockey_stick(epsilon) == pytest.approx(float(exact), rel=2e-11)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("alpha", [1 + 1e-6, 1.5, 2.0, 17.0, 3000.0])
def test_renyi_of_extremal_pairs_against_sixty_digits(epsilon, alpha):
    with mpmath.workdps(60):
        e, theta = mpmath.mpf(epsilon), mpmath.mpf(alpha) - 1
        p = 1 / (1 + mpmath.exp(-e))
        pure = mpmath.log(p * mpmath.exp(theta * e) + (1 - p) * mpmath.exp(-theta * e)) / theta

        def of_pair(t):
            pt = (1 - mpmath.exp(t - e)) / (1 - mpmath.exp(-e))
            moment = pt * mpmath.exp(theta * t) + (1 - pt) * mpmath.exp(theta * (t - e))
            return mpmath.log(moment) / theta

        near_end = [e * (1 - mpmath.mpf(10) ** (-i / mpmath.mpf(20))) for i in range(121)]
        ranged = max(of_pair(t) for t in near_end)
    assert PureDP(epsilon).renyi(alpha) == pytest.approx(float(pure), rel=1e-11)
    ours = BoundedRange(epsilon).renyi(alpha)
    assert ours >= float(ranged) * (1 - 1e-9)
    assert ours == pytest.approx(float(ranged), rel=2e-3)


def test_mean_loss_is_the_largest_over_the_extremal_pairs():
    for epsilon in (0.1, 1.0, 6.0):
        means = []
        for t in np.linspace(0.0, epsilon, 2001)[1:-1]:
            p0, p1 = extremal_range_pair(epsilon, t)
            means.append(float(p0 @ np.log(p0 / p1)))
        assert BoundedRange(epsilon).mean_loss == pytest.approx(max(means), rel=1e-5)
        p0, p1 = randomized_response(epsilon)
        assert PureDP(epsilon).mean_loss == pytest.approx(float(p0 @ np.log(p0 / p1)), rel=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 3.0, 20.0])
def test_gaussian_of_a_finite_pair_is_the_least_that_covers_every_corner(epsilon):
    # A two-outcome pair is covered by mu exactly when its one corner is: mu = z(p0) - z(p1).
    _, p1 = randomized_response(epsilon)
    assert PureDP(epsilon).gdp_mu == pytest.approx(2 * norm.isf(p1[0]), rel=1e-9)
    corners = []
    for t in np.linspace(0.0, epsilon, 1001)[1:-1]:
        q0, q1 = extremal_range_pair(epsilon, t)
        corners.append(norm.isf(q1[0]) - norm.isf(q0[0]))
    assert BoundedRange(epsilon).gdp_mu == pytest.approx(max(corners), rel=1e-6)


@quick
@given(curves, st.floats(0.0, 9.0))
def test_every_curve_is_convex_decreasing_and_below_its_conversions(guarantee, epsilon):
    value = guarantee.hockey_stick(epsilon)
    assert 0.0 <= value <= 1.0
    assert guarantee.hockey_stick(epsilon + 0.1) <= value
    assert guarantee.implies(ApproxDP(epsilon, min(value, 0.999999)))
    if math.isfinite(guarantee.gdp_mu):
        assert value <= GaussianDP(guarantee.gdp_mu).hockey_stick(epsilon) * (1 + 1e-9) + 1e-15
    if math.isfinite(guarantee.zcdp_rho):
        assert value <= ZCDP(guarantee.zcdp_rho).hockey_stick(epsilon) * (1 + 1e-9)


@quick
@given(parameters, st.floats(1.0001, 1000.0))
def test_zcdp_rho_dominates_every_order(epsilon, alpha):
    for guarantee in (PureDP(epsilon), BoundedRange(epsilon), GaussianDP(epsilon)):
        assert guarantee.renyi(alpha) <= alpha * guarantee.zcdp_rho * (1 + 1e-12)
        assert guarantee.mean_loss <= guarantee.renyi(alpha) * (1 + 1e-9)


def test_implications_hold_and_fail():
    assert PureDP(0.1).implies(PureDP(0.2))
    assert not PureDP(0.2).implies(PureDP(0.1))
    assert PureDP(0.1).implies(PureDP(1 / (1 / 0.1)))
    assert PureDP(0.1).implies(ApproxDP(0.1, 0.0))
    assert ApproxDP(0.1, 0.0).implies(PureDP(0.1))
    assert not ApproxDP(0.1, 1e-9).implies(PureDP(50.0))
    assert PureDP(0.1).implies(BoundedRange(0.2))
    assert not PureDP(0.1).implies(BoundedRange(0.19))
    assert BoundedRange(0.3).implies(PureDP(0.3))
    assert BoundedRange(0.4).implies(ZCDP(0.02))
    assert PureDP(0.1).implies(ZCDP(0.1 * math.tanh(0.05)))
    assert GaussianDP(0.5).implies(ZCDP(0.125))
    assert not ZCDP(0.125).implies(GaussianDP(0.5))
    assert GaussianDP(1.0).implies(ApproxDP(1.0, 0.1270))
    assert not GaussianDP(1.0).implies(ApproxDP(1.0, 0.1269))
    assert not GaussianDP(1e-3).implies(PureDP(100.0))
    assert ZCDP(0.1).implies(RenyiDP(3.0, 0.3))
    assert RenyiDP(3.0, 0.3).implies(RenyiDP(2.0, 0.3))
    assert not RenyiDP(3.0, 0.3).implies(RenyiDP(4.0, 0.3))
    for harmless in (PureDP(0.0), GaussianDP(0.0), ZCDP(0.0), BoundedRange(0.0)):
        for family in (PureDP(1e-9), GaussianDP(1e-9), ZCDP(1e-9), BoundedRange(1e-9)):
            assert harmless.implies(family)


TEXTS = ["pure:0.2", "approx:0.1,1e-06", "gdp:0.5", "zcdp:0.1", "range:0.3", "renyi:2.0,0.1"]


@pytest.mark.parametrize("text", TEXTS)
def test_text_round_trips(text):
    assert str(parse_guarantee(text)) == text
    assert parse_guarantee(str(parse_guarantee(text))) == parse_guarantee(text)


NONSENSE = ["", "pure", "pure:", "pure:x", "pure:1,2", "approx:1", "laplace:1", "pure:-1"]
OUT_OF_RANGE = ["pure:nan", "pure:inf", "approx:1,1", "approx:1,-0.1", "renyi:1,1", "gdp:nan"]


@pytest.mark.parametrize("text", NONSENSE + OUT_OF_RANGE)
def test_nonsense_is_refused_in_one_line(text):
    with pytest.raises(InvalidInput) as caught:
        parse_guarantee(text)
    assert "\n" not in str(caught.value)


def test_extremes_do_not_overflow():
    for guarantee in (PureDP(1e6), BoundedRange(1e6), GaussianDP(1e6), ZCDP(1e6)):
        assert guarantee.hockey_stick(1.0) == pytest.approx(1.0)
        assert math.isfinite(guarantee.zcdp_rho)
        assert guarantee.renyi(1e6) > 0.0
    assert PureDP(1e6).gdp_mu == pytest.approx(2 * math.sqrt(2e6), rel=1e-2)


TINY = (PureDP, GaussianDP, BoundedRange)


@pytest.mark.parametrize("parameter", [1e-158, 1e-170, 1e-310])
@pytest.mark.parametrize("family", TINY)
def test_a_parameter_whose_square_underflows_is_not_taken_for_none(family, parameter):
    guarantee = family(parameter)
    assert guarantee.zcdp_rho > 0.0
    assert all(guarantee.renyi(alpha) > 0.0 for alpha in (1.0 + 1e-12, 1.5, 2.0, 1e6))
    for ready in bounds_for(Composition.repeat(guarantee, 10)):
        if ready.kind in ("upper", "exact") and not ready.bound.costly:
            # ten rounds lose at least what one does; no digits are kept down here
            one = guarantee.hockey_stick(0.0)
            assert ready.delta(0.0).upper >= one * (1.0 - 1e-9), ready.name
    assert family(0.0).zcdp_rho == family(0.0).renyi(2.0) == 0.0


def test_zero_concentrated_privacy_covers_the_gaussian_that_attains_it():
    for rho in (0.02, 1.0, 3.0):
        gaussian = GaussianDP(math.sqrt(2 * rho))
        for epsilon in (0.0, 1.0, 4.0):
            assert ZCDP(rho).hockey_stick(epsilon) >= gaussian.hockey_stick(epsilon)


@pytest.mark.parametrize("epsilon", [1.3, 2.0, 9.0])
def test_beyond_the_variance_of_randomized_response_the_range_bounds_it(epsilon):
    assert PureDP(epsilon).loss_variance == epsilon**2
