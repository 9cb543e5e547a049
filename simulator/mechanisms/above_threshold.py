"""The sparse vector technique's above-threshold, played as one round."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries import Query
from simulator.foundations.validation import finite, positive
from simulator.mechanisms.finite import FiniteMechanism
from simulator.mechanisms.quadrature import laplace_cdf, panels
from simulator.mechanisms.values import candidates, check_query
from simulator.theory.guarantees.pure import PureDP


@dataclass(frozen=True, slots=True)
class AboveThreshold(FiniteMechanism):
    """Report which of a stream of queries is the first to pass a noisy threshold.

    Parameters
    ----------
    query : a vector of answers, taken in order; its sensitivity is that of a single answer.
    threshold : public, in the queries' units.
    epsilon : > 0.

    The threshold gets Lap(2 sensitivity/epsilon), every answer Lap(4 sensitivity/epsilon). The
    answer is the index of the first noisy answer at or above the noisy threshold, or the number of
    queries when none is; as a float. epsilon-DP for any number of queries (Dwork and Roth 2014,
    Algorithm 1 and Theorem 3.23). Outcome probabilities are computed by quadrature over the
    threshold's noise, to about 1e-14.

    >>> from simulator import PureDP
    >>> from simulator.data import histogram_query
    >>> from simulator.mechanisms import AboveThreshold
    >>> counts = histogram_query(["tea", "coffee"])           # a stream of two queries
    >>> AboveThreshold(counts, threshold=3.0, epsilon=0.5).guarantee()
    PureDP(epsilon=0.5)
    """

    query: Query
    threshold: float
    epsilon: float

    def __post_init__(self) -> None:
        check_query("above threshold", self.query)
        finite("threshold", self.threshold)
        positive("epsilon", self.epsilon)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> PureDP:
        """epsilon-DP."""
        return PureDP(self.epsilon)

    def probabilities(
        self, value_0: Any, value_1: Any, relation: Relation
    ) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities of the len(query) + 1 outcomes."""
        unit = 2.0 * self.query.sensitivity(relation) / self.epsilon
        first, second = (
            first_above_law(tuple((candidates("above threshold", v) - self.threshold) / unit))
            for v in (value_0, value_1)
        )
        return first, second

    def sample(
        self, database: Database, noise: np.random.Generator, relation: Relation = ADD_REMOVE
    ) -> float:
        """The answer, by running the algorithm."""
        scale = 2.0 * self.query.sensitivity(relation) / self.epsilon
        answers = candidates("above threshold", self.query(database))
        noisy_threshold = self.threshold + noise.laplace(scale=scale)
        for place, answer in enumerate(answers):
            if answer + noise.laplace(scale=2.0 * scale) >= noisy_threshold:
                return float(place)
        return float(len(answers))


FARTHEST = 300.0
"""Largest margin in scales of the threshold's noise; beyond, a query passes or fails almost
surely."""


@lru_cache(maxsize=256)
def first_above_law(margins: tuple[float, ...]) -> np.ndarray:
    """Pr[i is the first with margins_i + Lap(2) >= Lap(1)], and that none is, shape (n + 1,).

    Margins beyond +-300 count as +-300, which changes probabilities by at most 1e-65 and keeps them
    above 0.
    """
    q = np.clip(margins, -FARTHEST, FARTHEST)
    y, w = panels(np.append(q, 0.0), 1 + len(q) // 2)
    below = laplace_cdf((y - q[:, None]) / 2.0)
    above = laplace_cdf((q[:, None] - y) / 2.0)
    reached = np.vstack([np.ones_like(y), np.cumprod(below, axis=0)])
    stops = np.vstack([above, np.ones_like(y)])
    masses = (reached * stops) @ (w * 0.5 * np.exp(-np.abs(y)))
    shares: np.ndarray = masses / masses.sum()
    return shares
