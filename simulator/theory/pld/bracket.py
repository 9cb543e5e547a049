"""A certified answer: the truth lies between two numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from simulator.foundations.errors import InvalidInput
from simulator.theory.stored import members_of, plain, written


@dataclass(frozen=True)
class Bracket:
    """The exact value is at least ``lower`` and at most ``upper`` (both may be infinite)."""

    lower: float
    upper: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", float(self.lower))
        object.__setattr__(self, "upper", float(self.upper))
        if not self.lower <= self.upper:
            raise InvalidInput(f"a bracket needs lower <= upper, got [{self.lower}, {self.upper}]")

    @property
    def width(self) -> float:
        """Distance of the ends; 0 for a point, also at infinity."""
        return 0.0 if self.lower == self.upper else self.upper - self.lower

    @property
    def midpoint(self) -> float:
        """A value inside; it carries no guarantee of its own."""
        return self.upper if math.isinf(self.upper) else self.lower + self.width / 2

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper

    def meet(self, other: Bracket) -> Bracket:
        """What two certified brackets of one number say together.

        Raises InvalidInput when they exclude each other: then one of them is not certified.
        """
        return Bracket(max(self.lower, other.lower), min(self.upper, other.upper))

    def to_json(self) -> str:
        """One line of JSON, from which :meth:`from_json` makes an equal bracket."""
        return written("bracket", {"lower": plain(self.lower), "upper": plain(self.upper)})

    @classmethod
    def from_json(cls, text: str) -> Bracket:
        """Inverse of :meth:`to_json`; raises InvalidInput with the path of what is wrong."""
        ends = members_of(text, "bracket", ("lower", "upper"))
        return cls(ends["lower"].number(), ends["upper"].number())
