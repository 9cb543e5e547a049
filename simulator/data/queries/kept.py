"""A query's values on a pair of databases, computed and checked once where they cannot change."""

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
