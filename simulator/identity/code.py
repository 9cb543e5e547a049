"""Take code apart: functions, what they look up and import, modules and classes."""

from __future__ import annotations

import builtins
import dataclasses
import functools
import importlib
import importlib.util
import sys
import types
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from typing import Any

from simulator.identity.components import Anatomy, Children, Namespace, Note
from simulator.identity.lookups import Import, lookups
from simulator.identity.origins import (
    is_found_by_name,
    is_installed_file,
    is_own,
    is_own_class,
    is_own_function,
    is_own_module,
    name_of,
)

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


def compiled_function(value: Any) -> Any:
    """The Python function inside of one that numba has compiled, or None."""
    if not str(type(value).__module__).startswith("numba."):
        return None
    for name in ("py_func", "_pyfunc"):  # the latter of a callback for C
        try:
            found = getattr(value, name)
        except Exception:  # numba's stencils have no proper answer
            continue
        if isinstance(found, types.FunctionType):
            return found
    return None


# --- functions ----------------------------------------------------------------------------------


def _function(value: types.FunctionType, note: Note) -> Anatomy:
    if isinstance(registry := getattr(value, "registry", None), types.MappingProxyType):
        # functools.singledispatch: its cache fills in play, its registry is what was written
        return Anatomy(name_of(value), [("registry", dict(registry))])
    if not is_own_function(value) and is_found_by_name(value):
        return Anatomy(name_of(value), [])
    return whole_function(value, note)


def whole_function(value: types.FunctionType, note: Note) -> Anatomy:
    """A function by its code and all that it looks up, be it installed or not."""
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
    if is_own_function(value):
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


def _built_in(value: Any, note: Note) -> Anatomy:
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


def _namespace(value: Namespace, note: Note) -> Anatomy:
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


TAKERS: tuple[tuple[Any, Callable[[Any, Note], Anatomy]], ...] = (
    (types.FunctionType, _function),
    (types.CodeType, _code),
    (type, _class),
    (types.ModuleType, _module),
    (Namespace, _namespace),
    (_BUILT_IN, _built_in),
    (types.MethodType, lambda value, note: Anatomy(
        "method", [("function", value.__func__), ("self", value.__self__)])),
    (types.CellType, lambda value, note: Anatomy(
        "cell", [("", value.cell_contents)] if _is_filled(value) else [])),
    (staticmethod | classmethod, lambda value, note: Anatomy(
        type(value).__name__, [("function", value.__func__)])),
    (property, lambda value, note: Anatomy(
        "property", [("", each) for each in (value.fget, value.fset, value.fdel)])),
    (functools.cached_property, lambda value, note: Anatomy("cached", [("", value.func)])),
    (functools._lru_cache_wrapper, lambda value, note: Anatomy(
        "lru_cache", [("function", value.__wrapped__)])),
)  # fmt: skip
"""Types of code, each with what takes its values apart."""
