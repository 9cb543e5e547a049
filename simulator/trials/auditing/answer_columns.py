"""From answers of any kind to a table of numbers that events can be learned from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np

from simulator.foundations.digits import typical
from simulator.trials.auditing.answers import Answers, category, shown
from simulator.trials.auditing.bits import BIT_FEATURES, WHOLE_FEATURES, Feature, digit_features

MOST_COLUMNS = 64
"""Parts of an irregular answer that are looked at one by one."""
WIDEST = 1024
"""Length of a vector that is still looked at by coordinate."""
JOINT_WIDTH = 64
"""Length up to which a vector's neighbouring coordinates are looked at together."""
WITH_BITS = 4
"""Length up to which the bits of each coordinate are looked at; then those of all together."""

_FEW = 64
"""Distinct whole numbers up to which each is looked at for itself."""
_TEXTS = ("length", "first character", "last character", "capitals", "spaces", "digits")
_ODD = np.uint64(0x9E3779B97F4A7C15)

UNKNOWN = -1.0
"""The code of an answer that did not occur among those that the reader has learned from."""


class AnswerReader(Protocol):
    """What turns answers into columns."""

    @property
    def names(self) -> Sequence[str]:
        """Of the columns."""

    @property
    def width(self) -> int:
        """How many columns, the first ones, are an answer's parts; 0 where answers vary."""

    @property
    def digits(self) -> frozenset[int]:
        """The columns that look at the digits of floats."""

    @property
    def labels(self) -> Mapping[int, Sequence[str]]:
        """Of a column whose numbers are codes, what each code stands for."""

    @property
    def learned(self) -> frozenset[int]:
        """The columns that were learned: what they say of the answers they know is too much."""

    def show(self, answer: Any) -> str:
        """An answer in a few words."""

    def columns(self, answers: Answers, only: Sequence[int] | None = None) -> np.ndarray:
        """Float array of shape (n, number of columns), or of the columns asked for."""

    def keys(self, answers: Answers) -> np.ndarray:
        """For each answer a number that is equal for equal answers, uint64 of shape (n,)."""


def read(answers_0: Answers, answers_1: Answers, bits: bool = True) -> AnswerReader:
    """A reader that suits these answers; later ones may still be of any other kind.

    With ``bits`` it looks at every bit of a float, else at twelve significant digits.
    """
    numbers_0, numbers_1 = as_numbers(answers_0), as_numbers(answers_1)
    alike = kind_of(answers_0) == kind_of(answers_1)
    if alike and numbers_0 is not None and numbers_1 is not None:
        width = numbers_0.shape[1]
        if width == numbers_1.shape[1] and width <= WIDEST:
            return Numbers(width, Look.at(np.vstack([numbers_0, numbers_1]), bits))
    return AnyAnswers.of(answers_0, answers_1)


def kind_of(answers: Answers) -> str:
    """What the answers are made of: 1 and 1.0 are not the same answer."""
    if isinstance(answers, np.ndarray):
        return str(answers.dtype)
    if not answers:
        return ""
    first = answers[0]
    if isinstance(first, np.ndarray):
        return f"{first.dtype}{first.shape}"
    try:
        return f"{type(first).__name__}{np.shape(first)}"
    except ValueError:
        return type(first).__name__


@dataclass(frozen=True)
class Look:
    """How closely a reader looks at the digits of floats.

    Attributes
    ----------
    digits : whether it does at all: not at whole numbers of which there are few.
    whole : whether all numbers are whole.
    bits : whether at every bit of a fraction, else at twelve significant decimals.
    magnitude : of a typical number.
    """

    digits: bool
    whole: bool
    bits: bool
    magnitude: float

    @classmethod
    def at(cls, numbers: np.ndarray, bits: bool) -> Look:
        """For such numbers."""
        finite = numbers[np.isfinite(numbers)]
        whole = not np.any(finite % 1.0 != 0.0)
        digits = not whole or len(np.unique(finite[:10_000])) > _FEW
        return cls(digits, whole, bits, typical(finite))

    def features(self) -> dict[str, Feature]:
        """The features of floats, shape (n,), by name."""
        if self.whole:
            return WHOLE_FEATURES
        return BIT_FEATURES if self.bits else digit_features(self.magnitude)


def as_numbers(answers: Answers) -> np.ndarray | None:
    """The answers as a float array of shape (n, width); None if they are not such numbers."""
    if isinstance(answers, np.ndarray):
        if answers.dtype.kind not in "fiub":
            return None
        if (
            answers.dtype.kind in "iu"
            and answers.size
            and max(abs(int(answers.max())), abs(int(answers.min()))) > 1 << 53
        ):
            return None
        return np.asarray(answers, dtype=np.float64).reshape(len(answers), -1)
    if not answers:
        return np.zeros((0, 1))
    kinds = {type(answer) for answer in answers}
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    if kind in (float, bool) or issubclass(kind, np.floating | np.bool_):
        return np.array(answers, dtype=np.float64)[:, None]
    if kind is int or issubclass(kind, np.integer):
        if max(abs(int(a)) for a in answers) > 1 << 53:
            return None
        return np.array(answers, dtype=np.float64)[:, None]
    if kind is np.ndarray and len({(a.dtype, a.shape) for a in answers}) > 1:
        return None
    if kind in (tuple, list, np.ndarray):
        try:
            table = np.array(answers)
        except ValueError:
            return None
        if table.dtype.kind not in "fiub" or table.ndim < 2 or 0 in table.shape:
            return None
        if kind is not np.ndarray and table.dtype.kind == "f" and not _all_floats(answers):
            return None
        return as_numbers(table)
    return None


def _all_floats(answers: list[Any]) -> bool:
    """Whether no whole number or truth value was made a float: its kind may be the leak."""
    first = [type(leaf) for leaf in _flat(answers[0])]
    return all([type(leaf) for leaf in _flat(answer)] == first for answer in answers)


def _flat(answer: Any) -> list[Any]:
    """The leaves of nested tuples, lists, sets, dicts and arrays, in order."""
    leaves: list[Any] = []
    stack = [answer]
    while stack:
        item = stack.pop()
        if isinstance(item, np.ndarray):
            item = item.tolist() if item.ndim else item.item()
        if isinstance(item, dict):
            item = [part for pair in item.items() for part in pair]
        elif isinstance(item, set | frozenset):
            item = sorted(item, key=repr)
        elif isinstance(item, complex | np.complexfloating):
            item = [float(item.real), float(item.imag)]
        if isinstance(item, tuple | list):
            stack.extend(reversed(item))
        else:
            leaves.append(item)
    return leaves


_JOINT: dict[str, Any] = {
    "sum of the answer": lambda x: x.sum(axis=1),
    "largest part": lambda x: x.max(axis=1),
    "smallest part": lambda x: x.min(axis=1),
    "place of the largest part": lambda x: np.argmax(x, axis=1),
    "place of the smallest part": lambda x: np.argmin(x, axis=1),
    "number of distinct parts": lambda x: (
        1 + np.count_nonzero(np.diff(np.sort(x, axis=1), axis=1), axis=1)
    ),
}


_POOLED: dict[str, Any] = {
    "least": lambda x: np.fmin.reduce(x, axis=1),
    "largest": lambda x: np.fmax.reduce(x, axis=1),
    "mean": lambda x: np.nan_to_num(x).mean(axis=1),
}


class Plain:
    """What readers share that look at answers as they are."""

    learned: frozenset[int] = frozenset()

    def show(self, answer: Any) -> str:
        """See :class:`AnswerReader`."""
        return shown(answer, 30)


class Numbers(Plain):
    """Reads numbers, or vectors of one length."""

    def __init__(self, width: int, look: Look) -> None:
        self.width = width
        self.look = look
        self.labels: dict[int, list[str]] = {}
        parts = ["the answer"] if width == 1 else [f"answer[{i}]" for i in range(width)]
        plan: list[tuple[str, tuple[Any, ...]]] = [
            (part, ("raw", i)) for i, part in enumerate(parts)
        ]
        if 1 < width <= JOINT_WIDTH:
            plan += [(f"{parts[i + 1]} - {parts[i]}", ("step", i)) for i in range(width - 1)]
        if width > 1:
            plan += [(f"the {name}", (name, None)) for name in _JOINT]
        smooth = len(plan)
        if look.digits:
            features = look.features()
            for i, part in enumerate(parts if width <= WITH_BITS else []):
                plan += [(name.format(part), ("digits", (i, name))) for name in features]
            if width > WITH_BITS:
                for how in _POOLED:
                    plan += [(f"{how} {name.format('a part')}", (how, name)) for name in features]
        self.digits = frozenset(range(smooth, len(plan)))
        self.names = [name for name, _ in plan]
        self.plan = [how for _, how in plan]

    def columns(self, answers: Answers, only: Sequence[int] | None = None) -> np.ndarray:
        """See :class:`AnswerReader`. Answers that are no such numbers are rows of NaN."""
        numbers = self._numbers(answers)
        wanted = range(len(self.names)) if only is None else only
        digits: dict[str, np.ndarray] = {}
        features = self.look.features()
        table = np.empty((len(numbers), len(wanted)))
        for place, column in enumerate(wanted):
            kind, i = self.plan[column]
            if kind == "raw":
                table[:, place] = numbers[:, i]
            elif kind == "step":
                with np.errstate(invalid="ignore"):
                    table[:, place] = numbers[:, i + 1] - numbers[:, i]
            elif kind == "digits":
                part, name = i
                table[:, place] = features[name](numbers[:, part])
            elif kind in _POOLED:
                if i not in digits:
                    digits[i] = features[i](numbers.ravel()).reshape(numbers.shape)
                with np.errstate(invalid="ignore"):
                    table[:, place] = _POOLED[kind](digits[i])
            else:
                table[:, place] = _JOINT[kind](numbers)
        return table

    def keys(self, answers: Answers) -> np.ndarray:
        """See :class:`AnswerReader`."""
        words = np.ascontiguousarray(self._numbers(answers)).view(np.uint64)
        keys = np.zeros(len(words), dtype=np.uint64)
        for i in range(words.shape[1]):
            keys = (keys ^ words[:, i]) * _ODD
            keys ^= keys >> np.uint64(29)
        return keys

    def _numbers(self, answers: Answers) -> np.ndarray:
        numbers = as_numbers(answers)
        if numbers is not None and numbers.shape[1] == self.width:
            return numbers
        table = np.full((len(answers), self.width), np.nan)
        for i, answer in enumerate(answers):
            leaves = _flat(answer)
            if len(leaves) == self.width:
                table[i] = [_as_float(leaf) for leaf in leaves]
        return table


class AnyAnswers(Plain):
    """Reads anything: the whole answer as a category, its length, and each leaf by place."""

    def __init__(self, places: int, codes: dict[Hashable, float], inner: dict[Hashable, float]):
        self.places = places
        self.codes = codes
        self.inner = inner
        self.width = 0
        self.digits: frozenset[int] = frozenset()
        self.names = ["which answer", "number of parts"]
        known = [plainly(key) for key in inner]
        self.labels: dict[int, list[str]] = {0: [plainly(key) for key in codes]}
        for i in range(places):
            self.labels[len(self.names) + 1] = known
            self.names += [f"part {i}", f"which part {i}"]
        self.texts = len(self.names)
        for i in range(min(places, WITH_BITS)):
            self.names += [f"{name} of part {i}" for name in _TEXTS]
        self.bits = len(self.names)
        for i in range(min(places, WITH_BITS)):
            self.names += [name.format(f"part {i}") for name in BIT_FEATURES]

    @classmethod
    def of(cls, answers_0: Answers, answers_1: Answers) -> AnyAnswers:
        """Learn which categories there are."""
        rows = [_flat(a) for each in (answers_0, answers_1) for a in each]
        longest = max((len(row) for row in rows), default=1)
        whole = Counter(category(a) for each in (answers_0, answers_1) for a in each)
        parts = Counter(category(leaf) for row in rows for leaf in row[:MOST_COLUMNS])
        return cls(
            min(longest, MOST_COLUMNS // 2),
            _codes(whole, 4096),
            _codes(parts, 255),
        )

    def columns(self, answers: Answers, only: Sequence[int] | None = None) -> np.ndarray:
        """See :class:`AnswerReader`."""
        table = np.full((len(answers), len(self.names)), np.nan)
        for i, answer in enumerate(answers):
            row = _flat(answer)
            table[i, 0] = self.codes.get(category(answer), UNKNOWN)
            table[i, 1] = len(row)
            for j, leaf in enumerate(row[: self.places]):
                table[i, 2 + 2 * j] = _as_float(leaf)
                table[i, 3 + 2 * j] = self.inner.get(category(leaf), UNKNOWN)
            for j, leaf in enumerate(row[: min(self.places, WITH_BITS)]):
                if isinstance(leaf, str | bytes):
                    start = self.texts + j * len(_TEXTS)
                    table[i, start : start + len(_TEXTS)] = text_features(leaf)
        for j in range(min(self.places, WITH_BITS)):
            start = self.bits + j * len(BIT_FEATURES)
            for i, feature in enumerate(BIT_FEATURES.values()):
                table[:, start + i] = feature(table[:, 2 + 2 * j])
        return table if only is None else table[:, list(only)]

    def keys(self, answers: Answers) -> np.ndarray:
        """See :class:`AnswerReader`."""
        digests = [blake2b(repr(category(a)).encode(), digest_size=8).digest() for a in answers]
        return np.frombuffer(b"".join(digests), dtype=np.uint64)


def _codes(counts: Counter[Hashable], most: int) -> dict[Hashable, float]:
    """A number for each of the answers that occur more than once."""
    often = [key for key, count in counts.most_common(most) if count > 1]
    return {key: float(i) for i, key in enumerate(often)}


def text_features(text: str | bytes) -> list[float]:
    """The numbers of ``_TEXTS``, of a text."""
    letters = text.decode("latin-1") if isinstance(text, bytes) else text
    return [
        float(len(letters)),
        float(ord(letters[0])) if letters else math.nan,
        float(ord(letters[-1])) if letters else math.nan,
        float(sum(map(str.isupper, letters))),
        float(letters.count(" ")),
        float(sum(map(str.isdigit, letters))),
    ]


def plainly(key: Hashable) -> str:
    """A category in words."""
    text = str(key[-1]) if isinstance(key, tuple) and isinstance(key[-1], str) else repr(key)
    return text if len(text) <= 30 else f"{text[:27]}..."


def _as_float(leaf: Any) -> float:
    """The number that a leaf is, or that a text spells; NaN for any other."""
    try:
        if isinstance(leaf, complex):
            return leaf.real
        return float(leaf) if leaf is not None else math.nan
    except OverflowError:
        return math.inf if leaf > 0 else -math.inf
    except Exception:
        return math.nan
