"""Randomized response of everybody, the reports in random order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from simulator.data.databases import ADD_REMOVE, Relation
from simulator.data.queries import Query
from simulator.foundations.errors import InvalidInput
from simulator.mechanisms.finite import FiniteMechanism
from simulator.mechanisms.values import check_query, real
from simulator.theory.guarantees.shuffled import ShuffledDP

_REACH = 12.0  # deviations: beyond, probabilities are below 1e-30 for many reports
_MOST = 10**5


@dataclass(frozen=True, slots=True)
class ShuffledResponse(FiniteMechanism):
    """Randomized response of each record, and only the number of reports that show 1 is seen.

    Parameters
    ----------
    query : counts the records whose bit is 1.
    epsilon : > 0, of one report.
    reports : the number of records, at most 10^5.

    In random order reports of 0 and 1 show their number and no more. The answer is that number less
    the least one that is shown, as a float. Counts beyond 12 deviations and 12 are shown as the
    nearest that is not: ``middle`` is the answer nearest to the mean. Neighbours are those of
    replace-one, where the number of records is known.

    >>> from simulator import Database, counting_query
    >>> from simulator.data import REPLACE_ONE
    >>> from simulator.teaching.mechanisms import ShuffledResponse
    >>> mechanism = ShuffledResponse(counting_query("yes"), 1.0, 400)
    >>> everyone = Database({"no": 400})
    >>> law = mechanism.law(everyone, everyone.replace("no", "yes"), REPLACE_ONE)
    >>> round(law.delta(0.1), 6)
    0.002
    """

    query: Query
    epsilon: float
    reports: int

    def __post_init__(self) -> None:
        check_query("shuffled response", self.query)
        ShuffledDP(self.epsilon, self.reports)
        if not self.epsilon > 0.0 or self.reports > _MOST:
            raise InvalidInput(
                f"shuffled response needs an epsilon above 0 and at most {_MOST} reports, not "
                f"{self.epsilon!r} and {self.reports!r}"
            )

    def guarantee(self, relation: Relation = ADD_REMOVE) -> ShuffledDP:
        """So many shuffled reports of this epsilon; of none more than one record's."""
        return ShuffledDP(self.epsilon, self.reports)

    @property
    def middle(self) -> int:
        """The answer nearest to the mean number of ones."""
        truth = 1.0 / (1.0 + math.exp(-self.epsilon))
        return math.ceil(_REACH * (1.0 + math.sqrt(self.reports * truth * (1.0 - truth))))

    def probabilities(
        self, value_0: Any, value_1: Any, relation: Relation
    ) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities of the numbers of ones, where so many records have bit 1."""
        ones = [int(real("shuffled response", value)) for value in (value_0, value_1)]
        if not all(0 <= v <= self.reports for v in ones) or abs(ones[0] - ones[1]) > 1:
            raise InvalidInput(
                f"of {self.reports} records, one of which may change, {value_0!r} and "
                f"{value_1!r} cannot have bit 1"
            )
        first, second = (self._window(v, min(ones)) for v in ones)
        return first, second

    def _window(self, ones: int, near: int) -> np.ndarray:
        """The law of the count around its mean for ``near`` ones, the ends with what is beyond."""
        truth = 1.0 / (1.0 + math.exp(-self.epsilon))
        lie, n = math.exp(-self.epsilon) * truth, self.reports
        counts = np.arange(n + 1)
        law = np.convolve(
            stats.binom.pmf(counts[: ones + 1], ones, truth),
            stats.binom.pmf(counts[: n - ones + 1], n - ones, lie),
        )
        centre = round(near * truth + (n - near) * lie)
        kept = np.clip(counts - centre + self.middle, 0, 2 * self.middle)
        return np.bincount(kept, weights=law / math.fsum(law), minlength=2 * self.middle + 1)
