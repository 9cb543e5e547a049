"""Neighbours of a database, and the smallest pair of databases that still shows a breach."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from simulator.data.databases import Database
from simulator.foundations.errors import InvalidInput
from simulator.theory.events.units import ADD_REMOVE, REPLACE_ONE

Neighbours = Literal["add-remove", "replace-one"]
EXAMPLES = 200
"""Most databases that hypothesis draws while it looks for a smaller one."""


@dataclass(frozen=True)
class NeighbourPair:
    """Two neighbouring databases, and how many rounds are played on them (None: no such number)."""

    first: Any
    second: Any
    rounds: int | None = None

    def __len__(self) -> int:
        return max(size(self.first), size(self.second))


def size(database: Any) -> int:
    """How many records a database has: rows, elements, or the counts of a histogram."""
    columns = _equally_long(database)
    if columns:
        return size(columns[0])
    if isinstance(database, Database):
        return sum(count for _, count in database.records())
    try:
        return int(database.shape[0]) if hasattr(database, "shape") else len(database)
    except (TypeError, IndexError):
        raise InvalidInput(
            "a database must be a list, an array, a table or a Database to have neighbours made; "
            "give the neighbours themselves instead"
        ) from None


def is_of_records(database: Any) -> bool:
    """Whether a database is one whose records :func:`part` can take."""
    if isinstance(database, list | tuple | Database) or hasattr(database, "iloc"):
        return True
    return bool(_equally_long(database)) or len(getattr(database, "shape", ())) > 0


def _equally_long(database: Any) -> list[Any]:
    """The columns of a database that is a dictionary or a tuple of such, as (x, y); else none."""
    if isinstance(database, Mapping):
        found = [*database.values()]
    elif isinstance(database, tuple) and all(hasattr(each, "shape") for each in database):
        found = [*database] if len(database) > 1 else []
    else:
        return []
    lengths = {
        len(each) if isinstance(each, list | tuple) else (*getattr(each, "shape", ()), None)[0]
        for each in found
    }
    return found if len(lengths) == 1 and None not in lengths else []


def part(database: Any, places: Sequence[int]) -> Any:
    """The database with the records at these places, in this order; a place may occur twice."""
    if _equally_long(database):
        if isinstance(database, Mapping):
            return {key: part(column, places) for key, column in database.items()}
        return tuple(part(column, places) for column in database)
    if isinstance(database, Database):
        rows = [record for record, count in database.records() for _ in range(count)]
        counts: dict[Any, int] = {}
        for place in places:
            counts[rows[place]] = counts.get(rows[place], 0) + 1
        return Database(counts)
    if hasattr(database, "iloc"):
        found = database.iloc[list(places)]
        counted = type(database.index).__name__ == "RangeIndex"
        return found.reset_index(drop=True) if counted else found
    if not isinstance(database, list | tuple) and hasattr(database, "shape"):  # an array, polars
        return database[np.array(places, dtype=int)]
    records = [database[place] for place in places]
    return copy.deepcopy(tuple(records) if isinstance(database, tuple) else records)


def columns_of(database: Any) -> list[Any]:
    """The values of the records by column, each in the order of the records."""
    columns = _equally_long(database)
    if columns:
        return [inner for each in columns for inner in columns_of(each)]
    if isinstance(database, Database):
        return [[record for record, count in database.records() for _ in range(count)]]
    if hasattr(database, "columns"):
        return [database[name] for name in database.columns]
    if hasattr(database, "shape"):
        return [*np.asarray(database).T] if len(database.shape) == 2 else [database]
    rows = [[*r.values()] if isinstance(r, Mapping) else r for r in database]
    if rows and all(isinstance(r, list | tuple) and len(r) == len(rows[0]) for r in rows):
        return [[r[i] for r in rows] for i in range(len(rows[0]))]
    return [rows]


def orders_of(database: Any) -> list[list[int]]:
    """The places of the records by each of their values."""
    found = []
    for column in columns_of(database)[:20]:
        try:
            values = np.asarray(column, dtype=float)
        except (TypeError, ValueError):
            values = np.array([repr(each) for each in column])
        if values.ndim == 1:
            found.append(np.argsort(values, kind="stable").tolist())
    return found or [list(range(size(database)))]


def relation_of(one: Any, other: Any) -> str:
    """The relation of which two databases are neighbours; "" where that is not known.

    Databases of one size whose records share some of their values may be neighbours in the others
    alone: a relation of labels.
    """
    if not (is_of_records(one) and is_of_records(other)):
        return ""
    sizes = {size(one), size(other)}
    if max(sizes) - min(sizes) == 1:
        return ADD_REMOVE
    if len(sizes) > 1:
        return ""
    pairs = zip(columns_of(one), columns_of(other))
    same = [all(a == b for a, b in zip(map(repr, x), map(repr, y))) for x, y in pairs]
    return "" if any(same) else REPLACE_ONE


def places_of(relation: str, kept: Sequence[int], changed: int, other: int) -> list[int]:
    """The places of a neighbour: record ``changed`` of ``kept`` removed, or replaced by another."""
    place = changed % len(kept)
    if relation == ADD_REMOVE:
        return [*kept[:place], *kept[place + 1 :]]
    return [*kept[:place], other, *kept[place + 1 :]]


def pairs(
    database: Any,
    neighbours: Neighbours | Iterable[Any] | Callable[[Any], Iterable[Any]],
    most: int,
    rounds: int | None,
) -> Iterator[NeighbourPair]:
    """At most ``most`` pairs of the database and a neighbour.

    Under ``add-remove`` one record is removed; under ``replace-one`` it becomes another record of
    the database. Raises InvalidInput for an unknown relation or an empty database.
    """
    if not isinstance(neighbours, str):
        found = _made(neighbours, database) if callable(neighbours) else neighbours
        if not isinstance(found, Iterable):
            raise InvalidInput(f"neighbours must be databases, not {found!r:.80}")
        for each, _ in zip(found, range(most)):
            yield NeighbourPair(database, each, rounds)
        return
    check_relation(neighbours)
    n = size(database)
    if n == 0:
        raise InvalidInput("a database must have at least one record to have neighbours made")
    chosen = dict.fromkeys([n - 1, 0, *np.linspace(0, n - 1, min(n, most)).astype(int).tolist()])
    for i, place in enumerate(list(chosen)[:most]):
        other = (n - 1 - place) if 2 * place != n - 1 else 0
        second = part(database, places_of(neighbours, range(n), place, other))
        pair = NeighbourPair(database, second, rounds)
        # a record that is added is one that is removed from the other database
        yield (
            NeighbourPair(second, database, rounds) if i % 2 and neighbours == ADD_REMOVE else pair
        )


def _made(neighbours: Callable[[Any], Iterable[Any]], database: Any) -> Any:
    try:
        return neighbours(database)
    except Exception as error:
        raise InvalidInput(
            f"the function of neighbours raised {type(error).__name__}: {error!s:.200}"
        ) from error


def check_relation(neighbours: str) -> None:
    """Raise InvalidInput for an unknown relation."""
    if neighbours not in (ADD_REMOVE, REPLACE_ONE):
        raise InvalidInput(
            f"neighbours must be add-remove, replace-one, databases or a function, not "
            f"{neighbours!r}"
        )


def smallest(
    pair: NeighbourPair, seconds: float, breaks: Callable[[NeighbourPair], bool]
) -> NeighbourPair:
    """The smallest pair found that breaks, from one that does: fewest rounds, then fewest records.

    Parameters
    ----------
    seconds : of processor time, after which nothing more is tried.
    """
    end = time.process_time() + seconds
    low, high = 0, pair.rounds or 1
    while high - low > 1 and time.process_time() < end:
        middle = (low + high) // 2
        low, high = (low, middle) if breaks(replace(pair, rounds=middle)) else (middle, high)
    pair = pair if pair.rounds in (None, high) else replace(pair, rounds=high)
    changed = _changed(pair)
    if changed is None:
        return pair
    kept = list(range(len(pair)))
    chunk = len(kept) // 2
    while chunk:
        for start in range(0, len(kept), chunk)[::-1]:
            fewer = [*kept[:start], *kept[start + chunk :]]
            fewer = sorted({*fewer, changed})
            if len(fewer) < len(kept) and time.process_time() < end:
                found = _kept_of(pair, fewer, changed)
                kept = fewer if breaks(found) else kept
        chunk //= 2
    return pair if len(kept) == len(pair) else _kept_of(pair, kept, changed)


def _changed(pair: NeighbourPair) -> int | None:
    """The place of the one record in which two databases differ; None if there is no such place."""
    if not (is_of_records(pair.first) and is_of_records(pair.second)):
        return None
    long, short = sorted((_rows(pair.first), _rows(pair.second)), key=len, reverse=True)
    place = next((i for i, (a, b) in enumerate(zip(long, short)) if a != b), len(short))
    rest = short[place + len(short) - len(long) + 1 :]
    return place if long[place + 1 :] == rest and place < len(long) else None


def _rows(database: Any) -> list[tuple[str, ...]]:
    return [*zip(*(map(repr, column) for column in columns_of(database)))]


def _kept_of(pair: NeighbourPair, kept: Sequence[int], changed: int) -> NeighbourPair:
    """The pair with some records alone, by places in the larger database."""
    short = [place - (place > changed) for place in kept if place != changed]
    same = size(pair.first) == size(pair.second)
    parts = [
        part(each, kept if same or size(each) == len(pair) else short)
        for each in (pair.first, pair.second)
    ]
    return replace(pair, first=parts[0], second=parts[1])


def drawn_pairs(
    strategy: Any, relation: str, rounds: int | None, breaks: Callable[[NeighbourPair], bool]
) -> NeighbourPair | None:
    """The smallest breaking pair among databases that a strategy of hypothesis draws, or None."""
    from hypothesis import HealthCheck, Phase, find, settings
    from hypothesis import strategies as st
    from hypothesis.errors import HypothesisException

    def made(drawn: tuple[Any, int, int, int]) -> NeighbourPair | None:
        database, changed, other, played = drawn
        n = size(database)
        if n == 0:
            return None
        second = part(database, places_of(relation, range(n), changed, other % n))
        return NeighbourPair(database, second, played if rounds is not None else None)

    def test(drawn: tuple[Any, int, int, int]) -> bool:
        pair = made(drawn)
        return pair is not None and breaks(pair)

    quiet = settings(
        max_examples=EXAMPLES, database=None, deadline=None, derandomize=True,
        phases=(Phase.generate, Phase.shrink), suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    numbers = st.integers(0, 1000)
    try:
        return made(
            find(st.tuples(strategy, numbers, numbers, st.integers(1, rounds or 1)), test,
                 settings=quiet)
        )  # fmt: skip
    except HypothesisException:
        return None
