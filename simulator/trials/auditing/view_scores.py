"""What one round's answer says about b, given what was asked: a number to be added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.trials.auditing.answer_columns import AnswerReader, read
from simulator.trials.auditing.scores import bin_counts, bin_of, cut

COARSENESS = (2, 4, 8, 16, 32, 64)
"""Numbers of bins to choose from, by what they say about answers that they were not made of."""
MOST_ANSWERS = 100_000
"""Answers on each side that one score is learned from."""
LEAST_ANSWERS = 32
_SMOOTHING = 1.0
_LOOKED_AT = 256
"""Answers by which to see whether they repeat."""


@dataclass(frozen=True)
class RoundScore:
    """ln of the ratio of an answer's frequencies in the two experiments, by bins of one column.

    Attributes
    ----------
    reader, column : which column of the answer.
    edges, ratios : of the bins, shapes (m,) and (m + 2,); the last is that of NaN.
    """

    reader: AnswerReader
    column: int
    edges: np.ndarray
    ratios: np.ndarray

    @classmethod
    def learn(cls, answers_0: list[Any], answers_1: list[Any], bits: bool) -> RoundScore | None:
        """From answers to one challenge in both experiments; None from too few.

        The column and its bins are chosen on one half by what they say about the other half; the
        ratios are then those of all answers.
        """
        answers = answers_0[:MOST_ANSWERS], answers_1[:MOST_ANSWERS]
        if min(map(len, answers)) < LEAST_ANSWERS:
            return None
        reader = read(*answers, bits=bits)
        tables = [columns_of(reader, each) for each in answers]
        best, chosen = 0.0, None
        for column in range(len(reader.names)):
            values = [table[:, column] for table in tables]
            finest = cut(np.concatenate([v[::2] for v in values]))
            for bins in COARSENESS:
                step = max(1, len(finest) // bins)
                edges = finest[step // 2 :: step]
                ratios = log_ratio([v[::2] for v in values], edges)
                gain = information([v[1::2] for v in values], edges, ratios)
                if gain > best:
                    best, chosen = gain, (column, edges)
                if step == 1:
                    break
        if chosen is None:
            return None
        column, edges = chosen
        ratios = log_ratio([table[:, column] for table in tables], edges)
        return cls(reader, column, edges, ratios)

    def of(self, answers: list[Any]) -> np.ndarray:
        """The score of each answer, shape (n,)."""
        column = columns_of(self.reader, answers, [self.column])[:, 0]
        return self.ratios[bin_of(column, self.edges)]


def columns_of(
    reader: AnswerReader, answers: list[Any], only: Sequence[int] | None = None
) -> np.ndarray:
    """The reader's columns; of answers that repeat each is read once."""
    try:
        few = len(set(answers[:_LOOKED_AT])) <= _LOOKED_AT // 4 < len(answers)
        kinds = [(type(answer), answer) for answer in answers] if few else []
        first = dict.fromkeys(kinds)
    except TypeError:  # not hashable
        few = False
    if not few:
        return reader.columns(answers, only)
    places = {kind: i for i, kind in enumerate(first)}
    table = reader.columns([answer for _, answer in first], only)
    return table[[places[kind] for kind in kinds]]


def log_ratio(values: list[np.ndarray], edges: np.ndarray) -> np.ndarray:
    """Smoothed log ratios of frequencies by bin."""
    shares = [
        (bin_counts(v, edges) + _SMOOTHING) / (len(v) + _SMOOTHING * (len(edges) + 2))
        for v in values
    ]
    return np.log(shares[0]) - np.log(shares[1])


def information(values: list[np.ndarray], edges: np.ndarray, ratios: np.ndarray) -> float:
    """How much better than a coin the ratios guess b, in nats per answer, both b as likely."""
    means = [
        np.mean(np.logaddexp(0.0, -sign * ratios[bin_of(v, edges)]))
        for v, sign in zip(values, (1.0, -1.0))
    ]
    return float(np.log(2.0) - 0.5 * (means[0] + means[1]))
