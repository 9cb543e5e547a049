"""The public content of one answer, which may be any object: what whoever receives it can read.

It is made of numbers, texts and nested tuples. A table is its values, labels, types and names;
any other object is its type and what ``pickle`` would keep of it. An object of which neither can
be read is refused: as a constant it would hide whatever it holds.
"""

from __future__ import annotations

import array
import copyreg
import datetime
import enum
import io
import random
import re
import types
from collections.abc import Hashable, Iterable, Iterator, Mapping, ValuesView
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any

import numpy as np

from simulator.auditing.evidence.tables import TableContent, table_content
from simulator.foundations.errors import InvalidInput
from simulator.identity.anatomy import is_a_name_of, kept, wrapped
from simulator.identity.origins import is_found_by_name
from simulator.mechanisms import Raised


class Items(tuple[Any, ...]):
    """The keys and values of a dict in turn: key, value, key, value."""

    __slots__ = ()


class TableParts(tuple[Any, ...]):
    """A table or a named vector: (what its types and names are, its values by label)."""

    __slots__ = ()


PLAIN = frozenset({float, int, bool, str, bytes, type(None), Raised})
DEEPEST = 64
"""The largest depth of an answer."""
MOST_PARTS = 300_000
"""The largest number of parts of an answer, in which references to one object may multiply."""

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""The address of an object in memory, which is not part of an answer."""
_LONGEST = 4096
"""Bits of a whole number beyond which its last digits, length and hash represent it."""
_WIDEST = 1024
"""Bits of a whole number beyond which it is in words of 32 bits: no float is as large."""
_NUMPY = frozenset({np.float64, np.int64, np.bool_})
"""numpy's numbers that are equal to Python's in a dict."""
_BASES: dict[type, Any] = {
    kind: kind for kind in (int, float, complex, str, bytes, tuple, list, dict, set, frozenset)
} | {np.ndarray: np.asarray}
"""What makes a plain number, text or collection of one of a derived class."""
_GENERATORS = (
    np.random.Generator, np.random.RandomState, np.random.BitGenerator, np.random.SeedSequence,
    random.Random,
)  # fmt: skip
_CLOCKS = (datetime.datetime, datetime.date, datetime.time)
_UNREADABLE = (types.ModuleType, types.FrameType, types.TracebackType, types.CoroutineType,
               types.AsyncGeneratorType, io.IOBase)  # fmt: skip
_MAKERS = (copyreg.__newobj__, copyreg.__newobj_ex__, object().__reduce__()[0])  # type: ignore[attr-defined]
"""What makes an object of its class alone."""


def content(answer: Any) -> Any:
    """An immutable copy of the public content of one answer; raises InvalidInput."""
    return _Reading().own(answer)


def raised(error: BaseException) -> Any:
    """The answer that stands for an exception: its type, and the message that it brings."""
    try:
        text = _ADDRESS.sub("", str(error))
    except Exception:  # a message of a user's class
        text = ""
    return (Raised.of(error), text) if text else Raised.of(error)


class _Reading:
    """Reads one answer as numbers, texts and tuples."""

    def __init__(self) -> None:
        self.within: list[Any] = []  # the objects being read, the outermost first
        self.parts = 0

    def own(self, answer: Any) -> Any:
        """A copy of an answer or of a part of it; '...' for a cycle."""
        kind = type(answer)
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise InvalidInput(f"an answer has more than {MOST_PARTS:,} parts")
        if kind is int:
            return _whole_number(answer)
        if kind in PLAIN:
            return answer
        for each in self.within:
            if answer is each:
                return "..."
        if len(self.within) > DEEPEST:
            raise InvalidInput(f"an answer has more than {DEEPEST} objects inside each other")
        self.within.append(answer)
        try:
            return self._held(answer, kind)
        finally:
            self.within.pop()

    def _held(self, answer: Any, kind: type) -> Any:
        if isinstance(answer, np.generic):
            return self._number(answer)
        if kind is np.ndarray:
            return self._array(answer)
        if kind is complex:
            return "complex", answer.real, answer.imag
        if kind is dict:
            items = [part for pair in answer.items() for part in pair]
            return Items(self._each([x.item() if type(x) in _NUMPY else x for x in items]))
        if kind in (set, frozenset):  # sorted: the order of a set is not part of an answer
            return kind.__name__, *sorted(self._each(answer), key=lambda x: repr(category(x)))
        if kind in (tuple, list):
            made = self._each(answer)
            return made if kind is tuple else list(made)
        table = table_content(answer)
        return self._object(answer, kind) if table is None else self._table(table)

    def _each(self, items: Iterable[Any]) -> tuple[Any, ...]:
        if isinstance(items, list | tuple):  # most columns of a table need no copy of each cell
            kinds = set(map(type, items))
            fits = self.parts + len(items) <= MOST_PARTS
            if fits and kinds <= PLAIN and (int not in kinds or _are_short(items, kinds)):
                self.parts += len(items)
                return tuple(items)
        return tuple(self.own(item) for item in items)

    def _table(self, table: TableContent) -> TableParts:
        """A table as its types and names, and its columns by label."""
        rows = None if table.rows is None else self._each(table.rows)
        found: list[Any] = []
        if rows is not None and not table.columns:  # its rows are named all the same
            found = [part for row in rows for part in (row, None)]
        for label, values in table.columns:
            cells = self._each(values)
            if rows is not None:
                cells = Items(part for pair in zip(rows, cells) for part in pair)
            found += [self.own(label), cells]
        series = len(found) == 2 and found[0] is None
        return TableParts((self.own(table.facts), found[1] if series else Items(found)))

    def _number(self, answer: np.generic) -> Any:
        """A number of numpy, or a record of such."""
        if answer.dtype.names:
            return self.own(dict(zip(answer.dtype.names, answer.item())))
        if answer.dtype.kind == "f" and answer.dtype.itemsize > 8:
            high = np.float64(answer)
            with np.errstate(invalid="ignore"):
                return str(answer.dtype), high, np.float64(np.subtract(answer, high))
        if answer.dtype.kind in "iu" and abs(int(answer)) > 1 << 53:
            return str(answer.dtype), _whole_number(int(answer))
        return answer if answer.dtype.kind in "fiub" else (str(answer.dtype), repr(answer))

    def _array(self, answer: np.ndarray) -> Any:
        """An array of numbers as it is; any other as its type, its shape and its parts."""
        if answer.dtype.names:
            return str(answer.dtype), self.own({n: answer[n] for n in answer.dtype.names})
        if answer.dtype.kind in "fiub" and answer.dtype.itemsize <= 8:
            if answer.dtype.kind in "iu" and answer.size and _is_long(answer):
                return str(answer.dtype), answer.shape, self.own(answer.tolist())
            return answer.copy()
        if answer.dtype.kind in "mM":
            return str(answer.dtype), answer.view(np.int64).copy()
        if answer.dtype.kind == "c":
            return str(answer.dtype), np.array(answer.real), np.array(answer.imag)
        return str(answer.dtype), answer.shape, self.own(answer.tolist())

    def _object(self, answer: Any, kind: type) -> Any:
        """An object as its type, and its value as a number or collection, or its parts."""
        if isinstance(answer, _GENERATORS):
            raise InvalidInput(
                f"an answer holds a {kind.__name__}, a random generator: whoever receives it can "
                "compute the noise again; return the answer without it"
            )
        if isinstance(answer, type):
            return "type", *self._class(answer)
        if isinstance(answer, enum.Enum):
            return kind.__name__, answer.name, self.own(answer.value)
        if isinstance(answer, _CLOCKS) and type(answer).__module__ == "datetime":
            return kind.__name__, answer.isoformat(), *_numbers(answer)
        if isinstance(answer, np.ma.MaskedArray):
            return kind.__name__, self.own(np.array(answer.data)), self.own(answer.mask)
        if isinstance(answer, bytearray | memoryview):
            return kind.__name__, bytes(answer)
        if isinstance(answer, array.array):
            return kind.__name__, answer.typecode, self.own(answer.tolist())
        if isinstance(answer, io.BytesIO | io.StringIO):
            return kind.__name__, answer.getvalue()
        if isinstance(answer, types.FunctionType | types.CodeType):
            return self._function(answer)
        if isinstance(answer, types.CellType):
            return self._each(_cell(answer))
        if isinstance(answer, Iterator) and kind.__module__ in ("builtins", "itertools"):
            return self._items(answer)
        named = self._class(kind)
        plain = next((_BASES[base] for base in kind.__mro__ if base in _BASES), None)
        if plain is not None:
            return *named, self.own(plain(answer)), *self._attributes(answer, plain)
        return *named, *self._parts(answer, kind)

    def _class(self, kind: type) -> tuple[Any, ...]:
        """A class by its name; one that was made in play by the values that it holds too."""
        if is_found_by_name(kind):
            return (kind.__name__,)
        held = {
            name: value for name, value in vars(kind).items()
            if not (name.startswith("__") or callable(value) or hasattr(type(value), "__get__"))
        }  # fmt: skip
        return (kind.__name__, self.own(held)) if held else (kind.__name__,)

    def _attributes(self, answer: Any, plain: Any) -> tuple[Any, ...]:
        """What a number, text or collection of a derived class holds beside its value."""
        found = dict(getattr(answer, "__dict__", {}))
        for each in type(answer).__mro__:
            found |= {n: getattr(answer, n, None) for n in _slots(each)}
        if plain is dict and hasattr(answer, "default_factory"):
            found["default_factory"] = answer.default_factory
        return self._named(found)

    def _named(self, found: Mapping[Any, Any]) -> tuple[Any, ...]:
        """Attributes in the order of their names."""
        order = sorted(found.items(), key=lambda pair: str(pair[0]))
        return tuple((str(name), self.own(value)) for name, value in order)

    def _parts(self, answer: Any, kind: type) -> tuple[Any, ...]:
        """What ``pickle`` would keep, or else the items of a collection."""
        found = None if isinstance(answer, _UNREADABLE) else kept(answer)
        if isinstance(found, str):
            if is_a_name_of(answer, found):
                return (found,)
            inner = wrapped(answer)
            if inner is None:
                raise self._refused(answer)
            return (self.own(inner),)
        if found is None:
            if isinstance(answer, Mapping):
                return self._each(part for pair in answer.items() for part in pair)
            several = isinstance(answer, Iterator | AbstractSet | ValuesView)
            if several and not isinstance(answer, _UNREADABLE):
                return (self._items(answer),)
            raise self._refused(answer)
        made: tuple[Any, ...] = ()
        arguments = found.arguments
        if found.made in _MAKERS:
            arguments = arguments[1:] if arguments[:1] == (kind,) else arguments
            arguments = tuple(each for each in arguments if each is not object)
        elif found.made is not kind:
            made = (self.own(found.made),)
        state = found.state
        rest: tuple[Any, ...] = ()
        if type(state) is tuple and len(state) == 2 and isinstance(state[1], dict):
            state = (state[0] or {}) | state[1] if isinstance(state[0], dict | None) else state
        if isinstance(state, dict):
            rest = self._named(state)
        elif state is not None:
            rest = (self.own(state),)
        return (*made, *self._each(arguments or ()), *rest, *self._each(found.items),
                *self._each(found.pairs))  # fmt: skip

    def _items(self, answer: Iterable[Any]) -> tuple[Any, ...]:
        """The items of an iterator, which is run to its end."""
        return self._each(islice(answer, MOST_PARTS + 1))

    def _function(self, answer: types.FunctionType | types.CodeType) -> tuple[Any, ...]:
        """A function by its name, or by its code and what that holds."""
        if isinstance(answer, types.CodeType):
            return "code", answer.co_code, *answer.co_names, *self._each(answer.co_consts)
        held = self._named(vars(answer))
        if is_found_by_name(answer):
            return "function", answer.__module__, answer.__qualname__, *held
        return (
            "function", self.own(answer.__code__), self.own(answer.__closure__),
            self.own(answer.__defaults__), self.own(answer.__kwdefaults__), *held,
        )  # fmt: skip

    def _refused(self, answer: Any) -> InvalidInput:
        """The error of an object that cannot be read, with the objects around it."""
        names = [_full_name(each) for each in self.within]
        around = f" (in {' in '.join(names[-2::-1])})" if names[1:] else ""
        return InvalidInput(
            f"an answer holds a {_full_name(answer)}{around}, which cannot be read: return "
            "numbers, texts, tables, or tuples, arrays and objects of them"
        )


def _full_name(value: Any) -> str:
    kind = type(value)
    return (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else (f"{kind.__module__}.{kind.__qualname__}")
    )


def _whole_number(answer: int) -> Any:
    """A whole number that a float holds as it is; another one in parts."""
    if abs(answer) <= 1 << 53:
        return answer
    if answer.bit_length() > _LONGEST:
        return "int", answer.bit_length(), answer % (1 << 32), hash(answer)
    if answer.bit_length() > _WIDEST:
        words = -(-answer.bit_length() // 32)
        return "int", answer < 0, *(abs(answer) >> 32 * i & 0xFFFFFFFF for i in range(words))
    return "int", answer >> 32, answer % (1 << 32)


def _are_short(items: Iterable[Any], kinds: set[type]) -> bool:
    """Whether items of these types are whole numbers that a float holds as they are."""
    return kinds == {int} and max(max(items), -min(items)) <= 1 << 53


def _is_long(answer: np.ndarray) -> bool:
    """Whether an array holds whole numbers with more digits than a float has."""
    return max(abs(int(answer.max())), abs(int(answer.min()))) > 1 << 53


def _numbers(moment: Any) -> tuple[Any, ...]:
    """A date as a number of days, and a time as a number of microseconds."""
    days = (moment.toordinal(),) if isinstance(moment, datetime.date) else ()
    if not hasattr(moment, "hour"):
        return days
    seconds = (moment.hour * 60 + moment.minute) * 60 + moment.second
    return *days, seconds * 1_000_000 + moment.microsecond, moment.fold


def _cell(cell: types.CellType) -> list[Any]:
    """What a cell holds: nothing while its variable is still to be assigned."""
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


def _slots(kind: type) -> list[str]:
    """The attribute names of a class's slots; private names are mangled."""
    slots = kind.__dict__.get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    owner = kind.__name__.lstrip("_")
    return [
        f"_{owner}{name}" if name.startswith("__") and owner else name
        for name in names
        if not name.endswith("__")
    ]


def category(answer: Any) -> Hashable:
    """A hashable value that is equal for equal contents of one type: 1, 1.0 and True differ."""
    if isinstance(answer, np.ndarray):
        return str(answer.dtype), answer.shape, answer.tobytes()
    if isinstance(answer, np.generic):
        return str(answer.dtype), answer.tobytes()
    if type(answer) in (tuple, list, Items, TableParts):
        return type(answer).__name__, tuple(category(part) for part in answer)
    return type(answer).__name__, repr(answer)
