"""The typed operations of a machine: what each computes, and where Python would do otherwise.

Whole numbers are Python's as long as they fit into 64 bits. An operation has conditions under which
the program stops: where Python raises, and where a result does not fit. The block is then played in
Python.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

EXACT = 1 << 53
"""Whole numbers up to here are floats too."""
HELD = (-(1 << 63), (1 << 63) - 1)
"""The first, which has no negative, is not held; the last is. A comparison with what is not held is
decided while a program is read, so no operation may result in it."""

KINDS: dict[type, str] = {
    int: "int", float: "float", bool: "bool",
    np.int64: "np_int", np.float64: "np_float", np.bool_: "np_bool",
}  # fmt: skip
"""The kinds of number; numpy's scalars raise elsewhere than Python's."""


@dataclass(frozen=True)
class Typed:
    """An operation on operands of one type.

    Attributes
    ----------
    result : the type of the result.
    text : Python, in which {0} and {1} are the operands, {t} is the table, {t0} and {t1} its
        first two numbers.
    before, after : stop where this is true, before or after it; there {r} is the result.
    """

    result: str
    text: str
    before: str = ""
    after: str = ""


def power_fits(a: int, b: int) -> bool:
    """Whether a**b, of b >= 0, fits into 63 bits."""
    if -1 <= a <= 1:
        return True
    size = 1.0
    for _ in range(min(b, 64)):
        size *= abs(float(a))
    return size < 9e18


def power(a: int, b: int) -> int:
    """Return a**b for a b >= 0 where it fits."""
    if -1 <= a <= 1:
        return 1 if a == 1 or b == 0 or (a == -1 and b % 2 == 0) else a
    result = 1
    for _ in range(b):
        result *= a
    return result


def floor_quotient(x: float, y: float) -> float:
    """Return x // y as CPython computes it (``float_floor_div``)."""
    rest = float(np.fmod(x, y))
    quotient = (x - rest) / y
    if rest != 0.0 and (y < 0.0) != (rest < 0.0):
        quotient -= 1.0
    if quotient == 0.0:
        return math.copysign(0.0, x / y)
    whole = float(np.floor(quotient))
    return whole + 1.0 if quotient - whole > 0.5 else whole


def remainder(x: float, y: float) -> float:
    """Return x % y as CPython computes it (``float_rem``)."""
    rest = float(np.fmod(x, y))
    if rest == 0.0:
        return math.copysign(0.0, y)
    return rest + y if (y < 0.0) != (rest < 0.0) else rest


def among(x: Any, table: np.ndarray) -> bool:
    """Whether a number is in a table."""
    for each in table:  # noqa: SIM110 (numba compiles no generator expression)
        if each == x:
            return True
    return False


def float_power(x: float, y: float) -> float:
    """Return x ** y, infinite where it overflows; compiled it is C's pow, which CPython calls."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return math.inf


def integer_between(coins: np.random.Generator, low: int, high: int) -> Any:
    """Return ``coins.integers(low, high)``, one of at most 2^32 numbers."""
    return coins.integers(low, high)


HELPERS = {each.__name__: each for each in (
    power_fits, power, floor_quotient, remainder, among, float_power, integer_between
)}  # fmt: skip

_NO_DIVISION = "{1} == 0 or {1} == -1 and {0} < -9223372036854775807"
_NO_NEGATIVE = "{0} < -9223372036854775807"
_NOT_HELD = "not abs({0}) < 9.2e18"
# of 64 bits, and of Python's whole numbers in an enumeration or a kernel that is not compiled
_LARGE = "not -9223372036854775807 <= {r} <= 9223372036854775807"
# tested before: numba promises LLVM that no sum overflows, so that a test of the sum finds nothing
_SUM_NOT_HELD = "({1} > 9223372036854775807 - {0} if {0} > 0 else {1} < -9223372036854775807 - {0})"
_DIFFERENCE_NOT_HELD = (
    "({0} > 9223372036854775807 + {1} if {1} < 0 else {0} < {1} - 9223372036854775807)"
)
_OVERFLOWS = "np.isinf({r}) and not np.isinf({0})"

TYPED: dict[tuple[str, str], Typed] = {
    ("+", "int"): Typed("int", "{0} + {1}", _SUM_NOT_HELD),
    ("-", "int"): Typed("int", "{0} - {1}", _DIFFERENCE_NOT_HELD),
    ("*", "int"): Typed("int", "{0} * {1}", "not abs(float({0}) * float({1})) < 9.2e18"),
    ("//", "int"): Typed("int", "{0} // {1}", _NO_DIVISION),
    ("%", "int"): Typed("int", "{0} % {1}", _NO_DIVISION),
    ("**", "int"): Typed("int", "power({0}, {1})", "{1} < 0 or not power_fits({0}, {1})"),
    ("<<", "int"): Typed(
        "int", "{0} << {1}", "not 0 <= {1} < 63", f"{{r}} >> {{1}} != {{0}} or {_LARGE}"
    ),
    (">>", "int"): Typed("int", "{0} >> min({1}, 63)", "{1} < 0"),
    ("&", "int"): Typed("int", "{0} & {1}", after=_LARGE),
    ("|", "int"): Typed("int", "{0} | {1}"),
    ("^", "int"): Typed("int", "{0} ^ {1}", after=_LARGE),
    ("~", "int"): Typed("int", "-1 - {0}", after=_LARGE),
    ("&", "bool"): Typed("bool", "{0} and {1}"),
    ("|", "bool"): Typed("bool", "{0} or {1}"),
    ("^", "bool"): Typed("bool", "{0} != {1}"),
    ("negative", "int"): Typed("int", "-{0}", _NO_NEGATIVE),
    ("abs", "int"): Typed("int", "abs({0})", _NO_NEGATIVE),
    ("+", "float"): Typed("float", "{0} + {1}"),
    ("-", "float"): Typed("float", "{0} - {1}"),
    ("*", "float"): Typed("float", "{0} * {1}"),
    ("/", "float"): Typed("float", "{0} / {1}", "{1} == 0.0"),
    ("//", "float"): Typed("float", "floor_quotient({0}, {1})", "{1} == 0.0"),
    ("%", "float"): Typed("float", "remainder({0}, {1})", "{1} == 0.0"),
    ("**", "float"): Typed(
        "float", "float_power({0}, {1})",
        "{0} == 0.0 and {1} < 0.0 or {0} < 0.0 and {1} != np.floor({1})",
        "np.isinf({r}) and not (np.isinf({0}) or np.isinf({1}))",
    ),
    ("negative", "float"): Typed("float", "-{0}"),
    ("abs", "float"): Typed("float", "abs({0})"),
    ("float", "int"): Typed("float", "float({0})"),
    ("exact", "int"): Typed("float", "float({0})", f"not {-EXACT} <= {{0}} <= {EXACT}"),
    ("int", "bool"): Typed("int", "int({0})"),
    ("int", "float"): Typed("int", "int({0})", _NOT_HELD),
    ("round", "float"): Typed("int", "int(np.rint({0}))", _NOT_HELD),
    ("floor", "float"): Typed("int", "int(np.floor({0}))", _NOT_HELD),
    ("ceil", "float"): Typed("int", "int(np.ceil({0}))", _NOT_HELD),
    ("true", "int"): Typed("bool", "{0} != 0"),
    ("true", "float"): Typed("bool", "{0} != 0.0"),
    ("not", "bool"): Typed("bool", "not {0}"),
    ("sqrt", "float"): Typed("float", "math.sqrt({0})", "{0} < 0.0"),
    ("log1p", "float"): Typed("float", "math.log1p({0})", "{0} <= -1.0"),
    ("acosh", "float"): Typed("float", "math.acosh({0})", "{0} < 1.0"),
    ("atanh", "float"): Typed("float", "math.atanh({0})", "abs({0}) >= 1.0"),
    **{(name, "float"): Typed("float", f"math.{name}({{0}})", "{0} <= 0.0")
       for name in ("log", "log2", "log10")},
    **{(name, "float"): Typed("float", f"math.{name}({{0}})", "np.isinf({0})")
       for name in ("sin", "cos", "tan")},
    **{(name, "float"): Typed("float", f"math.{name}({{0}})", "abs({0}) > 1.0")
       for name in ("asin", "acos")},
    **{(name, "float"): Typed("float", f"math.{name}({{0}})", after=_OVERFLOWS)
       for name in ("exp", "expm1", "sinh", "cosh")},
    **{(name, "float"): Typed("float", f"math.{name}({{0}})")
       for name in ("tanh", "atan", "asinh", "erf", "erfc")},
    ("fabs", "float"): Typed("float", "abs({0})"),
    # the sign of NaN, which shows here alone, differs between compilers
    ("copysign", "float"): Typed("float", "math.copysign({0}, {1})", "{1} != {1}"),
    ("isnan", "float"): Typed("bool", "{0} != {0}"),
    ("isinf", "float"): Typed("bool", "np.isinf({0})"),
    ("isfinite", "float"): Typed("bool", "{0} - {0} == 0.0"),
    ("within", "float"): Typed("float", "{0}", "not {t0} <= {0} <= {t1}"),
    ("the round", "int"): Typed("int", "round"),
    ("flat", "int"): Typed("int", "{0} * {t0} + {1}"),
    ("place", "int"): Typed(
        "int", "{0} + {t0} if {0} < 0 else {0}", "not -{t0} <= {0} < {t0}"
    ),
    **{(sign, base): Typed("bool", f"{{0}} {sign} {{1}}")
       for sign in ("==", "!=", "<", "<=", ">", ">=") for base in ("int", "float", "bool")},
    **{(name, base): Typed(base, f"{{1}} if {{1}} {sign} {{0}} else {{0}}")
       for name, sign in (("min", "<"), ("max", ">")) for base in ("int", "float")},
    **{("copy", base): Typed(base, "{0}") for base in ("int", "float", "bool")},
    **{("among", base): Typed("bool", "among({0}, {t})") for base in ("int", "float")},
    **{("lookup", base): Typed(base, "{t}[{0}]") for base in ("int", "float", "bool")},
}  # fmt: skip
"""By name and by type of the operands; of "lookup" the type of the table."""

_NO_SCALE = "not {1} > 0.0"
# wider ranges are drawn from 64 bits; the floats show where the difference does not fit
_NO_WIDTH = "not 0.0 < float({1}) - float({0}) <= 4294967296.0 or {1} - {0} > 4294967296"
DRAWS: dict[str, tuple[tuple[tuple[str, Any], ...], str, Typed]] = {
    "random": ((), "float", Typed("float", "coins.random()")),
    "standard_normal": ((), "float", Typed("float", "coins.standard_normal()")),
    "standard_exponential": ((), "float", Typed("float", "coins.standard_exponential()")),
    "normal": ((("loc", 0.0), ("scale", 1.0)), "float",
               Typed("float", "coins.normal({0}, {1})", _NO_SCALE)),
    "laplace": ((("loc", 0.0), ("scale", 1.0)), "float",
                Typed("float", "coins.laplace({0}, {1})", _NO_SCALE)),
    "uniform": ((("low", 0.0), ("high", 1.0)), "float",
                Typed("float", "coins.uniform({0}, {1})", "not 0.0 < {1} - {0} < np.inf")),
    "exponential": ((("scale", 1.0),), "float",
                    Typed("float", "coins.exponential({0})", "not {0} > 0.0")),
    "integers": ((("low", ...), ("high", None)), "int",
                 Typed("np_int", "integer_between(coins, {0}, {1})", _NO_WIDTH)),
    "choice": ((("a", ...),), "int",
               Typed("int", "integer_between(coins, 0, {0})", "not 0 < {0} <= 4294967296")),
}  # fmt: skip
"""The methods of the coins that draw the same when numba compiles them: arguments with defaults
(an ellipsis where there is none), their type, and the operation."""


LARGEST = 1 << 16
"""Bits of a whole number that is computed while a program is read."""


def small_power(a: Any, b: Any) -> Any:
    """Return a ** b; raises OverflowError for a whole number of very many digits."""
    if type(a) is type(b) is int and a.bit_length() * abs(b) > LARGEST:
        raise OverflowError
    return a**b


def small_shift(a: Any, b: Any) -> Any:
    """Return a << b; raises OverflowError for a whole number of very many digits."""
    if b > LARGEST:
        raise OverflowError
    return a << b


STATIC: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": small_power, "<<": small_shift,
    ">>": operator.rshift, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "~": operator.invert, "negative": operator.neg, "positive": operator.pos,
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge, "not": operator.not_, "index": operator.getitem,
    "in": lambda x, held: x in held, "not in": lambda x, held: x not in held,
}  # fmt: skip
"""The same operations on fixed objects."""
