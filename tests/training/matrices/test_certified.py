"""The lemma of simulator/theory/lemmas/cyclic-bands.md, and what would break it."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from simulator.foundations.errors import NotApplicable
from simulator.theory import GaussianLaw
from simulator.training import AllocationLaw
from simulator.training.laws.moving_averages import LognormalTable, MovingAverage, log_modulus
from simulator.training.laws.transform_ends import TransformEnds
from simulator.training.matrices import BinnedPair, balls_in_bins, estimate_allocation
from simulator.training.matrices.certified import BandedEnds

SURE = 1 - 1e-6
CASES = [
    (1.5, 9, 9, (1.0, 0.5), 1e-3),
    (2.0, 9, 18, (1.0, -0.5), 1e-5),
    (2.0, 30, 30, (1.0, 0.5, 0.25), 1e-4),
    (1.0, 20, 20, (1.0, 0.6, 0.3), 1e-6),
    (3.0, 12, 120, (1.0, 0.5, 0.375), 1e-8),
    (2.0, 12, 12, (1.0, 0.5, 0.375, 0.3125), 1e-4),
]


def drawn(pair, delta):
    return estimate_allocation(pair, delta=delta, draws=4000, confidence=SURE).worst


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES)
def test_draws_are_between_the_ends(case):
    """Intervals of false-alarm probability 1e-6 each."""
    *numbers, delta = case
    pair = balls_in_bins(*numbers)
    found, seen = BandedEnds(pair).epsilon(delta), drawn(pair, delta)
    assert found.lower <= seen.upper
    assert seen.lower <= found.upper
    assert found.upper < 1.12 * found.lower


def plain_interval(gram, epsilon, draws=300_000):
    """Hoeffding's, of false-alarm probability 1e-6, for removal: means of (1 - e^epsilon / U)_+."""
    generator = np.random.default_rng(5)
    scores = np.linalg.cholesky(gram) @ generator.standard_normal((len(gram), draws))
    scores += gram[:, generator.integers(len(gram), size=draws)] - 0.5 * np.diag(gram)[:, None]
    mean = np.maximum(1 - math.exp(epsilon) / np.exp(scores).mean(axis=0), 0).mean()
    width = math.sqrt(math.log(2e6) / (2 * draws))
    return mean - width, mean + width


def test_an_upper_end_of_smaller_covariances_is_unsound():
    """With lowered entries it is below what draws of the pair show; as they are it is not."""
    gram = balls_in_bins(1.7, 9, 9, (1.0, 0.7)).gram
    lowered = gram * np.where(np.eye(9) > 0, 1.0, 0.3)
    low, high = plain_interval(gram, 0.1)
    ends = BandedEnds(BinnedPair(gram, "true", "none")).delta(0.1)
    assert ends.lower <= high
    assert low <= ends.upper < 1.08 * ends.lower
    assert BandedEnds(BinnedPair(lowered, "broken", "none")).delta(0.1).upper < low


def of_two(g, x, sign):
    """E(s (U - x))_+ of two correlated bins: given the first it is that of a lognormal variable."""
    free = g[0] - g[1] ** 2 / g[0]

    def given(z):
        one = math.exp(math.sqrt(g[0]) * z - g[0] / 2)
        mean = math.exp(g[1] / math.sqrt(g[0]) * z - g[1] ** 2 / g[0] / 2)
        left = 2 * x - one
        if left <= 0.0:
            return max(sign, 0.0) * (mean - left) / 2
        far = (math.log(mean / left) + free / 2) / math.sqrt(free)
        near = far - math.sqrt(free)
        return sign * (mean * ndtr(sign * far) - left * ndtr(sign * near)) / 2

    def weighted(z):
        return given(z) * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    kink = (math.log(2 * x) + g[0] / 2) / math.sqrt(g[0])
    return quad(weighted, -12, 12, points=[kink], epsabs=1e-14, epsrel=1e-11, limit=400)[0]


@pytest.mark.parametrize("sigma", [3.0, pytest.param(1.5, marks=pytest.mark.nightly)])
def test_two_bins_are_those_of_quadrature(sigma):
    g = np.array([1.25, 0.5]) / sigma**2
    average = MovingAverage(g, 2, np.zeros(0), ratio_error=1e-6, outside=1e-10)
    larger = AllocationLaw(GaussianLaw(math.sqrt(g[0])), 1)
    ends = TransformEnds.at(average, larger, 1e-4, 1.0, 5000)
    for epsilon in (0.1, 0.5, 1.0):
        low, high = ends.removal(epsilon)
        assert low <= of_two(g, math.exp(epsilon), 1.0) <= high
        assert high - low < 2e-6
        low, high = ends.addition(epsilon)
        assert low <= math.exp(epsilon) * of_two(g, math.exp(-epsilon), -1.0) <= high
        assert high - low < 2e-6


@pytest.mark.parametrize("second", [1.0, -1.0])
def test_a_spectrum_that_touches_0_is_refused(second):
    """Its logarithm is NaN or infinite."""
    g = np.array([2.0, second])
    with pytest.raises(NotApplicable, match="too close to 0"):
        _ = MovingAverage(g, 10, np.zeros(0)).weights


@pytest.mark.parametrize("epsilon", [50.0, 800.0])
def test_ratios_that_are_far_apart_end_in_the_simple_ends(epsilon):
    pair = balls_in_bins(1.0, 10, 10, (1.0, 0.5))
    found = BandedEnds(pair).delta(epsilon)
    assert 0.0 <= found.lower <= found.upper < 1e-20


def test_the_lattice_changes_the_density_by_its_factor_at_most():
    """Sums over a coarse lattice of three values of Z; a share of 1 in place of kappa is wrong."""
    a, free = np.array([0.8, 0.5]), 0.4
    square = float(a @ a)
    rows = np.array([[a[0], a[1], 0.0], [0.0, a[0], a[1]]])
    spacing = 0.9 * math.pi * math.sqrt(2 * free / (free + square) / math.log(20.0))
    k = np.array(list(itertools.product(np.arange(-9, 10), repeat=3))) * spacing
    weights = np.exp(-0.5 * (k**2).sum(axis=1))
    weights /= weights.sum()
    generator = np.random.default_rng(3)
    places = generator.normal(size=(300, 2)) * 1.3
    apart = places[:, None, :] - (k @ rows.T)[None]
    found = np.exp(-0.5 * (apart**2).sum(axis=2) / free) @ weights / (2 * math.pi * free)
    cov = rows @ rows.T + free * np.eye(2)
    inner = np.einsum("pi,ij,pj->p", places, np.linalg.inv(cov), places)
    true = np.exp(-0.5 * inner) / (2 * math.pi * math.sqrt(np.linalg.det(cov)))
    worst = np.abs(found / true - 1).max()

    def factor(kept):
        eta = 2 * sum(math.exp(-2 * (math.pi * j / spacing) ** 2 * kept) for j in range(1, 9))
        return (1 + eta) ** 3 - 1

    assert factor(1.0) < worst <= factor(free / (free + square))


def test_the_table_is_the_transform_of_a_lognormal_variable():
    for variance in (0.01, 0.5, 3.0):
        s = math.sqrt(variance)
        table = LognormalTable.between(-6.0, 4.0, variance)
        nodes = np.linspace(-12, 12, 40_001)
        weight = (
            np.exp(-0.5 * (nodes + 0.4j / s) ** 2) * (nodes[1] - nodes[0]) / math.sqrt(2 * math.pi)
        )
        for t in (-5.3, -0.7, 0.9):
            exact = (np.expm1(1j * np.exp(t + s * nodes + 0.4j)) * weight).sum()
            (value,) = table(np.array([t]))
            assert abs(value - exact) <= 1e-11 * abs(exact)
            (bound,) = np.exp(log_modulus(np.array([t]), variance))
            assert abs(1.0 + exact) <= bound * (1 + 1e-9)
