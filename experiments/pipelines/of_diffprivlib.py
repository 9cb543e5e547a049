"""Models of diffprivlib (IBM)."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.pipelines.case import PAPER, PipelineCase, Setting

_ISSUE = "https://github.com/IBM/differential-privacy-library/issues/"


def _rows(low: float, high: float) -> np.ndarray:
    return np.random.default_rng(1).uniform(low, high, (12, 2))


def _replaced(table: np.ndarray, row: Any) -> np.ndarray:
    other = table.copy()
    other[-1] = row
    return other


def _regression(low: float, high: float) -> Setting:
    """Bounds [low, high] of the features; the last record has the largest square there is."""
    from diffprivlib.models import LinearRegression

    table = np.column_stack([_rows(low, high), np.linspace(0.0, 1.0, 12)])

    def fit(table: np.ndarray) -> Any:
        model = LinearRegression(
            epsilon=1.0, bounds_X=(low, high), bounds_y=(0.0, 1.0), fit_intercept=False
        )
        return model.fit(table[:, :2], table[:, 2]).coef_

    databases = _replaced(table, [high, high, 1.0]), _replaced(table, [0.0, 0.0, 1.0])
    return Setting(fit, databases, "pure:1", lambda: ["diffprivlib"])


def _bayes(labels: tuple[int, int]) -> Setting:
    """The last record has one label or another."""
    from diffprivlib.models import GaussianNB

    table = np.column_stack([_rows(0.0, 10.0), np.arange(12) % 2])

    def fit(table: np.ndarray) -> Any:
        model = GaussianNB(epsilon=1.0, bounds=(0.0, 10.0)).fit(table[:, :2], table[:, 2])
        return model.theta_, model.var_, model.class_count_

    first, second = (_replaced(table, [5.0, 5.0, label]) for label in labels)
    return Setting(fit, (first, second), None, lambda: ["diffprivlib"])


def _logistic(labels: tuple[int, int]) -> Setting:
    from diffprivlib.models import LogisticRegression

    table = np.column_stack([_rows(0.0, 10.0), np.arange(12) % 2])

    def fit(table: np.ndarray) -> Any:
        return LogisticRegression(epsilon=1.0, data_norm=15.0).fit(table[:, :2], table[:, 2]).coef_

    first, second = (_replaced(table, [5.0, 5.0, label]) for label in labels)
    return Setting(fit, (first, second), "pure:1", lambda: ["diffprivlib"])


CASES = [
    PipelineCase(
        "LinearRegression", "diffprivlib",
        "the sensitivity of a feature's square is computed from the lower bound, twice",
        f"{PAPER}; {_ISSUE}105", "replace-one",
        expected=("sensitivity", "LaplaceFolded"), make=lambda: _regression(0.0, 10.0),
        control=lambda: _regression(-5.0, 5.0),
    ),
    PipelineCase(
        "GaussianNB", "diffprivlib",
        "the classes are the labels that occur, so that a rare label shows a record",
        PAPER, "replace-one",
        expected=("control flow", "GeometricTruncated"), make=lambda: _bayes((2, 0)),
        control=lambda: _bayes((1, 0)),
    ),
    PipelineCase(
        "LogisticRegression", "diffprivlib",
        "the classes are the labels that occur, and divide the budget",
        PAPER, "replace-one",
        expected=("argument", "Vector"), make=lambda: _logistic((2, 0)),
    ),
]  # fmt: skip
