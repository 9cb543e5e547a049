"""The newest laws at extreme parameters, each against a curve in many digits."""

import math

import mpmath
import pytest

from simulator.theory import (
    PLD,
    GaussianLaw,
    LaplaceLaw,
    PoissonSubsampledLaw,
    SampledWithoutReplacementLaw,
    TruncatedNoiseLaw,
    compose_laws,
    discrete_gaussian,
)
from tests.helpers.cases import case

EPSILONS = [-700.0, -13.8, -4.0, -1.0, -1e-9, 0.0, 1e-6, 0.1, 1.0, 4.0, 5.0, 8.0, 13.8, 50.0, 700.0]
RATES = [1e-12, 0.01, 0.5, 0.87, 0.9, 0.999, 1 - 1e-12]


@pytest.fixture(autouse=True)
def many_digits():
    with mpmath.workdps(420):
        yield


def normal_cdf(x):
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def removed(mu, rate, epsilon):
    """Delta of N(0, 1) against (1 - rate) N(0, 1) + rate N(mu, 1)."""
    mu, rate = mpmath.mpf(mu), mpmath.mpf(rate)
    inner = (mpmath.exp(-mpmath.mpf(epsilon)) - 1 + rate) / rate
    if inner <= 0:
        return mpmath.mpf(0)
    x = mpmath.log(inner) / mu + mu / 2
    mixed = (1 - rate) * normal_cdf(x) + rate * normal_cdf(x - mu)
    return normal_cdf(x) - mpmath.exp(mpmath.mpf(epsilon)) * mixed


def added(mu, rate, epsilon):
    """The other direction: 1 - e^E + e^E delta(-E)."""
    factor = mpmath.exp(mpmath.mpf(epsilon))
    return 1 - factor + factor * removed(mu, rate, -epsilon)


def assert_certain(law, epsilon, exact):
    found = PLD.from_law(law).delta(epsilon)
    if exact < mpmath.mpf("1e-300"):
        assert found.lower <= exact
        return
    assert found.lower <= exact <= found.upper
    if abs(epsilon) > 1e-6:
        assert found.width <= 1e-8 * found.upper


@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize("sigma", [0.1, 0.061, 0.03])
def test_a_delta_above_the_rate_needs_no_epsilon(sigma, exchanged):
    """delta(epsilon) stays just below the rate over hundreds of epsilons."""
    law = PoissonSubsampledLaw(GaussianLaw(1 / sigma), 0.001, exchanged)
    for rounds in (1, 3, 100):
        found = compose_laws([(law, rounds)]).epsilon(0.0012 * rounds)
        assert (found.lower, found.upper) == (0.0, 0.0)


@pytest.mark.nightly
@pytest.mark.parametrize("sigma", [0.1, 0.03, 0.02, 0.01])
def test_a_steep_fall_beyond_a_flat_stretch_is_found(sigma):
    law = PoissonSubsampledLaw(GaussianLaw(1 / sigma), 0.001, exchanged=True)
    for delta in (0.00099, 0.0009, 0.0005, 1e-6):
        found = PLD.from_law(law).epsilon(delta)
        assert 0 < found.lower <= found.upper <= found.lower * (1 + 1e-9)
        with mpmath.workdps(60 + int(found.upper)):
            ends = [added(1 / sigma, 0.001, end) for end in (found.lower, found.upper)]
        assert ends[0] >= delta >= ends[1]


@pytest.mark.sampled
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("mu", [1e-3, 1.0, 10.0, 1000.0])
def test_a_gaussian_on_a_sample(mu, rate):
    law = PoissonSubsampledLaw(GaussianLaw(mu), rate)
    without = SampledWithoutReplacementLaw(GaussianLaw(mu), rate)
    for epsilon in EPSILONS:
        with case("epsilon", epsilon):
            first, second = removed(mu, rate, epsilon), added(mu, rate, epsilon)
            assert_certain(law, epsilon, first)
            assert_certain(law.reversed(), epsilon, second)
            assert_certain(without, epsilon, second if epsilon >= 0 else first)


def truncated_gaussian(mu, reach, epsilon):
    mu, reach, epsilon = map(mpmath.mpf, (mu, reach, epsilon))
    total = normal_cdf(mu * reach) - normal_cdf(-mu * reach)
    lost = normal_cdf(mu * reach) - normal_cdf(mu * (reach - 1))
    x = max(epsilon / mu**2 + mpmath.mpf(1) / 2, 1 - reach)
    if x >= reach:
        return lost / total
    first = normal_cdf(mu * (reach - 1)) - normal_cdf(mu * (x - 1))
    second = normal_cdf(mu * reach) - normal_cdf(mu * x)
    return (lost + first - mpmath.exp(epsilon) * second) / total


@pytest.mark.sampled
@pytest.mark.parametrize("mu", [1e-3, 1.0, 10.0, 30.0, 100.0])
@pytest.mark.parametrize("reach", [0.500001, 1.0, 1.5, 10.0])
def test_a_truncated_gaussian(mu, reach):
    law = TruncatedNoiseLaw(GaussianLaw(mu), reach)
    for epsilon in (-50.0, -1e-9, 0.0, 1.0, 50.0, 700.0):
        with case("epsilon", epsilon):
            assert_certain(law, epsilon, truncated_gaussian(mu, reach, epsilon))


@pytest.mark.nightly
def test_truncated_noise_that_hides_nothing_is_composed_all_the_same():
    for law in (TruncatedNoiseLaw(GaussianLaw(100.0), 3.0), TruncatedNoiseLaw(LaplaceLaw(90.0), 3)):
        found = PLD.from_law(law).self_compose(3).delta(1.0)
        assert found.upper >= 1 - 1e-12
        assert math.isfinite(found.lower)


def discrete_gaussian_delta(sigma, sensitivity, epsilon):
    """Sum over the answers, centres 0 and ``sensitivity``; either order of the pair."""
    factor, total, lost = mpmath.exp(epsilon), mpmath.mpf(0), mpmath.mpf(0)
    for x in range(-math.ceil(45 * sigma), math.ceil(45 * sigma) + sensitivity + 1):
        first, second = (mpmath.exp(-(mpmath.mpf(y) ** 2) / 2) for y in (x, x - sensitivity))
        total += first
        lost += max(first - factor * second, 0)
    return lost / total


@pytest.mark.sampled
@pytest.mark.parametrize("sensitivity", [1, 100, 1000, 10**4])
@pytest.mark.parametrize("epsilon", [-50.0, -1.0, 0.0, 1.0, 700.0])
def test_a_discrete_gaussian_and_its_exchanged_pair(sensitivity, epsilon):
    with mpmath.workdps(330):
        exact = discrete_gaussian_delta(1, sensitivity, mpmath.mpf(epsilon))
    for law in (
        discrete_gaussian(1.0, sensitivity),
        discrete_gaussian(1.0, sensitivity).reversed(),
    ):
        found = PLD.from_law(law).delta(epsilon)
        assert found.lower <= max(exact, mpmath.mpf("1e-310"))
        assert exact <= found.upper


def test_what_is_cut_off_a_discrete_gaussian_is_nothing_in_a_million_rounds():
    # Its loss beyond 39 deviations is taken for infinite: that must not be seen at any delta.
    found = PLD.from_law(discrete_gaussian(1.0)).self_compose(10**6).epsilon(1e-300)
    assert math.isfinite(found.lower)
