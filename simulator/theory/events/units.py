"""What a unit is: which records neighbours differ in, and by how much one of them moves a sum.

A noise multiplier, a sensitivity, a guarantee mean something only for a unit. With each record's
value clipped to norm C, a record that is added moves a sum by C, one that is replaced by 2C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from simulator.foundations.errors import InvalidInput
from simulator.theory.parameters import count, positive

Neighbours = Literal["add-remove", "replace-one", "replace-special"]

ADD_REMOVE: Neighbours = "add-remove"
"""Neighbours differ by one record that is added or removed: D0 is without Alice, D1 with her."""

REPLACE_ONE: Neighbours = "replace-one"
"""Neighbours differ by one record that is replaced by any other one."""

REPLACE_SPECIAL: Neighbours = "replace-special"
"""Neighbours differ by one record that is replaced by a special one, which adds 0 to every sum."""

PRESENT_OR_NOT = (ADD_REMOVE, REPLACE_SPECIAL)
"""Relations under which a record's value is in a sum, or 0 is."""

RELATIONS = (ADD_REMOVE, REPLACE_ONE, REPLACE_SPECIAL)
"""Every relation by its name."""


@dataclass(frozen=True)
class Unit:
    """What two neighbours differ by.

    Attributes
    ----------
    relation : ``add-remove``, ``replace-one`` or ``replace-special``.
    records : how many differ: those of a group or a person, added, removed or replaced together.
    clip : C, at least the norm of every record's value.

    >>> from simulator.theory.events import Unit
    >>> Unit("replace-one", clip=2.0).moves
    4.0
    """

    relation: Neighbours = ADD_REMOVE
    records: int = 1
    clip: float = 1.0

    def __post_init__(self) -> None:
        if not (isinstance(self.relation, str) and self.relation in RELATIONS):
            known = " or ".join(RELATIONS)
            raise InvalidInput(f"relation must be {known}, not {self.relation!r}")
        object.__setattr__(self, "records", count("records", self.records))
        positive("clip", self.clip)

    @property
    def moves(self) -> float:
        """By how much one record moves a sum at most: C where 0 stands for it, otherwise 2C."""
        return self.clip * (2.0 if self.relation == REPLACE_ONE else 1.0)

    @property
    def once(self) -> Unit:
        """The unit of one record."""
        return Unit(self.relation, 1, self.clip)

    def __str__(self) -> str:
        group = "" if self.records == 1 else f", groups of {self.records}"
        return f"{self.relation}{group}"


ONE_RECORD = Unit()
"""One record is added or removed."""
