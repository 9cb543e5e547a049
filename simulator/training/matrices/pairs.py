"""The dominating pair of balls in bins: a mixture of Gaussians over the bins, against the noise.

One record is in one of b bins, each with probability 1/b; bin j has the rounds j, j + b, ... Noise
C^{-1} z, z of standard deviation sigma, is added to the sums of the rounds, so C times what is seen
is z, or z plus m_j = C u_j with u_j the indicator of the rounds of bin j. With
P = (1/b) sum_j N(m_j, sigma^2 I) and Q = N(0, sigma^2 I), the ratio is

    U = dP/dQ = (1/b) sum_j exp(z_j - G_jj / 2),    G_jl = <m_j, m_l> / sigma^2,

where under Q the scores z = (<x, m_j> / sigma^2)_j are N(0, G). Only G matters.

That P, Q dominate where gradients depend on earlier answers: the noise is Gaussian and C is fixed,
lower triangular and has no negative entry (Choquette-Choo and others, "Near Exact Privacy
Amplification for Matrix Mechanisms", 2025; for independent noise Chua and others, "Balls-and-Bins
Sampling for DP-SGD", 2025). Relation: add or remove one record.

Where C has negative entries the pair of |C| dominates. In round t let the differing record's term
in bin j be mu_j, of norm at most a_j = sum_l |C_tl| over the rounds l of bin j, and let Y_j > 0 be
the factors of the later rounds, already replaced by those of |C|. Each divergence is the mean of a
convex f of sum_j w_j Y_j exp(<x, mu_j> - |mu_j|^2 / 2), x standard normal, w_j of the past. It does
not fall when <mu_j, mu_l> is replaced by the larger a_j a_l for all j, l (Kahane, "Sur le chaos
multiplicatif", 1985, convexity inequality; Y is independent of x). From the last round to the first
this replaces C by |C|. Gradients whose signs alternate attain it where C's signs do; otherwise
``played`` is a pair that signs of the gradients reach.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import positive, whole

Floats = NDArray[np.float64]

MOST_BINS = 2000
_MOST_ENTRIES = 2 * 10**7
_DENSE = 0.125
"""The share of entries that are not 0 from which a matrix is multiplied as a dense one."""


@dataclass(frozen=True, eq=False)
class BinnedPair:
    """A uniform mixture of Gaussians against one Gaussian.

    Attributes
    ----------
    gram : float64, shape (bins, bins), inner products of the means over sigma^2; of full rank.
    name : the pair in words; draws are seeded by it.
    theorem : why the pair dominates.
    played : a pair that an adversary reaches, where this one is not known to be; else None.

    >>> from simulator.training import balls_in_bins
    >>> balls_in_bins(sigma=2.0, bins=4, rounds=8).gram.shape
    (4, 4)
    """

    gram: Floats
    name: str
    theorem: str
    played: BinnedPair | None = field(default=None, kw_only=True)

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return len(self.gram)

    @cached_property
    def half_squares(self) -> Floats:
        """Half the diagonal of G, shape (bins,)."""
        return np.asarray(0.5 * np.diagonal(self.gram))

    @cached_property
    def factor(self) -> Floats:
        """The lower triangular L with L L^T = G."""
        try:
            return np.asarray(np.linalg.cholesky(self.gram))
        except np.linalg.LinAlgError:
            raise InvalidInput(
                "the means of the bins are dependent within rounding: the matrix C is singular or "
                "too close to singular"
            ) from None

    @cached_property
    def multiply_gram(self) -> Floats | scipy.sparse.csr_array:
        """G, sparse where that is faster."""
        return lighter(self.gram)

    @cached_property
    def multiply_factor(self) -> Floats | scipy.sparse.csr_array:
        """L, sparse where that is faster."""
        return lighter(self.factor)

    def log_ratio(self, scores: Floats) -> Floats:
        """Ln U for scores of shape (bins, draws)."""
        exponents = scores - self.half_squares[:, None]
        peak = exponents.max(axis=0)
        total: Floats = np.exp(exponents - peak, out=exponents).sum(axis=0)
        return np.asarray(peak + np.log(total) - math.log(self.bins))


def lighter(matrix: Floats) -> Floats | scipy.sparse.csr_array:
    """The matrix, or the same as a sparse one if few entries are not 0."""
    if np.count_nonzero(matrix) > _DENSE * matrix.size:
        return matrix
    return scipy.sparse.csr_array(matrix)


def balls_in_bins(
    sigma: float,
    bins: int,
    rounds: int,
    coefficients: Sequence[float] = (1.0,),
    *,
    matrix: ArrayLike | None = None,
) -> BinnedPair:
    """The pair of balls in bins.

    Parameters
    ----------
    sigma : standard deviation of z over the sensitivity of one sum.
    bins, rounds : round i is of bin i mod ``bins``.
    coefficients : C_il = coefficients[i - l].
    matrix : C itself, shape (rounds, rounds), in place of the coefficients.

    Raises
    ------
    InvalidInput : a parameter is out of its range, or C is not lower triangular with a diagonal
        without zeros.

    >>> from simulator.training import balls_in_bins
    >>> balls_in_bins(sigma=2.0, bins=4, rounds=8).theorem
    'Choquette-Choo and others 2025; Chua and others 2025'
    """
    sigma, bins, rounds = positive("sigma", sigma), whole("bins", bins), whole("rounds", rounds)
    if bins > rounds:
        raise InvalidInput(
            f"bins must be at most rounds, not {bins} of {rounds}: a bin without a round would be "
            "empty",
            argument="bins",
        )
    if bins > MOST_BINS:
        raise InvalidInput(f"bins must be at most {MOST_BINS}, not {bins}", argument="bins")
    if matrix is None:
        band = checked_coefficients(coefficients, rounds)
        what, c = ",".join(map(repr, band.tolist())), _of_band(band, rounds)
    else:
        dense = checked_matrix(matrix, rounds)
        what, c = f"a matrix, {_digits(dense)}", scipy.sparse.csc_array(dense)
    name = f"balls in bins, sigma={sigma!r}, bins={bins}, rounds={rounds}, C={what}"
    dealt = scipy.sparse.csc_array(
        (np.ones(rounds), (np.arange(rounds), np.arange(rounds) % bins)), shape=(rounds, bins)
    )
    gram = _gram(abs(c) @ dealt, sigma)
    if float(np.max(np.diagonal(gram))) > 500.0:
        raise InvalidInput(
            f"sigma {sigma!r} is too small: a bin's ratio would leave the range of floats, as its "
            f"mean is {math.sqrt(float(np.max(np.diagonal(gram)))):.3g} standard deviations off",
            argument="sigma",
        )
    if not (c.data < 0.0).any():
        return BinnedPair(gram, name, _THEOREM)
    # what gradients of alternating signs reach, in steps, in epochs, or in both
    steps, epochs = np.arange(rounds), np.arange(rounds) // bins
    reached = [
        _gram(c @ scipy.sparse.diags_array((-1.0) ** turns) @ dealt, sigma)
        for turns in (0 * steps, steps, epochs, steps + epochs)
    ]
    most = max(reached, key=np.sum)
    if np.array_equal(most, gram):
        return BinnedPair(gram, name, _THEOREM)
    played = BinnedPair(most, f"{name}, played", _THEOREM)
    return BinnedPair(gram, name, f"{_THEOREM}; |C| by Kahane 1985", played=played)


_THEOREM = "Choquette-Choo and others 2025; Chua and others 2025"


def _gram(means: scipy.sparse.csc_array, sigma: float) -> Floats:
    """The inner products of the means over sigma^2, from those times sigma."""
    gram = np.asarray((means.T @ means).toarray() / sigma**2)
    if not np.isfinite(gram).all() or not (np.diagonal(gram) > 0.0).all():
        raise InvalidInput(f"sigma {sigma!r} and C leave the range of floats", argument="sigma")
    return gram


def checked_coefficients(coefficients: Sequence[float], rounds: int) -> Floats:
    """The coefficients of C, trailing zeros left out; raises InvalidInput."""
    try:
        band = np.atleast_1d(np.asarray(coefficients, dtype=np.float64))
    except (TypeError, ValueError):
        raise InvalidInput(
            f"coefficients must be numbers, not {coefficients!r:.80}", argument="coefficients"
        ) from None
    if band.ndim != 1 or not band.size or not np.isfinite(band).all():
        raise InvalidInput(
            f"coefficients must be finite numbers, one or more, not {coefficients!r:.80}",
            argument="coefficients",
        )
    if band[0] <= 0.0:
        raise InvalidInput(
            f"coefficients must begin with a number above 0, not {band[0]:g}: C would be singular",
            argument="coefficients",
        )
    band = band[: np.flatnonzero(band)[-1] + 1]
    if len(band) > rounds:
        raise InvalidInput(
            f"coefficients must be at most as many as the {rounds} rounds, not {len(band)}",
            argument="coefficients",
        )
    return band


def checked_matrix(matrix: ArrayLike, rounds: int) -> Floats:
    """C as an array; raises InvalidInput unless it is one to which the theorem applies."""
    try:
        c = np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(
            "matrix must be numbers in rows and columns", argument="matrix"
        ) from None
    if c.shape != (rounds, rounds):
        raise InvalidInput(
            f"matrix must have the shape ({rounds}, {rounds}) of the rounds, not {c.shape}",
            argument="matrix",
        )
    if not np.isfinite(c).all():
        raise InvalidInput("matrix must have finite entries", argument="matrix")
    above = np.argwhere(np.triu(c, 1))
    if len(above):
        row, column = above[0]
        raise InvalidInput(
            f"matrix must be lower triangular; entry ({row}, {column}) is {c[row, column]:g}",
            argument="matrix",
        )
    zero = np.flatnonzero(np.diagonal(c) == 0.0)
    if zero.size:
        raise InvalidInput(
            f"matrix is singular: entry ({zero[0]}, {zero[0]}) of its diagonal is 0",
            argument="matrix",
        )
    return c


def _of_band(band: Floats, rounds: int) -> scipy.sparse.csc_array:
    """C of these coefficients."""
    if len(band) * rounds > _MOST_ENTRIES:
        raise InvalidInput(
            f"{rounds} rounds with {len(band)} coefficients are too many: C has more than "
            f"{_MOST_ENTRIES} entries",
            argument="rounds",
        )
    lags = -np.arange(len(band))
    return scipy.sparse.csc_array(scipy.sparse.diags_array(band, offsets=lags, shape=(rounds,) * 2))


def _digits(c: Floats) -> str:
    """A digest of a matrix."""
    import hashlib

    return hashlib.sha256(np.ascontiguousarray(c, dtype="<f8").tobytes()).hexdigest()[:16]
