"""The typed operations of a machine in LLVM's assembly.

They compute what :mod:`.operations` says in Python, and stop where a result would not be Python's.
Draws are numpy's own functions of a generator's state.
"""

from __future__ import annotations

import re

from simulator.adversaries.program.operations import DRAWS, TYPED

TYPES = {"int": "i64", "float": "double", "bool": "i1"}
"""LLVM's types of numbers."""
OF_C = "dpcompose_c_"
"""Before the name of a function of C in machine code. A compiler that knows a function replaces it:
pow(x, 2.0) by x * x, which may be rounded otherwise; fmod by an instruction without a result for
NaN."""

_LEAST = "-9223372036854775808"
_INFINITY = "0x7FF0000000000000"

# In a template $a and $b are the operands, $r is the result, $t the address of the table, $n its
# length, $t0 and $t1 its first two numbers; "stop" ends the step where its bit is true.

_HELD = f"%least = icmp eq i64 $r, {_LEAST}\nstop %least"
"""The least number of 64 bits has no negative, and is not held."""


def _checked(name: str) -> str:
    """A sum, a difference or a product that has to fit."""
    return f"""
        %both = call {{i64, i1}} @llvm.{name}.with.overflow.i64(i64 $a, i64 $b)
        $r = extractvalue {{i64, i1}} %both, 0
        %over = extractvalue {{i64, i1}} %both, 1
        stop %over
        {_HELD}"""


_DIVIDED = f"""
    %zero = icmp eq i64 $b, 0
    stop %zero
    %minus = icmp eq i64 $b, -1
    %least = icmp eq i64 $a, {_LEAST}
    %over = and i1 %minus, %least
    stop %over
    %rest = srem i64 $a, $b
    %any = icmp ne i64 %rest, 0
    %signs = xor i64 %rest, $b
    %differ = icmp slt i64 %signs, 0
    %below = and i1 %any, %differ"""

_INTS = {
    "+": _checked("sadd"),
    "-": _checked("ssub"),
    "*": _checked("smul"),
    "//": f"{_DIVIDED}\n%q = sdiv i64 $a, $b\n%one = zext i1 %below to i64\n$r = sub i64 %q, %one",
    "%": f"{_DIVIDED}\n%more = select i1 %below, i64 $b, i64 0\n$r = add i64 %rest, %more",
    "**": f"""
        %negative = icmp slt i64 $b, 0
        stop %negative
        %both = call {{i64, i1}} @power(i64 $a, i64 $b)
        $r = extractvalue {{i64, i1}} %both, 0
        %over = extractvalue {{i64, i1}} %both, 1
        stop %over
        {_HELD}""",
    "<<": f"""
        %far = icmp uge i64 $b, 63
        stop %far
        $r = shl i64 $a, $b
        %back = ashr i64 $r, $b
        %lost = icmp ne i64 %back, $a
        stop %lost
        {_HELD}""",
    ">>": """
        %negative = icmp slt i64 $b, 0
        stop %negative
        %far = icmp sgt i64 $b, 63
        %by = select i1 %far, i64 63, i64 $b
        $r = ashr i64 $a, %by""",
    "&": f"$r = and i64 $a, $b\n{_HELD}",
    "|": "$r = or i64 $a, $b",
    "^": f"$r = xor i64 $a, $b\n{_HELD}",
    "~": f"$r = xor i64 $a, -1\n{_HELD}",
    "negative": f"%least = icmp eq i64 $a, {_LEAST}\nstop %least\n$r = sub i64 0, $a",
    "abs": f"""
        %least = icmp eq i64 $a, {_LEAST}
        stop %least
        %other = sub i64 0, $a
        %negative = icmp slt i64 $a, 0
        $r = select i1 %negative, i64 %other, i64 $a""",
    "float": "$r = sitofp i64 $a to double",
    "exact": """
        %above = icmp sgt i64 $a, 9007199254740992
        %below = icmp slt i64 $a, -9007199254740992
        %beyond = or i1 %above, %below
        stop %beyond
        $r = sitofp i64 $a to double""",
    "true": "$r = icmp ne i64 $a, 0",
    "the round": "$r = or i64 %round, 0",
    "same": "%other = icmp ne i64 $a, $b\nstop %other\n$r = or i64 $a, 0",
    "flat": "%rows = mul i64 $a, $t0\n$r = add i64 %rows, $b",
    "place": """
        %high = icmp sge i64 $a, $t0
        stop %high
        %negative = icmp slt i64 $a, 0
        %other = add i64 $a, $t0
        $r = select i1 %negative, i64 %other, i64 $a
        %low = icmp slt i64 $r, 0
        stop %low""",
    "among": "$r = call i1 @among_int(ptr $t, i64 $n, i64 $a)",
    "lookup": "%at = getelementptr i64, ptr $t, i64 $a\n$r = load i64, ptr %at",
    "copy": "$r = or i64 $a, 0",
}

_BOOLS = {
    "&": "$r = and i1 $a, $b",
    "|": "$r = or i1 $a, $b",
    "^": "$r = xor i1 $a, $b",
    "int": "$r = zext i1 $a to i64",
    "not": "$r = xor i1 $a, true",
    "lookup": "%at = getelementptr i8, ptr $t, i64 $a\n%byte = load i8, ptr %at\n"
              "$r = icmp ne i8 %byte, 0",
    "copy": "$r = or i1 $a, false",
}  # fmt: skip


def _rounded(how: str) -> str:
    """A whole number that fits; a float of 2**53 and more is whole."""
    whole = f"%whole = call double @llvm.{how}.f64(double $a)\n" if how else ""
    return f"""
        %size = call double @llvm.fabs.f64(double $a)
        %large = fcmp uge double %size, 9.2e18
        stop %large
        {whole}$r = fptosi double {"%whole" if how else "$a"} to i64"""


def _of_c(name: str, outside: str = "", overflows: bool = False) -> str:
    """A function of C; ``outside`` compares the argument with where Python raises."""
    text = f"%bad = fcmp {outside}\nstop %bad\n" if outside else ""
    text += f"$r = call double @{OF_C}{name}(double $a)\n"
    return text + (_OVERFLOWS if overflows else "")


_SIZE = "%size = call double @llvm.fabs.f64(double $a)\n"
_OVERFLOWS = f"""
    %found = call double @llvm.fabs.f64(double $r)
    %infinite = fcmp oeq double %found, {_INFINITY}
    %given = call double @llvm.fabs.f64(double $a)
    %finite = fcmp une double %given, {_INFINITY}
    %over = and i1 %infinite, %finite
    stop %over"""
_NO_ZERO = "%zero = fcmp oeq double $b, 0.0\nstop %zero\n"

_FLOATS = {
    "+": "$r = fadd double $a, $b",
    "-": "$r = fsub double $a, $b",
    "*": "$r = fmul double $a, $b",
    "/": f"{_NO_ZERO}$r = fdiv double $a, $b",
    "//": f"{_NO_ZERO}$r = call double @floor_quotient(double $a, double $b)",
    "%": f"{_NO_ZERO}$r = call double @remainder_of(double $a, double $b)",
    "**": f"""
        %zero = fcmp oeq double $a, 0.0
        %inverse = fcmp olt double $b, 0.0
        %pole = and i1 %zero, %inverse
        stop %pole
        %negative = fcmp olt double $a, 0.0
        %floor = call double @llvm.floor.f64(double $b)
        %broken = fcmp une double $b, %floor
        %complex = and i1 %negative, %broken
        stop %complex
        $r = call double @{OF_C}pow(double $a, double $b)
        %size = call double @llvm.fabs.f64(double $b)
        %infinite = fcmp oeq double %size, {_INFINITY}
        %found = call double @llvm.fabs.f64(double $r)
        %large = fcmp oeq double %found, {_INFINITY}
        %given = call double @llvm.fabs.f64(double $a)
        %finite = fcmp une double %given, {_INFINITY}
        %both = and i1 %large, %finite
        %over = select i1 %infinite, i1 false, i1 %both
        stop %over""",
    "negative": "$r = fneg double $a",
    "abs": "$r = call double @llvm.fabs.f64(double $a)",
    "fabs": "$r = call double @llvm.fabs.f64(double $a)",
    "int": _rounded(""),
    "round": _rounded("rint"),
    "floor": _rounded("floor"),
    "ceil": _rounded("ceil"),
    "true": "$r = fcmp une double $a, 0.0",
    "sqrt": "%bad = fcmp olt double $a, 0.0\nstop %bad\n"
            "$r = call double @llvm.sqrt.f64(double $a)",
    "log1p": _of_c("log1p", "ole double $a, -1.0"),
    "acosh": _of_c("acosh", "olt double $a, 1.0"),
    "atanh": _SIZE + _of_c("atanh", "oge double %size, 1.0"),
    **{name: _of_c(name, "ole double $a, 0.0") for name in ("log", "log2", "log10")},
    **{name: _SIZE + _of_c(name, f"oeq double %size, {_INFINITY}")
       for name in ("sin", "cos", "tan")},
    **{name: _SIZE + _of_c(name, "ogt double %size, 1.0") for name in ("asin", "acos")},
    **{name: _of_c(name, overflows=True) for name in ("exp", "expm1", "sinh", "cosh")},
    **{name: _of_c(name) for name in ("tanh", "atan", "asinh", "erf", "erfc")},
    # the sign of NaN, which shows here alone, differs between compilers
    "copysign": "%nan = fcmp uno double $b, 0.0\nstop %nan\n"
                "$r = call double @llvm.copysign.f64(double $a, double $b)",
    "isnan": "$r = fcmp uno double $a, 0.0",
    "isinf": f"{_SIZE}$r = fcmp oeq double %size, {_INFINITY}",
    "isfinite": f"{_SIZE}$r = fcmp olt double %size, {_INFINITY}",
    "within": "%below = fcmp ult double $a, $t0\nstop %below\n%above = fcmp ugt double $a, $t1\n"
              "stop %above\n$r = select i1 true, double $a, double 0.0",
    "among": "$r = call i1 @among_float(ptr $t, i64 $n, double $a)",
    "lookup": "%at = getelementptr double, ptr $t, i64 $a\n$r = load double, ptr %at",
    "copy": "$r = select i1 true, double $a, double 0.0",
}  # fmt: skip

_SIGNS = {"==": ("eq", "oeq"), "!=": ("ne", "une"), "<": ("lt", "olt"), "<=": ("le", "ole"),
          ">": ("gt", "ogt"), ">=": ("ge", "oge")}  # fmt: skip

_NO_SCALE = "%scale = fcmp ule double {}, 0.0\nstop %scale\n"
_INTEGER = """
    $r = call i64 @random_bounded_uint64(ptr %coins, i64 {}, i64 %last, i64 0, i32 0)"""
_DRAWS = {
    # a generator's state and, 24 bytes after it, its function of the next float
    "random": """
        %state = load ptr, ptr %coins
        %place = getelementptr i8, ptr %coins, i64 24
        %next = load ptr, ptr %place
        $r = call double %next(ptr %state)""",
    "standard_normal": "$r = call double @random_standard_normal(ptr %coins)",
    "standard_exponential": "$r = call double @random_standard_exponential(ptr %coins)",
    "normal": _NO_SCALE.format("$b")
    + "$r = call double @random_normal(ptr %coins, double $a, double $b)",
    "laplace": _NO_SCALE.format("$b")
    + "$r = call double @random_laplace(ptr %coins, double $a, double $b)",
    "uniform": f"""
        %width = fsub double $b, $a
        %none = fcmp ule double %width, 0.0
        stop %none
        %wide = fcmp uge double %width, {_INFINITY}
        stop %wide
        $r = call double @random_uniform(ptr %coins, double $a, double %width)""",
    "exponential": _NO_SCALE.format("$a")
    + "$r = call double @random_exponential(ptr %coins, double $a)",
    "integers": f"""
        %none = icmp sle i64 $b, $a
        stop %none
        %width = sub i64 $b, $a
        %wide = icmp ugt i64 %width, 4294967296
        stop %wide
        %last = sub i64 %width, 1
        {_INTEGER.format("$a")}""",
    "choice": f"""
        %last = sub i64 $a, 1
        %wide = icmp uge i64 %last, 4294967296
        stop %wide
        {_INTEGER.format("0")}""",
}

FUNCTIONS = {
    "power": """
define internal {i64, i1} @power(i64 %a, i64 %b) {
  %next = add i64 %a, 1
  %unit = icmp ult i64 %next, 3
  br i1 %unit, label %small, label %turn
small:
  %none = icmp eq i64 %b, 0
  %bit = and i64 %b, 1
  %even = icmp eq i64 %bit, 0
  %minus = icmp eq i64 %a, -1
  %plus = and i1 %minus, %even
  %one = or i1 %none, %plus
  %value = select i1 %one, i64 1, i64 %a
  %known = insertvalue {i64, i1} zeroinitializer, i64 %value, 0
  ret {i64, i1} %known
turn:
  %count = phi i64 [ 0, %0 ], [ %more, %times ]
  %made = phi i64 [ 1, %0 ], [ %product, %times ]
  %all = icmp eq i64 %count, %b
  br i1 %all, label %done, label %times
times:
  %more = add i64 %count, 1
  %both = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %made, i64 %a)
  %product = extractvalue {i64, i1} %both, 0
  %over = extractvalue {i64, i1} %both, 1
  br i1 %over, label %large, label %turn
large:
  ret {i64, i1} {i64 0, i1 true}
done:
  %held = insertvalue {i64, i1} zeroinitializer, i64 %made, 0
  ret {i64, i1} %held
}""",
    # as CPython computes x // y (float_floor_div)
    "floor_quotient": f"""
define internal double @floor_quotient(double %x, double %y) {{
  %rest = call double @{OF_C}fmod(double %x, double %y)
  %without = fsub double %x, %rest
  %near = fdiv double %without, %y
  %any = fcmp une double %rest, 0.0
  %down = fcmp olt double %y, 0.0
  %left = fcmp olt double %rest, 0.0
  %differ = xor i1 %down, %left
  %below = and i1 %any, %differ
  %less = fsub double %near, 1.0
  %quotient = select i1 %below, double %less, double %near
  %none = fcmp oeq double %quotient, 0.0
  %ratio = fdiv double %x, %y
  %zero = call double @llvm.copysign.f64(double 0.0, double %ratio)
  %whole = call double @llvm.floor.f64(double %quotient)
  %part = fsub double %quotient, %whole
  %up = fcmp ogt double %part, 0.5
  %next = fadd double %whole, 1.0
  %rounded = select i1 %up, double %next, double %whole
  %result = select i1 %none, double %zero, double %rounded
  ret double %result
}}""",
    # as CPython computes x % y (float_rem)
    "remainder_of": f"""
define internal double @remainder_of(double %x, double %y) {{
  %rest = call double @{OF_C}fmod(double %x, double %y)
  %none = fcmp oeq double %rest, 0.0
  %zero = call double @llvm.copysign.f64(double 0.0, double %y)
  %down = fcmp olt double %y, 0.0
  %left = fcmp olt double %rest, 0.0
  %differ = xor i1 %down, %left
  %other = fadd double %rest, %y
  %moved = select i1 %differ, double %other, double %rest
  %result = select i1 %none, double %zero, double %moved
  ret double %result
}}""",
    **{
        f"among_{name}": f"""
define internal i1 @among_{name}(ptr %table, i64 %count, {kind} %x) {{
  br label %turn
turn:
  %i = phi i64 [ 0, %0 ], [ %more, %next ]
  %all = icmp eq i64 %i, %count
  br i1 %all, label %absent, label %next
next:
  %more = add i64 %i, 1
  %at = getelementptr {kind}, ptr %table, i64 %i
  %each = load {kind}, ptr %at
  %same = {equal} {kind} %each, %x
  br i1 %same, label %found, label %turn
absent:
  ret i1 false
found:
  ret i1 true
}}"""
        for name, kind, equal in (("int", "i64", "icmp eq"), ("float", "double", "fcmp oeq"))
    },
}
"""Functions that templates call, with their definitions."""


def _compared(sign: str, base: str) -> str:
    whole, floating = _SIGNS[sign]
    if base == "float":
        return f"$r = fcmp {floating} double $a, $b"
    ordered = "" if whole in ("eq", "ne") else "s" if base == "int" else "u"
    return f"$r = icmp {ordered}{whole} {TYPES[base]} $a, $b"


def _chosen(sign: str, base: str) -> str:
    """Python's min and max: the second where it is smaller or larger, else the first."""
    compare = "icmp s" if base == "int" else "fcmp o"
    kind = TYPES[base]
    return (f"%second = {compare}{sign} {kind} $b, $a\n"
            f"$r = select i1 %second, {kind} $b, {kind} $a")  # fmt: skip


TEMPLATES: dict[tuple[str, str], str] = {
    **{(name, "int"): text for name, text in _INTS.items()},
    **{(name, "bool"): text for name, text in _BOOLS.items()},
    **{(name, "float"): text for name, text in _FLOATS.items()},
    **{(sign, base): _compared(sign, base) for sign in _SIGNS for base in TYPES},
    **{(name, base): _chosen(sign, base)
       for name, sign in (("min", "lt"), ("max", "gt")) for base in ("int", "float")},
    **{("draw", name): text for name, text in _DRAWS.items()},
}  # fmt: skip
"""By name and by type of the operands; of a draw the name comes second."""
assert set(TEMPLATES) == set(TYPED) | {("draw", name) for name in DRAWS}

_CALL = re.compile(r"call (\{[^}]*\}|\w+) @([\w.]+)\(([^)]*)\)")


def called(text: str) -> tuple[tuple[str, str], ...]:
    """The functions that a text calls, each with the line that declares it."""
    return tuple(
        (
            name,
            f"declare {result} @{name}({', '.join(each.split()[0] for each in given.split(','))})",
        )
        for result, name, given in dict.fromkeys(_CALL.findall(text))
    )
