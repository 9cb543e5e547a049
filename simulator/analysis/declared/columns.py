"""Columns of numbers made of answers of any kind, from which events are chosen.

Noise that is added in floating point rounds differently beside different values (Mironov 2012), so
the last bits of an honest float differ between databases. The columns are of two kinds: *exact*
ones, whose law no honest rounding moves (the answer, its loss, its first twelve digits), and
*rough* ones (its bits).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.foundations.digits import SIGNIFICANT, significant, typical

MOST_PLACES = 8
"""Coordinates of a vector that become columns of their own."""
LOSS = 0
"""The place of the loss among the columns that are no codes."""
MANTISSA = 52
UNUSABLE = 63
"""The code of what has no digits: an infinite answer, or one far from the others."""


@dataclass(frozen=True)
class ColumnBlock:
    """Columns of one kind.

    Attributes
    ----------
    names : of the columns, in words.
    table : shape (answers, columns): floats, or codes from 0 to 63 as uint8.
    rough : whether honest rounding moves their law.
    """

    names: tuple[str, ...]
    table: np.ndarray
    rough: bool = False

    @property
    def coded(self) -> bool:
        """Whether the columns are small whole numbers."""
        return self.table.dtype == np.uint8


class Tabulator:
    """Makes columns of answers, the same ones for all answers after the first.

    Parameters
    ----------
    answers : the first answers, of both databases: how wide and how large they are.
    """

    def __init__(self, answers: Sequence[Any]) -> None:
        table = numbers(answers)
        self.width = 0 if table is None or table.shape[1] > MOST_PLACES else table.shape[1]
        self.codes: dict[Any, int] = {}
        self.magnitude = 1.0
        self.digits = False
        if self.width:
            assert table is not None
            self.digits = bool((table[np.isfinite(table)] % 1.0 != 0.0).any())
            self.magnitude = typical(table)

    def blocks(self, answers: Sequence[Any], losses: np.ndarray) -> tuple[ColumnBlock, ...]:
        """The columns of answers and their losses, shape (answers,)."""
        table = numbers(answers)
        if table is None or table.shape[1] != self.width:
            table = np.full((len(answers), self.width), np.nan)
        places = [f"answer[{i}]" for i in range(self.width)] if self.width > 1 else ["the answer"]
        if not self.width:
            column = [self.codes.setdefault(key(a), len(self.codes)) for a in answers]
            table, places = np.array(column, dtype=float)[:, None], ["the number of the answer"]
        blocks = [ColumnBlock(("its loss", *places), np.column_stack([losses, table]))]
        if self.digits:
            for i, place in enumerate(places):
                blocks += [digits(place, table[:, i], self.magnitude), bits(place, table[:, i])]
        return tuple(blocks)


def numbers(answers: Sequence[Any]) -> np.ndarray | None:
    """Answers as floats of shape (answers, width), or None where they are not all numbers."""
    try:
        table = np.array(answers)
    except ValueError:  # of different shapes
        return None
    if table.dtype.kind not in "fiub" or not table.size:
        return None
    return table.astype(np.float64).reshape(len(answers), -1)


def key(answer: Any) -> Any:
    """Something hashable that is equal for equal answers."""
    if isinstance(answer, np.ndarray):
        return answer.shape, answer.tobytes()
    try:
        hash(answer)
    except TypeError:
        return repr(answer)
    return answer


def digits(place: str, x: np.ndarray, magnitude: float) -> ColumnBlock:
    """The first SIGNIFICANT decimal digits of floats, shape (n,), and how many zeros end them."""
    number, usable = significant(x, magnitude)
    rest = np.where(usable, number, 0.0).astype(np.int64)
    table = np.empty((len(x), SIGNIFICANT + 1), dtype=np.uint8)
    for d in range(SIGNIFICANT):
        rest, table[:, 1 + d] = np.divmod(rest, 10)
    some = (table[:, 1:] != 0).any(axis=1)
    table[:, 0] = np.where(some, (table[:, 1:] != 0).argmax(axis=1), SIGNIFICANT)
    table[~usable] = UNUSABLE
    names = [f"digit {SIGNIFICANT - d} of {place}" for d in range(SIGNIFICANT)]
    return ColumnBlock(
        (f"the number of zeros that end {place}, to {SIGNIFICANT} digits,", *names), table
    )


def bits(place: str, x: np.ndarray) -> ColumnBlock:
    """Each bit of the mantissas of floats, shape (n,), and how many zero bits end them."""
    words = np.ascontiguousarray(x, dtype="<f8").view(np.uint8).reshape(len(x), 8)
    table = np.unpackbits(words, axis=1, bitorder="little")[:, :MANTISSA]
    zeros = np.where(table.any(axis=1), table.argmax(axis=1), MANTISSA).astype(np.uint8)
    names = [f"bit {i} of the mantissa of {place}" for i in range(MANTISSA)]
    return ColumnBlock(
        (f"the number of zero bits that end {place}", *names),
        np.column_stack([zeros, table]),
        rough=True,
    )
