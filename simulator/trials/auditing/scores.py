"""Scores: functions of an answer that order answers by how much they favour one input.

An event is a score and a threshold. Here are the scores that count: a number as it is, the ratio
of frequencies by interval, and that by answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from simulator.trials.auditing.answer_columns import AnswerReader
from simulator.trials.auditing.answers import Answers

BINS = 64
REPEATS = 5
"""How often an answer must occur for it to count as one that repeats."""
MOST_EXAMPLES = 4096


class Score(Protocol):
    """A function of an answer."""

    def of(self, reader: AnswerReader, answers: Answers) -> np.ndarray:
        """The score of each answer, shape (n,); NaN where it has none."""

    def words(self, side: str, threshold: float) -> str:
        """The event that the score is on one side (">=" or "<") of a threshold."""


@dataclass(frozen=True)
class Column:
    """A column as it is."""

    column: int
    text: str

    def of(self, reader: AnswerReader, answers: Answers) -> np.ndarray:
        """See :class:`Score`."""
        return reader.columns(answers, [self.column])[:, 0]

    def words(self, side: str, threshold: float) -> str:
        """See :class:`Score`."""
        return f"{self.text} {side} {threshold:.9g}"


@dataclass(frozen=True)
class Binned:
    """The log ratio of the two inputs' frequencies, by bins of a column; a NaN has its own bin."""

    column: int
    text: str
    edges: np.ndarray
    ratios: np.ndarray
    labels: tuple[str, ...] = ()

    @classmethod
    def learn(cls, reader: AnswerReader, column: int, x_0: np.ndarray, x_1: np.ndarray) -> Binned:
        """From one column on both inputs, shapes (n_0,) and (n_1,)."""
        text, labels = reader.names[column], tuple(reader.labels.get(column, ()))
        edges = cut(np.concatenate([x_0, x_1]))
        counts = [bin_counts(x, edges) for x in (x_0, x_1)]
        return cls(column, text, edges, log_ratios(counts[0], counts[1]), labels)

    def of(self, reader: AnswerReader, answers: Answers) -> np.ndarray:
        """See :class:`Score`."""
        return self.of_column(reader.columns(answers, [self.column])[:, 0])

    def of_column(self, x: np.ndarray) -> np.ndarray:
        """The score of each entry of the column."""
        return self.ratios[bin_of(x, self.edges)]

    def words(self, side: str, threshold: float) -> str:
        """See :class:`Score`."""
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


def cut(values: np.ndarray) -> np.ndarray:
    """Edges of bins: the distinct values where they are few, else quantiles."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return np.zeros(0)
    distinct = np.unique(finite)
    if len(distinct) <= 2 * BINS:
        return distinct
    return np.unique(np.quantile(finite, np.linspace(0.0, 1.0, BINS + 1)[1:-1], method="lower"))


def bin_of(x: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The bin of each number; the last bin is that of NaN."""
    bins = np.searchsorted(edges, x, side="right")
    bins[np.isnan(x)] = len(edges) + 1
    return bins


def bin_counts(x: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """How many numbers each bin holds."""
    return np.bincount(bin_of(x, edges), minlength=len(edges) + 2)


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

    known: np.ndarray
    ratios: np.ndarray
    examples: tuple[str, ...]

    @classmethod
    def learn(cls, reader: AnswerReader, answers_0: Answers, answers_1: Answers) -> Kinds | None:
        """From answers on both inputs; None where hardly any repeat."""
        keys_0, keys_1 = reader.keys(answers_0), reader.keys(answers_1)
        keys, first, counts = np.unique(
            np.concatenate([keys_0, keys_1]), return_index=True, return_counts=True
        )
        often = counts >= REPEATS
        if not often.any():
            return None
        known, first = keys[often], first[often]
        examples = [
            reader.show(answers_0[i] if i < len(keys_0) else answers_1[i - len(keys_0)])
            for i in first[:MOST_EXAMPLES]
        ]
        tables = [np.bincount(_place(k, known), minlength=len(known) + 1) for k in (keys_0, keys_1)]
        return cls(known, log_ratios(tables[0], tables[1]), tuple(examples))

    def of(self, reader: AnswerReader, answers: Answers) -> np.ndarray:
        """See :class:`Score`."""
        return self.ratios[_place(reader.keys(answers), self.known)]

    def words(self, side: str, threshold: float) -> str:
        """See :class:`Score`."""
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
