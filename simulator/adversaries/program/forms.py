"""The closed form: instructions that are read, values that are known of them, and the machine.

An adversary is read in two stages. Its source becomes a list of *instructions*, each of which
applies one operation to named variables, jumps, or waits for an answer. The instructions are then
played on *values* of which only so much is known as the source says: an object, or the type of a
number. What results is a *machine*: segments of typed operations, with a state where it waits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simulator.foundations.errors import NotApplicable


class NotRead(NotApplicable):
    """A construct that is not in the closed form, with its place.

    Attributes
    ----------
    file, line : where it is written; line 0 where the source as a whole cannot be read.
    construct : what it is.
    """

    def __init__(self, file: str, line: int, construct: str) -> None:
        super().__init__(f"{file}:{line}: {construct}" if line else f"{file}: {construct}")
        self.file, self.line, self.construct = file, line, construct

    def __reduce__(self) -> tuple[type, tuple[str, int, str]]:
        return type(self), (self.file, self.line, self.construct)


Place = tuple[str, int]
"""A file and a line."""


# --- instructions -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Apply:
    """``target = operation(*operands)``; ``detail`` is what else the operation is made with."""

    target: str
    operation: str
    operands: tuple[str, ...]
    place: Place
    detail: Any = None


@dataclass
class Jump:
    """Go on at another instruction; with a ``test`` only where that variable is false."""

    to: int
    place: Place
    test: str = ""


@dataclass(frozen=True)
class Pause:
    """``target = yield challenge``; of a rule, ``challenge`` is what its step returns."""

    target: str
    challenge: str
    place: Place


@dataclass(frozen=True)
class End:
    """The adversary stops, or raises an error."""

    place: Place


Instruction = Apply | Jump | Pause | End
CHOSEN = "chosen"
"""The first word of variables that hold one of two numbers which are written down, in a rule. Play
decides them: a compiler makes no branch of them, which would be mispredicted."""


@dataclass(frozen=True)
class Listing:
    """An adversary as instructions.

    Attributes
    ----------
    coins : the variable that holds its coins.
    menu : the challenges of a rule, whose steps return an index into them; None of a generator.
    """

    name: str
    file: str
    instructions: tuple[Instruction, ...]
    coins: str
    menu: tuple[Any, ...] | None = None


# --- values -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Slot:
    """A number that play decides: the variable that holds it, and its type.

    ``kind`` is "int", "float" or "bool", with "np_" before it where Python would hold one of
    numpy's scalars, which differ in what raises.
    """

    name: str
    kind: str

    @property
    def base(self) -> str:
        """The type without regard to numpy."""
        return self.kind.removeprefix("np_")


@dataclass(frozen=True, eq=False)
class Static:
    """An object that is the same whenever the program gets there."""

    value: Any


@dataclass(frozen=True)
class Several:
    """A tuple, of which play decides some part."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class Span:
    """A range whose ends play decides; ``step`` is fixed."""

    start: Value
    stop: Value
    step: int


@dataclass(frozen=True)
class Made:
    """A mechanism with a computed privacy parameter; ``fixed`` are its other arguments."""

    kind: type
    fixed: tuple[tuple[str, Static], ...]
    parameter: Value


@dataclass(frozen=True, eq=False)
class Picked:
    """One of many fixed objects: that at a place which play decides."""

    objects: tuple[Any, ...]
    place: Slot


@dataclass(frozen=True)
class Coins:
    """The adversary's coins; with a ``method`` that method of them."""

    method: str = ""


@dataclass(frozen=True, eq=False)
class ArrayTable:
    """Numbers of an array, in the order of its memory."""

    values: np.ndarray

    def __len__(self) -> int:
        return len(self.values)


Value = Slot | Static | Several | Span | Made | Picked | Coins
Operand = Slot | int | float | bool


# --- the machine --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Do:
    """``target = operation(*operands)`` on numbers.

    Attributes
    ----------
    operation : its name in :mod:`simulator.adversaries.program.operations`, or a method of the
        coins.
    base : the type in which it is computed.
    table : the numbers that it looks up, or the ends of the allowed interval.
    place : where it is written, for messages.
    """

    target: Slot
    operation: str
    operands: tuple[Operand, ...]
    base: str = ""
    table: tuple[Any, ...] | ArrayTable = ()
    place: Place = field(default=("", 0), compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Branch:
    """Go on at ``then`` where the test is true, else at ``otherwise``."""

    test: Slot
    then: int
    otherwise: int


@dataclass(frozen=True)
class Wait:
    """A round: send a menu entry, and go on at ``resume`` with the answer in ``answer``.

    ``parameter`` is the entry's computed privacy parameter; None where it is fixed. The ``entry``
    may be computed; that of a rule then need not be one of the menu.
    """

    entry: Operand
    parameter: Operand | None
    resume: int
    answer: Slot | None
    live: tuple[Slot, ...] = ()


@dataclass
class Segment:
    """Operations in a row, and how they end.

    ``end`` is the number of the next segment, a Branch, a Wait, or None where the adversary stops,
    raises an error, or computes a number that the machine cannot hold.
    """

    place: Place = ("", 0)
    does: list[Do] = field(default_factory=list)
    end: int | Branch | Wait | None = None


@dataclass(frozen=True)
class MenuEntry:
    """A challenge of the menu.

    ``mechanism`` is a mechanism, or a :class:`Made` one, whose parameter a round computes.
    """

    database_0: Any
    database_1: Any
    mechanism: Any


@dataclass(frozen=True)
class Machine:
    """An adversary as a state machine; it starts at segment 0, with no number.

    The operation "the round" is the number of the round that comes, from 0. ``stopped`` is a place
    where it stops, if it may.
    """

    name: str
    file: str
    segments: tuple[Segment, ...]
    menu: tuple[MenuEntry, ...]
    stopped: Place | None = field(default=None, compare=False)

    @property
    def waits(self) -> tuple[Wait, ...]:
        """The rounds, in the order of their segments."""
        return tuple(segment.end for segment in self.segments if isinstance(segment.end, Wait))

    @property
    def points(self) -> tuple[tuple[int, Slot | None, tuple[Slot, ...]], ...]:
        """Where it goes on after a round: the segment, the slot of the answer, what is kept."""
        return tuple(dict.fromkeys((w.resume, w.answer, w.live) for w in self.waits))

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The numbers that are kept from round to round."""
        return tuple(dict.fromkeys(slot for wait in self.waits for slot in wait.live))
