"""Certified ends of random allocation, held against integrals and sums made another way."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import binom

from simulator.errors import InvalidInput, NotApplicable
from simulator.theory.laws.discrete import discrete_laplace
from simulator.theory.laws.extremal import randomized_response
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.gaussian_curve import gaussian_delta
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.theory.pld.distribution import compose_laws
from simulator.training.laws.allocation import AllocationLaw
from simulator.training.laws.dyadic_runs import LatticeRun
from tests.helpers.allocated_steps import allocated, two_steps


def test_two_steps_hold_the_quadrature_in_both_directions():
    for sigma, epsilon in ((0.7, 1.5), (3.0, 0.1)):
        for pld, exact in zip(allocated(sigma, 2), two_steps(sigma, epsilon), strict=True):
            ends = pld.delta(epsilon)
            assert ends.lower <= exact <= ends.upper
            assert ends.width < 3e-4 * exact


def expected_shortfall(sigma, steps, level):
    """E (level - S)+ of a sum S of independent lognormals of mean 1, by its Laplace transform.

    The integral along a line through the saddle point, and the transform of one term, are sums over
    equal steps: their errors fall faster than any power of these.
    """
    z = np.arange(-12.0, 12.0, 0.008)
    ratios = np.exp(z / sigma - 0.5 / sigma**2)
    weights = np.exp(-z * z / 2) * 0.008 / math.sqrt(2 * math.pi)

    def exponent(s):
        return s * level + steps * np.log(np.exp(-np.multiply.outer(s, ratios)) @ weights)

    def at(log_s):
        return float(exponent(np.array([math.exp(log_s)]))[0].real) - 2 * log_s

    s = math.exp(minimize_scalar(at, bounds=(-8, 12), method="bounded").x)
    near = exponent(s * np.array([1 - 1e-3, 1.0, 1 + 1e-3]))
    width = 9 / math.sqrt((near[0] - 2 * near[1] + near[2]) / (1e-3 * s) ** 2)
    line = s + 1j * np.linspace(0.0, width, 300)
    terms = (np.exp(exponent(line)) / line**2).real
    return (terms.sum() - (terms[0] + terms[-1]) / 2) * width / 299 / math.pi


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("sigma", "steps", "epsilon"),
    [(1.0, 100, 0.85), (2.0, 400, 0.08)],
)
def test_sums_hold_an_inverted_transform(sigma, steps, epsilon):
    """Down to a delta of 6e-15 by adding; by removing with an absolute error of 1e-9."""
    removal, addition = (each.delta(epsilon) for each in allocated(sigma, steps))
    factor = math.exp(epsilon)
    exact = expected_shortfall(sigma, steps, steps / factor) * factor / steps
    assert addition.lower <= exact <= addition.upper < exact * (1 + 3e-4)
    exact = expected_shortfall(sigma, steps, steps * factor) / steps + 1 - factor
    assert removal.lower - 1e-9 <= exact <= removal.upper + 1e-9
    assert removal.width < 3e-4 * removal.upper


def test_one_step_is_the_mechanism():
    law = AllocationLaw(GaussianLaw(0.7), 1)
    assert law.simplest == GaussianLaw(0.7) == law.reversed().simplest
    assert AllocationLaw(randomized_response(0.0), 9).simplest == randomized_response(0.0)


def response_allocation(epsilon, steps, at):
    """Exact divergences of random allocation of randomized response: U is a binomial's function."""
    agree = np.arange(steps + 1)
    masses = binom.pmf(agree, steps, 1 / (1 + math.exp(-epsilon)))
    ratios = (agree * math.exp(-epsilon) + (steps - agree) * math.exp(epsilon)) / steps
    return (
        float(masses @ np.maximum(ratios - math.exp(at), 0)),
        float(masses @ np.maximum(1 - math.exp(at) * ratios, 0)),
        (masses, ratios),
    )


@pytest.mark.parametrize(
    ("epsilon", "steps", "at"), [(1.0, 5, 0.3), (2.0, 2, 0.5), (0.5, 40, 0.1), (4.0, 700, 0.5)]
)
def test_randomized_response_holds_the_exact_sum(epsilon, steps, at):
    law = AllocationLaw(randomized_response(epsilon), steps)
    removal, addition, _ = response_allocation(epsilon, steps, at)
    for one, exact in ((law.reversed(), removal), (law, addition)):
        ends = compose_laws([(one, 1)], 1e-4).delta(at)
        assert ends.lower <= exact <= ends.upper
        assert ends.width < 1e-3 * exact


def test_composition_holds_the_exact_composition_of_a_finite_law():
    """Four epochs of one of three randomized responses: four values each, composed exactly."""
    *_, (masses, ratios) = response_allocation(1.0, 3, 0.0)
    exact = FiniteLaw.from_probabilities(masses, masses * ratios)
    law = AllocationLaw(randomized_response(1.0), 3)
    for one, finite in ((law, exact), (law.reversed(), exact.reversed())):
        found, truth = compose_laws([(one, 4)], 1e-4), compose_laws([(finite, 4)], 1e-9)
        for delta in (1e-2, 1e-4):
            ends, inside = found.epsilon(delta), truth.epsilon(delta)
            assert ends.lower <= inside.lower <= inside.upper <= ends.upper < 1.001 * inside.upper


def test_composition_with_another_law_is_enclosed_by_it():
    """Without the allocation epsilon is smaller, with it in a public step larger."""
    law, other = AllocationLaw(GaussianLaw(1.0), 50).reversed(), GaussianLaw(0.3)
    both = compose_laws([(law, 2), (other, 3)], 1e-4).epsilon(1e-6)
    less = compose_laws([(other, 3)]).epsilon(1e-6)
    more = compose_laws([(GaussianLaw(1.0), 2), (other, 3)]).epsilon(1e-6)
    assert less.upper < both.lower <= both.upper < more.lower
    assert both.width < 2e-4 * both.upper


def test_laplace_holds_a_quadrature():
    """Two Laplace steps: atoms at both ends of the loss and a density between them."""
    epsilon, at = 1.0, 0.4
    law = AllocationLaw(LaplaceLaw(epsilon), 2)

    def loss(x):  # noise at x, the record moves it by epsilon
        return abs(x - epsilon) - abs(x)

    grid = np.concatenate([[-40.0], np.linspace(0, epsilon, 2001), [40.0]])
    edges = np.where(grid < 0, np.exp(grid) / 2, 1 - np.exp(-np.abs(grid)) / 2)
    masses = np.diff(edges)
    middles = (grid[:-1] + grid[1:]) / 2
    middles[0], middles[-1] = -1.0, epsilon + 1.0
    ratios = np.exp([-loss(x) for x in middles])
    pairs = (ratios[:, None] + ratios) / 2
    under = np.outer(masses, masses)
    for one, gains in (
        (law.reversed(), np.maximum(pairs - math.exp(at), 0)),
        (law, np.maximum(1 - math.exp(at) * pairs, 0)),
    ):
        ends, value = compose_laws([(one, 1)], 1e-4).delta(at), float((under * gains).sum())
        assert ends.lower * (1 - 1e-5) <= value <= ends.upper * (1 + 1e-5)
        assert ends.width < 1e-3 * value


def test_discrete_noise_holds_the_enumeration():
    base = discrete_laplace(0.5, 2)
    law = AllocationLaw(base, 3)
    ratios, masses = np.exp(-base.losses), np.exp(base.log_masses)
    removal = addition = 0.0
    for picks in itertools.product(range(len(ratios)), repeat=3):
        mass, mean = math.prod(masses[list(picks)]), float(np.mean(ratios[list(picks)]))
        removal += mass * max(mean - math.exp(0.2), 0.0)
        addition += mass * max(1 - math.exp(0.2) * mean, 0.0)
    for one, exact in ((law.reversed(), removal), (law, addition)):
        ends = compose_laws([(one, 1)], 1e-4).delta(0.2)
        assert ends.lower <= exact <= ends.upper
        assert ends.width < 1e-3 * exact


def test_answers_that_reveal_the_record_keep_their_mass():
    """With probability 0.01 a step reveals: exact by the number of steps that do, in all orders."""
    base, at = randomized_response(1.0, 0.01), 0.3
    law = AllocationLaw(base, 2)
    masses = np.r_[np.exp(base.log_masses), base.infinite_mass]
    ratios = np.r_[np.exp(-base.losses), 0.0]
    pairs, under = (ratios[:, None] + ratios) / 2, np.outer(masses, masses)
    removal = float((under * np.maximum(pairs - math.exp(at), 0)).sum()) + base.dual_infinite_mass
    addition = float((under * np.maximum(1 - math.exp(at) * pairs, 0)).sum())
    for one, exact in ((law.reversed(), removal), (law, addition)):
        ends = compose_laws([(one, 1)], 1e-4).delta(at)
        assert ends.lower <= exact <= ends.upper
        assert ends.width < 1e-3 * exact
    assert math.isinf(compose_laws([(law.reversed(), 1)], 1e-4).epsilon(0.005).lower)


def test_hundred_steps_hold_the_published_values():
    """At noise 1: near .2980, .6209, 1.1385, 1.7584, upper ends of a plain prototype above."""
    removal, _ = allocated(1.0, 100)
    known = {1e-3: (0.2980, 0.29814), 1e-5: (0.6209, 0.62103), 1e-7: (1.1385, 1.13858)}
    for delta, (near, above) in known.items():
        ends = removal.epsilon(delta)
        assert ends.upper < above
        assert abs(ends.value - near) < 6e-5


@pytest.mark.sampled
@pytest.mark.parametrize(("sigma", "steps"), [(1.0, 37), (0.7, 300), (10.0, 1000)])
def test_brackets_are_narrow(sigma, steps):
    for pld in allocated(sigma, steps):
        for delta in (1e-4, 1e-9, 1e-15):
            ends = pld.epsilon(delta)
            assert ends.width < 1e-4 * ends.upper


@pytest.mark.nightly
def test_brackets_are_narrow_everywhere():
    for sigma, steps in itertools.product((0.5, 1.0, 3.0, 10.0), (3, 100, 999, 10**5)):
        for pld in allocated(sigma, steps):
            for delta in 10.0 ** np.arange(-15, -1):
                ends = pld.epsilon(float(delta))
                assert ends.width <= (1e-4 if steps <= 1000 else 1e-3) * ends.upper


def test_nearer_ends_lie_inside():
    law = AllocationLaw(GaussianLaw(1.0), 7)
    (low, high), (lower, upper) = (law.ends(share) for share in (0.01, 0.04))
    for epsilon in (0.1, 0.3, 1.0):
        ends = [each.delta(epsilon) for each in (lower, low, high, upper)]
        assert ends == sorted(ends)
        assert ends[2] - ends[1] < 0.15 * (ends[3] - ends[0])


@pytest.mark.nightly
def test_ends_of_all_spacings_enclose_one_value():
    """For random laws: no lower end is above an upper end, of this or another spacing."""
    rng = np.random.default_rng(27)
    for _ in range(3):
        epsilon, steps = float(rng.uniform(0.1, 3.0)), int(rng.integers(2, 200))
        for base in (LaplaceLaw(epsilon), GaussianLaw(epsilon), randomized_response(epsilon, 1e-6)):
            law = AllocationLaw(base, steps, exchanged=bool(rng.integers(2)))
            ends = [law.ends(share) for share in (0.044, 0.03)]
            for at in (0.0, *rng.uniform(0.0, epsilon, 3)):
                lower = max(low.delta(at + low.loss_error) for low, _ in ends)
                assert lower <= min(up.delta(at - up.loss_error) for _, up in ends) + 1e-290


def test_simulation_agrees():
    """Five steps, 200,000 draws: false alarm below 1e-6 (5 standard errors)."""
    draws = np.random.default_rng(27).standard_normal((200_000, 5))
    values = np.maximum(np.exp(draws - 0.5).mean(axis=1) - math.exp(0.3), 0)
    ends = allocated(1.0, 5)[0].delta(0.3)
    slack = 5 * values.std() / math.sqrt(len(values))
    assert ends.lower - slack <= values.mean() <= ends.upper + slack


def test_masses_rounded_in_the_wrong_direction_are_caught(monkeypatch):
    """Odd points that all move down are no upper end, cells without their means no lower end."""
    epsilon = 0.5
    exact = two_steps(1.0, epsilon)[0]

    def down(run):
        first = run.start // 2
        masses = np.zeros((run.start + run.masses.size) // 2 - first + 1)
        np.add.at(masses, (run.start + np.arange(run.masses.size)) // 2 - first, run.masses)
        return LatticeRun(first, masses).trimmed()

    law = AllocationLaw(GaussianLaw(0.999999), 2).reversed()  # not in the cache
    assert law.ends(0.03)[1].delta(epsilon) > exact
    law = AllocationLaw(GaussianLaw(0.9999991), 2).reversed()
    monkeypatch.setattr(LatticeRun, "_split", down)
    assert law.ends(0.03)[1].delta(epsilon) < exact


def test_delta_far_out_keeps_its_digits():
    """At a delta of 1e-40 the tails are gathered farther out."""
    removal, _ = allocated(1.0, 20)
    ends = removal.epsilon(1e-40)
    assert ends.width < 1e-3 * ends.upper
    alone = compose_laws([(GaussianLaw(1.0), 1)]).epsilon(1e-40)
    assert ends.upper < alone.upper < ends.upper + math.log(20)


@pytest.mark.sampled
@pytest.mark.parametrize(("sigma", "steps", "delta"), [(1e4, 10, 1e-8), (0.15, 10, 1e-5)])
def test_little_and_much_noise(sigma, steps, delta):
    """Nearly no amplification, at most ln 10 of it; and a law of a thousandth's width."""
    ends = allocated(sigma, steps)[0].epsilon(delta)
    public = compose_laws([(GaussianLaw(1 / sigma), 1)]).epsilon(delta)
    assert public.lower - math.log(steps) < ends.upper < public.upper
    assert ends.width < 1e-3 * ends.upper


def test_it_is_at_most_the_mechanism_at_a_public_step():
    for pld in allocated(2.0, 10):
        for epsilon in (0.0, 0.1, 0.5):
            assert pld.delta(epsilon).upper < gaussian_delta(0.5, epsilon)


@pytest.mark.parametrize("steps", [0, 2.5, -1, math.nan, 10**9, "3"])
def test_steps_must_be_a_whole_number(steps):
    with pytest.raises(InvalidInput):
        AllocationLaw(GaussianLaw(1.0), steps)


def test_a_loss_that_is_too_large_is_refused():
    with pytest.raises(NotApplicable, match="too large to be allocated"):
        AllocationLaw(GaussianLaw(50.0), 2).ends(0.1)
