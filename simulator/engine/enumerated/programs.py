"""All ways through a step of a program, by its typed operations on known and unknown numbers.

An operation on known numbers is Python's. On an answer or a coin, of which an interval is known,
the operations are listed here: comparisons, which are decided both ways and narrow the interval,
and the arithmetic that only moves where they change. Every other one is refused with its line.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from simulator.adversaries.program.forms import Branch, Do, Machine, Place, Segment, Slot, Wait
from simulator.adversaries.program.operations import HELPERS, TYPED
from simulator.engine.enumerated.decisions import Script, every_run
from simulator.engine.enumerated.intervals import Line
from simulator.engine.enumerated.tracing import TracedCoins, Way
from simulator.engine.enumerated.unknown_numbers import Unknown
from simulator.foundations.errors import NotApplicable

MOST_SEGMENTS = 10_000
"""Most segments that a step passes."""

UNKNOWN: dict[str, Callable[..., Any]] = {
    "copy": lambda x: x, "negative": operator.neg, "abs": abs, "fabs": abs,
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne, "true": lambda x: x != 0.0,
    "min": lambda a, b: b if b < a else a, "max": lambda a, b: b if b > a else a,
    "int": math.trunc, "floor": math.floor, "ceil": math.ceil,
    "isnan": lambda x: False, "isinf": lambda x: False, "isfinite": lambda x: True,
}  # fmt: skip
"""Operations of which an operand is unknown; an answer and a coin are finite."""


class Ends(Exception):
    """The program stops here."""


def program_ways(
    machine: Machine, state: tuple[Any, ...], rounds: tuple[int, int], answer: Any
) -> Iterator[Way]:
    """Every way that a program takes from a state, as :func:`tracing.ways` does for a rule's step.

    A state is the number of a point (0 before the first round) and the numbers that are kept there.
    Raises NotApplicable where the ways cannot be enumerated, or the program may stop.
    """
    points = tuple(dict.fromkeys((w.resume, w.answer, w.live) for w in machine.waits))

    def run(script: Script) -> Way | None:
        given = isinstance(answer, tuple)
        spacing, origin = answer if given else (0.0, 0.0)
        line = Line(script, "answer", -math.inf, math.inf, spacing=spacing, origin=origin)
        coins, number, known = TracedCoins(script), 0, {}
        if state[0]:
            number, slot, live = points[state[0] - 1]
            known = dict(zip(live, state[1:]))
            if slot is not None:
                known[slot] = Unknown(line) if given else answer
        wait, place = _followed(machine, number, known, coins)
        if script.refused is not None:
            raise script.refused
        if coins.probability <= 0.0:
            return None
        after = tuple(_kept(known[slot], slot, place) for slot in wait.live)
        parameter = math.nan
        if wait.parameter is not None:
            parameter = _value(wait.parameter, known)
            if isinstance(parameter, Unknown):
                raise _refusal(place, "a parameter that is a function of an answer or a coin")
        point = 1 + points.index((wait.resume, wait.answer, wait.live))
        return Way(
            (point, *after), wait.entry, parameter, *rounds, line.low, line.high, coins.probability
        )

    yield from (way for way in every_run(run) if way is not None)


def _followed(
    machine: Machine, number: int, known: dict[Slot, Any], coins: TracedCoins
) -> tuple[Wait, Place]:
    """The round to which the program comes; ``known`` are its numbers, which are altered."""
    for _ in range(MOST_SEGMENTS):
        segment: Segment = machine.segments[number]
        try:
            for do in segment.does:
                known[do.target] = _done(do, known, coins, segment.place)
        except Ends:
            break
        end = segment.end
        if isinstance(end, Wait):
            return end, segment.place
        if end is None:
            break
        if isinstance(end, Branch):
            number = end.then if bool(known[end.test]) else end.otherwise
        else:
            number = end
    raise _refusal(segment.place, "the program may stop, or compute a number that is not held")


def _refusal(place: Place, construct: str) -> NotApplicable:
    return NotApplicable(f"{place[0]}:{place[1]}: {construct}: this cannot be enumerated")


def _kept(value: Any, slot: Slot, place: Place) -> Any:
    if isinstance(value, Unknown):
        raise _refusal(place, f"{slot.name} keeps a {value.line.name} as a number")
    return value


def _value(operand: Any, known: dict[Slot, Any]) -> Any:
    return known[operand] if isinstance(operand, Slot) else operand


def _done(do: Do, known: dict[Slot, Any], coins: TracedCoins, place: Place) -> Any:
    """The result of an operation; raises Ends where the program stops."""
    operands = [_value(each, known) for each in do.operands]
    unknown = any(isinstance(each, Unknown) for each in operands)
    kind, _, method = do.operation.partition("coins.")
    if not kind:
        if unknown:
            raise _refusal(place, f"coins.{method} by a number that is not known in advance")
        if method in ("integers", "choice"):
            low, high = operands if len(operands) == 2 else (0, *operands)
            if not low < high:
                raise Ends
            return int(coins.integers(low, high))
        return getattr(coins, method)(*operands)
    if not unknown:
        return _on_known(do.operation, do.base, do.table)(*operands)
    if do.operation == "within":
        if not do.table[0] <= operands[0] <= do.table[1]:
            raise Ends
        return operands[0]
    if do.operation == "among":
        return any([operands[0] == each for each in do.table])
    if do.operation not in UNKNOWN:
        raise _refusal(place, f"{do.operation} of a number that is not known in advance")
    if do.operation == "/" and not isinstance(operands[1], Unknown) and operands[1] == 0.0:
        raise Ends
    return UNKNOWN[do.operation](*operands)


@cache
def _on_known(operation: str, base: str, table: tuple[Any, ...]) -> Callable[..., Any]:
    """The operation as a function of numbers, in Python; it raises Ends where it stops."""
    typed = TYPED[operation, base]
    words: dict[str, Any] = {f"t{i}": each for i, each in enumerate(table[:2])}
    operands = "ab"[: 1 + ("{1}" in typed.text)]
    before, text, after = (
        each.format(*"ab", r="r", t="table", **words) for each in (typed.before, typed.text,
                                                                   typed.after)
    )  # fmt: skip
    source = f"def f({', '.join(operands)}):\n"
    if before:
        source += f" if {before}: raise Ends\n"
    source += f" r = {text}\n"
    if after:
        source += f" if {after}: raise Ends\n"
    namespace: dict[str, Any] = {"math": math, "np": np, "Ends": Ends, "table": table, **HELPERS}
    exec(source + " return r\n", namespace)

    def f(*numbers: Any) -> Any:
        try:
            return namespace["f"](*numbers)
        except (ArithmeticError, ValueError):
            raise Ends from None

    return f
