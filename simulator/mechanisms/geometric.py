"""The geometric mechanism, for integer-valued queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries import Query
from simulator.mechanisms.base import Numbers, ScalarMechanism, Scalars
from simulator.mechanisms.free import Free, check_parameter, largest
from simulator.mechanisms.values import NO_LOSS, check_query, whole_number
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.laws import discrete
from simulator.theory.laws.base import PrivacyLossLaw

# params: value 0, value 1, rate epsilon/sensitivity, middle, half distance, slope of the loss
# tilted: psi, P(at or before value 0), P(before value 1), kappa * rate, distance


def _prepare(row: Numbers, epsilon: float, params: Any) -> None:
    value_0, value_1, sensitivity = row[0], row[1], row[2]
    direction = (1.0 if value_0 > value_1 else 0.0) - (1.0 if value_0 < value_1 else 0.0)
    params[0] = value_0
    params[1] = value_1
    params[2] = epsilon / sensitivity
    params[3] = 0.5 * (value_0 + value_1)
    params[4] = 0.5 * abs(value_0 - value_1)
    params[5] = 2.0 * direction * params[2]


def _sample(params: Numbers, b: int, noise: np.random.Generator) -> float:
    # The floor of an exponential is geometric; the difference of two is two-sided geometric.
    up = math.floor(noise.standard_exponential() / params[2])
    down = math.floor(noise.standard_exponential() / params[2])
    return params[b] + float(up - down)


def _loss(params: Numbers, answer: float) -> float:
    half = params[4]
    return params[5] * min(max(answer - params[3], -half), half)


def _tilt(params: Numbers, theta: float, tilted: Any) -> None:
    # With value 0 at 0 and value 1 at n the loss is n, n - 2z or -n (times the rate) at z <= 0,
    # 0 < z < n, z >= n. Relative to the first piece the others carry e^{-turn z}.
    rate = params[2]
    distance = 2.0 * params[4]
    turn = (1.0 + 2.0 * theta) * rate
    steep = abs(turn)
    end = -math.log(-math.expm1(-rate))
    count = max(distance - 1.0, 0.0)  # of places between the values; e^{-steep j} over j = 1..count
    peak = theta * distance * rate
    before = math.exp(end)
    after = math.exp(end - steep * distance)
    middle = count
    if steep > 0.0:
        middle = math.exp(-steep) * math.expm1(-steep * count) / math.expm1(-steep)
    if turn < 0.0:
        before, after = after, before
        peak = -(1.0 + theta) * distance * rate
    if distance < 0.5:  # one value: z <= 0 and z > 0 around it
        after = math.exp(end - rate)
    total = before + middle + after
    tilted[0] = peak + math.log(total) + math.log(math.tanh(0.5 * rate))
    tilted[1] = before / total
    tilted[2] = (before + middle) / total
    tilted[3] = turn
    tilted[4] = distance


def _sample_tilted(params: Numbers, tilted: Numbers, noise: np.random.Generator) -> float:
    u = noise.random()
    rate, turn, distance = params[2], tilted[3], tilted[4]
    if u < tilted[1]:
        place = -float(math.floor(noise.standard_exponential() / rate))
    elif u >= tilted[2]:
        first = max(distance, 1.0)  # where both values agree, z = 0 belongs to the first piece
        place = first + float(math.floor(noise.standard_exponential() / rate))
    else:
        count = distance - 1.0
        v = noise.random()
        steep = abs(turn)
        if steep < 1e-12:
            place = 1.0 + math.floor(v * count)
        else:
            place = 1.0 + math.floor(-math.log1p(v * math.expm1(-steep * count)) / steep)
        place = min(place, count)
        if turn < 0.0:
            place = distance - place
    direction = 1.0 if params[0] <= params[1] else -1.0
    return params[0] + direction * place


# piece: ln mass, P(before), P(before or between), then rate, first and last offset of each part


def _piece(params: Any, theta: float, low: float, high: float, piece: Any) -> None:
    # Offsets z from value 0 toward value 1 at z = n have the tilted masses tanh(rate/2) times
    # e^{theta n rate + rate z} up to 0, e^{theta n rate - turn z} between, and
    # e^{-theta n rate - rate z} from n on, all of them geometric.
    start, end = low - params[0], high - params[0]
    if params[0] > params[1]:
        start, end = -end, -start
    first = float(math.ceil(start)) if start > -math.inf else start
    last = float(math.floor(end)) if end < math.inf else end
    rate, n = params[2], 2.0 * params[4]
    parts = (
        (theta * n * rate, -rate, first, min(last, 0.0)),
        (theta * n * rate, (1.0 + 2.0 * theta) * rate, max(first, 1.0), min(last, n - 1.0)),
        (-theta * n * rate, rate, max(first, n, 1.0), last),
    )
    logs = [at + _log_geometric(decay, a, b) for at, decay, a, b in parts]
    peak = max(logs)
    if peak == -math.inf:
        piece[0] = peak
        return
    shares = [math.exp(log - peak) for log in logs]
    total = math.fsum(shares)
    piece[0] = peak + math.log(total) + math.log(math.tanh(0.5 * rate))
    piece[1], piece[2] = shares[0] / total, (shares[0] + shares[1]) / total
    for place, (_, decay, a, b) in enumerate(parts):
        piece[3 + 3 * place], piece[4 + 3 * place], piece[5 + 3 * place] = decay, a, b


def _log_geometric(rate: float, first: float, last: float) -> float:
    """The logarithm of the sum of e^{-rate z} over z = first, ..., last; rate of either sign."""
    if last < first:
        return -math.inf
    count, steep = last - first + 1.0, abs(rate)
    if steep * count < 1e-12:
        return math.log(count)
    peak = -rate * (first if rate > 0.0 else last)
    return peak + math.log(-math.expm1(-steep * count)) - math.log(-math.expm1(-steep))


def _sample_piece(params: Any, pieces: Any, row: int, noise: np.random.Generator) -> float:
    u = noise.random()
    if u < pieces[row, 1]:
        rate, first, last = pieces[row, 3], pieces[row, 4], pieces[row, 5]
    elif u < pieces[row, 2]:
        rate, first, last = pieces[row, 6], pieces[row, 7], pieces[row, 8]
    else:
        rate, first, last = pieces[row, 9], pieces[row, 10], pieces[row, 11]
    count = last - first + 1.0
    steep = abs(rate)
    v = noise.random()
    if steep * count < 1e-12:
        far = math.floor(v * count)
    else:
        far = math.floor(-math.log1p(v * math.expm1(-steep * count)) / steep)
    far = min(far, count - 1.0)
    place = first + far if rate > 0.0 else last - far
    direction = 1.0 if params[0] <= params[1] else -1.0
    return float(params[0] + direction * place)


GEOMETRIC = Scalars(
    name="geometric",
    width=lambda row: 6,
    prepare=_prepare,
    sample=_sample,
    loss=_loss,
    tilt_width=lambda params: 5,
    tilt=_tilt,
    sample_tilted=_sample_tilted,
    piece_width=12,
    piece=_piece,
    sample_piece=_sample_piece,
    whole=True,
)


@dataclass(frozen=True, slots=True)
class Geometric(ScalarMechanism):
    """The query's integer value plus two-sided geometric noise, Pr[z] ~ e^{-epsilon|z|/sens}.

    Parameters
    ----------
    query : integer-valued.
    epsilon : > 0; or ``Free`` in a rule's menu.

    The answer is a whole number (as a float). epsilon-DP; at sensitivity 1 its privacy loss is
    that of randomized response (Ghosh, Roughgarden, Sundararajan 2009).

    >>> from simulator import Database, counting_query
    >>> from simulator.mechanisms import Geometric
    >>> everyone = Database({"alice": 1, "others": 399})
    >>> pair = Geometric(counting_query("alice"), 0.5).pair(everyone.remove("alice"), everyone)
    >>> [round(pair.loss(answer), 6) for answer in (-3.0, 0.0, 1.0)]
    [0.5, 0.5, -0.5]
    """

    query: Query
    epsilon: float | Free

    scalars: ClassVar[Scalars] = GEOMETRIC

    def __post_init__(self) -> None:
        check_query("Geometric", self.query)
        check_parameter("epsilon", self.epsilon)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> PureDP:
        """epsilon-DP."""
        return PureDP(largest(self.epsilon))

    def row(self, value_0: Any, value_1: Any, relation: Relation) -> tuple[float, ...]:
        """(value 0, value 1, sensitivity)."""
        first, second = (
            whole_number("geometric", value, instead="Laplace") for value in (value_0, value_1)
        )
        return first, second, self.query.sensitivity(relation)

    def law(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> PrivacyLossLaw:
        """The finite law on the losses (n - 2j) epsilon/sensitivity, j = 0..n."""
        distance = round(abs(float(self.query(database_0)) - float(self.query(database_1))))
        rate = self.fixed_parameter() / self.query.sensitivity(relation)
        return discrete.discrete_laplace(rate, distance) if distance else NO_LOSS
