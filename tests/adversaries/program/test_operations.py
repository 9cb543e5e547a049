"""Each typed operation computes what Python does, to the bit, or stops; broken ones do not."""

import itertools
import math
import struct
import warnings
from dataclasses import replace

import numpy as np
import pytest

from simulator.adversaries.program.assembly import FUNCTIONS, OF_C, TEMPLATES, called
from simulator.adversaries.program.forms import Do, Slot
from simulator.adversaries.program.operations import DRAWS, HELD, TYPED, Typed
from simulator.engine.enumerated.known_numbers import Ends, on_known
from tests.helpers.machine_steps import Operation
from tests.helpers.random_programs import same_coins

INTS = (0, 1, -1, 2, 3, -3, 7, 10, 62, 63, 64, 4000000001, 3037000500, -3037000500, 2**31, 2**53,
        2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1, -(2**63) + 1, -(2**63))  # fmt: skip
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 0.1, 1e-9, 5e-324, -5e-324, 1e308,
          -1e308, 709.9, 2.0**53, 2.0**53 + 2, 9.2e18, 9.3e18, 1e300, math.inf, -math.inf,
          math.nan, 0.30000000000000004, 41.7, 1.0000000000000002)  # fmt: skip
VALUES = {"int": INTS, "float": FLOATS, "bool": (False, True)}

PYTHON = {
    "negative": "-{0}", "abs": "abs({0})", "float": "float({0})", "exact": "float({0})",
    "int": "int({0})", "round": "round({0})", "true": "bool({0})", "not": "not {0}",
    "~": "~{0}", "copy": "{0}", "min": "min({0}, {1})", "max": "max({0}, {1})",
    "copysign": "math.copysign({0}, {1})", "same": "{0} if {0} == {1} else 1 // 0",
}  # fmt: skip
"""Operations in Python, where they are no operator between two operands and no function of math."""
WITH_TABLE = ("the round", "flat", "among", "lookup", "place", "within")


def in_python(name: str, typed: Typed) -> str:
    """The operation as a user writes it."""
    if name in PYTHON:
        return PYTHON[name]
    return f"math.{name}({{0}})" if hasattr(math, name) else f"{{0}} {name} {{1}}"


def bits(value: object) -> object:
    """A value with its type, to the bit."""
    if isinstance(value, float | np.floating):
        return "float", "nan" if value != value else struct.pack("d", value)
    return type(value).__name__, value


def is_held(number: float) -> bool:
    """Whether a comparison with the number is not decided while a program is read."""
    return HELD[0] < number <= HELD[1]


def operands(typed: Typed, base: str) -> list[tuple]:
    """What the operation is tried on."""
    two = "{1}" in typed.text + typed.before
    return [(a, b) for a in VALUES[base] for b in (VALUES[base] if two else (VALUES[base][0],))]


def function_of(typed: Typed):
    """The operation in Python, as a function that returns whether it stops, and its result."""
    r, text = "r", typed.text.format("a", "b")
    wrong = {"int": "0", "float": "0.0", "bool": "False"}[typed.result]
    before = typed.before.format("a", "b") or "False"
    after = typed.after.format("a", "b", r=r) or "False"
    source = (f"def f(a, b):\n if {before}:\n  return True, {wrong}\n r = {text}\n"
              f" if {after}:\n  return True, {wrong}\n return False, r\n")  # fmt: skip
    namespace = {"math": math, "np": np}
    exec(source, namespace)
    return namespace["f"]


def differences(name: str, base: str, typed: Typed, f=None) -> list[str]:
    """Where an operation neither stops nor computes what Python does, or stops needlessly."""
    f = f or function_of(typed)
    python = eval(f"lambda a, b: {in_python(name, typed).format('a', 'b')}", {"math": math})
    found = []
    for a, b in operands(typed, base):
        if base == "int" and -(2**63) in (a, b):
            continue  # it is not held
        if name in ("**", "<<", ">>") and base == "int" and abs(b) > 200:
            continue  # of so many digits
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                stops, result = f(a, b)
        except (ArithmeticError, ValueError):
            stops, result = True, 0
        try:
            truth = python(a, b)
        except (ArithmeticError, ValueError):
            truth = None
        if isinstance(truth, complex):
            truth = None
        held = truth is not None and (not isinstance(truth, int) or abs(truth) < 4e18)
        held = held and (name != "copysign" or b == b)
        held = held and (name, b) != ("%", -1)  # of -2^63 the quotient does not fit
        if stops and held and name not in ("exact", "**", "<<", "abs", "atanh", "asin", "acos"):
            found.append(f"{name} of {a}, {b} stops")
        inside = isinstance(truth, int) and all(is_held(each) for each in (a, b))
        if not stops and inside and not is_held(truth):
            found.append(f"{name} of {a}, {b} is {truth}, which is not held")
        if not stops and (truth is None or bits(result) != bits(truth)):
            found.append(f"{name} of {a}, {b} is {result}, not {truth}")
    return found


CASES = [case for case in TYPED if case[0] not in WITH_TABLE]


def test_operations_compute_what_python_does():
    for name, base in CASES:
        assert differences(name, base, TYPED[name, base]) == []


def test_flat_is_the_place_in_a_flat_table():
    """It has a table of one number, the size of the dimension that the second operand counts."""
    typed = TYPED["flat", "int"]
    assert not typed.before
    assert not typed.after
    for shape in ((3, 5), (5, 3), (1, 4)):
        text = typed.text.format("a", "b", t0="size")
        for place in np.ndindex(*shape):
            named = dict(zip("ab", place), size=shape[1])
            assert eval(text, named) == np.ravel_multi_index(place, shape)


@pytest.mark.parametrize("optimised", [False, True])
@pytest.mark.parametrize(("name", "base"), CASES)
def test_machine_code_computes_what_python_does(name, base, optimised):
    """Where a result fits it does not stop, but for what Python's text stops at as well."""
    found = differences(name, base, TYPED[name, base], Operation(name, base, optimised=optimised))
    assert found == []


TABLES = {
    "int": (3, -5, 2**62, 0),
    "float": (0.5, -0.0, math.nan, 1e300),
    "bool": (True, False, True),
}


@pytest.mark.parametrize("optimised", [False, True])
@pytest.mark.parametrize(("name", "base"), [case for case in TYPED if case[0] in WITH_TABLE])
def test_machine_code_with_a_table_computes_what_python_does(name, base, optimised):
    table = {"within": (-0.5, 2.5), "flat": (7,), "place": (5,)}.get(name, TABLES[base])
    step = Operation(name, base, table, optimised)
    if name == "the round":
        assert step() == (False, 0)
        return
    tried = {"lookup": range(len(table)), "place": range(-7, 8), "flat": range(3)}.get(
        name, VALUES[base]
    )
    count = 2 if name == "flat" else 1
    python = on_known(Do(Slot("r", base), name, (1,) * count, base, table))
    for given in itertools.product(tried, repeat=count):
        try:
            truth = python(*given)
        except Ends:
            truth = None
        stops, result = step(*given)
        assert stops == (truth is None), given
        assert stops or bits(result) == bits(truth), given


def test_no_function_has_a_name_that_compilers_know():
    """They replace what they know, fmod of NaN by no value at all: the night found it."""
    texts = [*TEMPLATES.values(), *FUNCTIONS.values()]
    names = {name for text in texts for name, _ in called(text)}
    assert len(names) > 40
    known = [name for name in names if not name.startswith(("llvm.", OF_C, "random_"))]
    assert set(known) == set(FUNCTIONS)


def test_a_whole_number_that_is_no_float_stops():
    exact = Operation("exact", "int")
    assert [exact(each)[0] for each in (2**53, -(2**53), 2**53 + 1, -(2**53) - 1)] == [
        False, False, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "base", "broken"),
    [
        ("//", "float", {"text": "np.floor({0} / {1})"}),
        ("%", "float", {"text": "np.fmod({0}, {1})"}),
        ("max", "float", {"text": "{0} if {0} > {1} else {1}"}),
        ("min", "float", {"text": "np.fmin({0}, {1})"}),
        ("round", "float", {"text": "int(np.floor({0} + 0.5))"}),
        ("/", "float", {"before": "", "text": "np.float64({0}) / np.float64({1})"}),
        (">>", "int", {"text": "{0} >> min({1}, 31)"}),
        ("+", "int", {"after": ""}),
        ("<<", "int", {"after": "{r} >> {1} != {0}"}),
        ("&", "int", {"after": ""}),
        ("true", "float", {"text": "{0} > 0.0"}),
        ("exact", "int", {"before": "", "text": "float({0}) + 1.0"}),
    ],
)
def test_a_broken_operation_is_found(name, base, broken):
    assert differences(name, base, replace(TYPED[name, base], **broken))


@pytest.mark.parametrize(
    ("name", "base", "broken"),
    [
        ("+", "int", "$r = add i64 $a, $b"),
        ("-", "int", "$r = sub i64 $a, $b"),
        ("*", "int", "$r = mul i64 $a, $b"),
        ("<<", "int", "%far = icmp uge i64 $b, 63\nstop %far\n$r = shl i64 $a, $b"),
        ("&", "int", "$r = and i64 $a, $b"),
        ("abs", "int", "$r = xor i64 $a, 1"),
        ("//", "int", "%no = icmp eq i64 $b, 0\nstop %no\n$r = sdiv i64 $a, $b"),
        ("log", "float", "$r = call double @dpcompose_c_log(double $a)"),
        ("int", "float", "$r = fptosi double $a to i64"),
        ("exp", "float", "$r = call double @dpcompose_c_exp(double $a)"),
        ("round", "float", TEMPLATES["floor", "float"]),
        ("max", "float", "$r = call double @llvm.maxnum.f64(double $a, double $b)"),
        ("true", "float", "$r = fcmp one double $a, 0.0"),
    ],
)
def test_broken_machine_code_is_found(monkeypatch, name, base, broken):
    monkeypatch.setitem(TEMPLATES, (name, base), broken)
    assert differences(name, base, TYPED[name, base], Operation(name, base))


@pytest.mark.nightly
def test_a_power_without_the_library_of_c_is_found():
    """A compiler rounds x ** 2.0 as x * x, 2.0 ** x as exp2(x): one in a thousand differs."""
    xs = np.random.default_rng(1).normal(size=200_000).tolist()
    ours = Operation("**", "float")
    assert all(ours(2.0, x) == (False, 2.0**x) for x in xs)
    assert any(x**2.0 != x * x for x in xs)


def test_wider_ranges_are_left_to_python():
    for method, operands in (("integers", (0, 2**32 + 1)), ("integers", (-(2**62), 2**62))):
        assert eval(DRAWS[method][2].before.format(*operands))
    assert not eval(DRAWS["integers"][2].before.format(-5, 2**32 - 5))
    assert eval(DRAWS["integers"][2].before.format(2**60, 2**60 + 2**32 + 1))
    assert eval(DRAWS["choice"][2].before.format(2**32 + 1))


@pytest.mark.parametrize("method", DRAWS)
def test_draws_are_those_of_numpy(method):
    names, base, _ = DRAWS[method]
    cases = {"int": [(0, 1), (0, 2), (-3, 5), (0, 2**32), (-7, 3 * 2**30), (0, 2863311531),
                     (2**62, 2**62 + 9)],
             "float": [(0.5, 1.5), (1.0, 2.0), (0.25, 1e3)]}[base]  # fmt: skip
    if method == "choice":
        cases = [(b, b) for a, b in cases if a == 0]
    one = eval(f"lambda coins, a, b: coins.{method}({', '.join('ab'[: len(names)])})")
    two = Operation(f"coins.{method}", base)
    ours, theirs = (np.random.Generator(np.random.SFC64(3)) for _ in range(2))
    for a, b in cases:
        for _ in range(500):
            assert two(a, b, coins=ours) == (False, one(theirs, a, b))
            assert ours.random() == theirs.random()
    refused = {"integers": [(0, 2**32 + 1), (-(2**62), 2**62), (3, 3), (4, 3)],
                 "choice": [(2**32 + 1, 0), (0, 0), (-1, 0)],
                 "uniform": [(1.0, 1.0), (-1e308, 1e308), (0.0, math.nan)],
                 "laplace": [(0.0, 0.0), (0.0, -1.0), (0.0, math.nan)]}  # fmt: skip
    for a, b in refused.get(method, ()):
        assert two(a, b, coins=ours)[0]
    assert same_coins(ours, theirs)
