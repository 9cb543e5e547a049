"""Take one value apart: what it is by itself, and the values that it is made of.

Everything is read from memory, nothing from source files: a file that was edited after it was
imported does not play, and a notebook has none.
"""

from __future__ import annotations

import builtins
import copyreg
import dataclasses
import functools
import importlib
import importlib.util
import random
import sys
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from simulator.adversaries.lookups import Import, lookups
from simulator.adversaries.origins import (
    is_found_by_name,
    is_installed_file,
    is_own,
    is_own_class,
    is_own_function,
    is_own_module,
    is_written_in_python,
    name_of,
)
from simulator.data.databases import Database

Note = Callable[[str], None]
"""Writes down that something reachable is not covered."""

Children = list[tuple[str, Any]]
"""The values that a value is made of, each with the name under which it stands there."""


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


class Namespace:
    """All names of a user's module."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names


_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented), range)
_KEPT_BY_PYTHON = frozenset({
    "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__",
    "__annotate__", "__annotate_func__", "__annotations_cache__", "__dataclass_fields__",
    "__dataclass_params__", "__match_args__", "__abstractmethods__", "_abc_impl",
    "__firstlineno__", "__slotnames__", "__static_attributes__", "__parameters__", "__orig_bases__",
    "__subclasshook__", "__reduce_cython__",
})  # fmt: skip
_DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType)
_BUILT_IN = (
    types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType,
    types.MethodDescriptorType, types.ClassMethodDescriptorType, *_DESCRIPTORS,
)  # fmt: skip
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
    if isinstance(value, Namespace):
        return _namespace(value)
    if isinstance(value, _WITHOUT_FORM):
        note(f"holds a {type(value).__name__}")
        return Anatomy(f"{type(value).__name__}", [])
    if any(value is shared for shared in _GLOBAL_GENERATORS):
        note("draws from a generator that the whole process shares")
        return Anatomy("a shared generator", [])
    for kind, take in _TAKERS:
        if isinstance(value, kind):
            return take(value, note)
    if isinstance(value, _BUILT_IN):
        return _built_in(value)
    if (wrapped := _compiled_function(value)) is not None:
        return Anatomy(name_of(type(value)), [("function", wrapped)])
    if is_own_class(type(value)):
        return _own_instance(value, note)
    if is_dataclass(value):
        return _installed_dataclass(value)
    if type(value) in _CONTAINERS or type(value) is types.MappingProxyType:
        return _contents(value)
    return _reduced(value, note)


def _compiled_function(value: Any) -> Any:
    """The Python function inside of one that numba has compiled, or None."""
    return value.py_func if str(type(value).__module__).startswith("numba.") and hasattr(
        value, "py_func"
    ) else None  # fmt: skip


# --- functions ----------------------------------------------------------------------------------


def _function(value: types.FunctionType, note: Note) -> Anatomy:
    own = is_own_function(value)
    if isinstance(registry := getattr(value, "registry", None), types.MappingProxyType):
        # functools.singledispatch: its cache fills in play, its registry is what was written
        return Anatomy(name_of(value), [("registry", dict(registry))])
    if not own and is_found_by_name(value):
        return Anatomy(name_of(value), [])
    found = lookups(value.__code__)
    children: Children = [
        ("code", value.__code__),
        ("defaults", value.__defaults__),
        ("keyword defaults", value.__kwdefaults__),
        *(
            (name, cell.cell_contents)
            for name, cell in zip(value.__code__.co_freevars, value.__closure__ or ())
            if _is_filled(cell)
        ),
        *sorted(vars(value).items()),
    ]
    for name in found.variables:
        if name in value.__globals__:
            children += _looked_up(name, value.__globals__[name], found.attributes)
        elif isinstance(patched := getattr(builtins, name, None), types.FunctionType):
            children.append((name, patched))
    for each in found.imports:
        children += _imported(each, value, note)
    if own:
        if found.whole_module:
            children.append(("module", Namespace(value.__globals__)))
        for name in found.uncovered:
            note(f"{value.__qualname__} uses {name}")
    return Anatomy("function", children)


def _looked_up(name: str, found: Any, attributes: Iterable[str]) -> Children:
    """What a function's name leads to; of an installed module what was put into it as well."""
    children = [(name, found)]
    if isinstance(found, types.ModuleType) and not is_own_module(found):
        for attribute in attributes:
            inner = vars(found).get(attribute)
            if type(inner) in (bool, int, float, complex) or _is_own_code(inner):
                children.append((f"{name}.{attribute}", inner))
    return children


def _is_own_code(value: Any) -> bool:
    return isinstance(value, type | types.FunctionType) and is_own(value)


def _imported(statement: Import, function: types.FunctionType, note: Note) -> Children:
    """The user's modules that an import statement inside of a function will find."""
    package = function.__globals__.get("__package__") or ""
    try:
        name = importlib.util.resolve_name("." * statement.level + statement.module, package)
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names or top == "simulator":
            return []
        children: Children = [(name, importlib.import_module(name))]
    except (Exception, SystemExit) as error:  # anybody's code
        note(f"{function.__qualname__} imports {statement.module}: {type(error).__name__}")
        return []
    module = children[0][1]
    for inner in statement.names:
        if is_own_module(module) and not hasattr(module, inner) and inner != "*":
            try:
                children.append((f"{name}.{inner}", importlib.import_module(f"{name}.{inner}")))
            except (Exception, SystemExit):
                note(f"{function.__qualname__} imports {name}.{inner}, which is not there")
    return children


def _code(value: types.CodeType, note: Note) -> Anatomy:
    plainly = (
        value.co_name,
        value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount, value.co_flags,
        value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars,
        value.co_exceptiontable,
    )  # fmt: skip
    return Anatomy(
        f"code {value.co_code.hex()} {plainly!r}", [("", each) for each in value.co_consts]
    )


def _built_in(value: Any) -> Anatomy:
    owner = getattr(value, "__self__", None)
    bound = owner is not None and not isinstance(owner, types.ModuleType | type)
    return Anatomy(f"built in {name_of(value)}", [("self", owner)] if bound else [])


def _is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 (empty while its variable is still to be assigned)
    except ValueError:
        return False
    return True


# --- modules and classes ------------------------------------------------------------------------


def _module(value: types.ModuleType, note: Note) -> Anatomy:
    if not is_own_module(value):
        return Anatomy(f"module {name_of(value)}", [])
    return Anatomy("module", [("names", Namespace(vars(value)))])


def _namespace(value: Namespace) -> Anatomy:
    written = (
        (name, part)
        for name, part in sorted(value.names.items(), key=lambda item: str(item[0]))
        if not str(name).startswith("__") or name == "__getattr__"
    )
    return Anatomy("names", list(written))


def _class(value: type, note: Note) -> Anatomy:
    members = [
        (name, part)
        for name, part in sorted(vars(value).items())
        if name not in _KEPT_BY_PYTHON and not _is_made_by_dataclass(value, name, part)
    ]
    if is_own_class(value):
        bases = [("base", base) for base in value.__bases__]
        return Anatomy(
            f"class {value.__qualname__}",
            [*bases, ("made by", type(value)),
             *((name, part) for name, part in members if not isinstance(part, _DESCRIPTORS))],
        )  # fmt: skip
    patched = [(name, part) for name, part in members if _is_patched(part)]
    return Anatomy(name_of(value), patched)


def _is_made_by_dataclass(value: type, name: str, part: Any) -> bool:
    """Whether a method follows from the fields; a worker that is sent the class makes it anew."""
    if name not in ("__repr__", "__setattr__", "__delattr__") or not is_dataclass(value):
        return False
    file = getattr(getattr(part, "__code__", None), "co_filename", "")
    return file in ("<string>", dataclasses.__file__)


def _is_patched(part: Any) -> bool:
    """Whether a member of an installed class was put there by a user's file."""
    function = getattr(part, "__func__", part)
    if is_dataclass(part) and not isinstance(part, type):
        return any(_is_patched(getattr(part, field.name, None)) for field in fields(part))
    if not isinstance(function, types.FunctionType):
        return isinstance(function, type) and is_own_class(function)
    file = function.__code__.co_filename
    return not file.startswith("<string>") and not is_installed_file(file)


# --- other values -------------------------------------------------------------------------------


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
    """A value of an installed class, by what ``pickle`` would keep of it."""
    kind = type(value)
    try:
        registered = copyreg.dispatch_table.get(kind)
        reduced = registered(value) if registered else value.__reduce_ex__(4)
    except Exception:  # anything may refuse, in many ways
        note(f"holds a {kind.__module__}.{kind.__qualname__}")
        return Anatomy(name_of(kind), [])
    if isinstance(reduced, str):
        return Anatomy(f"{name_of(kind)} {reduced}", [])
    made, arguments, *rest = reduced
    listed = [part if place == 0 else list(part) if part is not None else None
              for place, part in enumerate(rest[:3])]  # fmt: skip
    return Anatomy(
        name_of(kind),
        [("class", kind), ("made", made), ("from", arguments), *(("", part) for part in listed)],
    )


_TAKERS: tuple[tuple[Any, Callable[[Any, Note], Anatomy]], ...] = (
    (types.FunctionType, _function),
    (types.CodeType, _code),
    (type, _class),
    (types.ModuleType, _module),
    (types.MethodType, lambda value, note: Anatomy(
        "method", [("function", value.__func__), ("self", value.__self__)])),
    (types.CellType, lambda value, note: Anatomy(
        "cell", [("", value.cell_contents)] if _is_filled(value) else [])),
    (staticmethod | classmethod, lambda value, note: Anatomy(
        type(value).__name__, [("function", value.__func__)])),
    (property, lambda value, note: Anatomy(
        "property", [("", each) for each in (value.fget, value.fset, value.fdel)])),
    (functools.cached_property, lambda value, note: Anatomy("cached", [("", value.func)])),
    (functools.partial | functools.partialmethod, lambda value, note: Anatomy(
        type(value).__qualname__,
        [("function", value.func), ("", value.args), ("", value.keywords), *_attributes(value)])),
    (functools._lru_cache_wrapper, lambda value, note: Anatomy(
        "lru_cache", [("function", value.__wrapped__)])),
    (Database, _database),
    (Contents, lambda value, note: value.parts),
    (Reduced, lambda value, note: _reduced(value.value, note)),
)  # fmt: skip
