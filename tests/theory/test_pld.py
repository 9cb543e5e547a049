"""Composed laws against published values, enumeration, quadrature and multiprecision."""

import itertools
import math
import time

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory import (
    PLD,
    FiniteLaw,
    GaussianLaw,
    LaplaceLaw,
    bounded_range_law,
    compose_laws,
    randomized_response,
)
from simulator.theory.bracket import Bracket
from tests.helpers.exploring import examples

PUBLISHED = {
    "randomized response": {
        1: 0.09999809516,
        10: 0.9993709057,
        100: 4.774567588,
        1000: 19.34467145,
        10000: 96.57184003,
    },
    "laplace": {
        1: 0.099998000,
        10: 0.9989780894,
        100: 4.692667415,
        1000: 18.95028737,
        10000: 94.23586539,
    },
}
MECHANISMS = {"randomized response": randomized_response(0.1), "laplace": LaplaceLaw(0.1)}


def binomial_delta(epsilon0, rounds, epsilon):
    """delta of composed randomized response, summed in 60 digits (Kairouz, Oh, Viswanath 3.3)."""
    with mpmath.workdps(60):
        e0, target = mpmath.mpf(epsilon0), mpmath.mpf(epsilon)
        p, q = 1 / (1 + mpmath.exp(-e0)), 1 / (1 + mpmath.exp(e0))
        total, term = mpmath.mpf(0), p**rounds
        for minus in range(rounds + 1):
            loss = (rounds - 2 * minus) * e0
            if loss <= target or (total > 0 and term < total * mpmath.mpf(10) ** -45):
                break
            total += term * (1 - mpmath.exp(target - loss))
            term *= q / p * (rounds - minus) / (minus + 1)
        return total


def contour_delta(law_mgf, rounds, epsilon, theta):
    """delta by plain quadrature of the inversion integral in 40 digits: no smoothing, no FFT."""
    with mpmath.workdps(40):

        def term(omega):
            z = mpmath.mpc(theta, omega)
            return (law_mgf(z) ** rounds * mpmath.exp(-z * epsilon) / (z * (1 + z))).real

        return mpmath.quad(term, mpmath.linspace(0, 3, 25)) / mpmath.pi


def laplace_mgf(epsilon):
    def mgf(z):
        e = mpmath.mpf(epsilon)
        kappa = 1 + 2 * z
        w = mpmath.exp(-kappa * e)
        return mpmath.exp(z * e) * (1 + w + (1 - w) / kappa) / 2

    return mgf


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("rounds", [1, 10, 100, 1000, 10000])
def test_published_values(name, rounds):
    found = compose_laws([(MECHANISMS[name], rounds)]).epsilon(1e-6)
    published = PUBLISHED[name][rounds]
    assert found.lower - 5e-10 * published <= published <= found.upper + 5e-10 * published


@pytest.mark.sampled
@pytest.mark.parametrize("rounds", [1, 10, 1000, 10000])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12, 1e-30])
def test_randomized_response_against_sixty_digits(rounds, delta):
    pld = compose_laws([(randomized_response(0.1), rounds)])
    found = pld.epsilon(delta)
    assert found.width <= 1e-10 * found.upper
    assert binomial_delta(0.1, rounds, found.upper) <= delta
    assert binomial_delta(0.1, rounds, found.lower) >= delta


@pytest.mark.parametrize("rounds", [2, 10, 100, 1000, 10000])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-30])
def test_laplace_brackets_are_narrow(rounds, delta):
    found = compose_laws([(LaplaceLaw(0.1), rounds)]).epsilon(delta)
    assert found.width <= 1e-6 * found.upper


@pytest.mark.sampled
@pytest.mark.parametrize("delta", [1e-3, 1e-12, 1e-30])
def test_laplace_against_a_contour_in_forty_digits(delta):
    pld = compose_laws([(LaplaceLaw(0.1), 1000)])
    found = pld.epsilon(delta)
    theta = {1e-3: 1.1, 1e-12: 2.3, 1e-30: 3.9}[delta]
    for end, sign in ((found.upper, 1), (found.lower, -1)):
        exact = contour_delta(laplace_mgf(0.1), 1000, end, theta)
        assert sign * (delta - exact) >= 0
        assert float(exact) in pld.delta(end)


@pytest.mark.parametrize("epsilon", [-0.2, 0.0, 0.03, 0.1, 0.35, 0.499])
def test_two_laplace_rounds_against_quadrature(epsilon):
    first, second = LaplaceLaw(0.2), LaplaceLaw(0.3)

    def density(loss):
        return np.exp((loss - 0.2) / 2) / 4 * second.delta(epsilon - loss)

    kinks = sorted({-0.2, 0.2, *np.clip([epsilon - 0.3, epsilon + 0.3], -0.2, 0.2)})
    exact = sum(
        integrate.quad(density, a, b, epsabs=0, epsrel=1e-13)[0]
        for a, b in itertools.pairwise(kinks)
    )
    exact += second.delta(epsilon - 0.2) / 2 + np.exp(-0.2) / 2 * second.delta(epsilon + 0.2)
    found = compose_laws([(first, 1), (second, 1)]).delta(epsilon)
    assert found.lower * (1 - 1e-12) <= exact <= found.upper * (1 + 1e-12)
    assert found.width <= 1e-5 * found.upper


@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-30, 1e-200])
def test_gaussian_composition_is_gaussian(delta):
    exact = GaussianLaw(1.5)
    found = compose_laws([(GaussianLaw(0.9), 2), (GaussianLaw(0.6), 1), (GaussianLaw(0.3), 3)])
    epsilon = found.epsilon(delta)
    assert epsilon.width <= 1e-6 * epsilon.upper
    assert exact.delta(epsilon.upper) <= delta * (1 + 1e-9)
    assert exact.delta(epsilon.lower) >= delta * (1 - 1e-9)


def enumerated_delta(laws, epsilon):
    """E0[(1 - exp(epsilon - L))_+] over all combinations of losses."""
    total = 0.0
    atoms = [list(zip(law.losses, np.exp(law.log_masses))) for law in laws]
    for combination in itertools.product(*atoms):
        loss = sum(c[0] for c in combination)
        mass = float(np.prod([c[1] for c in combination]))
        total += mass * max(-np.expm1(epsilon - loss), 0.0)
    return total + 1 - float(np.prod([1 - law.infinite_mass for law in laws]))


def random_law(rng, infinite):
    p0, p1 = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3))
    if infinite:
        p0, p1 = np.r_[p0 * 0.99, 0.01, 0], np.r_[p1 * 0.98, 0, 0.02]
    return FiniteLaw.from_probabilities(p0, p1)


@given(st.integers(0, 10**6), st.booleans(), st.floats(-3, 4))
@examples(25)
def test_any_finite_laws_against_enumeration(seed, infinite, epsilon):
    rng = np.random.default_rng(seed)
    laws = [random_law(rng, infinite) for _ in range(4)]
    exact = enumerated_delta(laws, epsilon)
    found = compose_laws([(law, 1) for law in laws]).delta(epsilon)
    assert found.lower - 1e-14 <= exact <= found.upper + 1e-14
    dual = compose_laws([(law, 1) for law in laws]).reversed().delta(-epsilon)
    exchanged = enumerated_delta([law.reversed() for law in laws], -epsilon)
    assert dual.lower - 1e-14 <= exchanged <= dual.upper + 1e-14


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.77, 1.2])
def test_incommensurable_randomized_response_against_enumeration(epsilon):
    laws = [randomized_response(e) for e in np.sqrt([0.01, 0.02, 0.03, 0.05, 0.06, 0.07, 0.1])]
    exact = enumerated_delta(laws, epsilon)
    found = compose_laws([(law, 1) for law in laws]).delta(epsilon)
    assert found.lower * (1 - 1e-13) <= exact <= found.upper * (1 + 1e-13)
    assert found.width <= 1e-6


def test_mass_at_infinity_decides_when_it_is_all_there_is():
    pld = compose_laws([(randomized_response(0.1, 1e-8), 50)])
    lost = -np.expm1(50 * np.log1p(-1e-8))
    assert pld.epsilon(1e-7) == Bracket(np.inf, np.inf)
    assert pld.epsilon(lost).upper == np.inf
    assert lost in pld.delta(100.0)
    inner = compose_laws([(randomized_response(0.1), 50)]).epsilon((1e-6 - lost) / (1 - lost))
    assert pld.epsilon(1e-6).midpoint == pytest.approx(inner.midpoint, rel=1e-11)


@given(st.lists(st.sampled_from([0.1, 0.2, 0.37, 0.5]), min_size=2, max_size=5), st.randoms())
@examples(10)
def test_composition_commutes_and_associates_exactly(epsilons, random):
    plds = [PLD.from_law(LaplaceLaw(e)) for e in epsilons]
    left, shuffled = plds[0], plds.copy()
    for pld in plds[1:]:
        left = left.compose(pld)
    random.shuffle(shuffled)
    right = shuffled[-1]
    for pld in reversed(shuffled[:-1]):
        right = pld.compose(right)
    assert left == right
    assert left.delta(0.3) == right.delta(0.3)


def test_repetition_is_composition_and_nothing_is_neutral():
    one = PLD.from_law(LaplaceLaw(0.1))
    assert one.compose(one).compose(one) == one.self_compose(3)
    assert one.compose(PLD.nothing()) == one
    assert one.self_compose(0) == PLD.nothing()
    assert PLD.nothing().delta(0.0) == PLD.nothing().epsilon(1e-9) == Bracket(0.0, 0.0)


def test_the_two_directions_agree_for_a_symmetric_pair_and_differ_otherwise():
    symmetric = compose_laws([(LaplaceLaw(0.1), 7), (randomized_response(0.3), 2)])
    assert symmetric.reversed().epsilon(1e-5).midpoint == pytest.approx(
        symmetric.epsilon(1e-5).midpoint, rel=1e-6
    )
    skew = compose_laws([(bounded_range_law(1.0, 0.2), 20)])
    assert abs(skew.epsilon(1e-5).midpoint - skew.reversed().epsilon(1e-5).midpoint) > 0.1


def test_brackets_nest_when_the_tolerance_shrinks():
    laws = [(LaplaceLaw(0.2), 50), (LaplaceLaw(0.31), 50)]
    brackets = [compose_laws(laws, tolerance).epsilon(1e-9) for tolerance in (1e-3, 1e-5, 1e-8)]
    for wide, narrow in itertools.pairwise(brackets):
        assert wide.lower <= narrow.lower <= narrow.upper <= wide.upper
        assert narrow.width < wide.width


@pytest.mark.parametrize(
    ("law", "low", "high"),
    [
        # all but e^-50 * 10^6 of the mass is at the top
        (randomized_response(50.0), 5e7 * (1 - 1e-14), 5e7),
        # mean 49e6 + 36 or 37 standard deviations of 1732
        (LaplaceLaw(50.0), 49e6 + 35 * 1732, 49e6 + 38 * 1732),
        # mu = 5e4: mean mu^2/2 and 36 or 37 standard deviations mu
        (GaussianLaw(50.0), 1.25e9 + 36 * 5e4, 1.25e9 + 38 * 5e4),
    ],
    ids=["randomized response", "laplace", "gaussian"],
)
def test_nothing_overflows(law, low, high):
    with np.errstate(all="raise", under="ignore"):
        found = compose_laws([(law, 10**6)]).epsilon(1e-300)
    assert low <= found.lower <= found.upper <= high
    assert found.width <= 1e-6 * found.upper


def test_large_delta_is_answered_too():
    pld = compose_laws([(LaplaceLaw(0.1), 1000)], tolerance=1e-4)
    for delta in (0.05, 0.5, 0.85):
        found = pld.epsilon(delta)
        assert found.width <= 1e-4 * found.upper
        assert pld.delta(found.upper).lower <= delta <= pld.delta(found.lower).upper
    assert pld.epsilon(0.9) == Bracket(0.0, 0.0)  # more than the total variation distance


def test_two_hundred_distinct_laplace_epsilons():
    epsilons = np.random.default_rng(7).uniform(0.01, 0.3, 200)
    found = compose_laws([(LaplaceLaw(float(e)), 1) for e in epsilons]).epsilon(1e-6)
    assert found.width <= 1e-6 * found.upper
    for end, sign in ((found.upper, 1), (found.lower, -1)):
        assert sign * (1e-6 - plain_contour(epsilons, end, theta=1.6)) >= -1e-15


def plain_contour(epsilons, epsilon, theta):
    """The inversion integral in doubles by adaptive quadrature, from the law's definition."""

    def term(omega):
        z = theta + 1j * omega
        inner = (np.exp((z + 0.5) * epsilons) - np.exp(-(z + 0.5) * epsilons)) / (z + 0.5)
        mgf = np.exp(z * epsilons) / 2 + np.exp(-(z + 1) * epsilons) / 2
        mgf = mgf + np.exp(-epsilons / 2) * inner / 4
        return (np.prod(mgf) * np.exp(-z * epsilon) / (z * (1 + z))).real

    return integrate.quad(term, 0, 12, epsabs=0, epsrel=1e-9, limit=500)[0] / np.pi


def test_ten_thousand_rounds_take_less_than_three_seconds_of_processor_time():
    start = time.process_time()
    compose_laws([(LaplaceLaw(0.1), 10000)]).epsilon(1e-6)
    assert time.process_time() - start < 3


def test_a_mechanism_one_permille_off_is_told_apart():
    claimed = compose_laws([(LaplaceLaw(0.1), 1000)]).epsilon(1e-6)
    broken = compose_laws([(LaplaceLaw(0.1001), 1000)]).epsilon(1e-6)
    assert broken.lower > claimed.upper


@pytest.mark.parametrize(
    "ask",
    [
        lambda: PLD.from_law(LaplaceLaw(0.1)).epsilon(0.0),
        lambda: PLD.from_law(LaplaceLaw(0.1)).epsilon(1.0),
        lambda: PLD.from_law(LaplaceLaw(0.1)).epsilon(float("nan")),
        lambda: PLD.from_law(LaplaceLaw(0.1)).delta(float("inf")),
        lambda: PLD.from_law(LaplaceLaw(0.1)).self_compose(-1),
        lambda: PLD.from_law(LaplaceLaw(0.1)).self_compose(1.5),
        lambda: compose_laws([(LaplaceLaw(0.1), -3)]),
        lambda: PLD.from_law(LaplaceLaw(0.1), tolerance=0.0),
        lambda: Bracket(1.0, 0.0),
        lambda: Bracket(0.0, 1.0).meet(Bracket(2.0, 3.0)),
    ],
)
def test_nonsense_is_refused_in_one_line(ask):
    with pytest.raises(InvalidInput) as caught:
        ask()
    assert "\n" not in str(caught.value)


def test_ten_thousand_databases():
    """Epsilon 1/801 per round over 10,000 rounds suffices for (1, e^-32), by these margins."""
    pld = compose_laws([(randomized_response(1 / 801), 10000)])
    assert pld.epsilon(float(np.exp(-32))).midpoint == pytest.approx(0.89046815, abs=5e-9)
    assert pld.delta(1.0).midpoint == pytest.approx(1.3802725e-17, rel=4e-8)


def test_a_law_that_reveals_the_data_composes_to_delta_1():
    revealing = FiniteLaw.from_probabilities([1.0, 0.0], [0.0, 1.0])
    other = FiniteLaw.from_probabilities([0.6, 0.4], [0.4, 0.6])
    composed = compose_laws([(revealing, 1), (other, 1)])
    assert composed.delta(0.1).lower > 1 - 1e-13
    assert composed.epsilon(0.5).lower == math.inf


def test_losses_spread_too_widely_are_refused():
    rounds = [(LaplaceLaw(0.5), 2)]
    compose_laws([(GaussianLaw(0.9e5), 1), *rounds]).epsilon(1e-5)
    with pytest.raises(NotApplicable, match=r"1\.5e\+05, outside \[1e-14, 100000\]"):
        compose_laws([(GaussianLaw(1.5e5), 1), *rounds]).epsilon(1e-5)
