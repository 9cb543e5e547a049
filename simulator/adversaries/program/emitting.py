"""The part of building a machine that appends typed operations to a segment."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simulator.adversaries.program.forms import (
    ArrayTable,
    Coins,
    Do,
    Made,
    NotRead,
    Operand,
    Picked,
    Segment,
    Several,
    Slot,
    Span,
    Static,
    Value,
)
from simulator.adversaries.program.operations import TYPED
from simulator.adversaries.program.values import Stops, kind_of, literal, objects_of

Test = tuple[str, Value, Value]
"""A comparison."""
Options = list[tuple[Test | None, Value]]
"""Values to choose from: the first whose test is true; the last may have none."""


class Emitter:
    """Appends operations to a segment, and keeps the results of calls on fixed objects.

    Attributes
    ----------
    segment, place, target : where building is: the segment, the place in the source, and the
        variable that is assigned.
    memory : the results of calls on fixed objects.
    kept : objects whose ids are used; ``created`` are the ids of those that calls have made.
    """

    def __init__(self) -> None:
        self.segment, self.place, self.target, self.spare = Segment(), ("", 0), "", 0
        self.memory: dict[Any, Static] = {}
        self.kept: dict[int, Any] = {}
        self.created: set[int] = set()

    def refuse(self, construct: str) -> NotRead:
        """The error of a construct that is not in the closed form."""
        return NotRead(*self.place, construct)

    # --- fixed objects --------------------------------------------------------------------------

    def token(self, value: Value) -> Any:
        """What distinguishes a value from others of a variable."""
        if isinstance(value, Static):
            return self.token_of(value.value)
        if isinstance(value, Several):
            return ("items", *map(self.token, value.items))
        if isinstance(value, Span):
            return "span", self.token(value.start), self.token(value.stop), value.step
        if isinstance(value, Made):
            fixed = tuple((name, self.token(each)) for name, each in value.fixed)
            return value.kind, fixed, self.token(value.parameter)
        if isinstance(value, Picked):
            return "picked", self.token_of_many(value.objects), self.token(value.place)
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

    def token_of_many(self, objects: tuple[Any, ...]) -> Any:
        """What distinguishes a long tuple, by identity: it is one of those that are kept here."""
        self.kept[id(objects)] = objects
        return "objects", id(objects)

    def computed(self, key: Any, compute: Callable[[], Any]) -> Static:
        """The result of a computation with fixed objects, made once for a key."""
        if key not in self.memory:
            try:
                found = compute()
            except Exception:
                raise Stops from None
            self.memory[key] = Static(found)
            self.kept[id(found)] = found
        return self.memory[key]

    def applied(self, function: Callable[..., Any], values: Sequence[Any]) -> Static:
        """The result of a function on fixed objects."""
        key = function, tuple(map(self.token_of, values))
        return self.computed(key, lambda: function(*values))

    # --- operations -----------------------------------------------------------------------------

    def do(self, target: Slot, operation: str, operands: Sequence[Operand], base: str,
           table: tuple[Any, ...] | ArrayTable = ()) -> Slot:  # fmt: skip
        """Append an operation to the segment."""
        self.segment.does.append(
            Do(target, operation, tuple(operands), base, table, place=self.place)
        )
        return target

    def result(self, operation: str, operands: Sequence[Operand], base: str, numpy: bool = False,
               table: tuple[Any, ...] = ()) -> Slot:  # fmt: skip
        """Append a typed operation whose result is the target."""
        kind = TYPED[operation, base].result
        slot = Slot(self.target, f"np_{kind}" if numpy else kind)
        return self.do(slot, operation, operands, base, table)

    def scratch(self, kind: str) -> Slot:
        """A slot for a result within one operation."""
        self.spare += 1
        return Slot(f"{self.target} part {self.spare}", kind)

    def as_base(self, value: Value | None, base: str, exact: bool = False) -> Operand:
        """A number as an operand of a type; ``exact`` stops where a float is not the same."""
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

    def moved(self, value: Value, name: str, lifts: bool = False) -> Value:
        """The value under a variable's name, its numbers copied there.

        With ``lifts`` fixed numbers are, too, so that play decides them.
        """
        if isinstance(value, Slot):
            slot = Slot(name, value.kind)
            return slot if slot == value else self.do(slot, "copy", (value,), value.base)
        if isinstance(value, Static) and lifts:
            if (kind := kind_of(value)) is not None:
                slot = Slot(name, kind)
                return self.do(slot, "copy", (literal(value.value),), slot.base)
            if type(value.value) is tuple:
                moved = self.moved(Several(tuple(map(Static, value.value))), name, lifts)
                assert isinstance(moved, Several)
                return value if objects_of(moved.items) is not None else moved
            return value
        if isinstance(value, Several):
            parts = enumerate(value.items)
            return Several(tuple(self.moved(each, f"{name}.{i}", lifts) for i, each in parts))
        if isinstance(value, Span):
            ends = self.moved(value.start, f"{name}.start"), self.moved(value.stop, f"{name}.stop")
            return Span(*ends, value.step)
        if isinstance(value, Made):
            parameter = self.moved(value.parameter, f"{name}.parameter")
            return Made(value.kind, value.fixed, parameter)
        if isinstance(value, Picked):
            place = Slot(f"{name}.place", "int")
            if place != value.place:
                self.do(place, "copy", (value.place,), "int")
            return Picked(value.objects, place)
        return value

    def truth(self, value: Value) -> bool | Slot:
        """Whether a value counts as true: known, or a slot."""
        if isinstance(value, Static):
            return bool(self.applied(bool, [value.value]).value)
        if isinstance(value, Several):
            return bool(value.items)
        if isinstance(value, Slot):
            if value.base == "bool":
                return value
            return self.do(self.scratch("bool"), "true", (value,), value.base)
        if isinstance(value, Made | Coins):
            return True
        raise self.refuse("the truth of a range, or of one of many objects")
