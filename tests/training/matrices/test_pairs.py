"""The pair of balls in bins, against C written out, and bad input."""

import numpy as np
import pytest
from scipy.linalg import toeplitz

from simulator.errors import InvalidInput
from simulator.training.matrices import BinnedPair, balls_in_bins, estimate_allocation

BAND = (1.0, 0.5, 0.25)


def test_the_gram_matrix_is_that_of_c_written_out():
    rounds, bins, sigma = 11, 4, 1.7
    c = toeplitz(np.r_[BAND, np.zeros(rounds - 3)], np.zeros(rounds))
    held = np.array([[i % bins == j for j in range(bins)] for i in range(rounds)], dtype=float)
    means = c @ held
    expected = means.T @ means / sigma**2
    np.testing.assert_allclose(balls_in_bins(sigma, bins, rounds, BAND).gram, expected, rtol=1e-14)
    np.testing.assert_allclose(balls_in_bins(sigma, bins, rounds, matrix=c).gram, expected)


def adaptive_means(c, bins, draws, generator):
    """Means of all bins for draws of white noise, shape (bins, draws, rounds, 2).

    The gradient of a round has norm 1 and turns with what was seen before it.
    """
    rounds = len(c)
    start, turn = generator.uniform(0, 2 * np.pi, rounds), generator.normal(size=(rounds, rounds))
    angles = start + np.einsum("tl,nl->nt", np.tril(turn, -1), draws[:, :, 0])
    gradients = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    held = (np.arange(rounds) % bins == np.arange(bins)[:, None])[:, None, :, None] * gradients
    return np.einsum("tl,bnld->bntd", c, held)


def divergence(draws, means, sigma, epsilon):
    """The terms of E_Q[(U - e^epsilon)_+], shape (draws,), in units of the noise."""
    exponents = np.einsum("ntd,bntd->bn", draws, means) / sigma
    exponents -= 0.5 * np.einsum("bntd,bntd->bn", means, means) / sigma**2
    return np.maximum(np.exp(exponents).mean(axis=0) - np.exp(epsilon), 0.0)


def test_the_pair_of_absolute_values_dominates_adaptive_gradients():
    """10 random C and gradients, 5 standard errors each: a false alarm has probability 3e-6."""
    generator = np.random.default_rng(7)
    bins, rounds, sigma, epsilon = 2, 4, 1.3, 0.3
    for _ in range(10):
        c = np.tril(generator.uniform(-1, 1, (rounds, rounds)), -1) + np.eye(rounds)
        draws = generator.normal(size=(30_000, rounds, 2))
        seen = divergence(draws, adaptive_means(c, bins, draws, generator), sigma, epsilon)
        gram = balls_in_bins(sigma, bins, rounds, matrix=c).gram
        scores = np.linalg.cholesky(gram) @ draws[:, :bins, 0].T
        ratio = np.exp(scores - 0.5 * np.diagonal(gram)[:, None]).mean(axis=0)
        most = np.maximum(ratio - np.exp(epsilon), 0.0)
        assert seen.mean() - most.mean() <= 5.0 * np.hypot(seen.std(), most.std()) / 30_000**0.5


def test_signs_that_alternate_reach_the_pair_of_absolute_values():
    for band in ((1.0, -0.5), (1.0, -0.5, 0.25), (1.0, 0.0, 0.0, -0.5)):
        pair = balls_in_bins(1.5, 3, 9, band)
        assert pair.played is None
        np.testing.assert_array_equal(pair.gram, balls_in_bins(1.5, 3, 9, np.abs(band)).gram)


def test_a_pair_that_is_not_reached_has_the_lower_end_of_one_that_is():
    pair = balls_in_bins(1.5, 3, 9, (1.0, -0.5, -0.125))
    assert (pair.played.gram <= pair.gram).all()
    assert (pair.played.gram < pair.gram).any()
    most, least = (
        estimate_allocation(one, epsilon=1.0, draws=4000, confidence=1 - 1e-6).worst
        for one in (pair, pair.played)
    )
    assert most.lower < least.upper < most.value < most.upper


def test_entries_with_their_signs_are_no_dominating_pair():
    """What gradients that alternate reach is above the pair of C as it is."""
    c = toeplitz(np.r_[1.0, -0.9, np.zeros(2)], np.zeros(4))
    held = np.array([[i % 2 == j for j in range(2)] for i in range(4)], dtype=float)
    as_it_is = BinnedPair((c @ held).T @ (c @ held), "as it is", "none")
    wrong, reached = (
        estimate_allocation(one, epsilon=1.0, draws=20_000, confidence=1 - 1e-6).worst
        for one in (as_it_is, balls_in_bins(1.0, 2, 4, matrix=c))
    )
    assert wrong.upper < reached.lower


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
        ({"coefficients": (1.0, float("nan"))}, "coefficients must be finite numbers"),
        ({"coefficients": (1, 1, 1)}, "at most as many as the 2 rounds, not 3"),
        ({"matrix": LOWER.T}, r"must be lower triangular; entry \(0, 1\) is 0.5"),
        ({"matrix": LOWER - np.eye(2)}, r"matrix is singular: entry \(0, 0\) of its diagonal is 0"),
        ({"matrix": np.ones((3, 2))}, r"shape \(2, 2\) of the rounds, not \(3, 2\)"),
        ({"matrix": np.array([[1.0, 0.0], [np.inf, 1.0]])}, "matrix must have finite entries"),
        ({"matrix": "C"}, "matrix must be numbers in rows and columns"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        balls_in_bins(**{"sigma": 1.0, "bins": 2, "rounds": 2} | arguments)
    assert "\n" not in str(caught.value)
