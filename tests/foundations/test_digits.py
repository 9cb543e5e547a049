"""Twelve significant digits, against exact decimals."""

import math
from decimal import Decimal

import numpy as np
import pytest

from simulator.foundations.digits import SIGNIFICANT, significant, typical


@pytest.mark.parametrize("magnitude", [1.0, 2.5, 9.99, 1e-3, 4e7, 3e-200])
def test_the_digits_of_a_typical_number_are_those_of_exact_decimals(magnitude):
    x = magnitude * np.array([1.0, -1.0, 1.0 / 3.0, 0.0, 0.123456789012345])
    whole, usable = significant(x, magnitude)
    assert usable.all()
    last = math.floor(math.log10(magnitude)) - (SIGNIFICANT - 1)
    for number, one in zip(x.tolist(), whole.tolist()):
        assert one == round(Decimal(abs(number)).scaleb(-last))


def test_the_rounding_of_a_sum_is_below_the_last_digit():
    noise = np.random.default_rng(3).laplace(size=1000)
    above, below = (significant((noise + shift) - shift, 1.0)[0] for shift in (0.0, 1.0))
    assert np.abs(above - below).max() <= 1.0
    assert ((noise + 1.0) - 1.0 != noise).any()


def test_what_has_no_such_digits_is_not_usable():
    x = np.array([math.inf, -math.inf, math.nan, 1e5, 1e4, 1.0])
    assert significant(x, 1.0)[1].tolist() == [False, False, False, False, True, True]


def test_a_typical_number_is_the_upper_quartile_of_finite_ones():
    assert typical(np.array([-4.0, 1.0, 3.0, 2.0, 0.0, math.inf, math.nan])) == 3.0
    for none in ([], [math.inf], [0.0, 0.0], [1e-300], [1e300]):
        assert typical(np.array(none)) == 1.0
