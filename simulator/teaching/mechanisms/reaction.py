"""A report that repeats what another site has learned: a count on devices that react to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from simulator.data.databases import ADD_REMOVE, Relation
from simulator.data.queries import Query
from simulator.mechanisms import ScalarMechanism
from simulator.mechanisms.base import Scalars
from simulator.mechanisms.finite import FINITE, table_row
from simulator.theory.guarantees.pure import PureDP


def echo(epsilon: float, buyers: int) -> tuple[np.ndarray, np.ndarray]:
    """The law of a report on ``buyers`` other devices, which buy if another site's answer is 1.

    Both answers are geometric with parameter ``epsilon``, the second on 0..buyers. Two vectors:
    the first without the device of the first answer, the second with it.
    """
    y = np.arange(buyers + 1)
    ratio = math.exp(-epsilon)
    report = np.where(y < buyers, (1.0 - ratio) * ratio**y, ratio**y) / (1.0 + ratio)
    report[0] = 1.0 / (1.0 + ratio)
    one = 1.0 / (1.0 + math.exp(epsilon))
    return (1.0 - one) * report + one * report[::-1], one * report + (1.0 - one) * report[::-1]


@dataclass(frozen=True)
class Reaction(ScalarMechanism):
    """One site's report on devices that react to the answer that another site received.

    ``query`` counts the device; ``epsilon`` is that of either report; for ``buyers`` see
    :func:`echo`. The answer is a count. By post-processing of the other site's answer it is
    epsilon-DP.
    """

    query: Query
    epsilon: float
    buyers: int

    scalars: ClassVar[Scalars] = FINITE

    def guarantee(self, relation: Relation = ADD_REMOVE) -> PureDP:
        """That of the other site's report."""
        return PureDP(self.epsilon)

    def row(self, value_0: Any, value_1: Any, relation: Relation) -> tuple[float, ...]:
        """The laws of the count."""
        laws = echo(self.epsilon, self.buyers)
        return table_row(laws[int(value_0)], laws[int(value_1)])
