"""Queries that count records: those that satisfy a predicate, or those in each bin."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.data.databases import Database, Relation
from simulator.data.queries.arguments import Column, distinct, reader
from simulator.data.queries.contract import ScalarQuery


@dataclass(frozen=True, slots=True)
class CountingQuery(ScalarQuery):
    """How many records equal ``record``.

    >>> from simulator import Database
    >>> from simulator.data.queries import CountingQuery
    >>> CountingQuery("alice")(Database({"alice": 1, "others": 399}))
    1
    """

    record: Hashable

    @property
    def name(self) -> str:
        """A short name, for tables and errors."""
        return f"count({self.record!r})"

    def __call__(self, database: Database) -> int:
        """Return the count."""
        return database.count_of(self.record)

    def sensitivity(self, relation: Relation) -> float:
        """1 under add/remove-one and under replace-one."""
        return relation.spread(0.0, 1.0)


@dataclass(frozen=True, slots=True)
class PredicateQuery(ScalarQuery):
    """How many records satisfy ``predicate``. Equal to another when it is the same function.

    >>> from simulator import Database
    >>> from simulator.data.queries import PredicateQuery
    >>> PredicateQuery(lambda age: age >= 18, name="adults")(Database([12, 30, 41]))
    2
    """

    predicate: Callable[[Any], bool]
    name: str = field(compare=False)

    def __call__(self, database: Database) -> int:
        """Return the count."""
        return database.count(self.predicate)

    def sensitivity(self, relation: Relation) -> float:
        """1 under add/remove-one and under replace-one."""
        return relation.spread(0.0, 1.0)


def counting_query(
    which: Hashable | Callable[[Any], bool], name: str | None = None
) -> CountingQuery | PredicateQuery:
    """Count the records that equal ``which``, or that satisfy it when it is a predicate.

    Sensitivity 1 under both relations (Dwork and Roth 2014, example 3.1).

    >>> from simulator import Database, counting_query
    >>> ages = Database({17: 2, 30: 5})
    >>> counting_query(30)(ages), counting_query(lambda age: age < 18)(ages)
    (5, 2)
    """
    if callable(which):
        return PredicateQuery(which, name or f"count({getattr(which, '__name__', 'predicate')})")
    return _count_of_text(which) if type(which) is str else CountingQuery(which)


@lru_cache(maxsize=1024)
def _count_of_text(record: str) -> CountingQuery:
    """Cached, as an adversary may make the query in every round."""
    return CountingQuery(record)


@dataclass(frozen=True, slots=True)
class HistogramQuery:
    """How many records fall in each bin; a record in no bin is not counted.

    >>> from simulator import Database
    >>> from simulator.data.queries import HistogramQuery
    >>> HistogramQuery((1, 2), by=lambda record: len(record))(Database(["a", "b", "cc", "ddd"]))
    array([2, 1])
    """

    bins: tuple[Hashable, ...]
    by: Column | None = None
    name: str = field(default="histogram", compare=False)

    def __call__(self, database: Database) -> NDArray[np.int64]:
        """Return the counts, shape (len(bins),)."""
        counts = dict.fromkeys(self.bins, 0)
        key = reader(self.by)
        for record, n in database.records():
            bin_ = key(record)
            if bin_ in counts:
                counts[bin_] += n
        return np.fromiter(counts.values(), dtype=np.int64, count=len(counts))

    def sensitivity(self, relation: Relation) -> float:
        """1 under add/remove-one; 2 under replace-one, where two bins change."""
        return float(min(relation.records_touched, len(self.bins)))

    def l2_sensitivity(self, relation: Relation) -> float:
        """1 under add/remove-one; √2 under replace-one."""
        return math.sqrt(self.sensitivity(relation))


def histogram_query(
    bins: Iterable[Hashable], by: Column | None = None, name: str = "histogram"
) -> HistogramQuery:
    """Count the records in each bin: the record itself, or ``by`` of it (a column or a function).

    Bins are values, not predicates, so they cannot overlap, which bounds the sensitivity
    (Dwork and Roth 2014, example 3.2). Raises :class:`InvalidInput` for no bins or repeated bins.

    >>> from simulator import Database
    >>> from simulator.data import ADD_REMOVE, REPLACE_ONE, histogram_query
    >>> drinks = histogram_query(["tea", "coffee"])
    >>> drinks(Database({"tea": 3, "coffee": 5, "milk": 1}))
    array([3, 5])
    >>> drinks.sensitivity(ADD_REMOVE), drinks.sensitivity(REPLACE_ONE)
    (1.0, 2.0)
    """
    return HistogramQuery(distinct(bins, "bin"), by, name)
