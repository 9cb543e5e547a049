"""The standard pairs of neighbouring inputs (Ding, Wang, Wang, Zhang and Kifer 2018, Table 2)."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import whole

Input: TypeAlias = tuple[float, ...]
Neighbours: TypeAlias = Literal["one coordinate", "all coordinates"]


def patterns(length: int, neighbours: Neighbours) -> tuple[tuple[Input, Input], ...]:
    """Pairs of neighbours of ``length`` coordinates, each in one order.

    With "one coordinate" the first alone moves, by one, down or up. With "all coordinates" there
    are also: the first one way and the rest the other, halves in opposite directions, all up, all
    down, and two halves that change places.
    """
    length = whole("length", length)
    if neighbours not in get_args(Neighbours):
        choices = " or ".join(map(repr, get_args(Neighbours)))
        raise InvalidInput(f"neighbours must be {choices}, not {neighbours!r}")
    rest, half = length - 1, length // 2
    other = length - half
    ones = (1.0,) * length
    moved: list[Input] = [(0.0, *(1.0,) * rest), (2.0, *(1.0,) * rest)]
    if neighbours == "one coordinate":
        return tuple((ones, each) for each in moved)
    moved += [
        (2.0, *(0.0,) * rest),
        (0.0, *(2.0,) * rest),
        (2.0,) * half + (0.0,) * other,
        (2.0,) * length,
        (0.0,) * length,
    ]
    crossed = ((1.0,) * half + (0.0,) * other, (0.0,) * half + (1.0,) * other)
    pairs = (*((ones, each) for each in moved), crossed)
    return tuple(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))
