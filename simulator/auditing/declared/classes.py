"""Challenges that differ in numbers alone, and the few of them that stand for all.

An adversary that chooses epsilon anew in every round meets a new mechanism each time. These are one
class: the databases, the type of the mechanism and all that it is made of are the same, but for
floats. Of a class the ends of each number's range and some in between are examined.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge
from simulator.data.databases import Database
from simulator.identity.anatomy import plain, take_apart
from simulator.identity.fingerprint import Walk

MOST_OF_A_CLASS = 16
"""Challenges of a class that are examined."""
ENDS = 4
"""Numbers of which both ends are certainly among them."""
DEPTH = 12
"""Levels of a mechanism below which a float does not count as a parameter."""
WHOLE = (Database, type, CodeType, ModuleType, np.ndarray)
"""What is compared as it is, with its floats."""


def representatives(challenges: Sequence[Challenge]) -> list[Challenge]:
    """At most MOST_OF_A_CLASS of each class, in the order that they have."""
    walk = Walk()
    classes: dict[Hashable, list[tuple[int, list[float]]]] = {}
    for place, challenge in enumerate(challenges):
        floats: list[float] = []
        form = _form(tuple(challenge), floats, walk)
        classes.setdefault(form, []).append((place, floats))
    chosen = set[int]()
    for members in classes.values():
        places = [place for place, _ in members]
        chosen.update(places[i] for i in _spread(np.array([floats for _, floats in members])))
    return [challenges[place] for place in sorted(chosen)]


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


def _form(value: Any, floats: list[float], walk: Walk, depth: int = 0) -> Hashable:
    """What a value is made of but for its floats, which are added to a list."""
    if isinstance(value, float):
        floats.append(float(value))
        return float
    if depth > DEPTH or isinstance(value, WHOLE):
        return walk.digest(value)
    if type(value) is not tuple and (words := plain(value)) is not None:
        return words
    parts = take_apart(value, lambda reason: None)
    # of a function its own floats and those it closes over count, not those of what it calls
    below = max(depth + 1, DEPTH) if isinstance(value, FunctionType) else depth + 1
    inner = [(tag, _form(child, floats, walk, below)) for tag, child in parts.children]
    return parts.label, tuple(inner)
