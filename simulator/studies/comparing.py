"""Which points of two studies differ by more than chance."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from simulator.studies.points import Point
from simulator.studies.stopping import SURE

_ROUNDING = 1e-5
"""How far apart the values of one bound may be, relatively; those on a grid are off by 1e-6."""


@dataclass(frozen=True)
class Difference:
    """Two points about one quantity whose wide intervals have no number in common."""

    one: Point
    other: Point


@dataclass(frozen=True)
class Comparison:
    """What differs between two studies.

    Attributes
    ----------
    moved : quantities whose true values differ. If none does, any is listed with probability at
        most ``false_alarm``, for the whole table.
    compared : the number of quantities in both.
    only_one, only_other : points about quantities that the other study lacks.
    false_alarm : the sum, over the compared pairs, of the probabilities that an end misses.

    >>> from simulator.studies import collect, compare, grid
    >>> tasks = grid(None, "pure:0.1", [10, 20], "bound:basic epsilon(delta=1e-6)")
    >>> points = list(collect(tasks, jobs=1))
    >>> compare(points, points).compared
    2
    """

    moved: tuple[Difference, ...]
    compared: int
    only_one: tuple[Point, ...]
    only_other: tuple[Point, ...]
    false_alarm: float


def compare(one: Iterable[Point], other: Iterable[Point]) -> Comparison:
    """Compare the points about equal games and quantities, whatever their seeds and programs.

    Of several lines about one game and quantity the last counts.

    Each point has ends that miss its truth with probability 1e-6 at most. Two such intervals
    without a common number mean that the truths differ: where they are equal that happens with
    probability 2e-6 at most. The union bound over the table needs no independence. Two values of
    one bound differ where they are not equal up to rounding.

    >>> from simulator.studies import collect, compare, grid
    >>> tasks = grid(None, "pure:0.1", [10, 20], "bound:basic epsilon(delta=1e-6)")
    >>> compare(list(collect(tasks, jobs=1)), list(collect(tasks, jobs=1))).moved
    ()
    """
    first, second = _by_game(one), _by_game(other)
    both = [pair for game in first if game in second for pair in _pairs(first[game], second[game])]
    return Comparison(
        tuple(Difference(*pair) for pair in both if _apart(*pair)),
        len(both),
        _others(first, {pair[0].subject for pair in both}),
        _others(second, {pair[1].subject for pair in both}),
        min(1.0, sum(_miss(point) for pair in both for point in pair)),
    )


_Runs = dict[tuple[int, str], Point]
"""The points about one quantity of one game, by seed and metadata."""


def _by_game(points: Iterable[Point]) -> dict[tuple[object, ...], _Runs]:
    found: dict[tuple[object, ...], _Runs] = {}
    for p in points:
        if p.stopped != "failed":
            game = (p.adversary, p.family, p.rounds, p.relation, p.filter, p.experiment, p.quantity)
            found.setdefault(game, {})[p.seed, p.metadata] = p
    return found


def _pairs(one: _Runs, other: _Runs) -> list[tuple[Point, Point]]:
    # Of equal seed and metadata; where there are none, the last of each.
    same = [(one[run], other[run]) for run in one if run in other]
    return same or [(list(one.values())[-1], list(other.values())[-1])]


def _others(found: dict[tuple[object, ...], _Runs], paired: set[object]) -> tuple[Point, ...]:
    points = [point for runs in found.values() for point in runs.values()]
    return tuple(point for point in points if point.subject not in paired)


def _apart(one: Point, other: Point) -> bool:
    if one.computed and other.computed and one.quantity.startswith("bound"):
        return not math.isclose(one.value, other.value, rel_tol=_ROUNDING)
    return one.sure_upper < other.sure_lower or other.sure_upper < one.sure_lower


def _miss(point: Point) -> float:
    return 0.0 if point.computed else SURE
