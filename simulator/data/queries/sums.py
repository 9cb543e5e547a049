"""Sums and means of a column whose values are clipped, which bounds their sensitivity."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real

from simulator.data.databases import Database, Relation
from simulator.data.queries.arguments import Column, interval, label, reader
from simulator.data.queries.contract import ScalarQuery
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.validation import whole
from simulator.foundations.wording import count_of


@dataclass(frozen=True, slots=True)
class ClippedSum(ScalarQuery):
    """The sum over the records of a value clipped to [lower, upper].

    >>> from simulator import Database
    >>> from simulator.data.queries import ClippedSum
    >>> ClippedSum(float, lower=0.0, upper=100.0, name="total")(Database([30, 180]))
    130.0
    """

    column: Column
    lower: float
    upper: float
    name: str = field(compare=False)

    def __call__(self, database: Database) -> float:
        """Return the sum, correctly rounded, so that the order of records does not matter."""
        return _clipped_sum(database, self.column, self.lower, self.upper)

    def sensitivity(self, relation: Relation) -> float:
        """max(|lower|, |upper|) under add/remove-one; upper − lower under replace-one."""
        return relation.spread(self.lower, self.upper)


def clipped_sum(column: Column, lower: float, upper: float, name: str | None = None) -> ClippedSum:
    """Sum a column, or a function of the record, clipped to [lower, upper].

    Raises :class:`InvalidInput` unless lower < upper, both finite; and, when evaluated, for a
    record whose value is not a finite number.

    >>> from simulator import Database
    >>> from simulator.data import ADD_REMOVE, REPLACE_ONE, clipped_sum
    >>> total = clipped_sum(float, lower=10, upper=100)
    >>> total(Database([30, 180])), total.sensitivity(ADD_REMOVE), total.sensitivity(REPLACE_ONE)
    (130.0, 100.0, 90.0)
    """
    lower, upper = interval(lower, upper)
    return ClippedSum(column, lower, upper, name or f"sum({label(column)})")


@dataclass(frozen=True, slots=True)
class MeanOfPublicSize(ScalarQuery):
    """The clipped mean of exactly ``size`` records, a public number.

    >>> from simulator.data import REPLACE_ONE, clipped_mean
    >>> mean = clipped_mean(float, lower=0, upper=100, size=50)
    >>> type(mean).__name__, mean.sensitivity(REPLACE_ONE)
    ('MeanOfPublicSize', 2.0)
    """

    column: Column
    lower: float
    upper: float
    size: int
    name: str = field(compare=False)

    def __call__(self, database: Database) -> float:
        """Return the mean; :class:`InvalidInput` when the size is not the public one."""
        if database.size != self.size:
            raise InvalidInput(
                f"{self.name} is stated for {count_of(self.size, 'record')}, the database holds "
                f"{database.size}; a mean over a sample is clipped_mean(..., at_least=m), m the "
                "size of the sample"
            )
        return _clipped_sum(database, self.column, self.lower, self.upper) / self.size

    def sensitivity(self, relation: Relation) -> float:
        """(upper − lower)/size under replace-one; otherwise :class:`NotApplicable`."""
        if relation.records_touched != 2:
            raise NotApplicable(
                f"{self.name} has a public size, but {relation} changes the size; use replace-one, "
                "or clipped_mean(..., at_least=m) with a smallest size m"
            )
        return relation.spread(self.lower, self.upper) / self.size


@dataclass(frozen=True, slots=True)
class MeanOfBoundedSize(ScalarQuery):
    """The clipped mean of a database that is promised to hold at least ``at_least`` records.

    >>> from simulator.data import ADD_REMOVE, clipped_mean
    >>> mean = clipped_mean(float, lower=0, upper=100, at_least=50)
    >>> type(mean).__name__, round(mean.sensitivity(ADD_REMOVE), 6)
    ('MeanOfBoundedSize', 1.960784)
    """

    column: Column
    lower: float
    upper: float
    at_least: int
    name: str = field(compare=False)

    def __call__(self, database: Database) -> float:
        """Return the mean; :class:`InvalidInput` for a database smaller than promised."""
        if database.size < self.at_least:
            raise InvalidInput(
                f"{self.name} is stated for at least {count_of(self.at_least, 'record')}, "
                f"the database holds {database.size}"
            )
        return _clipped_sum(database, self.column, self.lower, self.upper) / database.size

    def sensitivity(self, relation: Relation) -> float:
        """(upper − lower)/(m + 1) under add/remove-one, (upper − lower)/m under replace-one.

        Adding x to n ≥ m records moves the mean by (x − mean)/(n + 1).
        """
        larger = self.at_least + (relation.records_touched == 1)
        return (self.upper - self.lower) / larger


def clipped_mean(
    column: Column,
    lower: float,
    upper: float,
    *,
    size: int | None = None,
    at_least: int | None = None,
    name: str | None = None,
) -> MeanOfPublicSize | MeanOfBoundedSize:
    """Average a column, or a function of the record, clipped to [lower, upper].

    The sensitivity of a mean is proportional to 1/n, so n must be public or bounded below: either
    ``size``, the public number of records (replace-one only), or ``at_least``, a bound below it
    (either relation).

    >>> from simulator import Database
    >>> from simulator.data import REPLACE_ONE, clipped_mean
    >>> mean = clipped_mean(float, lower=0, upper=100, size=4)
    >>> mean(Database([30, 40, 50, 180])), mean.sensitivity(REPLACE_ONE)
    (55.0, 25.0)
    """
    lower, upper = interval(lower, upper)
    title = name or f"mean({label(column)})"
    if size is not None and at_least is None:
        return MeanOfPublicSize(column, lower, upper, whole("size", size), title)
    if at_least is not None and size is None:
        return MeanOfBoundedSize(column, lower, upper, whole("at_least", at_least), title)
    raise InvalidInput("clipped_mean needs one of size= (public) and at_least= (smallest size)")


def _clipped_sum(database: Database, column: Column, lower: float, upper: float) -> float:
    """Return the exact sum rounded once, which does not depend on the order of the records."""
    return math.fsum(_terms(database, column, lower, upper))


def _terms(database: Database, column: Column, lower: float, upper: float) -> Iterator[float]:
    read = reader(column)
    for record, times in database.records():
        value = read(record)
        if not isinstance(value, Real) or math.isnan(value):
            raise InvalidInput(f"{label(column)} of record {record!r} is {value!r}, not a number")
        clipped = min(max(float(value), lower), upper)
        product = times * clipped
        yield product
        if times > 1:
            # The rounding error of the product is itself a float (Dekker 1971).
            yield float(Fraction(clipped) * times - Fraction(product))
