"""The interface of a query, and the check of its stated sensitivity on a pair of databases."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from simulator.data.databases import Database, Relation
from simulator.foundations.errors import Breach
from simulator.foundations.validation import instance

Answer = float | int | NDArray[Any]
"""A query's answer: a number, or an array of shape (dimension,)."""


@runtime_checkable
class Query(Protocol):
    """A function of a database, with its stated sensitivities. Hashable.

    ``sensitivity`` is in L1 norm unless the query has an attribute ``norm`` that says otherwise:
    ``"max"`` for a vector of scores, where a selection mechanism depends on the largest change.

    >>> from simulator import counting_query
    >>> from simulator.data import REPLACE_ONE
    >>> counting_query("alice").sensitivity(REPLACE_ONE)
    1.0
    """

    @property
    def name(self) -> str:
        """A short name, for tables and errors."""

    def __call__(self, database: Database, /) -> Answer:
        """Return the exact answer: a number, or an array of shape (d,)."""

    def sensitivity(self, relation: Relation, /) -> float:
        """Return the largest change between neighbours in L1 norm; for scores, in max norm."""

    def l2_sensitivity(self, relation: Relation, /) -> float:
        """Return the largest change in L2 norm between neighbours."""


class ScalarQuery(ABC):
    """A query whose answer is one number, where all norms agree.

    >>> from simulator import counting_query
    >>> from simulator.data import ADD_REMOVE
    >>> query = counting_query("alice")
    >>> query.sensitivity(ADD_REMOVE) == query.l2_sensitivity(ADD_REMOVE)
    True
    """

    __slots__ = ()

    @abstractmethod
    def sensitivity(self, relation: Relation) -> float:
        """Return the largest change between neighbours."""

    def l2_sensitivity(self, relation: Relation) -> float:
        """Return the same as ``sensitivity``: the answer is one number."""
        return self.sensitivity(relation)


# Exact answers are rounded once, and their difference once more, so a correct query can exceed its
# stated sensitivity by about one unit in the last place of the answers. A few units are allowed;
# they change a privacy loss by parts in 10^15.
_ULPS = 4.0

_NORMS: dict[str, Callable[[NDArray[np.float64]], float]] = {
    "L1": lambda change: math.fsum(np.abs(change)),
    "L2": lambda change: math.hypot(*change),
    "max": lambda change: float(np.max(np.abs(change), initial=0.0)),
}


def exceeded(query: Query, value_0: Answer, value_1: Answer, relation: Relation) -> str | None:
    """Return how two answers break the stated sensitivity of ``query``, or None when they do not.

    ``value_0`` and ``value_1`` are the query's answers, of one shape, on two databases that are
    neighbours under ``relation``. Answers that are not finite, or differ in shape, break it too.
    A few units in the last place of the answers are allowed for rounding.

    >>> from simulator import counting_query
    >>> from simulator.data import ADD_REMOVE
    >>> from simulator.data.queries import exceeded
    >>> exceeded(counting_query("alice"), 0.0, 1.0, ADD_REMOVE) is None
    True
    """
    change: NDArray[np.float64] | float
    if {type(value_0), type(value_1)} <= {int, float}:  # without arrays, in a fourth of the time
        number_0, number_1 = float(value_0), float(value_1)
        finite = math.isfinite(number_0) and math.isfinite(number_1)
        change = abs(number_1 - number_0)
        rounding = math.ulp(max(abs(number_0), abs(number_1)))
    else:
        array_0 = np.atleast_1d(np.asarray(value_0, dtype=np.float64))
        array_1 = np.atleast_1d(np.asarray(value_1, dtype=np.float64))
        if array_0.shape != array_1.shape:
            return f"{query.name} answers in shapes {array_0.shape} and {array_1.shape}"
        finite = bool(np.isfinite(array_0).all() and np.isfinite(array_1).all())
        change = (array_1 - array_0).ravel()
        rounding = float(np.spacing(np.maximum(np.abs(array_0), np.abs(array_1))).sum())
    if not finite:
        return f"{query.name} answers {value_0} and {value_1}, which is not finite"
    for norm, stated in _statements(query, relation):
        moved = change if isinstance(change, float) else _NORMS[norm](change)
        # "not <=" and not ">": a stated NaN must not pass.
        if not moved <= stated + _ULPS * (rounding + float(np.spacing(abs(stated)))):
            return (
                f"{query.name} states {norm} sensitivity {stated:.17g} under {relation}, "
                f"but this pair moves it by {moved:.17g} (from {value_0} to {value_1})"
            )
    return None


def _statements(query: Query, relation: Relation) -> list[tuple[str, float]]:
    norm = getattr(query, "norm", "L1")
    stated = [(norm, query.sensitivity(relation))]
    if norm == "L1":
        stated.append(("L2", query.l2_sensitivity(relation)))
    return stated


def check_pair(
    query: Query, database_0: Database, database_1: Database, relation: Relation
) -> tuple[Answer, Answer]:
    """Return the query's answers on two databases, after checking the pair and the sensitivity.

    Raises :class:`Breach` when they are not neighbours under ``relation``, or when the answers
    differ by more than the query's stated sensitivity.

    >>> from simulator import Database, counting_query
    >>> from simulator.data import ADD_REMOVE
    >>> from simulator.data.queries import check_pair
    >>> everyone = Database({"alice": 1, "others": 399})
    >>> check_pair(counting_query("alice"), everyone.remove("alice"), everyone, ADD_REMOVE)
    (0, 1)
    """
    instance("relation", relation, Relation)
    if not relation.are_neighbours(database_0, database_1):
        difference = relation.difference(database_0, database_1)
        raise Breach(f"the databases are not neighbours under {relation}: {difference}")
    value_0, value_1 = query(database_0), query(database_1)
    if problem := exceeded(query, value_0, value_1, relation):
        raise Breach(problem)
    return value_0, value_1
