"""A number together with what is certain about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from simulator.foundations.errors import InvalidInput

Kind = Literal["upper", "exact", "lower", "approximation"]


@dataclass(frozen=True)
class Answer:
    """An epsilon or a delta: the value a bound states, and an interval that holds the truth.

    The truth is the least epsilon (or delta) that covers every adversary allowed to choose,
    adaptively, any mechanisms of the stated families. ``lower`` and ``upper`` are certain, the
    rounding of doubles included, so an exact answer is an interval as well: its width is what it is
    exact to. They are 0 and infinity (or 1, for a delta) where nothing is certain.
    """

    value: float
    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise InvalidInput(f"lower {self.lower!r} must not exceed upper {self.upper!r}")

    def __float__(self) -> float:
        return self.value

    @classmethod
    def of_ends(
        cls, kind: Kind, value: float, ends: tuple[float, float], *, ceiling: float
    ) -> Answer:
        """The interval that a number of the given kind certifies, at most ``ceiling``.

        ``ends`` are the number rounded down and up; the value is moved between them.
        """
        lower = max(0.0, ends[0]) if kind in ("exact", "lower") else 0.0
        upper = min(ceiling, ends[1]) if kind in ("exact", "upper") else ceiling
        if kind in ("exact", "upper"):
            value = min(value, upper)
        return cls(max(value, lower), lower, upper)
