"""Columns of answers of any kind: texts, tuples of several lengths, exceptions."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from simulator.auditing.evidence.answers import Answers, category, leaves, places
from simulator.auditing.evidence.float_features import ROUGH, FeaturesAt
from simulator.auditing.evidence.numeric import WITH_BITS, DigitFeatures, PlainReader, as_float

MOST_COLUMNS = 32
"""The largest number of parts of an irregular answer with columns: those that differ most."""
UNKNOWN = -1.0
"""The code of an answer that the reader has not learned."""

_TEXTS = ("length", "first character", "last character", "capitals", "spaces", "digits")
_IN_TEXT = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_MOST_IN_TEXT = 64
"""The largest number of numbers that are read in a text."""
_EXAMPLES = 1000
"""The number of answers from which parts are named and chosen."""
_REMEMBERED = 6
"""How many batches a reader caches."""
_MISSING = object()


class LeafPart(NamedTuple):
    """One leaf of an answer, or a number in a text that is a leaf.

    ``leaf`` and ``number`` are their places, from 0; -1 for the leaf itself.
    """

    leaf: int
    number: int = -1

    def of(self, row: list[Any]) -> Any:
        """The part of an answer, given its leaves."""
        if self.leaf >= len(row):
            return _MISSING
        found = row[self.leaf]
        if self.number < 0:
            return found
        numbers = in_text(found)
        return numbers[self.number] if self.number < len(numbers) else _MISSING


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
        listed = list(answers)
        kinds = [category(answer) for answer in listed]
        first: dict[Hashable, int] = {}
        numbers = [first.setdefault(kind, len(first)) for kind in kinds]
        self.kinds = list(first)
        self.places = np.array(numbers, dtype=np.int64)
        examples = dict(zip(reversed(kinds), reversed(listed)))
        self.rows = [leaves(examples[kind]) for kind in self.kinds]
        self.columns: dict[int, np.ndarray] = {}


class IrregularReader(PlainReader):
    """Reads anything: the whole answer as a category, its length, and the parts that vary.

    Parameters
    ----------
    parts : those with columns, each with its name.
    rows : the leaves of answers to learn from.
    codes, inner : a number for each answer, and for each part, that occurs more than once.
    fraction : the features of floats.
    """

    width = 0

    def __init__(
        self,
        parts: dict[LeafPart, str],
        rows: Sequence[list[Any]],
        codes: dict[Hashable, float],
        inner: dict[Hashable, float],
        fraction: FeaturesAt,
    ) -> None:
        self.codes, self.inner = codes, inner
        known = [plainly(key) for key in inner]
        self.names: list[str] = []
        self.plan: list[tuple[str, LeafPart, Any]] = []
        self.labels: dict[int, list[str]] = {0: [plainly(key) for key in codes]}
        self._add("which answer", "kind", LeafPart(0))
        self._add("number of parts", "count", LeafPart(0))
        texts, rough = 0, []
        digits: dict[LeafPart, DigitFeatures] = {}
        for part, name in parts.items():
            found = [part.of(row) for row in rows]
            there = [each for each in found if each is not _MISSING]
            if len(there) < len(found):
                self._add(f"whether there is {name}", "there", part)
            self.labels[len(self.names)] = known
            self._add(name, "code", part)
            numbers = np.array([as_float(each) for each in there])
            if len(numbers) and np.isfinite(numbers).any():
                self._add(name, "number", part)
                if len(digits) < WITH_BITS:
                    digits[part] = DigitFeatures.at(numbers, fraction)
            if texts < WITH_BITS and any(isinstance(each, str | bytes) for each in there):
                texts += 1
                for which, feature in enumerate(_TEXTS):
                    self._add(f"{feature} of {name}", "text", part, which)
        for part, made in digits.items():
            for feature in made.features():
                if feature in ROUGH:
                    rough.append(len(self.names))
                self._add(feature.format(parts[part]), "digits", part, (made, feature))
        self.digits: frozenset[int] = frozenset()
        self.rough = frozenset(rough)
        self._known: list[_Batch] = []

    def _add(self, name: str, kind: str, part: LeafPart, how: Any = None) -> None:
        self.names.append(name)
        self.plan.append((kind, part, how))

    @classmethod
    def of(cls, answers_0: Answers, answers_1: Answers, features: FeaturesAt) -> IrregularReader:
        """A reader with the categories of these answers."""
        answers = [*answers_0, *answers_1]
        batch = _Batch(answers)
        often = np.bincount(batch.places, minlength=len(batch.kinds)).tolist()
        some = spread(len(answers_0)), spread(len(answers_1))
        sides = [
            [batch.rows[batch.places[start + i]] for i in chosen]
            for chosen, start in zip(some, (0, len(answers_0)))
        ]
        parts = named(differing(*sides), [answers[i] for i in some[0]])
        whole = Counter(dict(zip(batch.kinds, often)))
        inner: Counter[Hashable] = Counter()
        for row, count in zip(batch.rows, often):
            for part in parts:
                inner[category(part.of(row))] += count
        del inner[category(_MISSING)]
        return cls(parts, batch.rows, _codes(whole, 4096), _codes(inner, 255), features)

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
        kind, part, how = self.plan[column]
        if kind == "kind":
            return [self.codes.get(each, UNKNOWN) for each in batch.kinds]
        if kind == "count":
            return [len(row) for row in batch.rows]
        found = [part.of(row) for row in batch.rows]
        if kind == "there":
            return [float(each is not _MISSING) for each in found]
        if kind == "code":
            return [
                math.nan if each is _MISSING else self.inner.get(category(each), UNKNOWN)
                for each in found
            ]
        if kind == "text":
            return [
                text_feature(how, each) if isinstance(each, str | bytes) else math.nan
                for each in found
            ]
        numbers = np.array([math.nan if each is _MISSING else as_float(each) for each in found])
        if kind == "number":
            return numbers
        made, feature = how
        return made.features()[feature](numbers)

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


def spread(n: int) -> range:
    """The places of at most some _EXAMPLES of n answers."""
    return range(0, n, max(1, n // _EXAMPLES))


def differing(rows_0: list[list[Any]], rows_1: list[list[Any]]) -> list[LeafPart]:
    """The parts that vary, in order; of too many those in which the inputs differ most."""
    rows = [*rows_0, *rows_1]
    found: dict[LeafPart, list[Any]] = {}
    for leaf in range(max(map(len, rows), default=0)):
        values = [LeafPart(leaf).of(row) for row in rows]
        if not _vary(values):
            continue
        found[LeafPart(leaf)] = values
        most = max(len(in_text(value)) for value in values)
        if most > 1 or (most and any(math.isnan(as_float(value)) for value in values)):
            for number in range(min(most, _MOST_IN_TEXT)):
                part = LeafPart(leaf, number)
                values = [part.of(row) for row in rows]
                if _vary(values):
                    found[part] = values
    if len(found) <= MOST_COLUMNS:
        return list(found)
    apart = {part: _apart(values, len(rows_0)) for part, values in found.items()}
    return sorted(sorted(apart, key=lambda part: -apart[part])[:MOST_COLUMNS])


def _vary(values: list[Any]) -> bool:
    first = values[0]
    kind, known = type(first), category(first)
    return any(type(each) is not kind or category(each) != known for each in values[1:])


def _apart(values: list[Any], n: int) -> float:
    """How much a part differs between the inputs, of which the first has ``n`` values."""
    sides = [Counter(map(category, some)) for some in (values[:n], values[n:])]
    kinds = sides[0] | sides[1]
    gap = sum((sides[0][k] - sides[1][k]) ** 2 / (sides[0][k] + sides[1][k] + 1.0) for k in kinds)
    numbers = np.array([0.0 if v is _MISSING else as_float(v) for v in values])
    numbers = np.nan_to_num(numbers, posinf=0.0, neginf=0.0)
    ranks = np.argsort(np.argsort(numbers, kind="stable")) / len(numbers)
    shift = (ranks[:n].mean() - ranks[n:].mean()) ** 2 * len(values) if 0 < n < len(values) else 0.0
    return max(gap / len(kinds), shift)


def named(parts: list[LeafPart], answers: Sequence[Any]) -> dict[LeafPart, str]:
    """Parts with their names; "part 3" where answers differ in what stands there."""
    known: dict[int, set[str]] = {part.leaf: set() for part in parts}
    for answer in answers:
        names = places(answer)
        for leaf in known:
            if leaf < len(names):
                known[leaf].add("the answer" if names[leaf] == "answer" else names[leaf])
    leaf_names = {
        leaf: min(some) if len(some) == 1 else f"part {leaf}" for leaf, some in known.items()
    }
    return {
        part: leaf_names[part.leaf] if part.number < 0
        else f"number {part.number + 1} in {leaf_names[part.leaf]}"
        for part in parts
    }  # fmt: skip


def in_text(value: Any) -> tuple[float, ...]:
    """The numbers in a text; none in anything else."""
    return _in_text(value) if isinstance(value, str | bytes) else ()


@lru_cache(maxsize=4096)
def _in_text(text: str | bytes) -> tuple[float, ...]:
    return tuple(float(each) for each in _IN_TEXT.findall(_letters(text))[:_MOST_IN_TEXT])


def _codes(counts: Counter[Hashable], most: int) -> dict[Hashable, float]:
    """A number for each of the answers that occur more than once."""
    often = [key for key, count in counts.most_common(most) if count > 1]
    return {key: float(i) for i, key in enumerate(often)}


def text_feature(which: int, text: str | bytes) -> float:
    """One of the numbers of ``_TEXTS``, of a text."""
    letters = _letters(text)
    if which == 0:
        return float(len(letters))
    if which in (1, 2):
        return float(ord(letters[0 if which == 1 else -1])) if letters else math.nan
    if which == 4:
        return float(letters.count(" "))
    return float(sum(map(str.isupper if which == 3 else str.isdigit, letters)))


def _letters(text: str | bytes) -> str:
    return text.decode("latin-1") if isinstance(text, bytes) else text


def plainly(key: Hashable) -> str:
    """A category as text."""
    text = str(key[-1]) if isinstance(key, tuple) and isinstance(key[-1], str) else repr(key)
    return text if len(text) <= 30 else f"{text[:27]}..."
