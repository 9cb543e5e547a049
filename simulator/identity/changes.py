"""What a prepared challenge rests on, and whether that has changed since.

A challenge is prepared once and recognised afterwards, where all that it holds is known: values of
Python that never change, and frozen objects of this package, whose attributes are looked at every
round, for ``object.__setattr__`` alters them all the same. Code of anybody else, be it a function,
a class or an object, may answer otherwise in the next round for more reasons than can be watched
(a variable, a class attribute, a default, an environment variable): a challenge that holds any is
checked and prepared every time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from types import CellType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from simulator.data.databases import Database
from simulator.data.tables import Record, record_type

FIXED = frozenset({
    bool, int, float, complex, str, bytes, type(None), type(...),
    np.bool_, np.int32, np.int64, np.uint64, np.float32, np.float64,
})  # fmt: skip
"""Classes of values that are what they are; a subclass may be anything."""

_MOST_KNOWN = 256


class Watched(NamedTuple):
    """What a value rests on, with what it held.

    Attributes
    ----------
    instances : the frozen objects inside, each with its class and its attributes.
    variables : those that functions of this package close over.
    """

    instances: tuple[tuple[Any, type[Any], dict[str, Any]], ...]
    variables: tuple[tuple[CellType, Any], ...]


NOTHING = Watched((), ())


class Unwatchable(Exception):
    """A value that may change unseen."""


def watch(value: Any) -> Watched | None:
    """What may change below ``value`` and can be seen to; None where it may change unseen."""
    try:
        found = tuple(variables(value, set()))
    except (Unwatchable, RecursionError):
        return None
    return Watched(
        tuple((one, type(one), held) for one, held in found if not isinstance(one, CellType)),
        tuple((one, held) for one, held in found if isinstance(one, CellType)),
    )


def changed(watched: Watched) -> bool:
    """Whether one of the objects or variables holds something else than it did.

    What is held is told by its identity: its own word, ``==``, would be that of a liar.
    """
    try:
        for one, kind, attributes in watched.instances:
            now = one.__dict__
            if type(one) is not kind or len(now) != len(attributes):
                return True
            for name, value in attributes.items():
                if now[name] is not value:
                    return True
        for cell, content in watched.variables:
            if cell.cell_contents is not content:
                return True
    except Exception:  # a variable or an attribute was deleted
        return True
    return False


def variables(value: Any, seen: set[int]) -> Iterator[tuple[Any, Any]]:
    """The variables and frozen objects below a value, each with what it holds.

    Raises Unwatchable for what may change unseen.
    """
    kind = type(value)
    if kind in FIXED or id(value) in seen:
        return
    seen.add(id(value))
    if kind is tuple or kind is frozenset:
        for part in value:
            if type(part) not in FIXED:  # most are numbers, and there may be many
                yield from variables(part, seen)
    elif kind is Database:
        if not holds_fixed_records(value):
            raise Unwatchable
    elif is_function_of_house(value):
        yield from variables_of_function(value, seen)
    elif is_frozen_of_house(kind):
        held = dict(vars(value))
        yield value, held
        for part in held.values():
            yield from variables(part, seen)
    else:
        raise Unwatchable


def holds_fixed_records(database: Database) -> bool:
    """Whether all records of a database are plain values, or tuples of such."""
    if _known.get(id(database)) is database:
        return True
    fixed = all(is_fixed(record) for record, _ in database.records())
    if fixed:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[id(database)] = database  # held, so that the id stays its own
    return fixed


_known: dict[int, Database] = {}
"""Databases that were found to hold fixed records; they never change."""


def is_fixed(record: Any) -> bool:
    """Whether a record is a plain value, a tuple of such, or a row of a table."""
    kind = type(record)
    if kind in FIXED:
        return True
    if kind in (tuple, frozenset) or is_row(kind):
        return all(map(is_fixed, record))
    return False


def is_row(kind: type[Any]) -> bool:
    """Whether a class is that of a table's records, made by this package."""
    return kind.__base__ is Record and record_type(kind.columns) is kind


def is_frozen_of_house(kind: type[Any]) -> bool:
    """Whether a class is a frozen dataclass of this package."""
    module = sys.modules.get(str(kind.__module__))
    return (
        is_dataclass(kind)
        and bool(getattr(kind, "__dataclass_params__").frozen)  # noqa: B009
        and kind.__dictoffset__ != 0
        and is_of_house(kind.__module__, getattr(module, "__dict__", None))
        and getattr(module, kind.__qualname__, None) is kind
    )


def is_function_of_house(value: Any) -> bool:
    """Whether this is a function of this package, by where it was written and not by its word.

    ``functools.wraps`` gives anybody's function the module of another, and so does numba.
    """
    return type(value) is FunctionType and is_of_house(
        value.__globals__.get("__name__"), value.__globals__
    )


def is_of_house(name: Any, names: Any) -> bool:
    """Whether a module of this name is one of this package, and these are its names."""
    if str(name).partition(".")[0] != "simulator":
        return False
    return getattr(sys.modules.get(str(name)), "__dict__", None) is names


def variables_of_function(function: FunctionType, seen: set[int]) -> Iterator[tuple[Any, Any]]:
    """The variables that a function of this package closes over, and what is below them."""
    held = (function.__defaults__ or (), *(function.__kwdefaults__ or {}).values())
    yield from variables(held, seen)
    if vars(function):
        raise Unwatchable
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:  # still to be assigned
            raise Unwatchable from None
        yield cell, content
        yield from variables(content, seen)
