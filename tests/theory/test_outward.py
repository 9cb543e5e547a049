"""Rounding outward, and laws on a grid, against exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.outward import above, below, sum_bracket
from simulator.theory.pld.grid_laws import enclosing_grid_laws


def test_the_neighbours_of_a_double():
    for value in (1.0, 0.1, -0.3, 1e-300, 0.0):
        assert below(value) < value < above(value)
        assert above(below(value)) == value


def test_a_sum_that_is_no_double_lies_strictly_within_its_ends():
    found = sum_bracket([(0.1, 3)])
    exact = 3 * Fraction(0.1)
    assert Fraction(found.lower) < exact < Fraction(found.upper)
    assert found.upper == math.nextafter(found.lower, math.inf)


def test_a_law_on_a_grid_keeps_the_mass_of_both_databases():
    """E0[1] = E0[e^-L] = 1 above: losses moved to grid points in any other share lose one."""
    _, upper = enclosing_grid_laws(GaussianLaw(1.0), 0.25, (-9.0, 10.0))
    assert upper.masses.sum() + upper.infinite_mass == pytest.approx(1.0, abs=1e-10)
    assert float(upper.masses @ np.exp(-upper.losses)) == pytest.approx(1.0, abs=1e-10)
