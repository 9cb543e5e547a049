"""From answers of any kind to a table of numbers that events can be learned from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from simulator.auditing.evidence.answers import Answers, NumberRows
from simulator.auditing.evidence.float_features import FeaturesAt, bit_features
from simulator.auditing.evidence.irregular import IrregularReader
from simulator.auditing.evidence.numeric import NumericReader, as_numbers

WIDEST = 1024
"""The largest length of a vector whose coordinates are columns."""


class Columns(Protocol):
    """Columns of numbers of answers."""

    def columns(self, answers: Answers, only: Sequence[int] | None = None) -> np.ndarray:
        """Float array of shape (n, number of columns), or of the columns ``only``."""

    def keys(self, answers: Answers) -> np.ndarray:
        """A number for each answer, equal for equal answers; uint64 of shape (n,)."""


class AnswerReader(Columns, Protocol):
    """Converts answers into columns of numbers."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""

    @property
    def width(self) -> int:
        """How many of the first columns are an answer's parts; 0 if answers vary in shape."""

    @property
    def digits(self) -> frozenset[int]:
        """The columns of digits or bits of floats."""

    @property
    def rough(self) -> frozenset[int]:
        """The columns whose law depends on the rounding of floating-point noise (Mironov 2012)."""

    @property
    def labels(self) -> Mapping[int, Sequence[str]]:
        """By column of codes, what each code means."""

    @property
    def learned(self) -> frozenset[int]:
        """The columns that were learned, which overfit the answers they were learned from."""

    def show(self, answer: Any) -> str:
        """An answer as a short text."""


class KeptColumns:
    """The columns of a few batches, where each that is read alone is computed and sorted once."""

    def __init__(self, reader: Columns) -> None:
        self.reader = reader
        self._read: dict[tuple[int, int], np.ndarray] = {}
        self._sorted: dict[tuple[int, int], np.ndarray] = {}
        self._answers: dict[int, Answers] = {}  # an identity is one's own while it is kept

    def columns(self, answers: Answers, only: Sequence[int] | None = None) -> np.ndarray:
        """Float array of shape (n, number of columns), or of the columns ``only``."""
        if only is None or len(only) != 1:
            return self.reader.columns(answers, only)
        return self._kept(self._read, answers, only[0], self._column)[:, None]

    def ordered(self, answers: Answers, column: int) -> np.ndarray:
        """One column in ascending order, NaN last; shape (n,)."""
        return self._kept(self._sorted, answers, column, self._in_order)

    def keys(self, answers: Answers) -> np.ndarray:
        """A number for each answer, equal for equal answers; uint64 of shape (n,)."""
        return self.reader.keys(answers)

    def _column(self, answers: Answers, column: int) -> np.ndarray:
        return self.reader.columns(answers, [column])[:, 0]

    def _in_order(self, answers: Answers, column: int) -> np.ndarray:
        return np.sort(self.columns(answers, [column])[:, 0])

    def _kept(
        self,
        known: dict[tuple[int, int], np.ndarray],
        answers: Answers,
        column: int,
        make: Callable[[Answers, int], np.ndarray],
    ) -> np.ndarray:
        key = id(answers), column
        if key not in known:
            self._answers[id(answers)] = answers
            known[key] = make(answers, column)
        return known[key]


def read(
    answers_0: Answers, answers_1: Answers, features: FeaturesAt = bit_features
) -> AnswerReader:
    """A reader for answers such as these; later answers may be of any type.

    ``features`` of floats are all bits by default, or ``digit_features``.
    """
    numbers_0, numbers_1 = as_numbers(answers_0), as_numbers(answers_1)
    alike = kind_of(answers_0) == kind_of(answers_1)
    if alike and numbers_0 is not None and numbers_1 is not None:
        width = numbers_0.shape[1]
        if width == numbers_1.shape[1] and width <= WIDEST:
            form = answers_0.form if isinstance(answers_0, NumberRows) else None
            return NumericReader(np.vstack([numbers_0, numbers_1]), form, features)
    return IrregularReader.of(answers_0, answers_1, features)


def kind_of(answers: Answers) -> Hashable:
    """The type and the form of the answers: 1 and 1.0 are not the same answer."""
    if isinstance(answers, NumberRows):
        return answers.form
    if isinstance(answers, np.ndarray):
        return str(answers.dtype)
    return type(answers[0]).__name__ if answers else ""
