"""Answers of a black box, which may be any objects, as numbers, texts and nested tuples.

They are copies, because a caller may change an answer later. The type and the attributes of an
object are part of the answer; an object that cannot be read, such as a generator, is refused.
"""

from __future__ import annotations

import enum
import re
import types
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from simulator.foundations.errors import InvalidInput
from simulator.mechanisms import Raised

Answers = np.ndarray | list[Any]
"""Answers to one input: an array whose first axis counts them, or a list of anything."""


class Items(tuple[Any, ...]):
    """The keys and values of a dict in turn: key, value, key, value."""

    __slots__ = ()


_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""The address of an object in memory, which is not part of an answer."""

_PLAIN = frozenset({float, int, bool, str, bytes, type(None), Raised})
_CLOSED = (
    types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.FunctionType,
    types.ModuleType, memoryview,
)  # fmt: skip
_FIELDS: dict[type, str] = {float: "f8", int: "i8", bool: "?"}
_NUMPY = frozenset({np.float64, np.int64, np.bool_})
"""numpy's numbers that are equal to Python's in a dict."""
_BASES: dict[type, Callable[[Any], Any]] = {
    kind: kind for kind in (int, float, complex, str, bytes, tuple, list, dict, set, frozenset)
} | {np.ndarray: np.asarray}
"""What makes a plain number, text or collection of one of a derived class."""
DEEPEST = 64
"""The largest depth of an answer."""
MOST_PARTS = 300_000
"""The largest number of parts of an answer, in which references to one object may multiply."""
_LONGEST = 4096
"""Bits of a whole number beyond which its last digits, length and hash represent it."""


def settled(answers: Answers) -> Answers:
    """An immutable copy of a batch of answers; raises InvalidInput."""
    if isinstance(answers, np.ndarray):
        return _array(answers)
    if all(type(answer) in _PLAIN and type(answer) is not int for answer in answers):
        return list(answers)
    return as_records([settled_one(answer) for answer in answers])


def settled_one(answer: Any) -> Any:
    """An immutable copy of one answer; raises InvalidInput."""
    return _Reading().own(answer)


def as_records(answers: list[Any]) -> Answers:
    """Dicts of numbers with the same keys as an array with a field per key; others unchanged."""
    first = answers[0] if answers else None
    if type(first) is not Items or not first:
        return answers
    keys, types = first[::2], tuple(map(type, first[1::2]))
    named = all(type(key) is str and key for key in keys)
    if not named or not all(each in _FIELDS for each in types):
        return answers
    for answer in answers:
        if type(answer) is not Items or answer[::2] != keys:
            return answers
        if tuple(map(type, answer[1::2])) != types:
            return answers
    fields = [(key, _FIELDS[each]) for key, each in zip(keys, types)]
    return np.array([answer[1::2] for answer in answers], dtype=fields)


def _array(answers: np.ndarray) -> Answers:
    """An array of numbers as a float or integer array; any other as a list."""
    if isinstance(answers, np.ma.MaskedArray):
        return [_Reading().own(answer) for answer in answers.tolist()]
    kind, n = answers.dtype.kind, len(answers)
    if kind in "mM":
        answers, kind = answers.view(np.int64), "i"
    if answers.dtype.names is not None or kind not in "fiubc" or (n and not answers.size):
        return [_Reading().own(answer) for answer in answers.tolist()]
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


class _Reading:
    """Reads one answer as numbers, texts and tuples."""

    def __init__(self) -> None:
        self.within: list[int] = []  # ids of the objects being read, the outermost first
        self.parts = 0

    def own(self, answer: Any) -> Any:
        """A copy of an answer or of a part of it; '...' for a cycle or beyond DEEPEST."""
        kind = type(answer)
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise InvalidInput(f"an answer has more than {MOST_PARTS:,} parts")
        if kind in _PLAIN and kind is not int:
            return answer
        if len(self.within) > DEEPEST or id(answer) in self.within:
            return "..."
        self.within.append(id(answer))
        try:
            return self._whole_number(answer) if kind is int else self._held(answer)
        finally:
            self.within.pop()

    @staticmethod
    def _whole_number(answer: int) -> Any:
        if abs(answer) <= 1 << 53:
            return answer
        if answer.bit_length() > _LONGEST:
            return "int", answer.bit_length(), answer % (1 << 32), hash(answer)
        return "int", answer >> 32, answer % (1 << 32)

    def _held(self, answer: Any) -> Any:
        kind = type(answer)
        if isinstance(answer, np.generic):
            if answer.dtype.names:
                return self.own(dict(zip(answer.dtype.names, answer.item())))
            if answer.dtype.kind == "f" and answer.dtype.itemsize > 8:
                high = np.float64(answer)
                with np.errstate(invalid="ignore"):
                    return str(answer.dtype), high, np.float64(np.subtract(answer, high))
            return answer if answer.dtype.kind in "fiub" else (str(answer.dtype), repr(answer))
        if isinstance(answer, np.ma.MaskedArray):
            return "masked", self.own(answer.tolist())
        if kind is np.ndarray:
            if answer.dtype.kind in "fiub" and not answer.dtype.names:
                return answer.copy()
            return str(answer.dtype), answer.shape, self.own(answer.tolist())
        if kind is complex:
            return "complex", answer.real, answer.imag
        if kind is dict:
            items = [part for pair in answer.items() for part in pair]
            return Items(self._each(x.item() if type(x) in _NUMPY else x for x in items))
        if kind in (set, frozenset):  # sorted: the order of a set is not part of an answer
            return kind.__name__, *sorted(self._each(answer), key=lambda x: repr(category(x)))
        if kind in (tuple, list):
            made = self._each(answer)
            return made if kind is tuple else list(made)
        return self._object(answer)

    def _each(self, items: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(self.own(item) for item in items)

    def _object(self, answer: Any) -> Any:
        """An object as its type, its value as a number or collection, and its attributes."""
        if isinstance(answer, _CLOSED):
            raise InvalidInput(
                f"an answer is a {type(answer).__name__}, which cannot be read: return "
                "numbers, texts, or tuples, arrays and objects of them"
            )
        if isinstance(answer, type):
            return "type", answer.__module__, answer.__qualname__
        if isinstance(answer, enum.Enum):
            return type(answer).__name__, answer.name, self.own(answer.value)
        try:
            inside: tuple[Any, ...] = ()
            plain = next((_BASES[base] for base in type(answer).__mro__ if base in _BASES), None)
            if plain is not None:
                inside = (self.own(plain(answer)),)
            elif isinstance(answer, Mapping):
                inside = self._each(part for pair in answer.items() for part in pair)
            slots = [name for kind in type(answer).__mro__ for name in _slots(kind)]
            attributes = {name: getattr(answer, name, None) for name in slots}
            attributes |= getattr(answer, "__dict__", {})
            held = tuple((name, self.own(attributes[name])) for name in sorted(attributes))
            if not inside and not held:
                text = _ADDRESS.sub("", repr(answer))
                inside = (text,) if len(text) < _LONGEST else (text[:_LONGEST], _digest(text))
            return type(answer).__name__, *inside, *held
        except InvalidInput:
            raise
        except Exception as error:
            return type(answer).__name__, Raised.of(error)


def _digest(text: str) -> str:
    """A digest that represents a long text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _slots(kind: type) -> Sequence[str]:
    """The attribute names of a class's slots; private names are mangled."""
    slots = kind.__dict__.get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    owner = kind.__name__.lstrip("_")
    return [
        f"_{owner}{name}" if name.startswith("__") and owner else name
        for name in names
        if not name.endswith("__")
    ]


def items_of(record: np.void) -> Items:
    """The settled dict that a row of an array with fields stands for."""
    names = record.dtype.names or ()
    return Items(part for pair in zip(names, record.item()) for part in pair)


def category(answer: Any) -> Hashable:
    """A hashable value that is equal for equal answers of one type: 1, 1.0 and True differ."""
    if isinstance(answer, np.ndarray):
        return str(answer.dtype), answer.shape, answer.tobytes()
    if isinstance(answer, np.void) and answer.dtype.names:
        return category(items_of(answer))  # equal to that of the same dict outside an array
    if isinstance(answer, np.generic):
        return str(answer.dtype), answer.tobytes()
    if type(answer) in (tuple, list, Items):
        return type(answer).__name__, tuple(category(part) for part in answer)
    return type(answer).__name__, repr(answer)


def shown(value: Any, most: int = 60) -> str:
    """A value in one short line."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    elif isinstance(value, np.void) and value.dtype.names:
        value = items_of(value)
    elif isinstance(value, np.generic):
        value = value.item()
    if type(value) is Items:
        value = dict(zip(value[::2], value[1::2]))
    try:
        text = " ".join(repr(value).split())
    except Exception as error:
        text = f"{type(value).__name__} whose repr raises {type(error).__name__}"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def leaves(answer: Any) -> list[Any]:
    """The leaves of a settled answer in order; the keys of a dict are leaves."""
    found: list[Any] = []
    stack = [answer]
    while stack:
        item = stack.pop()
        if isinstance(item, np.void) and item.dtype.names:
            item = items_of(item)
        elif isinstance(item, np.ndarray):
            item = item.tolist() if item.ndim else item.item()
        if isinstance(item, tuple | list):
            stack.extend(reversed(item))
        else:
            found.append(item)
    return found


def places(answer: Any, name: str = "answer") -> list[str]:
    """The name of each leaf, as answer[1]['who']; of a key, "key 0 of answer[1]"."""
    if isinstance(answer, np.void) and answer.dtype.names:
        answer = items_of(answer)
    elif isinstance(answer, np.ndarray):
        answer = answer.tolist()
    if type(answer) is Items:
        found = []
        for i, (key, value) in enumerate(zip(answer[::2], answer[1::2])):
            found += [f"key {i} of {name}"] * len(leaves(key))
            found += places(value, f"{name}[{shown(key, 30)}]")
        return found
    if isinstance(answer, tuple | list):
        return [place for i, part in enumerate(answer) for place in places(part, f"{name}[{i}]")]
    return [name]
