"""Compare the rows of a game: bounds hold, wrong claims are exceeded, numbers agree."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from simulator.foundations.errors import InvalidInput
from simulator.teaching.games.rows import GameRow, RowKind

ROUNDING = 1e-9
"""Relative rounding that is allowed between two exact numbers."""


class Standing(StrEnum):
    """What a row is beside the others of its quantity."""

    AGREES = "agrees"
    HOLDS = "holds"
    CAUGHT = "exceeded, as it must be"
    EXCEEDED = "exceeded"
    NOT_CAUGHT = "not exceeded"
    CONTRADICTS = "contradicts another row"

    @property
    def as_expected(self) -> bool:
        """Whether a game whose rows are right has this standing."""
        return self in (Standing.AGREES, Standing.HOLDS, Standing.CAUGHT)


@dataclass(frozen=True)
class JudgedRow:
    """A row and its standing; ``slack`` is what a bound or claim states over what is attained."""

    row: GameRow
    standing: Standing
    slack: float | None = None


@dataclass(frozen=True)
class GameOutcome:
    """The rows of one play of a game, compared.

    Attributes
    ----------
    name : the game's.
    parameters : its knobs, as they were.
    rows : in the order in which the game yields them.
    changed : whether some knob was changed. A wrong claim may hold at other values.
    """

    name: str
    parameters: dict[str, Any]
    rows: tuple[GameRow, ...]
    changed: bool = False

    @cached_property
    def judged(self) -> tuple[JudgedRow, ...]:
        """Every row with its standing."""
        return tuple(_judged(row, [r for r in self.rows if r.quantity == row.quantity])
                     for row in self.rows)  # fmt: skip

    @property
    def as_expected(self) -> bool:
        """Whether all bounds hold, all wrong claims are exceeded, and nothing contradicts."""
        return all(
            each.standing.as_expected or (self.changed and each.standing is Standing.NOT_CAUGHT)
            for each in self.judged
        )

    @property
    def quantities(self) -> tuple[str, ...]:
        """The quantities, in the order of their first rows."""
        return tuple(dict.fromkeys(row.quantity for row in self.rows))

    @property
    def error(self) -> float:
        """A bound on the probability that some play's ends are false."""
        return min(1.0, math.fsum(row.error for row in self.rows))

    def row(self, what: str, quantity: str | None = None) -> GameRow:
        """The first row of that ``what``; raises InvalidInput where there is none."""
        for row in self.rows:
            if row.what == what and quantity in (None, row.quantity):
                return row
        raise InvalidInput(f"the game {self.name} has no row {what!r}")

    def as_dict(self) -> dict[str, Any]:
        """Name, parameters, error, and rows with their standings; fit for JSON."""
        return {
            "game": self.name,
            "parameters": {name: _plain(value) for name, value in self.parameters.items()},
            "as_expected": self.as_expected,
            "error": self.error,
            "rows": [
                asdict(each.row) | {"standing": str(each.standing), "slack": each.slack}
                for each in self.judged
            ],
        }


def outcome_of(
    name: str, parameters: dict[str, Any], rows: Iterable[GameRow], changed: bool = False
) -> GameOutcome:
    """The outcome of rows; raises InvalidInput for what is no row, and for none."""
    listed = tuple(rows)
    for row in listed:
        if not isinstance(row, GameRow):
            raise InvalidInput(f"the game {name} must yield rows, not {row!r:.80}")
    if not listed:
        raise InvalidInput(f"the game {name} yielded no row")
    return GameOutcome(name, parameters, listed, changed)


def _judged(row: GameRow, same: list[GameRow]) -> JudgedRow:
    attained = max((r.lower for r in same if not r.stated and r is not row), default=-math.inf)
    if not row.stated:
        return JudgedRow(row, _agreement(row, same))
    exceeded = attained > row.upper * (1.0 + math.copysign(ROUNDING, row.upper))
    if row.kind is RowKind.BOUND:
        standing = Standing.EXCEEDED if exceeded else Standing.HOLDS
    else:
        standing = Standing.CAUGHT if exceeded else Standing.NOT_CAUGHT
    return JudgedRow(row, standing, row.upper / attained if attained > 0.0 else None)


def _agreement(row: GameRow, same: list[GameRow]) -> Standing:
    """Whether a value meets the other exact values, and no adversary is above the worst one."""
    margin = ROUNDING * max(abs(row.upper), abs(row.lower)) if math.isfinite(row.lower) else 0.0
    for other in same:
        if other is row or other.stated:
            continue
        above = other.lower > row.upper + margin
        below = other.upper < row.lower - margin
        if row.kind is RowKind.WORST and above:
            return Standing.CONTRADICTS
        if other.kind is RowKind.WORST and below:
            return Standing.CONTRADICTS
        values = (RowKind.EXACT, RowKind.PLAYED)
        if RowKind.EXACT in (row.kind, other.kind) and {row.kind, other.kind} <= {*values} and (
            above or below
        ):  # fmt: skip
            return Standing.CONTRADICTS
    return Standing.AGREES


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
