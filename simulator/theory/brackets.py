"""Certified ends at several points."""

from __future__ import annotations

from collections.abc import Callable

from simulator.foundations.curves import Series, Several, several
from simulator.theory.bracket import Bracket


class Brackets(Series[Bracket]):
    """One bracket for each of several points: ``value``, ``lower`` and ``upper`` are arrays."""

    _noun = "bracket"


def brackets_at(
    name: str, points: float | Several, answer: Callable[[float], Bracket], of: str
) -> Bracket | Brackets:
    """The answer at one point, or the Brackets at several; InvalidInput unless they are numbers."""
    array = several(name, points)
    if array is None:
        return answer(points)  # type: ignore[arg-type]
    return Brackets(name, array, [answer(float(point)) for point in array], of)
