"""Answers of a black box by their public content: batches, forms, and words.

They are copies, because a caller may change an answer later.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np

from simulator.auditing.evidence.contents import PLAIN, Items, TableParts, category, content

__all__ = [
    "Answers", "Form", "Items", "NumberRows", "TableParts", "as_records", "categories", "category",
    "joined", "leaves", "places", "settled", "settled_one", "shown",
]  # fmt: skip

_NUMBERS = frozenset({float, int, bool}) | {
    kind for kind in np.sctypeDict.values()
    if np.dtype(kind).kind in "fiub" and np.dtype(kind).itemsize <= 8
}  # fmt: skip
"""The types of numbers that a float holds as they are."""
_SEVERAL = (tuple, list, Items, TableParts, np.ndarray)


@dataclass(frozen=True)
class Form:
    """All of an answer but its numbers: what holds them, the texts beside them, their types.

    ``skeleton`` is a type where a number stands, (array, type, shape) where an array of numbers
    does, and (class, parts...) for a collection; whatever else is constant.
    """

    skeleton: Hashable

    def filled(self, numbers: Iterator[Any]) -> Any:
        """The content of an answer of this form with these numbers."""
        return _filled(self.skeleton, numbers)

    @cached_property
    def places(self) -> list[str]:
        """The name of each number, as answer[1]['who']."""
        answer = _filled(_without_types(self.skeleton), iter(lambda: _HOLE, None))
        return [p for p, leaf in zip(places(answer), leaves(answer)) if leaf is _HOLE]


_HOLE = object()


class NumberRows:
    """Answers of one form: their numbers, shape (n, width), and the form."""

    def __init__(self, form: Form, numbers: np.ndarray) -> None:
        self.form, self.numbers = form, numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: slice) -> NumberRows: ...
    @overload
    def __getitem__(self, place: int) -> Any: ...

    def __getitem__(self, place: slice | int) -> Any:
        if isinstance(place, slice):
            return NumberRows(self.form, self.numbers[place])
        return self.form.filled(iter(self.numbers[place].tolist()))

    def __iter__(self) -> Iterator[Any]:
        return (self.form.filled(iter(row)) for row in self.numbers.tolist())


Answers = np.ndarray | list[Any] | NumberRows
"""Answers to one input: an array whose first axis counts them, a list of anything, or records."""


def settled(answers: Answers) -> Answers:
    """An immutable copy of a batch of answers; raises InvalidInput."""
    if isinstance(answers, np.ndarray):
        return _array(answers)
    if isinstance(answers, NumberRows):
        return answers
    if all(type(answer) in PLAIN and type(answer) is not int for answer in answers):
        return list(answers)
    return as_records([content(answer) for answer in answers])


settled_one = content


def categories(answers: Answers) -> list[Hashable]:
    """The category of each answer; of rows of numbers, their bits."""
    if isinstance(answers, NumberRows):
        return [row.tobytes() for row in answers.numbers]
    if isinstance(answers, np.ndarray):
        return [row.tobytes() for row in answers]
    return [category(answer) for answer in answers]


def as_records(answers: list[Any]) -> Answers:
    """Contents of one form as records of their numbers; others, and single numbers, unchanged."""
    first = answers[0] if answers else None
    if type(first) not in _SEVERAL:
        return answers
    if type(first) is np.ndarray:
        if first.size == 0 or any(
            type(a) is not np.ndarray or a.dtype != first.dtype or a.shape != first.shape
            for a in answers
        ):
            return answers
        form = Form((np.ndarray, first.dtype.str, first.shape))
        return NumberRows(form, np.array(answers, dtype=np.float64).reshape(len(answers), -1))
    rows: list[list[Any]] = []
    skeleton = None
    for answer in answers:
        row: list[Any] = []
        found = _split(answer, row)
        if skeleton is None:
            skeleton = found
        if found != skeleton or not row:
            return answers
        rows.append(row)
    return NumberRows(Form(skeleton), np.array(rows, dtype=np.float64))


def _split(part: Any, numbers: list[Any]) -> Any:
    """The skeleton of a content; its numbers are appended."""
    kind = type(part)
    if kind in _NUMBERS:
        numbers.append(part)
        return kind
    if kind is tuple or kind is list or kind is TableParts:
        return (kind, *[_split(each, numbers) for each in part])
    if kind is Items:
        values = [_split(each, numbers) for each in part[1::2]]
        return (kind, tuple(map(_key, part[::2])), *values)
    if kind is np.ndarray:
        numbers.extend(part.ravel().tolist())
        return np.ndarray, part.dtype.str, part.shape
    return part


def _key(key: Any) -> Hashable:
    """A key of a dict, which is part of the form; True and 1 differ."""
    return key if type(key) is str else (category(key), _Constant(key))


class _Constant:
    """A key that is no text; all are equal, as their categories stand beside them."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Constant)

    def __hash__(self) -> int:
        return 0


def _filled(skeleton: Any, numbers: Iterator[Any]) -> Any:
    if isinstance(skeleton, type):
        number = next(numbers)
        return number if skeleton in (object, float) else skeleton(number)
    if type(skeleton) is not tuple:
        return skeleton
    kind, *parts = skeleton
    if kind is np.ndarray:
        dtype, shape = parts
        size = int(np.prod(shape))
        return np.array([next(numbers) for _ in range(size)], dtype=dtype).reshape(shape)
    if kind is Items:
        keys, *values = parts
        pairs = zip(keys, values)
        return Items(
            each
            for key, value in pairs
            for each in (key if type(key) is str else key[1].value, _filled(value, numbers))
        )
    return kind(_filled(each, numbers) for each in parts)


def _without_types(skeleton: Any) -> Any:
    """The skeleton with any object in place of a number."""
    if isinstance(skeleton, type):
        return object
    if type(skeleton) is not tuple:
        return skeleton
    kind, *parts = skeleton
    if kind is np.ndarray:
        return kind, "O", parts[1]
    if kind is Items:
        return (kind, parts[0], *map(_without_types, parts[1:]))
    return (kind, *map(_without_types, parts))


def _array(answers: np.ndarray) -> Answers:
    """An array of numbers as a float or integer array; any other as a list."""
    if isinstance(answers, np.ma.MaskedArray):
        return [content(answer) for answer in answers.tolist()]
    kind, n = answers.dtype.kind, len(answers)
    if kind in "mM":
        answers, kind = answers.view(np.int64), "i"
    if answers.dtype.names is not None:
        return as_records([content(answer) for answer in answers])
    if kind not in "fiubc" or (n and not answers.size):
        return [content(answer) for answer in answers.tolist()]
    if kind == "c":
        flat = answers.reshape(n, -1)
        return np.hstack([flat.real, flat.imag]).astype(np.float64)
    if kind == "f" and answers.dtype.itemsize > 8:
        high = answers.astype(np.float64).reshape(n, -1)
        with np.errstate(invalid="ignore"):
            low = (answers.reshape(n, -1) - high).astype(np.float64)
        return np.hstack([high, low])
    if kind in "iu" and answers.dtype.itemsize == 8 and answers.size:
        largest = max(abs(int(answers.max())), abs(int(answers.min())))
        if largest > 1 << 53:  # more digits than a float has
            flat = answers.reshape(n, -1)
            parts = [flat >> flat.dtype.type(32), flat & flat.dtype.type(0xFFFFFFFF)]
            return np.hstack(parts).astype(np.float64)
    return answers.copy()


def shown(value: Any, most: int = 60) -> str:
    """A value in one short line."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    elif isinstance(value, np.generic):
        value = value.item()
    try:
        text = " ".join(repr(_plainer(value)).split())
    except Exception as error:
        text = f"{type(value).__name__} whose repr raises {type(error).__name__}"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _plainer(value: Any) -> Any:
    """A content with its dicts as such, and of tables the values alone."""
    if type(value) is TableParts:
        return _plainer(value[1])
    if type(value) is Items:
        try:
            return dict(zip(value[::2], map(_plainer, value[1::2])))
        except TypeError:  # a key that is not hashable: a list, or an array
            return tuple(map(_plainer, value))
    if type(value) in (tuple, list):
        return type(value)(map(_plainer, value))
    return value.item() if isinstance(value, np.generic) else value


def leaves(answer: Any) -> list[Any]:
    """The leaves of a content in order; the keys of a dict are leaves."""
    found: list[Any] = []
    stack = [answer]
    while stack:
        item = stack.pop()
        if isinstance(item, np.ndarray):
            item = item.tolist() if item.ndim else item.item()
        if isinstance(item, tuple | list):
            stack.extend(reversed(item))
        else:
            found.append(item)
    return found


def places(answer: Any, name: str = "answer") -> list[str]:
    """The name of each leaf, as answer[1]['who']; of a key, "key 0 of answer[1]"."""
    if isinstance(answer, np.ndarray):
        answer = answer.tolist()
    if type(answer) is TableParts:
        facts = [f"the types and names of {name}"] * len(leaves(answer[0]))
        return facts + places(answer[1], name)
    if type(answer) is Items:
        found = []
        for i, (key, value) in enumerate(zip(answer[::2], answer[1::2])):
            found += [f"key {i} of {name}"] * len(leaves(key))
            found += places(value, f"{name}[{shown(key, 30)}]")
        return found
    if isinstance(answer, tuple | list):
        return [place for i, part in enumerate(answer) for place in places(part, f"{name}[{i}]")]
    return [name]


def joined(parts: Sequence[Answers]) -> Answers:
    """Batches of answers as one."""
    if all(isinstance(part, np.ndarray) for part in parts):
        arrays = [np.asarray(part) for part in parts]
        if len({(a.dtype, a.shape[1:]) for a in arrays}) == 1:
            return np.concatenate(arrays)
    records = [part for part in parts if isinstance(part, NumberRows)]
    if records and len(records) == len(parts) and all(r.form == records[0].form for r in records):
        return NumberRows(records[0].form, np.concatenate([r.numbers for r in records]))
    return [answer for part in parts for answer in part]
