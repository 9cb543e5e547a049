"""Log ratios of likelihoods by logistic regressions on few features, learned from all draws.

A regression with few parameters needs no draws of its own: it is fitted to both halves of the
draws, each half is scored by the regression of the other, and the bets by that of all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simulator.analysis.evidence.answers import Answers
from simulator.analysis.evidence.columns import AnswerReader
from simulator.analysis.evidence.events import Batch
from simulator.analysis.evidence.ratio_bets import LEVELS, Tally
from simulator.trials.auditing.classifiers import finite
from simulator.trials.auditing.pooled_features import PooledCounts

LEAST_DRAWS = 128
"""The least number of draws per input to learn from."""
MOST_FEATURES = 64
NEWTON_STEPS = 8
_RIDGE = 1.0
"""The weight of the prior at no difference, for features of variance 1, in the units of a draw."""
COST = 2.0
"""Nats by which a regression must exceed a simpler score, as for :class:`Score`."""

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

    def fitted(self, first: np.ndarray, second: np.ndarray) -> Regression:
        """The regression that tells features of input 0 from those of input 1."""
        table = np.vstack([first, second])
        labels = np.repeat([1.0, 0.0], [len(first), len(second)])
        centre, spread = table.mean(axis=0), table.std(axis=0)
        usable = spread > 1e-9 * (1.0 + np.abs(centre))
        scaled = (table[:, usable] - centre[usable]) / spread[usable]
        scaled = np.column_stack([np.ones(len(scaled)), scaled])
        theta = np.zeros(scaled.shape[1])
        for _ in range(NEWTON_STEPS):
            p = 1.0 / (1.0 + np.exp(-np.clip(scaled @ theta, -30.0, 30.0)))
            slope = scaled.T @ (labels - p) - _RIDGE * theta
            curvature = (scaled * (p * (1.0 - p))[:, None]).T @ scaled
            step = np.linalg.solve(curvature + _RIDGE * np.eye(len(theta)), slope)
            theta = theta + np.clip(step, -2.0, 2.0)
            if np.abs(step).max() < 1e-4:
                break
        weights = np.zeros(len(centre))
        weights[usable] = theta[1:] / spread[usable]
        return replace(self, centre=centre, weights=weights, constant=float(theta[0]))


def learned_regressions(
    reader: AnswerReader, halves: Halves, inputs: tuple[Any, Any] | None
) -> list[Tally]:
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
    pooled = PooledCounts.learn(*(np.vstack([half[b] for half in parts]) for b in (0, 1)), inputs)
    plain = PooledCounts(pooled.width, tuple(bins for bins in pooled.bins if not bins.steps))
    kinds: list[Callable[[np.ndarray], np.ndarray]] = [finite, plain.of]
    if reader.width > 1:
        kinds.append(pooled.of)
    found = []
    for features in kinds:
        tables = [[features(each) for each in half] for half in parts]
        if 0 < tables[0][0].shape[1] <= MOST_FEATURES:
            empty = Regression(reader, features, np.zeros(0), np.zeros(0), 0.0)
            found.append(_cross_fitted(empty, tables))
    return found


def _cross_fitted(empty: Regression, tables: list[list[np.ndarray]]) -> Tally:
    """The regression of all draws, with scores of each half by the regression of the other."""
    folds = [empty.fitted(*half) for half in tables]
    scores = [
        np.concatenate([folds[1 - i].of_features(half[b]) for i, half in enumerate(tables)])
        for b in (0, 1)
    ]
    whole = empty.fitted(*(np.vstack([half[b] for half in tables]) for b in (0, 1)))
    edges = np.unique(np.quantile(np.concatenate(scores), LEVELS, method="lower"))

    def score(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
        return whole.of(batch.answers[0]), whole.of(batch.answers[1])

    tally = Tally(
        score=score, edges=edges, rises=True, cost=COST, quick=True,
        counts=np.zeros((2, len(edges) + 2)),
    )  # fmt: skip
    tally.counts += np.array([tally.bins(each) for each in scores])
    return tally
