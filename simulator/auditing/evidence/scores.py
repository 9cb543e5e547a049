"""Scores: functions of an answer; an event is a score and a threshold.

The scores of this module are a column, and the log ratio of frequencies by interval or by answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np

from simulator.auditing.evidence.answers import Answers
from simulator.auditing.evidence.bins import Ordered, bin_of, cut
from simulator.auditing.evidence.columns import AnswerReader, Columns, KeptColumns

REPEATS = 5
"""The least count of an answer that repeats."""
MOST_EXAMPLES = 4096
"""The largest number of repeated answers that a score can name."""
SLOW_ROWS = 65_536
"""Rows per input on which the slowest scores are evaluated to choose among their events."""
LETTERS = ("first character of ", "last character of ")
"""The beginnings of the names of columns of characters, by their code points."""
DIGITS_READ = 262_144
"""Numbers per input whose digits are used; these features are slow."""


class Score(Protocol):
    """A function of an answer.

    Attributes
    ----------
    cost : the evidence, in nats, by which it must exceed a simpler score.
    handicap : the same as a share of the growth per draw, for slower scores.
    quick : whether its time is negligible.
    slow : whether it is evaluated on SLOW_ROWS answers alone to choose among its events.
    log_ratio : whether it estimates ln of the ratio of likelihoods, input 0 over 1, but for a
        constant.
    columns : the columns of the reader that it uses.
    """

    cost: ClassVar[float]
    handicap: ClassVar[float]
    quick: ClassVar[bool]
    slow: ClassVar[bool]
    log_ratio: ClassVar[bool]

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns of the reader that it uses."""

    def of(self, reader: Columns, answers: Answers) -> np.ndarray:
        """The score of each answer, shape (n,), or NaN."""

    def words(self, side: str, threshold: float) -> str:
        """The event that the score is on one side (">=" or "<") of a threshold."""


@dataclass(frozen=True)
class Column:
    """A column, unchanged."""

    cost: ClassVar[float] = 0.0
    handicap: ClassVar[float] = 0.0
    quick: ClassVar[bool] = True
    slow: ClassVar[bool] = False
    log_ratio: ClassVar[bool] = False

    column: int
    text: str

    @property
    def columns(self) -> tuple[int, ...]:
        """The one column."""
        return (self.column,)

    def of(self, reader: Columns, answers: Answers) -> np.ndarray:
        """The column."""
        return reader.columns(answers, [self.column])[:, 0]

    def words(self, side: str, threshold: float) -> str:
        """The event in words: the column on one side of a threshold."""
        if self.text.startswith("whether there is "):
            there = self.text.removeprefix("whether there is ")
            return f"there is {there}" if side == ">=" else f"there is no {there}"
        if self.text.startswith(LETTERS) and 0 <= threshold < 0x110000 and threshold % 1 == 0:
            letter = repr(chr(int(threshold)))
            later = f"is {letter} or comes after it"
            return f"{self.text} {later if side == '>=' else f'comes before {letter}'}"
        return f"{self.text} {side} {threshold:.9g}"


@dataclass(frozen=True)
class Binned:
    """The log ratio of the two inputs' frequencies, by bins of a column; a NaN has its own bin."""

    cost: ClassVar[float] = 3.0
    handicap: ClassVar[float] = 0.03
    quick: ClassVar[bool] = False
    slow: ClassVar[bool] = False
    log_ratio: ClassVar[bool] = True

    column: int
    text: str
    edges: np.ndarray
    ratios: np.ndarray
    labels: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[int, ...]:
        """The one column."""
        return (self.column,)

    @classmethod
    def learn(
        cls, reader: AnswerReader, column: int, x_0: np.ndarray, x_1: np.ndarray
    ) -> tuple[Binned, float]:
        """From one column on both inputs, shapes (n_0,) and (n_1,).

        Returns it, and how well the column alone separates the inputs: a sum of squared
        studentised differences.
        """
        text, labels = reader.names[column], tuple(reader.labels.get(column, ()))
        x_0, x_1 = np.sort(x_0), np.sort(x_1)
        edges = cut(np.concatenate([x_0, x_1]))
        first, second = (Ordered.of(x).counts(edges) for x in (x_0, x_1))
        rate = first.sum() / max(second.sum(), 1.0)
        gap = first - rate * second
        apart = float(np.sum(gap**2 / (first + rate**2 * second + 1.0)) / len(gap))
        return cls(column, text, edges, log_ratios(first, second), labels), apart

    def of(self, reader: Columns, answers: Answers) -> np.ndarray:
        """The log ratio of the bin that holds each answer."""
        return self.of_column(reader.columns(answers, [self.column])[:, 0])

    def halved(self, threshold: float) -> Binned:
        """The same with bins joined where neighbours are on one side of a threshold: quicker."""
        above = self.ratios >= threshold
        ends = np.flatnonzero(above[1:-1] != above[:-2])
        return replace(self, edges=self.edges[ends], ratios=self.ratios[[0, *(ends + 1), -1]])

    def of_column(self, x: np.ndarray) -> np.ndarray:
        """The score of each entry of the column."""
        return self.ratios[bin_of(x, self.edges)]

    def words(self, side: str, threshold: float) -> str:
        """The event in words: the column's intervals, or its kinds, on that side."""
        inside = self.ratios >= threshold if side == ">=" else self.ratios < threshold
        if self.labels:
            return self._kinds(inside)
        ends = np.concatenate([[-np.inf], self.edges, [np.inf]])
        spans: list[list[float]] = []
        for i in np.flatnonzero(inside[:-1]):
            if spans and spans[-1][1] == ends[i]:
                spans[-1][1] = ends[i + 1]
            else:
                spans.append([ends[i], ends[i + 1]])
        parts = [f"[{low:.6g}, {high:.6g})" for low, high in spans[:4]]
        if len(spans) > 4:
            parts.append(f"{len(spans) - 4} more intervals")
        if inside[-1]:
            parts.append("none at all")
        return f"{self.text} in {' or '.join(parts)}"

    def _kinds(self, inside: np.ndarray) -> str:
        named = {int(edge): i + 1 for i, edge in enumerate(self.edges)}
        names = [
            label
            for code, label in enumerate(self.labels)
            if inside[named.get(code, 0) if code in named else 0]
        ]
        if inside[named.get(-1, 0)]:
            names.append("a rare one")
        if inside[-1]:
            names.append("none at all")
        return f"{self.text} is {' or '.join(names[:5])}" + (" or others" if names[5:] else "")


def log_ratios(counts_0: np.ndarray, counts_1: np.ndarray) -> np.ndarray:
    """Smoothed log ratios of frequencies: a bin that neither has seen favours neither."""
    n_0, n_1 = max(counts_0.sum(), 1), max(counts_1.sum(), 1)
    return np.log((counts_0 + 1.0) / (n_0 + 1.0)) - np.log((counts_1 + 1.0) / (n_1 + 1.0))


@dataclass(frozen=True)
class Kinds:
    """The log ratio by answer, where answers repeat; those not known share one number.

    Attributes
    ----------
    known : keys of answers, ascending; ``ratios`` has one more entry, for all others.
    """

    cost: ClassVar[float] = 1.0
    handicap: ClassVar[float] = 0.01
    quick: ClassVar[bool] = True
    slow: ClassVar[bool] = False
    log_ratio: ClassVar[bool] = True

    known: np.ndarray
    ratios: np.ndarray
    examples: tuple[str, ...]

    @property
    def columns(self) -> tuple[int, ...]:
        """None: it reads whole answers."""
        return ()

    @classmethod
    def learn(cls, reader: AnswerReader, answers_0: Answers, answers_1: Answers) -> Kinds | None:
        """From answers on both inputs; None where none is among them REPEATS times."""
        keys_0, keys_1 = reader.keys(answers_0), reader.keys(answers_1)
        both = np.concatenate([keys_0, keys_1])
        ascending = np.sort(both)
        if not np.any(ascending[REPEATS - 1 :] == ascending[: 1 - REPEATS]):
            return None
        keys, first, counts = np.unique(both, return_index=True, return_counts=True)
        often = counts >= REPEATS
        known, first = keys[often], first[often]
        examples = [
            reader.show(answers_0[i] if i < len(keys_0) else answers_1[i - len(keys_0)])
            for i in first[:MOST_EXAMPLES]
        ]
        tables = [np.bincount(_place(k, known), minlength=len(known) + 1) for k in (keys_0, keys_1)]
        return cls(known, log_ratios(tables[0], tables[1]), tuple(examples))

    def of(self, reader: Columns, answers: Answers) -> np.ndarray:
        """The log ratio of each answer's kind."""
        return self.ratios[_place(reader.keys(answers), self.known)]

    def words(self, side: str, threshold: float) -> str:
        """The event in words: the answers whose log ratio is on that side, or all others."""
        inside = (self.ratios >= threshold) == (side == ">=")
        rest = bool(inside[-1])
        if rest and np.count_nonzero(inside[:-1]) > np.count_nonzero(~inside[:-1]):
            outside = np.flatnonzero(~inside[:-1])
            return (
                f"the answer is none of {self._listed(outside)}" if len(outside) else "any answer"
            )
        listed = self._listed(np.flatnonzero(inside[:-1]))
        if not listed:
            return "the answer is a rare one"
        return f"the answer is {listed}" + (" or a rare one" if rest else "")

    def _listed(self, places: np.ndarray) -> str:
        some = [self.examples[i] if i < len(self.examples) else "..." for i in places[:4]]
        more = f" or {len(places) - 4} others" if len(places) > 4 else ""
        return " or ".join(some) + more


def _place(keys: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The place of each key among the known ones, or their number."""
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[places] == keys, places, len(known))


def single_scores(
    reader: AnswerReader, answers_0: Answers, answers_1: Answers
) -> tuple[list[Score], list[Binned], tuple[np.ndarray, np.ndarray]]:
    """The scores of single columns that these answers suggest, and what they were made of.

    Returns
    -------
    Scores of answers that repeat and of the columns that differ most; the bins of every column;
    the tables of both inputs.
    """
    scores: list[Score] = []
    kinds = Kinds.learn(reader, answers_0, answers_1)
    if kinds is not None:
        scores.append(kinds)
    x_0, x_1 = table_of(reader, answers_0), table_of(reader, answers_1)
    few = digit_rows(reader)
    most = [few if i in reader.digits else None for i in range(len(reader.names))]
    binned, apart = zip(
        *(Binned.learn(reader, i, x_0[:rows, i], x_1[:rows, i]) for i, rows in enumerate(most))
    )
    order = np.argsort([-each for each in apart], kind="stable")
    for i in order[:4]:
        scores.append(binned[i])
        if i not in reader.labels:
            scores.append(Column(int(i), reader.names[i]))
    if 0 not in order[:4] and 0 not in reader.labels:
        scores.append(Column(0, reader.names[0]))
    return scores, list(binned), (x_0, x_1)


def table_of(reader: AnswerReader, answers: Answers) -> np.ndarray:
    """All columns of the answers, those of digits for the first ones only: they are slow."""
    smooth = [i for i in range(len(reader.names)) if i not in reader.digits]
    few = digit_rows(reader)
    if not reader.digits or len(answers) <= few:
        return reader.columns(answers)
    table = np.full((len(answers), len(reader.names)), np.nan)
    table[:, smooth] = reader.columns(answers, smooth)
    digits = sorted(reader.digits)
    table[:few, digits] = reader.columns(answers[:few], digits)
    return table


def digit_rows(reader: AnswerReader) -> int:
    """The number of answers per input whose digits are read."""
    return max(DIGITS_READ // max(reader.width, 4), 1024)


def sample_of(score: Score, kept: KeptColumns, answers: Answers) -> Ordered:
    """The scores of some answers in ascending order."""
    if isinstance(score, Column):
        return Ordered.of(kept.ordered(answers, score.column))
    if isinstance(score, Binned):
        counts = Ordered.of(kept.ordered(answers, score.column)).counts(score.edges)
        return Ordered.weighed(score.ratios, counts)
    return Ordered.of(np.sort(score.of(kept, answers)))
