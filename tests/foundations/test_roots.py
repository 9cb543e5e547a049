"""Roots and least points: what is found, and what is refused."""

from __future__ import annotations

import math

import pytest

from simulator.foundations.roots import crossing, least_point


def test_a_root_needs_a_change_of_sign_and_numbers() -> None:
    """Nothing is returned without one."""
    with pytest.raises(ValueError, match="different signs"):
        crossing(lambda x: x + 1.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="NaN"):
        crossing(lambda x: math.nan, 0.0, 1.0)


def test_a_root_far_below_one_is_found() -> None:
    """Where a hundred steps are too few."""
    root = crossing(lambda x: 1.0 if x > 1e-200 else -1.0, 0.0, 1.0, xtol=1e-300, rtol=1e-9)
    assert root == pytest.approx(1e-200, rel=1e-8)


def test_a_least_point_comes_with_its_value() -> None:
    """Of a parabola."""
    point, value = least_point(lambda x: 2.0 + (x - 0.3) ** 2, -1.0, 4.0, xtol=1e-8)
    assert point == pytest.approx(0.3, abs=1e-7)
    assert value == 2.0 + (point - 0.3) ** 2
