"""Columns of answers of one form: numbers, vectors of numbers, dicts and tables of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.auditing.evidence.answers import Answers, Form, NumberRows, as_records, shown
from simulator.auditing.evidence.float_features import ROUGH, WHOLE_FEATURES, Feature, FeaturesAt
from simulator.foundations.digits import typical

JOINT_WIDTH = 64
"""The largest length of a vector with columns of differences of coordinates."""
WITH_BITS = 4
"""The largest length of a vector with bits of each coordinate; longer ones have pooled bits."""

_FEW = 64
"""The largest number of distinct whole numbers without columns of digits."""
_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class DigitFeatures:
    """The features of the digits or bits of numbers, made anew where they are read.

    Attributes
    ----------
    kind : of the numbers: "few" distinct whole numbers, which have none, "whole" or "fractions".
    magnitude : of a typical number.
    fraction : makes the features of fractions, given the magnitude.
    """

    kind: str
    magnitude: float
    fraction: FeaturesAt

    @classmethod
    def at(cls, numbers: np.ndarray, fraction: FeaturesAt) -> DigitFeatures:
        """The features for such numbers."""
        finite = numbers[np.isfinite(numbers)]
        kind = "whole" if len(np.unique(finite[:10_000])) > _FEW else "few"
        return cls(kind if is_whole(finite) else "fractions", typical(finite), fraction)

    def features(self) -> dict[str, Feature]:
        """The features of floats, shape (n,), by name."""
        if self.kind == "fractions":
            return self.fraction(self.magnitude)
        return WHOLE_FEATURES if self.kind == "whole" else {}


def is_whole(numbers: np.ndarray) -> bool:
    """Whether all numbers but infinite ones are whole."""
    return not np.any(numbers[np.isfinite(numbers)] % 1.0 != 0.0)


def as_numbers(answers: Answers) -> np.ndarray | None:
    """The answers as a float array of shape (n, width); None if they are not such numbers."""
    if isinstance(answers, NumberRows):
        return answers.numbers
    if isinstance(answers, np.ndarray):
        if answers.dtype.names or answers.dtype.kind not in "fiub":
            return None
        return np.asarray(answers, dtype=np.float64).reshape(len(answers), -1)
    if not answers:
        return np.zeros((0, 1))
    kinds = {type(answer) for answer in answers}
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    number = kind in (float, int, bool) or issubclass(kind, np.number | np.bool_)
    return np.array(answers, dtype=np.float64)[:, None] if number else None


_JOINT: dict[str, Any] = {
    "sum of the answer": lambda x: x.sum(axis=1),
    "largest part": lambda x: x.max(axis=1),
    "smallest part": lambda x: x.min(axis=1),
    "place of the largest part": lambda x: np.argmax(x, axis=1),
    "place of the smallest part": lambda x: np.argmin(x, axis=1),
    "number of distinct parts": lambda x: (
        1 + np.count_nonzero(np.diff(np.sort(x, axis=1), axis=1), axis=1)
    ),
}


_POOLED: dict[str, Any] = {
    "least": lambda x: np.fmin.reduce(x, axis=1),
    "largest": lambda x: np.fmax.reduce(x, axis=1),
    "mean": lambda x: np.nan_to_num(x).mean(axis=1),
}


class PlainReader:
    """The common part of readers whose columns are not learned."""

    learned: frozenset[int] = frozenset()

    def show(self, answer: Any) -> str:
        """The answer as a short text."""
        return shown(answer, 30)


class NumericReader(PlainReader):
    """Reads answers whose numbers alone vary: all numbers, or all of one ``form``."""

    def __init__(self, numbers: np.ndarray, form: Form | None, fraction: FeaturesAt) -> None:
        self.width = width = numbers.shape[1]
        self.form = form
        self.labels: dict[int, list[str]] = {}
        parts = ["the answer"] if width == 1 else [f"answer[{i}]" for i in range(width)]
        if form is not None:
            parts = form.places
        plan: list[tuple[str, tuple[Any, ...]]] = [
            (part, ("raw", i)) for i, part in enumerate(parts)
        ]
        if 1 < width <= JOINT_WIDTH:
            plan += [(f"{parts[i + 1]} - {parts[i]}", ("step", i)) for i in range(width - 1)]
        if width > 1:
            plan += [(f"the {name}", (name, None)) for name in _JOINT]
        smooth = len(plan)
        groups = [np.array([i]) for i in range(width)]
        if width > WITH_BITS:  # a whole number has no rounding
            whole = np.array([is_whole(column) for column in numbers.T])
            groups = [np.flatnonzero(some) for some in (whole, ~whole) if some.any()]
        self.groups = [(some, DigitFeatures.at(numbers[:, some], fraction)) for some in groups]
        for i, (_, made) in enumerate(self.groups):
            features = made.features()
            if width <= WITH_BITS:
                plan += [(name.format(parts[i]), ("digits", (i, name))) for name in features]
            else:
                for how in _POOLED:
                    plan += [
                        (f"{how} {name.format('a part')}", (how, (i, name))) for name in features
                    ]
        self.digits = frozenset(range(smooth, len(plan)))
        self.rough = frozenset(
            column
            for column, (_, how) in enumerate(plan)
            if column >= smooth and how[1][1] in ROUGH
        )
        self.names = [name for name, _ in plan]
        self.plan = [how for _, how in plan]

    def columns(self, answers: Answers, only: Sequence[int] | None = None) -> np.ndarray:
        """The numbers, digits and bits of answers; answers of another kind are rows of NaN."""
        numbers = self._numbers(answers)
        wanted = range(len(self.names)) if only is None else only
        digits: dict[tuple[int, str], np.ndarray] = {}
        table = np.empty((len(numbers), len(wanted)))
        for place, column in enumerate(wanted):
            kind, i = self.plan[column]
            if kind == "raw":
                table[:, place] = numbers[:, i]
            elif kind == "step":
                with np.errstate(invalid="ignore"):
                    table[:, place] = numbers[:, i + 1] - numbers[:, i]
            elif kind == "digits" or kind in _POOLED:
                if i not in digits:
                    some, made = self.groups[i[0]]
                    chosen = np.ascontiguousarray(numbers[:, some])
                    digits[i] = made.features()[i[1]](chosen.ravel()).reshape(chosen.shape)
                with np.errstate(invalid="ignore"):
                    pooled = digits[i][:, 0] if kind == "digits" else _POOLED[kind](digits[i])
                table[:, place] = pooled
            else:
                table[:, place] = _JOINT[kind](numbers)
        return table

    def keys(self, answers: Answers) -> np.ndarray:
        """A hash of each answer's bits."""
        words = np.ascontiguousarray(self._numbers(answers)).view(np.uint64)
        keys = np.zeros(len(words), dtype=np.uint64)
        for i in range(words.shape[1]):
            keys = (keys ^ words[:, i]) * _ODD
            keys ^= keys >> np.uint64(29)
        return keys

    def _numbers(self, answers: Answers) -> np.ndarray:
        if self._is_of_form(answers):
            numbers = as_numbers(answers)
            if numbers is not None and numbers.shape[1] == self.width:
                return numbers
        table = np.full((len(answers), self.width), np.nan)
        if isinstance(answers, list):
            for i, answer in enumerate(answers):
                one = as_records([answer])
                if self._is_of_form(one):
                    row = as_numbers(one)
                    if row is not None and row.shape[1] == self.width:
                        table[i] = row
        return table

    def _is_of_form(self, answers: Answers) -> bool:
        return (answers.form if isinstance(answers, NumberRows) else None) == self.form


def as_float(leaf: Any) -> float:
    """A leaf as a number, also from a text; NaN for others."""
    try:
        if isinstance(leaf, complex):
            return leaf.real
        return float(leaf) if leaf is not None else math.nan
    except OverflowError:
        return math.inf if leaf > 0 else -math.inf
    except Exception:
        return math.nan
