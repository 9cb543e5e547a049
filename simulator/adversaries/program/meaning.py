"""What operations do to values: arithmetic, comparisons, tuples, tables and loops."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from simulator.adversaries.contract import Challenge
from simulator.adversaries.program.emitting import Emitter, Options, Test
from simulator.adversaries.program.fixed import attribute_of, is_plain
from simulator.adversaries.program.forms import (
    ArrayTable,
    Coins,
    Operand,
    Picked,
    Several,
    Slot,
    Span,
    Static,
    Value,
)
from simulator.adversaries.program.operations import KINDS, STATIC, TYPED
from simulator.adversaries.program.values import (
    Stops,
    base_of,
    held_as,
    is_large,
    is_no_number,
    items_of,
    kind_of,
    objects_of,
    table_of,
)

LONGEST = 64
"""Most objects of which each has branches of its own: of more play decides the place alone."""
WIDEST = 1 << 16
"""Most items of a table that is written as a tuple."""
LARGEST = 1 << 24
"""Most numbers of an array."""
FOR_NUMPY = {"+", "-", "*", "/", "==", "!=", "<", "<=", ">", ">=", "negative", "abs"}
"""What is read of numpy's scalars, which differ from Python's numbers in what raises."""
FOR_NUMPYS_WHOLE = {"//", "%", "&", "|", "^", "<<", ">>"}
"""What is read of numpy's whole numbers besides."""
CONTAINERS = (tuple, list, set, frozenset, dict, range, np.ndarray)
COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}


class Meaning(Emitter):
    """Applies operations to values: computes with fixed ones, appends operations on slots."""

    def operation(self, operation: str, operands: Sequence[Value]) -> Value:
        """An arithmetic operation or a comparison."""
        if operation in ("is", "is not"):
            return self.identical(operation, *operands)
        objects = objects_of(operands)
        if objects is not None:
            if not all(map(is_plain, objects)):
                raise self.refuse(f"{operation} of objects of the user's")
            for each in objects:
                if isinstance(each, np.generic) and type(each) not in KINDS:
                    raise self.refuse(f"{operation} of a number of type {each.dtype}")
            return self.applied(STATIC[operation], objects)
        if operation in ("in", "not in"):
            return self.contained(operation, *operands)
        if operation == "not":
            test = self.truth(operands[0])
            return (
                Static(not test) if isinstance(test, bool) else self.result("not", [test], "bool")
            )
        if operation in ("==", "!=") and any(isinstance(each, Several) for each in operands):
            return self.alike(operation, *operands)
        if any(kind_of(each) is None for each in operands):
            one_number = any(kind_of(each) is not None for each in operands)
            if operation in ("==", "!=") and one_number and any(map(is_no_number, operands)):
                return Static(operation == "!=")
            raise self.refuse(f"{operation} of values that are not numbers")
        return self.arithmetic(operation, operands)

    def arithmetic(self, operation: str, operands: Sequence[Value]) -> Value:
        """An operation on numbers, some of which play decides."""
        kinds = [str(kind_of(each)) for each in operands]
        numpy = any(kind.startswith("np_") for kind in kinds)
        bases = {kind.removeprefix("np_") for kind in kinds}
        read = FOR_NUMPY | FOR_NUMPYS_WHOLE if bases == {"int"} else FOR_NUMPY
        if numpy and (operation not in read or "np_bool" in kinds):
            raise self.refuse(f"{operation} of a number of numpy: convert it by int() or float()")
        base = "float" if "float" in bases or operation == "/" else "int"
        if operation in COMPARISONS and base == "int" and any(map(is_large, operands)):
            return self.beyond(operation, operands)
        if operation in ("&", "|", "^") and bases == {"bool"}:
            base = "bool"
        if operation == "positive":
            return self.result("copy", [self.as_base(operands[0], base)], base, numpy)
        if (operation, base) not in TYPED:
            raise Stops  # of floats it is a TypeError
        exact = operation in COMPARISONS or (operation == "/" and "float" not in bases)
        return self.result(
            operation, [self.as_base(each, base, exact) for each in operands], base, numpy
        )

    def alike(self, operation: str, one: Value, other: Value) -> Value:
        """Whether two tuples of whole numbers are equal."""
        sides = [items_of(each) for each in (one, other)]
        if None in sides:
            raise self.refuse(f"{operation} of a tuple and another value")
        pairs = list(zip(sides[0] or (), sides[1] or ()))
        if len(sides[0] or ()) != len(sides[1] or ()):
            return Static(operation == "!=")
        if not {base_of(each) for pair in pairs for each in pair} <= {"int", "bool"}:
            raise self.refuse(f"{operation} of tuples of other than whole numbers")
        target, tests = self.target, []
        for i, pair in enumerate(pairs):
            self.target = f"{target} pair {i}"
            tests.append(self.as_base(self.operation("==", pair), "bool"))
        self.target = target
        found: Operand = True
        for test in tests:
            found = self.do(self.scratch("bool"), "&", (found, test), "bool")
        return self.result("copy" if operation == "==" else "not", [found], "bool")

    def beyond(self, operation: str, operands: Sequence[Value]) -> Static:
        """A comparison with a whole number that is larger than all that are held."""
        signs = [0, 0]
        for place, each in enumerate(operands):
            if is_large(each) and isinstance(each, Static):
                signs[place] = 1 if each.value > 0 else -1
        return Static(STATIC[operation](*signs))

    def identical(self, operation: str, one: Value, other: Value) -> Static:
        """``is``: of None and truth values, and of objects that the adversary does not make."""
        objects = [each.value for each in (one, other) if isinstance(each, Static)]
        if isinstance(one, Picked) or isinstance(other, Picked):
            raise self.refuse("is of one of many objects")
        if not any(each is None or each is True or each is False for each in objects):
            made = self.created & set(map(id, objects))
            if len(objects) < 2 or made or any(type(each) in KINDS for each in objects):
                raise self.refuse("is of values that are computed")
        elif any(isinstance(each, Slot) and each.base == "bool" for each in (one, other)):
            raise self.refuse("is of a computed truth value")
        same = len(objects) == 2 and objects[0] is objects[1]
        return Static(same == (operation == "is"))

    def contained(self, operation: str, one: Value, held: Value) -> Value:
        """Whether a number is one of some fixed numbers."""
        if isinstance(one, Several) and isinstance(held, Static):
            listed = items_of(held)
            if listed is None or len(listed) > LONGEST:
                raise self.refuse(f"{operation} of a {type(held.value).__name__}")
            target, equal_one = self.target, cast(Operand, False)
            for i, each in enumerate(listed):
                self.target = f"{target} item {i}"
                test = self.as_base(self.operation("==", (one, each)), "bool")
                equal_one = self.do(self.scratch("bool"), "|", (equal_one, test), "bool")
            self.target = target
            return self.result("copy" if operation == "in" else "not", [equal_one], "bool")
        if not isinstance(one, Slot) or not isinstance(held, Static):
            raise self.refuse(f"{operation} of values that are computed")
        if not isinstance(held.value, CONTAINERS) or not is_plain(held.value):
            raise self.refuse(f"{operation} of a {type(held.value).__name__}")
        if len(held.value) > WIDEST:
            raise self.refuse(f"{operation} of so many values")
        values = np.ravel(held.value) if isinstance(held.value, np.ndarray) else held.value
        numbers = [each for each in values if type(each) in KINDS]
        others = [Static(each) for each in values if type(each) not in KINDS]
        if not all(map(is_no_number, others)) or any(each != each for each in numbers):
            raise self.refuse(f"{operation} of values that are not numbers")
        base = "float" if one.base == "float" else "int"
        equal = [number for each in numbers if (number := held_as(each, base)) is not None]
        found = self.result("among", [self.as_base(one, base)], base, table=tuple(equal))
        return found if operation == "in" else self.result("not", [found], "bool")

    def evaluated(self, operands: Sequence[Value], code: types.CodeType, names: Sequence[str],
                  others: dict[str, Any], words: str) -> Static:  # fmt: skip
        """An expression of fixed objects, by Python."""
        objects = objects_of(operands)
        if objects is None:
            raise self.refuse(f"{words} of values that are computed")
        variables = others | dict(zip(names, objects))
        key = code, tuple(map(self.token_of, objects))
        found = self.computed(key, lambda: eval(code, variables))
        self.created.add(id(found.value))
        return found

    def attribute(self, value: Value, name: str) -> Value:
        """An attribute of a fixed object, or a method of the coins."""
        if isinstance(value, Coins):
            return Coins(name)
        if not isinstance(value, Static):
            raise self.refuse(f"the attribute {name} of a value that is computed")
        try:
            return Static(attribute_of(value.value, name))
        except LookupError:
            raise self.refuse(f"the attribute {name}, which is computed") from None
        except Exception:
            raise Stops from None

    # --- tuples and tables ----------------------------------------------------------------------

    def index(self, held: Value, place: Value) -> Value | Options:
        """An item of a tuple, a table or a dictionary."""
        if isinstance(held, Several):
            values: Sequence[Value] = held.items
        elif isinstance(held, Picked) and isinstance(place, Static):
            if type(place.value) not in (int, bool):
                raise self.refuse("an item of one of many objects by other than a whole number")
            return self.part(held, place.value)
        elif not isinstance(held, Static) or not is_plain(held.value):
            raise self.refuse("an item of a value that is computed, or of a user's object")
        elif isinstance(place, Static):
            return self.applied(STATIC["index"], [held.value, place.value])
        elif isinstance(held.value, dict):
            if len(held.value) > LONGEST or any(type(key) not in KINDS for key in held.value):
                raise self.refuse("a dictionary that is read by a number")
            return [
                (("==", place, Static(key)), Static(found)) for key, found in held.value.items()
            ]
        elif isinstance(held.value, np.ndarray):
            return self.entry_of_array(held.value, place)
        elif isinstance(held.value, tuple | list | range):
            if len(held.value) > WIDEST:
                raise self.refuse("a table of so many values")
            values = [Static(each) for each in held.value]
        else:
            raise self.refuse(f"an item of a {type(held.value).__name__}")
        if isinstance(place, Static):
            try:
                found: Value = values[place.value]
            except (TypeError, IndexError):
                raise Stops from None
            return found
        if not isinstance(place, Slot) or place.base == "float":
            raise Stops
        where = self.as_base(place, "int")
        within = self.do(self.scratch("int"), "place", (where,), "int", (len(values),))
        return self.item(values, within)

    def entry_of_array(self, held: np.ndarray, place: Value) -> Value:
        """A number of an array, by as many whole numbers as it has dimensions."""
        places = place.items if isinstance(place, Several) else (place,)
        kind = KINDS.get(held.dtype.type)
        if kind is None or not held.dtype.isnative or held.size > LARGEST:
            raise self.refuse(f"an item of an array of {held.size} numbers of type {held.dtype}")
        if kind == "np_int" and held.size and is_large(Static(int(held.min()))):
            raise self.refuse(f"an item of an array that has {held.min()}")
        if len(places) != held.ndim or not {base_of(each) for each in places} <= {"int"}:
            raise self.refuse("an item of an array by other than whole numbers, one a dimension")
        flat: Slot | None = None
        for each, size in zip(places, held.shape):
            where = self.as_base(each, "int")
            within = self.do(self.scratch("int"), "place", (where,), "int", (size,))
            if flat is None:
                flat = within
            else:
                flat = self.do(self.scratch("int"), "flat", (flat, within), "int", (size,))
        assert flat is not None
        key = "table", id(held)
        table = self.computed(key, lambda: ArrayTable(held.ravel().copy()))
        self.kept[id(held)] = held
        slot = Slot(self.target, kind)
        return self.do(slot, "lookup", (flat,), slot.base, table.value)

    def item(self, values: Sequence[Value], place: Slot) -> Value | Options:
        """The value at a place that play decides."""
        if len(values) > LONGEST or table_of(values) is not None:
            return self.picked(values, place)
        tests: list[Test | None] = [("==", place, Static(i)) for i in range(len(values) - 1)]
        return list(zip([*tests, None], values))

    def picked(self, values: Sequence[Value], place: Slot) -> Value:
        """The same without branches: of numbers of one type, or of fixed objects."""
        if (table := table_of(values)) is not None:
            slot = Slot(self.target, table[0])
            return self.do(slot, "lookup", (place,), slot.base, table[1])
        if (objects := objects_of(values)) is None:
            raise self.refuse(f"a choice among {len(values)} values of which some are computed")
        return Picked(self.at_length(objects), place)

    def at_length(self, objects: Sequence[Any]) -> tuple[Any, ...]:
        """The same tuple for the same objects."""
        key = "objects", tuple(map(id, objects))
        found: tuple[Any, ...] = self.computed(key, lambda: tuple(objects)).value
        return found

    def part(self, picked: Picked, place: int, count: int | None = None) -> Value:
        """The item at a fixed place of one of many tuples; ``count`` is how many each has."""
        for each in picked.objects:
            if type(each) not in (tuple, list, Challenge):
                raise self.refuse("an item of one of many objects, of which not all are tuples")
            if (count is not None and len(each) != count) or not -len(each) <= place < len(each):
                raise self.refuse("an item of one of many tuples, of which not all have so many")
        values = [Static(each[place]) for each in picked.objects]
        if len({self.token(each) for each in values}) == 1:
            return values[0]
        return self.picked(values, picked.place)

    def unpacked(self, value: Value, place: int, count: int) -> Value:
        """One of several values that are assigned at once."""
        if isinstance(value, Several):
            items: Sequence[Value] = value.items
        elif isinstance(value, Static) and isinstance(value.value, tuple | list | str):
            items = [Static(each) for each in value.value]
        elif isinstance(value, Picked):
            return self.part(value, place, count)
        elif isinstance(value, Slot):
            raise Stops
        else:
            raise self.refuse("several names for a value that is no tuple")
        if len(items) != count:
            raise Stops
        return items[place]

    # --- loops ----------------------------------------------------------------------------------

    def iterable(self, value: Value) -> Value:
        """What a loop goes through: a range, or a tuple."""
        if isinstance(value, Span | Several):
            return value
        if not isinstance(value, Static):
            raise self.refuse("a loop over a value that is computed")
        found = value.value
        if isinstance(found, range):
            return Span(Static(found.start), Static(found.stop), found.step)
        if isinstance(found, tuple | list | str | dict | np.ndarray | frozenset | set):
            return self.applied(tuple, [found])
        raise self.refuse(f"a loop over a {type(found).__name__}")

    def turn(self, part: str, operands: Sequence[Value]) -> Value | Options:
        """The place of a loop: the first, whether there is more, the item there, and the next.

        Play decides the place among numbers; among objects it is known.
        """
        over, place = operands[0], operands[-1]
        if isinstance(over, Span):
            if part == "first":
                return self.moved(over.start, self.target, lifts=True)
            if part == "more":
                return self.operation("<" if over.step > 0 else ">", (place, over.stop))
            return place if part == "item" else self.operation("+", (place, Static(over.step)))
        assert isinstance(over, Static | Several)
        values = over.items if isinstance(over, Several) else [Static(v) for v in over.value]
        if part == "first":
            decided = len(values) > LONGEST or table_of(values) is not None
            return self.moved(Static(0), self.target, lifts=decided and len(values) <= WIDEST)
        if part == "more":
            return self.operation("<", (place, Static(len(values))))
        if part == "next":
            return self.operation("+", (place, Static(1)))
        if isinstance(place, Slot):
            return self.item(values, place)
        assert isinstance(place, Static)
        if len(values) > LONGEST:
            raise self.refuse(f"a loop over {len(values)} objects")
        item: Value = values[place.value]
        return item
