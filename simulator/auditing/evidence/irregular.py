"""Columns of answers of any kind: texts, tuples of several lengths, exceptions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from simulator.auditing.evidence.answers import Answers, category, leaves, places
from simulator.auditing.evidence.float_features import ROUGH, FeaturesAt
from simulator.auditing.evidence.numeric import WITH_BITS, PlainReader, as_float
from simulator.foundations.digits import typical

MOST_COLUMNS = 64
"""The largest number of parts of an irregular answer with columns."""
UNKNOWN = -1.0
"""The code of an answer that the reader has not learned."""

_TEXTS = ("length", "first character", "last character", "capitals", "spaces", "digits")
_EXAMPLES = 1000
"""The number of answers from which parts are named."""
_REMEMBERED = 6
"""How many batches a reader caches."""


class _Batch:
    """The distinct answers of a batch, the leaves of each, and columns of them.

    Attributes
    ----------
    kinds : the category of each distinct answer.
    places : of each answer, the number of its kind; shape (n,).
    rows : the leaves of each distinct answer.
    """

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        kinds = [category(answer) for answer in answers]
        first: dict[Hashable, int] = {}
        numbers = [first.setdefault(kind, len(first)) for kind in kinds]
        self.kinds = list(first)
        self.places = np.array(numbers, dtype=np.int64)
        examples = dict(zip(reversed(kinds), reversed(answers)))
        self.rows = [leaves(examples[kind]) for kind in self.kinds]
        self.columns: dict[int, np.ndarray] = {}


class IrregularReader(PlainReader):
    """Reads anything: the whole answer as a category, its length, and each leaf by place.

    Parameters
    ----------
    parts : the name of each leaf with columns.
    magnitudes : of a typical number at each of the first leaves.
    codes, inner : a number for each answer, and for each leaf, that occurs more than once.
    features : of floats.
    """

    width = 0

    def __init__(
        self,
        parts: Sequence[str],
        magnitudes: Sequence[float],
        codes: dict[Hashable, float],
        inner: dict[Hashable, float],
        features: FeaturesAt,
    ) -> None:
        self.places = len(parts)
        self.codes, self.inner = codes, inner
        self.names = ["which answer", "number of parts"]
        known = [plainly(key) for key in inner]
        self.labels: dict[int, list[str]] = {0: [plainly(key) for key in codes]}
        for part in parts:
            self.labels[len(self.names) + 1] = known
            self.names += [part, part]
        self.texts = len(self.names)
        for part in parts[:WITH_BITS]:
            self.names += [f"{name} of {part}" for name in _TEXTS]
        self.bits = len(self.names)
        self.features = [features(magnitude) for magnitude in magnitudes[:WITH_BITS]]
        written = [name for each in self.features for name in each]
        for part, each in zip(parts, self.features):
            self.names += [name.format(part) for name in each]
        self.digits: frozenset[int] = frozenset()
        self.rough = frozenset(self.bits + i for i, name in enumerate(written) if name in ROUGH)
        self._known: list[_Batch] = []

    @classmethod
    def of(cls, answers_0: Answers, answers_1: Answers, features: FeaturesAt) -> IrregularReader:
        """A reader with the categories of these answers."""
        answers = [*answers_0, *answers_1]
        batch = _Batch(answers)
        often = np.bincount(batch.places, minlength=len(batch.kinds)).tolist()
        rows = [batch.rows[place] for place in batch.places]
        longest = max((len(row) for row in batch.rows), default=1)
        whole = Counter(dict(zip(batch.kinds, often)))
        inner: Counter[Hashable] = Counter()
        for row, count in zip(batch.rows, often):
            for leaf in row[:MOST_COLUMNS]:
                inner[category(leaf)] += count
        names = part_names(answers, min(longest, MOST_COLUMNS // 2))
        magnitudes = [
            typical(np.array([as_float(row[j]) for row in rows if j < len(row)]))
            for j in range(min(len(names), WITH_BITS))
        ]
        return cls(names, magnitudes, _codes(whole, 4096), _codes(inner, 255), features)

    def columns(self, answers: Answers, only: Sequence[int] | None = None) -> np.ndarray:
        """The columns, each computed once for every kind of answer."""
        batch = self._batch(answers)
        wanted = range(len(self.names)) if only is None else only
        table = np.empty((len(answers), len(wanted)))
        for place, column in enumerate(wanted):
            if column not in batch.columns:
                batch.columns[column] = np.array(self._column(batch, column), dtype=float)
            table[:, place] = batch.columns[column][batch.places]
        return table

    def _column(self, batch: _Batch, column: int) -> Any:
        """A column of the batch's distinct answers."""
        rows = batch.rows
        if column == 0:
            return [self.codes.get(kind, UNKNOWN) for kind in batch.kinds]
        if column == 1:
            return [len(row) for row in rows]
        if column < self.texts:
            j, coded = divmod(column - 2, 2)
            if coded:
                known = self.inner
                return [
                    known.get(category(row[j]), UNKNOWN) if j < len(row) else math.nan
                    for row in rows
                ]
            return [as_float(row[j]) if j < len(row) else math.nan for row in rows]
        if column < self.bits:
            j, which = divmod(column - self.texts, len(_TEXTS))
            return [
                text_feature(which, row[j])
                if j < len(row) and isinstance(row[j], str | bytes)
                else math.nan
                for row in rows
            ]
        j, which = divmod(column - self.bits, len(self.features[0]))
        numbers = np.array(self._column(batch, 2 + 2 * j), dtype=float)
        return list(self.features[j].values())[which](numbers)

    def _batch(self, answers: Answers) -> _Batch:
        """The distinct answers of a batch, cached: a batch is read column by column."""
        for known in self._known:
            if known.answers is answers:
                return known
        batch = _Batch(answers)
        self._known = [*self._known[1 - _REMEMBERED :], batch]
        return batch

    def keys(self, answers: Answers) -> np.ndarray:
        """A digest of each answer's kind."""
        batch = self._batch(answers)
        digests = [blake2b(repr(kind).encode(), digest_size=8).digest() for kind in batch.kinds]
        return np.frombuffer(b"".join(digests), dtype=np.uint64)[batch.places]

    def __getstate__(self) -> dict[str, Any]:
        """The state without the cached batches."""
        return self.__dict__ | {"_known": []}


def part_names(answers: Sequence[Any], count: int) -> list[str]:
    """The names of the first ``count`` leaves; "part 3" if answers differ there."""
    names: list[set[str]] = [set() for _ in range(count)]
    for answer in answers[:: max(1, len(answers) // _EXAMPLES)]:
        for known, name in zip(names, places(answer)):
            known.add("the answer" if name == "answer" else name)
    return [min(known) if len(known) == 1 else f"part {i}" for i, known in enumerate(names)]


def _codes(counts: Counter[Hashable], most: int) -> dict[Hashable, float]:
    """A number for each of the answers that occur more than once."""
    often = [key for key, count in counts.most_common(most) if count > 1]
    return {key: float(i) for i, key in enumerate(often)}


def text_feature(which: int, text: str | bytes) -> float:
    """One of the numbers of ``_TEXTS``, of a text."""
    letters = text.decode("latin-1") if isinstance(text, bytes) else text
    if which == 0:
        return float(len(letters))
    if which in (1, 2):
        return float(ord(letters[0 if which == 1 else -1])) if letters else math.nan
    if which == 4:
        return float(letters.count(" "))
    return float(sum(map(str.isupper if which == 3 else str.isdigit, letters)))


def plainly(key: Hashable) -> str:
    """A category as text."""
    text = str(key[-1]) if isinstance(key, tuple) and isinstance(key[-1], str) else repr(key)
    return text if len(text) <= 30 else f"{text[:27]}..."
