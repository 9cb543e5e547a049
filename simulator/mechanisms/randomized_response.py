"""Randomized response on one person's bit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries import Query
from simulator.foundations.errors import InvalidInput
from simulator.mechanisms.base import Numbers, ScalarMechanism, Scalars
from simulator.mechanisms.free import Free, check_parameter, largest
from simulator.mechanisms.values import NO_LOSS, check_query, real
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.laws import extremal
from simulator.theory.laws.base import PrivacyLossLaw

# params: bit 0, bit 1, probability of the truth, loss of answer 1, probability of the lie
# tilted: psi, probability of answer 1


def _prepare(row: Numbers, epsilon: float, params: Any) -> None:
    params[0] = row[0]
    params[1] = row[1]
    params[2] = 1.0 / (1.0 + math.exp(-epsilon))
    params[3] = epsilon * (row[0] - row[1])
    params[4] = math.exp(-epsilon) * params[2]  # 1 - truth would lose digits


def _sample(params: Numbers, b: int, noise: np.random.Generator) -> float:
    # arithmetic, as a branch would be mispredicted in every second round
    lie = 0.0 if noise.random() < params[2] else 1.0
    return abs(params[b] - lie)


def _loss(params: Numbers, answer: float) -> float:
    return params[3] * (2.0 * answer - 1.0)


def _tilt(params: Numbers, theta: float, tilted: Any) -> None:
    loss = params[3]  # of answer 1; answer 0 has the opposite
    truth, lie = params[2], params[4]
    one, zero = (truth, lie) if params[0] > 0.5 else (lie, truth)
    size = abs(theta * loss)
    plus = one * math.exp(theta * loss - size)
    minus = zero * math.exp(-theta * loss - size)
    tilted[0] = size + math.log(plus + minus)
    tilted[1] = plus / (plus + minus)


def _sample_tilted(params: Numbers, tilted: Numbers, noise: np.random.Generator) -> float:
    return 1.0 if noise.random() < tilted[1] else 0.0


def _mass(params: Numbers, b: int, answer: float) -> float:
    return float(params[2] if answer == params[b] else params[4])


RANDOMIZED_RESPONSE = Scalars(
    name="randomized response",
    width=lambda row: 5,
    prepare=_prepare,
    sample=_sample,
    loss=_loss,
    tilt_width=lambda params: 2,
    tilt=_tilt,
    sample_tilted=_sample_tilted,
    outcomes=lambda params: (0.0, 1.0),
    mass=_mass,
)


@dataclass(frozen=True, slots=True)
class RandomizedResponse(ScalarMechanism):
    """Answer the query's bit truthfully with probability e^epsilon/(1+e^epsilon), else lie.

    Parameters
    ----------
    query : takes the values 0 and 1 only, e.g. a count of one person.
    epsilon : > 0; or ``Free`` in a rule's menu.

    The answer is 0.0 or 1.0. epsilon-DP, and the dominating pair of every epsilon-DP mechanism
    (Kairouz, Oh, Viswanath 2015, Theorem 2.2); Warner 1965; Zhang 2020 (lecture 7).

    >>> from simulator import Database, RandomizedResponse, counting_query
    >>> everyone = Database({"alice": 1, "others": 399})
    >>> mechanism = RandomizedResponse(counting_query("alice"), 0.2)
    >>> pair = mechanism.pair(everyone.remove("alice"), everyone)
    >>> [round(pair.loss(bit), 6) for bit in (0.0, 1.0)]
    [0.2, -0.2]
    """

    query: Query
    epsilon: float | Free

    scalars: ClassVar[Scalars] = RANDOMIZED_RESPONSE

    def __post_init__(self) -> None:
        check_query("randomized response", self.query)
        check_parameter("epsilon", self.epsilon)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> PureDP:
        """epsilon-DP."""
        return PureDP(largest(self.epsilon))

    def row(self, value_0: Any, value_1: Any, relation: Relation) -> tuple[float, ...]:
        """(bit 0, bit 1)."""
        return bits("randomized response", value_0, value_1)

    def law(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> PrivacyLossLaw:
        """Losses +-epsilon, or no loss where the two bits agree."""
        if self.query(database_0) == self.query(database_1):
            return NO_LOSS
        return extremal.randomized_response(self.fixed_parameter())


def bits(mechanism: str, value_0: Any, value_1: Any) -> tuple[float, float]:
    """Return the two values as floats; raise InvalidInput unless each is 0 or 1."""
    for value in (value_0, value_1):
        if real(mechanism, value) not in (0, 1):
            raise InvalidInput(
                f"{mechanism} answers a query with value 0 or 1, this one gave {value!r}; "
                "count a single person, or use Laplace"
            )
    return float(value_0), float(value_1)
