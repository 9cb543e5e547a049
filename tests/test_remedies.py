"""What a refusal advises is followed here, and works.

The messages that advise are found on the syntax trees. Each case provokes one, and then does what
it says. Messages without a case are counted by room: the count of a room may only fall, so a new
message that advises needs a case.
"""

import ast
import os
import re
from collections import Counter

import pytest

from simulator import Account, Database, Laplace, PureDP, RandomizedResponse, simulate
from simulator.adversaries.loading import from_file
from simulator.analysis import estimate_rare
from simulator.data.alice import EVERYONE
from simulator.errors import DpcomposeError
from simulator.foundations.files import write_new, write_text
from simulator.foundations.strangers import from_json, read_array
from simulator.foundations.surroundings import DATE, require_usable
from simulator.theory.events import promise, self_compose
from tests.helpers.cases import case
from tests.helpers.command_line import dpcompose
from tests.helpers.sources import nodes_of_all

__all__ = ["dpcompose"]

ADVISES = re.compile(
    r"(; |, or |: )(use|try|pass|set|give|raise|name|write|play|rename|unset|install|pip install|"
    r"leave|remove|move|add|ask|choose|make|state|keep|lower|sort|draw|put|call|take|do) "
)


def text_of(node):
    """The text of a literal, with {} for what is filled in; or ""."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        parts = [text_of(part) if isinstance(part, ast.Constant) else "{}" for part in node.values]
        return "".join(parts)
    return ""


def advising(nodes):
    """The texts of a module that advise, without docstrings and the parts of longer texts."""
    within = {id(part) for each in nodes if isinstance(each, ast.JoinedStr) for part in each.values}
    within |= {id(each.value) for each in nodes if isinstance(each, ast.Expr)}
    texts = [text_of(each) for each in nodes if id(each) not in within]
    return [text for text in texts if ADVISES.search(text)]


GAME = ("--family", "pure:0.2", "--rounds", "3", "--trials", "20", "--jobs", "1")
BOUNDS = ("bounds", "laplace:0.1", "--rounds", "3")
ONE = (
    "from simulator import Laplace\n"
    "from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE\n"
    "def one(coins):\n"
    "    while True:\n"
    "        yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, 0.1)\n"
)


def played(**options):
    return simulate("press-when-ahead", PureDP(0.2), 3, 20, jobs=1, progress=False, **options)


def two_in_a_file(call):
    write_text("two.py", f"{ONE}{ONE[ONE.index('def') :].replace('one', 'two')}")
    yield lambda: call("simulate", "two.py", *GAME)
    yield lambda: call("simulate", "two.py:one", *GAME)


def beside(call):
    write_text("pytest.py", "")
    write_text("mine.py", f"import pytest\n{ONE}")
    yield lambda: from_file("mine.py", "one", "adversary")
    os.rename("pytest.py", "of_mine.py")
    yield lambda: from_file("mine.py", "one", "adversary")


def a_new_file(call):
    write_text("there", "")
    yield lambda: write_new("there", "")
    yield lambda: write_new("new", "")


def a_link(call):
    os.symlink("target", "link")
    yield lambda: write_text("link", "")
    yield lambda: write_text("target", "")


def another_folder(call):
    os.mkdir("run")
    os.mkfifo("run/blocks.log")
    yield lambda: played(out="run")
    yield lambda: played(out="other")


def a_number_that_is_infinite(call):
    yield lambda: from_json("Infinity", "it")
    yield lambda: from_json('"inf"', "it")


def several_arrays(call):
    import numpy as np

    np.savez("several.npz", a=np.ones(2))
    np.save("one.npy", np.ones(2))
    yield lambda: read_array("several.npz")
    yield lambda: read_array("one.npy")


def a_variable(call):
    os.environ[DATE] = "junk"
    yield require_usable
    os.environ[DATE] = "0"
    yield require_usable


def settings(call):
    os.mkfifo("matplotlibrc")
    yield require_usable
    os.rename("matplotlibrc", "away")
    yield require_usable


def a_trace(call):
    yield lambda: played().moments()
    yield lambda: played(trace=True).moments()


def records_in_a_list(call):
    yield lambda: Database("alice")
    yield lambda: Database(["alice"])


def a_single_person(call):
    def answered(mechanism):
        return mechanism.pair(EVERYONE.remove("others"), EVERYONE)

    from simulator.data.queries import counting_query

    yield lambda: answered(RandomizedResponse(counting_query("others"), 0.1))
    yield lambda: answered(Laplace(counting_query("others"), 0.1))


def splitting_at_an_epsilon(call):
    game = ("press-when-ahead", PureDP(0.2), 3)
    options = {"trials": 200, "method": "splitting"}
    yield lambda: estimate_rare(*game, delta=0.1, **options)
    yield lambda: estimate_rare(*game, epsilon=0.2, **options)


def a_larger_delta(call):
    leaking = self_compose(promise("approx:0,0.01"), 2)
    yield lambda: Account(leaking).epsilon(1 - 0.99**2)
    yield lambda: Account(leaking).epsilon(1 - 0.99**2 + 1e-12)


def rounds_of_an_event(call):
    write_text("event.json", "[[1.0, 0.1, 10]]")
    yield lambda: call("bounds", "--event", "event.json", "--rounds", "3")
    yield lambda: call("bounds", "--event", "event.json")


def a_size(call):
    sweep = ("sweep", "press-when-ahead", *GAME, "--quantity", "epsilon(delta=0.1)")
    assert call(*sweep, "--out", "study.csv").code == 0
    yield lambda: call("plot-study", "study.csv", "--out", "a.svg", "--size", "wide")
    yield lambda: call("plot-study", "study.csv", "--out", "a.svg", "--size", "7x3")


def a_time(call):
    sweep = ("sweep", "press-when-ahead", *GAME, "--quantity", "epsilon(delta=0.1)")
    yield lambda: call(*sweep, "--out", "study.csv", "--seconds", "soon")
    yield lambda: call(*sweep, "--out", "study.csv", "--seconds", "10m")


def a_part(call):
    yield lambda: call("simulate", "press-when-ahead", *GAME, "--part", "1/2")
    yield lambda: call("simulate", "press-when-ahead", *GAME, "--part", "1/2", "--out", "run")


def a_summary(call):
    game = {"out": "run", "block_size": 10}
    played(**game, keep="summary")
    yield lambda: played(**game)
    yield lambda: played(**game, keep="summary")


def a_size_of_the_data(call):
    numbers = ("training", "--noise", "9", "--batch", "1", "--steps", "2", "--delta", "0.1")
    quiet = ("--canaries", "0", "--no-libraries", "--json")
    yield lambda: call(*numbers, *quiet)
    yield lambda: call(*numbers, *quiet, "--records", "2")


def lemmas_of_a_table(call):
    yield lambda: call(*BOUNDS, "--bound", "basic", "--why", "--csv")
    yield lambda: call(*BOUNDS, "--bound", "basic", "--why")


CASES = {
    "is missing: give noise, records": a_size_of_the_data,
    "--why is of a table: leave out": lemmas_of_a_table,
    "name one, as {}:{}": two_in_a_file,
    "rename the file beside it": beside,
    "exists already and is kept; name a new file": a_new_file,
    "name the file that it leads to": a_link,
    "is not a regular file; name another folder": another_folder,
    'write an infinite number as "inf"': a_number_that_is_infinite,
    "give a .npy file with one": several_arrays,
    "unset it, or correct it": a_variable,
    "move it away": settings,
    "were not recorded: pass trace=True": a_trace,
    "put the one record in a list": records_in_a_list,
    "count a single person, or use Laplace": a_single_person,
    "at a delta: give an epsilon": splitting_at_an_epsilon,
    "give a delta that is a little larger": a_larger_delta,
    "leave out MECHANISM and --rounds": rounds_of_an_event,
    "write WIDTHxHEIGHT in inches": a_size,
    "is not a time; write 600": a_time,
    "give a folder with --out": a_part,
    'not every loss: play with keep="summary"': a_summary,
}


def outcome(call):
    """The line of a refusal, or "" where a call or a command succeeds."""
    try:
        said = call()
    except DpcomposeError as error:
        return str(error)
    return said.err if getattr(said, "code", 0) else ""


SLOW = {"write WIDTHxHEIGHT in inches", "leave out MECHANISM and --rounds"}


@pytest.mark.parametrize(
    "said", [pytest.param(each, marks=[pytest.mark.nightly] * (each in SLOW)) for each in CASES]
)
def test_what_is_advised_works(said, dpcompose, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(DATE, "0")
    steps = CASES[said](dpcompose)
    fixed = [part for part in said.split("{}") if part]
    line = outcome(next(steps))
    assert all(part in line for part in fixed), line
    assert outcome(next(steps)) == ""


WAITING = {
    "adversaries": 1, "analysis": 22, "attacks": 6, "auditing": 15, "data": 3, "doors": 5,
    "engine": 21, "foundations": 9, "mechanisms": 12, "runner": 35, "studies": 12, "teaching": 14,
    "theory": 18, "training": 9, "worst": 31,
}  # fmt: skip
"""How many messages of each room have advice that no test here follows yet."""


def test_a_message_that_advises_has_a_case():
    found = {path: advising(among) for path, among in nodes_of_all().items()}
    texts = [text for theirs in found.values() for text in theirs]
    for said in CASES:
        with case(said):
            assert any(said in text for text in texts), "no message says this any more"
    left = Counter(
        path.partition("/")[0]
        for path, theirs in found.items()
        for text in theirs
        if not any(said in text for said in CASES)
    )
    assert left == WAITING, "a new message that advises needs a case; a case lowers the count"


def test_what_advises_is_found():
    source = """raise Refusal(f"too few: {n}; try {n} trials")\ndef f():\n  'Get; raise it.'"""
    assert advising(list(ast.walk(ast.parse(source)))) == ["too few: {}; try {} trials"]
    assert advising(list(ast.walk(ast.parse("a = 'it may try to use it'")))) == []
