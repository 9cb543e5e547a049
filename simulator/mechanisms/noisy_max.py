"""Report noisy max."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries import Query
from simulator.foundations.errors import Breach, InvalidInput
from simulator.foundations.validation import positive
from simulator.mechanisms.finite import FiniteMechanism
from simulator.mechanisms.free import Free
from simulator.mechanisms.quadrature import laplace_cdf, panels
from simulator.mechanisms.values import candidates, check_query
from simulator.theory.guarantees.pure import PureDP


@dataclass(frozen=True, slots=True)
class ReportNoisyMax(FiniteMechanism):
    """Add Laplace noise to every count and report the index of the largest noisy count.

    Parameters
    ----------
    query : vector of counts; its sensitivity is that of a single count.
    epsilon : > 0.
    monotone : whether adding a record moves no two counts in opposite directions, as with
        counting queries; the noise is then Lap(sensitivity/epsilon), otherwise twice that.
        Replacing a record moves counts both ways, so under replace-one the noise is always
        twice.

    The answer is the index, as a float. epsilon-DP (Dwork and Roth 2014, Claim 3.9; Zhang 2020,
    lecture 7). The outcome probabilities are computed by Gauss-Legendre quadrature between the
    kinks of the integrand, to about 1e-14.

    >>> from simulator.data import ADD_REMOVE, histogram_query
    >>> from simulator.mechanisms import ReportNoisyMax
    >>> most = ReportNoisyMax(histogram_query(["tea", "coffee"]), epsilon=1.0)
    >>> p0, p1 = most.probabilities([3, 5], [4, 5], ADD_REMOVE)
    >>> p0.round(4).tolist(), p1.round(4).tolist()
    ([0.1353, 0.8647], [0.2759, 0.7241])
    """

    query: Query
    epsilon: float
    monotone: bool = True

    def __post_init__(self) -> None:
        check_query("report noisy max", self.query)
        if isinstance(self.epsilon, Free):
            raise InvalidInput("report noisy max needs a fixed epsilon, it has no closed form")
        positive("epsilon", self.epsilon)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> PureDP:
        """epsilon-DP."""
        return PureDP(self.epsilon)

    def scale(self, relation: Relation) -> float:
        """Scale of the Laplace noise on every count."""
        factor = 1.0 if self._is_monotone(relation) else 2.0
        return factor * self.query.sensitivity(relation) / self.epsilon

    def _is_monotone(self, relation: Relation) -> bool:
        return self.monotone and relation == ADD_REMOVE

    def probabilities(
        self, value_0: Any, value_1: Any, relation: Relation
    ) -> tuple[np.ndarray, np.ndarray]:
        """Outcome probabilities for two vectors of counts."""
        scale = self.scale(relation)
        first, second = (candidates("report noisy max", v) for v in (value_0, value_1))
        moves = second - first
        if self._is_monotone(relation) and moves.min() < 0.0 < moves.max():
            raise Breach(
                f"{self.query.name} moves some counts up and some down on this pair, by "
                f"{moves.tolist()}; report noisy max needs monotone=False for it"
            )
        return largest_index_law(tuple(first / scale)), largest_index_law(tuple(second / scale))

    def sample(
        self, database: Database, noise: np.random.Generator, relation: Relation = ADD_REMOVE
    ) -> float:
        """The index of the largest noisy count, by running the algorithm."""
        counts = candidates("report noisy max", self.query(database))
        noisy = counts + noise.laplace(
            scale=positive("scale", self.scale(relation)), size=len(counts)
        )
        return float(np.argmax(noisy))


FARTHEST = 680.0
"""Largest distance of a count below the largest, in noise scales; lower counts are raised to it."""


@lru_cache(maxsize=256)
def largest_index_law(counts: tuple[float, ...]) -> np.ndarray:
    """Pr[i = argmax_j counts_j + Lap(1)] for every i, shape (len(counts),).

    A count more than 680 below the largest is raised to that distance, where it wins with
    probability below 1e-290.
    """
    c = np.maximum(np.array(counts), max(counts) - FARTHEST)
    y, w = panels(c, len(c))
    distance = y - c[:, None]
    below = laplace_cdf(distance)
    density = 0.5 * np.exp(-np.abs(distance))
    masses = np.array(
        [
            np.sum(w * density[i] * np.prod(np.delete(below, i, axis=0), axis=0))
            for i in range(len(c))
        ]
    )
    shares: np.ndarray = masses / masses.sum()
    return shares
