"""Which points of two studies differ by more than chance."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from simulator.study.points import Point
from simulator.study.stopping import SURE

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
    """

    moved: tuple[Difference, ...]
    compared: int
    only_one: tuple[Point, ...]
    only_other: tuple[Point, ...]
    false_alarm: float


def compare(one: Iterable[Point], other: Iterable[Point]) -> Comparison:
    """Compare the points about equal games and quantities, whatever their seeds and programs.

    Each point has ends that miss its truth with probability 1e-6 at most. Two such intervals
    without a common number mean that the truths differ: where they are equal that happens with
    probability 2e-6 at most. The union bound over the table needs no independence. Two values of
    one bound differ where they are not equal up to rounding.
    """
    first, second = _by_game(one), _by_game(other)
    both = [key for key in first if key in second]
    moved = tuple(
        Difference(first[key], second[key]) for key in both if _apart(first[key], second[key])
    )
    chance = sum(_miss(first[key]) + _miss(second[key]) for key in both)
    return Comparison(
        moved,
        len(both),
        tuple(point for key, point in first.items() if key not in second),
        tuple(point for key, point in second.items() if key not in first),
        min(1.0, chance),
    )


def _by_game(points: Iterable[Point]) -> dict[tuple[object, ...], Point]:
    return {
        (p.adversary, p.family, p.rounds, p.relation, p.filter, p.experiment, p.quantity): p
        for p in points
        if p.stopped != "failed"
    }


def _apart(one: Point, other: Point) -> bool:
    if one.computed and other.computed and one.quantity.startswith("bound"):
        return not math.isclose(one.value, other.value, rel_tol=_ROUNDING)
    return one.sure_upper < other.sure_lower or other.sure_upper < one.sure_lower


def _miss(point: Point) -> float:
    return 0.0 if point.computed else SURE
