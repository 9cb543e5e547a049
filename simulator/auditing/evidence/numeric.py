"""Columns of answers that are numbers, vectors of numbers, or dicts of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.auditing.evidence.answers import Answers, leaves, shown
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
    """The features of the digits or bits of numbers that a reader has.

    Attributes
    ----------
    digits : whether there are any: not for few distinct whole numbers.
    whole : whether all numbers are whole.
    magnitude : of a typical number.
    fraction : the features of fractions, given the magnitude.
    """

    digits: bool
    whole: bool
    magnitude: float
    fraction: FeaturesAt

    @classmethod
    def at(cls, numbers: np.ndarray, fraction: FeaturesAt) -> DigitFeatures:
        """The features for such numbers."""
        finite = numbers[np.isfinite(numbers)]
        whole = not np.any(finite % 1.0 != 0.0)
        digits = not whole or len(np.unique(finite[:10_000])) > _FEW
        return cls(digits, whole, typical(finite), fraction)

    def features(self) -> dict[str, Feature]:
        """The features of floats, shape (n,), by name."""
        return WHOLE_FEATURES if self.whole else self.fraction(self.magnitude)


def as_numbers(answers: Answers) -> np.ndarray | None:
    """The answers as a float array of shape (n, width); None if they are not such numbers."""
    if isinstance(answers, np.ndarray):
        if answers.dtype.names:
            fields = [answers[name] for name in answers.dtype.names]
            if any(field.dtype.kind not in "fiub" or field.ndim > 1 for field in fields):
                return None
            return np.column_stack(fields).astype(np.float64)
        if answers.dtype.kind not in "fiub":
            return None
        if (
            answers.dtype.kind in "iu"
            and answers.size
            and max(abs(int(answers.max())), abs(int(answers.min()))) > 1 << 53
        ):
            return None
        return np.asarray(answers, dtype=np.float64).reshape(len(answers), -1)
    if not answers:
        return np.zeros((0, 1))
    kinds = {type(answer) for answer in answers}
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    if kind in (float, bool) or issubclass(kind, np.floating | np.bool_):
        return np.array(answers, dtype=np.float64)[:, None]
    if kind is int or issubclass(kind, np.integer):
        if max(abs(int(a)) for a in answers) > 1 << 53:
            return None
        return np.array(answers, dtype=np.float64)[:, None]
    if kind is np.ndarray and len({(a.dtype, a.shape) for a in answers}) > 1:
        return None
    if kind in (tuple, list, np.ndarray):
        try:
            table = np.array(answers)
        except ValueError:
            return None
        if table.dtype.kind not in "fiub" or table.ndim < 2 or 0 in table.shape:
            return None
        if kind is not np.ndarray and table.dtype.kind == "f" and not _all_floats(answers):
            return None
        return as_numbers(table)
    return None


def _all_floats(answers: list[Any]) -> bool:
    """Whether all leaves have the types of the first answer: a type may be a leak."""
    first = [type(leaf) for leaf in leaves(answers[0])]
    return all([type(leaf) for leaf in leaves(answer)] == first for answer in answers)


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
    """Reads numbers, vectors of one length, and dicts of numbers under the same ``keys``."""

    def __init__(
        self, width: int, digit_features: DigitFeatures, keys: tuple[str, ...] = ()
    ) -> None:
        self.width = width
        self.digit_features = digit_features
        self.keys_of_dicts = keys
        self.labels: dict[int, list[str]] = {}
        parts = ["the answer"] if width == 1 else [f"answer[{i}]" for i in range(width)]
        if keys:
            parts = [f"answer[{shown(key, 30)}]" for key in keys]
        plan: list[tuple[str, tuple[Any, ...]]] = [
            (part, ("raw", i)) for i, part in enumerate(parts)
        ]
        if 1 < width <= JOINT_WIDTH:
            plan += [(f"{parts[i + 1]} - {parts[i]}", ("step", i)) for i in range(width - 1)]
        if width > 1:
            plan += [(f"the {name}", (name, None)) for name in _JOINT]
        smooth = len(plan)
        if digit_features.digits:
            features = digit_features.features()
            for i, part in enumerate(parts if width <= WITH_BITS else []):
                plan += [(name.format(part), ("digits", (i, name))) for name in features]
            if width > WITH_BITS:
                for how in _POOLED:
                    plan += [(f"{how} {name.format('a part')}", (how, name)) for name in features]
        self.digits = frozenset(range(smooth, len(plan)))
        self.rough = frozenset(
            column
            for column, (_, how) in enumerate(plan)
            if column >= smooth and (how[1][1] if how[0] == "digits" else how[1]) in ROUGH
        )
        self.names = [name for name, _ in plan]
        self.plan = [how for _, how in plan]

    def columns(self, answers: Answers, only: Sequence[int] | None = None) -> np.ndarray:
        """The numbers, digits and bits of answers; answers of another kind are rows of NaN."""
        numbers = self._numbers(answers)
        wanted = range(len(self.names)) if only is None else only
        digits: dict[str, np.ndarray] = {}
        features = self.digit_features.features()
        table = np.empty((len(numbers), len(wanted)))
        for place, column in enumerate(wanted):
            kind, i = self.plan[column]
            if kind == "raw":
                table[:, place] = numbers[:, i]
            elif kind == "step":
                with np.errstate(invalid="ignore"):
                    table[:, place] = numbers[:, i + 1] - numbers[:, i]
            elif kind == "digits":
                part, name = i
                table[:, place] = features[name](numbers[:, part])
            elif kind in _POOLED:
                if i not in digits:
                    digits[i] = features[i](numbers.ravel()).reshape(numbers.shape)
                with np.errstate(invalid="ignore"):
                    table[:, place] = _POOLED[kind](digits[i])
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
        numbers = as_numbers(answers) if self.keys_of_dicts == keys_of(answers) else None
        if numbers is not None and numbers.shape[1] == self.width:
            return numbers
        table = np.full((len(answers), self.width), np.nan)
        for i, answer in enumerate(answers):
            row = leaves(answer)
            if self.keys_of_dicts:
                row = row[1::2] if tuple(row[::2]) == self.keys_of_dicts else []
            if len(row) == self.width:
                table[i] = [as_float(leaf) for leaf in row]
        return table


def keys_of(answers: Answers) -> tuple[str, ...]:
    """The keys of answers that are an array with a field per key; empty for others."""
    return (answers.dtype.names or ()) if isinstance(answers, np.ndarray) else ()


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
