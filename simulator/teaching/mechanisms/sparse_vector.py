"""The sparse vector technique, query by query: which queries pass one noisy threshold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries import Query
from simulator.data.queries.kept import checked_values
from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.foundations.validation import finite, positive
from simulator.mechanisms.base import ScalarPair
from simulator.mechanisms.interactive_mechanism import InteractiveMechanism, finite_answers
from simulator.mechanisms.quadrature import REACH, log_of_integral
from simulator.mechanisms.values import check_query, is_number
from simulator.theory.guarantees.pure import PureDP

FARTHEST = 200.0
"""Largest margin in scales of the wider noise; beyond, an answer is almost sure."""

RATIOS = (1e-3, 1e9)
"""Least and largest query_scale/threshold_scale, between which floats resolve either noise."""

_Marks = tuple[tuple[float, bool], ...]
"""The queries that were compared with one noisy threshold, sorted: (margin, above)."""


class SparseState(NamedTuple):
    """What was said: its order does not matter, as queries are independent given the threshold.

    Attributes
    ----------
    database_0, database_1, relation : as they were opened.
    marks_0, marks_1 : on either database, since the threshold was drawn.
    left : how many more answers above there may be.
    """

    database_0: Database
    database_1: Database
    relation: Relation
    marks_0: _Marks
    marks_1: _Marks
    left: float


@dataclass(frozen=True, kw_only=True)
class SparseVector(InteractiveMechanism):
    """Answer for each query whether it passes a noisy threshold, and stop after some that do.

    Parameters
    ----------
    epsilon : the guarantee that is claimed for the whole conversation, > 0.
    threshold : public, in the queries' units.
    sensitivity : the largest that a query may have.
    most : answers above after which the conversation is over; None: it never is.
    threshold_scale, query_scale : of the Laplace noise of the threshold, which is drawn once, and
        of each query; by default 2 sensitivity/epsilon and 4 ``most`` sensitivity/epsilon, with
        which the claim is true for any number of queries (Lyu, Su and Li 2017, Algorithm 1; with
        ``most`` = 1 it is :class:`~simulator.mechanisms.AboveThreshold`).
    queries, longest : the messages that the search may send, and most messages in all (None: no
        end, so no search).

    A message is a query; its answer is 1.0 above and 0.0 below. Probabilities are computed by
    quadrature over the threshold's noise, given all answers before, to about 1e-12. A query_scale
    below 1e-3 threshold scales, or above 1e9, is refused. A message
    takes time in proportion to the messages before it.
    """

    epsilon: float
    threshold: float = 0.0
    sensitivity: float = 1.0
    most: int | None = 1
    threshold_scale: float | None = None
    query_scale: float | None = None
    queries: tuple[Query, ...] = ()
    longest: int | None = None

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        finite("threshold", self.threshold)
        positive("sensitivity", self.sensitivity)
        object.__setattr__(self, "queries", tuple(self.queries))
        for query in self.queries:
            check_query("a sparse vector", query)
        for name, number in (("most", self.most), ("longest", self.longest)):
            if number is not None and not (isinstance(number, int) and number >= 1):
                raise InvalidInput(f"{name} is a whole number from 1, or None, not {number!r}")
        if self.most is None and self.query_scale is None:
            raise InvalidInput("a sparse vector that never stops needs a query_scale")
        for scale in self.scales:
            positive("the scale of a sparse vector's noise", scale)
        if not RATIOS[0] <= self._ratio <= RATIOS[1]:
            raise InvalidInput(
                f"a sparse vector has a query_scale of {RATIOS[0]:g} to {RATIOS[1]:g} threshold "
                f"scales, not {self._ratio:g}"
            )

    @property
    def scales(self) -> tuple[float, float]:
        """Of the noise of the threshold, and of each query."""
        unit = 2.0 * self.sensitivity / self.epsilon
        of_threshold = unit if self.threshold_scale is None else self.threshold_scale
        if self.query_scale is not None:
            return of_threshold, self.query_scale
        return of_threshold, 2.0 * unit * (self.most or 1)

    @property
    def _ratio(self) -> float:
        """The scale of a query's noise, in scales of the threshold's."""
        return float(self.scales[1] / self.scales[0])

    def guarantee(self, relation: Relation = ADD_REMOVE) -> PureDP:
        """The claimed epsilon-DP."""
        return PureDP(self.epsilon)

    def opened(self, database_0: Database, database_1: Database, relation: Relation) -> SparseState:
        """No query yet."""
        left = math.inf if self.most is None else self.most
        return SparseState(database_0, database_1, relation, (), (), left)

    def messages(self, state: SparseState) -> Sequence[Query]:
        """The listed queries, until it stops."""
        if not self.queries or self.longest is None:
            raise NotApplicable(
                "the messages of a sparse vector are listed where it has queries and a longest"
            )
        return self.queries if state.left and len(state.marks_0) < self.longest else ()

    def answers_to(self, state: SparseState, message: Any) -> ScalarPair:
        """The law of above on either database, given the answers so far."""
        margins = self._margins(state, message)
        both = zip((state.marks_0, state.marks_1), margins)
        return finite_answers(*(next_chances(marks, margin, self._ratio) for marks, margin in both))

    def after(self, state: SparseState, message: Any, answer: Any) -> SparseState:
        """With one more mark."""
        above = bool(answer)
        marks = [
            tuple(sorted((*marks, (margin, above))))
            for marks, margin in zip((state.marks_0, state.marks_1), self._margins(state, message))
        ]
        left = state.left - above
        if not left:
            marks = [(), ()]  # over: all such states are one
        return state._replace(marks_0=marks[0], marks_1=marks[1], left=left)

    def _margins(self, state: SparseState, query: Any) -> tuple[float, float]:
        """The query's values above the threshold, in scales of its noise; raises Breach."""
        if not state.left:
            raise Breach(f"the sparse vector has stopped, after {self.most} answers above")
        if self.longest is not None and len(state.marks_0) >= self.longest:
            raise Breach(f"the sparse vector takes {self.longest} messages at the most")
        if not (callable(query) and hasattr(query, "sensitivity")):
            raise Breach(f"a message to a sparse vector is a query, not {query!r:.80}")
        if (found := query.sensitivity(state.relation)) > self.sensitivity:
            raise Breach(
                f"the query {query.name} has a sensitivity of {found:g}, and the sparse vector "
                f"takes {self.sensitivity:g} at the most"
            )
        values = checked_values(query, state.database_0, state.database_1, state.relation)
        if not all(map(is_number, values)):
            raise Breach(f"a sparse vector takes queries of one number, {query.name} has several")
        unit, farthest = self.scales[0], FARTHEST * max(1.0, self._ratio)
        low, high = (
            min(max((float(value) - self.threshold) / unit, -farthest), farthest)
            for value in values
        )
        return low, high


@lru_cache(maxsize=4096)
def next_chances(marks: _Marks, margin: float, ratio: float) -> tuple[float, float]:
    """(Pr[margin + Lap(ratio) < Lap(1)], Pr[>=]) given the marks, which met the same Lap(1)."""
    below, above = (log_chance((*marks, (margin, said)), ratio) for said in (False, True))
    return float(expit(below - above)), float(expit(above - below))


def log_chance(marks: _Marks, ratio: float) -> float:
    """Ln Pr[all these marks]: the integral, over the threshold's noise, of a log-concave product.

    The Laplace density and distribution function are log-concave.
    """
    known = Counter(marks)
    margins = np.array([m for m, _ in known])[:, None]
    signs = np.array([-1.0 if above else 1.0 for _, above in known])[:, None]
    times = np.array([*known.values()], dtype=float)

    def logarithm(y: np.ndarray) -> np.ndarray:
        away = signs * (y - margins) / ratio  # a query is below where its noise is less
        found: np.ndarray = times @ log_laplace_cdf(away) - np.abs(y) - math.log(2.0)
        return found

    # Many marks may put the likeliest threshold beyond all margins, by this many query scales.
    beyond = 1.0 + math.log1p(len(marks) / ratio)
    return log_of_integral(logarithm, [0.0, *margins.ravel()], ratio, REACH + ratio * beyond)


def log_laplace_cdf(distance: np.ndarray) -> np.ndarray:
    """Ln Pr[Lap(1) <= distance], elementwise, accurate in both tails."""
    far = np.abs(distance)
    near = np.log1p(-0.5 * np.exp(-far))
    found: np.ndarray = np.where(distance < 0.0, -far - math.log(2.0), near)
    return found
