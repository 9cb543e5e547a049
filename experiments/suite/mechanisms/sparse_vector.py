"""The six variants of the sparse vector technique that Lyu, Su and Li (2017) compare.

They stop after one answer above (c = 1). Half of epsilon = 0.1 is for the threshold but in the
fourth, which has a quarter; ``E1`` and ``E2`` are these parts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from experiments.suite.mechanisms.discrete import DiscreteLaw
from experiments.suite.mechanisms.entry import AnswerLaw, Sampler, StandardMechanism
from experiments.suite.mechanisms.noise import laplace_log_below
from experiments.suite.mechanisms.sparse_values import ValuesLaw
from experiments.suite.mechanisms.thresholds import (
    ABOVE,
    BELOW,
    STOPPED,
    Marks,
    all_marks,
    as_marks,
    place_of,
)
from simulator.auditing.audits.patterns import Input
from simulator.theory import PureDP

LENGTH = 10
E1 = E2 = 0.05


def law_of(marks: Marks) -> DiscreteLaw:
    """The law of rows of marks."""
    return DiscreteLaw(marks.probabilities, marks.place)


@dataclass(frozen=True)
class FreshThreshold:
    """The second variant: the threshold's noise is drawn anew after every answer above.

    With ``most`` = 1 it stops there, so its law is that of :class:`Marks`.
    """

    threshold: float
    threshold_scale: float
    query_scale: float
    most: int

    def sample(self, input: Input, n: int, rng: np.random.Generator) -> np.ndarray:
        """Rows of marks, int8 of shape (n, length)."""
        bar = rng.laplace(self.threshold, self.threshold_scale, n)
        values = rng.laplace(input, self.query_scale, (n, len(input)))
        marks = np.empty((n, len(input)), dtype=np.int8)
        left = np.full(n, self.most)
        for column in range(len(input)):
            above = values[:, column] >= bar
            marks[:, column] = np.where(left == 0, STOPPED, np.where(above, ABOVE, BELOW))
            again = np.flatnonzero(above & (left > 0))
            left[again] -= 1
            bar[again] = rng.laplace(self.threshold, self.threshold_scale, len(again))
        return marks


@dataclass(frozen=True)
class NoQueryNoise:
    """The fifth variant: the threshold alone has noise, and it never stops."""

    threshold: float
    threshold_scale: float

    def sample(self, input: Input, n: int, rng: np.random.Generator) -> np.ndarray:
        """Rows of marks, int8 of shape (n, length)."""
        bar = rng.laplace(self.threshold, self.threshold_scale, (n, 1))
        return as_marks(np.asarray(input) >= bar, None)

    def probabilities(self, input: Input) -> np.ndarray:
        """The probability of each row of marks: that the threshold is between its inputs."""
        marks = all_marks(len(input), None)
        values = np.asarray(input) - self.threshold
        low = np.where(marks == BELOW, values, -np.inf).max(axis=1)
        high = np.where(marks == ABOVE, values, np.inf).min(axis=1)
        scale = self.threshold_scale
        mass = np.exp(laplace_log_below(high, scale)) - np.exp(laplace_log_below(low, scale))
        return np.maximum(mass, 0.0)


FIRST = Marks(0.5, 1 / E1, 2 / E2, 1)
SECOND = FreshThreshold(1.0, 1 / E1, 2 / E2, 1)
THIRD = ValuesLaw(Marks(1.0, 1 / E1, 1 / E2, 1))
FOURTH = Marks(1.0, 4 / 0.1, 4 / 0.3, 1)
FIFTH = NoQueryNoise(1.0, 1 / E1)
SIXTH = Marks(1.0, 1 / E1, 1 / E2, None)


def entry(
    number: int, sample: Sampler, law: AnswerLaw, epsilon: float, reason: str
) -> StandardMechanism:
    """The variant of that number, from 1 to 6."""
    return StandardMechanism(
        name=f"sparse-vector-{number}",
        sample=sample,
        claimed=PureDP(0.1),
        epsilon=epsilon,
        reason=reason,
        length=LENGTH,
        relation="all coordinates",
        answer="vector",
        law=law,
        source=f"Lyu, Su and Li 2017, Algorithm {number}",
    )


MECHANISMS = (
    entry(1, FIRST.sample, law_of(FIRST), 0.1,
          "1/20 + 2/40, the limit as queries below rise and the one above falls without end"),
    entry(2, SECOND.sample, law_of(Marks(1.0, 1 / E1, 2 / E2, 1)), 0.1, "as the first"),
    entry(3, THIRD.sample, THIRD, 0.5,
          "ten noisy comparisons at 1/20 each, all paid: the value that is printed bounds the "
          "threshold; grows with the length"),
    entry(4, FOURTH.sample, law_of(FOURTH), 0.175,
          "1/40 + 2 x 3/40, the same limit; (1 + 6c)/4 times what is claimed"),
    entry(5, FIFTH.sample, DiscreteLaw(FIFTH.probabilities, lambda marks: place_of(marks, None)),
          math.inf, "two queries without noise between which no threshold fits on the other input"),
    entry(6, SIXTH.sample, law_of(SIXTH), 0.5,
          "ten noisy comparisons at 1/20 each, all paid, the limit as queries above fall and those "
          "below rise without end; grows with the length"),
)  # fmt: skip
