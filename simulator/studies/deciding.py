"""Which open quantities of a study are decided: a comparison of which they are a part is settled.

Every point's interval stays valid however often one looks, so a look may depend on what other tasks
showed. A comparison is wrong only if one of its intervals misses: where n points are compared, with
probability n (1 - confidence) at most, by the union bound.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

from simulator.studies.points import Point
from simulator.studies.quantities import Quantity

Key = tuple[str, str, int]


def ordered(points: Iterable[Point]) -> set[Key]:
    """The keys of points whose interval has no number in common with any other adversary's.

    Compared are points about one quantity of one family, number of rounds, relation, filter and
    experiment. A point without an interval leaves the others of its comparison undecided.
    """
    compared: dict[tuple[object, ...], list[Point]] = defaultdict(list)
    for p in points:
        if not Quantity.parse(p.quantity).of_family and p.stopped != "failed":
            game = p.family, p.rounds, p.relation, p.filter, p.experiment, p.quantity
            compared[game].append(p)
    return {
        point.key
        for group in compared.values()
        if len({p.adversary for p in group}) > 1
        for point in group
        if all(_apart(point, p) for p in group if p.adversary != point.adversary)
    }


def beside_bounds(points: Iterable[Point]) -> set[Key]:
    """The keys of points whose interval is on one side of each bound on the same quantity."""
    limits: dict[tuple[object, ...], list[float]] = defaultdict(list)
    measured: list[tuple[tuple[object, ...], Point]] = []
    for p in points:
        quantity = Quantity.parse(p.quantity)
        place = p.task, quantity.kind, quantity.at  # a bound is one of both experiments
        if quantity.source == "bound" and math.isfinite(p.value):
            limits[place].append(p.value)
        elif not quantity.of_family and p.stopped != "failed":
            measured.append((place, p))
    return {
        p.key
        for place, p in measured
        if limits[place] and all(p.upper <= end or p.lower > end for end in limits[place])
    }


def _apart(one: Point, other: Point) -> bool:
    return one.upper < other.lower or other.upper < one.lower


DECISIONS = {"order": ordered, "bounds": beside_bounds}
"""What a study may decide: which adversary has more, and whether a bound holds."""
