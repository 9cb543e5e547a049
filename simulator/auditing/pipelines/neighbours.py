"""Neighbours of a database, and the smallest pair of databases that still shows a breach."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from simulator.data.databases import Database
from simulator.foundations.errors import InvalidInput

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
    if isinstance(database, Database):
        return sum(count for _, count in database.records())
    try:
        return len(database)
    except TypeError:
        raise InvalidInput(
            "a database must be a list, an array, a table or a Database to have neighbours made; "
            "give the neighbours themselves instead"
        ) from None


def part(database: Any, places: Sequence[int]) -> Any:
    """The database with the records at these places, in this order; a place may occur twice."""
    if isinstance(database, Database):
        rows = [record for record, count in database.records() for _ in range(count)]
        counts: dict[Any, int] = {}
        for place in places:
            counts[rows[place]] = counts.get(rows[place], 0) + 1
        return Database(counts)
    if hasattr(database, "iloc"):
        return database.iloc[list(places)].reset_index(drop=True)
    if isinstance(database, np.ndarray):
        return database[list(places)]
    records = [database[place] for place in places]
    return copy.deepcopy(tuple(records) if isinstance(database, tuple) else records)


def places_of(relation: str, kept: Sequence[int], changed: int, other: int) -> list[int]:
    """The places of a neighbour: record ``changed`` of ``kept`` removed, or replaced by another."""
    place = changed % len(kept)
    if relation == "add-remove":
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
            NeighbourPair(second, database, rounds)
            if i % 2 and neighbours == "add-remove"
            else pair
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
    if neighbours not in ("add-remove", "replace-one"):
        raise InvalidInput(
            f"neighbours must be add-remove, replace-one, databases or a function, not "
            f"{neighbours!r}"
        )


def smallest(
    database: Any, relation: str, rounds: int | None, breaks: Callable[[NeighbourPair], bool]
) -> NeighbourPair | None:
    """The smallest pair found that breaks, by hypothesis; None where it finds none.

    It has the fewest records, then the fewest rounds.
    """
    try:
        from hypothesis import HealthCheck, Phase, find, settings
        from hypothesis import strategies as st
        from hypothesis.errors import HypothesisException
    except ImportError:  # a requirement of development only
        return None
    n = size(database)

    def made(drawn: tuple[list[int], int, int, int]) -> NeighbourPair:
        kept, changed, other, played = drawn
        first = part(database, sorted(kept))
        second = part(database, places_of(relation, sorted(kept), changed, other))
        return NeighbourPair(first, second, played if rounds is not None else None)

    strategy = st.tuples(
        st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True),
        st.integers(0, n - 1),
        st.integers(0, n - 1),
        st.integers(1, rounds or 1),
    )
    quiet = settings(
        max_examples=EXAMPLES, database=None, deadline=None, derandomize=True,
        phases=(Phase.generate, Phase.shrink), suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    try:
        kept, changed, other, played = find(
            strategy, lambda drawn: breaks(made(drawn)), settings=quiet
        )
    except HypothesisException:
        return None
    for record in kept:  # what hypothesis has left
        fewer = [each for each in kept if each != record]
        for place in {changed % max(len(fewer), 1), max(changed % len(kept) - 1, 0)}:
            if fewer and breaks(made((fewer, place, other, played))):
                kept, changed = fewer, place
                break
    return made((kept, changed, other, played))


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
