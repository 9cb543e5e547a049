"""From the views of whole interactions to columns that events are learned from.

A view's likelihood ratio is the product, over its rounds, of the ratios of the answers given what
was asked, for the coins have the same law in both experiments. So the columns are, first
of all, sums over the rounds of scores that were learned for each challenge: pooled over the rounds
in which it was asked, and for each round by itself, where answers depend on the past.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from simulator.trials.auditing.answer_columns import AnswerReader, read
from simulator.trials.auditing.answers import Answers, shown
from simulator.trials.auditing.view_scores import RoundScore

MOST_SCORES = 64
"""Challenges, and challenges in a certain round, for which scores are learned: the commonest."""
SHOWN_ROUNDS = 8
"""Rounds whose answers are columns as they are."""
SHOWN_CHALLENGES = 8
"""Challenges that have columns of their own."""
_REMEMBERED = 6


def rounds_type(rounds: int) -> np.dtype[Any]:
    """The type of a played view: what was asked in each round, by number, and each answer."""
    return np.dtype([("asked", np.int32, (rounds,)), ("answer", object, (rounds,))])


class ViewReader:
    """Reads played views, arrays of :func:`rounds_type`; see :class:`AnswerReader`.

    Parameters
    ----------
    answers_0, answers_1 : views of both experiments to learn scores from.
    asked : each challenge in words, by number.
    bits : whether to look at every bit of a float.
    """

    width = 0
    digits: frozenset[int] = frozenset()

    def __init__(
        self, answers_0: Answers, answers_1: Answers, *, asked: Sequence[str], bits: bool
    ) -> None:
        both = [as_views(each) for each in (answers_0, answers_1)]
        self.type = both[0].dtype
        self.rounds = both[0]["asked"].shape[1]
        self.pooled: dict[tuple[int, int], RoundScore] = {}
        self.apart: dict[tuple[int, int], RoundScore] = {}
        labels, counts = np.unique(
            np.concatenate([views["asked"].ravel() for views in both]), return_counts=True
        )
        common = labels[np.argsort(-counts, kind="stable")]
        for label in common[:MOST_SCORES]:
            self._learn(self.pooled, (int(label), -1), both, bits)
        if self.rounds > 1:
            for key in commonest(both):
                self._learn(self.apart, key, both, bits)
        self.shown = [int(label) for label in common[:SHOWN_CHALLENGES]]
        self.firsts: list[AnswerReader] = []
        names = [f"the sum over the rounds of a score of {columns_of(self.pooled)}"]
        if self.rounds > 1:
            names.append(f"the sum of a score for each round of {columns_of(self.apart)}")
        if len(common) > 1:
            names += [f"the sum of scores of {asked[label]}" for label in self.shown]
            names += [f"how often it asked {asked[label]}" for label in self.shown]
        for i in range(min(self.rounds, SHOWN_ROUNDS)):
            reader = read(both[0]["answer"][:, i].tolist(), both[1]["answer"][:, i].tolist(), False)
            self.firsts.append(reader)
            names.append(f"round {i + 1}: {reader.names[0]}")
        self.names = names
        self.learned = frozenset(range(len(names) - len(self.firsts)))
        self.labels: dict[int, Sequence[str]] = {
            len(names) - len(self.firsts) + i: reader.labels[0]
            for i, reader in enumerate(self.firsts)
            if 0 in reader.labels
        }
        self._known: list[tuple[Answers, np.ndarray]] = []

    def _learn(
        self,
        scores: dict[tuple[int, int], RoundScore],
        key: tuple[int, int],
        both: list[np.ndarray],
        bits: bool,
    ) -> None:
        first, second = (answers_to(views, *key) for views in both)
        score = RoundScore.learn(first, second, bits)
        if score is not None:
            scores[key] = score

    def show(self, answer: Any) -> str:
        """See :class:`AnswerReader`."""
        _, answers = answer.item()
        return "the view " + ", ".join(shown(each, 30) for each in answers[:SHOWN_ROUNDS])

    def columns(self, answers: Answers, only: Sequence[int] | None = None) -> np.ndarray:
        """See :class:`AnswerReader`."""
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
            masks = [views["asked"] == label for label in self.shown]
            columns += [np.where(mask, pooled, 0.0).sum(axis=1) for mask in masks]
            columns += [mask.sum(axis=1).astype(float) for mask in masks]
        for i, reader in enumerate(self.firsts):
            columns.append(reader.columns(views["answer"][:, i].tolist(), [0])[:, 0])
        return np.column_stack(columns)

    def _scored(self, views: np.ndarray, scores: dict[tuple[int, int], RoundScore]) -> np.ndarray:
        """Each round's score, shape (views, rounds); 0 where none was learned."""
        table = np.zeros(views["asked"].shape)
        for (label, i), score in scores.items():
            part = np.s_[:, :] if i < 0 else np.s_[:, i : i + 1]
            mask = views["asked"][part] == label
            if mask.any():
                table[part][mask] = score.of(views["answer"][part][mask].tolist())
        return table

    def keys(self, answers: Answers) -> np.ndarray:
        """See :class:`AnswerReader`."""
        views = as_views(answers)
        pairs = zip(views["asked"].tolist(), views["answer"].tolist())
        words = (repr(pair).encode() for pair in pairs)
        digests = [blake2b(word, digest_size=8).digest() for word in words]
        return np.frombuffer(b"".join(digests), dtype=np.uint64)


def commonest(both: list[np.ndarray]) -> list[tuple[int, int]]:
    """The commonest pairs of a challenge's number and a round, at most MOST_SCORES."""
    counted: Counter[tuple[int, int]] = Counter()
    for views in both:
        for i in range(views["asked"].shape[1]):
            labels, counts = np.unique(views["asked"][:, i], return_counts=True)
            counted.update(dict(zip(((int(label), i) for label in labels), counts.tolist())))
    return [key for key, _ in counted.most_common(MOST_SCORES)]


def columns_of(scores: dict[tuple[int, int], RoundScore]) -> str:
    """The columns that scores look at, in words."""
    names = list(dict.fromkeys(score.reader.names[score.column] for score in scores.values()))
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
    found: list[Any] = views["answer"][part][views["asked"][part] == label].tolist()
    return found
