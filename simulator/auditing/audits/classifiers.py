"""Scores that are learned from several features together, and the list of all scores.

They are learned by scikit-learn's histogram gradient boosting and logistic regression. Only the
power depends on them: events are counted on draws that they were not learned from.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from threadpoolctl import threadpool_limits

from simulator.auditing.audits.pooled_features import PooledCounts
from simulator.auditing.evidence.answers import Answers
from simulator.auditing.evidence.columns import AnswerReader, Columns
from simulator.auditing.evidence.scores import Binned, Score, single_scores

THOROUGH = 4096
"""The least number of draws per input for the slower classifiers, which learn from half."""
FEW_ROWS = 50_000
"""Rows per input that the slower classifiers learn from."""
MANY_ROWS = 400_000
"""Rows per input that regressions learn from."""
FEW_PARTS = 4
"""The largest number of parts for which trees use the digits of numbers too."""
MOST_REGRESSED = 64
"""The largest number of features of a regression."""


def regressed(table_0: np.ndarray, table_1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre, and weights of the features, by logistic regression."""
    from sklearn.linear_model import LogisticRegression

    table = np.vstack([table_0, table_1])
    centre, spread = table.mean(axis=0), table.std(axis=0)
    spread = np.where(spread > 0.0, spread, 1.0)
    model = LogisticRegression(C=1.0, max_iter=200)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        labels = np.repeat([1, 0], [len(table_0), len(table_1)])
        model.fit((table - centre) / spread, labels)
    return centre, model.coef_[0] / spread


@dataclass(frozen=True)
class Linear:
    """A weighted sum of an answer's parts."""

    cost: ClassVar[float] = 2.0
    handicap: ClassVar[float] = 0.01
    quick: ClassVar[bool] = False
    slow: ClassVar[bool] = False
    log_ratio: ClassVar[bool] = True

    columns: tuple[int, ...]
    centre: np.ndarray
    weights: np.ndarray

    @classmethod
    def learn(cls, columns: Sequence[int], x_0: np.ndarray, x_1: np.ndarray) -> Linear:
        """From all columns, shapes (n_0, d) and (n_1, d)."""
        some = list(columns)
        centre, weights = regressed(*(finite(x[:MANY_ROWS, some]) for x in (x_0, x_1)))
        return cls(tuple(some), centre, weights)

    def of(self, reader: Columns, answers: Answers) -> np.ndarray:
        """The weighted sum of the centred columns."""
        table = finite(reader.columns(answers, list(self.columns)))
        return np.asarray((table - self.centre) @ self.weights)

    def words(self, side: str, threshold: float) -> str:
        """The event in words: the weighted sum on one side of a threshold."""
        return f"a weighted sum of the answer's parts {side} {threshold:.4g}"


@dataclass(frozen=True)
class Counted:
    """A weighted sum of counts of an answer's parts, see :class:`PooledCounts`."""

    cost: ClassVar[float] = 3.0
    handicap: ClassVar[float] = 0.03
    quick: ClassVar[bool] = False
    slow: ClassVar[bool] = False
    log_ratio: ClassVar[bool] = True

    features: PooledCounts
    centre: np.ndarray
    weights: np.ndarray

    @property
    def columns(self) -> tuple[int, ...]:
        """All columns of the features."""
        return tuple(range(self.features.width))

    @classmethod
    def learn(cls, features: PooledCounts, x_0: np.ndarray, x_1: np.ndarray) -> Counted:
        """From the parts of the answers, shapes (n_0, width) and (n_1, width)."""
        centre, weights = regressed(*(features.of(x[:MANY_ROWS]) for x in (x_0, x_1)))
        return cls(features, centre, weights)

    def of(self, reader: Columns, answers: Answers) -> np.ndarray:
        """The weighted count, less its mean."""
        parts = reader.columns(answers, list(range(self.features.width)))
        return self.features.weighed(parts, self.weights) - self.centre @ self.weights

    def words(self, side: str, threshold: float) -> str:
        """The event in words: the weighted count on one side of a threshold."""
        return f"a weighted count of where the answer's parts fall {side} {threshold:.4g}"


def finite(table: np.ndarray) -> np.ndarray:
    """The table with NaN as 0 and infinite numbers as large ones."""
    return np.nan_to_num(table, nan=0.0, posinf=1e150, neginf=-1e150)


@dataclass(frozen=True)
class Sum:
    """A weighted sum of binned log ratios, for noise that is independent by part."""

    cost: ClassVar[float] = 4.0
    handicap: ClassVar[float] = 0.05
    quick: ClassVar[bool] = False
    slow: ClassVar[bool] = True
    log_ratio: ClassVar[bool] = True

    parts: tuple[Binned, ...]
    weights: np.ndarray
    text: str = "a sum of scores of the answer's parts"

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns of the parts."""
        return tuple(part.column for part in self.parts)

    @classmethod
    def learn(cls, parts: Sequence[Binned], x_0: np.ndarray, x_1: np.ndarray) -> Sum:
        """Fit the weights by logistic regression; x_0 and x_1 are all columns, (n, d)."""
        tables = (
            np.column_stack([part.of_column(x[:MANY_ROWS, part.column]) for part in parts])
            for x in (x_0, x_1)
        )
        _, weights = regressed(*tables)
        return cls(tuple(parts), weights)

    def of(self, reader: Columns, answers: Answers) -> np.ndarray:
        """The weighted sum of the parts."""
        table = reader.columns(answers, [part.column for part in self.parts])
        return sum(
            (
                w * part.of_column(table[:, i])
                for i, (w, part) in enumerate(zip(self.weights, self.parts))
            ),
            np.zeros(len(answers)),
        )

    def words(self, side: str, threshold: float) -> str:
        """The event in words: the sum on one side of a threshold."""
        return f"{self.text} {side} {threshold:.4g}"


@dataclass(frozen=True)
class Trees:
    """Gradient-boosted trees on all columns, for joint properties of several columns."""

    cost: ClassVar[float] = 5.0
    handicap: ClassVar[float] = 0.07
    quick: ClassVar[bool] = False
    slow: ClassVar[bool] = True
    log_ratio: ClassVar[bool] = True

    model: Any
    columns: tuple[int, ...]
    text: str

    @classmethod
    def learn(cls, x_0: np.ndarray, x_1: np.ndarray, without: frozenset[int]) -> Trees:
        """From all columns, shapes (n_0, d) and (n_1, d), but for some."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        table = np.vstack([x_0[:FEW_ROWS], x_1[:FEW_ROWS]])
        labels = np.repeat([1, 0], [min(len(x_0), FEW_ROWS), min(len(x_1), FEW_ROWS)])
        table = np.where(np.isinf(table), np.copysign(1e300, table), table)
        usable = [i for i in range(table.shape[1]) if i not in without]
        varied = [i for i in usable if len(np.unique(table[:200, i])) > 1] or [0]
        model = HistGradientBoostingClassifier(
            max_iter=60,
            max_leaf_nodes=15,
            min_samples_leaf=50,
            early_stopping=False,
            random_state=0,
        )
        with threadpool_limits(1):  # threads of several processes would wait for each other
            model.fit(table[:, varied], labels)
        text = f"boosted trees on {len(varied)} features of the answer"
        return cls(model, tuple(varied), text)

    def of(self, reader: Columns, answers: Answers) -> np.ndarray:
        """The trees' log odds, infinite numbers replaced by large ones."""
        table = reader.columns(answers, list(self.columns))
        table = np.where(np.isinf(table), np.copysign(1e300, table), table)
        with threadpool_limits(1):
            return np.asarray(self.model.decision_function(table))

    def words(self, side: str, threshold: float) -> str:
        """The event in words: the trees' log odds on one side of a threshold."""
        return f"{self.text} {side} {threshold:.4g}"


def learn(
    reader: AnswerReader,
    answers_0: Answers,
    answers_1: Answers,
    *,
    inputs: tuple[Any, Any] | None,
) -> list[Score]:
    """All scores learned from these answers; the slow ones need THOROUGH / 2 answers.

    ``inputs`` are the two inputs, if known: parts of an answer for which they agree are pooled.
    """
    scores, binned, (x_0, x_1) = single_scores(reader, answers_0, answers_1)
    if min(len(x_0), len(x_1)) < THOROUGH // 2:
        return scores
    if reader.width > 1:
        scores.append(Linear.learn(range(min(reader.width, MOST_REGRESSED)), x_0, x_1))
        parts_0, parts_1 = x_0[:, : reader.width], x_1[:, : reader.width]
        features = PooledCounts.learn(parts_0, parts_1, inputs)
        scores.append(Counted.learn(features, parts_0, parts_1))
    smooth = [b for b in binned if b.column not in reader.digits][:MOST_REGRESSED]
    if len(smooth) > 1:
        scores.append(Sum.learn(smooth, x_0, x_1))
    if len(reader.names) > 1 and reader.width != 1:  # of one number all features are known
        digits = reader.digits if reader.width > FEW_PARTS else frozenset()
        scores.append(Trees.learn(x_0, x_1, digits))
    return scores
