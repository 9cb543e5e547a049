"""Log ratios of likelihoods by logistic regressions on few features, learned from all draws.

A regression with few parameters needs no draws of its own: it is fitted to both halves of the
draws, each half is scored by the regression of the other, and the bets by that of all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simulator.auditing.audits.classifiers import finite
from simulator.auditing.audits.pooled_features import PooledCounts
from simulator.auditing.evidence.answers import Answers
from simulator.auditing.evidence.bins import Ordered, distinct
from simulator.auditing.evidence.columns import AnswerReader
from simulator.auditing.evidence.events import Batch
from simulator.auditing.evidence.ratio_bets import LEVELS, ScoreCounts

LEAST_DRAWS = 128
"""The least number of draws per input to learn from."""
MOST_FEATURES = 64
STEPS = 30
_PRECISION = 0.1
"""The largest last step, in standard errors of a weight of two equal laws."""
_RIDGE = 1.0
"""The weight of the prior at no difference, for features of variance 1, in the units of a draw."""
COST = 0.0
"""Nats by which a regression must exceed a simpler score: none, as it was fitted to other draws."""

Halves = tuple[tuple[Answers, Answers], tuple[Answers, Answers]]


@dataclass(frozen=True)
class Regression:
    """A weighted sum of features of the parts of an answer.

    Attributes
    ----------
    features : from parts, shape (n, width), to features, shape (n, d).
    centre, weights : of each feature, shape (d,).
    constant : added to the weighted sum.
    """

    reader: AnswerReader
    features: Callable[[np.ndarray], np.ndarray]
    centre: np.ndarray
    weights: np.ndarray
    constant: float

    def of(self, answers: Answers) -> np.ndarray:
        """The estimated log ratio of each answer, shape (n,)."""
        parts = self.reader.columns(answers, list(range(self.reader.width)))
        return self.of_features(self.features(parts))

    def of_features(self, table: np.ndarray) -> np.ndarray:
        """The same from features, shape (n, d)."""
        return np.asarray((table - self.centre) @ self.weights + self.constant)


def learned_regressions(
    reader: AnswerReader, halves: Halves, inputs: tuple[Any, Any] | None
) -> list[ScoreCounts]:
    """The regressions on an answer's parts, with counts of their scores of all these draws.

    Parameters
    ----------
    halves : two parts of the draws, each of both inputs.
    inputs : the two inputs, if known: parts for which they agree are pooled.
    """
    if not reader.width or min(len(each) for half in halves for each in half) < LEAST_DRAWS // 2:
        return []
    some = list(range(reader.width))
    parts = [[reader.columns(answers, some) for answers in half] for half in halves]
    kinds: list[Callable[[np.ndarray], np.ndarray]] = [bounded]
    if reader.width > 1:  # of a single number the scores have bins of their own
        first, second = (np.vstack([half[b] for half in parts]) for b in (0, 1))
        pooled = PooledCounts.learn(first, second, inputs)
        plain = PooledCounts(pooled.width, tuple(bins for bins in pooled.bins if not bins.steps))
        kinds += [plain.of, pooled.of]
    found = []
    for features in kinds:
        tables = [[features(each) for each in half] for half in parts]
        if 0 < tables[0][0].shape[1] <= MOST_FEATURES:
            empty = Regression(reader, features, np.zeros(0), np.zeros(0), 0.0)
            found.append(_cross_fitted(empty, tables))
    return found


def bounded(table: np.ndarray) -> np.ndarray:
    """The table with NaN as 0, and with numbers that can be squared."""
    return np.clip(finite(table), -1e100, 1e100)


class _Rows:
    """Features of one half of the draws, of variance 1, with a constant, and the labels."""

    def __init__(self, half: list[np.ndarray], centre: np.ndarray, scale: np.ndarray) -> None:
        self.ends = len(half[0])
        scaled = (np.vstack(half) - centre) * scale
        self.table = np.column_stack([np.ones(len(scaled)), scaled])
        self.labels = np.repeat([1.0, 0.0], [len(half[0]), len(half[1])])
        self.curvature = 0.25 * self.table.T @ self.table

    def slope(self, theta: np.ndarray) -> np.ndarray:
        """The gradient of the log likelihood."""
        p = 1.0 / (1.0 + np.exp(-np.clip(self.table @ theta, -30.0, 30.0)))
        return np.asarray((self.labels - p) @ self.table)


def _fitted(rows: list[_Rows], start: np.ndarray) -> np.ndarray:
    """The weights of the largest posterior likelihood.

    The curvature is that at no difference, the largest there is (Boehning 1992): one product of
    matrices serves all steps, which are few where the inputs are alike.
    """
    ridge = _RIDGE * np.eye(len(start))
    inverse = np.linalg.inv(sum((each.curvature for each in rows), ridge))
    small = _PRECISION / np.sqrt(sum(len(each.labels) for each in rows))
    theta = start
    for _ in range(STEPS):
        slope = sum((each.slope(theta) for each in rows), -_RIDGE * theta)
        step = inverse @ slope
        theta = theta + step
        if np.abs(step).max() < small:
            break
    return theta


def _cross_fitted(empty: Regression, tables: list[list[np.ndarray]]) -> ScoreCounts:
    """The regression of all draws, with scores of each half by the regression of the other."""
    parts = [part for half in tables for part in half]
    total = sum(len(part) for part in parts)
    centre = sum(part.sum(axis=0) for part in parts) / total
    spread = np.sqrt(sum(((part - centre) ** 2).sum(axis=0) for part in parts) / total)
    usable = spread > 1e-9 * (1.0 + np.abs(centre))
    scale = np.where(usable, 1.0 / np.where(usable, spread, 1.0), 0.0)
    rows = [_Rows(half, centre, scale) for half in tables]
    folds = [_fitted([each], np.zeros(len(centre) + 1)) for each in rows]
    theta = _fitted(rows, 0.5 * (folds[0] + folds[1]))
    halves = [each.table @ folds[1 - i] for i, each in enumerate(rows)]
    scores = [
        np.concatenate([half[part] for half, part in zip(halves, parts_of(rows, b))])
        for b in (0, 1)
    ]
    pooled = Ordered(np.sort(np.concatenate(scores)))
    edges = distinct(pooled.quantiles(LEVELS))
    whole = replace(empty, centre=centre, weights=theta[1:] * scale, constant=float(theta[0]))

    def score(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
        return whole.of(batch.answers[0]), whole.of(batch.answers[1])

    tally = ScoreCounts(
        score=score, edges=edges, centres=pooled.means(edges), cost=COST,
        counts=np.zeros((2, len(edges) + 2)),
    )  # fmt: skip
    tally.counts += np.array([tally.bins(each) for each in scores])
    return tally


def parts_of(rows: list[_Rows], b: int) -> list[slice]:
    """The rows of input ``b`` in each half."""
    return [slice(None, each.ends) if b == 0 else slice(each.ends, None) for each in rows]
