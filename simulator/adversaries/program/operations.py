"""The typed operations of a machine: what each computes, and where a program stops.

Whole numbers are Python's as long as they fit into 64 bits. An operation has conditions under which
the program stops: where Python raises, and where a result does not fit. The block is then played in
Python. :mod:`.assembly` has the same operations for compiled play.
"""

from __future__ import annotations

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


_NO_NEGATIVE = "{0} < -9223372036854775807"
_NOT_HELD = "not abs({0}) < 9.2e18"
_LARGE = "not -9223372036854775807 <= {r} <= 9223372036854775807"
_OVERFLOWS = "np.isinf({r}) and not np.isinf({0})"

TYPED: dict[tuple[str, str], Typed] = {
    ("+", "int"): Typed("int", "{0} + {1}", after=_LARGE),
    ("-", "int"): Typed("int", "{0} - {1}", after=_LARGE),
    ("*", "int"): Typed("int", "{0} * {1}", after=_LARGE),
    ("//", "int"): Typed("int", "{0} // {1}", "{1} == 0"),
    ("%", "int"): Typed("int", "{0} % {1}", "{1} == 0"),
    ("**", "int"): Typed("int", "{0} ** {1}", "{1} < 0 or {1} > 63 and abs({0}) > 1", _LARGE),
    ("<<", "int"): Typed("int", "{0} << {1}", "not 0 <= {1} < 63", _LARGE),
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
    ("//", "float"): Typed("float", "{0} // {1}", "{1} == 0.0"),
    ("%", "float"): Typed("float", "{0} % {1}", "{1} == 0.0"),
    ("**", "float"): Typed(
        "float", "{0} ** {1}",
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
    ("same", "int"): Typed("int", "{0}", "{0} != {1}"),
    **{(sign, base): Typed("bool", f"{{0}} {sign} {{1}}")
       for sign in ("==", "!=", "<", "<=", ">", ">=") for base in ("int", "float", "bool")},
    **{(name, base): Typed(base, f"{{1}} if {{1}} {sign} {{0}} else {{0}}")
       for name, sign in (("min", "<"), ("max", ">")) for base in ("int", "float")},
    **{("copy", base): Typed(base, "{0}") for base in ("int", "float", "bool")},
    **{("among", base): Typed("bool", "any({0} == each for each in {t})")
       for base in ("int", "float")},
    **{("lookup", base): Typed(base, "{t}[{0}]") for base in ("int", "float", "bool")},
}  # fmt: skip
"""By name and by type of the operands; of "lookup" the type of the table."""

_NO_SCALE = "not {1} > 0.0"
_NO_WIDTH = "not 0 < {1} - {0} <= 4294967296"  # wider ranges are drawn from 64 bits
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
                 Typed("np_int", "coins.integers({0}, {1})", _NO_WIDTH)),
    "choice": ((("a", ...),), "int",
               Typed("int", "coins.integers(0, {0})", "not 0 < {0} <= 4294967296")),
}  # fmt: skip
"""The methods of the coins that are drawn by the same function of numpy: arguments with defaults
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
