"""Certified ends of a number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from html import escape
from typing import Literal

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.validation import real
from simulator.foundations.wording import rounded
from simulator.theory.stored import members_of, plain, written

_SHOWN = 8  # digits of a printed bracket
Kind = Literal["upper", "exact", "fixed-pair", "lower", "approximation", "estimate"]
"""What a bound is: a certain end, the exact value, the value where every round has the same pair of
databases (a lower end for the family), an approximation, or an estimate from draws, whose ends hold
with a stated confidence."""


@dataclass(frozen=True)
class Bracket:
    """An interval that contains the exact value, rounding errors included.

    Attributes
    ----------
    lower, upper : the ends; both may be infinite.
    value : the stated number, ``upper`` by default. An approximation has trivial ends: 0 and 1, or
        0 and infinity.

    ``lower, upper = bracket`` unpacks the ends. ``bracket < 2.0``, and ``<=``, ``>``, ``>=`` with a
    number or a bracket, compare the exact values where the ends decide, and raise NotApplicable
    where they do not. Two brackets are equal where their ends and values are.

    >>> from simulator.theory import Bracket
    >>> exact = Bracket(0.25, 0.5)
    >>> exact.midpoint, exact.width, 0.3 in exact, exact.meet(Bracket(0.4, 0.75))
    (0.375, 0.25, True, Bracket(lower=0.4, upper=0.5, value=0.5))
    """

    lower: float
    upper: float
    value: float = math.nan

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            object.__setattr__(self, name, real(name, getattr(self, name)))
        if not self.lower <= self.upper:
            raise InvalidInput(f"a bracket needs lower <= upper, got [{self.lower}, {self.upper}]")
        stated = float(self.value)
        object.__setattr__(self, "value", self.upper if math.isnan(stated) else stated)

    @classmethod
    def stated(
        cls, kind: Kind, value: float, ends: tuple[float, float] | Bracket, *, ceiling: float
    ) -> Bracket:
        """The bracket of a number of the given kind, at most ``ceiling``.

        ``ends`` are the number rounded down and up; the value is moved between them.
        """
        low, high = ends
        lower = max(0.0, low) if kind in ("exact", "lower") else 0.0
        upper = min(ceiling, high) if kind in ("exact", "upper") else ceiling
        if kind in ("exact", "upper"):
            value = min(value, upper)
        return cls(lower, upper, max(value, lower))

    @classmethod
    def largest(cls, brackets: Iterable[Bracket]) -> Bracket:
        """Bracket of the largest of several numbers.

        >>> from simulator.theory import Bracket
        >>> most = Bracket.largest([Bracket(0.1, 0.4), Bracket(0.2, 0.3)])
        >>> most.lower, most.upper
        (0.2, 0.4)
        """
        each = list(brackets)
        return cls(max(one.lower for one in each), max(one.upper for one in each))

    def __iter__(self) -> Iterator[float]:
        return iter((self.lower, self.upper))

    def __float__(self) -> float:
        return self.value

    def __lt__(self, other: float | Bracket) -> bool:
        return self._decided(other, self.upper < _ends(other)[0], self.lower >= _ends(other)[1])

    def __le__(self, other: float | Bracket) -> bool:
        return self._decided(other, self.upper <= _ends(other)[0], self.lower > _ends(other)[1])

    def __gt__(self, other: float | Bracket) -> bool:
        return self._decided(other, self.lower > _ends(other)[1], self.upper <= _ends(other)[0])

    def __ge__(self, other: float | Bracket) -> bool:
        return self._decided(other, self.lower >= _ends(other)[1], self.upper < _ends(other)[0])

    def _decided(self, other: float | Bracket, yes: bool, no: bool) -> bool:
        if yes or no:
            return yes
        raise NotApplicable(
            f"the ends do not decide whether a number {self} is above or below {other}: compare "
            "an end, as bracket.upper < 2.0"
        )

    def __str__(self) -> str:
        low = rounded(self.lower, ROUND_FLOOR)
        high = rounded(self.upper, ROUND_CEILING)
        trivial = self.lower == 0.0 and self.upper in (1.0, math.inf)
        if trivial and self.value not in (self.lower, self.upper):
            return f"about {self.value:.{_SHOWN}g}, between {low} and {high}"
        if self.lower == 0.0 < self.upper:
            return f"at most {high}"
        return f"at least {low}" if math.isinf(self.upper) else f"between {low} and {high}"

    def _repr_html_(self) -> str:
        return f"<code>{escape(str(self))}</code>"

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper

    @property
    def width(self) -> float:
        """Distance of the ends; 0 where they are equal, also at infinity."""
        return 0.0 if self.lower == self.upper else self.upper - self.lower

    @property
    def midpoint(self) -> float:
        """The middle of the interval; ``upper`` where that is infinite."""
        return self.upper if math.isinf(self.upper) else self.lower + self.width / 2

    def meet(self, other: Bracket) -> Bracket:
        """The intersection of two brackets of one number.

        Raises InvalidInput when they are disjoint.

        >>> from simulator.theory import Bracket
        >>> both = Bracket(0.4, 0.6).meet(Bracket(0.5, 0.7))
        >>> both.lower, both.upper
        (0.5, 0.6)
        """
        return Bracket(max(self.lower, other.lower), min(self.upper, other.upper))

    def to_json(self) -> str:
        """One line of JSON, from which :meth:`from_json` makes a bracket with equal ends."""
        return written("bracket", {"lower": plain(self.lower), "upper": plain(self.upper)})

    @classmethod
    def from_json(cls, text: str) -> Bracket:
        """Inverse of :meth:`to_json`; raises InvalidInput with the path of what is wrong."""
        ends = members_of(text, "bracket", ("lower", "upper"))
        return cls(ends["lower"].number(), ends["upper"].number())


def _ends(other: float | Bracket) -> tuple[float, float]:
    if isinstance(other, Bracket):
        return other.lower, other.upper
    number = real("a number that a bracket is compared with", other)
    if math.isnan(number):
        raise InvalidInput("a bracket is compared with a number, not with NaN")
    return number, number
