"""Make the state machine of an adversary from its instructions.

The instructions are played on values of which only so much is known as the source says: an object,
or the type of a number. A segment of the machine is a place among the instructions together with
what is known there, so a number has one type in a segment, and an object is one object. Where play
decides among objects, the machine branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from simulator.adversaries.program.calls import Calls
from simulator.adversaries.program.emitting import Options
from simulator.adversaries.program.flow import few_values, leaders, live_before
from simulator.adversaries.program.forms import (
    CHOSEN,
    Apply,
    ArrayTable,
    Branch,
    Coins,
    End,
    Jump,
    Listing,
    Machine,
    Made,
    MenuEntry,
    NotRead,
    Operand,
    Pause,
    Picked,
    Place,
    Segment,
    Several,
    Slot,
    Static,
    Value,
    Wait,
)
from simulator.adversaries.program.values import (
    IN_PLACE,
    Stops,
    base_of,
    changes_in_place,
    depth_of,
    kind_of,
    leaves,
    objects_of,
    tuple_of,
)
from simulator.identity.origins import is_of_package
from simulator.mechanisms import ScalarMechanism

MOST_SEGMENTS = 10_000
"""There is one for each combination of objects that variables hold at a line."""
DEEPEST = 16
"""Tuples within tuples: a state that grows by one in each round has no end."""


class TooMany(Exception):
    """The machine has too many segments; its argument is the place of one."""


def machine_of(reading: Listing) -> Machine:
    """The state machine of an adversary; raises NotRead."""
    for few in (few_values(reading.instructions), frozenset[str]()):
        try:
            return Builder(reading, few).machine()
        except TooMany as found:
            file, line = found.args[0]
    most = f"more than {MOST_SEGMENTS} segments"
    raise NotRead(file, line, f"{most}: one for all objects that variables hold here")


class Builder(Calls):
    """Builds the segments of one machine.

    Attributes
    ----------
    few : the variables whose numbers the machine knows.
    numbers : the number of the segment at a place with what is known there.
    todo : segments to build: their number, place and values.
    """

    def __init__(self, reading: Listing, few: frozenset[str]) -> None:
        super().__init__()
        self.reading, self.few = reading, few
        self.live = live_before(reading.instructions)
        self.leaders = leaders(reading.instructions)
        self.numbers: dict[Any, int] = {}
        self.segments: list[Segment] = []
        self.todo: list[tuple[int, int, dict[str, Value]]] = []
        self.menu: dict[Any, tuple[int, MenuEntry]] = {}

    def machine(self) -> Machine:
        """Build everything that can be reached."""
        stopped: Place | None = None
        self.segment_at(0, {self.reading.coins: Coins()})
        while self.todo:
            number, at, known = self.todo.pop()
            self.segment = self.segments[number]
            try:
                self.build(at, dict(known))
            except Stops:
                self.segment.end = None
                stopped = stopped or self.place
        menu = tuple(entry for _, entry in self.menu.values())
        if self.reading.menu is not None:
            menu = tuple(MenuEntry(*challenge) for challenge in self.reading.menu)
        return Machine(self.reading.name, self.reading.file, tidied(self.segments), menu, stopped)

    def segment_at(self, at: int, known: dict[str, Value]) -> int:
        """The number of the segment at an instruction, with what is known of its variables."""
        kept = {name: known[name] for name in sorted(self.live[at]) if name in known}
        key = at, tuple((name, self.token(value)) for name, value in kept.items())
        if key not in self.numbers:
            self.numbers[key] = self.new_segment(self.reading.instructions[at].place)
            self.todo.append((self.numbers[key], at, kept))
        return self.numbers[key]

    def new_segment(self, place: Place) -> int:
        """Append an empty segment."""
        if len(self.segments) >= MOST_SEGMENTS:
            raise TooMany(place)
        self.segments.append(Segment(place))
        return len(self.segments) - 1

    def build(self, at: int, known: dict[str, Value]) -> None:
        """Play instructions into the segment until it ends."""
        start = at
        while True:
            if at in self.leaders and at != start:
                self.segment.end = self.segment_at(at, known)
                return
            instruction = self.reading.instructions[at]
            self.place = instruction.place
            if isinstance(instruction, End):
                raise Stops
            if isinstance(instruction, Jump):
                self.segment.end = self.jumped(instruction, at, known)
                return
            if isinstance(instruction, Pause):
                self.segment.end = self.wait(instruction, at, known)
                return
            self.target = instruction.target
            found = self.evaluate(instruction, known)
            if isinstance(found, list):
                self.choose(found, at + 1, known)
                return
            known[self.target] = self.moved(found, self.target, self.lifts)
            at += 1

    @property
    def lifts(self) -> bool:
        """Whether a number that is assigned is left to play, though it is known here."""
        chosen = self.target.startswith(f"{CHOSEN} ")
        return chosen or not (self.target[0].isdigit() or self.target in self.few)

    def jumped(self, jump: Jump, at: int, known: dict[str, Value]) -> int | Branch:
        """The end of a segment by a jump."""
        if not jump.test:
            return self.segment_at(jump.to, known)
        test = self.truth(self.read(jump.test, known))
        if isinstance(test, bool):
            return self.segment_at(at + 1 if test else jump.to, known)
        true = false = known
        if jump.test[0].isdigit() and test.kind == "bool" and test == known[jump.test]:
            # of a variable of the reader's own, which is read once more at most: ``a and b``
            true, false = known | {jump.test: Static(True)}, known | {jump.test: Static(False)}
        return Branch(test, self.segment_at(at + 1, true), self.segment_at(jump.to, false))

    def choose(self, options: Options, at: int, known: dict[str, Value]) -> None:
        """End the segment by a chain of tests, each of which leads to a value of the target."""
        target, lifts = self.target, self.lifts
        for number, (test, value) in enumerate(options):
            self.target = f"{target} test {number}"
            found = test is None or self.truth(self.operation(test[0], test[1:]))
            if found is False:
                continue
            chosen, other = self.new_segment(self.place), 0
            if isinstance(found, Slot):
                other = self.new_segment(self.place)
                self.segment.end = Branch(found, chosen, other)
            else:
                self.segment.end = chosen
            self.segment = self.segments[chosen]
            here = known | {target: self.moved(value, target, lifts)}
            self.segment.end = self.segment_at(at, here)
            if not other:
                return
            self.segment = self.segments[other]
        raise Stops

    def wait(self, pause: Pause, at: int, known: dict[str, Value]) -> Wait:
        """The end of a segment by a round."""
        sent = self.read(pause.challenge, known)
        find = self.entry_of if self.reading.menu is None else self.move_of
        entry, parameter = find(sent)
        after = {name: value for name, value in known.items() if name in self.live[at + 1]}
        answer = Slot(pause.target, "float") if pause.target in self.live[at + 1] else None
        after.pop(pause.target, None)
        live = tuple(slot for value in after.values() for slot in leaves(value))
        if answer is not None:
            after[pause.target] = answer
        return Wait(entry, parameter, self.segment_at(at + 1, after), answer, live)

    def move_of(self, returned: Value) -> tuple[Operand, Operand | None]:
        """The move of what a rule's step returns, and its parameter."""
        items: Sequence[Value] = ()
        if isinstance(returned, Several):
            items = returned.items
        elif isinstance(returned, Static) and isinstance(returned.value, tuple | list):
            items = tuple(map(Static, returned.value))
        if len(items) not in (2, 3) or kind_of(items[1]) is None:
            raise self.refuse("a step that does not return (state, move) with a number as move")
        parameter = None
        if len(items) == 3 and kind_of(items[2]) is not None:
            parameter = self.as_base(items[2], "float")
        move = items[1]
        if isinstance(move, Static) and move.value in range(len(self.reading.menu or ())):
            return int(move.value), parameter
        return self.as_base(move, "float" if base_of(move) == "float" else "int"), parameter

    def entry_of(self, challenge: Value) -> tuple[Operand, Operand | None]:
        """The menu entry of a challenge, and its computed parameter."""
        if isinstance(challenge, Picked):
            challenge = Several(tuple(self.unpacked(challenge, i, 3) for i in range(3)))
        if isinstance(challenge, Static):
            if not isinstance(challenge.value, tuple | list) or len(challenge.value) != 3:
                raise Stops
            parts: Sequence[Value] = [Static(each) for each in challenge.value]
        elif isinstance(challenge, Several) and len(challenge.items) == 3:
            parts = challenge.items
        else:
            raise self.refuse("a challenge that is not three values")
        picked = [each for each in parts if isinstance(each, Picked)]
        if not picked:
            return self.entry_at(parts)
        if len({len(each.objects) for each in picked}) > 1:
            raise self.refuse("a challenge of objects that are chosen from tuples of two lengths")
        place = picked[0].place
        for each in picked[1:]:  # elsewhere Python decides, which has all pairs of the objects
            self.do(self.scratch("int"), "same", (place, each.place), "int")
        entries = []
        for i in range(len(picked[0].objects)):
            there = [Static(p.objects[i]) if isinstance(p, Picked) else p for p in parts]
            entry, parameter = self.entry_at(there)
            entries.append(entry)
        table = ArrayTable(np.array(entries))
        return self.do(self.scratch("int"), "lookup", (place,), "int", table), parameter

    def entry_at(self, parts: Sequence[Value]) -> tuple[int, Operand | None]:
        """The menu entry of two databases and a mechanism, and its computed parameter."""
        databases = objects_of(parts[:2])
        if databases is None:
            raise self.refuse("a database that is computed")
        mechanism = parts[2]
        parameter: Slot | None = None
        if isinstance(mechanism, Made):
            (parameter,) = leaves(mechanism.parameter)
            named = tuple((name, each.value) for name, each in mechanism.fixed)
            made: Any = mechanism.kind, named
            key: Any = mechanism.kind, tuple((name, self.token_of(each)) for name, each in named)
        elif isinstance(mechanism, Static):
            made, key = mechanism.value, self.token(mechanism)
            if not (isinstance(made, ScalarMechanism) and is_of_package(type(made))):
                raise self.refuse(f"{type(made).__name__}, which plays in Python only")
        else:
            raise self.refuse("a mechanism that is computed")
        key = (*map(self.token_of, databases), key)
        if key not in self.menu:
            self.menu[key] = len(self.menu), MenuEntry(databases[0], databases[1], made)
        return self.menu[key][0], parameter

    def evaluate(self, instruction: Apply, known: dict[str, Value]) -> Value | Options:
        """The value of an instruction, or values to choose from."""
        operands = [self.read(name, known) for name in instruction.operands]
        detail = instruction.detail
        match instruction.operation:
            case "constant":
                return Static(detail)
            case "round":
                return self.result("the round", [], "int")
            case "copy":
                return operands[0]
            case "tuple":
                if any(depth_of(each) >= DEEPEST for each in operands):
                    raise self.refuse(f"a tuple of more than {DEEPEST} tuples within each other")
                return tuple_of([self.moved(each, f"{self.target}.{i}")
                                 for i, each in enumerate(operands)])  # fmt: skip
            case "evaluate":
                return self.evaluated(operands, *detail)
            case "attribute":
                return self.attribute(operands[0], detail)
            case "call":
                return self.call(operands[0], operands[1:], detail)
            case "index":
                return self.index(operands[0], operands[1])
            case "unpack":
                return self.unpacked(operands[0], *detail)
            case "iterable":
                return self.iterable(operands[0])
            case "first" | "more" | "item" | "next" as turn:
                return self.turn(turn, operands)
            case operation:
                if detail in IN_PLACE and changes_in_place(detail, operands[0]):
                    raise self.refuse(f"{detail} of an object that it may change")
                return self.operation(operation, operands)

    def read(self, name: str, known: dict[str, Value]) -> Value:
        """What is known of a variable; where it is not assigned Python raises."""
        if name not in known:
            raise Stops
        return known[name]


def check_challenges(machine: Machine) -> None:
    """Raise NotRead where a machine sends no challenge."""
    if not machine.menu:
        raise NotRead(
            *(machine.stopped or machine.segments[0].place),
            "no challenge is sent before it ends here, or Python raises here, or a whole number "
            "has more than 63 bits",
        )


def tidied(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """The segments that can be reached, numbered anew, without those that only lead on."""

    def led(number: int) -> int:
        passed = {number}
        while not segments[number].does and isinstance(end := segments[number].end, int):
            if end in passed:
                break  # a loop without an end
            passed.add(end)
            number = end
        return number

    changed = True
    while changed:
        changed = False
        for each in segments:
            if isinstance(each.end, Branch) and led(each.end.then) == led(each.end.otherwise):
                each.end, changed = led(each.end.then), True

    numbers: dict[int, int] = {}

    def renumbered(number: int) -> int:
        number = led(number)
        if number not in numbers:
            numbers[number] = len(numbers)
            todo.append(number)
        return numbers[number]

    todo: list[int] = []
    found: list[Segment] = []
    renumbered(0)
    for number in todo:  # which grows
        segment = segments[number]
        end = segment.end
        if isinstance(end, Branch):
            end = Branch(end.test, renumbered(end.then), renumbered(end.otherwise))
        elif isinstance(end, Wait):
            end = replace(end, resume=renumbered(end.resume))
        elif isinstance(end, int):
            end = renumbered(end)
        found.append(Segment(segment.place, segment.does, end))
    return tuple(found)
