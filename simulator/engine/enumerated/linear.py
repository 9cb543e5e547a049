"""Arithmetic and comparisons of numbers of which an interval is known.

A comparison has outcomes: for each of its results the part of the interval where it holds. What is
not listed here is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from simulator.engine.enumerated.intervals import Line

MOST_CELLS = 4096
"""Most values of one truncation, or of one draw of whole numbers."""

Lines = tuple[Line, ...]
"""The numbers that are not known, on one way through a step."""
Outcomes = list[tuple[Any, Lines]]
"""Values, each with the parts of the intervals where an operation has it."""


class NotFollowed(Exception):
    """An operation whose result is not known by intervals; ``line`` is the number's place."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


class LinearNumber:
    """A linear function of a number that is not known.

    Attributes
    ----------
    line : the place of the number among the lines.
    scale, shift : the value is scale * number + shift, up to rounding.
    steps : the arithmetic operations in order; comparisons repeat them on doubles to find the
        number at which they change.
    """

    __slots__ = ("line", "scale", "shift", "steps")

    def __init__(self, line: int, scale: float = 1.0, shift: float = 0.0,
                 steps: tuple[tuple[str, Any], ...] = ()) -> None:  # fmt: skip
        self.line, self.scale, self.shift, self.steps = line, scale, shift, steps

    def at(self, number: float) -> float:
        """The value for a number, rounded as doubles are."""
        value = number
        for operation, by in self.steps:
            if operation == "+":
                value += by.at(number) if isinstance(by, LinearNumber) else by
            elif operation == "*":
                value *= by
            else:
                value /= by
        return value

    def after(self, step: str, by: Any, scale: float, shift: float) -> LinearNumber:
        """The function after one more step."""
        if not math.isfinite(scale) or not math.isfinite(shift):
            raise NotFollowed(self.line, "arithmetic with a number that is not finite")
        if scale == 0.0 != self.scale and by != 0.0:
            raise NotFollowed(self.line, "a product that is smaller than any double")
        return LinearNumber(self.line, scale, shift, (*self.steps, (step, by)))

    def end(self, value: float, inclusive: bool, line: Line) -> float:
        """The number at which the rounded arithmetic passes a value."""
        rising = self.scale > 0.0

        def holds(number: float) -> bool:
            found = self.at(number)
            return (found <= value if inclusive else found < value) == rising

        return line.end_of(holds, (value - self.shift) / self.scale)


def with_line(lines: Lines, place: int, line: Line) -> Lines:
    """The lines with another one at a place."""
    return (*lines[:place], line, *lines[place + 1 :])


def negated(x: LinearNumber) -> LinearNumber:
    """Return -x."""
    return x.after("*", -1.0, -x.scale, -x.shift)


def added(x: Any, y: Any) -> LinearNumber:
    """Return x + y, of which one is linear, or both."""
    if not isinstance(x, LinearNumber):
        x, y = y, x
    if not isinstance(y, LinearNumber):
        found: LinearNumber = x.after("+", y, x.scale, x.shift + y)
        return found
    if x.line != y.line:
        raise NotFollowed(max(x.line, y.line), "a sum of two unknown numbers")
    if x.scale * y.scale >= 0.0:
        found = x.after("+", y, x.scale + y.scale, x.shift + y.shift)
        return found
    if {*x.steps, *y.steps} <= {("*", -1.0)}:
        return LinearNumber(x.line, 0.0)
    raise NotFollowed(x.line, "a difference of multiples of a number, which rounds")


def multiplied(x: Any, y: Any) -> LinearNumber:
    """Return x * y, of which one is known."""
    if not isinstance(x, LinearNumber):
        x, y = y, x
    if isinstance(y, LinearNumber):
        raise NotFollowed(max(x.line, y.line), "a product of two unknown numbers")
    found: LinearNumber = x.after("*", y, x.scale * y, x.shift * y)
    return found


def divided(x: Any, y: Any) -> LinearNumber:
    """Return x / y, of a y that is known and not 0."""
    if isinstance(y, LinearNumber):
        raise NotFollowed(y.line, "a division by a number that is not known in advance")
    found: LinearNumber = x.after("/", y, x.scale / y, x.shift / y)
    return found


def below(x: LinearNumber, value: float, inclusive: bool, lines: Lines) -> Outcomes:
    """Whether x is below a number (or at it)."""
    if x.scale == 0.0:
        return [(x.shift <= value if inclusive else x.shift < value, lines)]
    if not math.isfinite(value):
        return [(value == math.inf, lines)]
    line = lines[x.line]
    if not x.steps:
        return [(is_below, with_line(lines, x.line, part))
                for is_below, part in line.below(value, inclusive)]  # fmt: skip
    return [(is_below == (x.scale > 0.0), with_line(lines, x.line, part))
            for is_below, part in line.parts(x.end(value, inclusive, line))]  # fmt: skip


def equal(x: LinearNumber, value: float, lines: Lines) -> Outcomes:
    """Whether x equals a number; a continuous number that is not rounded never does."""
    if x.scale == 0.0:
        return [(x.shift == value, lines)]
    if not math.isfinite(value) or not (x.steps or lines[x.line].spacing):
        return [(False, lines)]
    found: Outcomes = []
    for is_below, part in below(x, value, False, lines):
        found += [(False, part)] if is_below else below(x, value, True, part)
    return found


def negation(outcomes: Outcomes) -> Outcomes:
    """The other results."""
    return [(not result, part) for result, part in outcomes]


MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def compared(sign: str, x: Any, y: Any, lines: Lines) -> Outcomes:
    """A comparison, of which one side is linear, or both."""
    if not isinstance(x, LinearNumber):
        sign, x, y = MIRRORED[sign], y, x
    if isinstance(y, LinearNumber):
        if x is y:
            return [(sign in ("<=", ">=", "=="), lines)]
        if x.line != y.line:
            what = "a comparison of two numbers that are not known in advance"
            raise NotFollowed(max(x.line, y.line), what)
        x, y = added(x, negated(y)), 0.0
    value = float(y)
    if value != value:
        return [(sign == "!=", lines)]
    if sign in ("==", "!="):
        found = equal(x, value, lines)
        return found if sign == "==" else negation(found)
    found = below(x, value, sign in ("<=", ">"), lines)
    return found if sign in ("<", "<=") else negation(found)


def floored(x: LinearNumber, lines: Lines) -> Outcomes:
    """The whole numbers that x is rounded down to."""
    if x.scale == 0.0:
        return [(math.floor(x.shift), lines)]
    line = lines[x.line]
    low, high = sorted((x.at(line.low), x.at(line.high)))
    if not high - low <= MOST_CELLS:
        raise NotFollowed(x.line, "a whole number of one that is not known, and unbounded")
    found: Outcomes = []
    for whole in range(math.floor(low), math.ceil(high)):
        parts = below(x, whole + 1, False, lines)
        found += [(whole, part) for is_below, part in parts if is_below]
        above = [part for is_below, part in parts if not is_below]
        if not above:
            return found
        lines = above[0]
    return [*found, (math.floor(high), lines)]


def truncated(x: LinearNumber, lines: Lines) -> Outcomes:
    """The whole numbers that x is rounded to, towards 0."""
    found: Outcomes = []
    for is_below, part in below(x, 0.0, False, lines):
        found += ceiled(x, part) if is_below else floored(x, part)
    return found


def ceiled(x: LinearNumber, lines: Lines) -> Outcomes:
    """The whole numbers that x is rounded up to."""
    return [(-whole, part) for whole, part in floored(negated(x), lines)]


def quotient(x: Any, y: Any, lines: Lines) -> Outcomes:
    """Return x // y of a continuous x; of atoms Python's is not the floor of x / y."""
    if isinstance(y, LinearNumber) or (lines[x.line].spacing and y != 1.0):
        raise NotFollowed((y if isinstance(y, LinearNumber) else x).line, "a rounded division")
    return [(float(whole), part) for whole, part in floored(divided(x, y), lines)]


def absolute(x: LinearNumber, lines: Lines) -> Outcomes:
    """Return |x|."""
    return [(negated(x) if is_below else x, part)
            for is_below, part in below(x, 0.0, False, lines)]  # fmt: skip


def extreme(sign: str, x: Any, y: Any, lines: Lines) -> Outcomes:
    """Return y where it is below (above) x, else x."""
    return [(y if chosen else x, part) for chosen, part in compared(sign, y, x, lines)]


def certain(value: Any, lines: Lines) -> Outcomes:
    """One outcome."""
    return [(value, lines)]


OPERATIONS: dict[str, Callable[..., Outcomes]] = {
    "copy": certain, "float": certain, "exact": certain,
    "negative": lambda x, lines: certain(negated(x), lines),
    "abs": absolute, "fabs": absolute, "int": truncated, "floor": floored, "ceil": ceiled,
    "+": lambda x, y, lines: certain(added(x, y), lines),
    "-": lambda x, y, lines: certain(
        added(x, negated(y) if isinstance(y, LinearNumber) else -y), lines
    ),
    "*": lambda x, y, lines: certain(multiplied(x, y), lines),
    "/": lambda x, y, lines: certain(divided(x, y), lines),
    "//": quotient,
    "true": lambda x, lines: compared("!=", x, 0.0, lines),
    "min": lambda x, y, lines: extreme("<", x, y, lines),
    "max": lambda x, y, lines: extreme(">", x, y, lines),
    "isnan": lambda x, lines: certain(False, lines),
    "isinf": lambda x, lines: certain(False, lines),
    "isfinite": lambda x, lines: certain(True, lines),
    **{sign: lambda x, y, lines, sign=sign: compared(sign, x, y, lines) for sign in MIRRORED},
}  # fmt: skip
"""Operations of which an operand is not known; an answer and a coin are finite."""
OF_THE_ROUND = {"copy", "float", "exact", "true", "min", "max", *MIRRORED}
"""Operations that need not know the number of the round."""
