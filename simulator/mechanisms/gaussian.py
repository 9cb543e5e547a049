"""The Gaussian mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries import Query
from simulator.data.queries.kept import checked_values
from simulator.mechanisms.base import Numbers, Pair, ScalarMechanism, Scalars
from simulator.mechanisms.free import Free, smallest
from simulator.mechanisms.values import NO_LOSS, check_noise, checked_vectors, is_number
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.gaussian import GaussianLaw

# params: value 0, value 1, sigma, middle of the values, slope of the loss
# tilted: psi, mean


def _prepare(row: Numbers, sigma: float, params: Any) -> None:
    value_0, value_1 = row[0], row[1]
    params[0] = value_0
    params[1] = value_1
    params[2] = sigma
    params[3] = 0.5 * (value_0 + value_1)
    params[4] = (value_0 - value_1) / (sigma * sigma)


def _sample(params: Numbers, b: int, noise: np.random.Generator) -> float:
    return params[b] + params[2] * noise.standard_normal()


def _loss(params: Numbers, answer: float) -> float:
    return params[4] * (answer - params[3])


def _tilt(params: Numbers, theta: float, tilted: Any) -> None:
    mu = (params[0] - params[1]) / params[2]
    tilted[0] = 0.5 * theta * (1.0 + theta) * mu * mu
    tilted[1] = params[0] + theta * (params[0] - params[1])


def _sample_tilted(params: Numbers, tilted: Numbers, noise: np.random.Generator) -> float:
    return tilted[1] + params[2] * noise.standard_normal()


STRIPS = 128
"""Strips of equal probability into which a piece is divided; a power of two."""
LEAST_DIVIDED = 1e-2
"""Least probability of a piece that is divided, so that the ends of its strips are accurate."""

# piece: ln mass, mean, the sign that reflects back, whether it is divided into strips, and the ends
# of the strips (of the whole piece, in the first two places, where it is not divided), in standard
# deviations from the mean; reflected so that the upper end is the farther one


NARROW = 1e-5
"""The width of a part, times its distance from the mean where that is above 1, below which its mass
is its width times the density in its middle."""
_LOG_ROOT = 0.5 * math.log(2.0 * math.pi)


def log_normal_between(low: float, high: float) -> float:
    """Return ln Pr[low < z < high] of a standard normal z, accurate in both tails."""
    if low < 0.0 < high:
        return math.log(0.5 * (math.erf(high * math.sqrt(0.5)) + math.erf(-low * math.sqrt(0.5))))
    near, far = min(abs(low), abs(high)), max(abs(low), abs(high))
    if not near < far:
        return -math.inf
    if (far - near) * max(near, 1.0) < NARROW:  # the difference of two tails would lose digits
        return math.log(far - near) - 0.5 * (0.5 * (near + far)) ** 2 - _LOG_ROOT
    upper, beyond = float(scipy.special.log_ndtr(-near)), float(scipy.special.log_ndtr(-far))
    return upper + math.log(-math.expm1(beyond - upper))


def _piece(params: Any, theta: float, low: float, high: float, piece: Any) -> None:
    mu = (params[0] - params[1]) / params[2]
    mean = params[0] + theta * (params[0] - params[1])
    a, b = (low - mean) / params[2], (high - mean) / params[2]
    sign = 1.0
    if -a > b:
        a, b, sign = -b, -a, -1.0
    share = log_normal_between(a, b)
    piece[0] = 0.5 * theta * (1.0 + theta) * mu * mu + share
    piece[1], piece[2] = mean, sign
    piece[3] = 1.0 if share > math.log(LEAST_DIVIDED) else 0.0
    piece[4], piece[5] = a, b
    if piece[3]:
        above = (
            math.exp(float(scipy.special.log_ndtr(-a)))
            - math.exp(share) * np.arange(1, STRIPS) / STRIPS
        )
        piece[5 : 4 + STRIPS] = -scipy.special.ndtri(above)
        piece[4 + STRIPS] = b


def _sample_piece(params: Any, pieces: Any, row: int, noise: np.random.Generator) -> float:
    place, strip = noise.random(), 0
    if pieces[row, 3] > 0.0:
        place *= STRIPS
        strip = int(place)
        place -= strip
    a, b = pieces[row, 4 + strip], pieces[row, 5 + strip]
    least = max(a, -b, 0.0)  # the distance from the mean
    # a truncated normal by rejection, with the proposal that fits the part (Robert 1995)
    z, kept = 0.0, False
    while not kept:
        if (b - a) * least < 2.0:  # flat enough for a uniform proposal
            z = a + (b - a) * place
            fall = 0.5 * (z * z - least * least)
        else:
            rate = 0.5 * (least + math.sqrt(least * least + 4.0))
            far = least + noise.standard_exponential() / rate
            z = far if a + b > 0.0 else -far
            fall = 0.5 * (far - rate) * (far - rate) if a < z < b else math.inf
        u = noise.random()
        kept = u <= 1.0 - fall or u <= math.exp(-fall)
        if not kept:
            place = noise.random()
    return float(pieces[row, 1] + params[2] * pieces[row, 2] * z)


GAUSSIAN = Scalars(
    name="Gaussian",
    width=lambda row: 5,
    prepare=_prepare,
    sample=_sample,
    loss=_loss,
    tilt_width=lambda params: 2,
    tilt=_tilt,
    sample_tilted=_sample_tilted,
    piece_width=5 + STRIPS,
    piece=_piece,
    sample_piece=_sample_piece,
)


@dataclass(frozen=True, slots=True)
class Gaussian(ScalarMechanism):
    """The query's value plus Gaussian noise of standard deviation ``sigma``.

    Parameters
    ----------
    query : real-valued, or vector-valued with its L2 sensitivity.
    sigma : > 0, in the query's units; or ``Free`` in a rule's menu.

    The answer is a float, or a float64 array of the query's shape with independent noise.
    mu-GDP with mu = sensitivity/sigma (Dong, Roth, Su 2022, Theorem 2.7), which is its exact
    (epsilon, delta) curve (Balle and Wang 2018, Theorem 8).

    >>> from simulator import Gaussian, counting_query
    >>> mechanism = Gaussian(counting_query("alice"), sigma=4.0)
    >>> mechanism.guarantee()
    GaussianDP(mu=0.25)
    """

    query: Query
    sigma: float | Free

    scalars: ClassVar[Scalars] = GAUSSIAN
    parameter_name: ClassVar[str] = "sigma"

    def __post_init__(self) -> None:
        check_noise("Gaussian", self.query, "sigma", self.sigma)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> GaussianDP:
        """mu-GDP at the largest mu that the parameter allows."""
        return GaussianDP(self.query.l2_sensitivity(relation) / smallest(self.sigma))

    def row(self, value_0: Any, value_1: Any, relation: Relation) -> tuple[float, ...]:
        """(value 0, value 1)."""
        return float(value_0), float(value_1)

    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> Pair:
        """The two output distributions; vector-valued where the query is."""
        value_0, value_1 = checked_values(self.query, database_0, database_1, relation)
        if is_number(value_0):
            return self.scalar_pair(self.row(value_0, value_1, relation))
        value_0, value_1 = np.asarray(value_0, dtype=float), np.asarray(value_1, dtype=float)
        return VectorGaussianPair(value_0, value_1, self.fixed_parameter())

    def law(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> PrivacyLossLaw:
        """The Gaussian privacy-loss law at this pair's shift."""
        value_0, value_1 = checked_vectors(self.query, database_0, database_1, relation)
        shift = math.hypot(*(value_0 - value_1).ravel())
        return GaussianLaw(shift / self.fixed_parameter()) if shift > 0 else NO_LOSS


class VectorGaussianPair:
    """Independent Gaussian noise on every coordinate of two vectors.

    Parameters
    ----------
    value_0, value_1 : float64 arrays of one shape.
    sigma : standard deviation of the noise on each coordinate.
    """

    __slots__ = ("middle", "sigma", "slope", "values")

    def __init__(self, value_0: np.ndarray, value_1: np.ndarray, sigma: float) -> None:
        self.values = (value_0, value_1)
        self.sigma = sigma
        self.middle = 0.5 * (value_0 + value_1)
        self.slope = (value_0 - value_1) / (sigma * sigma)

    def sample(self, b: int, noise: np.random.Generator) -> np.ndarray:
        """Draw one answer, an array of the query's shape."""
        value = self.values[b]
        return value + self.sigma * noise.standard_normal(value.shape)

    def loss(self, answer: np.ndarray) -> float:
        """Privacy loss, linear in the answer."""
        return float(np.vdot(self.slope, answer - self.middle))
