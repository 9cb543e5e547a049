"""What calls do to values: functions of Python, mechanisms, and draws of the coins."""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Sequence
from typing import Any

from simulator.adversaries.contract import Challenge
from simulator.adversaries.program.emitting import Options
from simulator.adversaries.program.fixed import interval, is_pure
from simulator.adversaries.program.forms import Coins, Made, Several, Slot, Span, Static, Value
from simulator.adversaries.program.meaning import LONGEST, Meaning
from simulator.adversaries.program.operations import DRAWS, KINDS, TYPED
from simulator.adversaries.program.values import (
    Stops,
    base_of,
    kind_of,
    objects_of,
    shown,
    table_of,
)
from simulator.identity.origins import is_of_package, is_users
from simulator.mechanisms import ScalarMechanism

MATH = {
    getattr(math, name): name for name, base in TYPED if base == "float" and hasattr(math, name)
}
EXAMPLES = {kind: number(0) for number, kind in KINDS.items()}
"""A number of each kind."""


class Calls(Meaning):
    """Applies calls to values."""

    def call(
        self, callee: Value, given: Sequence[Value], names: tuple[str, ...]
    ) -> Value | Options:
        """A call of a function that is fixed, or of a method of the coins."""
        positional = list(given[: len(given) - len(names)])
        named = dict(zip(names, given[len(positional) :]))
        if isinstance(callee, Coins):
            return self.drawn(callee.method, positional, named)
        if not isinstance(callee, Static):
            raise self.refuse("a call of a value that is computed")
        function = callee.value
        objects = objects_of(given)
        if objects is not None:
            return self.called(function, objects, names)
        if isinstance(function, type) and issubclass(function, ScalarMechanism):
            return self.made(function, positional, named)
        if function is Challenge:
            parts = {**dict(zip(Challenge._fields, positional)), **named}
            if len(given) != len(parts) or {*parts} != {*Challenge._fields}:
                raise Stops
            ordered = Several(tuple(parts[name] for name in Challenge._fields))
            return self.moved(ordered, self.target)
        if named:
            raise self.refuse(f"a call of {shown(function)} with arguments by name")
        return self.number_of(function, positional)

    def called(self, function: Any, objects: list[Any], names: tuple[str, ...]) -> Static:
        """A call with fixed objects."""
        users = any(isinstance(each, types.FunctionType) and is_users(each) for each in objects)
        if not is_pure(function) or (users and not is_of_package(function)):
            raise self.refuse(f"a call of {shown(function)}")
        count = len(objects) - len(names)
        named = dict(zip(names, objects[count:]))
        key = self.token_of(function), names, tuple(map(self.token_of, objects))
        found = self.computed(key, lambda: function(*objects[:count], **named))
        self.created.add(id(found.value))
        return found

    def number_of(self, function: Any, given: Sequence[Value]) -> Value | Options:
        """A function of Python of which play decides some argument."""
        one, count = given[0], len(given)
        if function is isinstance and count == 2 and isinstance(one, Slot):
            if not isinstance(given[1], Static):
                raise self.refuse("isinstance of a type that is computed")
            return self.applied(isinstance, [EXAMPLES[one.kind], given[1].value])
        if function in (len, tuple) and isinstance(one, Several):
            return Static(len(one.items)) if function is len else one
        if function is range:
            return self.ranged(given)
        if function in (min, max):
            items = one.items if count == 1 and isinstance(one, Several) else given
            return self.extreme("min" if function is min else "max", items)
        if function is pow and count == 2:
            return self.operation("**", given)
        if function is divmod and count == 2:
            target, parts = self.target, []
            for i, sign in enumerate(("//", "%")):
                self.target = f"{target}.{i}"
                parts.append(self.operation(sign, given))
            self.target = target
            return Several(tuple(parts))
        held = getattr(function, "__self__", None)
        if type(held) is dict and function.__name__ == "get" and count <= 2:
            if not set(map(type, held)) <= {*KINDS} or len(held) > LONGEST:
                raise self.refuse("a dictionary that is read by a number")
            tests: Options = [
                (("==", one, Static(key)), Static(each)) for key, each in held.items()
            ]
            return [*tests, (None, given[1] if count == 2 else Static(None))]
        if any(kind_of(each) is None for each in given):
            raise self.refuse(f"a call of {shown(function)}")
        if count == 1 and function in (
            int,
            float,
            bool,
            abs,
            round,
            math.floor,
            math.ceil,
            math.trunc,
        ):
            return self.converted(function, one)
        name = MATH.get(function)
        if name is None or count != 1 + ("{1}" in TYPED[name, "float"].text):
            read = name is not None or function in (pow, round, int, float)
            raise self.refuse(f"a call of {shown(function)}{' with these arguments' * read}")
        return self.result(name, [self.as_base(each, "float") for each in given], "float")

    def converted(self, function: Any, one: Value) -> Value:
        """A number as another type, or its absolute value."""
        if function is abs:
            return self.operation("abs", [one])
        if function is float:
            return self.result("copy", [self.as_base(one, "float")], "float")
        if function is bool:
            test = self.truth(one)
            assert isinstance(test, Slot)
            return self.result("copy", [test], "bool")
        if kind_of(one) in ("np_float", "np_int", "np_bool") and function is round:
            raise self.refuse("round of a number of numpy")
        if base_of(one) != "float":
            return self.result("copy", [self.as_base(one, "int")], "int")
        name = {math.trunc: "int"}.get(function, function.__name__)
        return self.result(name, [self.as_base(one, "float")], "float")

    def ranged(self, given: Sequence[Value]) -> Span:
        """A range of which play decides some end."""
        step = given[2] if len(given) > 2 else Static(1)
        if len(given) > 3 or not isinstance(step, Static) or type(step.value) is not int:
            raise self.refuse("a range with a step that is computed")
        if not set(map(base_of, given)) <= {"int", "bool"} or not step.value:
            raise Stops
        ends = [Static(0), *given] if len(given) == 1 else given
        operands = [self.as_base(each, "int") for each in ends[:2]]
        start, stop = (each if isinstance(each, Slot) else Static(each) for each in operands)
        return Span(start, stop, step.value)

    def extreme(self, name: str, items: Sequence[Value]) -> Value | Options:
        """The least or the largest of some numbers; among equal ones the first."""
        kinds = [kind_of(each) for each in items]
        if None in kinds or len(items) < 2:
            raise self.refuse(f"{name} of values that are not numbers")
        if len(set(kinds)) > 1 or kinds[0] in ("bool", "np_bool"):
            if len(items) > 2:
                raise self.refuse(f"{name} of more than two numbers of different types")
            sign = "<" if name == "min" else ">"
            return [((sign, items[1], items[0]), items[1]), (None, items[0])]
        target, found, base = self.target, items[0], base_of(items[0])
        for i, each in enumerate(items[1:]):
            self.target = target if i == len(items) - 2 else f"{target} part {i}"
            pair = [self.as_base(found, base), self.as_base(each, base)]
            found = self.result(name, pair, base, str(kinds[0]).startswith("np_"))
        return found

    def made(self, kind: type[ScalarMechanism], positional: list[Value],
             named: dict[str, Value]) -> Made:  # fmt: skip
        """A mechanism whose privacy parameter play decides."""
        name = kind.parameter_name
        try:
            arguments = inspect.signature(kind).bind(*positional, **named).arguments
        except TypeError:
            raise Stops from None
        fixed = {key: each for key, each in arguments.items() if isinstance(each, Static)}
        parameter = arguments.get(name)
        if not is_of_package(kind) or {*arguments} - {*fixed} != {name}:
            raise self.refuse(f"a {kind.__name__} in which more than {name} is computed")
        if base_of(parameter) not in ("int", "float"):
            raise self.refuse(f"a {kind.__name__} whose {name} is no number")
        objects = {key: each.value for key, each in fixed.items()}
        ends = interval(lambda x: kind(**objects, **{name: x}))
        if ends is None:
            raise Stops
        slot = Slot(f"{self.target}.parameter", "float")
        within = self.do(slot, "within", [self.as_base(parameter, "float")], "float", ends)
        return Made(kind, tuple(fixed.items()), within)

    def drawn(
        self, method: str, positional: list[Value], named: dict[str, Value]
    ) -> Value | Options:
        """A draw of the coins."""
        if method not in DRAWS:
            raise self.refuse(f"coins.{method or '__call__'}, whose compiled draws may differ")
        names, base, typed = DRAWS[method]
        values = dict(zip([name for name, _ in names], positional)) | named
        if len(positional) > len(names) or set(values) - {name for name, _ in names}:
            raise self.refuse(f"coins.{method} with these arguments")
        if (
            method == "choice"
            and isinstance(held := values.get("a"), Static)
            and isinstance(held.value, tuple | list)
        ):
            return self.chosen([Static(each) for each in held.value])
        if method == "integers" and base_of(values.get("high")) == "None":
            values = {"low": Static(0), "high": values.get("low", Static(None))}
        operands = [values.get(name, Static(default)) for name, default in names]
        kinds = [base_of(each) for each in operands]
        if not set(kinds) <= ({"int"} if base == "int" else {"int", "float", "bool"}):
            raise self.refuse(f"coins.{method} with these arguments")
        return self.do(Slot(self.target, typed.result), f"coins.{method}",
                       [self.as_base(each, base) for each in operands], base)  # fmt: skip

    def chosen(self, values: Sequence[Value]) -> Value | Options:
        """One of several numbers, each as likely; it is one of numpy's scalars."""
        table = table_of(values)
        if table is None or table[0] not in ("int", "float") or len(values) > LONGEST:
            raise self.refuse("coins.choice of values that are not numbers of one type")
        place = self.do(self.scratch("int"), "coins.choice", [len(values)], "int")
        slot = Slot(self.target, f"np_{table[0]}")
        return self.do(slot, "lookup", [place], slot.base, table[1])
