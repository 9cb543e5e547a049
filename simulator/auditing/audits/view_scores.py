"""Scores of answers given their challenges, which are added up over the rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.auditing.evidence.answers import as_records
from simulator.auditing.evidence.bins import bin_counts, bin_of, cut
from simulator.auditing.evidence.columns import AnswerReader, read
from simulator.auditing.evidence.float_features import FeaturesAt
from simulator.auditing.evidence.scores import Binned

COARSENESS = (2, 4, 8, 16, 32, 64)
"""The numbers of bins that are tried on held-out answers."""
MOST_ANSWERS = 100_000
"""Answers on each side that one score is learned from."""
LEAST_ANSWERS = 32
"""The least number of answers on each side for a score."""
_SMOOTHING = 1.0
_FIRST_ANSWERS = 256
"""The number of answers that are tested for repetition."""


@dataclass(frozen=True)
class RoundScore:
    """ln of the ratio of an answer's frequencies in the two experiments, by ``bins`` of a column.

    A sum over rounds adds these ratios up, so each is of shares, not of counts.
    """

    reader: AnswerReader
    bins: Binned

    @property
    def rough(self) -> bool:
        """Whether its column depends on the rounding of floating-point noise."""
        return self.bins.column in self.reader.rough

    @classmethod
    def learn(
        cls, answers_0: list[Any], answers_1: list[Any], features: FeaturesAt
    ) -> RoundScore | None:
        """The score of one challenge from its answers in both experiments; None for too few.

        The column and its bins are chosen by their information on held-out answers; the ratios are
        then those of all answers.
        """
        answers = answers_0[:MOST_ANSWERS], answers_1[:MOST_ANSWERS]
        if min(map(len, answers)) < LEAST_ANSWERS:
            return None
        reader = read(as_records(answers[0]), as_records(answers[1]), features)
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
        return cls(reader, Binned(column, reader.names[column], edges, ratios))

    def of(self, answers: list[Any]) -> np.ndarray:
        """The score of each answer, shape (n,)."""
        return self.bins.of_column(columns_of(self.reader, answers, [self.bins.column])[:, 0])


def columns_of(
    reader: AnswerReader, answers: list[Any], only: Sequence[int] | None = None
) -> np.ndarray:
    """The reader's columns; repeated answers are read once."""
    try:
        few = len(set(answers[:_FIRST_ANSWERS])) <= _FIRST_ANSWERS // 4 < len(answers)
        kinds = [(type(answer), answer) for answer in answers] if few else []
        first = dict.fromkeys(kinds)
    except TypeError:  # not hashable
        few = False
    if not few:
        return reader.columns(as_records(answers), only)
    places = {kind: i for i, kind in enumerate(first)}
    table = reader.columns(as_records([answer for _, answer in first]), only)
    return table[[places[kind] for kind in kinds]]


def log_ratio(values: list[np.ndarray], edges: np.ndarray) -> np.ndarray:
    """Smoothed log ratios of frequencies by bin."""
    shares = [
        (bin_counts(v, edges) + _SMOOTHING) / (len(v) + _SMOOTHING * (len(edges) + 2))
        for v in values
    ]
    return np.log(shares[0]) - np.log(shares[1])


def information(values: list[np.ndarray], edges: np.ndarray, ratios: np.ndarray) -> float:
    """The information of the ratios about a uniform b, in nats per answer."""
    means = [
        np.mean(np.logaddexp(0.0, -sign * ratios[bin_of(v, edges)]))
        for v, sign in zip(values, (1.0, -1.0))
    ]
    return float(np.log(2.0) - 0.5 * (means[0] + means[1]))
