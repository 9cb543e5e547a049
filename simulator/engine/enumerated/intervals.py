"""The interval of a number that is not known, and where decisions cut it.

An interval is cut where a comparison changes. Where arithmetic comes before the comparison, the cut
is found on the doubles themselves, as they round.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace

from simulator.mechanisms.gaussian import log_normal_between
from simulator.theory.inverse import first_without

FARTHEST = 1 << 62
"""The largest number of an atom, counted from the origin."""


@dataclass(frozen=True)
class Line:
    """A number known only by an interval.

    Attributes
    ----------
    name : for errors: "answer", "coin" or "round".
    low, high : the open interval; its ends have no mass, or lie between atoms. For a lattice
        ``low`` is the first atom inside, and ``high`` the first atom beyond.
    spacing : 0 for a continuous number, else the distance of its equally spaced atoms.
    origin : one of the atoms.
    lattice : whether the atoms are the values of a uniform coin: too many to list, with midpoints
        that are not doubles.
    between : the probability of an interval, of a coin; None of other numbers.
    """

    name: str
    low: float
    high: float
    _: KW_ONLY
    spacing: float = 0.0
    origin: float = 0.0
    lattice: bool = False
    between: Callable[[float, float], float] | None = None

    @property
    def probability(self) -> float:
        """The probability of the interval of a coin, otherwise 1."""
        return 1.0 if self.between is None else self.between(self.low, self.high)

    def parts(self, cut: float) -> list[tuple[bool, Line]]:
        """The parts below a cut between atoms, with True, and above it, with False."""
        if cut <= self.low:
            return [(False, self)]
        if cut >= self.high:
            return [(True, self)]
        return [(True, replace(self, high=cut)), (False, replace(self, low=cut))]

    def below(self, threshold: float, inclusive: bool) -> list[tuple[bool, Line]]:
        """The parts where the number is below the threshold (or at it), and where it is not."""
        if not math.isfinite(threshold):
            return [(threshold == math.inf, self)]
        if not self.spacing:
            return self.parts(threshold)
        if threshold < self.low or threshold > self.high:
            return [(threshold > self.high, self)]
        atoms = (threshold - self.origin) / self.spacing
        return self.parts(self.cut(math.floor(atoms) + 1 if inclusive else math.ceil(atoms)))

    def cut(self, first: int) -> float:
        """The end of the atoms before number ``first``."""
        return self.origin + (first if self.lattice else first - 0.5) * self.spacing

    def atoms(self, most: int) -> list[tuple[float, Line]] | None:
        """The atoms and their parts; None where there are more than ``most``, or a continuum."""
        if self.lattice or not self.spacing or not self.high - self.low <= most * self.spacing:
            return None
        first = math.ceil((self.low - self.origin) / self.spacing)
        last = math.floor((self.high - self.origin) / self.spacing)
        found = []
        for place in range(first, last + 1):
            part = replace(self, low=self.cut(place), high=self.cut(place + 1))
            found.append((self.origin + place * self.spacing, part))
        return found

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


def _exponential(low: float, high: float) -> float:
    return -math.exp(-low) * math.expm1(low - high)


BETWEEN: dict[str, Callable[[float, float], float]] = {
    "uniform": lambda low, high: high - low,
    "exponential": _exponential,
    "normal": lambda low, high: math.exp(log_normal_between(low, high)),
}
"""The probability that a standard coin of a law lies between two numbers of its support."""
