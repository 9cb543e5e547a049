"""Challenges that differ in numbers alone, and the few of them that stand for all.

An adversary that chooses epsilon, or its databases, anew in every round meets a new challenge each
time. These are one class: the change from one database to the other, the type of the mechanism and
all that it is made of are the same, but for floats, the digits of texts, and the records of the
databases. Of a class the ends of each number's range and some in between are examined. Where there
are more than MOST_EXAMINED in all, they are spread over the classes in the order of play.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge
from simulator.data.databases import Database, count_changes
from simulator.identity.anatomy import plain, take_apart
from simulator.identity.fingerprint import Walk

MOST_OF_A_CLASS = 16
"""Challenges of a class that are examined."""
MOST_EXAMINED = 256
"""Challenges of all classes that are examined."""
ENDS = 4
"""Numbers of which both ends are certainly among them."""
DEPTH = 12
"""Levels of a mechanism below which a float does not count as a parameter."""
WHOLE = (type, CodeType, ModuleType, np.ndarray)
"""What is compared as it is, with its floats."""
NUMBER = re.compile(r"\d+(?:\.\d*)?(?:e[+-]?\d+)?")
"""A number in a text, as the name of a query or of a record may hold one."""


def representatives(challenges: Sequence[Challenge]) -> list[Challenge]:
    """At most MOST_OF_A_CLASS of each class and MOST_EXAMINED in all, in the order they have."""
    walk = Walk()
    classes: dict[Hashable, list[tuple[int, list[float]]]] = {}
    for place, challenge in enumerate(challenges):
        floats: list[float] = []
        form = _form_of(challenge, floats, walk)
        classes.setdefault(form, []).append((place, floats))
    chosen: list[tuple[int, int]] = []  # how many of the class come before it, and its place
    for members in classes.values():
        places = [place for place, _ in members]
        found = _spread(np.array([floats for _, floats in members]))
        chosen += [(rank, places[i]) for rank, i in enumerate(dict.fromkeys(found))]
    if len(chosen) > MOST_EXAMINED:
        chosen.sort()  # the first of each class, then the second of each
        level = chosen[MOST_EXAMINED][0]
        kept = [each for each in chosen if each[0] < level]
        last = [each for each in chosen if each[0] == level]
        evenly = np.linspace(0, len(last) - 1, MOST_EXAMINED - len(kept)).astype(int)
        chosen = [*kept, *(last[i] for i in evenly)]
    return [challenges[place] for place in sorted(place for _, place in chosen)]


def _form_of(challenge: Challenge, floats: list[float], walk: Walk) -> Hashable:
    """What a challenge is made of but for its numbers, which are added to a list."""
    pair = challenge.database_0, challenge.database_1
    if not all(type(database) is Database for database in pair):
        return _form(tuple(challenge), floats, walk, {})
    changes = count_changes(*pair)
    change = tuple(sorted(changes.values()))
    changed = {record: change.index(count) for record, count in changes.items()}
    form = _form(challenge.mechanism, floats, walk, changed)
    floats.append(float(len(pair[0])))
    return change, form


def _spread(table: np.ndarray) -> Sequence[int]:
    """The rows of a table of numbers, shape (challenges, numbers), that stand for all of them."""
    if len(table) <= MOST_OF_A_CLASS:
        return range(len(table))
    varying = [column for column in table.T if np.ptp(column) > 0.0]
    ends = [int(end(column)) for column in varying[:ENDS] for end in (np.argmin, np.argmax)]
    order = np.lexsort(varying[::-1]) if varying else np.arange(len(table))
    # rows that are spread over the others evenly, by rank of the first number that varies
    others = order[~np.isin(order, ends)]
    room = MOST_OF_A_CLASS - len(set(ends))
    places = np.linspace(0, len(others) - 1, room).astype(int)
    return [*ends, *others[places].tolist()]


def _form(
    value: Any, floats: list[float], walk: Walk, changed: dict[Hashable, int], depth: int = 0
) -> Hashable:
    """What a value is made of but for its numbers, and for the records that are ``changed``."""
    if isinstance(value, float):
        floats.append(float(value))
        return float
    if isinstance(value, (str, tuple)) and _is_among(value, changed):
        return Database, changed[value]
    if type(value) is str:
        floats += map(float, NUMBER.findall(value))
        return NUMBER.sub("0", value)
    if depth > DEPTH or isinstance(value, WHOLE):
        return walk.digest(value)
    if type(value) is Database:
        floats.append(float(len(value)))
        return Database
    if type(value) is not tuple and (words := plain(value)) is not None:
        return words
    parts = take_apart(value, lambda reason: None)
    # of a function its own floats and those it closes over count, not those of what it calls
    below = max(depth + 1, DEPTH) if isinstance(value, FunctionType) else depth + 1
    inner = [(tag, _form(child, floats, walk, changed, below)) for tag, child in parts.children]
    return parts.label, tuple(inner)


def _is_among(value: Any, records: dict[Hashable, int]) -> bool:
    try:
        return value in records
    except TypeError:
        return False
