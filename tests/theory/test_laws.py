"""Laws of one round against numerical integration, mpmath and enumeration."""

import itertools

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from simulator.foundations.errors import InvalidInput
from simulator.theory import (
    FiniteLaw,
    GaussianLaw,
    LaplaceLaw,
    bounded_range_law,
    randomized_response,
)
from simulator.theory.laws.announced import AnnouncedLaw
from simulator.theory.laws.replaced_sample import ReplacedSampleLaw
from tests.helpers.exploring import examples

LAWS = [
    LaplaceLaw(0.1),
    LaplaceLaw(3.0),
    GaussianLaw(0.5),
    GaussianLaw(4.0),
    randomized_response(0.1),
    randomized_response(1.0, 1e-3),
    bounded_range_law(1.0, 0.3),
    FiniteLaw.from_probabilities([0.5, 0.3, 0.2, 0.0], [0.4, 0.4, 0.0, 0.2]),
]


def masses(law, edges):
    """P0- and P1-mass of the whole law on half-open cells, from cdf and sf only."""
    return [np.diff([law.cdf(e, under=u) for e in edges]) for u in (0, 1)]


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_both_measures_have_mass_one(law):
    assert law.cdf(np.inf) + law.infinite_mass == pytest.approx(1, rel=1e-13)
    assert law.sf(-np.inf, under=1) + law.dual_infinite_mass == pytest.approx(1, rel=1e-13)
    assert law.cdf(0.05) + law.sf(0.05) == pytest.approx(1, rel=1e-13)


@pytest.mark.sampled
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_likelihood_ratio_is_the_exponential_of_the_loss(law):
    edges = np.linspace(-3, 3, 2001)
    p0, p1 = masses(law, edges)
    seen = p1 > 1e-9
    ratio = np.log(p0[seen] / p1[seen])
    assert (ratio >= edges[:-1][seen] - 1e-6).all()
    assert (ratio <= edges[1:][seen] + 1e-6).all()


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("epsilon", [-0.5, 0.0, 0.05, 0.4])
def test_delta_is_the_hockey_stick_divergence(law, epsilon):
    # {L > epsilon} is the optimal event, so delta is the difference of its two probabilities.
    expected = law.sf(epsilon) - np.exp(epsilon) * law.sf(epsilon, under=1)
    assert law.delta(epsilon) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("epsilon", [-0.5, 0.0, 0.05, 0.4])
def test_exchanged_pair_satisfies_the_duality(law, epsilon):
    dual = -np.expm1(epsilon) + np.exp(epsilon) * law.reversed().delta(-epsilon)
    assert law.delta(epsilon) == pytest.approx(dual, abs=1e-14)
    assert law.reversed().reversed() == law or law.is_discrete


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_log_mgf_agrees_with_its_moments_and_the_exchanged_law(law):
    theta = np.array([-2.0, -1.0, -0.5, 0.0, 0.7, 3.0])
    np.testing.assert_allclose(law.log_mgf(theta), law.reversed().log_mgf(-1 - theta), atol=1e-13)
    assert np.exp(law.log_mgf(0.0)) == pytest.approx(1 - law.infinite_mass, rel=1e-14)
    assert np.exp(law.log_mgf(-1.0)) == pytest.approx(1 - law.dual_infinite_mass, rel=1e-14)
    if law.infinite_mass == 0:
        step = 1e-20  # complex step: the derivative without cancellation
        assert law.log_mgf(1j * step).imag / step == pytest.approx(law.mean, rel=1e-12)
        second = 2 * (1 - np.exp(law.log_mgf(np.array([1e-3j]))).real) / 1e-6
        assert second[0] == pytest.approx(law.variance + law.mean**2, rel=1e-4)
    else:
        assert law.mean == law.variance == np.inf


@pytest.mark.sampled
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 3.0, 50.0])
def test_laplace_moments_and_transform_against_integration(epsilon):
    law = LaplaceLaw(epsilon)
    with mpmath.workdps(40):
        e = mpmath.mpf(epsilon)

        def expect(f):
            inner = mpmath.quad(
                lambda x: f(x) * mpmath.exp((x - e) / 2) / 4, mpmath.linspace(-e, e, 9)
            )
            return inner + f(e) / 2 + f(-e) * mpmath.exp(-e) / 2

        mean = expect(lambda x: x)
        assert law.mean == pytest.approx(float(mean), rel=1e-12)
        assert law.variance == pytest.approx(float(expect(lambda x: (x - mean) ** 2)), rel=1e-11)
        for z in (0.3, 2.0, 0.7 + 40j / epsilon, -0.5 + 3j, -3.0 + 1j):
            expected = complex(expect(lambda x, z=z: mpmath.exp(z * x)))
            assert np.exp(law.log_mgf(z)) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(("mu", "rate"), [(0.5, 0.1), (1.0, 0.5), (4.0, 0.2)])
def test_moments_of_a_replaced_record_against_integration(mu, rate):
    law = ReplacedSampleLaw(mu, rate)

    def expect(f):
        def term(z):
            near, far = (np.log1p(rate * np.expm1(mu * x - mu**2 / 2)) for x in (z, -z))
            return f(near - far) * np.exp(near - z**2 / 2) / np.sqrt(2 * np.pi)

        ends = np.linspace(-10.0, 10.0 + mu, 9)
        return sum(integrate.quad(term, *each)[0] for each in itertools.pairwise(ends))

    mean = expect(lambda x: x)
    assert law.mean == pytest.approx(mean, rel=1e-10)
    assert law.variance == pytest.approx(expect(lambda x: (x - mean) ** 2), rel=1e-10)
    assert law.log_mgf(1.0) == pytest.approx(np.log(expect(np.exp)), rel=1e-10)


@pytest.mark.parametrize("mu", [1e-6, 0.01, 0.5, 3.0, 60.0])
@pytest.mark.parametrize("position", [-8.0, -1.0, -0.3, 0.0, 0.4, 5.9, 6.1, 20.0, 36.0])
def test_gaussian_delta_keeps_its_digits(mu, position):
    epsilon = mu * (position + mu / 2)
    with mpmath.workdps(60):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        exact = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
        # epsilon itself carries one rounding, which the far tail magnifies.
        slack = 1e-12 + 4e-16 * abs(position) * (1 + abs(epsilon) / mu)
        assert GaussianLaw(mu).delta(epsilon) == pytest.approx(float(exact), rel=slack)


def test_gaussian_cells_integrate_the_density():
    law = GaussianLaw(0.7)
    edges = np.array([-3.0, -0.2, 0.5, 4.0, 4.1])
    for under, centre in ((0, 0.245), (1, -0.245)):
        for low, high, got in zip(edges, edges[1:], law.continuous_masses(edges)[under]):

            def density(x, centre=centre):
                return np.exp(-(((x - centre) / 0.7) ** 2) / 2) / 0.7 / np.sqrt(2 * np.pi)

            assert got == pytest.approx(integrate.quad(density, low, high)[0], rel=1e-9)


def test_equal_losses_merge_and_impossible_answers_leave_the_finite_part():
    law = FiniteLaw.from_probabilities([0.2, 0.1, 0.3, 0.4, 0.0], [0.1, 0.05, 0.6, 0.0, 0.25])
    np.testing.assert_allclose(law.losses, [-np.log(2), np.log(2)])
    np.testing.assert_allclose(np.exp(law.log_masses), [0.3, 0.3])
    assert (law.infinite_mass, law.dual_infinite_mass) == pytest.approx((0.4, 0.25))


def test_geometric_mechanism_of_sensitivity_one_is_randomized_response():
    v = np.arange(-400, 402)
    p0, p1 = (np.tanh(0.05) * np.exp(-0.1 * np.abs(v - c)) for c in (1, 0))
    law = FiniteLaw.from_probabilities(p0 / p0.sum(), p1 / p1.sum())
    expected = randomized_response(0.1)
    np.testing.assert_allclose(law.losses, expected.losses, rtol=1e-12)
    np.testing.assert_allclose(law.log_masses, expected.log_masses, rtol=1e-12)


def test_closed_moments_of_randomized_response():
    law = randomized_response(0.1)
    assert law.mean == pytest.approx(0.1 * np.tanh(0.05), rel=1e-14)
    assert law.variance == pytest.approx(0.01 / np.cosh(0.05) ** 2, rel=1e-14)
    assert randomized_response(0.0).delta(0.0) == 0.0


@given(st.floats(0.01, 30), st.floats(0, 1))
@examples(50)
def test_bounded_range_pair_is_a_pair(epsilon, share):
    law = bounded_range_law(epsilon, share * epsilon)
    assert np.exp(law.log_mgf(0.0)) == pytest.approx(1, rel=1e-9)
    assert np.exp(law.log_mgf(-1.0)) == pytest.approx(1, rel=1e-9)
    assert law.support[1] - law.support[0] <= epsilon * (1 + 1e-12)


def test_values_compare_by_content():
    assert randomized_response(0.1) == randomized_response(0.1)
    assert len({randomized_response(0.1), randomized_response(0.1), LaplaceLaw(0.1)}) == 2
    assert randomized_response(0.1) != randomized_response(0.2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: LaplaceLaw(0.0),
        lambda: LaplaceLaw(float("nan")),
        lambda: GaussianLaw(-1.0),
        lambda: GaussianLaw(float("inf")),
        lambda: randomized_response(-0.1),
        lambda: randomized_response(0.1, 1.0),
        lambda: bounded_range_law(1.0, 1.5),
        lambda: FiniteLaw.from_probabilities([0.5, 0.6], [0.5, 0.5]),
        lambda: FiniteLaw.from_probabilities([1.5, -0.5], [0.5, 0.5]),
        lambda: FiniteLaw.from_probabilities([1.0], [0.5, 0.5]),
        lambda: FiniteLaw(np.array([1.0, 0.0]), np.log([0.5, 0.5])),
    ],
)
def test_nonsense_is_refused_in_one_line(make):
    with pytest.raises(InvalidInput) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_what_announces_finite_laws_is_finite():
    responses = (randomized_response(0.3), randomized_response(0.5))
    assert AnnouncedLaw(responses, (0.25, 0.75)).is_discrete is True
    assert AnnouncedLaw((*responses, LaplaceLaw(0.3)), (0.25, 0.5, 0.25)).is_discrete is False
