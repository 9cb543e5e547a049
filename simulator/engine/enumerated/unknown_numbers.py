"""A number of which only an interval is known, and the decisions that narrow it.

Where a step compares an :class:`Unknown` number the comparison is decided both ways, one run each,
by a :class:`Script`; the number is known to lie in a smaller interval from then on.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from simulator.foundations.errors import NotApplicable

MOST_CELLS = 4096
"""Whole numbers that one truncation or one draw of integers may be taken apart into."""
MOST_DECISIONS, MOST_RUNS = 200, 20_000
"""Decisions in one run of a step, and runs of it, before it is called not enumerable."""


class RoundMatters(Exception):
    """The step computes with the number of the round: trace it round by round."""


class Script:
    """The decisions of one run: those given are repeated, further ones take their first option."""

    def __init__(self, given: Sequence[int]) -> None:
        self.given = given
        self.taken: list[int] = []
        self.options: list[int] = []
        self.refused: Exception | None = None  # also where the step has caught it

    def choose(self, options: int) -> int:
        """Decide between so many options."""
        place = len(self.taken)
        if place >= MOST_DECISIONS:
            raise self.refusal(
                NotApplicable(
                    f"the rule decides more than {MOST_DECISIONS} times in one step: draws in a "
                    "loop cannot be enumerated"
                )
            )
        choice = self.given[place] if place < len(self.given) else 0
        self.taken.append(choice)
        self.options.append(options)
        return choice

    def refusal(self, error: Exception) -> Exception:
        """Keep an error, for a step may catch it and go on; return it."""
        self.refused = self.refused or error
        return error

    def others(self) -> Iterator[list[int]]:
        """The scripts of the runs that part from this one after the given decisions."""
        for place in range(len(self.given), len(self.taken)):
            for option in range(1, self.options[place]):
                yield [*self.taken[:place], option]


def every_run(run: Callable[[Script], Any]) -> Iterator[Any]:
    """What ``run`` returns for every script, in no particular order."""
    waiting: list[list[int]] = [[]]
    for runs in itertools.count():
        if not waiting:
            return
        if runs >= MOST_RUNS:
            raise NotApplicable(f"one step of the rule goes more than {MOST_RUNS} ways")
        script = Script(waiting.pop())
        yield run(script)
        waiting.extend(script.others())


class Line:
    """A number of which only an interval is known so far.

    Attributes
    ----------
    low, high : the open interval; its ends have no mass of their own, or lie between the atoms.
    name : what it is to the rule, for errors.
    spacing : 0 for a continuous number, else the distance of its equally spaced atoms.
    origin : one of the atoms.
    """

    __slots__ = ("high", "low", "name", "origin", "script", "spacing")

    def __init__(
        self, script: Script, name: str, low: float, high: float, *, spacing: float = 0.0,
        origin: float = 0.0,
    ) -> None:  # fmt: skip
        self.script, self.name = script, name
        self.low, self.high = low, high
        self.spacing, self.origin = spacing, origin

    def below(self, threshold: float, inclusive: bool) -> bool:
        """Whether the number lies below the threshold (or at it), by decision where it may."""
        if not math.isfinite(threshold):
            return threshold == math.inf
        cut = threshold
        if self.spacing:
            atoms = (threshold - self.origin) / self.spacing
            last = math.floor(atoms) if inclusive else math.ceil(atoms) - 1
            cut = self.origin + (last + 0.5) * self.spacing
        if cut <= self.low:
            return False
        if cut >= self.high:
            return True
        if self.script.choose(2) == 0:
            self.high = cut
            return True
        self.low = cut
        return False

    def equals(self, value: float) -> bool:
        """Whether the number is the value: never, of a continuous one."""
        if not self.spacing:
            return False
        return not self.below(value, False) and self.below(value, True)


class Unknown:
    """scale * line + shift: an unknown number, and what plain arithmetic makes of it."""

    __slots__ = ("line", "scale", "shift")
    __array_ufunc__ = None  # numpy's numbers leave arithmetic and comparison to this class

    def __init__(self, line: Line, scale: float = 1.0, shift: float = 0.0) -> None:
        self.line, self.scale, self.shift = line, scale, shift

    def _below(self, other: Any, inclusive: bool) -> bool:
        if isinstance(other, Unknown):
            if other.line is not self.line:
                self._refuse("is compared with another number that is not known in advance")
            return (self - other)._below_constant(0.0, inclusive)
        return self._below_constant(float(other), inclusive)

    def _below_constant(self, value: float, inclusive: bool) -> bool:
        if self.scale == 0.0:
            return self.shift <= value if inclusive else self.shift < value
        threshold = (value - self.shift) / self.scale
        if self.scale > 0.0:
            return self.line.below(threshold, inclusive)
        return not self.line.below(threshold, not inclusive)

    def __lt__(self, other: Any) -> bool:
        return self._below(other, False)

    def __le__(self, other: Any) -> bool:
        return self._below(other, True)

    def __gt__(self, other: Any) -> bool:
        return not self._below(other, True)

    def __ge__(self, other: Any) -> bool:
        return not self._below(other, False)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Unknown) and other.line is self.line:
            difference = self - other
            return self._zero(difference)
        if isinstance(other, int | float | np.number):
            return self._zero(self - float(other))
        return False

    def _zero(self, difference: Any) -> bool:
        if not isinstance(difference, Unknown):
            return bool(difference == 0.0)
        if difference.scale == 0.0:
            return difference.shift == 0.0
        return difference.line.equals(-difference.shift / difference.scale)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return self != 0.0

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Unknown):
            if other.line is not self.line:
                self._refuse("is added to another number that is not known in advance")
            return Unknown(self.line, self.scale + other.scale, self.shift + other.shift)
        return Unknown(self.line, self.scale, self.shift + float(other))

    __radd__ = __add__

    def __neg__(self) -> Unknown:
        return Unknown(self.line, -self.scale, -self.shift)

    def __pos__(self) -> Unknown:
        return self

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Unknown):
            return self * other._settled("is multiplied with a number that is not known in advance")
        return Unknown(self.line, self.scale * float(other), self.shift * float(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Unknown):
            return self / other._settled("divides a number that is not known in advance")
        return Unknown(self.line, self.scale / float(other), self.shift / float(other))

    def __abs__(self) -> Unknown:
        return -self if self < 0.0 else self

    def __floor__(self) -> int:
        low = self.scale * (self.line.low if self.scale > 0.0 else self.line.high) + self.shift
        high = self.scale * (self.line.high if self.scale > 0.0 else self.line.low) + self.shift
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

    def __index__(self) -> int:
        value = self._settled("is used as an index")
        if value != int(value):
            self._refuse("is used as an index, but is no whole number")
        return int(value)

    def __mod__(self, other: Any) -> Any:
        return self._whole_if_so(self._settled("is reduced by a modulus")) % other

    def __pow__(self, other: Any) -> Any:
        return self._whole_if_so(self._settled("is raised to a power")) ** other

    def __rtruediv__(self, other: Any) -> Any:
        return other / self._settled("divides a number")

    def __floordiv__(self, other: Any) -> int:
        return math.floor(self / other)

    def __float__(self) -> float:
        return self._settled("is handed to a function, or kept as a number")

    @staticmethod
    def _whole_if_so(value: float) -> float | int:
        return int(value) if value == int(value) else value

    def _settled(self, what: str) -> float:
        """The number itself, by decision among its atoms where these are few; else a refusal."""
        line = self.line
        if line.name == "round":
            raise line.script.refusal(RoundMatters())
        if not line.spacing or not (line.high - line.low) / line.spacing <= MOST_CELLS:
            self._refuse(what)
        first = math.ceil((line.low - line.origin) / line.spacing)
        last = math.floor((line.high - line.origin) / line.spacing)
        place = first + self.line.script.choose(last - first + 1)
        atom = line.origin + place * line.spacing
        line.low, line.high = atom - 0.5 * line.spacing, atom + 0.5 * line.spacing
        return self.scale * atom + self.shift

    def __getattr__(self, name: str) -> NoReturn:
        self._refuse(f"is asked for its {name}")

    def _refuse(self, what: str) -> NoReturn:
        raise self.line.script.refusal(
            NotApplicable(
                f"the rule's {self.line.name} {what}: only what is decided by comparisons with "
                "constants can be enumerated"
            )
        )
