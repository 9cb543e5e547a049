"""The pair of balls in bins, against C written out, and bad input."""

import numpy as np
import pytest
from scipy.linalg import toeplitz

from simulator.errors import InvalidInput
from simulator.training.matrices import balls_in_bins

BAND = (1.0, 0.5, 0.25)


def test_the_gram_matrix_is_that_of_c_written_out():
    rounds, bins, sigma = 11, 4, 1.7
    c = toeplitz(np.r_[BAND, np.zeros(rounds - 3)], np.zeros(rounds))
    held = np.array([[i % bins == j for j in range(bins)] for i in range(rounds)], dtype=float)
    means = c @ held
    expected = means.T @ means / sigma**2
    np.testing.assert_allclose(balls_in_bins(sigma, bins, rounds, BAND).gram, expected, rtol=1e-14)
    np.testing.assert_allclose(balls_in_bins(sigma, bins, rounds, matrix=c).gram, expected)


LOWER = np.array([[1.0, 0.0], [0.5, 1.0]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sigma": 0.0}, "sigma must be above 0, not 0"),
        ({"sigma": float("nan")}, "sigma must be finite, not nan"),
        ({"sigma": 1e-3}, "sigma 0.001 is too small"),
        ({"bins": 3}, "bins must be at most rounds, not 3 of 2"),
        ({"bins": 0}, "bins must be at least 1, not 0"),
        ({"rounds": 2.5}, "rounds must be a whole number, not 2.5"),
        ({"coefficients": ()}, "coefficients must be finite numbers, one or more"),
        ({"coefficients": (0.0, 1.0)}, "C would be singular"),
        ({"coefficients": (1.0, -0.5)}, "coefficients must have no negative entry, not -0.5"),
        ({"coefficients": (1.0, float("nan"))}, "coefficients must be finite numbers"),
        ({"coefficients": (1, 1, 1)}, "at most as many as the 2 rounds, not 3"),
        ({"matrix": LOWER.T}, r"must be lower triangular; entry \(0, 1\) is 0.5"),
        ({"matrix": LOWER - np.eye(2)}, r"matrix is singular: entry \(0, 0\) of its diagonal is 0"),
        ({"matrix": -LOWER}, "matrix must have no negative entry, not -1"),
        ({"matrix": np.ones((3, 2))}, r"shape \(2, 2\) of the rounds, not \(3, 2\)"),
        ({"matrix": np.array([[1.0, 0.0], [np.inf, 1.0]])}, "matrix must have finite entries"),
        ({"matrix": "C"}, "matrix must be numbers in rows and columns"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        balls_in_bins(**{"sigma": 1.0, "bins": 2, "rounds": 2} | arguments)
    assert "\n" not in str(caught.value)
