"""Certified divergences of one Gaussian step of many, held against integrals made another way."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from simulator.errors import InvalidInput
from simulator.theory.laws.gaussian_curve import gaussian_delta
from simulator.theory.pld.convex_order import GaussianAllocation


def two_steps(sigma: float, epsilon: float) -> tuple[float, float]:
    """Both directions for two steps: the inner integral in closed form, the outer by quadrature."""
    shift = 1 / sigma

    def parts(x: float) -> tuple[float, float]:
        density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        first = math.exp(shift * x - shift**2 / 2)
        rest = 2 * math.exp(epsilon) - first  # removal needs V_2 above it
        if rest <= 0:
            removal = (first + 1) / 2 - math.exp(epsilon)
        else:
            z = math.log(rest) / shift + shift / 2
            removal = ndtr(shift - z) / 2 - rest / 2 * ndtr(-z)
        rest = 2 * math.exp(-epsilon) - first  # addition needs V_2 below it
        if rest <= 0:
            return density * removal, 0.0
        z = math.log(rest) / shift + shift / 2
        addition = math.exp(epsilon) / 2 * (rest * ndtr(z) - ndtr(z - shift))
        return density * removal, density * addition

    kinks = [(math.log(2) + sign * epsilon) / shift + shift / 2 for sign in (1, -1)]
    return tuple(  # type: ignore[return-value]
        quad(lambda x, i=i: parts(x)[i], -12, 12 + shift, points=kinks, limit=400, epsabs=1e-14)[0]
        for i in (0, 1)
    )


def test_two_steps_hold_the_quadrature_in_both_directions() -> None:
    for sigma, epsilon in ((1.0, 0.5), (0.7, 1.5), (3.0, 0.1)):
        pair = GaussianAllocation(sigma, 2, 0.02)
        for ends, exact in zip(
            (pair.removal(epsilon), pair.addition(epsilon)), two_steps(sigma, epsilon), strict=True
        ):
            assert ends.lower <= exact <= ends.upper
            assert ends.upper - ends.lower < 0.01 * exact


def test_one_step_is_the_gaussian_mechanism() -> None:
    pair = GaussianAllocation(1.3, 1, 0.02)
    for epsilon in (0.0, 0.5, 2.0):
        exact = gaussian_delta(1 / 1.3, epsilon)
        for ends in (pair.removal(epsilon), pair.addition(epsilon)):
            assert ends.lower <= exact <= ends.upper <= 1.01 * exact


def test_hundred_steps_hold_the_published_value() -> None:
    """At noise 1, epsilon(1e-5) is near .6209: the prototype's .62103 at half the spacing."""
    pair = GaussianAllocation(1.0, 100, 0.04)
    assert pair.removal(0.615).lower > 1e-5 > pair.removal(0.627).upper


def test_a_finer_grid_lies_inside() -> None:
    wide, narrow = (GaussianAllocation(1.0, 7, spacing) for spacing in (0.08, 0.02))
    for name in ("removal", "addition"):
        outer, inner = getattr(wide, name)(0.3), getattr(narrow, name)(0.3)
        assert outer.lower <= inner.lower <= inner.upper <= outer.upper
        assert inner.upper - inner.lower < 0.15 * (outer.upper - outer.lower)


def test_simulation_agrees() -> None:
    """Five steps, 200,000 draws: false alarm below 1e-6 (5 standard errors)."""
    draws = np.random.default_rng(27).standard_normal((200_000, 5))
    values = np.maximum(np.exp(draws - 0.5).mean(axis=1) - math.exp(0.3), 0)
    ends = GaussianAllocation(1.0, 5, 0.04).removal(0.3)
    slack = 5 * values.std() / math.sqrt(len(values))
    assert ends.lower - slack <= values.mean() <= ends.upper + slack


def test_a_law_rounded_down_is_caught() -> None:
    """A grid law whose cells all move down is no upper end: the quadrature is above it."""
    broken = GaussianAllocation(1.0, 2, 0.02)
    one, low = broken._one, broken._points[:-1]
    down = type(one)(one.zero, one.masses, one.masses * low)
    broken.__dict__["_larger"] = broken._sum(down, broken._add_larger)
    assert broken._excess(broken._larger, 0.5) + broken._outside < two_steps(1.0, 0.5)[0]


def test_bad_input_has_one_clear_line() -> None:
    for sigma, steps in (
        (0.0, 2),
        (math.nan, 2),
        (math.inf, 2),
        (1.0, 0),
        (1.0, 2.5),
        (0.02, 2),
        (1e-3, 2),
    ):
        with pytest.raises(InvalidInput):
            GaussianAllocation(sigma, steps)  # type: ignore[arg-type]
