"""What a prepared challenge rests on beside its own value, and whether that has changed since.

A challenge is prepared once and kept under its value. A function inside of it may close over a
variable, or look up a global one, that is assigned anew between two rounds: the function equals
itself, and yet it answers otherwise. Such variables are watched. What cannot be watched, such as
an object whose attributes may be assigned, is not kept, and the challenge is prepared every time.
"""

from __future__ import annotations

import functools
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from simulator.data.databases import Database, Relation
from simulator.theory.guarantees import Guarantee

FIXED = (
    bool, int, float, complex, str, bytes, type(None), type(...), np.generic, type,
    BuiltinFunctionType, np.ufunc, Database, Relation, Guarantee,
)  # fmt: skip
"""Values that are not taken apart: they are what they are."""

INSTALLED = tuple(sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib"))

Watched = tuple[tuple[CellType | tuple[Mapping[str, Any], str], Any], ...]
"""Variables, each a cell of a closure or a name in a module, with what they held."""


class Unwatchable(Exception):
    """A value that may change unseen."""


def watch(value: Any) -> Watched | None:
    """The variables that the functions inside of ``value`` read, or None where it may change."""
    try:
        return tuple(variables(value, set()))
    except Unwatchable:
        return None


def changed(watched: Watched) -> bool:
    """Whether one of the variables holds something else than it did."""
    try:
        return any(held(variable) is not content for variable, content in watched)
    except (KeyError, ValueError):  # the variable was deleted
        return True


def held(variable: CellType | tuple[Mapping[str, Any], str]) -> Any:
    """What a variable holds now; raises KeyError or ValueError where it was deleted."""
    if isinstance(variable, CellType):
        return variable.cell_contents
    names, name = variable
    return names[name]


def variables(value: Any, seen: set[int]) -> Iterator[tuple[Any, Any]]:
    """The variables below a value; raises Unwatchable for what may change in place."""
    if isinstance(value, FIXED) or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, tuple | frozenset):
        for part in value:
            if not isinstance(part, FIXED):  # most are numbers, and there may be many
                yield from variables(part, seen)
    elif isinstance(value, functools.partial):
        yield from variables((value.func, *value.args, *value.keywords.values()), seen)
    elif isinstance(value, ModuleType):
        if not is_installed(value):
            raise Unwatchable
    elif isinstance(value, FunctionType):
        yield from variables_of_function(value, seen)
    elif is_dataclass(value) and getattr(type(value), "__dataclass_params__").frozen:  # noqa: B009
        for field in fields(value):
            yield from variables(getattr(value, field.name), seen)
    elif type(value).__module__ != "operator":  # itemgetter and its like do not change
        raise Unwatchable


def variables_of_function(function: FunctionType, seen: set[int]) -> Iterator[tuple[Any, Any]]:
    """The variables that a function closes over or looks up, and those below what they hold."""
    if is_installed(sys.modules.get(function.__module__)):
        return
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    yield from variables(defaults, seen)
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:  # still to be assigned
            raise Unwatchable from None
        yield cell, content
        yield from variables(content, seen)
    names = function.__globals__
    for name in names_in(function.__code__):
        if name in names:
            yield (names, name), names[name]
            yield from variables(names[name], seen)


def names_in(code: CodeType) -> set[str]:
    """The names that code looks up, also in the functions inside of it."""
    inner = [names_in(part) for part in code.co_consts if isinstance(part, CodeType)]
    return set(code.co_names).union(*inner)


def is_installed(module: ModuleType | None) -> bool:
    """Whether a module is of this package, of Python or installed, and so stays as it is."""
    if module is None:
        return False
    if module.__name__.partition(".")[0] in ("simulator", *sys.builtin_module_names):
        return True
    return (getattr(module, "__file__", None) or "").startswith(INSTALLED)
