"""Draws from the overlap of two laws, min(P0, P1), by rejection with a declared likelihood."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any

import numpy as np

from simulator.auditing.evidence.answers import Answers, as_records, settled_one
from simulator.auditing.evidence.columns import AnswerReader, read
from simulator.auditing.evidence.float_features import FeaturesAt
from simulator.auditing.evidence.numeric import NumericReader, as_numbers

ROUNDING = 1e-9
"""Losses that differ by less, absolutely and relatively, are equal up to rounding."""
_OFFSET = 0.318309886
"""The offset of the grid of losses, by which numbers of few digits lie inside its cells."""
_REMEMBERED = 6
"""How many batches of answers a reader caches."""
_KEPT = np.dtype([("loss", np.float64), ("answer", object)])

Draw = Callable[[int, np.random.Generator], Any]
Noise = tuple[np.random.Generator, np.random.Generator]
Both = tuple[np.ndarray, np.ndarray]
"""Arrays of the draws on database 0 and of those on database 1."""


class Overlap:
    """Draws of both databases with their declared losses, and those of them that are kept.

    A draw on database 0 is kept with probability min(1, e^-L), one on database 1 with
    min(1, e^L): if L is the loss, the kept answers of both have the law of min(P0, P1), and both
    are kept with the same probability, its mass.

    Attributes
    ----------
    losses : of all draws on each database, shape (draws,).
    kept : how many draws on each database were kept, shape (2,).
    """

    def __init__(self, draw: Draw, loss: Callable[[Any], float], noise: Noise) -> None:
        self.draw, self.loss, self.noise = draw, loss, noise
        self.losses: Both = (np.empty(0), np.empty(0))
        self.kept = np.zeros(2, dtype=int)

    @property
    def size(self) -> int:
        """The number of draws of each database."""
        return len(self.losses[0])

    def more(self, n: int) -> Both:
        """Draw ``n`` more answers on each database; return those of them that are kept."""
        found = []
        for answers, losses, keep in self._drawn(n):
            kept = np.empty(np.count_nonzero(keep), dtype=_KEPT)
            kept["loss"] = on_grid(losses[keep])
            chosen = list(compress(answers, keep.tolist()))
            if set(map(type, chosen)) != {float}:
                chosen = [settled_one(answer) for answer in chosen]
            for place, answer in enumerate(chosen):  # one by one, as numpy would take tuples apart
                kept["answer"][place] = answer
            found.append(kept)
        return found[0], found[1]

    def more_losses(self, n: int) -> Both:
        """The same, of the declared losses alone."""
        first, second = (on_grid(losses[keep]) for _, losses, keep in self._drawn(n))
        return first, second

    def _drawn(self, n: int) -> list[tuple[list[Any], np.ndarray, np.ndarray]]:
        """``n`` more answers on each database, their losses, and whether each is kept."""
        new = []
        for b, sign in ((0, -1.0), (1, 1.0)):
            answers = [self.draw(b, self.noise[b]) for _ in range(n)]
            losses = np.array([self.loss(answer) for answer in answers], dtype=float)
            keep = self.noise[b].random(n) < np.exp(np.minimum(sign * losses, 0.0))
            new.append((answers, losses, keep))
        self.losses = (
            np.concatenate([self.losses[0], new[0][1]]),
            np.concatenate([self.losses[1], new[1][1]]),
        )
        self.kept += [np.count_nonzero(keep) for *_, keep in new]
        return new


def on_grid(losses: np.ndarray) -> np.ndarray:
    """Losses, shape (n,), down to a grid of about ROUNDING, where equal ones are equal."""
    with np.errstate(invalid="ignore"):
        step = ROUNDING * np.exp2(np.floor(np.log2(1.0 + np.abs(losses))))
        return np.where(np.isfinite(losses), np.floor(losses / step + _OFFSET) * step, losses)


class OverlapReader:
    """Reads kept answers: their loss, and all that a reader of the answers reads.

    See :class:`~simulator.auditing.evidence.columns.AnswerReader`.

    Parameters
    ----------
    kept_0, kept_1 : as ``Overlap.more`` returns them, to learn from.
    features : of floats.
    """

    width = 0
    learned: frozenset[int] = frozenset()

    def __init__(self, kept_0: Answers, kept_1: Answers, *, features: FeaturesAt) -> None:
        self.inner: AnswerReader = read(_answers(kept_0), _answers(kept_1), features)
        self.names = ["its loss", *self.inner.names]
        self.digits = frozenset(column + 1 for column in self.inner.digits)
        self.rough = frozenset(column + 1 for column in self.inner.rough)
        self.labels = {column + 1: words for column, words in self.inner.labels.items()}
        self._known: list[tuple[Answers, Answers]] = []

    def show(self, answer: Any) -> str:
        """The answer as text, without its loss."""
        return self.inner.show(answer["answer"])

    def columns(self, answers: Answers, only: Sequence[int] | None = None) -> np.ndarray:
        """The declared loss, then the columns of the answer."""
        wanted = list(range(len(self.names)) if only is None else only)
        table = np.empty((len(answers), len(wanted)))
        inner = [column - 1 for column in wanted if column]
        mask = np.array(wanted) > 0
        if inner:
            table[:, mask] = self.inner.columns(self._read(answers), inner)
        table[:, ~mask] = np.asarray(answers)["loss"][:, None]
        return table

    def keys(self, answers: Answers) -> np.ndarray:
        """The keys of the answers, without their losses."""
        return self.inner.keys(self._read(answers))

    def _read(self, kept: Answers) -> Answers:
        """The answers alone, as an array if they are numbers; the last batches are cached."""
        for known, answers in self._known:
            if known is kept:
                return answers
        answers = _answers(kept)
        if isinstance(self.inner, NumericReader) and self.inner.form is None:
            numbers = as_numbers(answers)
            answers = answers if numbers is None else numbers
        self._known = [*self._known[1 - _REMEMBERED :], (kept, answers)]
        return answers


def _answers(kept: Answers) -> Answers:
    return as_records(np.asarray(kept)["answer"].tolist())
