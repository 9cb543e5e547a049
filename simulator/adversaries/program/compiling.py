"""Write the step of a machine as Python, which numba compiles.

The step continues from one wait to the next. Its state is the number of the wait, all numbers that
some wait keeps, and the floats that the source fixes: they are no part of the text, so adversaries
that differ in a budget or a threshold share one kernel. Blocks are nested where control flow is, so
that a compiler sees branches; a segment to which several ways lead that do not meet there is a
point of its own, as a wait is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.adversaries.program.forms import (
    ArrayTable,
    Branch,
    Do,
    Machine,
    NotRead,
    Operand,
    Segment,
    Slot,
    Wait,
)
from simulator.adversaries.program.operations import DRAWS, HELPERS, TYPED

STOPPED = -1
"""The move where Python has to play: the adversary stops, raises, or a number is not held."""

LONGEST = 500
"""Lines of a step in which segments are written again for every point that leads to them."""
MOST_POINTS = 1000
"""Points of a step besides its rounds: for each one the whole text is written again."""
MOST_TURNS = 10**7
"""Points that a step passes without a round; a loop without an end is left to Python, which can be
interrupted."""
DEEPEST = 40
"""Branches within branches, of which Python takes at most 100."""
MOST_CONSTANTS = 24
"""Floats of a program that its state holds, so that programs that differ in them share a kernel."""
TYPES: dict[str, Any] = {"int": int, "float": float, "bool": bool}


@dataclass(frozen=True)
class Step:
    """A step function over a menu, its text, and its first state."""

    function: Callable[..., Any]
    text: str
    state: tuple[int | float | bool, ...]


class Again(Exception):
    """A segment has to be a point of its own."""


def step_of(machine: Machine) -> Step:
    """The step of a machine: ``step(state, round, answer, coins) -> (state, move, parameter)``.

    Raises NotRead.
    """
    points: dict[int, None] = {}
    shares = False
    while True:
        writer = StepWriter(machine, tuple(points), shares)
        try:
            text = writer.text()
        except Again as found:
            points[found.args[0]] = None
            if len(points) > MOST_POINTS:
                raise NotRead(machine.file, 0, f"{machine.name} has too many branches") from None
            continue
        except TooLong:
            shares = True
            continue
        namespace: dict[str, Any] = {"math": math, "np": np, "nan": math.nan, "inf": math.inf}
        namespace |= HELPERS | writer.tables | {"__name__": __name__}
        exec(compile(text, f"<{machine.name}>", "exec"), namespace)
        first = writer.first or {}
        state = (0, *(first.get(slot, TYPES[slot.base](0)) for slot in machine.slots))
        state += tuple(map(float, writer.constants))
        return Step(namespace["step"], text, state)


class TooLong(Exception):
    """Segments have to be written once for all points."""


class StepWriter:
    """Writes the text of one step.

    Attributes
    ----------
    points : the segments that are points, besides the first and those where waits resume.
    shares : whether a segment is written once for all points.
    written : the segments written for the point; with ``shares`` for all.
    reach : of a segment those that a way from it passes in the step.
    first : the numbers with which the machine begins at the first of ``resumed``; None where it
        begins elsewhere.
    constants : the name of each float that the state holds, by its digits.
    """

    def __init__(self, machine: Machine, points: tuple[int, ...], shares: bool) -> None:
        self.machine, self.points, self.shares = machine, points, shares
        self.names: dict[Slot, str] = {}
        self.mentioned: set[Slot] = set()
        self.tables: dict[str, np.ndarray] = {}
        self.lines: list[str] = []
        self.written: set[int] = set()
        self.first = numbers_at_first(machine)
        resumed = [(w.resume, w.answer) for w in machine.waits]
        if self.first is not None:  # the point where the machine begins has number 0
            resumed.sort(key=lambda point: point[0] != machine.segments[0].end)
        self.resumed = tuple(dict.fromkeys(resumed))
        self.before = 1 if self.first is None else 0
        self.constants = constants_of(machine)
        slots = [self.name(slot) for slot in machine.slots]
        self.state = ", ".join([*slots, *self.constants.values()])
        self.fresh = 0
        self.reach: dict[int, frozenset[int]] = {}

    def text(self) -> str:
        """The whole step; raises Again and TooLong."""
        starts: list[tuple[int, Slot | None]] = [] if self.before == 0 else [(0, None)]
        starts += [*self.resumed, *((segment, None) for segment in self.points)]
        several = bool(self.points)
        self.line(0, "def step(state, round, answer, coins):")
        self.line(1, f"point, {self.state} = state" if self.state else "point, = state")
        head = len(self.lines)
        if several:
            self.line(1, f"for _ in range({MOST_TURNS}):")
        sections: list[set[Slot]] = []
        for number, (segment, answer) in enumerate(starts):
            self.mentioned = set()
            sections.append(self.mentioned)
            depth = 2 if several else 1
            if number + 1 < len(starts):
                self.line(depth, f"if point == {number}:")
                depth += 1
            if answer is not None:
                self.line(depth, f"{self.name(answer)} = answer")
            if not self.shares:
                self.written.clear()
            # of a point to which a round leads the shared text stands at the point
            here = not self.shares or number >= len(starts) - len(self.points)
            self.segment(segment, None, depth, first=here)
        if several:
            self.stop(1)
        # numba takes no variable that is assigned below its use
        shared = [slot for slot in self.names if slot not in self.machine.slots
                  and sum(slot in section for section in sections) > 1]  # fmt: skip
        for slot in shared if several else ():
            first = TYPES[slot.base](0)
            self.lines.insert(head, f"    {self.name(slot)} = {first!r}")
        return "\n".join(self.lines) + "\n"

    def line(self, depth: int, text: str) -> None:
        """Append a line; raises TooLong."""
        if len(self.lines) > LONGEST and not self.shares:
            raise TooLong
        self.lines.append("    " * depth + text)

    def name(self, slot: Slot) -> str:
        """The name of a slot in the text."""
        self.mentioned.add(slot)
        if slot not in self.names:
            word = "".join(c if c.isalnum() and c.isascii() else "_" for c in slot.name)
            self.names[slot] = f"{'v' if word[0].isdigit() else ''}{word}_{len(self.names)}"
        return self.names[slot]

    def operand(self, operand: Operand) -> str:
        """An operand in the text; of NaN and the infinities the name."""
        if isinstance(operand, Slot):
            return self.name(operand)
        if isinstance(operand, float) and repr(operand) in self.constants:
            return self.constants[repr(operand)]
        return f"({operand!r})" if operand < 0 or repr(operand)[0] == "-" else repr(operand)

    def segment(self, number: int, follow: int | None, depth: int, first: bool = False) -> None:
        """Write a segment and what comes after it, up to ``follow``."""
        if number == follow:
            return
        if number in self.points and not first:
            place = self.before + len(self.resumed) + self.points.index(number)
            self.line(depth, f"point = {place}")
            self.line(depth, "continue")
            return
        if number in self.written or depth > DEEPEST:
            raise Again(number)
        self.written.add(number)
        segment = self.machine.segments[number]
        for do in segment.does:
            self.do(do, depth)
        if segment.end is None:
            self.stop(depth)
        elif isinstance(segment.end, Wait):
            self.wait(segment.end, depth)
        elif isinstance(segment.end, Branch):
            self.branch(number, segment.end, follow, depth)
        else:
            self.segment(segment.end, follow, depth)

    def branch(self, number: int, branch: Branch, follow: int | None, depth: int) -> None:
        """Write both ways, and what comes after they have met."""
        then, otherwise, test = branch.then, branch.otherwise, self.name(branch.test)
        both = self.reached(then) & self.reached(otherwise)
        if not both:  # at most one of them goes on to ``follow``
            if follow is not None and follow in self.reached(then):
                then, otherwise, test = otherwise, then, f"not {test}"
            self.line(depth, f"if {test}:")
            self.segment(then, follow, depth + 1)
            self.segment(otherwise, follow, depth)
            return
        join = self.entrance(both, (then, otherwise))
        if then == join:
            then, otherwise, test = otherwise, then, f"not {test}"
        if then != join:
            self.line(depth, f"if {test}:")
            self.segment(then, join, depth + 1)
            if otherwise != join:
                self.line(depth, "else:")
                self.segment(otherwise, join, depth + 1)
        if join is not None:
            self.segment(join, follow, depth)

    def reached(self, number: int) -> frozenset[int]:
        """The segments that a way from here passes before a point."""
        if number not in self.reach:
            found, todo = set(), [number]
            while todo:
                each = todo.pop()
                if each not in found and each not in self.points:
                    found.add(each)
                    todo += next_segments(self.machine.segments[each])
            self.reach[number] = frozenset(found)
        return self.reach[number]

    def entrance(self, both: frozenset[int], starts: tuple[int, int]) -> int | None:
        """The only one of the segments to which ways from outside of them lead, or None."""
        outside = (self.reached(starts[0]) | self.reached(starts[1])) - both
        led = {each for number in outside for each in next_segments(self.machine.segments[number])}
        entrances = (led | set(starts)) & both
        return entrances.pop() if len(entrances) == 1 else None

    def do(self, do: Do, depth: int) -> None:
        """Write one operation and its conditions."""
        kind, _, method = do.operation.partition("coins.")
        typed = DRAWS[method][2] if not kind else TYPED[do.operation, do.base]
        operands = [self.operand(each) for each in do.operands]
        words: dict[str, Any] = {}
        if isinstance(do.table, tuple):
            words = {f"t{i}": each for i, each in enumerate(do.table[:2])}
        if "{t}" in typed.text:
            words["t"] = self.table(do)
        if typed.before:
            self.line(depth, f"if {typed.before.format(*operands, **words)}:")
            self.stop(depth + 1)
        target, result = self.name(do.target), typed.text.format(*operands, **words)
        if not typed.after:
            self.line(depth, f"{target} = {result}")
            return
        self.fresh += 1
        found = f"result_{self.fresh}"
        self.line(depth, f"{found} = {result}")
        self.line(depth, f"if {typed.after.format(*operands, r=found, **words)}:")
        self.stop(depth + 1)
        self.line(depth, f"{target} = {found}")

    def table(self, do: Do) -> str:
        """The name of a table."""
        types = {"int": np.int64, "float": np.float64, "bool": np.bool_}
        held = do.table.values if isinstance(do.table, ArrayTable) else do.table
        values: np.ndarray = np.array(held, dtype=types[do.base])
        for name, held in self.tables.items():
            if held.dtype == values.dtype and held.tobytes() == values.tobytes():
                return name
        name = f"table_{len(self.tables)}"
        self.tables[name] = values
        return name

    def wait(self, wait: Wait, depth: int) -> None:
        """Write the return of a move."""
        place = self.before + self.resumed.index((wait.resume, wait.answer))
        parameter = "nan" if wait.parameter is None else self.operand(wait.parameter)
        self.line(depth, f"return {self.packed(place)}, {self.operand(wait.entry)}, {parameter}")

    def stop(self, depth: int) -> None:
        """Write the return of no move."""
        self.line(depth, f"return {self.packed(0)}, {STOPPED}, nan")

    def packed(self, point: int) -> str:
        """The state in the text."""
        return f"({point}, {self.state})" if self.state else f"({point},)"


def numbers_at_first(machine: Machine) -> dict[Slot, int | float | bool] | None:
    """The numbers with which a machine begins where it also goes on after a round, or None.

    The answer before the first round is NaN there.
    """
    first = machine.segments[0]
    answers = {answer for resume, answer, _ in machine.points if resume == first.end}
    if len(answers) != 1 or not all(do.operation == "copy" for do in first.does):
        return None
    given = [(do.target, do.operands[0]) for do in first.does]
    copied = {slot: number for slot, number in given if not isinstance(number, Slot)}
    (answer,) = answers
    if answer is not None and not math.isnan(copied.get(answer, 0.0)):
        return None
    return copied if len(copied) == len(given) else None


def constants_of(machine: Machine) -> dict[str, str]:
    """A name for each finite float among the operands, by its digits; none where there are many."""
    found = dict.fromkeys(
        repr(operand)
        for segment in machine.segments
        for do in segment.does
        for operand in do.operands
        if isinstance(operand, float) and math.isfinite(operand)
    )
    if len(found) > MOST_CONSTANTS:
        return {}
    return {digits: f"constant_{number}" for number, digits in enumerate(found)}


def next_segments(segment: Segment) -> tuple[int, ...]:
    """The segments that come next within a step."""
    if isinstance(segment.end, Branch):
        return segment.end.then, segment.end.otherwise
    return (segment.end,) if isinstance(segment.end, int) else ()
