"""Take one value apart: what it is by itself, and the values that it is made of.

Everything is read from memory, nothing from source files: a file that was edited after it was
imported does not play, and a notebook has none.
"""

from __future__ import annotations

import copyreg
import functools
import random
import sys
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from simulator.identity.lookups import Import, has_steady_hash, lookups
from simulator.identity.origins import home_of, is_found_by_name, is_of_package, is_users, name_of

Note = Callable[[str], None]
"""Writes down that something reachable is not covered."""

Children = list[tuple[str, Any]]
"""The values that a value is made of, each with the name under which it stands there."""

BY_ADDRESS = "uses id, an address in memory"
"""Which is another in every process."""
BY_HASH = "may depend on the order of a set, or on a hash"
"""Of texts either is another in every process, unless PYTHONHASHSEED is set."""


@dataclass(frozen=True)
class Anatomy:
    """A value taken apart.

    Attributes
    ----------
    label : what it is by itself.
    children : what it is made of.
    ordered : whether their order counts.
    """

    label: str
    children: Children
    ordered: bool = True


_DECIMAL_BITS = 2000
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented), range)
_WITHOUT_FORM = (
    weakref.ref, weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet,
    types.FrameType, types.GeneratorType, types.CoroutineType, types.TracebackType,
)  # fmt: skip
_GLOBAL_GENERATORS = tuple(
    getattr(draw, "__self__", None) for draw in (random.random, np.random.random)
)
_CACHES = frozenset({"_abc_impl", "_value2member_map_"})
"""What abstract classes and enumerations remember of their use."""
_MADE_BY_DATACLASS = frozenset({"__repr__", "__setattr__", "__delattr__"})
_DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType)


def plain(value: Any) -> str | None:
    """A number, a text, a path, or a tuple of them in words; None for anything else."""
    kind = type(value)
    if kind is int and value.bit_length() > _DECIMAL_BITS:
        return f"int {value:#x}"  # Python refuses to write so many digits
    if kind in _PLAIN:
        return f"{kind.__name__} {value!r}"
    if kind is tuple:
        words = [plain(each) for each in value]
        return None if None in words else f"({', '.join(map(str, words))})"
    if isinstance(value, np.generic) and not value.dtype.hasobject and not is_users(kind):
        return f"{value.dtype.str} {value.tobytes().hex()}"
    if isinstance(value, PurePath) and not is_users(kind):
        return f"{kind.__name__} {str(value)!r}"
    return None


def take_apart(value: Any, note: Note, inside: bool = False) -> Anatomy:
    """Return the parts of a value that is not plain; ``note`` what they do not cover.

    A function of this package is known by its name; with ``inside`` it is taken apart too.
    """
    if isinstance(value, types.FunctionType) and is_of_package(value):
        value = wrapped(value) or value  # known alike behind the door of Python and before it
    if inside and isinstance(value, types.FunctionType) and is_of_package(value):
        return _function(value, note, inside)
    if isinstance(value, _WITHOUT_FORM):
        note(f"holds a {type(value).__name__}")
        return Anatomy(type(value).__name__, [])
    if any(value is shared for shared in _GLOBAL_GENERATORS):
        note("draws from a generator that the whole process shares")
        return Anatomy("a shared generator", [])
    if exact := _BY_TYPE.get(type(value)):
        return exact(value)
    if (content := _content_digest(value)) is not None:
        return Anatomy("content", [("class", type(value)), ("digest", content)])
    for kind, take in _TAKERS:
        if isinstance(value, kind):
            return take(value, note)
    if is_dataclass(value):
        return _dataclass(value)
    if not is_users(type(value)) and (inner := wrapped(value)) is not None:
        return Anatomy(name_of(type(value)), [("function", inner)])
    return _reduced(value, note)


def _content_digest(value: Any) -> int | None:
    """What a class of this package keeps in place of all that an immutable value holds."""
    kind = type(value)
    make = vars(kind).get("content_digest")
    if make is None or not is_of_package(kind):
        return None
    found: int | None = make(value)
    return found


def wrapped(value: Any) -> Any:
    """The function inside of an object such as functools.cache and numba's compilers make."""
    try:
        return getattr(value, "__wrapped__", None)
    except Exception:  # numba's stencils look up what they are given when they are compiled
        return None


# --- functions ----------------------------------------------------------------------------------


def _function(value: types.FunctionType, note: Note, inside: bool = False) -> Anatomy:
    if isinstance(registry := getattr(value, "registry", None), types.MappingProxyType):
        # functools.singledispatch: its cache fills in play, its registry is what was written
        return Anatomy(name_of(value), [("registry", dict(registry))])
    if not inside and not is_users(value) and is_found_by_name(value):
        return Anatomy(name_of(value), [])
    found = lookups(value.__code__)
    closure = zip(value.__code__.co_freevars, value.__closure__ or ())
    children: Children = [
        ("code", value.__code__),
        ("defaults", value.__defaults__),
        ("keyword defaults", value.__kwdefaults__),
        *((name, content) for name, cell in closure for content in _content(cell)),
        *sorted(vars(value).items()),
    ]
    for name in found.variables:
        if name in value.__globals__:
            children += _looked_up(name, value.__globals__[name], found.attributes)
    if is_users(value):
        for statement in found.imports:
            children += _imported(statement, value, note)
        for name in found.unseen:
            note(f"{value.__qualname__} uses {name}")
        if "id" in found.variables and "id" not in value.__globals__:
            note(f"{value.__qualname__} {BY_ADDRESS}")
        if (
            found.hashes and value.__name__ != "__hash__"
        ):  # dataclasses write it: only lookups use it
            note(f"{value.__qualname__} {BY_HASH}")
    return Anatomy("function", children)


def _looked_up(name: str, found: Any, attributes: tuple[str, ...]) -> Children:
    """What a function's name leads to; of an installed module the plain values as well."""
    children = [(name, found)]
    if isinstance(found, types.ModuleType) and not is_users(found):
        for attribute in attributes:
            if plain(inner := vars(found).get(attribute)) is not None:
                children.append((f"{name}.{attribute}", inner))
    return children


def _imported(statement: Import, function: types.FunctionType, note: Note) -> Children:
    """The module that an import statement inside of a function will find."""
    try:
        module = __import__(
            statement.module, function.__globals__, None, statement.names, statement.level
        )
    except (Exception, SystemExit) as error:  # a module is a user's code
        note(f"{function.__qualname__} imports {statement.module}: {type(error).__name__}")
        return []
    return [(statement.module, module)]


def _code(value: types.CodeType, note: Note) -> Anatomy:
    plainly = (
        value.co_name,
        value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount, value.co_flags,
        value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars,
        value.co_exceptiontable,
    )  # fmt: skip
    constants = [
        _set(each, _silent) if isinstance(each, frozenset) else each for each in value.co_consts
    ]
    return Anatomy(f"code {value.co_code.hex()} {plainly!r}", [("", each) for each in constants])


def _silent(reason: str) -> None:
    """Note nothing: whether code goes through a set that is written down is read off the code."""


def _content(cell: types.CellType) -> list[Any]:
    """What a cell holds: nothing while its variable is still to be assigned."""
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


# --- modules and classes ------------------------------------------------------------------------


def _module(value: types.ModuleType, note: Note) -> Anatomy:
    if not is_users(value):
        return Anatomy(f"module {name_of(value)}", [])
    written = ("__getattr__",)  # of the names with two underscores Python makes the others
    return Anatomy(
        "module",
        [
            (name, part)
            for name, part in sorted(vars(value).items())
            if not name.startswith("__") or name in written
        ],
    )


def _class(value: type, note: Note) -> Anatomy:
    if not is_users(value):
        return Anatomy(name_of(value), [])
    names = sorted(name for name in vars(value) if _is_written(value, name))
    bases = [("base", base) for base in value.__bases__]
    return Anatomy(
        f"class {value.__qualname__}",
        [*bases, ("made by", type(value)), *((name, vars(value)[name]) for name in names)],
    )


def _is_written(value: type, name: str) -> bool:
    """Whether a member of a class was written, and was not added by Python or in play."""
    part = vars(value)[name]
    if isinstance(part, _DESCRIPTORS) or name in _CACHES:
        return False
    if is_dataclass(value) and name in _MADE_BY_DATACLASS:
        return False
    written = callable(part) or isinstance(part, staticmethod | classmethod | property)
    return written or not name.startswith("__")


# --- values -------------------------------------------------------------------------------------


def _dataclass(value: Any) -> Anatomy:
    names = [field.name for field in fields(value)]
    if is_users(type(value)):
        names += [name for name in sorted(getattr(value, "__dict__", {})) if name not in names]
    parts = [(name, getattr(value, name, None)) for name in names if not _is_kept(value, name)]
    return Anatomy("instance", [("class", type(value)), *parts])


def _is_kept(value: Any, name: str) -> bool:
    """Whether an attribute is kept for speed only."""
    return isinstance(getattr(type(value), name, None), functools.cached_property)


def _array(value: np.ndarray, note: Note) -> Anatomy:
    if type(value) is not np.ndarray:
        return _reduced(value, note)
    if value.dtype.hasobject:
        return Anatomy(f"array {value.dtype!r} {value.shape}", [("items", value.tolist())])
    return Anatomy(
        f"array {value.dtype.str} {value.dtype.descr} {value.shape}", [("bytes", value.tobytes())]
    )


def _mapping(value: Any) -> Anatomy:
    return Anatomy(type(value).__name__, [("", pair) for pair in value.items()], ordered=False)


def _sequence(value: Any) -> Anatomy:
    return Anatomy(type(value).__name__, [("", each) for each in value])


def _set(value: Any, note: Note) -> Anatomy:
    if not has_steady_hash(value):
        note(BY_HASH)
    kind = type(value)
    held = getattr(value, "__dict__", {}).items()
    return Anatomy("set", [("class", kind), *held, *(("", each) for each in value)], ordered=False)


@dataclass(frozen=True)
class PickledParts:
    """What ``pickle`` would keep of a value.

    Attributes
    ----------
    made, arguments : the function that makes it again, and what that is called with.
    state : the attributes, as a mapping or whatever the class makes of them; None without any.
    items, pairs : the items of a list, and the pairs of a mapping, that it is filled with.
    """

    made: Any
    arguments: Any
    state: Any
    items: list[Any]
    pairs: list[Any]


def kept(value: Any) -> PickledParts | str | None:
    """What ``pickle`` would keep of a value: its parts, or its name; None where that refuses.

    Attributes that are kept for speed only are not among them. An exception says itself what it
    is. dask, once imported, has registered for all of them a function that keeps the traceback
    too, and makes a namespace where there was none.
    """
    registered = copyreg.dispatch_table.get(type(value))
    try:
        if registered and not isinstance(value, BaseException):
            reduced = registered(value)
        else:
            reduced = value.__reduce_ex__(4)
        if isinstance(reduced, str):
            return reduced
        made, arguments, *rest = reduced
        state, items, pairs, *_ = [*rest, None, None, None]
        if isinstance(state, dict):  # whether there is an empty one may show only who looked
            state = {n: part for n, part in state.items() if not _is_kept(value, str(n))} or None
        return PickledParts(made, arguments, state, list(items or ()), list(pairs or ()))
    except Exception:  # anything may refuse, in many ways
        return None


def _reduced(value: Any, note: Note) -> Anatomy:
    """A value by what ``pickle`` would keep of it."""
    kind, found = type(value), kept(value)
    if found is None:
        note(f"holds a {kind.__module__}.{kind.__qualname__}")
        return Anatomy(name_of(kind), [("class", kind)])
    if isinstance(found, str):
        if not is_a_name_of(value, found):
            note(f"holds the {kind.__module__}.{kind.__qualname__} {found}")
        return Anatomy(f"{name_of(value)} {found}", [("class", kind)])
    return Anatomy(
        "instance",
        [("class", kind), ("made", found.made), ("from", found.arguments), ("state", found.state),
         ("items", found.items), ("pairs", found.pairs)],
    )  # fmt: skip


def is_a_name_of(value: Any, name: str) -> bool:
    """Whether a module of its own, or numpy or scipy, holds a value under that name."""
    own = sys.modules.get(home_of(value))
    modules = (own, np, sys.modules.get("scipy.special"))
    return any(getattr(module, name, None) is value for module in modules if module is not None)


_BY_TYPE: dict[type, Callable[[Any], Anatomy]] = {
    list: _sequence, tuple: _sequence, dict: _mapping, types.MappingProxyType: _mapping,
    Anatomy: lambda value: value,
}  # fmt: skip
_TAKERS: tuple[tuple[Any, Callable[[Any, Note], Anatomy]], ...] = (
    (types.FunctionType, _function),
    (types.CodeType, _code),
    (type, _class),
    (types.ModuleType, _module),
    (set | frozenset, _set),
    (np.ndarray, _array),
    (types.MethodType, lambda value, note: Anatomy(
        "method", [("function", value.__func__), ("self", value.__self__)])),
    (property, lambda value, note: Anatomy(
        "property", [("", each) for each in (value.fget, value.fset, value.fdel)])),
    (functools.cached_property, lambda value, note: Anatomy("cached", [("", value.func)])),
    (functools.partial | functools.partialmethod, lambda value, note: Anatomy(
        type(value).__qualname__,
        [("function", value.func), ("", value.args), ("", value.keywords), ("", vars(value))])),
    (np.vectorize, lambda value, note: Anatomy(  # what else it holds it makes when it is called
        "vectorize", [("", each) for each in (value.pyfunc, value.otypes, value.signature)])),
)  # fmt: skip
"""Types of values, each with what takes its values apart."""
