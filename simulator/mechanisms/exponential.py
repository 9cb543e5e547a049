"""The exponential mechanism over a finite range of candidates."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries import Query
from simulator.mechanisms.base import ScalarMechanism, Scalars
from simulator.mechanisms.finite import FINITE
from simulator.mechanisms.free import Free, check_parameter, largest
from simulator.mechanisms.values import candidates, check_query
from simulator.theory.guarantees.bounded_range import BoundedRange
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.finite import FiniteLaw

# row: n, scores on database 0, scores on database 1, sensitivity
# params: as a finite table


def _prepare(row: Any, epsilon: float, params: Any) -> None:
    n = int(row[0])
    params[0] = row[0]
    weight = 0.5 * epsilon / row[1 + 2 * n]
    log_total_0 = 0.0
    best_0 = row[1]
    for b in range(2):
        start = 1 + b * n  # of the scores in the row, and of the cumulated probabilities
        best = row[start]
        for i in range(1, n):
            best = max(best, row[start + i])
        total = 0.0
        for i in range(n):
            total += math.exp(weight * (row[start + i] - best))
        running = 0.0
        for i in range(n):
            p = math.exp(weight * (row[start + i] - best)) / total
            running += p
            params[start + i] = running
            if b == 0:
                params[1 + 3 * n + i] = p
        params[start + n - 1] = 1.0
        log_total = math.log(total)
        if b == 0:
            log_total_0 = log_total
            best_0 = best
        else:
            for i in range(n):  # scores relative to the best, for large ones cancel
                difference = (row[1 + i] - best_0) - (row[1 + n + i] - best)
                params[1 + 2 * n + i] = weight * difference - log_total_0 + log_total


EXPONENTIAL = replace(FINITE, name="exponential", prepare=_prepare)


@dataclass(frozen=True, slots=True)
class Exponential(ScalarMechanism):
    """Choose a candidate with probability proportional to e^{epsilon score/(2 sensitivity)}.

    Parameters
    ----------
    query : vector of scores, one per candidate; its sensitivity is that of a single score.
    epsilon : > 0; or ``Free`` in a rule's menu.

    The answer is the candidate's index, as a float. epsilon-DP (McSherry and Talwar 2007), and
    epsilon-bounded-range (Durfee and Rogers 2019), which implies it.

    >>> from simulator import Database
    >>> from simulator.data import counting_scores
    >>> from simulator.mechanisms import Exponential
    >>> best = Exponential(counting_scores(["tea", "coffee"]), epsilon=1.0)
    >>> best.probabilities(Database({"tea": 3, "coffee": 5})).round(4).tolist()
    [0.2689, 0.7311]
    """

    query: Query
    epsilon: float | Free

    scalars: ClassVar[Scalars] = EXPONENTIAL

    def __post_init__(self) -> None:
        check_query("exponential", self.query)
        check_parameter("epsilon", self.epsilon)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> BoundedRange:
        """epsilon-bounded range."""
        return BoundedRange(largest(self.epsilon))

    def row(self, value_0: Any, value_1: Any, relation: Relation) -> tuple[float, ...]:
        """(candidates, scores 0..., scores 1..., sensitivity)."""
        first, second = (candidates("exponential", value) for value in (value_0, value_1))
        return (
            float(len(first)),
            *first.tolist(),
            *second.tolist(),
            self.query.sensitivity(relation),
        )

    def law(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> PrivacyLossLaw:
        """The exact finite law of the loss."""
        return FiniteLaw.from_log_probabilities(
            self._log_probabilities(database_0, relation),
            self._log_probabilities(database_1, relation),
        )

    def probabilities(self, database: Database, relation: Relation = ADD_REMOVE) -> np.ndarray:
        """Each candidate's probability on ``database``, shape (candidates,)."""
        found: np.ndarray = np.exp(self._log_probabilities(database, relation))
        return found

    def _log_probabilities(self, database: Database, relation: Relation) -> np.ndarray:
        scores = candidates("exponential", self.query(database))
        weight = self.fixed_parameter() / (2.0 * self.query.sensitivity(relation))
        powers = weight * (scores - scores.max())
        logs: np.ndarray = powers - np.log(np.exp(powers).sum())
        return logs
