"""The laws that draws for the removal direction are mixed from, with their ratios to Q.

A *power* is U^theta Q: occupancies n of the bins, then scores from N(G n, G). Where the dynamic
programme over occupancies is too large for G, it has a kernel K that leaves out interactions of
distant bins, and has more on its diagonal so that D = K - G is positive semidefinite. Then the draw
is the pair of scores and occupancies, and the aim is Q times a multinomial law of theta bins, each
with its share in U. With Z_K the normalisation, the ratio of the power to that is
U^theta e^{n^T D n/2}/Z_K: at least U^theta/Z_K, as n^T D n >= 0.

A *field* shifts each of the independent normals xi, of z = L xi, by a whole number of steps L_jj:
with fugacity t by n steps with probability in proportion to t^n e^{L_jj^2 n (n - 1)/2}/n!, up to a
cap. Without the cap it would be like U^theta Q; the cap leaves out single jumps that are so large
that a moment is theirs alone, though they are not the likeliest way to a smaller U.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from simulator.engine.sampling import THETA_BITS, rounded
from simulator.training.matrices.pairs import BinnedPair

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]


@dataclass(frozen=True)
class Drawn:
    """Draws: scores of shape (bins, draws), their losses ln U, and occupancies or None."""

    scores: Floats
    losses: Floats
    occupied: Wholes | None


class Density(Protocol):
    """A law of scores, or of scores and occupancies."""

    def log_ratio(self, drawn: Drawn) -> Floats:
        """Ln of its density over that of the aim, shape (draws,)."""


class MixturePart(Density, Protocol):
    """A law of scores."""

    def draw(self, draws: int, generator: np.random.Generator) -> Floats:
        """Scores, shape (bins, draws)."""


class OccupancyTable(Protocol):
    """The occupancies of a moment."""

    @property
    def kernel(self) -> Floats:
        """K."""

    def log_moment(self, theta: int) -> float:
        """Ln of E_Q U^theta."""

    def draw(self, theta: int, draws: int, generator: np.random.Generator) -> Wholes:
        """Occupancies of U^theta Q, shape (bins, draws)."""


@dataclass(frozen=True)
class MomentPart:
    """U^theta Q, or as near to it as the kernel is to G.

    Attributes
    ----------
    pair : P and Q.
    occupancies : the dynamic programme.
    theta : a whole number.
    """

    pair: BinnedPair
    occupancies: OccupancyTable
    theta: int

    @cached_property
    def log_moment(self) -> float:
        """Ln of E_Q U^theta, or of Z_K."""
        return self.occupancies.log_moment(self.theta)

    @cached_property
    def difference(self) -> Floats | None:
        """K - G, or None where it is 0."""
        found = self.occupancies.kernel - self.pair.gram
        return found if np.abs(found).max() > 0.0 else None

    def draw_occupied(self, draws: int, generator: np.random.Generator) -> tuple[Floats, Wholes]:
        """Scores and occupancies."""
        found = self.occupancies.draw(self.theta, draws, generator)
        return noisy(self.pair, found, generator), found

    def occupied_given(self, scores: Floats, generator: np.random.Generator) -> Wholes:
        """Occupancies from the multinomial law, of the bins' shares in U."""
        exponents = scores - self.pair.half_squares[:, None]
        shares = np.exp(exponents - exponents.max(axis=0))
        rest = np.cumsum(shares[::-1], axis=0)[::-1]
        found = np.zeros(scores.shape, dtype=np.int64)
        left = np.full(scores.shape[1], self.theta)
        for j in range(len(scores)):
            chance = np.clip(shares[j] / np.maximum(rest[j], 1e-300), 0.0, 1.0)
            last = j == len(scores) - 1
            found[j] = left if last else generator.binomial(left, chance)
            left = left - found[j]
        return found

    def log_ratio(self, drawn: Drawn) -> Floats:
        """Ln of its density over that of the aim."""
        found = self.theta * drawn.losses - self.log_moment
        if self.difference is None or drawn.occupied is None:
            return np.asarray(found)
        n = drawn.occupied.astype(np.float64)
        return np.asarray(found + 0.5 * np.einsum("jd,jd->d", n, self.difference @ n))


def noisy(pair: BinnedPair, tilts: Floats | Wholes, generator: np.random.Generator) -> Floats:
    """Draw scores from N(G v, G), for columns v."""
    noise = generator.standard_normal(tilts.shape)
    return np.asarray(pair.multiply_gram @ tilts + pair.multiply_factor @ noise)


@dataclass(frozen=True)
class Field:
    """Independent shifts of the normals.

    Attributes
    ----------
    pair : P and Q.
    cap : the largest number of steps.
    log_fugacity : ln t.
    """

    pair: BinnedPair
    cap: int
    log_fugacity: float

    @cached_property
    def _steps(self) -> Floats:
        return np.diagonal(self.pair.factor)

    @cached_property
    def _log_weights(self) -> Floats:
        """Ln of the weights of all numbers of steps, shape (bins, cap + 1), not normalised."""
        n = np.arange(self.cap + 1)
        own = n * self.log_fugacity - gammaln(n + 1)
        return np.asarray(own + 0.5 * self._steps[:, None] ** 2 * n * (n - 1))

    @cached_property
    def _solve(self) -> Callable[[Floats], Floats]:
        """L^-1, a function of scores."""
        lower = self.pair.multiply_factor
        if scipy.sparse.issparse(lower):
            found: Callable[[Floats], Floats] = scipy.sparse.linalg.splu(
                lower.tocsc(), permc_spec="NATURAL", diag_pivot_thresh=0.0
            ).solve
            return found
        return partial(scipy.linalg.solve_triangular, lower, lower=True)

    @cached_property
    def _probabilities(self) -> Floats:
        return np.asarray(
            np.exp(self._log_weights - logsumexp(self._log_weights, axis=1, keepdims=True))
        )

    def log_mean(self) -> float:
        """Ln of the mean of U."""
        lower = scipy.sparse.coo_array(self.pair.factor)
        rows, columns = lower.coords
        steps = np.arange(self.cap + 1)
        reached = np.exp((lower.data * self._steps[columns])[:, None] * steps)
        logs = np.log(np.einsum("en,en->e", self._probabilities[columns], reached))
        totals = np.bincount(rows, logs, minlength=self.pair.bins)
        return float(logsumexp(totals) - math.log(self.pair.bins))

    def draw(self, draws: int, generator: np.random.Generator) -> Floats:
        """Scores, shape (bins, draws)."""
        heights = np.cumsum(self._probabilities, axis=1)
        uniform = generator.random((self.pair.bins, draws))
        shifts = np.zeros_like(uniform)
        for n in range(self.cap):
            shifts += uniform > heights[:, n, None]
        noise = generator.standard_normal(uniform.shape)
        return np.asarray(self.pair.multiply_factor @ (shifts * self._steps[:, None] + noise))

    def log_ratio(self, drawn: Drawn) -> Floats:
        """Ln of its density over that of Q."""
        noise = self._solve(drawn.scores)
        exponents = self._steps[:, None] * (noise - 0.5 * self._steps[:, None])
        exponents += self.log_fugacity
        most = 500.0 / self.cap
        ratios = np.exp(np.minimum(exponents, most))
        total = np.full_like(ratios, 1.0)
        for n in range(self.cap, 0, -1):  # the sum of ratio^n/n!, by Horner's rule
            total *= ratios / n
            total += 1.0
        logs = np.log(total, out=total)
        large = exponents > most
        if large.any():
            steps = np.arange(self.cap + 1)
            terms = exponents[large][:, None] * steps - gammaln(steps + 1)
            logs[large] = logsumexp(terms, axis=1)
        return np.asarray(logs.sum(axis=0) - logsumexp(self._log_weights, axis=1).sum())


_CAPS = (4, 6, 8, 10, 12, 16, 20, 24)
_FIRST = 6
_FALL = 0.25
_BEYOND = 0.1


def likely_field(pair: BinnedPair, epsilon: float) -> Field | None:
    """The field whose mean of U is a little above e^epsilon; None if there is none.

    The cap is the largest at which the fugacity is still about that of a small cap: with a larger
    one the mean would be that of a few large jumps.
    """
    found: Field | None = None
    least = -math.inf
    for cap in _CAPS:
        low, high = -14.0, 5.0
        with np.errstate(over="ignore"):
            if Field(pair, cap, high).log_mean() < epsilon:
                continue
            aim = epsilon + _BEYOND * min(epsilon, 1.0)
            for _ in range(16):
                middle = 0.5 * (low + high)
                above = Field(pair, cap, middle).log_mean() > aim
                low, high = (low, middle) if above else (middle, high)
        if cap <= _FIRST:
            least = high - _FALL
        elif high < least:
            break
        found = Field(pair, cap, float(rounded(high, THETA_BITS)))
    return found
