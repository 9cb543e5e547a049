"""Report noisy max."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial.legendre import leggauss

from simulator.databases import ADD_REMOVE, Database, Relation
from simulator.errors import InvalidInput
from simulator.mechanisms.base import Free, check_parameter
from simulator.mechanisms.finite import FiniteMechanism
from simulator.queries import Query
from simulator.theory.guarantees import PureDP
from simulator.validation import positive


@dataclass(frozen=True)
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
    """

    query: Query
    epsilon: float
    monotone: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.epsilon, Free):
            raise InvalidInput("report noisy max needs a fixed epsilon, it has no closed form")
        check_parameter("epsilon", self.epsilon)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> PureDP:
        """epsilon-DP."""
        return PureDP(self.epsilon)

    def scale(self, relation: Relation) -> float:
        """Scale of the Laplace noise on every count."""
        factor = 1.0 if self.monotone and relation == ADD_REMOVE else 2.0
        return factor * self.query.sensitivity(relation) / self.epsilon

    def probabilities(
        self, value_0: Any, value_1: Any, relation: Relation
    ) -> tuple[np.ndarray, np.ndarray]:
        """Outcome probabilities for two vectors of counts."""
        scale = self.scale(relation)
        counts = [tuple((np.asarray(v, dtype=float) / scale).tolist()) for v in (value_0, value_1)]
        return largest_index_law(counts[0]), largest_index_law(counts[1])

    def sample(
        self, database: Database, noise: np.random.Generator, relation: Relation = ADD_REMOVE
    ) -> float:
        """Run the algorithm itself: noise on every count, then the index of the largest."""
        counts = np.asarray(self.query(database), dtype=float)
        noisy = counts + noise.laplace(
            scale=positive("scale", self.scale(relation)), size=len(counts)
        )
        return float(np.argmax(noisy))


@lru_cache(maxsize=256)
def largest_index_law(counts: tuple[float, ...]) -> np.ndarray:
    """Pr[i = argmax_j counts_j + Lap(1)] for every i, shape (len(counts),).

    The integrand f(y - c_i) prod_j F(y - c_j) is smooth between neighbouring counts; outside it
    falls at least like e^{-|y|}, and is cut where e^{-45} remains.
    """
    c = np.array(counts)
    knots = np.unique(c)
    edges = np.unique(
        np.concatenate(
            [np.linspace(a, b, 2 + int(b - a)) for a, b in itertools.pairwise(knots)]
            + [knots[0] - np.arange(46.0), knots[-1] + np.arange(46.0)]
        )
    )
    nodes, weights = leggauss(20)
    half = 0.5 * np.diff(edges)
    y = ((edges[:-1] + edges[1:]) / 2 + half * nodes[:, None]).ravel()
    w = (half * weights[:, None]).ravel()
    distance = y - c[:, None]
    density = 0.5 * np.exp(-np.abs(distance))
    below = np.where(distance < 0, density, 1.0 - density)
    masses = np.array(
        [
            np.sum(w * density[i] * np.prod(np.delete(below, i, axis=0), axis=0))
            for i in range(len(c))
        ]
    )
    return masses / masses.sum()
