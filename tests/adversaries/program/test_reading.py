"""What is read, what is refused, and where."""

import linecache
import math
import random
import re
import time

import numpy as np
import pytest

from simulator import Laplace, PureDP, counting_query
from simulator.adversaries.program import machine
from simulator.adversaries.program.compiling import STOPPED, step_of
from simulator.adversaries.program.explaining import explained
from simulator.adversaries.program.fixed import interval, is_settled
from simulator.adversaries.program.forms import NotRead, Slot
from simulator.adversaries.program.machine import machine_of
from simulator.adversaries.program.reading import read
from simulator.adversaries.registry import make
from simulator.mechanisms import LeakyRandomizedResponse  # noqa: F401
from tests.helpers.games import PRESS
from tests.helpers.machine_steps import MachineStep
from tests.helpers.natural_programs import (
    ALICE,
    EVERYONE,
    NATURAL,
    STAKES,  # noqa: F401 (of the adversaries that are written here)
    STRONG,
    WEAK,
    WITHOUT,
    Pressing,
)
from tests.helpers.random_programs import compared, function_of, sequences

PLAYED = sequences(8, 40, share=0.0)
KEPT = []
LIMIT = 3
BOLD = np.array([1, 4, 7])
SQUARE = np.array([[0.5, -1.0, 2.0], [3.0, 0.25, -0.125]])
BIG = {i: WEAK for i in range(100)}
BYTES = np.array([1], dtype=np.int8)
LOWEST = np.array([0, -(2**63)])


class Stake:
    """Counts how often its property is read."""

    count = 0

    @property
    def value(self):
        self.count += 1
        return 0.1


STAKE = Stake()


def written(body, head="def adversary(coins):"):
    """The adversary with these statements, indented by four."""
    body = body.replace("PAIR", "WITHOUT, EVERYONE")
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    source = (
        "import math\nimport random\nimport time\nimport numpy as np\n"
        "from simulator import Laplace, counting_query\n"
        "from tests.adversaries.program.test_reading import *\n"
        f"{head}\n{lines}\n"
    )
    return function_of(source), source.count("\n", 0, source.index(head)) + 2


@pytest.mark.parametrize("name", NATURAL)
def test_natural_adversaries_play_as_read(name):
    assert compared(NATURAL[name], PLAYED) == 8 * 40


@pytest.mark.parametrize(
    ("body", "line", "construct"),
    [
        ("answers = []\nwhile True:\n    answers.append((yield WITHOUT, EVERYONE, WEAK))", 2,
         "a call of list.append"),
        ("while True:\n    try:\n        yield WITHOUT, EVERYONE, WEAK\n    except ValueError:\n"
         "        pass", 1, "try is not in the closed form"),
        ("yield WITHOUT, EVERYONE, Laplace(ALICE, random.random())", 0, "a call of Random.random"),
        ("yield WITHOUT, EVERYONE, Laplace(ALICE, time.time())", 0, "a call of time"),
        ("x = BYTES[0]\nwhile True:\n    yield WITHOUT, EVERYONE, WEAK\n    x = x + x", 3,
         "+ of a number of type int8"),
        ("x = np.random.normal()\nyield WITHOUT, EVERYONE, WEAK", 0, "a call of "),
        ("answer = yield WITHOUT, EVERYONE, WEAK\nyield WITHOUT, EVERYONE, BIG[int(answer)]", 1,
         "a dictionary that is read by a number"),
        ("answer = yield WITHOUT, EVERYONE, WEAK\nx = str(answer)\nyield WITHOUT, EVERYONE, WEAK",
         1, "a call of str"),
        ("answer = yield WITHOUT, EVERYONE, WEAK\nx = f'{answer}'\nyield WITHOUT, EVERYONE, WEAK",
         1, "a formatted text of values that are computed"),
        ("yield WITHOUT, EVERYONE, Laplace(ALICE, STAKE.value)", 0,
         "the attribute value, which is computed"),
        ("answer = yield WITHOUT, EVERYONE, WEAK\n"
         "yield WITHOUT, EVERYONE, LeakyRandomizedResponse(ALICE, 0.1 * answer, 0.001 * answer)", 1,
         "a LeakyRandomizedResponse in which more than epsilon is computed"),
        ("global KEPT\nKEPT = 1\nyield WITHOUT, EVERYONE, WEAK", 0,
         "global is not in the closed form"),
        ("yield WITHOUT, EVERYONE, Laplace(ALICE, coins.beta(1, 2) / 10)", 0,
         "coins.beta, whose compiled draws may differ"),
        ("x = [i for i in range(3)]\nx[0] = 1\nyield WITHOUT, EVERYONE, WEAK", 1,
         "an assignment to an item is not in the closed form"),
        ("i = 0\nwhile True:\n    i += 1\n    yield WITHOUT, EVERYONE.remove('others', i), WEAK", 3,
         "a call of Database.remove"),
        ("x = y = [1]\nx += [2]\nyield WITHOUT, EVERYONE, WEAK if len(y) == 1 else STRONG", 1,
         "+= of an object that it may change"),
        ("x = int((yield WITHOUT, EVERYONE, WEAK))\nyield WITHOUT, EVERYONE, LOWEST[x]", 1,
         "an item of an array that has -9223372036854775808"),
        ("x = round((yield WITHOUT, EVERYONE, WEAK), 1)\nyield WITHOUT, EVERYONE, WEAK", 0,
         "a call of round with these arguments"),
        ("def twice(n):\n    return twice(n - 1) if n else 0\nyield WITHOUT, EVERYONE, WEAK\n"
         "x = twice(3)", 1, "twice calls itself, or calls are nested deeply"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_line_and_the_construct(body, line, construct):
    adversary, first = written(body)
    with pytest.raises(NotRead, match=re.escape(construct)) as refused:
        machine_of(read(adversary))
    assert (refused.value.file, refused.value.line) == (
        adversary.__code__.co_filename, first + line
    )  # fmt: skip
    assert STAKE.count == 0


def test_what_is_no_generator_function_is_refused():
    for adversary in (lambda coins: iter(()), len, Pressing, written("return iter(())")[0]):
        with pytest.raises(NotRead):
            read(adversary)


def test_a_source_that_was_edited_is_refused():
    adversary, _ = written("while True:\n    yield WITHOUT, EVERYONE, WEAK")
    name = adversary.__code__.co_filename
    size, time_, lines, full = linecache.cache[name]
    linecache.cache[name] = size, time_, [line.replace("WEAK", "STRONG") for line in lines], full
    for _ in range(2):
        with pytest.raises(NotRead, match="adversary is not there, or was edited"):
            read(adversary)
        linecache.cache.pop(name, None)


@pytest.mark.parametrize(
    "body",
    [
        "x = 4000000001\nanswer = yield WITHOUT, EVERYONE, WEAK\nx = x * x",
        "answer = yield WITHOUT, EVERYONE, WEAK\nx = 1 / (answer - answer)",
        "answer = yield WITHOUT, EVERYONE, WEAK\nx = STAKES[int(answer * 0) + 3]",
        "answer = yield WITHOUT, EVERYONE, WEAK\nx = missing if answer > 1e9 else later\nlater = 1",
        "i = 1\nyield WITHOUT, EVERYONE, WEAK\ni = i << 63",
        "answer = yield WITHOUT, EVERYONE, WEAK\nreturn",
        "answer = yield WITHOUT, EVERYONE, WEAK\nassert answer != answer",
        "answer = yield PAIR, WEAK\nx = answer * 1e308 * 10.0\nx = math.copysign(1.0, x - x)",
    ],
)
def test_a_step_stops_where_python_raises_or_a_number_is_not_held(body):
    body += "\nwhile True:\n    yield WITHOUT, EVERYONE, STRONG"
    if "missing" in body:
        body = "if coins.random() > 2:\n    missing = 1\n" + body
    adversary, _ = written(body)
    step = MachineStep(step_of(machine_of(read(adversary))))
    assert step(0, math.nan, np.random.default_rng(0))[0] == 0
    assert step(1, 0.5, np.random.default_rng(0))[0] == STOPPED


def test_a_generator_that_stops_before_its_first_challenge_is_explained():
    adversary, line = written(
        "x = 2**63\nwhile True:\n    yield WITHOUT, EVERYONE, WEAK if x else STRONG\n    x += 1"
    )
    (said,) = explained(adversary)
    assert f"{adversary.__code__.co_filename}:{line}: no challenge is sent" in said


def test_a_machine_with_too_many_segments_leaves_numbers_to_play(monkeypatch):
    monkeypatch.setattr(machine, "MOST_SEGMENTS", 1000)
    flags = "\n".join(f"f{i} = False" for i in range(12))
    sets = "\n".join(f"    if answer > {i}:\n        f{i} = True" for i in range(12))
    odd = "(" + " + ".join(f"f{i}" for i in range(12)) + ") % 2"
    adversary, _ = written(
        f"{flags}\nwhile True:\n"
        f"    answer = yield WITHOUT, EVERYONE, WEAK if {odd} else STRONG\n{sets}"
    )
    assert len(machine_of(read(adversary)).segments) < 200
    assert compared(adversary, PLAYED) == 8 * 40


def test_the_interval_of_allowed_parameters_is_exact_to_the_last_float():
    def accepts(x):
        if not 0.1 < x <= 5.3:
            raise ValueError

    assert interval(accepts) == (math.nextafter(0.1, 1.0), 5.3)
    assert interval(lambda x: 1 / 0) is None
    assert interval(lambda x: Laplace(ALICE, x)) == (5e-324, 1.7976931348623157e308)


def test_a_plain_predicate_is_settled_and_a_changing_one_is_not():
    def above(record):
        return record[0] > LIMIT

    def counts(record):
        KEPT.append(record)
        return True

    def draws(record):
        return random.random() < 0.5

    def later(record):
        import time

        return time.time() > record

    def overwrites(record):
        record[:1] = [0]
        return True

    assert is_settled(counting_query(above))
    assert is_settled(counting_query(lambda record: record in ("a", "b")))
    for predicate in (counts, draws, later, overwrites, time.monotonic):
        assert not is_settled(counting_query(predicate))


def test_an_adversary_is_explained_by_its_menu_and_its_states():
    lines = explained(NATURAL["modes"])
    assert lines[0].startswith("modes is a program")
    assert [line for line in lines if "Laplace" in line] == [
        "  0: Laplace(query=CountingQuery(record='alice'), epsilon=0.05)",
        "  1: Laplace(query=CountingQuery(record='alice'), epsilon=0.2)",
    ]
    assert lines[-1].endswith("keeping count (int): sends 0 or 1")
    assert any(line.endswith("epsilon=computed)") for line in explained(NATURAL["continuous"]))
    assert "  and 52 more" in explained(make("patient-hunter", PureDP(0.2), 10))
    lines = explained(make("press-when-ahead", PureDP(0.2), 10))
    assert lines[0].startswith("press-when-ahead is a program: it plays compiled in large games")
    assert lines[-1].endswith("sends 0 or 1")
    adversary, first = written("x = {}\nx['a'] = 1\nyield PAIR, WEAK")
    (line,) = explained(adversary)
    assert line.endswith(f":{first + 1}: an assignment to an item is not in the closed form")


@pytest.mark.parametrize(
    "body",
    [
        "x = (0, 0.0)\nwhile True:\n    a = yield PAIR, STRONG if x == (0, 0.0) "
        "else WEAK\n    x = (0, a)",
        "i = 0\nwhile True:\n    i += 1\n"
        "    yield PAIR, STRONG if np.any(np.array([1, 3]) == i) else WEAK",
        "i = 0\nwhile True:\n    i += 1\n    yield PAIR, STRONG if STAKE == i else WEAK",
        "while True:\n    a = yield PAIR, WEAK\n"
        "    yield PAIR, STRONG if (a > 1) is True else WEAK",
        "turns = enumerate((1, 2))\nfor _ in turns:\n    yield PAIR, WEAK\n"
        "for _ in turns:\n    yield PAIR, STRONG",
        "while True:\n    yield PAIR, WEAK if (coins.integers(3) > 0) + 1 else STRONG",
    ],
)
def test_what_only_looks_like_the_closed_form_is_refused(body):
    with pytest.raises(NotRead):
        machine_of(read(written(body)[0]))


@pytest.mark.parametrize(
    "body",
    [
        "i = 0\nwhile True:\n    yield PAIR, STRONG if i in BOLD else WEAK\n    i += 1",
        "a = 0.0\nwhile True:\n    e = (a > 1 and 0.2) or 0.1\n"
        "    a = yield PAIR, Laplace(ALICE, e)",
        "x = math.nan\nwhile True:\n    a = yield PAIR, STRONG if x in (math.nan,) else WEAK",
        "x = 0.0\nwhile True:\n    x = -x\n"
        "    a = yield PAIR, STRONG if math.copysign(1, x) < 0 else WEAK",
        "x = 0\nwhile True:\n    x = -x\n"
        "    a = yield PAIR, STRONG if math.copysign(1, x) < 0 else WEAK",
        "t = 0\nwhile True:\n    a = yield PAIR, STRONG if isinstance(t, int) else WEAK\n"
        "    t += a if a > 0 else 1",
        "t = ((0, 1.0), 2)\nwhile True:\n    t = ((t[1], t[0][1]), t[0][0] + 1)\n"
        "    yield PAIR, STRONG if t[1] % 2 else WEAK",
        "a = 0.0\nwhile True:\n    x = 1\n    y = x + (x := 5) + x\n"
        "    a = yield PAIR, STRONG if y == 11 and a > 0 else WEAK",
        "while True:\n    x = coins.random() - coins.random()\n"
        "    a = yield PAIR, STRONG if x > 0 else WEAK",
        "n = 3\nwhile True:\n    c = 0\n    for _ in range(n):\n        n, c = 1, c + 1\n"
        "    n = 3\n"
        "    yield PAIR, STRONG if c == 3 else WEAK",
        "while True:\n    for i in range(3):\n        for j in range(4):\n"
        "            yield PAIR, WEAK\n            if j >= i:\n                break\n"
        "        yield PAIR, STRONG",
        "i, x = 0, 0.0\nwhile True:\n    a = yield PAIR, STRONG if x > 3.0 else WEAK\n"
        "    x = BOLD[i % 3] + SQUARE[i % 2, -1 - i % 3] * a\n    i += 1",
        "i = 0\nwhile True:\n    i += 1\n    if (i % 3, i % 2) != (0, 1):\n"
        "        yield PAIR, STRONG if (i % 3, i % 2) == (2, 1) else WEAK",
        "a = 0.0\nwhile True:\n    x = max(0, a)\n"
        "    a = yield PAIR, STRONG if isinstance(x, int) else WEAK",
    ],
)
def test_awkward_adversaries_play_as_read(body):
    assert compared(written(body)[0], PLAYED) == 8 * 40


NODES = [f"node {i}" for i in range(256)]
THEN = {node: NODES[(7 * i + 3) % 256] for i, node in enumerate(NODES)}


def test_too_many_segments_are_refused_with_their_line(monkeypatch):
    monkeypatch.setattr(machine, "MOST_SEGMENTS", 500)
    body = "few = NODES[:40]\ni = 0\nwhile True:\n    a, b = few[i], few[i * 7 % 40]\n"
    body += "    i = (i + 1) % 40\n"
    adversary, line = written(f"{body}    yield WITHOUT, EVERYONE, OF_NODE[a if i % 2 else b]")
    with pytest.raises(NotRead, match="more than 500 segments") as refused:
        machine_of(read(adversary))
    assert line + 3 <= refused.value.line <= line + 5


def test_nothing_is_in_an_empty_table():
    for table in ("()", "{}", "set()", "BOLD[:0]"):
        adversary, _ = written(
            f"none = {table}\ni = 0\nwhile True:\n"
            "    yield WITHOUT, EVERYONE, WEAK if i in none else STRONG\n    i += 1"
        )
        assert compared(adversary, PLAYED) == 8 * 40


OTHERWISE = {node: NODES[(5 * i + 1) % 256] for i, node in enumerate(NODES)}
OF_NODE = {node: (WEAK, STRONG)[i % 2] for i, node in enumerate(NODES)}


def by_node(coins):
    """Walk over 256 objects, to each of which two rounds lead."""
    node = NODES[0]
    while True:
        answer = yield WITHOUT, EVERYONE, OF_NODE[node]
        node = THEN[node] if answer > 0.5 else OTHERWISE[node]


def test_a_step_of_many_objects_is_written():
    assert compared(by_node, PLAYED) == 8 * 40


def test_a_choice_of_two_written_numbers_is_made_in_play():
    """A rule's move then is computed: its steps end in one round, not in one for each move."""
    waits = machine_of(read(PRESS)).waits
    assert [type(each.entry) for each in waits] == [Slot]
