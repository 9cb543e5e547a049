"""Roots and least points: those of scipy, to the bit."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy

from simulator.foundations.roots import crossing, least_point

CURVES: dict[str, Callable[[float], float]] = {
    "line": lambda x: x - 0.3,
    "cubic": lambda x: (x - 0.3) ** 3,
    "exponential": lambda x: math.exp(20.0 * x) - 50.0,
    "steps": lambda x: -1.0 if x < 0.3 else 2.0,
    "logarithm": lambda x: math.log(x + 1e-12) + 5.0,
    "infinite": lambda x: math.inf if x > 0.5 else x - 0.4,
    "tiny": lambda x: 1e-200 * (x - 0.3) ** 3,
    "of the end": lambda x: x,
}


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("xtol", [1e-300, 1e-12, 1e-3])
def test_a_root_is_that_of_scipy(name: str, xtol: float) -> None:
    """Both ways round, with the same calls."""
    curve = CURVES[name]
    mine: list[float] = []

    def watched(x: float) -> float:
        mine.append(x)
        return curve(x)

    for ends in ((0.0, 1.0), (1.0, 0.0)):
        mine.clear()
        found = crossing(watched, *ends, xtol=xtol, rtol=1e-12)
        same, how = scipy.optimize.brentq(
            curve, *ends, xtol=xtol, rtol=1e-12, disp=False, full_output=True
        )
        if how.converged:
            assert (found, len(mine)) == (same, how.function_calls)


def test_random_roots_are_those_of_scipy() -> None:
    """Of polynomials with a change of sign, from seed 0."""
    rng = np.random.default_rng(0)
    compared = 0
    for _ in range(300):
        polynomial = np.poly1d(rng.normal(size=6))
        if polynomial(-2.0) * polynomial(2.0) < 0.0:
            compared += 1
            assert crossing(polynomial, -2.0, 2.0, xtol=1e-14) == scipy.optimize.brentq(
                polynomial, -2.0, 2.0, xtol=1e-14, rtol=2.0**-50
            )
    assert compared > 100


def test_a_root_needs_a_change_of_sign_and_numbers() -> None:
    """Nothing is returned without one."""
    with pytest.raises(ValueError, match="change of sign"):
        crossing(lambda x: x + 1.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="NaN"):
        crossing(lambda x: math.nan, 0.0, 1.0)


def test_a_root_far_below_one_is_found() -> None:
    """Where a hundred steps are too few."""
    root = crossing(lambda x: 1.0 if x > 1e-200 else -1.0, 0.0, 1.0, xtol=1e-300, rtol=1e-9)
    assert root == pytest.approx(1e-200, rel=1e-8)


@pytest.mark.parametrize("xtol", [1e-10, 1e-5, 0.1])
@pytest.mark.parametrize("shape", [float, abs, round], ids=["smooth", "abs", "steps"])
def test_least_points_are_those_of_scipy(xtol: float, shape: Callable[[float], float]) -> None:
    """Of shapes of polynomials, from seed 1."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        coefficients = rng.normal(size=6)

        def function(x: float, coefficients: np.ndarray = coefficients) -> float:
            return shape(np.polyval(coefficients, x))

        same = scipy.optimize.minimize_scalar(
            function, bounds=(-2.0, 3.0), method="bounded", options={"xatol": xtol}
        )
        assert least_point(function, -2.0, 3.0, xtol=xtol) == (same.x, same.fun)
