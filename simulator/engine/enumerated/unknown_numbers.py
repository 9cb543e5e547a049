"""A number known only by an interval, and the arithmetic of a step with it.

Where a step compares an :class:`Unknown` number the comparison is decided both ways, one run each,
which narrows the interval. Every operation that is not modelled is refused; the number of a round
is compared only, and a step that computes with it is traced round by round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from simulator.engine.enumerated.decisions import RoundMatters
from simulator.engine.enumerated.intervals import Line
from simulator.foundations.errors import NotApplicable

MOST_CELLS = 4096
"""Most values of one truncation or one draw of integers."""


COMPUTED = (bool, int, float)
COMPARED = (*COMPUTED, np.float64, np.int64, np.bool_)
"""Types of the numbers that an unknown one is computed with, and compared with."""


class Unknown:
    """A linear function of an unknown number.

    Attributes
    ----------
    line : the number.
    scale, shift : the value is scale * number + shift, up to rounding.
    steps : the arithmetic operations in order; comparisons repeat them on doubles to find the
        number at which they change.
    """

    __slots__ = ("line", "scale", "shift", "steps")
    __array_ufunc__ = None  # numpy defers arithmetic and comparison to this class

    def __init__(
        self, line: Line, scale: float = 1.0, shift: float = 0.0,
        steps: tuple[tuple[str, Any], ...] = (),
    ) -> None:  # fmt: skip
        self.line, self.scale, self.shift, self.steps = line, scale, shift, steps

    def at(self, number: float) -> float:
        """The value for a number, rounded as doubles are."""
        value = number
        for operation, by in self.steps:
            if operation == "+":
                value += by.at(number) if isinstance(by, Unknown) else by
            elif operation == "*":
                value *= by
            else:
                value /= by
        return value

    def _plain(self, other: Any, types: tuple[type, ...] = COMPUTED) -> float:
        """Another number as a double; refused where it is of another type, or rounded by that."""
        if type(other) not in types:
            self._refuse(f"is used with a value of type {type(other).__name__}")
        try:
            value = float(other)
        except OverflowError:
            value = math.inf
        if value != other and other == other:
            self._refuse("is used with a whole number that is no double")
        return value

    def _below(self, other: Any, inclusive: bool, nan: bool = False) -> bool:
        """Whether the number is below another; ``nan`` where that is NaN."""
        if self is other:
            return inclusive
        if isinstance(other, Unknown):
            if other.line is not self.line:
                self._refuse("is compared with another number that is not known in advance", other)
            return bool((self - other)._below_constant(0.0, inclusive))
        value = self._plain(other, COMPARED)
        return nan if value != value else self._below_constant(value, inclusive)

    def _below_constant(self, value: float, inclusive: bool) -> bool:
        if self.scale == 0.0:
            return self.shift <= value if inclusive else self.shift < value
        if not math.isfinite(value):
            return value == math.inf
        if not self.steps:
            return self.line.below(value, inclusive)
        return self.line.below_cut(self._end(value, inclusive)) == (self.scale > 0.0)

    def _end(self, value: float, inclusive: bool) -> float:
        """The number at which the rounded arithmetic passes a value."""
        rising = self.scale > 0.0

        def holds(number: float) -> bool:
            found = self.at(number)
            return (found <= value if inclusive else found < value) == rising

        return self.line.end_of(holds, (value - self.shift) / self.scale)

    def __lt__(self, other: Any) -> bool:
        return self._below(other, False)

    def __le__(self, other: Any) -> bool:
        return self._below(other, True)

    def __gt__(self, other: Any) -> bool:
        return not self._below(other, True, nan=True)

    def __ge__(self, other: Any) -> bool:
        return not self._below(other, False, nan=True)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, Unknown):
            if other.line is not self.line:
                self._refuse("is compared with another number that is not known in advance", other)
            return bool(self - other == 0.0)
        return self._equals(self._plain(other, COMPARED))

    def _equals(self, value: float) -> bool:
        if self.scale == 0.0:
            return self.shift == value
        if not math.isfinite(value):
            return False
        if not self.steps:
            return self.line.equals(value)
        first, beyond = sorted((self._end(value, False), self._end(value, True)))
        return first < beyond and not self.line.below_cut(first) and self.line.below_cut(beyond)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return self._refuse("is looked up in a set or a dictionary")

    def __bool__(self) -> bool:
        return self != 0.0

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Unknown):
            by = self._plain(other)
            return self._after("+", by, self.scale, self.shift + by)
        if other.line is not self.line:
            self._refuse("is added to another number that is not known in advance", other)
        if self.scale * other.scale >= 0.0:
            return self._after("+", other, self.scale + other.scale, self.shift + other.shift)
        if {*self.steps, *other.steps} <= {("*", -1.0)}:
            return Unknown(self.line, 0.0)
        return self._refuse("is subtracted from a multiple of itself, which rounds")

    __radd__ = __add__

    def __neg__(self) -> Unknown:
        return self._after("*", -1.0, -self.scale, -self.shift)

    def _after(self, step: str, by: Any, scale: float, shift: float) -> Unknown:
        if self.line.name == "round":
            self._refuse("is computed with")
        if not math.isfinite(scale) or not math.isfinite(shift):
            self._refuse("is computed with a number that is not finite, or becomes infinite")
        if scale == 0.0 != self.scale and by != 0.0:
            self._refuse("becomes smaller than any double")
        return Unknown(self.line, scale, shift, (*self.steps, (step, by)))

    def __pos__(self) -> Unknown:
        return self

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Unknown):
            what = "is multiplied with a number that is not known in advance"
            return self * other._settled(what, self)
        by = self._plain(other)
        return self._after("*", by, self.scale * by, self.shift * by)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Unknown):
            return self / other._settled("divides a number that is not known in advance", self)
        by = self._plain(other)
        return self._after("/", by, self.scale / by, self.shift / by)

    def __abs__(self) -> Unknown:
        return -self if self < 0.0 else self

    def __floor__(self) -> int:
        if self.line.name == "round":
            self._refuse("is turned into a whole number")
        if self.scale == 0.0:
            return math.floor(self.shift)
        low, high = sorted((self.at(self.line.low), self.at(self.line.high)))
        if not high - low <= MOST_CELLS:
            self._refuse("is turned into a whole number, of which there are too many")
        for whole in range(math.floor(low), math.ceil(high)):
            if self < whole + 1:
                return whole
        return math.floor(high)

    def __ceil__(self) -> int:
        return -math.floor(-self)

    def __trunc__(self) -> int:
        return -math.floor(-self) if self < 0.0 else math.floor(self)

    __int__ = __trunc__

    def __mod__(self, other: Any) -> Any:
        return self._settled("is reduced by a modulus") % other

    def __pow__(self, other: Any) -> Any:
        return self._settled("is raised to a power") ** other

    def __rtruediv__(self, other: Any) -> Any:
        return other / self._settled("divides a number")

    def __floordiv__(self, other: Any) -> float:
        by = self._plain(other)
        if self.line.spacing and by != 1.0:  # Python's // is not the floor of /
            return self._settled("is divided and rounded") // by
        return float(math.floor(self / by))

    def __float__(self) -> float:
        return self._settled("is passed to a function, or kept as a number")

    def _settled(self, what: str, other: Unknown | None = None) -> float:
        """The number, decided among its atoms if these are few; else raises NotApplicable."""
        line = self.line
        few = line.spacing and (line.high - line.low) / line.spacing <= MOST_CELLS
        if not few or line.lattice or line.name == "round":
            self._refuse(what, other)
        first = math.ceil((line.low - line.origin) / line.spacing)
        last = math.floor((line.high - line.origin) / line.spacing)
        place = first + self.line.script.choose(last - first + 1)
        atom = line.origin + place * line.spacing
        line.low, line.high = atom - 0.5 * line.spacing, atom + 0.5 * line.spacing
        return self.at(atom)

    def __getattr__(self, name: str) -> NoReturn:
        self._refuse(f"is used by its {name}")

    def _refuse(self, what: str, other: Unknown | None = None) -> NoReturn:
        """Raise NotApplicable; or RoundMatters, where the number or the other one is the round."""
        error: Exception = NotApplicable(
            f"the rule's {self.line.name} {what}: only what is decided by comparisons with "
            "constants can be enumerated"
        )
        if "round" in (self.line.name, other is not None and other.line.name):
            error = RoundMatters()
        raise self.line.script.refusal(error)


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(self: Unknown, *arguments: Any) -> NoReturn:
        self._refuse(f"is used by its {name}")

    return refuse


HELD = frozenset({
    "__class__", "__doc__", "__init__", "__init_subclass__", "__new__", "__getattribute__",
    "__setattr__", "__delattr__", "__subclasshook__",
})  # fmt: skip
"""What every object has, whatever it imitates."""

for _name in {*dir(float), *dir(int)} - HELD - set(vars(Unknown)):
    if _name.startswith("__"):  # all that a number can do and that is not modelled above
        setattr(Unknown, _name, _refusing(_name))
