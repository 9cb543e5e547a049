"""Databases as multisets of records, and the relations that define neighbours.

A database is a histogram in ℕ^|X| (Dwork and Roth 2014, section 2.3): how often each record
occurs. Two databases are neighbours when one step of the stated relation leads from one to the
other; a mechanism's guarantee, and a query's sensitivity, are statements about such a pair.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat
from os import PathLike
from types import MappingProxyType
from typing import ClassVar
from weakref import ref

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.wording import count_of
from simulator.identity import multisets

# Beyond this a count is no longer exact as a float, and answers are floats.
_LARGEST_SIZE = 2**53
_SHOWN = 4


class Database:
    """An immutable multiset of hashable records.

    ``Database({"alice": 1, "others": 398})`` takes a histogram, ``Database(records)`` an iterable
    in which records may repeat. Equal contents are equal databases, whatever the order.

    Raises :class:`InvalidInput` for a count that is not a whole number ≥ 0, for a record that
    cannot be hashed, and for a bare string (it would be split into letters).

    >>> from simulator import Database
    >>> everyone = Database({"alice": 1, "others": 399})
    >>> everyone.size, everyone.remove("alice").count_of("alice")
    (400, 0)
    """

    __slots__ = ("__weakref__", "_counts", "_hash", "_size", "_step", "_text")
    _counts: dict[Hashable, int]
    _hash: int
    _size: int
    _step: tuple[ref[Database], Hashable, tuple[int, int]] | None
    """The database from which this one is one step away, the record, and its two counts."""
    _text: int | None
    """What :meth:`content_digest` has returned."""

    def __init__(self, records: Mapping[Hashable, int] | Iterable[Hashable] = ()) -> None:
        counts = _counted(records)
        # a sum over the records, so that a step to a neighbour changes two terms of it
        self._fill(counts, sum(counts.values()), sum(map(hash, counts.items())))

    def _fill(self, counts: dict[Hashable, int], size: int, code: int) -> None:
        if size > _LARGEST_SIZE:
            raise InvalidInput(f"a database holds at most 2**53 records, not {size}")
        _set_counts(self, counts)
        _set_size(self, size)
        _set_hash(self, code)
        _set_step(self, None)
        _set_text(self, None)

    @classmethod
    def from_csv(
        cls,
        path: str | PathLike[str],
        columns: Iterable[str] | None = None,
        *,
        numeric: Iterable[str] = (),
        text: Iterable[str] = (),
    ) -> Database:
        """Read a table with a header line: one record a row, with the given columns in order.

        Records are :class:`simulator.data.tables.Record` tuples. Types and errors are those of
        :func:`simulator.data.tables.read_csv`. Rows may repeat: the table is a multiset.
        """
        from simulator.data.tables import read_csv  # few programs read a table

        return cls(read_csv(path, columns, numeric=numeric, text=text))

    def add(self, record: Hashable, times: int = 1) -> Database:
        """Return this database with ``record`` present ``times`` more."""
        return self._shifted(record, _whole(times, "times"))

    def remove(self, record: Hashable, times: int = 1) -> Database:
        """Return this database with ``record`` present ``times`` less.

        Raises :class:`InvalidInput` when it is not present that often.
        """
        times = _whole(times, "times")
        present = self.count_of(record)
        if present < times:
            raise InvalidInput(
                f"cannot remove {times} × {record!r}: the database holds {present} of it"
            )
        return self._shifted(record, -times)

    def replace(self, old: Hashable, new: Hashable) -> Database:
        """Return this database with one ``old`` turned into ``new``: a replace-one neighbour."""
        return self.remove(old).add(new)

    def count_of(self, record: Hashable) -> int:
        """How often ``record`` occurs."""
        try:
            return self._counts.get(record, 0)
        except TypeError:
            raise InvalidInput(f"a record must be hashable, and {record!r} is not") from None

    def count(self, which: Hashable | Callable[..., bool]) -> int:
        """How many records equal ``which``, or satisfy it when it is a predicate."""
        if callable(which):
            return sum(n for record, n in self._counts.items() if which(record))
        return self.count_of(which)

    @property
    def size(self) -> int:
        """The number of records, each counted as often as it occurs."""
        return self._size

    def records(self) -> Iterable[tuple[Hashable, int]]:
        """Return a read-only view of pairs: each distinct record with its multiplicity."""
        return MappingProxyType(self._counts).items()

    def _shifted(self, record: Hashable, by: int) -> Database:
        counts = self._counts.copy()
        before = self.count_of(record)
        after = before + by
        code = self._hash
        if before:
            code -= hash((record, before))
        if after:
            counts[record] = after
            code += hash((record, after))
        else:
            counts.pop(record, None)
        shifted = Database.__new__(Database)
        shifted._fill(counts, self._size + by, code)
        _set_step(shifted, (ref(self), record, (before, after)))
        return shifted

    def content_digest(self) -> int | None:
        """Return a digest of the records, made once; equal for equal contents.

        Of a neighbour of a database that has one it is made from that. None where a record is
        neither a number, a text, None nor a tuple of them.
        """
        if self._text is None:
            _set_text(self, self._stepped_digest() or multisets.total(self._counts))
        return self._text

    def _stepped_digest(self) -> int | None:
        """The digest made from that of the database one step away, where there is one."""
        near = self._step and self._step[0]()
        if near is None or self._step is None or near._text is None:
            return None
        _, record, (before, after) = self._step
        return multisets.moved(
            near._text, near._held(record) if before else record, (before, after)
        )

    def _held(self, record: Hashable) -> Hashable:
        """The record as this database holds it: 1 and True are equal."""
        if type(record) in (str, bytes):
            return record
        return next((r for r in self._counts if r is record or r == record), record)

    def change_to(self, other: Database) -> tuple[Hashable, int] | None:
        """The record, and by how much its count changes, where one step was made to ``other``.

        None where the step is not known: the contents have to be compared.
        """
        if other._step is None or other._step[0]() is not self:
            return None
        _, record, (before, after) = other._step
        return self._held(record) if before else record, after - before

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Hashable]:
        return chain.from_iterable(repeat(record, n) for record, n in self._counts.items())

    def __contains__(self, record: Hashable) -> bool:
        return self.count_of(record) > 0

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Database):
            return NotImplemented
        return self._hash == other._hash and self._counts == other._counts

    def __hash__(self) -> int:
        return hash(self._hash)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Database is immutable; add, remove and replace return a new one")

    def __reduce__(self) -> tuple[type[Database], tuple[dict[Hashable, int]]]:
        # Hashes of strings differ from process to process, so the cached hash is left out.
        return Database, (self._counts,)

    def __repr__(self) -> str:
        shown = ", ".join(f"{r!r}: {n}" for r, n in list(self._counts.items())[:_SHOWN])
        hidden = len(self._counts) - _SHOWN
        rest = f", … {hidden} more" if hidden > 0 else ""
        return f"Database({{{shown}{rest}}}, size={self._size})"


# the setters of the slots, past the refusal of ``__setattr__``
_set_counts, _set_size, _set_hash, _set_step, _set_text = (
    vars(Database)[name].__set__ for name in ("_counts", "_size", "_hash", "_step", "_text")
)


def _counted(records: Mapping[Hashable, int] | Iterable[Hashable]) -> dict[Hashable, int]:
    if isinstance(records, (str, bytes)):
        raise InvalidInput(
            f"a database is made of records; put the one record in a list: [{records!r}]"
        )
    if isinstance(records, Database):
        return dict(records.records())
    if isinstance(records, Mapping):
        counts = {r: _whole(n, f"the count of {r!r}") for r, n in records.items()}
        return {r: n for r, n in counts.items() if n}
    try:
        return dict(Counter(records))
    except TypeError as error:
        raise InvalidInput(f"a database is made of hashable records: {error}") from None


def _whole(number: int, what: str) -> int:
    try:
        whole = operator.index(number)
    except TypeError:
        raise InvalidInput(f"{what} must be a whole number, not {number!r}") from None
    if whole < 0:
        raise InvalidInput(f"{what} must be at least 0, not {whole}")
    return whole


@lru_cache(maxsize=16, typed=True)
def count_changes(database_0: Database, database_1: Database) -> Mapping[Hashable, int]:
    """By how much each record's count changes from the first database to the second.

    Cached for recent pairs: an adaptive adversary sends new queries on the same databases.
    """
    if (step := database_0.change_to(database_1)) is not None:
        return MappingProxyType({step[0]: step[1]} if step[1] else {})
    if (step := database_1.change_to(database_0)) is not None:
        return MappingProxyType({step[0]: -step[1]} if step[1] else {})
    before, after = dict(database_0.records()), dict(database_1.records())
    changed = {record for record, _ in before.items() ^ after.items()}
    # in the order of the records, so that the error text is the same in every process
    keys = chain(before, after) if len(changed) > 1 else changed
    moved = {r: after.get(r, 0) - before.get(r, 0) for r in keys if r in changed}
    return MappingProxyType(moved)


@dataclass(frozen=True)
class Relation(ABC):
    """A relation between databases: neighbours are at most one step apart.

    A relation also bounds the change of a query in one step: its sensitivity.
    Identical databases are neighbours (Dwork and Roth 2014, definition 2.4: ‖x − y‖₁ ≤ 1).

    >>> from simulator.data import ADD_REMOVE, REPLACE_ONE, Database
    >>> one, other = Database(["alice", "bob"]), Database(["alice", "carol"])
    >>> ADD_REMOVE.distance(one, other), REPLACE_ONE.distance(one, other)
    (2.0, 1.0)
    """

    name: ClassVar[str]
    records_touched: ClassVar[int]
    """The largest number of records in which the histograms of two neighbours differ."""

    @abstractmethod
    def distance(self, database_0: Database, database_1: Database) -> float:
        """Return the least number of steps between two databases; infinite when there are none."""

    @abstractmethod
    def spread(self, lower: float, upper: float) -> float:
        """Return the largest change of a sum in one step, for terms in [lower, upper]."""

    def are_neighbours(self, database_0: Database, database_1: Database) -> bool:
        """Whether at most one step leads from one database to the other."""
        return database_0 is database_1 or self.distance(database_0, database_1) <= 1

    def difference(self, database_0: Database, database_1: Database) -> str:
        """Return one line that says how the second database differs from the first."""
        changes = count_changes(database_0, database_1)
        if not changes:
            return "the databases are identical"
        shown = ", ".join(f"{n:+d} × {record!r}" for record, n in list(changes.items())[:_SHOWN])
        hidden = len(changes) - _SHOWN
        rest = f", and {hidden} more" if hidden > 0 else ""
        steps = self.distance(database_0, database_1)
        apart = count_of(round(steps), "step") if math.isfinite(steps) else "no number of steps"
        return f"from the first to the second: {shown}{rest} ({apart} of {self.name})"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class AddRemoveOne(Relation):
    """One record more or less: ‖x − y‖₁ ≤ 1 (Dwork and Roth 2014, definition 2.4)."""

    name: ClassVar[str] = "add/remove-one"
    records_touched: ClassVar[int] = 1

    def distance(self, database_0: Database, database_1: Database) -> float:
        """‖x − y‖₁ of the two histograms."""
        return float(sum(map(abs, count_changes(database_0, database_1).values())))

    def spread(self, lower: float, upper: float) -> float:
        """Return the larger of |lower| and |upper|: one term is added or removed."""
        return max(abs(lower), abs(upper))


@dataclass(frozen=True)
class ReplaceOne(Relation):
    """One record replaced by another, the size unchanged ("bounded" differential privacy)."""

    name: ClassVar[str] = "replace-one"
    records_touched: ClassVar[int] = 2

    def distance(self, database_0: Database, database_1: Database) -> float:
        """‖x − y‖₁ / 2 between databases of one size, infinite between different sizes."""
        if database_0.size != database_1.size:
            return math.inf
        return sum(map(abs, count_changes(database_0, database_1).values())) / 2

    def spread(self, lower: float, upper: float) -> float:
        """Return upper − lower: one term is replaced."""
        return upper - lower


@dataclass(frozen=True)
class Group(Relation):
    """At most ``size`` steps of another relation: a group, or one person with so many records.

    ``Group(ADD_REMOVE, 3)``. The spread of a sum is ``size`` times that of one step. How many
    records a step touches is not stated: what depends on it is made for one record, and raises
    NotApplicable.

    Raises :class:`InvalidInput` for a size below 1, and for a group of groups.

    >>> from simulator.data import ADD_REMOVE, Database, Group
    >>> everyone = Database({"family": 3, "others": 397})
    >>> Group(ADD_REMOVE, 3).are_neighbours(everyone.remove("family", 3), everyone)
    True
    """

    of: Relation
    size: int

    def __post_init__(self) -> None:
        if not isinstance(self.of, AddRemoveOne | ReplaceOne):
            raise InvalidInput(f"a group is of a relation such as ADD_REMOVE, not {self.of!r:.80}")
        if _whole(self.size, "the size of a group") < 1:
            raise InvalidInput("a group has at least one record")

    @property
    def name(self) -> str:  # type: ignore[override]
        """Such as ``groups of 3 (add/remove-one)``."""
        return f"groups of {self.size} ({self.of.name})"

    @property
    def records_touched(self) -> int:  # type: ignore[override]
        """Raises NotApplicable."""
        raise NotApplicable(
            f"what is made for one record has no statement under {self}: wrap the mechanism in "
            "RecordLevel"
        )

    def distance(self, database_0: Database, database_1: Database) -> float:
        """The steps of the other relation over the size, rounded up."""
        steps = self.of.distance(database_0, database_1)
        return float(math.ceil(steps / self.size)) if math.isfinite(steps) else math.inf

    def spread(self, lower: float, upper: float) -> float:
        """Return ``size`` times the spread of one step."""
        return self.size * self.of.spread(lower, upper)


ADD_REMOVE = AddRemoveOne()
REPLACE_ONE = ReplaceOne()
RELATIONS = {str(relation): relation for relation in (ADD_REMOVE, REPLACE_ONE)}
"""The relations by their names."""
