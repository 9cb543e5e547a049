"""Certified ends at several points."""

from __future__ import annotations

from collections.abc import Callable

from simulator.foundations.curves import Series, Several, several
from simulator.theory.bracket import Bracket


class Brackets(Series[Bracket]):
    """One bracket for each of several points: ``value``, ``lower`` and ``upper`` are arrays.

    >>> from simulator import Composition, PureDP
    >>> from simulator.theory import bound
    >>> answers = bound("basic").on(Composition.repeat(PureDP(0.25), 4)).delta([0.5, 1.0])
    >>> (answers.upper >= answers.lower).tolist()
    [True, True]
    """

    _noun = "bracket"


def brackets_at(
    name: str, points: float | Several, answer: Callable[[float], Bracket], of: str
) -> Bracket | Brackets:
    """The answer at one point, or the Brackets at several; InvalidInput unless they are numbers."""
    array = several(name, points)
    if array is None:
        return answer(points)  # type: ignore[arg-type]
    return Brackets(name, array, [answer(float(point)) for point in array], of)
