"""Columns of the views of whole interactions, from which events are learned.

A view's likelihood ratio is the product, over its rounds, of the ratios of the answers given
the challenges, because the coins have the same law in both experiments. The first columns are sums
over the rounds of scores learned for each challenge: pooled over its rounds, and for each round
separately, if answers depend on the past.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from simulator.auditing.audits.view_scores import RoundScore
from simulator.auditing.evidence.answers import Answers, as_records, shown
from simulator.auditing.evidence.columns import AnswerReader, read
from simulator.auditing.evidence.float_features import FeaturesAt, digit_features

MOST_SCORES = 64
"""The number of the commonest challenges, and of challenges by round, with learned scores."""
SHOWN_ROUNDS = 8
"""The number of rounds whose answers are columns."""
SHOWN_CHALLENGES = 8
"""The number of challenges with columns."""
_REMEMBERED = 6
"""How many tables a reader caches."""


def rounds_type(rounds: int) -> np.dtype[Any]:
    """The type of a played view: the number of the challenge of each round, and each answer."""
    return np.dtype([("challenge", np.int32, (rounds,)), ("answer", object, (rounds,))])


class ViewReader:
    """Reads played views, arrays of :func:`rounds_type`; see :class:`AnswerReader`.

    Parameters
    ----------
    answers_0, answers_1 : views of both experiments to learn scores from.
    challenges : the text of each one, by number.
    features : of floats.
    """

    width = 0
    digits: frozenset[int] = frozenset()

    def __init__(
        self,
        answers_0: Answers,
        answers_1: Answers,
        *,
        challenges: Sequence[str],
        features: FeaturesAt,
    ) -> None:
        both = [as_views(each) for each in (answers_0, answers_1)]
        self.type = both[0].dtype
        self.rounds = both[0]["challenge"].shape[1]
        self.pooled: dict[tuple[int, int], RoundScore] = {}
        self.apart: dict[tuple[int, int], RoundScore] = {}
        labels, counts = np.unique(
            np.concatenate([views["challenge"].ravel() for views in both]), return_counts=True
        )
        common = labels[np.argsort(-counts, kind="stable")]
        for label in common[:MOST_SCORES]:
            self._learn(self.pooled, (int(label), -1), both, features)
        if self.rounds > 1:
            for key in commonest(both):
                self._learn(self.apart, key, both, features)
        self.shown = [int(label) for label in common[:SHOWN_CHALLENGES]]
        self.firsts: list[AnswerReader] = []
        names = [f"the sum over the rounds of a score of {column_names(self.pooled)}"]
        if self.rounds > 1:
            names.append(f"the sum of a score for each round of {column_names(self.apart)}")
        if len(common) > 1:
            names += [f"the sum of scores of {challenges[label]}" for label in self.shown]
            names += [f"the number of rounds of {challenges[label]}" for label in self.shown]
        for i in range(min(self.rounds, SHOWN_ROUNDS)):
            reader = read(
                both[0]["answer"][:, i].tolist(), both[1]["answer"][:, i].tolist(), digit_features
            )
            self.firsts.append(reader)
            names.append(f"round {i + 1}: {reader.names[0]}")
        self.names = names
        self.learned = frozenset(range(len(names) - len(self.firsts)))
        self.labels: dict[int, Sequence[str]] = {
            len(names) - len(self.firsts) + i: reader.labels[0]
            for i, reader in enumerate(self.firsts)
            if 0 in reader.labels
        }
        rough = [any(score.rough for score in kept.values()) for kept in (self.pooled, self.apart)]
        some = {0: rough[0], 1: self.rounds > 1 and rough[1]}
        if len(common) > 1:
            start = 2 if self.rounds > 1 else 1
            some |= {start + i: rough[0] for i in range(len(self.shown))}
        self.rough = frozenset(column for column, whether in some.items() if whether)
        self._known: list[tuple[Answers, np.ndarray]] = []

    def _learn(
        self,
        scores: dict[tuple[int, int], RoundScore],
        key: tuple[int, int],
        both: list[np.ndarray],
        features: FeaturesAt,
    ) -> None:
        first, second = (answers_to(views, *key) for views in both)
        score = RoundScore.learn(first, second, features)
        if score is not None:
            scores[key] = score

    def show(self, answer: Any) -> str:
        """The answers of a view's first rounds as text."""
        _, answers = answer.item()
        return "the view " + ", ".join(shown(each, 30) for each in answers[:SHOWN_ROUNDS])

    def columns(self, answers: Answers, only: Sequence[int] | None = None) -> np.ndarray:
        """The columns of views; the table is kept for views that are read again."""
        table = next((known for views, known in self._known if views is answers), None)
        if table is None:
            table = self._table(as_views(answers))
            self._known = [*self._known[1 - _REMEMBERED :], (answers, table)]
        return table if only is None else table[:, list(only)]

    def _table(self, views: np.ndarray) -> np.ndarray:
        pooled = self._scored(views, self.pooled)
        columns = [pooled.sum(axis=1)]
        if self.rounds > 1:
            columns.append(self._scored(views, self.apart).sum(axis=1))
        if len(self.names) > len(columns) + len(self.firsts):
            masks = [views["challenge"] == label for label in self.shown]
            columns += [np.where(mask, pooled, 0.0).sum(axis=1) for mask in masks]
            columns += [mask.sum(axis=1).astype(float) for mask in masks]
        for i, reader in enumerate(self.firsts):
            columns.append(reader.columns(as_records(views["answer"][:, i].tolist()), [0])[:, 0])
        return np.column_stack(columns)

    def _scored(self, views: np.ndarray, scores: dict[tuple[int, int], RoundScore]) -> np.ndarray:
        """Each round's score, shape (views, rounds); 0 without a learned one."""
        table = np.zeros(views["challenge"].shape)
        for (label, i), score in scores.items():
            part = np.s_[:, :] if i < 0 else np.s_[:, i : i + 1]
            mask = views["challenge"][part] == label
            if mask.any():
                table[part][mask] = score.of(views["answer"][part][mask].tolist())
        return table

    def keys(self, answers: Answers) -> np.ndarray:
        """A digest of each view's challenges and answers."""
        views = as_views(answers)
        pairs = zip(views["challenge"].tolist(), views["answer"].tolist())
        words = (repr(pair).encode() for pair in pairs)
        digests = [blake2b(word, digest_size=8).digest() for word in words]
        return np.frombuffer(b"".join(digests), dtype=np.uint64)


def commonest(both: list[np.ndarray]) -> list[tuple[int, int]]:
    """The commonest pairs of a challenge's number and a round, at most MOST_SCORES."""
    counted: Counter[tuple[int, int]] = Counter()
    for views in both:
        for i in range(views["challenge"].shape[1]):
            labels, counts = np.unique(views["challenge"][:, i], return_counts=True)
            counted.update(dict(zip(((int(label), i) for label in labels), counts.tolist())))
    return [key for key, _ in counted.most_common(MOST_SCORES)]


def column_names(scores: dict[tuple[int, int], RoundScore]) -> str:
    """The names of the columns that scores use, as text."""
    names = list(dict.fromkeys(score.bins.text for score in scores.values()))
    if not names:
        return "the answer"
    return " or ".join(names[:3]) + (f" or {len(names) - 3} more" if len(names) > 3 else "")


def as_views(answers: Answers) -> np.ndarray:
    """Played views as one array."""
    if isinstance(answers, np.ndarray):
        return answers
    return np.array([view.item() for view in answers], dtype=answers[0].dtype)


def answers_to(views: np.ndarray, label: int, i: int) -> list[Any]:
    """All answers to a challenge, in round ``i`` or, where that is -1, in any."""
    part = np.s_[:, :] if i < 0 else np.s_[:, i : i + 1]
    found: list[Any] = views["answer"][part][views["challenge"][part] == label].tolist()
    return found
