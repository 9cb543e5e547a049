"""Laws of sampled, discrete, mixed and truncated mechanisms against their definitions."""

import math
import pickle
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from simulator.foundations.errors import InvalidInput
from simulator.theory import (
    FiniteLaw,
    GaussianLaw,
    GaussianMixtureLaw,
    LaplaceLaw,
    PoissonSubsampledLaw,
    SampledWithoutReplacementLaw,
    TruncatedNoiseLaw,
    compose_laws,
    discrete_gaussian,
    discrete_laplace,
    randomized_response,
    rounded_gaussian,
    rounded_laplace,
    staircase,
)
from simulator.theory.laws.quantile import loss_range
from simulator.theory.pld.grid_laws import enclosing_grid_laws, round_step

MU, EPSILON = 0.8, 0.7


@pytest.fixture(autouse=True)
def thirty_digits():
    with mpmath.workdps(30):
        yield


def normal(centre, sigma=1.0):
    return lambda x: mpmath.npdf(x, centre, sigma)


def laplace(centre, epsilon):
    return lambda x: mpmath.mpf(epsilon) / 2 * mpmath.exp(-epsilon * abs(x - centre))


def blend(rate, first, second):
    return lambda x: (1 - mpmath.mpf(rate)) * first(x) + mpmath.mpf(rate) * second(x)


def within(reach, density, centre):
    total = mpmath.quad(density, [centre - reach, centre, centre + reach])
    return lambda x: density(x) / total if abs(x - centre) <= reach else mpmath.mpf(0)


def hockey_stick(p0, p1, epsilon, knots):
    """Integral of (p0 - e^epsilon p1)_+ between knots, each piece cut where it changes its sign."""
    factor, total = mpmath.exp(epsilon), mpmath.mpf(0)

    def gain(x):
        return p0(x) - factor * p1(x)

    for low, high in pairwise(knots):
        ends = [low, high]
        tiny = mpmath.mpf(10) ** -20
        width = high - low - 2 * tiny
        inner = [low + tiny + width * mpmath.mpf(i) / 37 for i in range(38)]
        for a, b in pairwise(inner):
            if gain(a) * gain(b) < 0:
                ends.append(mpmath.findroot(gain, (a, b), solver="anderson", tol=1e-45))
        ends.sort()
        for a, b in pairwise(ends):
            if gain((a + b) / 2) > 0:
                total += mpmath.quad(gain, [a, b])
    return total


FAR = [-30, -8, -2, -1, 0, 1, 2, 8, 30]
FARTHER = [-90, -30, -8, -2, -1, 0, 1, 4, 8, 30, 90]
P, Q = normal(0), normal(MU)
L0, L1 = laplace(0, EPSILON), laplace(1, EPSILON)
WEIGHTS, SHIFTS, SIGMA = (0.9, 0.07, 0.03), (0.0, 1.0, 2.5), 1.3


def mixture(x):
    return sum(w * mpmath.npdf(x, c, SIGMA) for w, c in zip(map(mpmath.mpf, WEIGHTS), SHIFTS))


CONTINUOUS = {
    "poisson-gaussian": (PoissonSubsampledLaw(GaussianLaw(MU), 0.1), P, blend(0.1, P, Q), FAR),
    "poisson-laplace": (
        PoissonSubsampledLaw(LaplaceLaw(EPSILON), 0.2), L0, blend(0.2, L0, L1), FARTHER,
    ),
    "mixture": (GaussianMixtureLaw(SIGMA, SHIFTS, WEIGHTS), normal(0, SIGMA), mixture, FAR),
    "truncated-gaussian": (
        TruncatedNoiseLaw(GaussianLaw(MU), 2.0),
        within(2, normal(0, 1 / MU), 0), within(2, normal(1, 1 / MU), 1), [-2, -1, 0, 1, 2, 3],
    ),
    "truncated-laplace": (
        TruncatedNoiseLaw(LaplaceLaw(EPSILON), 3.0), within(3, L0, 0), within(3, L1, 1),
        [-3, -2, 0, 1, 2, 3, 4],
    ),
    "barely-truncated-laplace": (
        TruncatedNoiseLaw(LaplaceLaw(EPSILON), 0.75), within(0.75, L0, 0), within(0.75, L1, 1),
        [-0.75, 0, 0.25, 0.75, 1, 1.75],
    ),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("exchanged", [False, True])
def test_delta_is_the_integral_that_defines_it(name, exchanged):
    law, p0, p1, knots = CONTINUOUS[name]
    if exchanged:
        law, p0, p1 = law.reversed(), p1, p0
    top = min(law.support[1], 3.0)
    for epsilon in (-0.05, 0.3 * top, 0.95 * top):
        exact = float(hockey_stick(p0, p1, mpmath.mpf(epsilon), knots))
        assert law.delta(epsilon) == pytest.approx(exact, rel=1e-11, abs=1e-16)


def without_replacement_delta(base, rate, epsilon):
    """The two divergences that define it, by integration."""
    p0, p1 = (P, Q) if isinstance(base, GaussianLaw) else (L0, L1)
    pair = (blend(rate, p1, p0), p1) if epsilon >= 0 else (p0, blend(rate, p0, p1))
    return float(hockey_stick(*pair, mpmath.mpf(epsilon), FARTHER))


@pytest.mark.sampled
@pytest.mark.parametrize("base", [GaussianLaw(MU), LaplaceLaw(EPSILON)])
def test_sampling_without_replacement_is_two_divergences(base):
    law = SampledWithoutReplacementLaw(base, 0.3)
    for epsilon in (-0.2, 0.05):
        exact = without_replacement_delta(base, 0.3, epsilon)
        assert law.delta(epsilon) == pytest.approx(exact, rel=1e-11)


def test_sampling_without_replacement_is_of_finite_pairs_by_counting():
    """Of randomized response on one of three records, the definition: 1 in 3 it is Alice's."""
    law, rate, lie = (
        SampledWithoutReplacementLaw(randomized_response(1.0), 1 / 3),
        1 / 3,
        1 / (1 + math.e),
    )
    truth, false = np.array([1 - lie, lie]), np.array([lie, 1 - lie])
    high, low = (1 - rate) * false + rate * truth, false
    for epsilon in (0.0, 0.1, 0.3):
        exact = np.maximum(high - math.exp(epsilon) * low, 0).sum()
        assert law.simplest.delta(epsilon) == pytest.approx(exact, rel=1e-12)
        assert law.delta(epsilon) == pytest.approx(exact, rel=1e-12)


LEAKY = FiniteLaw.from_probabilities([0.5, 0.3, 0.2, 0.0], [0.2, 0.3, 0.0, 0.5])


@pytest.mark.parametrize("base", [LEAKY, LEAKY.reversed(), randomized_response(0.4, 0.01)])
@pytest.mark.parametrize("rate", [1e-6, 0.25, 0.999])
def test_a_sampled_finite_law_is_that_of_the_mixed_table(base, rate):
    """Masses at infinity become finite losses one way, and stay so the other."""
    p0 = np.r_[np.exp(base.log_masses), base.infinite_mass, 0.0]
    p1 = np.r_[np.exp(base.log_masses - base.losses), 0.0, base.dual_infinite_mass]
    exact = FiniteLaw.from_probabilities(p0, (1 - rate) * p0 + rate * p1)
    law = PoissonSubsampledLaw(base, rate)
    for ours, theirs in ((law, exact), (law.reversed(), exact.reversed())):
        found = ours.simplest
        assert isinstance(found, FiniteLaw)
        assert found.losses == pytest.approx(theirs.losses, rel=1e-9, abs=1e-15)
        assert np.exp(found.log_masses) == pytest.approx(np.exp(theirs.log_masses), rel=1e-9)
        assert found.infinite_mass == pytest.approx(theirs.infinite_mass, rel=1e-12)
        assert found.dual_infinite_mass == pytest.approx(theirs.dual_infinite_mass, rel=1e-12)
        for epsilon in (-0.1, 0.0, 0.05):
            assert ours.delta(epsilon) == pytest.approx(theirs.delta(epsilon), rel=1e-9, abs=1e-15)


def discrete_delta(mass, shift, epsilon, reach):
    """Sum of (P0 - e^epsilon P1)_+ over the integers, in thirty digits."""
    factor = mpmath.exp(epsilon)
    total = mpmath.fsum(mass(x) for x in range(-reach, reach + 1))
    gains = (mass(x) - factor * mass(x - shift) for x in range(-reach, reach + shift + 1))
    return float(mpmath.fsum(g for g in gains if g > 0) / total)


def rounded(cdf):
    return lambda x: cdf(mpmath.mpf(x) + 0.5) - cdf(mpmath.mpf(x) - 0.5)


def laplace_cdf(x, scale=2):
    return mpmath.exp(x / scale) / 2 if x < 0 else 1 - mpmath.exp(-x / scale) / 2


DISCRETE = {
    "gaussian": (discrete_gaussian(2.5, 2), lambda x: mpmath.exp(-mpmath.mpf(x) ** 2 / 12.5), 2),
    "narrow": (discrete_gaussian(0.3), lambda x: mpmath.exp(-mpmath.mpf(x) ** 2 / 0.18), 1),
    "laplace": (discrete_laplace(0.5, 3), lambda x: mpmath.exp(-abs(mpmath.mpf(x)) / 2), 3),
    "rounded-gaussian": (
        rounded_gaussian(2.5, 2), rounded(lambda x: mpmath.ncdf(x / mpmath.mpf(2.5))), 2,
    ),
    "rounded-laplace": (rounded_laplace(0.5, 3), rounded(laplace_cdf), 3),
}  # fmt: skip


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_noise_is_the_sum_that_defines_it(name):
    law, mass, shift = DISCRETE[name]
    sides = [0.0, 0.2, 0.6 * min(law.support[1], 5.0), 0.99 * min(law.support[1], 8.0)]
    for epsilon in sides:
        exact = discrete_delta(mass, shift, mpmath.mpf(epsilon), 90)
        assert law.delta(epsilon) == pytest.approx(exact, rel=1e-11, abs=1e-25)
        assert law.reversed().delta(epsilon) == pytest.approx(exact, rel=1e-11, abs=1e-25)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_the_staircase_is_the_integral_over_its_stairs(share):
    """Stairs of width 1, each cut in thousand strips; sensitivity 1."""
    epsilon, strips = 0.9, 1000
    x = (np.arange(-40 * strips, 41 * strips) + 0.5) / strips

    def density(y):
        stair = np.floor(np.abs(y))
        return np.exp(-epsilon * (stair + (np.abs(y) - stair > share)))

    p0, p1 = density(x), density(x - 1.0)
    for bound in (0.0, 0.4, 0.8):
        exact = np.maximum(p0 - math.exp(bound) * p1, 0).sum() / p0.sum()
        assert staircase(epsilon, share).delta(bound) == pytest.approx(exact, rel=1e-9)


EVERY = {name: law for name, (law, *_) in CONTINUOUS.items()} | {
    "without-replacement-gaussian": SampledWithoutReplacementLaw(GaussianLaw(MU), 0.3),
    "without-replacement-laplace": SampledWithoutReplacementLaw(LaplaceLaw(EPSILON), 0.3),
    "sampled-mixture": PoissonSubsampledLaw(GaussianMixtureLaw(SIGMA, SHIFTS, WEIGHTS), 0.1),
    "sampled-truncated": PoissonSubsampledLaw(TruncatedNoiseLaw(LaplaceLaw(EPSILON), 3.0), 0.1),
}


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("exchanged", [False, True])
def test_masses_sum_to_one_and_give_the_curve(name, exchanged):
    """Cells are one source of numbers, delta is another."""
    law = EVERY[name].reversed() if exchanged else EVERY[name]
    low, high = loss_range(law, 1e-40)
    edges = np.r_[-np.inf, np.linspace(low, high, 4001), np.inf]
    under0, under1 = law.continuous_masses(edges)
    atoms = np.exp(law.atom_log_masses), np.exp(law.atom_log_masses - law.atom_losses)
    assert under0.sum() + atoms[0].sum() + law.infinite_mass == pytest.approx(1, rel=1e-12)
    assert under1.sum() + atoms[1].sum() + law.dual_infinite_mass == pytest.approx(1, rel=1e-12)
    step = round_step((high - low) / 3000)
    lower, upper = enclosing_grid_laws(law, step, (low, high))
    for epsilon in (0.0, 0.4 * min(high, 3.0), 0.9 * min(high, 3.0)):
        below, above = (
            float(grid.masses @ np.maximum(-np.expm1(epsilon - grid.losses), 0))
            + grid.infinite_mass
            for grid in (lower, upper)
        )
        assert below <= law.delta(epsilon) * (1 + 1e-12)
        assert law.delta(epsilon) <= above * (1 + 1e-12) + 1e-39


@pytest.mark.parametrize("name", EVERY)
def test_moments_by_points_are_those_of_simulated_cells(name):
    law = EVERY[name]
    low, high = loss_range(law, 1e-18)
    edges = np.linspace(low, high, 40_001)
    under0, _ = law.continuous_masses(edges)
    middle = (edges[:-1] + edges[1:]) / 2
    atoms = np.exp(law.atom_log_masses)
    at_half = under0 @ np.exp(middle / 2) + atoms @ np.exp(law.atom_losses / 2)
    assert float(law.log_mgf(0.5)) == pytest.approx(math.log(at_half), rel=1e-4, abs=1e-8)
    if law.infinite_mass == 0:
        mean = under0 @ middle + atoms @ law.atom_losses
        assert law.mean == pytest.approx(mean, rel=1e-4, abs=1e-8)
        spread = under0 @ (middle - mean) ** 2 + atoms @ (law.atom_losses - mean) ** 2
        assert law.variance == pytest.approx(spread, rel=1e-4)


@pytest.mark.parametrize(
    "law",
    [*EVERY.values(), staircase(1.0, 0.3)],
    ids=[*EVERY, "staircase"],
)
def test_laws_are_values(law):
    again = pickle.loads(pickle.dumps(law))
    assert again == law
    assert hash(again) == hash(law)
    again = law.reversed().reversed()
    assert again.delta(0.05) == pytest.approx(law.delta(0.05), rel=1e-15)


@pytest.mark.parametrize("base", [GaussianLaw(MU), LaplaceLaw(EPSILON), LEAKY])
@pytest.mark.parametrize("kind", [PoissonSubsampledLaw, SampledWithoutReplacementLaw])
def test_at_rate_one_it_is_the_base_and_at_rate_zero_nothing(base, kind):
    assert kind(base, 1.0).simplest == base
    nothing = kind(base, 0.0)
    assert nothing.simplest.delta(0.0) == 0.0
    assert compose_laws([(nothing, 100)]).delta(0.0).upper == 0.0


def test_a_mixture_of_two_is_poisson_sampling():
    sigma, rate = 1.25, 0.1
    ours = GaussianMixtureLaw(sigma, (0.0, 1.0), (1 - rate, rate))
    theirs = PoissonSubsampledLaw(GaussianLaw(1 / sigma), rate)
    for law, other in ((ours, theirs), (ours.reversed(), theirs.reversed())):
        found = compose_laws([(law, 20)], tolerance=1e-6).epsilon(1e-6)
        wanted = compose_laws([(other, 20)], tolerance=1e-6).epsilon(1e-6)
        assert found.lower <= wanted.upper
        assert wanted.lower <= found.upper
        assert found.width < 3e-6 * found.upper


def test_a_mixture_of_one_is_the_gaussian():
    law = GaussianMixtureLaw(2.0, (1.0,), (1.0,))
    for epsilon in (-1.0, 0.0, 0.5, 4.0):
        assert law.delta(epsilon) == pytest.approx(GaussianLaw(0.5).delta(epsilon), rel=1e-11)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PoissonSubsampledLaw(GaussianLaw(1.0), 1.5), r"must be in \[0, 1\], not 1.5"),
        (lambda: SampledWithoutReplacementLaw(GaussianLaw(1.0), -1), r"must be in \[0, 1\]"),
        (lambda: GaussianMixtureLaw(0.0, (1.0,), (1.0,)), "sigma must be a positive number"),
        (lambda: GaussianMixtureLaw(1.0, (1.0,), (0.5,)), "weights must sum to 1"),
        (lambda: GaussianMixtureLaw(1.0, (0.0,), (1.0,)), "one above 0"),
        (lambda: GaussianMixtureLaw(1.0, (1.0, 2.0), (1.0,)), "as many weights"),
        (lambda: TruncatedNoiseLaw(GaussianLaw(1.0), 0.5), "reach beyond 1/2"),
        (lambda: TruncatedNoiseLaw(LEAKY, 2.0), "Gaussian and Laplace"),
        (lambda: discrete_gaussian(0.0), "sigma must be a positive number"),
        (lambda: discrete_gaussian(1.0, 0), "sensitivity"),
        (lambda: discrete_gaussian(4e4), "coarser units"),
        (lambda: discrete_laplace(1.0, 1.5), "sensitivity"),
        (lambda: staircase(1.0, 1.1), r"\[0, 1\]"),
    ],
)
def test_bad_parameters_get_one_line(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()


@pytest.mark.parametrize("rate", [1e-3, 1e-9, 1e-14])
def test_at_small_rates_losses_are_kept_apart(rate):
    """Losses are about the rate times the base's; merged ones would change delta wholly."""
    base = discrete_gaussian(100.0)
    masses = np.exp(base.log_masses)
    exact = rate * float(masses @ np.maximum(np.expm1(-base.losses), 0.0))
    law = PoissonSubsampledLaw(base, rate).reversed()
    found = compose_laws([(law, 1)], 1e-6).delta(0.0)
    assert found.lower <= exact * (1 + 1e-9)
    assert exact * (1 - 1e-9) <= found.upper
    assert found.upper == pytest.approx(exact, rel=1e-6)
    response = PoissonSubsampledLaw(randomized_response(1e-3), rate)
    for k in (10, 1000):
        steps = np.arange(k + 1)
        down, up = response.simplest.atom_losses
        chance = math.exp(float(response.simplest.atom_log_masses[-1]))
        total = steps * up + (k - steps) * down
        truth = float(binom.pmf(steps, k, chance) @ np.maximum(-np.expm1(-total), 0.0))
        composed = compose_laws([(response, k)], 1e-6).delta(0.0)
        assert composed.lower <= truth * (1 + 1e-3)
        assert truth * (1 - 1e-3) <= composed.upper


@pytest.mark.parametrize("epsilon", [700.0, 740.0, 800.0, 5000.0])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
def test_a_steep_staircase_keeps_its_atoms(epsilon, share):
    law = staircase(epsilon, share)
    assert law.reversed().delta(0.0) == pytest.approx(law.delta(0.0), rel=1e-12)
    assert 0.49 < law.delta(0.0) <= 1.0
    assert law.support == (-epsilon, epsilon)


@pytest.mark.nightly
def test_tiny_losses_do_not_ask_for_all_memory():
    law = PoissonSubsampledLaw(LaplaceLaw(1e-9), 1e-9)
    assert compose_laws([(law, 3)], 1e-6).delta(0.0).upper < 1e-6


def test_no_lower_end_of_delta_is_one():
    assert compose_laws([(LaplaceLaw(100.0), 2)], 1e-5).delta(100.0).lower < 1.0
