"""The Laplace mechanism, for a real-valued or a vector-valued query."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries import Query, ScalarQuery
from simulator.data.queries.kept import checked_values
from simulator.foundations.errors import NotApplicable
from simulator.mechanisms.base import Numbers, Pair, ScalarMechanism, Scalars
from simulator.mechanisms.free import Free, largest
from simulator.mechanisms.values import NO_LOSS, check_noise, checked_vectors, is_number
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.laplace import LaplaceLaw

# params: value 0, value 1, scale b, middle of the values, half their distance, slope of the loss


def _prepare(row: Numbers, epsilon: float, params: Any) -> None:
    value_0, value_1, sensitivity = row[0], row[1], row[2]
    direction = (1.0 if value_0 > value_1 else 0.0) - (1.0 if value_0 < value_1 else 0.0)
    params[0] = value_0
    params[1] = value_1
    params[2] = sensitivity / epsilon
    params[3] = 0.5 * (value_0 + value_1)
    params[4] = 0.5 * abs(value_0 - value_1)
    params[5] = 2.0 * direction * epsilon / sensitivity


def _sample(params: Numbers, b: int, noise: np.random.Generator) -> float:
    # a product with the sign, as a branch would be mispredicted in every second round
    magnitude = params[2] * noise.standard_exponential()
    return params[b] + magnitude * (1.0 if noise.random() < 0.5 else -1.0)


def _loss(params: Numbers, answer: float) -> float:
    # (|y - v1| - |y - v0|)/b is linear between the two values and constant outside; clamping
    # first keeps the loss of a far answer at exactly +-epsilon.
    place, half = answer - params[3], params[4]
    # one clamp after the other: nested they compile to branches, which halve a rule's rate
    place = -half if place < -half else place
    return params[5] * (half if place > half else place)


# tilted: psi, P(before), P(before or between), steepness, e^{-steepness shift} - 1, shift,
# the value from which places are counted, and the signed scale of a place


def _tilt(params: Numbers, theta: float, tilted: Any) -> None:
    # With v0 at 0, v1 at s > 0 and b = 1 the tilted density is proportional to e^{theta s + y}
    # before 0, e^{theta s - kappa y} between, and e^{-theta s - y} after s; kappa = 1 + 2 theta.
    # For kappa < 0 places are counted from v1 backwards, so that every factor is at most 1.
    shift = 2.0 * params[4] / params[2]
    kappa = 1.0 + 2.0 * theta
    steep = abs(kappa)
    fall = math.expm1(-steep * shift)
    before, after = 0.5, 0.5 * math.exp(-steep * shift)
    middle = 0.5 * (-fall / steep if steep > 0.0 else shift)
    total = before + middle + after
    peak = theta * shift if kappa >= 0.0 else -(1.0 + theta) * shift
    forward = 1.0 if params[0] <= params[1] else -1.0
    tilted[0] = peak + math.log(total)
    tilted[1] = before / total
    tilted[2] = (before + middle) / total
    tilted[3] = steep
    tilted[4] = fall
    tilted[5] = shift
    tilted[6] = params[0] if kappa >= 0.0 else params[1]
    tilted[7] = params[2] * (forward if kappa >= 0.0 else -forward)


def _sample_tilted(params: Numbers, tilted: Numbers, noise: np.random.Generator) -> float:
    u = noise.random()
    far = noise.standard_exponential()
    place = -far if u < tilted[1] else tilted[5] + far
    if tilted[1] <= u < tilted[2]:
        v = (u - tilted[1]) / (tilted[2] - tilted[1])
        steep = tilted[3]
        place = -math.log1p(v * tilted[4]) / steep if steep > 1e-9 else v * tilted[5]
    return tilted[6] + tilted[7] * place


# piece: ln mass, P(before), P(before or between); for each of the three parts of the tilted law
# within the thresholds the place from which it is counted, the scale of a step, and how many steps
# it has; the thresholds


def _piece(params: Any, theta: float, low: float, high: float, piece: Any) -> None:
    # In the scale-free place z = (y - v0)/b toward v1 at z = s the tilted density is half of
    # e^{theta s + z} before 0, e^{theta s - kappa z} up to s, and e^{-theta s - z} after it.
    start, end = (low - params[0]) / params[2], (high - params[0]) / params[2]
    if params[0] > params[1]:
        start, end = -end, -start
    shift = 2.0 * params[4] / params[2]
    kappa = 1.0 + 2.0 * theta
    top, bottom = min(end, 0.0), max(start, shift)
    a, b = max(start, 0.0), min(end, shift)
    between = a if kappa > 0.0 else b
    logs = (
        theta * shift + top + _log_share(top - start),
        theta * shift - kappa * between + _log_share(abs(kappa) * (b - a)) - math.log(abs(kappa)),
        -theta * shift - bottom + _log_share(end - bottom),
    )
    peak = max(logs)
    if peak == -math.inf:
        piece[0] = peak
        return
    parts = [math.exp(log - peak) for log in logs]
    total = math.fsum(parts)
    piece[0] = peak + math.log(0.5 * total)
    piece[1], piece[2] = parts[0] / total, (parts[0] + parts[1]) / total
    piece[3], piece[4], piece[5] = top, -1.0, top - start
    piece[6], piece[7], piece[8] = between, 1.0 / kappa, abs(kappa) * (b - a)
    piece[9], piece[10], piece[11] = bottom, 1.0, end - bottom
    piece[12], piece[13] = low, high


def _log_share(width: float) -> float:
    """ln(1 - e^{-width}); -inf where there is no width."""
    return math.log(-math.expm1(-width)) if width > 0.0 else -math.inf


def _sample_piece(params: Any, pieces: Any, row: int, noise: np.random.Generator) -> float:
    u = noise.random()
    part = 3 + (3 if u >= pieces[row, 1] else 0) + (3 if u >= pieces[row, 2] else 0)
    # an exponential modulo the width is exponential within the width
    step, width = noise.standard_exponential(), pieces[row, part + 2]
    if step >= width:
        step -= width * math.floor(step / width)
    z = pieces[row, part] + pieces[row, part + 1] * step
    direction = 1.0 if params[0] <= params[1] else -1.0
    return float(min(max(params[0] + direction * params[2] * z, pieces[row, 12]), pieces[row, 13]))


LAPLACE = Scalars(
    name="Laplace",
    width=lambda row: 6,
    prepare=_prepare,
    sample=_sample,
    loss=_loss,
    tilt_width=lambda params: 8,
    tilt=_tilt,
    sample_tilted=_sample_tilted,
    piece_width=14,
    piece=_piece,
    sample_piece=_sample_piece,
)


@dataclass(frozen=True, slots=True, init=False)
class Laplace(ScalarMechanism):
    """The query's value plus Laplace noise of scale sensitivity/epsilon in each coordinate.

    Parameters
    ----------
    query : real-valued, or vector-valued with its L1 sensitivity.
    epsilon : > 0; or ``Free`` in a rule's menu.

    The answer is a float, or a float64 array of the query's shape. epsilon-DP: Dwork, McSherry,
    Nissim, Smith 2006; Zhang 2020 (lecture 7), definition of the Laplace mechanism.

    >>> from simulator import Database, Laplace, counting_query
    >>> everyone = Database({"alice": 1, "others": 399})
    >>> pair = Laplace(counting_query("alice"), 0.1).pair(everyone.remove("alice"), everyone)
    >>> [round(pair.loss(answer), 6) for answer in (-3.0, 0.25, 4.0)]
    [0.1, 0.05, -0.1]
    """

    query: Query
    epsilon: float | Free

    scalars: ClassVar[Scalars] = LAPLACE

    def __init__(self, query: Query, epsilon: float | Free) -> None:
        _set_query(self, query)
        _set_epsilon(self, epsilon)
        self.__post_init__()

    def __post_init__(self) -> None:
        check_noise("Laplace", self.query, "epsilon", self.epsilon)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> PureDP:
        """epsilon-DP."""
        return PureDP(largest(self.epsilon))

    def worst_law(self, relation: Relation = ADD_REMOVE) -> PrivacyLossLaw | None:
        """The Laplace law at the full sensitivity, for a query with one number; else None.

        It dominates the laws at smaller shifts. A vector may change in many coordinates.
        """
        if isinstance(self.query, ScalarQuery):
            return LaplaceLaw(self.guarantee(relation).epsilon)
        return None

    def row(self, value_0: Any, value_1: Any, relation: Relation) -> tuple[float, ...]:
        """(value 0, value 1, sensitivity)."""
        return float(value_0), float(value_1), self.query.sensitivity(relation)

    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> Pair:
        """The two output distributions; vector-valued where the query is."""
        value_0, value_1 = checked_values(self.query, database_0, database_1, relation)
        if is_number(value_0):
            return self.scalar_pair(self.row(value_0, value_1, relation))
        value_0, value_1 = np.asarray(value_0, dtype=float), np.asarray(value_1, dtype=float)
        scale = self.query.sensitivity(relation) / self.fixed_parameter()
        return VectorLaplacePair(value_0, value_1, scale)

    def law(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> PrivacyLossLaw:
        """The Laplace privacy-loss law at this pair's shift, for at most one changed coordinate."""
        value_0, value_1 = checked_vectors(self.query, database_0, database_1, relation)
        shifts = np.abs(value_0 - value_1).ravel()
        shifts = shifts[shifts > 0]
        if len(shifts) > 1:
            raise NotApplicable(
                f"this pair moves {len(shifts)} coordinates of {self.query.name}; the law of "
                "their summed Laplace losses has no closed form here"
            )
        scale = self.query.sensitivity(relation) / self.fixed_parameter()
        return LaplaceLaw(float(shifts[0]) / scale) if len(shifts) else NO_LOSS


# the setters of the slots: quicker than those of a frozen dataclass, as one is made in every round
_set_query, _set_epsilon = (vars(Laplace)[name].__set__ for name in ("query", "epsilon"))


class VectorLaplacePair:
    """Independent Laplace noise on every coordinate of two vectors.

    Parameters
    ----------
    value_0, value_1 : float64 arrays of one shape.
    scale : noise scale b of each coordinate.
    """

    __slots__ = ("scale", "values")

    def __init__(self, value_0: np.ndarray, value_1: np.ndarray, scale: float) -> None:
        self.values = (value_0, value_1)
        self.scale = scale

    def sample(self, b: int, noise: np.random.Generator) -> np.ndarray:
        """Draw one answer, an array of the query's shape."""
        value = self.values[b]
        return value + noise.laplace(scale=self.scale, size=value.shape)

    def loss(self, answer: np.ndarray) -> float:
        """Privacy loss, the sum of the coordinates' losses."""
        value_0, value_1 = self.values
        distance = np.abs(answer - value_1) - np.abs(answer - value_0)
        return float(distance.sum() / self.scale)
