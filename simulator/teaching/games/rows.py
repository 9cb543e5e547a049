"""The rows of a game: numbers of one quantity, and how each was come by."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from simulator.analysis.estimation import Estimate
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import instance, real
from simulator.theory.bracket import Bracket


class RowKind(StrEnum):
    """How a number was come by, and so what it must agree with."""

    EXACT = "exact"
    WORST = "worst case"
    REACHED = "reached"
    PLAYED = "played"
    BOUND = "bound"
    WRONG = "wrong claim"


@dataclass(frozen=True, kw_only=True)
class GameRow:
    """One number about a quantity.

    Attributes
    ----------
    quantity : what the number is about; rows with the same text are compared.
    kind : see :class:`RowKind`.
    what : the adversary, the method or the theorem.
    lower, upper : the ends; of a bound or a wrong claim only ``upper`` is stated.
    source : the paper and the theorem.
    error : the probability that the ends of a play are false; 0 where they are certain.
    """

    quantity: str
    kind: RowKind
    what: str
    lower: float
    upper: float
    source: str = ""
    error: float = 0.0

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            real(name, getattr(self, name))
        if not self.lower <= self.upper:
            raise InvalidInput(
                f"{self.what}: a row needs lower <= upper, not {self.lower} and {self.upper}"
            )

    @property
    def stated(self) -> bool:
        """Whether the number is stated by a theorem or a claim, and not attained."""
        return self.kind in (RowKind.BOUND, RowKind.WRONG)


def exact(quantity: str, what: str, value: Bracket | float, *, source: str = "") -> GameRow:
    """The value of the quantity itself, with certified ends where it is a Bracket."""
    return _ends(quantity, RowKind.EXACT, what, value, source)


def worst(quantity: str, what: str, value: Bracket | float, *, source: str = "") -> GameRow:
    """The largest value that any adversary reaches, by search."""
    return _ends(quantity, RowKind.WORST, what, value, source)


def reached(quantity: str, what: str, value: Bracket | float, *, source: str = "") -> GameRow:
    """The exact value that some adversaries reach, where others may reach more.

    It is compared with worst cases, bounds and claims, and not with what other adversaries reach.
    """
    return _ends(quantity, RowKind.REACHED, what, value, source)


def played(quantity: str, what: str, estimate: Estimate, *, source: str = "") -> GameRow:
    """The value that an adversary reached in plays; its ends hold with their confidence."""
    instance("estimate", estimate, Estimate)
    upper = float(estimate.upper) if estimate.upper_valid else math.inf
    lower = float(estimate.lower) if estimate.lower_valid else -math.inf
    return GameRow(
        quantity=quantity, kind=RowKind.PLAYED, what=what, lower=lower, upper=upper, source=source,
        error=1.0 - estimate.confidence,
    )  # fmt: skip


def bound(quantity: str, theorem: str, upper: float, *, source: str = "") -> GameRow:
    """A proved upper bound on the quantity, for every adversary."""
    return GameRow(
        quantity=quantity, kind=RowKind.BOUND, what=theorem, lower=-math.inf,
        upper=real("upper", upper), source=source,
    )  # fmt: skip


def wrong(quantity: str, claim: str, upper: float, *, source: str = "") -> GameRow:
    """What an accountant or a mechanism claims that is wrong: it must be exceeded."""
    return GameRow(
        quantity=quantity, kind=RowKind.WRONG, what=claim, lower=-math.inf,
        upper=real("upper", upper), source=source,
    )  # fmt: skip


def _ends(quantity: str, kind: RowKind, what: str, value: Bracket | float, source: str) -> GameRow:
    ends = value if isinstance(value, Bracket) else Bracket(value, value)
    return GameRow(
        quantity=quantity, kind=kind, what=what, lower=ends.lower, upper=ends.upper, source=source
    )
