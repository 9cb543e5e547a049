"""Make the state machine of an adversary from its instructions.

The instructions are played on values of which only so much is known as the source says: an object,
or the type of a number. A block of the machine is a place among the instructions together with what
is known there, so a number has one type in a block, and an object is one object. Where play decides
among objects, the machine branches.
"""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge
from simulator.adversaries.program.flow import few_values, leaders, live_before
from simulator.adversaries.program.forms import (
    Apply,
    Block,
    Branch,
    Coins,
    Do,
    End,
    Entry,
    Items,
    Jump,
    Machine,
    Made,
    Operand,
    Pause,
    Place,
    Reading,
    Refused,
    Slot,
    Span,
    Static,
    Value,
    Wait,
)
from simulator.adversaries.program.operations import DRAWS, HELD, KINDS, STATIC, TYPED
from simulator.identity.origins import is_of_package
from simulator.mechanisms import ScalarMechanism

MOST_BLOCKS = 2000
LONGEST = 64
"""Most objects among which a round chooses, and most turns of a loop over objects."""
WIDEST = 1 << 16
"""Most numbers of a table."""

PURE = {
    abs, bool, dict, divmod, enumerate, float, frozenset, int, isinstance, len, list, max, min, pow,
    range, reversed, round, set, sorted, str, sum, tuple, zip,
}  # fmt: skip
"""Functions of Python that change nothing, and whose results depend on their arguments alone."""
PURE_METHODS = {
    str: ("startswith", "endswith", "lower", "upper", "format", "join", "split", "strip"),
    tuple: ("index", "count"), list: ("index", "count"), dict: ("get", "items", "keys", "values"),
    range: ("index", "count"),
}  # fmt: skip
FOR_NUMPY = {"+", "-", "*", "/", "==", "!=", "<", "<=", ">", ">=", "negative", "abs", "not"}
"""What is read of numpy's scalars."""
COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}
MATH = {
    getattr(math, name): name
    for name in ("sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "atan", "fabs",
                 "copysign", "isnan", "isinf", "isfinite", "floor", "ceil")
}  # fmt: skip

Options = list[tuple["Test | None", Value]]
"""Values to choose from: the first whose test is true; the last has none."""
Test = tuple[str, Value, Value]
"""A comparison."""


class Stops(Exception):  # noqa: N818 (it is no error of the reader)
    """Python raises here, or computes a number that is not held."""


class TooMany(Exception):  # noqa: N818
    """The machine has too many blocks."""


def machine_of(reading: Reading) -> Machine:
    """The state machine of an adversary; raises Refused."""
    for few in (few_values(reading.instructions), frozenset[str]()):
        try:
            return Builder(reading, few).machine()
        except TooMany:
            continue
    raise Refused(reading.file, 0, f"{reading.name} has more than {MOST_BLOCKS} blocks")


def kind_of(value: Value) -> str | None:
    """The kind of a number; None of another value."""
    if isinstance(value, Slot):
        return value.kind
    return KINDS.get(type(value.value)) if isinstance(value, Static) else None


class Builder:
    """Builds the blocks of one machine.

    Attributes
    ----------
    numbers : the number of the block at a place with what is known there.
    todo : blocks to build: their number, place and values.
    block, place, target : where building is: the block, the place in the source, and the variable
        that is assigned.
    memory : the results of calls on fixed objects, and the objects, whose ids are used.
    """

    def __init__(self, reading: Reading, few: frozenset[str]) -> None:
        self.reading, self.few = reading, few
        self.live = live_before(reading.instructions)
        self.leaders = leaders(reading.instructions)
        self.numbers: dict[Any, int] = {}
        self.blocks: list[Block] = []
        self.todo: list[tuple[int, int, dict[str, Value]]] = []
        self.menu: dict[Any, tuple[int, Entry]] = {}
        self.memory: dict[Any, Static] = {}
        self.kept: dict[int, Any] = {}
        self.created: set[int] = set()
        self.block, self.place, self.target, self.spare = Block(), ("", 0), "", 0

    def machine(self) -> Machine:
        """Build everything that can be reached."""
        self.block_at(0, {self.reading.coins: Coins()})
        while self.todo:
            number, at, known = self.todo.pop()
            self.block = self.blocks[number]
            try:
                self.build(at, dict(known))
            except Stops:
                self.block.end = None
        menu = tuple(entry for _, entry in self.menu.values())
        return Machine(self.reading.name, self.reading.file, tidied(self.blocks), menu)

    def block_at(self, at: int, known: dict[str, Value]) -> int:
        """The number of the block at an instruction, with what is known of its variables."""
        kept = {name: known[name] for name in sorted(self.live[at]) if name in known}
        key = at, tuple((name, self.token(value)) for name, value in kept.items())
        if key not in self.numbers:
            self.numbers[key] = self.new_block(self.reading.instructions[at].place)
            self.todo.append((self.numbers[key], at, kept))
        return self.numbers[key]

    def new_block(self, place: Place) -> int:
        """Append an empty block."""
        if len(self.blocks) >= MOST_BLOCKS:
            raise TooMany
        self.blocks.append(Block(place))
        return len(self.blocks) - 1

    def build(self, at: int, known: dict[str, Value]) -> None:
        """Play instructions into the block until it ends."""
        start = at
        while True:
            if at in self.leaders and at != start:
                self.block.end = self.block_at(at, known)
                return
            instruction = self.reading.instructions[at]
            self.place = instruction.place
            if isinstance(instruction, End):
                raise Stops
            if isinstance(instruction, Jump):
                self.block.end = self.jumped(instruction, at, known)
                return
            if isinstance(instruction, Pause):
                self.block.end = self.wait(instruction, at, known)
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
        return not (self.target[0].isdigit() or " " in self.target or self.target in self.few)

    def jumped(self, jump: Jump, at: int, known: dict[str, Value]) -> int | Branch:
        """The end of a block by a jump."""
        if not jump.test:
            return self.block_at(jump.to, known)
        test = self.truth(self.read(jump.test, known))
        if isinstance(test, bool):
            return self.block_at(at + 1 if test else jump.to, known)
        return Branch(test, self.block_at(at + 1, known), self.block_at(jump.to, known))

    def choose(self, options: Options, at: int, known: dict[str, Value]) -> None:
        """End the block by a chain of tests, each of which leads to a value of the target."""
        target, lifts = self.target, self.lifts
        for number, (test, value) in enumerate(options):
            self.target = f"{target} test {number}"
            found = test is None or self.truth(self.operation(test[0], test[1:]))
            if found is False:
                continue
            chosen, other = self.new_block(self.place), 0
            if isinstance(found, Slot):
                other = self.new_block(self.place)
                self.block.end = Branch(found, chosen, other)
            else:
                self.block.end = chosen
            self.block = self.blocks[chosen]
            here = known | {target: self.moved(value, target, lifts)}
            self.block.end = self.block_at(at, here)
            if not other:
                return
            self.block = self.blocks[other]
        raise Stops

    def wait(self, pause: Pause, at: int, known: dict[str, Value]) -> Wait:
        """The end of a block by a round."""
        entry, parameter = self.entry_of(self.read(pause.challenge, known))
        after = {name: value for name, value in known.items() if name in self.live[at + 1]}
        answer = Slot(pause.target, "float") if pause.target in self.live[at + 1] else None
        after.pop(pause.target, None)
        live = tuple(slot for value in after.values() for slot in leaves(value))
        if answer is not None:
            after[pause.target] = answer
        return Wait(entry, parameter, self.block_at(at + 1, after), answer, live)

    def entry_of(self, challenge: Value) -> tuple[int, Operand | None]:
        """The menu entry of a challenge, and its computed parameter."""
        if isinstance(challenge, Static):
            if not isinstance(challenge.value, tuple | list) or len(challenge.value) != 3:
                raise Stops
            parts: Sequence[Value] = [Static(each) for each in challenge.value]
        elif isinstance(challenge, Items) and len(challenge.items) == 3:
            parts = challenge.items
        else:
            raise self.refuse("a challenge that is not three values")
        databases = parts[:2]
        if not all(isinstance(each, Static) for each in databases):
            raise self.refuse("a database that is computed")
        mechanism, parameter = parts[2], None
        if isinstance(mechanism, Made):
            made: Any = mechanism.kind, tuple(
                (name, each.value) for name, each in mechanism.fixed
            )
            parameter = operand_of(mechanism.parameter)
        elif isinstance(mechanism, Static):
            made = mechanism.value
            if not (isinstance(made, ScalarMechanism) and is_of_package(type(made))):
                raise self.refuse(f"{type(made).__name__}, which plays in Python only")
        else:
            raise self.refuse("a mechanism that is computed")
        held = tuple(each.value for each in databases if isinstance(each, Static))
        key = (*map(self.token, databases), self.token(mechanism) if parameter is None
               else (made[0], tuple((n, self.token(v)) for n, v in mechanism.fixed)))  # fmt: skip
        if key not in self.menu:
            self.menu[key] = len(self.menu), Entry(held[0], held[1], made)
        return self.menu[key][0], parameter

    # --- values ---------------------------------------------------------------------------------

    def refuse(self, construct: str) -> Refused:
        """The error of a construct that is not in the closed form."""
        return Refused(*self.place, construct)

    def read(self, name: str, known: dict[str, Value]) -> Value:
        """What is known of a variable; where it is not assigned Python raises."""
        if name not in known:
            raise Stops
        return known[name]

    def token(self, value: Value) -> Any:
        """What distinguishes a value from others, without the names of slots."""
        if isinstance(value, Static):
            return self.token_of(value.value)
        if isinstance(value, Items):
            return ("items", *map(self.token, value.items))
        if isinstance(value, Span):
            return "span", self.token(value.start), self.token(value.stop), value.step
        if isinstance(value, Made):
            fixed = tuple((name, self.token(each)) for name, each in value.fixed)
            return value.kind, fixed, self.token(value.parameter)
        return value

    def token_of(self, found: Any) -> Any:
        """What distinguishes an object: numbers and texts by value, others by identity."""
        if isinstance(found, int | str | bytes):
            return type(found), found
        if isinstance(found, float | np.generic):
            return type(found), repr(found)
        if type(found) is tuple:
            return tuple(map(self.token_of, found))
        if isinstance(found, types.MethodType | types.BuiltinMethodType):
            return type(found), found.__name__, self.token_of(found.__self__)
        self.kept[id(found)] = found
        return "object", id(found)

    def moved(self, value: Value, name: str, lifts: bool = False) -> Value:
        """The value under a variable's name, its numbers copied there."""
        if isinstance(value, Slot):
            slot = Slot(name, value.kind)
            return slot if slot == value else self.do(slot, "copy", (value,), value.base)
        if isinstance(value, Static) and lifts:
            if (kind := kind_of(value)) is not None:
                slot = Slot(name, kind)
                return self.do(slot, "copy", (literal(value.value),), slot.base)
            if type(value.value) is tuple:
                lifted = Items(tuple(map(Static, value.value)))
                moved = self.moved(lifted, name, lifts)
                assert isinstance(moved, Items)
                fixed = all(isinstance(each, Static) for each in moved.items)
                return value if fixed else moved
            return value
        if isinstance(value, Items):
            parts = enumerate(value.items)
            return Items(tuple(self.moved(each, f"{name}.{i}", lifts) for i, each in parts))
        if isinstance(value, Span):
            ends = self.moved(value.start, f"{name}.start"), self.moved(value.stop, f"{name}.stop")
            return Span(*ends, value.step)
        if isinstance(value, Made):
            parameter = self.moved(value.parameter, f"{name}.parameter")
            return Made(value.kind, value.fixed, parameter)
        return value

    def do(self, target: Slot, operation: str, operands: Sequence[Operand], base: str,
           table: tuple[Any, ...] = ()) -> Slot:  # fmt: skip
        """Append an operation to the block."""
        self.block.does.append(Do(target, operation, tuple(operands), base, table))
        return target

    def scratch(self, kind: str) -> Slot:
        """A slot for a result within one operation."""
        self.spare += 1
        return Slot(f"{self.target} part {self.spare}", kind)

    def as_base(self, value: Value, base: str, exact: bool = False) -> Operand:
        """A number as an operand of a type; ``exact`` gives up where a float is not the same."""
        kind = kind_of(value)
        assert kind is not None
        if isinstance(value, Static):
            try:
                number = {"int": int, "float": float, "bool": bool}[base](value.value)
            except OverflowError:
                raise Stops from None
            if exact and number != value.value and number == number:
                raise self.refuse(f"{value.value} beside a float")
            return literal(number)
        assert isinstance(value, Slot)
        if value.base == base:
            return value
        if value.base == "bool":
            value = self.do(self.scratch("int"), "int", (value,), "bool")
        if base == "int":
            return value
        return self.do(self.scratch("float"), "exact" if exact else "float", (value,), "int")

    def result(self, operation: str, operands: Sequence[Operand], base: str, numpy: bool = False,
               table: tuple[Any, ...] = ()) -> Slot:  # fmt: skip
        """Append a typed operation whose result is the target."""
        kind = TYPED[operation, base].result
        slot = Slot(self.target, f"np_{kind}" if numpy else kind)
        return self.do(slot, operation, operands, base, table)

    def truth(self, value: Value) -> bool | Slot:
        """Whether a value counts as true: known, or a slot."""
        if isinstance(value, Static):
            try:
                return bool(value.value)
            except Exception:
                raise Stops from None
        if isinstance(value, Items):
            return bool(value.items)
        if isinstance(value, Slot):
            if value.base == "bool":
                return value
            return self.do(self.scratch("bool"), "true", (value,), value.base)
        if isinstance(value, Made | Coins):
            return True
        raise self.refuse("the truth of a range")

    # --- operations -----------------------------------------------------------------------------

    def evaluate(self, instruction: Apply, known: dict[str, Value]) -> Value | Options:
        """The value of an instruction, or values to choose from."""
        operands = [self.read(name, known) for name in instruction.operands]
        detail = instruction.detail
        match instruction.operation:
            case "constant":
                return Static(detail)
            case "copy":
                return operands[0]
            case "tuple":
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
                return self.operation(operation, operands)

    def operation(self, operation: str, operands: Sequence[Value]) -> Value:
        """An arithmetic operation or a comparison."""
        if operation in ("is", "is not"):
            return self.identical(operation, *operands)
        if all(isinstance(each, Static) for each in operands):
            return self.static(STATIC[operation], [each.value for each in operands])  # type: ignore[union-attr]
        if operation in ("in", "not in"):
            return self.contained(operation, *operands)
        if operation == "not":
            test = self.truth(operands[0])
            if isinstance(test, bool):
                return Static(not test)
            return self.result("not", (test,), "bool")
        kinds = [kind_of(each) for each in operands]
        if None in kinds:
            if operation in ("==", "!=") and any(is_no_number(each) for each in operands):
                return Static(operation == "!=")
            raise self.refuse(f"{operation} of values that are not numbers")
        return self.arithmetic(operation, operands, [str(kind) for kind in kinds])

    def arithmetic(self, operation: str, operands: Sequence[Value], kinds: list[str]) -> Value:
        """An operation on numbers, some of which play decides."""
        numpy = any(kind.startswith("np_") for kind in kinds)
        bases = [kind.removeprefix("np_") for kind in kinds]
        if numpy and (operation not in FOR_NUMPY or "np_bool" in kinds):
            raise self.refuse(f"{operation} of a number of numpy: convert it by int() or float()")
        base = "float" if "float" in bases or operation == "/" else "int"
        if operation in COMPARISONS and base == "int" and any(map(is_large, operands)):
            return self.beyond(operation, operands)
        if operation in ("&", "|", "^") and set(bases) == {"bool"}:
            base = "bool"
        if operation == "positive":
            return self.result("copy", (self.as_base(operands[0], base),), base, numpy)
        if (operation, base) not in TYPED:
            raise Stops  # of floats it is a TypeError
        exact = operation in COMPARISONS or (operation == "/" and "float" not in bases)
        typed = [self.as_base(each, base, exact) for each in operands]
        return self.result(operation, typed, base, numpy)

    def beyond(self, operation: str, operands: Sequence[Value]) -> Static:
        """A comparison with a whole number that is larger than all that are held."""
        signs = [1 if is_large(each) and each.value > 0 else -1 if is_large(each) else 0  # type: ignore[union-attr]
                 for each in operands]  # fmt: skip
        return Static(STATIC[operation](*signs))

    def identical(self, operation: str, one: Value, other: Value) -> Static:
        """``is``: of objects that the adversary does not make."""
        values = [each.value for each in (one, other) if isinstance(each, Static)]
        if not any(each is None or each is True or each is False for each in values):
            held = [id(each) for each in values]
            if len(values) < 2 or self.created & {*held} or any(type(v) in KINDS for v in values):
                raise self.refuse("is of values that are computed")
        if len(values) == 2:
            return Static((values[0] is values[1]) == (operation == "is"))
        if any(isinstance(each, Slot) and each.base == "bool" for each in (one, other)) and (
            None not in values
        ):
            raise self.refuse("is of a computed truth value")
        return Static(operation == "is not")

    def contained(self, operation: str, one: Value, held: Value) -> Value:
        """Whether a number is one of some fixed numbers."""
        if not isinstance(one, Slot) or not isinstance(held, Static):
            raise self.refuse(f"{operation} of values that are computed")
        try:
            numbers = [each for each in held.value if type(each) in KINDS]
            others = [each for each in held.value if type(each) not in KINDS]
        except TypeError:
            raise self.refuse(f"{operation} of {type(held.value).__name__}") from None
        if len(numbers) > WIDEST or any(not is_no_number(Static(each)) for each in others):
            raise self.refuse(f"{operation} of values that are not numbers")
        if any(each != each for each in numbers):
            raise self.refuse(f"{operation} of NaN")
        base = "float" if one.base == "float" else "int"
        equal = [number for each in numbers if (number := held_as(each, base)) is not None]
        found = self.result("among", (self.as_base(one, base),), base, table=tuple(equal))
        return found if operation == "in" else self.result("not", (found,), "bool")

    def static(self, function: Callable[..., Any], values: Sequence[Any]) -> Static:
        """The result of a function on fixed objects; the same objects give the same result."""
        key = function, tuple(map(self.token_of, values))
        if key not in self.memory:
            try:
                found = function(*values)
            except Exception:
                raise Stops from None
            self.memory[key] = Static(found)
            self.kept |= {id(each): each for each in (function, *values, found)}
            if function is not STATIC["index"]:
                self.created.add(id(found))
        return self.memory[key]

    def evaluated(self, operands: Sequence[Value], code: types.CodeType, names: Sequence[str],
                  others: dict[str, Any], words: str) -> Static:  # fmt: skip
        """An expression of fixed objects, by Python."""
        if not all(isinstance(each, Static) for each in operands):
            raise self.refuse(f"{words} of values that are computed")

        def evaluate(*values: Any) -> Any:
            return eval(code, others | dict(zip(names, values)))  # noqa: S307 (the user's code)

        values = [each.value for each in operands]  # type: ignore[union-attr]
        key = code, tuple(map(self.token_of, values))
        if key not in self.memory:
            self.memory[key] = self.static(evaluate, values)
        return self.memory[key]

    def attribute(self, value: Value, name: str) -> Value:
        """An attribute of a fixed object, or a method of the coins."""
        if isinstance(value, Coins):
            return Coins(name)
        if not isinstance(value, Static):
            raise self.refuse(f"the attribute {name} of a value that is computed")
        try:
            return Static(getattr(value.value, name))
        except Exception:
            raise Stops from None

    def index(self, held: Value, place: Value) -> Value | Options:
        """An item of a tuple, a table or a dictionary."""
        if isinstance(held, Items):
            values: Sequence[Value] = held.items
        elif not isinstance(held, Static):
            raise self.refuse("an item of a value that has none")
        elif isinstance(place, Static):
            return self.static(STATIC["index"], [held.value, place.value])
        elif isinstance(held.value, dict):
            keys = list(held.value)
            if len(keys) > LONGEST or any(type(key) not in KINDS for key in keys):
                raise self.refuse("a dictionary that is read by a number")
            found: Options = [(("==", place, Static(key)), Static(held.value[key]))
                              for key in keys]  # fmt: skip
            return found
        elif isinstance(held.value, tuple | list | range) or (
            isinstance(held.value, np.ndarray) and held.value.ndim == 1
        ):
            if len(held.value) > WIDEST:
                raise self.refuse("a table of so many values")
            values = [Static(each) for each in held.value]
        else:
            raise self.refuse(f"an item of a {type(held.value).__name__}")
        if isinstance(place, Static):
            try:
                return values[place.value]
            except (TypeError, IndexError):
                raise Stops from None
        if not isinstance(place, Slot) or place.base == "float":
            raise Stops
        where = self.as_base(place, "int")
        within = self.do(self.scratch("int"), "place", (where,), "int", (len(values),))
        return self.item(values, within)

    def item(self, values: Sequence[Value], place: Slot) -> Value | Options:
        """The value at a place that play decides."""
        if (table := table_of(values)) is not None:
            kind, numbers = table
            slot = Slot(self.target, kind)
            return self.do(slot, "lookup", (place,), slot.base, numbers)
        if len(values) > LONGEST:
            raise self.refuse(f"a choice among {len(values)} objects")
        tests: list[Test | None] = [("==", place, Static(i)) for i in range(len(values) - 1)]
        return list(zip([*tests, None], values))

    def unpacked(self, value: Value, place: int, count: int) -> Value:
        """One of several values that are assigned at once."""
        if isinstance(value, Items):
            items: Sequence[Value] = value.items
        elif isinstance(value, Static) and isinstance(value.value, tuple | list | str):
            items = [Static(each) for each in value.value]
        elif isinstance(value, Slot):
            raise Stops
        else:
            raise self.refuse("several names for a value that is no tuple")
        if len(items) != count:
            raise Stops
        return items[place]

    # --- loops ----------------------------------------------------------------------------------

    def iterable(self, value: Value) -> Value:
        """What a loop goes through: a range, a tuple with parts that play decides, or a tuple."""
        if isinstance(value, Span | Items):
            return value
        if not isinstance(value, Static):
            raise self.refuse("a loop over a value that is computed")
        found = value.value
        if isinstance(found, range):
            return Span(Static(found.start), Static(found.stop), found.step)
        if isinstance(found, tuple | list | str | dict | np.ndarray | frozenset | set):
            return self.static(tuple, [found])
        raise self.refuse(f"a loop over a {type(found).__name__}")

    def turn(self, part: str, operands: Sequence[Value]) -> Value | Options:
        """The place of a loop: the first, whether there is more, the item there, and the next."""
        over, place = operands[0], operands[-1]
        if isinstance(over, Span):
            if part == "first":
                return self.moved(over.start, self.target, lifts=True)
            if part == "more":
                return self.operation("<" if over.step > 0 else ">", (place, over.stop))
            if part == "next":
                return self.operation("+", (place, Static(over.step)))
            return place
        values = over.items if isinstance(over, Items) else [Static(v) for v in over.value]  # type: ignore[union-attr]
        numbers = table_of(values) is not None and len(values) <= WIDEST
        if part == "first":
            return self.moved(Static(0), self.target, lifts=numbers)
        if part == "more":
            return self.operation("<", (place, Static(len(values))))
        if part == "next":
            return self.operation("+", (place, Static(1)))
        if isinstance(place, Slot):
            return self.item(values, place)
        assert isinstance(place, Static)
        if len(values) > LONGEST:
            raise self.refuse(f"a loop over {len(values)} objects")
        return values[place.value]

    # --- calls ----------------------------------------------------------------------------------

    def call(self, callee: Value, given: Sequence[Value], names: tuple[str, ...]) -> Any:
        """A call of a function that is fixed, or of a method of the coins."""
        positional = list(given[: len(given) - len(names)])
        named = dict(zip(names, given[len(positional) :]))
        if isinstance(callee, Coins):
            return self.drawn(callee.method, positional, named)
        if not isinstance(callee, Static):
            raise self.refuse("a call of a value that is computed")
        function = callee.value
        if all(isinstance(each, Static) for each in given):
            if not is_pure(function):
                raise self.refuse(f"a call of {shown(function)}")
            count, keys = len(positional), tuple(named)

            def called(function: Any, *values: Any) -> Any:
                return function(*values[:count], **dict(zip(keys, values[count:])))

            values = [each.value for each in (*positional, *named.values())]  # type: ignore[union-attr]
            key = "call", self.token_of(function), keys, tuple(map(self.token_of, values))
            if key not in self.memory:
                self.memory[key] = self.static(called, [function, *values])
            return self.memory[key]
        if isinstance(function, type) and issubclass(function, ScalarMechanism):
            return self.made(function, positional, named)
        if function is Challenge and not named:
            return self.moved(Items(tuple(positional)), self.target)
        if named:
            raise self.refuse(f"a call of {shown(function)} with arguments by name")
        return self.number_of(function, positional)

    def number_of(self, function: Any, given: Sequence[Value]) -> Any:
        """A function of Python on numbers that play decides."""
        one = given[0]
        kind = kind_of(one)
        if function is isinstance and len(given) == 2 and isinstance(one, Slot):
            example = {kind: number for number, kind in KINDS.items()}[one.kind](0)
            return self.operation_on_types(example, given[1])
        if function is len and isinstance(one, Items):
            return Static(len(one.items))
        if function is tuple and isinstance(one, Items):
            return one
        if function is range:
            return self.ranged(given)
        if function in (min, max):
            items = one.items if len(given) == 1 and isinstance(one, Items) else given
            return self.extreme("min" if function is min else "max", items)
        if function is pow and len(given) == 2:
            return self.operation("**", given)
        if function is divmod and len(given) == 2:
            target, parts = self.target, []
            for i, sign in enumerate(("//", "%")):
                self.target = f"{target}.{i}"
                parts.append(self.operation(sign, given))
            self.target = target
            return Items(tuple(parts))
        if kind is None:
            raise self.refuse(f"a call of {shown(function)}")
        base = kind.removeprefix("np_")
        if len(given) == 1 and function in (int, float, bool, abs, round):
            if function is float:
                return self.result("copy", (self.as_base(one, "float"),), "float")
            if function is bool:
                test = self.truth(one)
                assert isinstance(test, Slot)
                return self.result("copy", (test,), "bool")
            if function is abs:
                return self.operation("abs", given)
            if base == "float":
                if kind != "float" and function is round:
                    raise self.refuse("round of a number of numpy")
                operand = self.as_base(one, "float")
                return self.result("int" if function is int else "round", (operand,), "float")
            return self.result("copy", (self.as_base(one, "int"),), "int")
        if function in MATH and all(kind_of(each) for each in given):
            name = MATH[function]
            if len(given) != (2 if name == "copysign" else 1):
                raise self.refuse(f"math.{name} of so many numbers")
            if name in ("floor", "ceil") and base != "float":
                return self.result("copy", (self.as_base(one, "int"),), "int")
            return self.result(name, [self.as_base(each, "float") for each in given], "float")
        raise self.refuse(f"a call of {shown(function)}")

    def operation_on_types(self, example: Any, kinds: Value) -> Static:
        """``isinstance`` of a number, of which only the type is known."""
        if not isinstance(kinds, Static):
            raise self.refuse("isinstance of a type that is computed")
        return self.static(isinstance, [example, kinds.value])

    def ranged(self, given: Sequence[Value]) -> Span:
        """A range of which play decides some end."""
        kinds = [str(kind_of(each)).removeprefix("np_") for each in given]
        step = given[2] if len(given) > 2 else Static(1)
        if len(given) > 3 or not isinstance(step, Static) or type(step.value) is not int:
            raise self.refuse("a range with a step that is computed")
        if not {*kinds} <= {"int", "bool"} or not step.value:
            raise Stops
        ends = [Static(0), *given] if len(given) == 1 else given
        start, stop = (self.held(self.as_base(each, "int")) for each in ends[:2])
        return Span(start, stop, step.value)

    def held(self, operand: Operand) -> Value:
        """An operand as a value."""
        return operand if isinstance(operand, Slot) else Static(operand)

    def extreme(self, name: str, items: Sequence[Value]) -> Value | Options:
        """The least or the largest of some numbers; among equal ones the first."""
        kinds = [kind_of(each) for each in items]
        if None in kinds or len(items) < 2:
            raise self.refuse(f"{name} of values that are not numbers")
        if len(set(kinds)) == 1 and kinds[0] in ("int", "float", "np_int", "np_float"):
            kind, target = str(kinds[0]), self.target
            base, found = kind.removeprefix("np_"), items[0]
            for i, each in enumerate(items[1:]):
                self.target = target if i == len(items) - 2 else f"{target} part {i}"
                pair = self.as_base(found, base), self.as_base(each, base)
                found = self.result(name, pair, base, kind.startswith("np_"))
            return found
        if len(items) > 2:
            raise self.refuse(f"{name} of more than two numbers of different types")
        sign = "<" if name == "min" else ">"
        return [((sign, items[1], items[0]), items[1]), (None, items[0])]

    def made(self, kind: type[ScalarMechanism], positional: list[Value],
             named: dict[str, Value]) -> Made:  # fmt: skip
        """A mechanism whose privacy parameter play decides."""
        if not is_of_package(kind):
            raise self.refuse(f"{kind.__name__}, which plays in Python only")
        try:
            arguments = inspect.signature(kind).bind(*positional, **named).arguments
        except TypeError:
            raise Stops from None
        name = kind.parameter_name
        computed = [key for key, each in arguments.items() if not isinstance(each, Static)]
        parameter = arguments.get(name)
        if computed != [name] or str(kind_of(parameter)).removeprefix("np_") == "bool":
            raise self.refuse(f"a {kind.__name__} in which more than {name} is computed")
        fixed = tuple((key, each) for key, each in arguments.items() if key != name)
        ends = interval(lambda x: kind(**{k: v.value for k, v in fixed}, **{name: x}))
        if ends is None:
            raise Stops
        operand = self.as_base(parameter, "float")
        slot = Slot(f"{self.target}.parameter", "float")
        return Made(kind, fixed, self.do(slot, "within", (operand,), "float", ends))

    def drawn(self, method: str, positional: list[Value], named: dict[str, Value]) -> Slot:
        """A draw of the coins."""
        if method not in DRAWS:
            raise self.refuse(f"coins.{method or '__call__'}, whose compiled draws may differ")
        names, base, typed = DRAWS[method]
        values = dict(zip([name for name, _ in names], positional)) | named
        if len(positional) > len(names) or set(values) - {name for name, _ in names}:
            raise self.refuse(f"coins.{method} with these arguments")
        operands = []
        for name, default in names:
            value = values.get(name, Static(default))
            kind = kind_of(value)
            if method == "integers" and name == "high" and kind is None:
                operands.insert(0, 0)  # integers(n) is integers(0, n)
            elif kind is None or (base == "int" and not kind.endswith("int")):
                raise self.refuse(f"coins.{method} with these arguments")
            else:
                operands.append(self.as_base(value, base))
        return self.do(Slot(self.target, typed.result), f"coins.{method}", operands, base)


def tidied(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks that can be reached, numbered anew, without those that only lead on."""

    def led(number: int) -> int:
        passed = {number}
        while not blocks[number].does and isinstance(end := blocks[number].end, int):
            if end in passed:
                break  # a loop without an end
            passed.add(end)
            number = end
        return number

    changed = True
    while changed:
        changed = False
        for each in blocks:
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
    found: list[Block] = []
    renumbered(0)
    for number in todo:  # which grows
        block = blocks[number]
        end = block.end
        if isinstance(end, Branch):
            end = Branch(end.test, renumbered(end.then), renumbered(end.otherwise))
        elif isinstance(end, Wait):
            end = replace(end, resume=renumbered(end.resume))
        elif isinstance(end, int):
            end = renumbered(end)
        found.append(Block(block.place, block.does, end))
    return tuple(found)


# --- facts of values ----------------------------------------------------------------------------


def leaves(value: Value) -> tuple[Slot, ...]:
    """The slots of a value."""
    if isinstance(value, Slot):
        return (value,)
    parts: tuple[Value, ...] = ()
    if isinstance(value, Items):
        parts = value.items
    elif isinstance(value, Span):
        parts = value.start, value.stop
    elif isinstance(value, Made):
        parts = (value.parameter,)
    return tuple(slot for part in parts for slot in leaves(part))


def tuple_of(values: Sequence[Value]) -> Value:
    """A tuple of values: fixed where they all are."""
    if all(isinstance(each, Static) for each in values):
        return Static(tuple(each.value for each in values if isinstance(each, Static)))
    return Items(tuple(values))


def literal(number: Any) -> int | float | bool:
    """A number as an operand; raises Stops where it does not fit."""
    if isinstance(number, np.generic):
        number = number.item()
    if type(number) is int and not HELD[0] < number <= HELD[1]:
        raise Stops
    plain: int | float | bool = number
    return plain


def operand_of(value: Value) -> Operand:
    """A number as an operand."""
    assert isinstance(value, Slot)
    return value


def is_large(value: Value) -> bool:
    """Whether it is a fixed whole number that does not fit."""
    return isinstance(value, Static) and type(value.value) is int and not (
        HELD[0] < value.value <= HELD[1]
    )  # fmt: skip


def is_no_number(value: Value) -> bool:
    """Whether it is a fixed value that equals no number."""
    return isinstance(value, Static) and type(value.value) in (str, bytes, tuple, type(None))


def held_as(number: Any, base: str) -> int | float | None:
    """The number of a type that is equal to one; None where there is none."""
    try:
        whole = int(number)
    except (OverflowError, ValueError):
        return float(number) if base == "float" else None
    if base == "int":
        return whole if whole == number and HELD[0] < whole <= HELD[1] else None
    return float(number) if float(number) == number else None


def table_of(values: Sequence[Value]) -> tuple[str, tuple[Any, ...]] | None:
    """The kind and the numbers of values that are all fixed numbers of one kind, else None."""
    kinds = {kind_of(each) for each in values}
    if len(kinds) != 1 or None in kinds or not all(isinstance(each, Static) for each in values):
        return None
    if any(map(is_large, values)):
        return None
    return str(kinds.pop()), tuple(literal(each.value) for each in values)  # type: ignore[union-attr]


def shown(function: Any) -> str:
    """A function's name."""
    return str(getattr(function, "__qualname__", None) or type(function).__name__)


def is_pure(function: Any) -> bool:
    """Whether a function changes nothing and depends on its arguments alone."""
    if isinstance(function, types.BuiltinFunctionType | types.MethodType):
        owner = function.__self__
        if isinstance(owner, types.ModuleType):
            return owner is math or function in PURE
        if isinstance(function, types.MethodType):
            return is_of_package(function.__func__)
        return function.__name__ in PURE_METHODS.get(type(owner), ())
    if isinstance(function, type | types.FunctionType):
        return is_of_package(function) or function in PURE
    return False


def interval(accepts: Callable[[float], Any]) -> tuple[float, float] | None:
    """The least and the largest positive float that ``accepts`` takes without an error.

    The accepted ones are taken for an interval that holds a power of two; None without one.
    """

    def accepted(x: float) -> bool:
        try:
            accepts(x)
        except Exception:
            return False
        return True

    powers = (math.ldexp(1.0, sign * k) for k in range(64) for sign in (1, -1))
    inside = next((x for x in powers if accepted(x)), None)
    if inside is None:
        return None

    def end(inside: float, outside: float) -> float:
        """The last accepted float before one that is not, by halving their places in order."""
        near, far = (int(np.float64(x).view(np.int64)) for x in (inside, outside))
        while abs(far - near) > 1:
            middle = (near + far) // 2
            if accepted(float(np.int64(middle).view(np.float64))):
                near = middle
            else:
                far = middle
        return float(np.int64(near).view(np.float64))

    return end(inside, 0.0), end(inside, math.inf)
