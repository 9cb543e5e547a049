"""Tell two adversaries apart by what they are made of, not by where they live in memory.

An adversary is taken apart into its source, what its functions close over and look up, the
fields of its menu's mechanisms and the records of their databases, down to plain values. Code of
this package and of installed ones is told by its name: their version is recorded with a result.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from simulator.data.databases import Database

Tell = Callable[[Any], str]

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), np.generic, PurePath)
_ADDRESS = " at 0x"
_INSTALLED = tuple(sysconfig.get_path(name) for name in ("purelib", "platlib"))


def fingerprint(adversary: Callable[..., Any]) -> str:
    """A digest of the adversary's source, its menu, and the values it closes over or looks up.

    Equal adversaries agree on it across processes and machines. A resumed run is refused when it
    has changed.
    """
    return hashlib.sha256(Teller().tell(adversary).encode()).hexdigest()[:16]


class Teller:
    """Puts values into words: equal values into equal words, in every process."""

    def __init__(self) -> None:
        self.inside: set[int] = set()
        self.told: dict[int, tuple[Any, str]] = {}  # with the value, so that its id stays its own

    def tell(self, value: Any) -> str:
        """The value in words, taken apart as far as it goes."""
        if isinstance(value, _PLAIN):
            return f"{type(value).__name__} {value!r}"
        key = id(value)
        if key in self.told:
            return self.told[key][1]
        if key in self.inside:
            return "itself"
        self.inside.add(key)
        kind = type(value)
        made_by = self.tell(kind) if _is_own(kind) else _name(kind)
        text = f"{made_by}({', '.join(contents(value, self.tell))})"
        self.inside.remove(key)
        self.told[key] = value, text
        return text


@functools.singledispatch
def contents(value: Any, tell: Tell) -> Iterable[str]:
    """What a value is made of. Without more to go by: its fields, or what it says of itself."""
    if hasattr(value, "__wrapped__"):
        return [tell(value.__wrapped__)]
    if is_dataclass(value):
        return [f"{field.name}={tell(getattr(value, field.name))}" for field in fields(value)]
    said = repr(value)
    return [
        *([] if _ADDRESS in said else [said]),
        *(f"{name}={tell(part)}" for name, part in sorted(getattr(value, "__dict__", {}).items())),
    ]


@contents.register(tuple)
@contents.register(list)
def _sequence(value: Iterable[Any], tell: Tell) -> Iterable[str]:
    return map(tell, value)


@contents.register(set)
@contents.register(frozenset)
def _set(value: Iterable[Any], tell: Tell) -> Iterable[str]:
    return sorted(map(tell, value))


@contents.register
def _mapping(value: Mapping, tell: Tell) -> Iterable[str]:
    return sorted(f"{tell(key)}: {tell(item)}" for key, item in value.items())


@contents.register
def _database(value: Database, tell: Tell) -> Iterable[str]:
    return sorted(f"{tell(record)}: {count}" for record, count in value.records())


@contents.register
def _array(value: np.ndarray, tell: Tell) -> Iterable[str]:
    return [str(value.dtype), str(value.shape), tell(value.tolist())]


@contents.register
def _partial(value: functools.partial, tell: Tell) -> Iterable[str]:
    return map(tell, (value.func, value.args, value.keywords))


@contents.register
def _method(value: MethodType, tell: Tell) -> Iterable[str]:
    return map(tell, (value.__func__, value.__self__))


@contents.register(ModuleType)
@contents.register(BuiltinFunctionType)
def _named(value: Any, tell: Tell) -> Iterable[str]:
    return [_name(value)]


@contents.register
def _property(value: property, tell: Tell) -> Iterable[str]:
    return map(tell, (value.fget, value.fset))


@contents.register
def _class(value: type, tell: Tell) -> Iterable[str]:
    members = vars(value).items() if _is_own(value) else ()
    return [
        _name(value),
        *(f"{name}={tell(part)}" for name, part in sorted(members) if _is_written(name, part)),
    ]


@contents.register
def _function(value: FunctionType, tell: Tell) -> Iterable[str]:
    closed_over = [cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell)]
    looked_up = [
        f"{name}={_name(found) if _is_foreign(found) else tell(found)}"
        for name in sorted(_names(value.__code__) & value.__globals__.keys())
        for found in [value.__globals__[name]]
    ]
    given = (value.__defaults__, value.__kwdefaults__, closed_over)
    return [_source(value), *looked_up, *map(tell, given)]


@contents.register
def _code(value: CodeType, tell: Tell) -> Iterable[str]:
    return [value.co_code.hex(), *map(tell, (value.co_names, value.co_varnames, value.co_consts))]


def _source(function: FunctionType) -> str:
    """The text of a function; of a lambda, which may share its line with others, the code."""
    try:
        if function.__name__ != "<lambda>":
            return inspect.getsource(function)
    except (OSError, TypeError):
        pass
    return Teller().tell(function.__code__)


def _names(code: CodeType) -> set[str]:
    """The names that code looks up, also in the functions inside of it."""
    inner = [_names(part) for part in code.co_consts if isinstance(part, CodeType)]
    return set(code.co_names).union(*inner)


def _name(value: Any) -> str:
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", repr(value))
    return f"{getattr(value, '__module__', None)}.{name}"


def _is_own(value: Any) -> bool:
    """Whether a class or function is the user's, and neither installed nor of this package."""
    top = str(getattr(value, "__module__", None)).partition(".")[0]
    if top in ("simulator", "None") or top in sys.stdlib_module_names:
        return False
    file = getattr(sys.modules.get(top), "__file__", None) or ""
    return not file.startswith(_INSTALLED)


def _is_foreign(value: Any) -> bool:
    """Whether a name that a function looks up is code of somebody else's."""
    return isinstance(value, type | FunctionType) and not _is_own(value)


def _is_written(name: str, part: Any) -> bool:
    """Whether a class's member was written by its author, rather than kept by the interpreter."""
    return isinstance(part, FunctionType | property) or not name.startswith("_")


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 (empty while its variable is still to be assigned)
    except ValueError:
        return False
    return True
