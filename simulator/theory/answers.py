"""A number together with what is certain about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from simulator.errors import InvalidInput

Kind = Literal["upper", "exact", "lower", "approximation"]


@dataclass(frozen=True)
class Answer:
    """An epsilon or a delta: the value a bound states, and an interval that holds the truth.

    The truth is the least epsilon (or delta) that covers every adversary allowed to choose,
    adaptively, any mechanisms of the stated families. ``lower`` and ``upper`` are certain up to
    float round-off; they are 0 and infinity (or 1, for a delta) where nothing is.
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
    def of_kind(cls, kind: Kind, value: float, *, ceiling: float) -> Answer:
        """The interval that a single number of the given kind certifies, at most ``ceiling``."""
        lower = value if kind in ("exact", "lower") else 0.0
        upper = value if kind in ("exact", "upper") else ceiling
        return cls(value, lower, upper)
