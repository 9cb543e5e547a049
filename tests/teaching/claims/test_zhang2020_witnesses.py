"""The numbers that the checks of Zhang 2020 rest on, made another way."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import laplace

from simulator.teaching.claims.ledger.theorems.composition import advanced_epsilon
from simulator.teaching.claims.ledger.zhang2020.admissible import (
    CutNoise,
    cut_noise_parameters,
    dilation_leak,
    largest_beta,
)
from simulator.teaching.claims.ledger.zhang2020.limits import all_neighbours, least_epsilon
from simulator.teaching.claims.ledger.zhang2020.reconstruction import furthest_apart
from simulator.teaching.claims.ledger.zhang2020.selection import chosen, noisy_max_loss
from simulator.teaching.claims.ledger.zhang2020.smooth import scaled_laplace_delta
from simulator.teaching.claims.model import Verdict
from simulator.teaching.claims.simulated_findings import FALSE_ALARM, hoeffding_radius, mostly
from simulator.theory import LaplaceLaw


@pytest.mark.sampled(n=5)
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    ("centres", "scales"),
    [((0.0, 1.0), (1.0, 1.0)), ((0.0, 0.4), (1.0, 1.3)), ((1.0, 0.0), (2.0, 1.5))],
)
def test_divergence_of_scaled_laplace_by_quadrature(centres, scales, epsilon) -> None:
    p, q = laplace(centres[0], scales[0]), laplace(centres[1], scales[1])

    def excess(y: float) -> float:
        return max(0.0, p.pdf(y) - math.exp(epsilon) * q.pdf(y))

    edges = [-60.0, *sorted(centres), 60.0]
    total = sum(quad(excess, a, b, limit=400)[0] for a, b in pairwise(edges))
    assert scaled_laplace_delta(centres, scales, epsilon) == pytest.approx(total, abs=2e-8)


def test_divergence_of_a_shift_alone_is_the_laplace_law() -> None:
    for shift in (0.2, 1.0, 3.0):
        assert scaled_laplace_delta((0.0, shift), (1.0, 1.0), 0.1) == pytest.approx(
            LaplaceLaw(shift).delta(0.1), rel=1e-12
        )


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-4), (1.0, 1e-8)])
def test_dilation_has_the_closed_form(epsilon: float, delta: float) -> None:
    """Stretching by e^s costs e^-t (1 - e^-s), t = (ε/2 + s)/(e^s - 1); shrinking costs less."""
    beta = epsilon / (2 * math.log(1 / delta))
    t = (epsilon / 2 + beta) / math.expm1(beta)
    assert dilation_leak(epsilon, beta) == pytest.approx(math.exp(-t) * -math.expm1(-beta))


def test_largest_beta_in_one_dimension_just_meets_its_delta() -> None:
    beta = largest_beta(1, 0.5, 1e-4)
    assert dilation_leak(0.5, beta) == pytest.approx(0.5e-4, rel=1e-4)


def test_the_counterexample_to_the_theorem_on_admissible_noise_by_quadrature() -> None:
    """Sliding costs what lies in the last unit; the chain, the integral of a positive part."""
    noise = CutNoise(20.0)
    beta, delta = cut_noise_parameters(noise, 1.0)
    last = 2 * (math.exp(-19 / 2) - math.exp(-20 / 2)) / noise.mass
    assert delta / 2 == pytest.approx(last, rel=1e-9)

    def positive_part(x: float, factor: float, stretch: float, shift: float) -> float:
        first, second = (float(noise.density(np.array(y))) for y in (x, stretch * x + shift))
        return max(0.0, first - factor * stretch * second) / noise.mass

    grown = math.exp(beta)
    ends = [-1.0 / grown, 0.0, 19.0 / grown, 19.0, 20.0 / grown, 20.0]
    for factor, stretch, shift in ((math.exp(0.5), grown, 0.0), (math.e, grown, 1.0)):
        pieces = [
            quad(positive_part, *ab, args=(factor, stretch, shift), limit=400, epsabs=1e-14)[0]
            for ab in pairwise([-40.0, *ends])
        ]
        assert noise.excess(factor, stretch, shift) == pytest.approx(math.fsum(pieces), rel=1e-4)
    assert noise.excess(math.e, grown, 1.0) == pytest.approx(1.27 * delta, rel=0.01)


def test_noisy_max_of_two_by_its_closed_form() -> None:
    """Pr[the lower of two counts, c apart, wins] = e^-εc (1/2 + εc/4)."""

    def loses(c: float, epsilon: float) -> float:
        return math.exp(-epsilon * c) * (0.5 + epsilon * c / 4)

    epsilon, gap = 0.7, 5
    expected = math.log(loses(gap, epsilon) / loses(gap + 1, epsilon))
    assert noisy_max_loss(epsilon, (0, gap), (0, 1)) == pytest.approx(expected, rel=1e-9)


def test_probabilities_of_a_selection() -> None:
    assert chosen([4, 3, 3], 2.5)[0] == pytest.approx(math.e**2.5 / (math.e**2.5 + 2))


def test_bob_by_the_theorem() -> None:
    assert advanced_epsilon(1 / 801, 10_000, math.exp(-32)) == pytest.approx(1.0143473, abs=5e-8)


@pytest.mark.parametrize(("databases", "success"), [(2, 0.75), (3, 0.5), (5, 0.4)])
def test_least_epsilon_to_hit_disjoint_targets(databases: int, success: float) -> None:
    """Success p on each of m neighbours needs p + (m - 1) p e^-ε <= 1, and that is enough."""
    expected = math.log((databases - 1) * success / (1 - success))
    least = least_epsilon(all_neighbours(databases), range(databases), success)
    assert least == pytest.approx(expected, abs=2e-6)


def test_mistakes_hidden_by_an_error() -> None:
    assert [furthest_apart(6, error) for error in (0.4, 0.5, 1.0, 1.5)] == [0, 2, 4, 6]


def test_mostly_has_three_outcomes() -> None:
    assert mostly(24, 24) is Verdict.HOLDS
    assert mostly(0, 24) is Verdict.FAILS
    assert mostly(14, 24) is Verdict.UNDECIDED


def test_hoeffding_radius_covers() -> None:
    """A fair coin's mean stays inside, far more often than it must."""
    coins = np.random.default_rng(0).integers(0, 2, size=(200, 1000)).mean(axis=1)
    assert np.abs(coins - 0.5).max() < hoeffding_radius(1000, FALSE_ALARM)
