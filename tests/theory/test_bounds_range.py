"""Bounded range: published values, and candidates against a fine scan of every t."""

import math

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from simulator.foundations.errors import NotApplicable
from simulator.theory import BoundedRange, Composition, bound
from simulator.theory.bounds.bounded_range import non_adaptive_delta
from simulator.theory.bounds.range_recursion import best_in_cells, enclosed_curve


def scan(width, rounds, epsilon, points=1201):
    """The best common t on a fine grid, with scipy's binomial."""
    best = 0.0
    for t in np.linspace(0.0, width, points)[1:-1]:
        p = -math.expm1(t - width) / -math.expm1(-width)
        losses = rounds * t - width * np.arange(rounds + 1)
        mass = binom.pmf(np.arange(rounds, -1, -1), rounds, p)
        best = max(best, float(mass @ np.maximum(0.0, -np.expm1(epsilon - losses))))
    return best


@pytest.mark.sampled
@pytest.mark.parametrize("width", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("rounds", [1, 2, 5, 40])
def test_candidates_reach_the_scan_of_every_t(width, rounds):
    for share in (0.0, 0.1, 0.4):
        epsilon = share * rounds * width
        found, expected = non_adaptive_delta(width, rounds, epsilon), scan(width, rounds, epsilon)
        assert found >= expected * (1 - 1e-9)
        assert found == pytest.approx(expected, rel=1e-4, abs=1e-14)


def test_no_pair_of_unequal_t_is_worse():
    ts = np.linspace(0.0, 1.0, 101)[1:-1]
    worst = 0.0
    for first in ts:
        for second in ts:
            mass, losses = np.ones(1), np.zeros(1)
            for t in (first, second):
                p = -math.expm1(t - 1.0) / -math.expm1(-1.0)
                mass = np.concatenate((mass * p, mass * (1 - p)))
                losses = np.concatenate((losses + t, losses + t - 1.0))
            worst = max(worst, float(mass @ np.maximum(0.0, -np.expm1(-losses))))
    assert worst <= non_adaptive_delta(1.0, 2, 0.0) * (1 + 1e-12)


def test_published_non_adaptive_value():
    asked = bound("bounded-range-non-adaptive").on(Composition.repeat(BoundedRange(1.0), 2))
    assert asked.delta(0.0).value == pytest.approx(0.288317, abs=5e-7)


@pytest.mark.nightly
def test_the_coarse_scan_finds_what_a_full_scan_finds():
    for width, rounds, epsilon in ((0.1, 300, 2.0), (0.5, 200, 0.0), (1.0, 120, 30.0)):
        found = non_adaptive_delta(width, rounds, epsilon)
        assert found >= scan(width, rounds, epsilon) * (1 - 1e-9)


def adaptive(width, rounds):
    return bound("bounded-range-adaptive").on(Composition.repeat(BoundedRange(width), rounds))


def test_published_adaptive_value():
    answer = adaptive(1.0, 2).delta(0.0)
    assert answer.lower == pytest.approx(0.303365, abs=5e-7)
    assert answer.upper == pytest.approx(0.303365, abs=1e-6)


def test_the_adaptive_enclosure_holds_a_brute_force_search():
    # Two rounds: every first t, and the best second t for either answer, on another grid.
    width, epsilon = 0.8, 0.25
    grid = np.linspace(0.0, width, 1301)[1:-1]
    p = np.expm1(grid - width) / np.expm1(-width)

    def one_round(z):
        return float(
            np.max(
                p * np.maximum(0.0, -np.expm1(z - grid))
                + (1 - p) * np.maximum(0.0, -np.expm1(z - grid + width))
            )
        )

    reached = max(
        pt * one_round(epsilon - t) + (1 - pt) * one_round(epsilon - t + width)
        for t, pt in zip(grid, p)
    )
    answer = adaptive(width, 2).delta(epsilon)
    assert answer.lower * (1 - 1e-4) <= reached <= answer.upper


@pytest.mark.nightly
@pytest.mark.parametrize(("width", "rounds"), [(0.1, 20), (1.0, 8), (3.0, 12)])
def test_the_enclosure_lies_between_the_lower_and_the_upper_bounds(width, rounds):
    composition = Composition.repeat(BoundedRange(width), rounds)
    ours = adaptive(width, rounds)
    for delta in (1e-2, 1e-9, 1e-20):
        answer = ours.epsilon(delta)
        assert answer.upper - answer.lower < 2e-3 * answer.upper
        for name in ("bounded-range-azuma", "rdp-canonne-kamath-steinke", "gdp"):
            assert bound(name).on(composition).epsilon(delta).value >= answer.lower
        fixed = bound("bounded-range-non-adaptive").on(composition).epsilon(delta).value
        assert fixed <= answer.upper
        back = ours.delta(answer.upper)
        assert back.lower <= delta * (1 + 1e-9)
        assert ours.delta(answer.lower * (1 - 1e-12)).upper >= delta


def test_the_enclosure_narrows_as_the_lattice_is_refined():
    widths = []
    for cells in (10, 20, 40, 80):
        curve = enclosed_curve(1.0, 4, cells, 0.0)
        here = 5 * cells
        assert curve.epsilons[here] == pytest.approx(0.0, abs=1e-12)
        widths.append(float(curve.upper[here] - curve.lower[here]))
    assert widths[0] > 2 * widths[1] > 4 * widths[2] > 8 * widths[3] > 0.0


def largest_inside(values, cells, width):
    """The largest value of the chord objective inside a cell of t, at the middle of ``values``.

    With 50 digits; 0 if in each cell it is largest at an end. With u = e^(t_j - t) the chances are
    p = (1 - share / u) / scale and 1 - p, and the chords are linear in u.
    """
    best = mpmath.mpf(0)
    with mpmath.workdps(50):
        exact = [mpmath.mpf(float(value)) for value in values[::-1]]
        step, scale = mpmath.mpf(width) / cells, -mpmath.expm1(-mpmath.mpf(width))
        for j in range(cells):
            chords = []
            for start, end in (exact[j + cells : j + cells + 2], exact[j : j + 2]):
                fall = (end - start) / -mpmath.expm1(-step)
                chords.append((start + fall, fall))
            (high, fall), (low, low_fall) = chords
            share = mpmath.exp(j * step - width)
            rising = (fall - low_fall * (1 - scale)) / scale
            falling = share * (high - low) / scale
            if rising > 0 and falling > 0:
                u = mpmath.sqrt(falling / rising)
                if mpmath.exp(-step) < u < 1:
                    p = (1 - share / u) / scale
                    best = max(best, p * (high - fall * u) + (1 - p) * (low - low_fall * u))
    return best


@pytest.mark.parametrize("width", [2.0**-13, 0.125, 1.0])
def test_a_largest_value_inside_a_cell_counts_where_rounding_hides_it(width):
    """Values that are linear in e^E but for their last bits: every slope is 0 within rounding."""
    rng, cells, found = np.random.default_rng(0), 8, 0
    for _ in range(20):
        points = width * (np.arange(-cells, cells + 1) / cells - rng.uniform(1.0, 3.0))
        values = -np.expm1(points) * (1.0 + rng.integers(-2, 3, points.size) * 2.0**-52)
        exact = largest_inside(values, cells, width)
        found += exact > 0
        assert best_in_cells(values, cells, width)[0] >= exact * (1 - 2.0**-50)
    assert found > 5


def test_too_many_rounds_for_the_recursion_are_refused():
    with pytest.raises(NotApplicable, match="lattice"):
        adaptive(0.1, 5000)


@pytest.mark.sampled
@pytest.mark.parametrize("width", [0.0, 1e-4, 1.0, 800.0])
@pytest.mark.parametrize("delta", [0.5, 1e-6, 1e-290])
def test_extremes_stay_above_what_a_fixed_choice_reaches(width, delta):
    fixed = bound("bounded-range-non-adaptive").on(Composition.repeat(BoundedRange(width), 60))
    answer = adaptive(width, 60).epsilon(delta)
    assert answer.lower * (1 - 1e-12) <= fixed.epsilon(delta).value * (1 + 0.05)
    assert answer.upper >= fixed.epsilon(delta).value * (1 - 1e-12)
    with pytest.raises(NotApplicable, match="reach"):
        adaptive(width, 60).epsilon(1e-300)
