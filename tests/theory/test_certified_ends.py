"""lower <= truth <= upper, without a tolerance: each bound against mpmath at random parameters."""

import math

import mpmath
import numpy as np
import pytest

from simulator.theory import (
    BoundedRange,
    Composition,
    GaussianDP,
    PureDP,
    bound,
    bounds_for,
)
from simulator.theory.guarantees.bounded_range import bounded_range_renyi
from simulator.theory.guarantees.pure import ApproxDP
from simulator.theory.outward import sum_bracket
from simulator.theory.pld.response_atoms import LossAtoms, repeated_atoms


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


def responses(parts):
    """The exact curve of randomized responses (epsilon, rounds): every combination of failures."""
    atoms = [(mpmath.mpf(0), mpmath.mpf(1))]
    for epsilon, rounds in parts:
        e = mpmath.mpf(epsilon)
        odds, mass, group = mpmath.exp(-e), (1 + mpmath.exp(-e)) ** -rounds, []
        for failures in range(rounds + 1):
            group.append(((rounds - 2 * failures) * e, mass))
            mass *= odds * (rounds - failures) / (failures + 1)
        atoms = [(loss + more, m * n) for loss, m in atoms for more, n in group]

    def delta(epsilon):
        target = mpmath.mpf(epsilon)
        return mpmath.fsum(
            m * (1 - mpmath.exp(target - loss)) for loss, m in atoms if loss > target
        )

    return delta


def gaussian(mu):
    def delta(epsilon):
        with mpmath.workdps(400):
            m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
            root = mpmath.sqrt(2)
            first = mpmath.erfc((e / m - m / 2) / root)
            return (first - mpmath.exp(e) * mpmath.erfc((e / m + m / 2) / root)) / 2

    return delta


def check(composition, truth, delta, epsilons):
    """Every bound, in both directions; returns how many exact answers were held."""
    exact = 0
    for asked in bounds_for(composition):
        if asked.kind == "approximation":
            continue
        found = asked.epsilon(delta)
        if found.lower > 0.0:
            assert truth(found.lower) >= delta, (asked.name, str(composition), delta, found)
        if math.isfinite(found.upper):
            assert truth(found.upper) <= delta, (asked.name, str(composition), delta, found)
        if asked.kind == "exact":
            exact += 1
            epsilons = [*epsilons, found.value]
            assert found.upper - found.lower <= 1e-11 * found.upper
        for epsilon in epsilons:
            answer = asked.delta(epsilon)
            assert answer.lower <= truth(epsilon) <= answer.upper, (asked.name, str(composition))
    return exact


def near_the_top(top, draws):
    return [top * draws.uniform(), top * 1e-3, top * (1 - 1e-9), top * (1 - 1e-15), top]


@pytest.mark.parametrize("seed", range(12))
def test_responses_of_one_epsilon(seed):
    draws = np.random.default_rng([1, seed])
    rounds = int(10 ** draws.uniform(0, 2.8 if seed else 4))
    epsilon, delta = 10 ** draws.uniform(-4, 0.5), 10 ** draws.uniform(-30, -2)
    truth = responses([(epsilon, rounds)])
    composition = Composition.repeat(PureDP(epsilon), rounds)
    assert check(composition, truth, delta, near_the_top(rounds * epsilon, draws)) == 1


@pytest.mark.sampled(n=6)
@pytest.mark.parametrize("seed", range(12))
def test_responses_of_several_epsilons(seed):
    draws = np.random.default_rng([2, seed])
    written = [0.1, 0.2, 0.25, 0.3, 0.05, 0.7, 1.1]
    size = int(draws.integers(2, 4))
    epsilons = draws.choice(written, size, replace=False)
    if seed % 2:
        epsilons = 10 ** draws.uniform(-4, 0.5, size)
    parts = [(float(e), int(n)) for e, n in zip(epsilons, draws.integers(1, 9, size))]
    truth, top = responses(parts), sum(e * n for e, n in parts)
    composition = Composition.of(*((PureDP(e), n) for e, n in parts))
    check(composition, truth, 10 ** draws.uniform(-30, -2), near_the_top(top, draws))


@pytest.mark.sampled(n=6)
@pytest.mark.parametrize("seed", range(12))
def test_gaussians(seed):
    draws = np.random.default_rng([3, seed])
    rounds, mu = int(10 ** draws.uniform(0, 4)), 10 ** draws.uniform(-4, 0.5)
    total = mpmath.sqrt(rounds) * mpmath.mpf(mu)
    epsilons = [float(total) * draws.uniform(0, 15), 0.0, float(total) * 1e-6]
    composition = Composition.repeat(GaussianDP(mu), rounds)
    check(composition, gaussian(total), 10 ** draws.uniform(-30, -0.5), epsilons)


@pytest.mark.parametrize("seed", range(12))
def test_leaky_responses(seed):
    draws = np.random.default_rng([4, seed])
    rounds, epsilon = int(draws.integers(1, 40)), 10 ** draws.uniform(-2, 0.5)
    leak = 10 ** draws.uniform(-20, -3)
    core, kept = responses([(epsilon, rounds)]), (1 - mpmath.mpf(leak)) ** rounds
    delta = min(0.5, rounds * leak * draws.choice([1 + 1e-12, 1.5, 1e6]))
    composition = Composition.repeat(ApproxDP(epsilon, leak), rounds)
    check(composition, lambda e: 1 - kept * (1 - core(e)), delta, [0.5 * rounds * epsilon])


def one_range(width):
    """One round of bounded range in closed form: the best t is (width + epsilon) / 2."""

    def delta(epsilon):
        w, e = mpmath.mpf(width), mpmath.mpf(epsilon)
        return mpmath.expm1((e - w) / 2) ** 2 / -mpmath.expm1(-w) if e < w else mpmath.mpf(0)

    return delta


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["bounded-range-adaptive", "bounded-range-non-adaptive"])
def test_one_round_of_bounded_range_up_to_the_top(name):
    draws, curves = np.random.default_rng(5), bound(name)
    for _ in range(30):
        width = 10 ** draws.uniform(-4, 1)
        truth, asked = one_range(width), curves.on(Composition.repeat(BoundedRange(width), 1))
        for epsilon in (0.0, width * (1 - 10 ** draws.uniform(-9, 0)), width * (1 - 1e-3)):
            answer = asked.delta(epsilon)
            assert answer.lower <= truth(epsilon) <= answer.upper, (width, epsilon)
        delta = 10 ** draws.uniform(-20, -2)
        answer = asked.epsilon(delta)
        assert answer.lower == 0.0 or truth(answer.lower) >= delta
        assert math.isinf(answer.upper) or truth(answer.upper) <= delta


def test_the_recursion_keeps_its_digits_near_the_largest_loss():
    asked = bound("bounded-range-adaptive").on(Composition.repeat(BoundedRange(0.001), 1))
    truth = one_range(0.001)(0.000999)  # 2.501248958e-10; the upper end was once 2.499251014e-10
    assert truth <= asked.delta(0.000999).upper <= truth * (1 + mpmath.mpf("1e-9"))


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 1.0, 6.0])
@pytest.mark.parametrize("alpha", [1.0 + 1e-6, 1.5, 2.0, 40.0, 1001.0, 1e6])
def test_the_divergence_of_bounded_range_is_the_supremum_rounded_up(epsilon, alpha):
    e, theta = mpmath.mpf(epsilon), mpmath.mpf(alpha) - 1
    c = mpmath.expm1(theta * e) / -mpmath.expm1(-e)
    t = mpmath.log(theta / (theta + 1) * (1 + c) / c) + e  # where the moment is stationary
    p = mpmath.expm1(t - e) / mpmath.expm1(-e)
    moment = p * mpmath.exp(theta * t) + (1 - p) * mpmath.exp(theta * (t - e))
    supremum = mpmath.log(moment) / theta
    found = bounded_range_renyi(epsilon, alpha)
    assert found >= supremum
    # ln of a moment near 1 over theta: its rounding, some 1e-16, counts beside theta^2 epsilon^2
    lost = 1e-5 + 1e-12 / (theta * e * e)
    assert found <= supremum * (1 + mpmath.mpf(lost)) or alpha * epsilon < 1e-3


def test_an_end_that_ignores_its_rounding_is_caught():
    atoms = repeated_atoms(0.1, 1000)
    bare = LossAtoms(atoms.losses * (1 + 1e-13), atoms.log_mass)
    truth = responses([(0.1, 1000)])
    found = bare.epsilon_bracket(1e-6, 100.0)
    assert not truth(found.upper) <= 1e-6 <= truth(found.lower)


def test_sums_are_the_doubles_around_the_exact_sum():
    assert tuple(sum_bracket([(0.25, 4)])) == (1.0, 1.0)
    assert tuple(sum_bracket([(0.1, 10)])) == (1.0, math.nextafter(1.0, 2.0))
    assert tuple(sum_bracket([(0.1, 3), (math.inf, 1)])) == (math.inf, math.inf)
    assert tuple(sum_bracket([(-math.inf, 2)])) == (-math.inf, -math.inf)
