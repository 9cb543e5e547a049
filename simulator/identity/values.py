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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from simulator.data.databases import Database
from simulator.identity.code import TAKERS, compiled_function
from simulator.identity.components import Anatomy, Children, Note
from simulator.identity.origins import is_own_class, is_written_in_python, name_of

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented), range)
_CONTAINERS = (list, tuple, set, frozenset, dict, np.ndarray)
_WITHOUT_FORM = (
    weakref.ref, weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet,
    types.FrameType, types.GeneratorType, types.CoroutineType, types.TracebackType,
)  # fmt: skip
_GLOBAL_GENERATORS = (random._inst, np.random.mtrand._rand)


def plain(value: Any) -> str | None:
    """A number, a text, a path, or a tuple of them in words; None for anything else."""
    kind = type(value)
    if kind in _PLAIN:
        return f"{kind.__name__} {value!r}"
    if kind is tuple:
        words = [plain(each) for each in value]
        return None if None in words else f"({', '.join(map(str, words))})"
    if isinstance(value, np.generic) and not value.dtype.hasobject and not is_own_class(kind):
        return f"{value.dtype.str} {value.tobytes().hex()}"
    if isinstance(value, PurePath) and not is_own_class(kind):
        return f"{kind.__name__} {str(value)!r}"
    return None


def take_apart(value: Any, note: Note) -> Anatomy:
    """Return the parts of a value that is not plain; ``note`` what they do not cover."""
    if isinstance(value, _WITHOUT_FORM):
        note(f"holds a {type(value).__name__}")
        return Anatomy(f"{type(value).__name__}", [])
    if any(value is shared for shared in _GLOBAL_GENERATORS):
        note("draws from a generator that the whole process shares")
        return Anatomy("a shared generator", [])
    for kind, take in _TAKERS:
        if isinstance(value, kind):
            return take(value, note)
    if (wrapped := compiled_function(value)) is not None:
        return Anatomy(name_of(type(value)), [("function", wrapped)])
    if str(type(value).__module__).startswith("numba.stencils"):
        note(f"holds a {type(value).__module__}.{type(value).__qualname__}")
        return Anatomy(name_of(type(value)), [])
    if is_own_class(type(value)):
        return _own_instance(value, note)
    if is_dataclass(value):
        return _installed_dataclass(value)
    if type(value) in _CONTAINERS or type(value) is types.MappingProxyType:
        return _contents(value)
    return _reduced(value, note)


def _own_instance(value: Any, note: Note) -> Anatomy:
    kind = type(value)
    children: Children = [("class", kind), *_attributes(value)]
    native = [base for base in kind.__mro__ if not is_own_class(base) and base is not object]
    for base in native:
        if base in _PLAIN:
            written: Any = base.__repr__  # the subclass may write itself otherwise
            children.append(("value", written(value)))
            return Anatomy("instance", children)
        if base in _CONTAINERS:
            inner = _contents(value)
            listed = Anatomy("", [*inner.children], inner.ordered)
            children.append(("contents", Contents(listed, inner.label)))
            return Anatomy("instance", children)
    if not all(map(is_written_in_python, native)):  # with a state of its own, in C
        children.append(("state", Reduced(value)))
    return Anatomy("instance", children)


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of an instance, its slots included; values kept only for speed left out."""
    kind = type(value)
    for name, part in sorted(getattr(value, "__dict__", {}).items(), key=lambda item: str(item[0])):
        if not isinstance(getattr(kind, str(name), None), functools.cached_property):
            yield str(name), part
    for base in kind.__mro__:
        for name, member in sorted(vars(base).items() if "__slots__" in vars(base) else ()):
            if isinstance(member, types.MemberDescriptorType):
                try:
                    yield name, member.__get__(value, kind)
                except AttributeError:  # not assigned
                    continue


def _installed_dataclass(value: Any) -> Anatomy:
    known = [field.name for field in fields(value)]
    shadowing = [
        (name, part)
        for name, part in sorted(getattr(value, "__dict__", {}).items())
        if name not in known and isinstance(part, types.FunctionType | types.MethodType)
    ]
    return Anatomy(
        "instance",
        [("class", type(value)), *((name, getattr(value, name, None)) for name in known),
         *shadowing],
    )  # fmt: skip


class Contents:
    """The elements of a user's container, apart from its class and attributes."""

    def __init__(self, parts: Anatomy, label: str) -> None:
        self.parts = Anatomy(label, parts.children, parts.ordered)


class Reduced:
    """What ``pickle`` would keep of a value."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _contents(value: Any) -> Anatomy:
    """The elements of a container, whatever its subclass says of them."""
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            return Anatomy(
                f"array {value.dtype!r} {value.shape}", [("items", np.ndarray.tolist(value))]
            )
        return Anatomy(
            f"array {value.dtype.str} {value.dtype.descr} {value.shape}",
            [("bytes", np.asarray(value).tobytes())],
        )
    if isinstance(value, dict):
        return Anatomy("dict", [("", pair) for pair in dict.items(value)], ordered=False)
    if isinstance(value, types.MappingProxyType):
        return Anatomy("mapping", [("", pair) for pair in value.items()], ordered=False)
    if isinstance(value, set | frozenset):
        kind: Any = set if isinstance(value, set) else frozenset
        return Anatomy(kind.__name__, _in_order(kind.__iter__(value)), ordered=False)
    kind = list if isinstance(value, list) else tuple
    return Anatomy(kind.__name__, [("", each) for each in kind.__iter__(value)])


def _in_order(elements: Iterable[Any]) -> Children:
    """Elements of a set in an order that no process changes, as far as they show one."""

    def key(element: Any) -> tuple[str, str]:
        shown = plain(element) or getattr(element, "__qualname__", "")
        return type(element).__qualname__, str(shown)

    return [("", element) for element in sorted(elements, key=key)]


def _database(value: Database, note: Note) -> Anatomy:
    # a subclass's own methods play no part in what the database holds
    children: Children = [("", pair) for pair in dict(value._counts).items()]
    if is_own_class(type(value)):
        children.append(("instance", Contents(Anatomy("", [("class", type(value)),
                                                          *_attributes(value)]), "")))  # fmt: skip
    return Anatomy("database", children, ordered=False)


def _reduced(value: Any, note: Note) -> Anatomy:
    """A value of an installed class, by what ``pickle`` would keep of it.

    An exception says itself what that is. dask, once imported, has registered for all of them a
    function that keeps the traceback too, and makes a namespace where there was none.
    """
    kind = type(value)
    registered = copyreg.dispatch_table.get(kind)
    try:
        if registered and not isinstance(value, BaseException):
            reduced = registered(value)
        else:
            reduced = value.__reduce_ex__(4)
    except Exception:  # anything may refuse, in many ways
        note(f"holds a {kind.__module__}.{kind.__qualname__}")
        return Anatomy(name_of(kind), [])
    if isinstance(reduced, str):
        if not _is_a_name_of(value, reduced):
            note(f"holds the {kind.__module__}.{kind.__qualname__} {reduced}")
        return Anatomy(f"{name_of(kind)} {reduced}", [])
    made, arguments, *rest = reduced
    if isinstance(value, BaseException) and rest == [{}]:
        rest = []  # whether there is an empty namespace shows only whether it was looked at
    listed = [part if place == 0 else list(part) if part is not None else None
              for place, part in enumerate(rest[:3])]  # fmt: skip
    return Anatomy(
        name_of(kind),
        [("class", kind), ("made", made), ("from", arguments), *(("", part) for part in listed)],
    )


def _is_a_name_of(value: Any, name: str) -> bool:
    """Whether a module of its own, or numpy or scipy, holds a value under that name."""
    own = sys.modules.get(str(getattr(value, "__module__", "")))
    modules = (own, np, sys.modules.get("scipy.special"))
    return any(getattr(module, name, None) is value for module in modules if module is not None)


_TAKERS: tuple[tuple[Any, Callable[[Any, Note], Anatomy]], ...] = (
    *TAKERS,
    (functools.partial | functools.partialmethod, lambda value, note: Anatomy(
        type(value).__qualname__,
        [("function", value.func), ("", value.args), ("", value.keywords), *_attributes(value)])),
    (Database, _database),
    (Contents, lambda value, note: value.parts),
    (Reduced, lambda value, note: _reduced(value.value, note)),
)  # fmt: skip
