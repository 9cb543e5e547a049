"""A query's values on a pair of databases, computed and checked once where they cannot change."""

from __future__ import annotations

from dataclasses import fields
from functools import cache, lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from simulator.data.databases import Database, Relation
from simulator.data.queries.contract import Answer, Query, exceeded
from simulator.foundations.errors import Breach

PACKAGE = __name__.partition(".")[0] + "."


PLAIN = frozenset({float, int, str, bool, bytes, type(None), Database})
"""Types of fixed values, which are most of those that are met."""


@cache
def frozen_fields(kind: Any) -> tuple[str, ...] | None:
    """The names of a frozen dataclass's fields; None for another class."""
    parameters = getattr(kind, "__dataclass_params__", None)
    if parameters is None or not parameters.frozen:
        return None
    return tuple(part.name for part in fields(kind))


def is_fixed(value: Any) -> bool:
    """Whether a value means the same in every round, so that what follows from it can be kept.

    Numbers, texts and other hashable values that compare by what they hold are fixed; so are
    tuples, databases and frozen dataclasses of fixed values. A user's function is not: it may read
    a variable that changes. Neither is what compares by its identity, for it may be altered.
    """
    kind: Any = type(value)
    if kind in PLAIN:
        return True
    if isinstance(value, tuple | frozenset):
        return all(map(is_fixed, value))
    if isinstance(value, Database):
        return False  # a subclass may count in its own way
    names = frozen_fields(kind)
    if names is not None:
        return all([is_fixed(getattr(value, name)) for name in names])
    if callable(value):
        return kind is FunctionType and str(value.__module__).startswith(PACKAGE)
    by_identity: Any = object.__hash__
    return kind.__hash__ is not None and kind.__hash__ is not by_identity


def checked_values(
    query: Query, database_0: Database, database_1: Database, relation: Relation
) -> tuple[Answer, Answer]:
    """Return the query's values; raises Breach when they differ by more than its sensitivity.

    They are kept for the fixed queries and the databases that were met last.
    """
    hashable: Any = query
    try:
        fixed = _is_fixed_query(hashable) and type(database_0) is type(database_1) is Database
    except TypeError:  # not hashable
        fixed = False
    return (_kept if fixed else _kept.__wrapped__)(hashable, database_0, database_1, relation)


@lru_cache(maxsize=256)
def _is_fixed_query(query: Query) -> bool:
    return is_fixed(query)


@lru_cache(maxsize=64)
def _kept(
    query: Query, database_0: Database, database_1: Database, relation: Relation
) -> tuple[Answer, Answer]:
    values = query(database_0), query(database_1)
    complaint = exceeded(query, *values, relation)
    if complaint is not None:
        raise Breach(complaint)
    for value in values:
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    return values
