"""A query's values on a pair of databases, checked, and cached where they cannot change."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from simulator.data.databases import Database, Relation
from simulator.data.queries.contract import Answer, Query, exceeded
from simulator.foundations.errors import Breach
from simulator.identity.keys import is_fixed


def checked_values(
    query: Query, database_0: Database, database_1: Database, relation: Relation
) -> tuple[Answer, Answer]:
    """Return the query's values; raises Breach when they differ by more than its sensitivity.

    Values of immutable queries on the last pairs of databases are cached.
    """
    hashable: Any = query
    try:
        fixed = _is_fixed_query(hashable) and type(database_0) is type(database_1) is Database
    except TypeError:  # not hashable
        fixed = False
    return (_kept if fixed else _kept.__wrapped__)(hashable, database_0, database_1, relation)


_is_fixed_query = lru_cache(maxsize=256)(is_fixed)


@lru_cache(maxsize=64)
def _kept(
    query: Query, database_0: Database, database_1: Database, relation: Relation
) -> tuple[Answer, Answer]:
    values = _own(query(database_0)), _own(query(database_1))
    complaint = exceeded(query, *values, relation)
    if complaint is not None:
        raise Breach(complaint)
    return values


def _own(value: Answer) -> Answer:
    """A number as it is; of an array a read-only copy: the function may fill the same one again."""
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.setflags(write=False)
    return value
