"""The leaky randomized response: the dominating pair of (epsilon, delta)-DP."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.data.databases import ADD_REMOVE, Relation
from simulator.data.queries import Query
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import positive, probability_below_one
from simulator.mechanisms.finite import FiniteMechanism
from simulator.mechanisms.randomized_response import bits
from simulator.mechanisms.values import check_query
from simulator.theory.guarantees.pure import ApproxDP

REVEALS_ZERO, SAYS_ZERO, SAYS_ONE, REVEALS_ONE = range(4)
"""The four answers: the bit in the clear, or a randomized response about it."""


@dataclass(frozen=True, slots=True)
class LeakyRandomizedResponse(FiniteMechanism):
    """Reveal the bit in the clear with probability delta, else answer by randomized response.

    Parameters
    ----------
    query : takes the values 0 and 1 only.
    epsilon : > 0.
    delta : in [0, 1).

    The answer is one of 0 (reveals 0), 1 (says 0), 2 (says 1), 3 (reveals 1), as a float.
    (epsilon, delta)-DP, and the pair that dominates every such mechanism (Kairouz, Oh,
    Viswanath 2015, Theorem 2.2). The loss of a revealing answer is infinite.

    >>> from simulator import counting_query
    >>> from simulator.mechanisms import LeakyRandomizedResponse
    >>> LeakyRandomizedResponse(counting_query("alice"), epsilon=0.5, delta=1e-3).guarantee()
    ApproxDP(epsilon=0.5, delta=0.001)
    """

    query: Query
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check_query("leaky randomized response", self.query)
        if math.exp(-positive("epsilon", self.epsilon)) < 1e-300:
            raise InvalidInput(
                f"epsilon = {self.epsilon:g} leaves a lie no probability that a float can hold; "
                "stay below 690"
            )
        probability_below_one("delta", self.delta)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> ApproxDP:
        """(epsilon, delta)-DP."""
        return ApproxDP(self.epsilon, self.delta)

    def probabilities(
        self, value_0: Any, value_1: Any, relation: Relation
    ) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities of the four answers for two bits."""
        truth = (1.0 - self.delta) / (1.0 + math.exp(-self.epsilon))
        lie = math.exp(-self.epsilon) * truth
        on_zero = np.array([self.delta, truth, lie, 0.0])
        first, second = (
            on_zero[::-1] if bit else on_zero
            for bit in bits("leaky randomized response", value_0, value_1)
        )
        return first, second
