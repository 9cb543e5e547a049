"""The tool that draws changes of the code by chance: what it changes, and what it calls caught."""

import ast
from collections import Counter

import pytest

from tests.helpers.chance import Judge
from tests.helpers.mutants import drawn, mutants
from tests.helpers.planting import HANGS
from tests.helpers.reach import Reach

SOURCE = '''
"""A docstring with 1 < 2."""
__all__ = ["f"] * 1

def f(x: "int < 3", y=2.0) -> 1:
    assert x < 100
    if not x and y > 1:
        raise ValueError(f"{x + 1}" + str(7))
    while x < 5:
        x += 1
    total = min(x, -y) * 3
    g(x, y, key=True)
    return total

def g(*args, key): return None
'''


CHANGES = """
5 constant: 2.0 -> 4.0
7 condition: not x and y > 1 -> False
7 and, or: not x and y > 1 -> not x or y > 1
7 not left out: not x -> x
7 comparison: y > 1 -> y >= 1
7 constant: 1 -> 2
8 raise left out: raise ValueError(f'{x + 1}' + str(7)) -> pass
9 condition: x < 5 -> True
9 comparison: x < 5 -> x <= 5
9 constant: 5 -> 6
10 assignment left out: x += 1 -> pass
10 operator: x += 1 -> x -= 1
10 constant: 1 -> 2
11 operator: min(x, -y) * 3 -> min(x, -y) / 3
11 min, max: min(x, -y) -> max(x, -y)
11 argument left out: min(x, -y) -> min(x)
11 sign: -y -> y
11 constant: 3 -> 4
12 call left out: g(x, y, key=True) -> pass
12 argument left out: g(x, y, key=True) -> g(x, y)
12 arguments swapped: g(x, y, key=True) -> g(y, x, key=True)
12 constant: True -> False
13 return: return total -> return None
"""


def test_each_place_has_its_changes_and_words_and_types_have_none():
    found = mutants(SOURCE, "m.py")
    lines = [f"{each.line} {each.kind}: {each.change}" for each in found]
    assert lines == CHANGES.strip().splitlines()


def test_each_change_is_planted_alone():
    whole = ast.dump(ast.parse(SOURCE))
    for each in mutants(SOURCE):
        changed = ast.dump(ast.parse(each.planted_in(SOURCE)))
        assert changed != whole, each
    assert len({each.label for each in mutants(SOURCE)}) == len(mutants(SOURCE))


def test_what_is_drawn_stays_drawn_and_every_place_has_its_chance():
    found = mutants(SOURCE, "m.py")
    few = drawn(found, 5, seed=1)
    assert drawn(found, 9, seed=1)[:5] == few
    moved = mutants("\n\n" + SOURCE + "\n\ndef h(): return 1 + 1\n", "m.py")
    known = {each.label for each in found}
    assert [e.label for e in drawn([m for m in moved if m.label in known], 5, 1)] == [
        e.label for e in few
    ]
    first = Counter(drawn(found, 1, seed)[0].label for seed in range(40 * len(found)))
    # 23 places, 40 times each: a normal variable of six deviations, 23 * 2e-9 by chance
    assert len(first) == len(found)
    assert all(abs(count - 40) < 6 * 40**0.5 for count in first.values())


TOY = "def larger(x, y):\n    while x < 0:\n        x += 1\n    return x if x > y else y\n"
TESTS = """
from simulator.rooms.toy import larger

def test_slow(): assert larger(-3, 5) == 5
def test_quick(): assert larger(2, 1) == 2
def test_wrong(): assert larger(2, 1) == 1
"""


@pytest.fixture
def toy(tmp_path):
    """A project of one module, and a judge of its mutants."""
    files = {"simulator/rooms/toy.py": TOY, "tests/rooms/test_toy.py": TESTS}
    files["simulator/doors/pytest_plugin.py"] = ""  # pytest loads what is installed of this name
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    judge = Judge(tmp_path)
    entered = frozenset({"rooms/toy.py: larger"})
    judge.tests = lambda room: [
        Reach(f"tests/{room}/test_toy.py::{name}", seconds, entered)
        for name, seconds in (("test_slow", 0.3), ("test_quick", 0.2), ("test_wrong", 0.1))
    ]
    return judge


@pytest.mark.parametrize(
    ("change", "test"),
    [
        ("x > y -> x >= y", None),
        ("x > y -> True", "test_slow"),
        pytest.param("x += 1 -> x -= 1", HANGS, marks=pytest.mark.nightly),
    ],
)
def test_a_mutant_of_a_toy_is_caught_by_a_test_that_passes_without_it(
    toy, change, test, monkeypatch
):
    monkeypatch.setattr("tests.helpers.chance.LONGEST", 2)
    mutant = next(m for m in mutants(TOY, "rooms/toy.py") if m.change == change)
    assert toy.trial(mutant, wide=False) == (
        (f"tests/rooms/test_toy.py::{test}" if test and "_" in test else test),
        3,
    )
    assert (toy.folder / "simulator/rooms/toy.py").read_text() == TOY
