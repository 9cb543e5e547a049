"""The interval of an unknown number, and the decisions that narrow it.

An interval is cut where a comparison changes. Where the step computes before it compares, the cut
is found on the doubles themselves, as their arithmetic rounds.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable

from simulator.engine.enumerated.decisions import Script
from simulator.theory.inverse import first_without

FARTHEST = 1 << 62
"""The largest number of an atom, counted from the origin."""


class Line:
    """A number known only by an interval.

    Attributes
    ----------
    low, high : the open interval; its ends have no mass, or lie between atoms. For a lattice
        ``low`` is the first atom inside, and ``high`` the first atom beyond.
    name : for errors, such as "answer" or "coin".
    spacing : 0 for a continuous number, else the distance of its equally spaced atoms.
    origin : one of the atoms.
    lattice : whether the atoms are the values of a uniform coin: too many to list, with midpoints
        that are not doubles.
    """

    __slots__ = ("high", "lattice", "low", "name", "origin", "script", "spacing")

    def __init__(
        self, script: Script, name: str, low: float, high: float, *, spacing: float = 0.0,
        origin: float = 0.0, lattice: bool = False,
    ) -> None:  # fmt: skip
        self.script, self.name = script, name
        self.low, self.high = low, high
        self.spacing, self.origin, self.lattice = spacing, origin, lattice

    def below(self, threshold: float, inclusive: bool) -> bool:
        """Whether the number is below the threshold (or at it), decided where both are possible."""
        if not math.isfinite(threshold):
            return threshold == math.inf
        if not self.spacing:
            return self.below_cut(threshold)
        if threshold < self.low or threshold > self.high:
            return threshold > self.high
        atoms = (threshold - self.origin) / self.spacing
        return self.below_cut(self.cut(math.floor(atoms) + 1 if inclusive else math.ceil(atoms)))

    def cut(self, first: int) -> float:
        """The end of the atoms before number ``first``."""
        return self.origin + (first if self.lattice else first - 0.5) * self.spacing

    def below_cut(self, cut: float) -> bool:
        """Whether the number is below a cut between atoms, decided where both are possible."""
        if cut <= self.low:
            return False
        if cut >= self.high:
            return True
        if self.script.choose(2) == 0:
            self.high = cut
            return True
        self.low = cut
        return False

    def equals(self, value: float) -> bool:
        """Whether the number equals the value; never for a continuous one."""
        if not self.spacing:
            return False
        return not self.below(value, False) and self.below(value, True)

    def end_of(self, holds: Callable[[float], bool], near: float) -> float:
        """The cut below which ``holds`` is true of the number, and false above.

        ``near`` is the cut up to rounding.
        """
        if self.spacing:

            def of_atom(number: int) -> bool:
                return holds(self.origin + number * self.spacing)

            atoms = min(max((near - self.origin) / self.spacing, -FARTHEST), FARTHEST)
            guess = math.floor(atoms)
            return self.cut(first_without(of_atom, guess, FARTHEST))
        near = min(max(near, -sys.float_info.max), sys.float_info.max)
        margin = 4.0 * math.ulp(near)
        if holds(near - margin) and not holds(near + margin):
            return near
        first = first_without(lambda rank: holds(double_of(rank)), rank_of(near), rank_of(math.inf))
        return double_of(first)


def rank_of(number: float) -> int:
    """The rank of a double among all doubles, 0 for zero."""
    (bits,) = struct.unpack("<q", struct.pack("<d", abs(number)))
    return -bits if number < 0.0 else int(bits)


def double_of(rank: int) -> float:
    """The double of a rank."""
    (size,) = struct.unpack("<d", struct.pack("<q", abs(rank)))
    return -size if rank < 0 else float(size)
