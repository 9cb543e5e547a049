"""Read the arguments of a query: columns, bins, bounds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from operator import itemgetter
from typing import Any

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite, listed

Column = str | Callable[[Any], Any]
"""A column of a table by its name, or any function of a record."""


def reader(column: Column | None) -> Callable[[Any], Any]:
    """Return the function that reads ``column`` from a record; None is the record itself."""
    if column is None:
        return lambda record: record
    return itemgetter(column) if isinstance(column, str) else column


def label(column: Column) -> str:
    """Return the name of ``column`` in tables and errors."""
    return column if isinstance(column, str) else getattr(column, "__name__", "value")


def distinct(items: Iterable[Hashable], what: str) -> tuple[Hashable, ...]:
    """Return the items as a tuple; :class:`InvalidInput` when there are none, or one repeats."""
    found = listed(f"what is named as {what}", items)
    if not found:
        raise InvalidInput(f"at least one {what} is needed")
    if len(set(found)) < len(found):
        raise InvalidInput(f"one {what} is named twice: {', '.join(map(repr, found))}")
    return found


def interval(lower: float, upper: float) -> tuple[float, float]:
    """Return the bounds as floats; :class:`InvalidInput` unless finite and lower < upper."""
    low, high = finite("the lower bound", lower), finite("the upper bound", upper)
    if not low < high:
        raise InvalidInput(f"clipping needs bounds lower < upper, not [{low}, {high}]")
    return low, high
