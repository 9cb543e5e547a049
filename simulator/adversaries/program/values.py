"""Facts of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simulator.adversaries.program.forms import Made, Picked, Several, Slot, Span, Static, Value
from simulator.adversaries.program.operations import HELD, KINDS

IN_PLACE = {
    "+=": "add", "-=": "sub", "*=": "mul", "/=": "truediv", "//=": "floordiv", "%=": "mod",
    "**=": "pow", "<<=": "lshift", ">>=": "rshift", "&=": "and", "|=": "or", "^=": "xor",
}  # fmt: skip
"""The names of the methods of assignments that operate."""


class Stops(Exception):
    """Python raises here, or computes a number that is not held."""


def kind_of(value: Value | None) -> str | None:
    """The kind of a number; None of another value."""
    if isinstance(value, Slot):
        return value.kind
    return KINDS.get(type(value.value)) if isinstance(value, Static) else None


def base_of(value: Value | None) -> str:
    """The kind of a number without regard to numpy; "None" of another value."""
    return str(kind_of(value)).removeprefix("np_")


def leaves(value: Value) -> tuple[Slot, ...]:
    """The slots of a value."""
    if isinstance(value, Slot):
        return (value,)
    parts: tuple[Value, ...] = ()
    if isinstance(value, Several):
        parts = value.items
    elif isinstance(value, Span):
        parts = value.start, value.stop
    elif isinstance(value, Made):
        parts = (value.parameter,)
    elif isinstance(value, Picked):
        parts = (value.place,)
    return tuple(slot for part in parts for slot in leaves(part))


def objects_of(values: Sequence[Value]) -> list[Any] | None:
    """The objects, where all values are fixed; else None."""
    found = [each.value for each in values if isinstance(each, Static)]
    return found if len(found) == len(values) else None


def changes_in_place(sign: str, value: Value) -> bool:
    """Whether ``value += ...`` changes a fixed object, as of a list, which may have other names."""
    return isinstance(value, Static) and hasattr(type(value.value), f"__i{IN_PLACE[sign]}__")


def tuple_of(values: Sequence[Value]) -> Value:
    """A tuple of values: fixed where they all are."""
    objects = objects_of(values)
    return Several(tuple(values)) if objects is None else Static(tuple(objects))


def items_of(value: Value) -> tuple[Value, ...] | None:
    """The items of a tuple, else None."""
    if isinstance(value, Several):
        return value.items
    if isinstance(value, Static) and type(value.value) is tuple:
        return tuple(map(Static, value.value))
    return None


def depth_of(value: Value) -> int:
    """How many tuples are within each other."""
    return 1 + max(map(depth_of, items_of(value) or ()), default=0) if items_of(value) else 0


def literal(number: Any) -> int | float | bool:
    """A number as an operand; raises Stops where it does not fit."""
    if isinstance(number, np.generic):
        number = number.item()
    if type(number) is int and not HELD[0] < number <= HELD[1]:
        raise Stops
    plain: int | float | bool = number
    return plain


def is_large(value: Value) -> bool:
    """Whether it is a fixed whole number that does not fit."""
    if not isinstance(value, Static) or type(value.value) is not int:
        return False
    return not HELD[0] < value.value <= HELD[1]


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
    objects = objects_of(values)
    if len(kinds) != 1 or None in kinds or objects is None or any(map(is_large, values)):
        return None
    return str(kinds.pop()), tuple(map(literal, objects))


def shown(function: Any) -> str:
    """A function's name."""
    return str(getattr(function, "__qualname__", None) or type(function).__name__)
