"""Write the step of a machine in LLVM's assembly.

The step continues from one wait to the next. Its state is an array of 64-bit words: the number of
the wait, all numbers that some wait keeps, and the floats that the source fixes: they are no part
of the text, so adversaries that differ in a budget or a threshold share one kernel. Segments are
blocks of the assembly, and each way back to an earlier one is counted, so that a loop without an
end is left to Python, which can be interrupted.
"""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.adversaries.program.assembly import FUNCTIONS, TEMPLATES, TYPES, called
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
from simulator.adversaries.program.operations import DRAWS, TYPED
from simulator.foundations.errors import NotApplicable

STOPPED = -1
"""The move where Python has to play: the adversary stops, raises, or a number is not held."""
MOST_TURNS = 10**7
"""Ways back that a step takes without a round."""
MOST_CONSTANTS = 24
"""Floats of a program that its state holds, so that programs that differ in them share a kernel."""
BEGIN, STEP = "dpcompose_begin", "dpcompose_step"
"""The names of two functions in machine code. ``void (ptr state, ptr first)`` copies the first to
the state. ``{i64, double} (ptr state, i64 round, double answer, ptr coins)`` changes the state, and
returns the move and the parameter; the coins are numpy's ``bitgen_t``."""
MOST_WORDS = 512
"""Words of a state; a kernel has so many on its stack, of which a compiler makes registers."""

_DTYPES = {"int": "<i8", "float": "<f8", "bool": "?"}
_NAME = re.compile(r"%(\w+)")


@dataclass(frozen=True)
class Step:
    """A step over a menu as assembly, and its first state.

    Attributes
    ----------
    text : the definitions of :data:`BEGIN` and :data:`STEP`.
    state : the words of the first state.
    """

    text: str
    state: tuple[int, ...]

    def __call__(self, *arguments: Any) -> Any:
        """Raise NotApplicable: machine code alone plays it."""
        raise NotApplicable("this step is played as machine code")


def step_of(machine: Machine) -> Step:
    """The step of a machine; raises NotRead."""
    writer = StepWriter(machine)
    if writer.words > MOST_WORDS:
        raise NotRead(machine.file, 0, f"{machine.name} keeps more than {MOST_WORDS} numbers")
    floats = np.array([float(digits) for digits in writer.constants])
    numbers = [0] * (1 + len(machine.slots))
    return Step(writer.text(), (*numbers, *floats.view(np.int64).tolist()))


class StepWriter:
    """Writes the text of one step.

    Attributes
    ----------
    slots : the address of each variable.
    constants : the place of each float that the state holds, by its digits.
    tables : the bytes of each table, and its name.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.slots: dict[Slot, str] = {}
        self.tables: dict[bytes, str] = {}
        self.lines: list[str] = []
        self.fresh = 0
        self.resumed = tuple(dict.fromkeys((w.resume, w.answer) for w in machine.waits))
        floats = constants_of(machine)
        self.constants = {digits: 1 + len(machine.slots) + n for n, digits in enumerate(floats)}
        self.words = 1 + len(machine.slots) + len(floats)
        self.back = ways_back(machine)

    def text(self) -> str:
        """Both functions."""
        for number, segment in enumerate(self.machine.segments):
            self.say(f"segment{number}:", "")
            for do in segment.does:
                self.do(do)
            self.end(number, segment)
        body, self.lines = self.lines, []
        self.begin()
        text = "\n".join([*self.lines, *body, "stopped:", f"  ret {{i64, double}} {{i64 {STOPPED}, "
                          "double 0x7FF8000000000000}", "}"])  # fmt: skip
        tables = []
        for held, name in self.tables.items():
            kept = "\\" + held.hex("\\") if held else ""
            tables.append(f'@{name} = private constant [{len(held)} x i8] c"{kept}", align 8')
        needed, todo = {}, [text]
        while todo:  # the functions that it calls, and that these call
            for name, declared in called(todo.pop()):
                if name not in needed:
                    needed[name] = FUNCTIONS.get(name, declared)
                    todo += [FUNCTIONS[name]] if name in FUNCTIONS else []
        return "\n".join([*tables, *needed.values(), text, *self.beginning()]) + "\n"

    def beginning(self) -> list[str]:
        """The function that copies the first state."""
        lines = [f"define void @{BEGIN}(ptr %state, ptr %first) alwaysinline {{"]
        for place in range(self.words):
            lines += [f"  %from{place} = getelementptr i64, ptr %first, i64 {place}",
                      f"  %to{place} = getelementptr i64, ptr %state, i64 {place}",
                      f"  %word{place} = load i64, ptr %from{place}",
                      f"  store i64 %word{place}, ptr %to{place}"]  # fmt: skip
        return [*lines, "  ret void", "}"]

    def begin(self) -> None:
        """Write what comes first: the variables from the state, and where to go on."""
        self.say(f"define {{i64, double}} @{STEP}(ptr %state, i64 %round, double %answer, ptr "
                 "%coins) alwaysinline {", "")  # fmt: skip
        for place in self.constants.values():
            self.say(f"%constant{place} = load double, ptr {self.word(place)}")
        for place, slot in enumerate(self.machine.slots, start=1):
            self.address(slot)
            word = self.name("word")
            kind = "i64" if slot.base == "bool" else TYPES[slot.base]
            self.say(f"{word} = load {kind}, ptr {self.word(place)}")
            if slot.base == "bool":
                bit = self.name("bit")
                self.say(f"{bit} = icmp ne i64 {word}, 0")
                word = bit
            self.store(slot, word)
        self.say("%turns = alloca i64\n  store i64 0, ptr %turns")
        point = self.name("point")
        self.say(f"{point} = load i64, ptr %state")
        ways = "".join(f" i64 {n}, label %resume{n}" for n in range(1, 1 + len(self.resumed)))
        self.say(f"switch i64 {point}, label %segment0 [{ways} ]")
        for number, (segment, answer) in enumerate(self.resumed, start=1):
            self.say(f"resume{number}:", "")
            if answer is not None:
                self.store(answer, "%answer")
            self.say(f"br label %segment{segment}")
        # a variable has its place in the first block
        places = [f"  {address} = alloca {TYPES[slot.base]}\n"
                  f"  store {TYPES[slot.base]} zeroinitializer, ptr {address}"
                  for slot, address in self.slots.items()]  # fmt: skip
        self.lines[1:1] = places

    def say(self, line: str, indent: str = "  ") -> None:
        """Append a line."""
        self.lines.append(indent + line)

    def name(self, word: str) -> str:
        """A name that is new."""
        self.fresh += 1
        return f"%{word}.{self.fresh}"

    def word(self, place: int) -> str:
        """The address of a word of the state."""
        at = self.name("at")
        self.say(f"{at} = getelementptr i64, ptr %state, i64 {place}")
        return at

    def address(self, slot: Slot) -> str:
        """The address of a variable."""
        return self.slots.setdefault(slot, f"%slot{len(self.slots)}")

    def store(self, slot: Slot, value: str) -> None:
        """Write an assignment."""
        self.say(f"store {TYPES[slot.base]} {value}, ptr {self.address(slot)}")

    def operand(self, operand: Operand, base: str) -> str:
        """An operand of a type, loaded where it is a variable."""
        if isinstance(operand, Slot):
            found = self.name("value")
            self.say(f"{found} = load {TYPES[base]}, ptr {self.address(operand)}")
            return found
        if base == "float":
            place = self.constants.get(repr(operand))
            return digits_of(operand) if place is None else f"%constant{place}"
        return str(int(operand)) if base == "int" else str(bool(operand)).lower()

    def do(self, do: Do) -> None:
        """Write one operation and its conditions."""
        kind, _, method = do.operation.partition("coins.")
        if kind:
            typed, base, template = TYPED[do.operation, do.base], do.base, (do.operation, do.base)
        else:
            _, base, typed = DRAWS[method]
            template = "draw", method
        words = {"r": self.name("result")}
        lookup = do.operation == "lookup"
        words |= {name: self.operand(each, "int" if lookup else base)
                  for name, each in zip("ab", do.operands)}  # fmt: skip
        text = TEMPLATES[template]
        if "$t" in text:
            words |= self.table(do, "$t0" in text)
        self.written(text, words)
        self.store(do.target, words["r"])
        assert do.target.base == typed.result.removeprefix("np_")

    def written(self, text: str, words: dict[str, str]) -> None:
        """Write a template, in which each name is new."""
        self.fresh += 1
        suffix = f".{self.fresh}"
        free = {"%coins", "%round"}
        for number, line in enumerate(text.strip().splitlines()):
            found = _NAME.sub(
                lambda name: name[0] if name[0] in free else name[0] + suffix, line.strip()
            )
            for name in sorted(words, key=len, reverse=True):
                found = found.replace(f"${name}", words[name])
            if found.startswith("stop "):
                on = f"on{suffix}.{number}"
                self.say(f"br i1 {found.removeprefix('stop ')}, label %stopped, label %{on}")
                self.say(f"{on}:", "")
            else:
                self.say(found)

    def table(self, do: Do, numbers: bool) -> dict[str, str]:
        """What a template calls an operation's table, or its first two numbers."""
        given = do.table.values if isinstance(do.table, ArrayTable) else do.table
        if numbers:
            as_text = digits_of if do.base == "float" else str
            return {f"t{n}": as_text(each) for n, each in enumerate(given[:2])}
        held = np.array(given, dtype=_DTYPES[do.base])
        name = self.tables.setdefault(held.tobytes(), f"table{len(self.tables)}")
        return {"t": f"@{name}", "n": str(len(held))}

    def end(self, number: int, segment: Segment) -> None:
        """Write how a segment ends."""
        if segment.end is None:
            self.say("br label %stopped")
        elif isinstance(segment.end, Wait):
            self.wait(segment.end)
        elif isinstance(segment.end, Branch):
            test = self.operand(segment.end.test, "bool")
            ways = [self.way(number, to) for to in (segment.end.then, segment.end.otherwise)]
            self.say(f"br i1 {test}, label %{ways[0][0]}, label %{ways[1][0]}")
            for _, counted in ways:
                self.lines += counted
        else:
            label, counted = self.way(number, segment.end)
            self.say(f"br label %{label}")
            self.lines += counted

    def way(self, number: int, to: int) -> tuple[str, list[str]]:
        """Where to jump to get from one segment to another, and the lines that count it."""
        if (number, to) not in self.back:
            return f"segment{to}", []
        self.fresh += 1
        label, n = f"back.{self.fresh}", self.fresh
        return label, [
            f"{label}:",
            f"  %turn.{n} = load i64, ptr %turns",
            f"  %next.{n} = add i64 %turn.{n}, 1",
            f"  store i64 %next.{n}, ptr %turns",
            f"  %many.{n} = icmp ugt i64 %next.{n}, {MOST_TURNS}",
            f"  br i1 %many.{n}, label %stopped, label %segment{to}",
        ]

    def wait(self, wait: Wait) -> None:
        """Write the return of a move."""
        move = self.as_move(wait.entry)
        parameter = digits_of(math.nan)
        if wait.parameter is not None:
            parameter = self.as_float(wait.parameter)
        self.say(f"store i64 {1 + self.resumed.index((wait.resume, wait.answer))}, ptr %state")
        places = {slot: place for place, slot in enumerate(self.machine.slots, start=1)}
        for slot in wait.live:
            value = self.operand(slot, slot.base)
            if slot.base == "bool":
                wide = self.name("wide")
                self.say(f"{wide} = zext i1 {value} to i64")
                value = wide
            kind = "double" if slot.base == "float" else "i64"
            self.say(f"store {kind} {value}, ptr {self.word(places[slot])}")
        one, both = self.name("move"), self.name("both")
        self.say(f"{one} = insertvalue {{i64, double}} undef, i64 {move}, 0")
        self.say(f"{both} = insertvalue {{i64, double}} {one}, double {parameter}, 1")
        self.say(f"ret {{i64, double}} {both}")

    def as_move(self, entry: Operand) -> str:
        """A move as a whole number; where it is none, the step stops."""
        if not isinstance(entry, Slot):
            return str(int(entry)) if entry == int(entry) else str(STOPPED)
        if entry.base == "int":
            return self.operand(entry, "int")
        words = {"a": self.operand(entry, entry.base), "r": self.name("move")}
        if entry.base == "bool":
            self.written(TEMPLATES["int", "bool"], words)
            return words["r"]
        self.written(TEMPLATES["int", "float"], words)
        again = {"a": words["r"], "r": self.name("again")}
        self.written(TEMPLATES["float", "int"], again)
        self.written("%broken = fcmp une double $a, $b\nstop %broken",
                     {"a": words["a"], "b": again["r"]})  # fmt: skip
        return words["r"]

    def as_float(self, number: Operand) -> str:
        """A number as a float."""
        if not isinstance(number, Slot) or number.base == "float":
            return self.operand(number, "float")
        made = {"a": self.operand(number, number.base), "r": self.name("float")}
        if number.base == "bool":
            made = {"a": made["a"], "r": self.name("whole")}
            self.written(TEMPLATES["int", "bool"], made)
            made = {"a": made["r"], "r": self.name("float")}
        self.written(TEMPLATES["float", "int"], made)
        return made["r"]


def digits_of(number: Any) -> str:
    """A float as LLVM writes its bits."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', float(number)))[0]:016X}"


def constants_of(machine: Machine) -> tuple[str, ...]:
    """The digits of each finite float among the operands; none where there are many."""
    found = dict.fromkeys(
        repr(operand)
        for segment in machine.segments
        for do in segment.does
        for operand in do.operands
        if isinstance(operand, float) and math.isfinite(operand)
    )
    return tuple(found) if len(found) <= MOST_CONSTANTS else ()


def ways_back(machine: Machine) -> set[tuple[int, int]]:
    """The ways from a segment to one that leads to it, without which a step has no loop."""
    back: set[tuple[int, int]] = set()
    done: set[int] = set()
    for start in dict.fromkeys((0, *(wait.resume for wait in machine.waits))):
        path, on_path = [(start, iter(next_segments(machine.segments[start])))], {start}
        while path:
            number, following = path[-1]
            to = next(following, None)
            if to is None:
                path.pop()
                on_path.discard(number)
                done.add(number)
            elif to in on_path:
                back.add((number, to))
            elif to not in done:
                path.append((to, iter(next_segments(machine.segments[to]))))
                on_path.add(to)
    return back


def next_segments(segment: Segment) -> tuple[int, ...]:
    """The segments that come next within a step."""
    if isinstance(segment.end, Branch):
        return segment.end.then, segment.end.otherwise
    return (segment.end,) if isinstance(segment.end, int) else ()
