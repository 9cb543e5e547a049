"""Comparisons with a noisy threshold: the sampler and the law of all sparse vectors.

A query is above when its value plus noise is at least the threshold plus noise. Given the
threshold's noise the queries are independent, so each probability is one integral over it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache

import numpy as np

from experiments.suite.mechanisms.noise import (
    laplace_density,
    laplace_log_below,
    quadrature,
)
from simulator.auditing.audits.patterns import Input

ABOVE, BELOW, STOPPED = 1, 0, -1


def stopped(above: np.ndarray, most: int) -> np.ndarray:
    """Which answers come after ``most`` others that are above; ``above`` has shape (n, length)."""
    found: np.ndarray = np.cumsum(above, axis=1, dtype=np.int8) - above >= most
    return found


def as_marks(above: np.ndarray, most: int | None) -> np.ndarray:
    """Rows of ABOVE, BELOW and STOPPED, int8 of shape (n, length); None never stops."""
    marks = above.astype(np.int8)
    if most is not None:
        marks[stopped(above, most)] = STOPPED
    return marks


@cache
def all_marks(length: int, most: int | None) -> np.ndarray:
    """Every row that can occur, int8 of shape (m, length)."""
    if most is None:
        return np.array(list(itertools.product((BELOW, ABOVE), repeat=length)), dtype=np.int8)
    rows = np.zeros((0, length), dtype=bool)
    for count in range(most + 1):
        places = itertools.combinations(range(length), count)
        new = np.array([[i in each for i in range(length)] for each in places])
        rows = np.concatenate([rows, new])
    return as_marks(rows, most)


def place_of(marks: np.ndarray, most: int | None) -> np.ndarray:
    """The place of each row in :func:`all_marks`, integers of shape (n,)."""
    powers = 3 ** np.arange(marks.shape[1])
    codes = (all_marks(marks.shape[1], most) + 1) @ powers
    order = np.argsort(codes)
    found: np.ndarray = order[np.searchsorted(codes[order], (marks + 1) @ powers)]
    return found


@dataclass(frozen=True)
class Marks:
    """Which queries are above one noisy threshold.

    Attributes
    ----------
    threshold : what queries are compared with.
    threshold_scale : of its Laplace noise, drawn once.
    query_scale : of the Laplace noise of each query.
    most : the number of answers above after which it stops; None for never.
    """

    threshold: float
    threshold_scale: float
    query_scale: float
    most: int | None

    def sample(self, input: Input, n: int, rng: np.random.Generator) -> np.ndarray:
        """Rows of marks, int8 of shape (n, length)."""
        return as_marks(self.above(input, n, rng)[0], self.most)

    def above(
        self, input: Input, n: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which of all queries are above, shape (n, length), and their noisy values."""
        bar = rng.laplace(self.threshold, self.threshold_scale, (n, 1))
        values = rng.laplace(input, self.query_scale, (n, len(input)))
        return values >= bar, values

    def probabilities(self, input: Input) -> np.ndarray:
        """The probability of each row of :func:`all_marks`; read-only."""
        return _probabilities(self, input)

    def log_given(self, noise: np.ndarray, input: Input, marks: np.ndarray) -> np.ndarray:
        """Ln of the probability of each row of marks given the threshold's noise; (nodes, rows)."""
        away = (noise + self.threshold)[:, None] - np.asarray(input)
        below = laplace_log_below(away, self.query_scale)
        above = laplace_log_below(-away, self.query_scale)
        found: np.ndarray = below @ (marks == BELOW).T + above @ (marks == ABOVE).T
        return found

    def place(self, marks: np.ndarray) -> np.ndarray:
        """The place of each row of marks in the table of probabilities."""
        return place_of(marks, self.most)


@cache
def _probabilities(marks: Marks, input: Input) -> np.ndarray:
    kinks = [0.0, *(value - marks.threshold for value in input)]
    least = min(marks.threshold_scale, marks.query_scale)
    noise, weights = quadrature(kinks, marks.threshold_scale, least)
    logs = marks.log_given(noise, input, all_marks(len(input), marks.most))
    found: np.ndarray = (weights * laplace_density(noise, marks.threshold_scale)) @ np.exp(logs)
    found.flags.writeable = False
    return found
