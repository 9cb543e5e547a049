"""What an unknown number cannot imitate is refused, and what is called exact is the truth.

Each step here was once run on numbers that are not known and answered wrongly. The truth is the sum
over every play, by the step on numbers, or the law of the same rule written plainly.
"""

import copy
import math
import pickle
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from simulator import Laplace, PureDP, RandomizedResponse
from simulator.adversaries import Rule
from simulator.adversaries.program.machine import machine_of
from simulator.adversaries.program.reading import read
from simulator.adversaries.registry import entries
from simulator.analysis.rare import Setting, estimate_rare
from simulator.engine.block import covering_engine
from simulator.engine.enumerated.programs import RoundMatters
from simulator.engine.specification import Specification
from simulator.errors import NotApplicable
from tests.helpers.every_play import hockey_stick, law_of_plays
from tests.helpers.small_games import ALICE, on_alice
from tests.helpers.step_ways import ways

BOLD = np.array([2, 5, 7])
TABLE = (0, 0, 1, 0, 0, 1, 0, 1, 0, 0)
STAKES = dict.fromkeys((2, 5, 7), 1)
EPSILONS = (0.3, 1.5)


def looked_up(i):
    try:
        return STAKES[i]
    except Exception:
        return 0


def rounded(i):
    try:
        return 1 if round(i) in STAKES else 0
    except Exception:
        return 0


def matched(i):
    match i:
        case int():
            return STAKES.get(i, 0)
    return 0


class Schedule:
    start, kind = 2, type

    @property
    def level(self):
        return 3.0

    def __call__(self, i):
        return isinstance(i, int) and i in STAKES

    def now(self, i):
        return type(i) is int and i in STAKES


SCHEDULE = Schedule()

ROUNDS = {
    "an array": lambda i: i in BOLD,
    "any of an array": lambda i: np.any(i == BOLD),
    "the sum of an array": lambda i: (i == BOLD).sum(),
    "a float32": lambda i: i == np.float32(5),
    "a fraction": lambda i: i == Fraction(5),
    "a fraction in a list": lambda i: i in [Fraction(5), Fraction(7)],
    "a decimal": lambda i: i == Decimal(5),
    "a complex number": lambda i: i == 5 + 0j,
    "a large number": lambda i: i < 2**53 + 1 and i in STAKES,
    "a set": lambda i: i in {2, 5, 7},
    "a dictionary": lambda i: STAKES.get(i, 0),
    "str": lambda i: str(i) in ("2", "5", "7"),
    "repr": lambda i: repr(i) in ("2", "5", "7"),
    "an f-string": lambda i: f"r{i}" in ("r2", "r5", "r7"),
    "format": lambda i: f"r{i}" in ("r2", "r5", "r7"),
    "percent": lambda i: "%s" % i in ("2", "5", "7"),  # noqa: UP031
    "hash": lambda i: hash(i) in (2, 5, 7),
    "isinstance": lambda i: isinstance(i, int) and i in (2, 5, 7),
    "type": lambda i: type(i) is int and i in (2, 5, 7),
    "the class": lambda i: i.__class__ is int and i in (2, 5, 7),
    "is": lambda i: any(i is x for x in (2, 5, 7)),
    "hasattr": lambda i: hasattr(i, "bit_length") and i in (2, 5, 7),
    "bit_length": lambda i: i.bit_length() == 3,
    "an exception": looked_up,
    "an exception of round": rounded,
    "a class pattern": matched,
    "a callable object": lambda i: SCHEDULE(i),
    "a method": lambda i: SCHEDULE.now(i),
    "copy": lambda i: copy.copy(i) in STAKES,
    "pickle": lambda i: pickle.loads(pickle.dumps(i)) in STAKES,
    "an index": lambda i: TABLE[i],
    "bits": lambda i: (i & 1) ^ (i >> 2 & 1),
    "shifts": lambda i: (1 << i) & 164,
    "divmod": lambda i: divmod(i, 4) in ((0, 2), (1, 1), (1, 3)),
    "division": lambda i: i // 2 == 1 or i / 5 == 1.0,
    "modulus": lambda i: i % 5 == 2 or -i % 5 == 0,
    "powers": lambda i: 2**i in (4, 32, 128),
    "math": lambda i: math.sqrt(i) > 2.5,
    "numpy": lambda i: np.sqrt(i) > 2.5,
    "int": lambda i: int(i) in STAKES,
    "round": lambda i: round(i) in STAKES,
    "bool": lambda i: bool(i) and not i < 6,
    "min and max": lambda i: min(max(i, 4), 6) == 5,
    "sorted": lambda i: sorted([4, i, 6])[1] == 5,
    "sums": lambda i: i + 1 in (3, 6, 8),
    "large sums": lambda i: i + 2**53 in (2**53 + 5, 2**53 + 7),
}  # fmt: skip


NOT_READ = {
    "any of an array", "the sum of an array", "a float32", "a fraction", "a fraction in a list",
    "a decimal", "a complex number", "str", "repr", "an f-string", "format", "percent", "hash",
    "type", "the class", "is", "hasattr", "bit_length", "an exception", "an exception of round",
    "a class pattern", "a callable object", "a method", "copy", "pickle", "numpy", "sorted",
}  # fmt: skip
"""What is refused with its line; such a rule is sampled."""


def rule_by_round(name):
    bold = ROUNDS[name]

    def step(state, i, answer, coins):
        return state, 1 if bold(i) else 0

    return Rule(step, on_alice(*(RandomizedResponse(ALICE, e) for e in EPSILONS)), 0)


@pytest.mark.parametrize("name", sorted(set(ROUNDS) - NOT_READ))
def test_what_is_read_of_the_round_is_exact(name):
    """Every play of nine rounds is added up."""
    rule = rule_by_round(name)
    exact = hockey_stick(law_of_plays(rule, EPSILONS, 9), 2.0)
    assert exact > 0.1
    found = estimate_rare(rule, PureDP(1.5), 9, 2000, epsilon=2.0, setting=Setting(jobs=1))
    assert found.method == "doob"
    assert found.delta.value == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("name", sorted(NOT_READ))
def test_what_is_not_read_of_the_round_is_refused_with_its_line(name):
    with pytest.raises(NotApplicable, match=r"\.py:\d+: "):
        covering_engine(Specification(rule_by_round(name), PureDP(1.5), 9, 10), 0)


def caught(state, answer):
    try:
        return round(answer)
    except Exception:
        return 0


caught.kind = isinstance


def suppressed(state, answer):
    with np.errstate(all="ignore"):
        return int(answer > 3.0)


def nested(state, answer):
    def inner(x):
        return isinstance(x, float)

    return int(inner(answer))


def by_default(state, answer, kind=type):
    return int(kind(answer) is float)


NUMBERS = {
    "isinstance": lambda s, a: int(isinstance(a, float) and a > 3.0),
    "type": lambda s, a: int(type(a) is float),
    "a default": by_default,
    "is": lambda s, a: int(a is s),
    "is none": lambda s, a: int(a is not None),
    "the class": lambda s, a: int(a.__class__ is float),
    "callable": lambda s, a: int(callable(a)),
    "hasattr": lambda s, a: int(hasattr(a, "hex")),
    "id": lambda s, a: id(a) % 2,
    "hash": lambda s, a: hash(a) % 2,
    "str": lambda s, a: len(str(a)) % 2,
    "repr": lambda s, a: len(repr(a)) % 2,
    "an f-string": lambda s, a: int(f"{a:.0f}" == "2"),
    "percent": lambda s, a: int("%s" % a == "2.0"),  # noqa: UP031
    "format": lambda s, a: int("{}".format(a) == "2.0"),  # noqa: UP032
    "an exception": caught,
    "suppression": suppressed,
    "a function": lambda s, a: caught(s, a),
    "an inner function": nested,
    "an object": lambda s, a: int(SCHEDULE(a)),
    "a method": lambda s, a: int(SCHEDULE.now(a)),
    "an attribute": lambda s, a: int(SCHEDULE.kind(a) is float),
    "of a function": lambda s, a: int(caught.kind(a) == 1),
    "a property": lambda s, a: int(a > SCHEDULE.level),
    "a class": lambda s, a: int(a == Fraction(2)),
    "copy": lambda s, a: int(copy.copy(a) > 2.0),
    "sum": lambda s, a: int(sum([0.1, 0.2, a]) > 0.3),
    "numpy": lambda s, a: int(np.isscalar(a)),
    "an array": lambda s, a: int(a in BOLD),
    "a fraction": lambda s, a, by=Fraction(2): int(a == by),
    "a float32": lambda s, a: int(a < s),
    "a complex number": lambda s, a: int(a == 1j),
    "a complex sum": lambda s, a: int(abs(a + 1j) > 2),
    "a text": lambda s, a: int(a == "2.0"),
    "a tuple": lambda s, a: int(a == (2.0,)),
    "a large number": lambda s, a: int(a > 2**53 + 1),
    "a larger one": lambda s, a: int(a > 10**400),
    "a set": lambda s, a: int(a in {1.0, 2.0}),
    "a key": lambda s, a: STAKES.get(a, 0),
    "an index": lambda s, a: TABLE[a],
    "round": lambda s, a: round(a),
    "digits": lambda s, a: int(round(a, 2) > 2.0),
    "divmod": lambda s, a: int(divmod(a, 2.0)[0] > 1),
    "bits": lambda s, a: a & 1,
    "shifts": lambda s, a: a << 1,
    "powers of two": lambda s, a: int(2.0**a > 8.0),
    "powers": lambda s, a: int(a**2 > 8.0),
    "a modulus": lambda s, a: int(a % 2 > 1),
    "math": lambda s, a: int(math.isnan(a)),
    "float": lambda s, a: int(float(a) > 3.0),
    "complex": lambda s, a: int(pow(a, 2, 2)),
    "as_integer_ratio": lambda s, a: a.as_integer_ratio()[1] % 2,
    "is_integer": lambda s, a: int(a.is_integer()),
    "nan": lambda s, a: int(a - math.nan > 5.0),
    "infinity": lambda s, a: int(a + math.inf > 5.0),
    "overflow": lambda s, a: int(a * 1e200 * 1e200 > 5.0),
    "underflow": lambda s, a: int(a * 1e-200 * 1e-200 > 0.0),
    "zero": lambda s, a: int(a / 0.0 > 5.0),
}  # fmt: skip


KNOWN = {
    "isinstance", "is none", "an array", "a text", "a tuple", "a set", "math", "float",
    "an inner function", "a key",
}  # fmt: skip
"""What has one result whatever the number is, or is decided by comparisons."""


def stepping(name):
    look = NUMBERS[name]

    def step(state, i, answer, coins):
        return state, look(state, answer)

    return step


@pytest.mark.parametrize("name", sorted(set(NUMBERS) - KNOWN))
def test_what_is_not_known_of_an_answer_is_refused_with_its_line(name):
    state = np.float32(0.5) if name == "a float32" else 0
    for answer in ((0.0, 0.0), (1.0, 0.0)):
        with pytest.raises(NotApplicable, match=r"\.py:\d+: ") as refused:
            list(ways(stepping(name), state, (1, 1), answer))
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_what_is_known_of_an_answer_is_what_python_does(name):
    step = stepping(name)
    for answers, given in ((np.linspace(-5.03, 9.01, 99), (0.0, 0.0)), (range(-3, 9), (1.0, 0.0))):
        found = list(ways(step, 0, (1, 1), given))
        for answer in map(float, answers):
            (way,) = [each for each in found if each.low < answer < each.high]
            assert way.move == step(0, 1, answer, None)[1]


@pytest.mark.parametrize("name", ["an f-string", "an exception", "hash", "id"])
def test_what_is_not_known_of_a_coin_is_refused(name):
    look = NUMBERS[name]

    def step(state, i, answer, coins):
        return state, look(state, coins.random())

    with pytest.raises(NotApplicable):
        list(ways(step, 0, (1, 1), 0.0))


@pytest.mark.parametrize("draw", [
    lambda coins: coins.normal(0.0, -1.0) > 0.0,
    lambda coins: coins.normal(0.0, math.nan) > 0.0,
    lambda coins: coins.exponential(-1.0) < 0.0,
    lambda coins: coins.uniform(2.0, 1.0) < 1.5,
    lambda coins: coins.uniform(0.0, math.inf) < 1.5,
    lambda coins: coins.integers(2.5) == 1,
    lambda coins: coins.random(3)[0] < 0.5,
    lambda coins: coins.random() == coins.random(),
])  # fmt: skip
def test_a_draw_that_numpy_does_otherwise_is_refused(draw):
    with pytest.raises(NotApplicable):
        list(ways(lambda s, i, a, coins: (s, int(draw(coins))), 0, (1, 1), 0.0))


def test_an_answer_is_a_float_whatever_becomes_of_it():
    """Of whole answers a rule makes floats, as Python does, and 3.0 is no index."""

    def kept(state, i, answer, coins):
        return (answer // 2 if 0 <= answer < 9 else -1.0, answer % 3 if 0 < answer < 5 else 0.5), 0

    for way in ways(kept, 0, (1, 1), (1.0, 0.0)):
        assert {type(each) for each in way.state} == {float}
        answer = float(max(way.low, -1.0) + 0.5)
        assert kept(0, 1, answer, None)[0] == way.state


@pytest.mark.parametrize(("first", "second"), [
    (lambda i, a: a == i, "whole answers"), (lambda i, a: a < i, "whole answers"),
    (lambda i, a: a > 0.5 * i, "a threshold that moves"),
])  # fmt: skip
def test_an_answer_that_is_compared_with_the_round_is_traced_by_rounds(first, second):
    def step(state, i, answer, coins):
        return state, int(first(i, answer))

    with pytest.raises(RoundMatters):
        list(ways(step, 0, (1, 5), (1.0, 0.0)))


THRESHOLD = 2.5


def plainly(state, i, answer, coins):
    return state, 1 if i > 0 and answer > THRESHOLD else 0


def by_type(state, i, answer, coins):
    return state, 1 if i > 0 and type(answer) is float and answer > THRESHOLD else 0


def by_exception(state, i, answer, coins):
    try:
        return state, 1 if i > 0 and round(answer - THRESHOLD + 0.5) > 0 else 0
    except ValueError:
        return state, 0


@pytest.mark.nightly
@pytest.mark.parametrize("step", [by_type, by_exception])
def test_a_rule_that_is_refused_is_estimated_otherwise_and_says_why(step, capsys):
    """The truth is the same rule written plainly, which is covered."""
    menu = on_alice(Laplace(ALICE, 0.5), Laplace(ALICE, 1.5))
    settings = {"epsilon": 2.0, "confidence": 1 - 1e-6, "seed": 5, "setting": Setting(jobs=1)}
    exact = estimate_rare(Rule(plainly, menu, 0), PureDP(1.5), 4, 20_000, **settings)
    assert exact.method == "covering"
    assert capsys.readouterr().err == ""
    found = estimate_rare(Rule(step, menu, 0), PureDP(1.5), 4, 20_000, **settings)
    assert found.method != "covering"
    assert re.search(
        r"test_unmodelled\.py:\d+: (a call of type|try is not)", capsys.readouterr().err
    )
    assert found.delta.lower <= exact.delta.upper
    assert exact.delta.lower <= found.delta.upper


def test_nan_in_the_state_is_no_threshold():
    """``answer - nan > 5`` is false; once it counted as true."""

    def step(state, i, answer, coins):
        return state, 1 if answer - state > 5.0 else 0

    rule = Rule(step, on_alice(Laplace(ALICE, 0.1), RandomizedResponse(ALICE, 3.0)), math.nan)
    with pytest.raises(NotApplicable, match="not finite"):
        estimate_rare(
            rule, PureDP(3.0), 4, 2000, epsilon=1.0, method="covering", setting=Setting(jobs=1)
        )


def test_numbers_of_an_object_and_of_a_module_are_plain():
    def step(state, i, answer, coins):
        return state, int(math.pi > answer > SCHEDULE.start and np.inf > answer)

    assert [way.move for way in ways(step, 0, (1, 1), (0.0, 0.0))].count(1) == 1


def test_the_librarys_steps_are_read():
    suited = [entry for entry in entries() if entry.plays_in(PureDP(0.5))]
    made = [entry.make(PureDP(0.5), 9) for entry in suited]
    unread = [each.name for each, one in zip(suited, made) if not machine_of(read(one)).waits]
    assert unread == []
