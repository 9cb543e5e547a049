"""The law of the Poisson-subsampled Gaussian against its definition, in high precision."""

import mpmath
import numpy as np
import pytest

from simulator.foundations.errors import InvalidInput
from simulator.theory import GaussianLaw, compose_laws
from simulator.theory.bounds.certified_epsilon import certified_epsilon
from simulator.theory.laws.normal_cells import normal_cells
from tests.helpers.laws import subsampled_gaussian

CASES = [(1.0, 0.01), (0.6, 0.2), (3.0, 0.001)]


@pytest.fixture(autouse=True)
def thirty_digits():
    with mpmath.workdps(30):
        yield


class Pair:
    """Both densities of the answer, and where their ratio crosses a level, in 30 digits."""

    def __init__(self, sigma, rate, exchanged):
        self.sigma, self.rate = mpmath.mpf(sigma), mpmath.mpf(rate)
        self.exchanged = exchanged

    def without(self, x):
        return mpmath.npdf(x, 0, self.sigma)

    def with_her(self, x):
        return (1 - self.rate) * self.without(x) + self.rate * mpmath.npdf(x, 1, self.sigma)

    def densities(self):
        both = self.without, self.with_her
        return both[::-1] if self.exchanged else both

    def answer_at(self, loss):
        """The answer of that loss, by bisection of the ratio of the densities."""
        low, high = -60 * self.sigma, 1 + 90 * self.sigma
        level = mpmath.exp(loss if self.exchanged else -loss)
        for _ in range(120):
            middle = (low + high) / 2
            rising = self.with_her(middle) < level * self.without(middle)
            low, high = (middle, high) if rising else (low, middle)
        return low

    def masses(self, low, high):
        """Probabilities of losses in (low, high) under P0 and P1."""
        ends = sorted([self.answer_at(low), self.answer_at(high)])
        return [integral(density, ends) for density in self.densities()]

    def delta(self, epsilon):
        """Integral of (p0 - e^epsilon p1) where it is positive."""
        p0, p1 = self.densities()
        edge = self.answer_at(epsilon)
        ends = [edge + k * self.sigma * (1 if self.exchanged else -1) for k in range(0, 40, 3)]
        gain = integral(lambda x: p0(x) - mpmath.exp(epsilon) * p1(x), ends)
        return gain if self.exchanged else -gain


def integral(density, ends):
    """By tanh-sinh quadrature of the density over its greatest value at the ends."""
    top = max(abs(density(x)) for x in ends)
    return top * mpmath.quad(lambda x: density(x) / top, ends)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("sigma", "rate", "exchanged", "epsilons"),
    [
        (1.0, 0.01, False, (-1.5, 0.01)),
        (1.0, 0.01, True, (-0.005, 0.3, 6.0)),
        (0.6, 0.2, False, (-4.0, 0.1, 0.22)),
        (0.6, 0.2, True, (-0.2, 1.0, 20.0)),
        (3.0, 0.001, False, (-0.05, 1e-4, 9.9e-4)),
        (3.0, 0.001, True, (-9e-4, 0.003, 2.0)),
    ],
)
def test_delta_of_one_round_is_its_definition(sigma, rate, exchanged, epsilons):
    law = subsampled_gaussian(sigma, rate, exchanged)
    for epsilon in epsilons:
        exact = Pair(sigma, rate, exchanged).delta(mpmath.mpf(epsilon))
        assert law.delta(epsilon) == pytest.approx(float(exact), rel=1e-11)


def test_delta_keeps_its_digits_in_the_far_tail():
    law = subsampled_gaussian(1.0, 0.01).reversed()
    # There the whole curve is rate times a Gaussian's, whose tail is erfc.
    mp = mpmath.mpf
    for epsilon in (10.0, 20.0, 32.0):
        odds = mpmath.log(mpmath.expm1(mp(epsilon)) / mp(0.01) + 1)
        exact = mp(0.01) * (
            mpmath.erfc((odds - mp(0.5)) / mpmath.sqrt(2)) / 2
            - mpmath.exp(odds) * mpmath.erfc((odds + mp(0.5)) / mpmath.sqrt(2)) / 2
        )
        assert law.delta(epsilon) == pytest.approx(float(exact), rel=1e-10, abs=0)
    assert 0 < law.delta(32.0) < 1e-288


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize(("sigma", "rate"), CASES)
def test_masses_of_cells_are_their_integrals(sigma, rate, exchanged):
    law = subsampled_gaussian(sigma, rate, exchanged)
    spread = np.sqrt(law.variance)
    near, far = 0.1 * spread, 4 * spread
    for low, width in ((near, 1e-4 * spread), (-far, 0.2 * spread), (near, spread)):
        low = max(low, 0.5 * np.log1p(-rate))  # inside the support
        low, high = (low, low + width) if exchanged else (-low - width, -low)
        exact = Pair(sigma, rate, exchanged).masses(mpmath.mpf(low), mpmath.mpf(high))
        found = law.continuous_masses(np.array([low, high]))
        # The edges are rounded: that costs their distance's share.
        loose = 1e-14 + 1e-15 * (abs(low) + rate) / (high - low)
        for side in (0, 1):
            assert found[side][0] == pytest.approx(float(exact[side]), rel=10 * loose)


def test_cells_cover_everything_once():
    for law in (subsampled_gaussian(1.0, 0.05), subsampled_gaussian(1.0, 0.05, True)):
        edges = np.r_[-np.inf, np.linspace(-1, 1, 401), np.inf]
        for masses in law.continuous_masses(edges):
            assert masses.sum() == pytest.approx(1.0, rel=1e-14)
        assert law.cdf(0.01) + law.sf(0.01) == pytest.approx(1.0, rel=1e-14)


def test_thin_cells_of_the_normal_law_keep_their_digits():
    for z in (0.3, 5.0, -20.0, 30.0):
        for width in (1e-9, 1e-4, 0.01, 0.3):
            near, far = sorted([abs(mpmath.mpf(z)), abs(mpmath.mpf(z + width))])
            exact = (mpmath.erfc(near / mpmath.sqrt(2)) - mpmath.erfc(far / mpmath.sqrt(2))) / 2
            found = normal_cells(np.array([z, z + width]))[0]
            assert found == pytest.approx(float(exact), rel=2e-13, abs=0)


def test_thin_cells_of_the_normal_law_have_no_common_error():
    """What rounding leaves has no sign; a share that is left out of all cells would add up."""
    widths = np.linspace(0.0185, 0.0195, 100)
    found = [normal_cells(np.array([-width, 0.0]))[0] for width in widths]
    with mpmath.workdps(30):
        exact = [mpmath.erf(mpmath.mpf(width) / mpmath.sqrt(2)) / 2 for width in widths]
        errors = [float(mpmath.mpf(one) / other - 1) for one, other in zip(found, exact)]
    assert abs(np.mean(errors)) < 2.5e-16  # that of the constants


@pytest.mark.sampled
@pytest.mark.parametrize("exchanged", [False, True])
def test_moments_and_transform_by_quadrature(exchanged):
    sigma, rate = 0.8, 0.1
    law = subsampled_gaussian(sigma, rate, exchanged)
    pair = Pair(sigma, rate, exchanged)
    p0, p1 = pair.densities()

    def mean_of(f):
        ends = list(range(-9, 13, 3))
        with mpmath.workdps(16):
            return float(mpmath.quad(lambda x: f(mpmath.log(p0(x) / p1(x))) * p0(x), ends))

    assert law.mean == pytest.approx(mean_of(lambda loss: loss), rel=1e-11)
    assert law.variance == pytest.approx(mean_of(lambda loss: (loss - law.mean) ** 2), rel=1e-11)
    for theta in (-0.7, 0.5, 2.5):
        exact = np.log(mean_of(lambda loss, theta=theta: mpmath.exp(theta * loss)))
        assert float(law.log_mgf(theta)) == pytest.approx(exact, rel=1e-10)
    assert float(law.log_mgf(-1.0)) == pytest.approx(0.0, abs=1e-13)


def test_at_rate_one_it_is_the_gaussian_and_at_rate_zero_nothing():
    plain, law = GaussianLaw(1 / 0.7), subsampled_gaussian(0.7, 1.0)
    for epsilon in (-1.0, 0.0, 2.0):
        assert law.delta(epsilon) == plain.delta(epsilon)
    assert compose_laws([(law, 9)]).epsilon(1e-8) == compose_laws([(plain, 9)]).epsilon(1e-8)
    nothing = subsampled_gaussian(0.7, 0.0)
    assert certified_epsilon([(nothing, 9)], 1e-300).upper == 0.0
    assert nothing.delta(0.0) == 0.0
    assert nothing.delta(-1.0) == -np.expm1(-1.0)


def test_near_the_ends_of_the_rate_it_is_near_them():
    plain = compose_laws([(GaussianLaw(0.5), 5)]).epsilon(1e-6)
    almost = certified_epsilon([(subsampled_gaussian(2.0, 1 - 1e-9), 5)], 1e-6)
    assert almost.midpoint == pytest.approx(plain.midpoint, rel=1e-5)
    epsilons = [
        certified_epsilon([(subsampled_gaussian(2.0, rate), 5)], 1e-6).upper
        for rate in (0.3, 0.03, 1e-7)
    ]
    assert epsilons == sorted(epsilons, reverse=True)
    assert epsilons[-1] < 1e-15  # all that is lost is less than 1e-6


def test_add_and_remove_are_two_laws_and_the_answer_is_the_worse():
    law = subsampled_gaussian(1.0, 0.1)
    assert law.reversed().reversed() == law
    assert hash(law.reversed().reversed()) == hash(law)
    assert law.reversed() != law
    assert law.delta(-0.05) == pytest.approx(
        1 - np.exp(-0.05) + np.exp(-0.05) * law.reversed().delta(0.05), rel=1e-12
    )
    one, other = (compose_laws([(each, 20)], 1e-5).epsilon(1e-6) for each in (law, law.reversed()))
    assert one.upper < other.lower
    both = certified_epsilon([(law, 20)], 1e-6)
    assert both.lower <= other.upper
    assert other.lower <= both.upper


@pytest.mark.parametrize(
    ("sigma", "rate", "message"),
    [
        (1.0, 1.5, r"the sampling rate must be in \[0, 1\], not 1.5"),
        (1.0, -0.1, r"the sampling rate must be in \[0, 1\]"),
        (1.0, float("nan"), "rate must be finite"),
        (1.0, "half", "rate must be a number"),
    ],
)
def test_bad_parameters_are_named(sigma, rate, message):
    with pytest.raises(InvalidInput, match=message):
        subsampled_gaussian(sigma, rate)
