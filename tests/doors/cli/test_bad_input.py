"""What bad input gets: one line, exit code 2, nothing on standard output, nothing overwritten."""

import os

import pytest

from simulator.adversaries.loading import find_adversary
from simulator.runner.store.log import OPENING_SIZE
from simulator.theory import PureDP

SETTINGS = {"--family": "pure:0.2", "--rounds": 5, "--trials": 4, "--seed": 1, "--jobs": 1}


@pytest.fixture
def refused(dpcompose, adversary_file):
    """``refused(adversary, {"--rounds": 0})`` returns the one line that the call was given."""

    def call(adversary=None, options=()):
        settings = SETTINGS | dict(options)
        flat = (part for pair in settings.items() for part in pair)
        return dpcompose("simulate", adversary or adversary_file(), *flat).complaint

    return call


@pytest.mark.parametrize(
    ("option", "value", "named"),
    [
        *(("--rounds", value, "rounds must be at least 1") for value in ("0", "-1")),
        *(("--rounds", value, "--rounds") for value in ("1.5", "nan", "many", "")),
        *(("--trials", value, "trials must be at least 1") for value in ("0", "-1")),
        *(("--trials", value, "--trials") for value in ("1e3", "inf", "")),
        ("--seed", "-1", "seed must be at least 0"),
        ("--seed", "x", "--seed"),
        ("--jobs", "0", "jobs must be at least 1"),
        ("--jobs", "-3", "jobs must be at least 1"),
        *(("--epsilon", value, "epsilon must be") for value in ("nan", "inf", "-inf", "-0.1")),
        ("--epsilon", "x", "--epsilon"),
        *(("--delta", value, "delta must") for value in ("-0.1", "1", "2", "nan", "inf")),
        *(("--confidence", value, "confidence must") for value in ("0", "1", "-1", "nan", "inf")),
        *(("--family", f"pure:{value}", "epsilon must") for value in ("-1", "nan", "inf", "1e300")),
        *(("--family", f"gdp:{value}", "mu must") for value in ("-1", "nan", "inf")),
        *(("--family", f"zcdp:{value}", "rho must") for value in ("-1", "nan", "inf")),
        *(("--family", f"range:{value}", "epsilon must") for value in ("-1", "nan", "inf")),
        *(("--family", f"{kind}:0", "above 0") for kind in ("pure", "gdp", "zcdp", "range")),
        ("--family", "approx:0,0", "above 0"),
        *(("--family", f"approx:0.1,{value}", "delta must") for value in ("-1", "1", "nan")),
        ("--family", "approx:0.1", "approx needs delta: write approx:EPSILON,DELTA"),
        ("--family", "pure:0.1,0.2", "pure takes no more values in order; write pure:EPSILON"),
        ("--family", "pure:0_2", "epsilon must be a number"),
        ("--filter", "sum:0_2", "epsilon must be a number"),
        ("--epsilon", "0_2", "--epsilon"),
        ("--rounds", "1_0", "--rounds"),
        *(("--rounds", str(10**n), "rounds must be at most") for n in (16, 18, 19, 30)),
        ("--out", "", "out must name a folder"),
        ("--family", "pure", "pure needs epsilon: write pure:EPSILON"),
        ("--family", "pure:", "pure needs epsilon: write pure:EPSILON"),
        ("--family", "pure:x", "epsilon must be a number"),
        ("--family", "", "unknown family"),
        ("--family", "pur:0.1", "did you mean pure?"),
        ("--relation", "add", "add/remove-one"),
    ],
)
def test_an_option_that_makes_no_sense(refused, option, value, named):
    assert named in refused(options={option: value})


def test_an_unknown_adversary_is_answered_with_the_nearest_names(refused):
    line = refused("pres-when-ahed")
    assert "no adversary 'pres-when-ahed'; did you mean press-when-ahead" in line
    assert "path/to/file.py:function" in line
    assert "press-when-ahead" in refused("zzz")  # nothing is near: all are listed
    assert "no file 'mine.py' to read an adversary from" in refused("mine.py")


# --- files --------------------------------------------------------------------------------------


def test_a_file_that_is_not_there(refused, tmp_path):
    assert "no file" in refused(f"{tmp_path}/none.py:attack")
    assert "no file" in refused(f"{tmp_path}.py:attack")


def test_a_file_without_the_function(refused, adversary_file):
    line = refused(adversary_file(function="press_when_ahed"))
    assert "no adversary 'press_when_ahed'; did you mean press_when_ahead" in line
    assert "has no adversary 'EVERYONE'" in refused(adversary_file(function="EVERYONE"))
    assert "has no adversary ''" in refused(adversary_file(function=""))


def test_a_file_alone_names_its_only_adversary(refused, adversary_file, tmp_path):
    path = adversary_file().rpartition(":")[0]
    assert find_adversary(path, PureDP(0.2), 5).__name__ == "press_when_ahead"
    with open(path, "a") as file:
        file.write("\ndef helper(x):\n    return x\n\ndef _hidden(coins):\n    yield 1\n")
    assert find_adversary(path, PureDP(0.2), 5).__name__ == "press_when_ahead"
    with open(path, "a") as file:
        file.write("\ndef second(coins):\n    yield 1\n")
    line = refused(path)
    assert f"has 2 adversaries: press_when_ahead, second; name one, as {path}:press" in line
    (tmp_path / "mine.py").write_text("def helper(x):\n    return x\n")
    line = refused(path)
    assert "has no adversary, which is a generator function or a Rule; its functions are" in line


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("def attack(:\n", "SyntaxError"),
        ("import nothing_of_that_name\n", "ModuleNotFoundError"),
        ("raise SystemExit(0)\n", "SystemExit"),
        ("raise ValueError('two\\nlines')\n", "ValueError: two lines"),
        ("from simulator import PureDP\nPureDP(-1)\n", "epsilon must be"),
        ("\0", "mine.py"),
    ],
)
def test_a_file_that_raises(refused, adversary_file, text, named):
    line = refused(adversary_file(text))
    assert named in line
    assert "mine.py" in line


def test_a_file_that_is_not_text(refused, tmp_path):
    path = tmp_path / "mine.py"
    path.write_bytes(b"cafe = 'caf\xe9'\n")
    assert "SyntaxError" in refused(f"{path}:attack")
    (tmp_path / "folder.py").mkdir()
    assert "not a regular file" in refused(f"{tmp_path}/folder.py:attack")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read(refused, adversary_file, tmp_path):
    attack = adversary_file()
    (tmp_path / "mine.py").chmod(0)
    assert "PermissionError" in refused(attack)


def test_a_file_may_import_what_lies_beside_it(dpcompose, adversary_file, tmp_path):
    (tmp_path / "beside_the_adversary.py").write_text("EPSILON = 0.1\n")
    more = """
from beside_the_adversary import EPSILON

def attack(coins):
    while True:
        yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, EPSILON)
"""
    flat = (part for pair in SETTINGS.items() for part in pair)
    said = dpcompose("simulate", adversary_file(more, "attack"), *flat)
    assert (said.code, said.err) == (0, "")


ATTACK = """
from simulator import Gaussian
from simulator.data import function_query
def attack(coins):
    answer = yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, 0.1)
    {body}
"""


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("yield WITHOUT_ALICE, EVERYONE.add('carol'), Laplace(ALICE, 0.1)", "not neighbours"),
        ("yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, 0.3)", "outside the family pure:0.2"),
        ("yield WITHOUT_ALICE, EVERYONE, Gaussian(ALICE, 9.0)", "outside the family pure:0.2"),
        (
            "f = function_query(lambda d: 3.0 * d.count_of('alice'), 1.0)\n"
            "    yield WITHOUT_ALICE, EVERYONE, Laplace(f, 0.1)",
            "states L1 sensitivity 1",
        ),
        ("raise KeyError('where')", "raised KeyError"),
        ("raise ValueError('two\\nlines')", "raised ValueError: two lines"),
        ("return", "the adversary stopped"),
        ("yield 3", "must yield"),
        ("yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, float('nan'))", "epsilon must be"),
        ("yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, 0.0)", "epsilon must be"),
    ],
)
def test_an_adversary_that_breaks_the_rules(refused, adversary_file, tmp_path, body, named):
    out = tmp_path / "run"
    line = refused(adversary_file(ATTACK.format(body=body), "attack"), {"--out": out})
    assert line.startswith("round 2, trial 0 of experiment 0: ")
    assert named in line
    assert (out / "blocks.log").stat().st_size == OPENING_SIZE  # no block was kept


def test_a_function_that_is_no_adversary(refused, adversary_file):
    assert "generator function" in refused(adversary_file("def f(coins): return 3\n", "f"))
    assert "TypeError" in refused(adversary_file("def f(): yield 3\n", "f"))


# --- folders ------------------------------------------------------------------------------------


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.fixture
def played(dpcompose, adversary_file, tmp_path):
    """A folder with a finished run of the file's adversary."""
    settings = SETTINGS | {"--out": tmp_path / "run"}
    said = dpcompose(
        "simulate", adversary_file(), *(part for pair in settings.items() for part in pair)
    )
    assert said.code == 0
    return tmp_path / "run"


@pytest.mark.parametrize(
    ("option", "value", "key"),
    [
        ("--rounds", 6, "rounds"),
        ("--seed", 2, "seed"),
        ("--family", "pure:0.3", "family"),
    ],
)
def test_a_folder_of_another_specification(refused, played, option, value, key):
    before = contents(played)
    line = refused(options={option: value, "--out": played})
    assert "another specification" in line
    assert key in line
    assert contents(played) == before


def test_a_folder_of_an_adversary_that_was_edited_since(refused, played, adversary_file):
    before = contents(played)
    edited = adversary_file("WITHOUT_ALICE = EVERYONE.remove('bob').remove('alice').add('alice')\n")
    assert "another specification" in refused(edited, {"--out": played})
    assert contents(played) == before


def test_a_folder_that_holds_something_else(refused, tmp_path):
    (tmp_path / "run").mkdir()
    for name in ("blocks.log", "specification.json"):
        path = tmp_path / "run" / name
        path.write_text("my diary")
        refused(options={"--out": tmp_path / "run"})
        assert path.read_text() == "my diary"
        path.unlink()


def test_a_refused_folder_is_left_as_it_was(refused, tmp_path, monkeypatch):
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    (stranger / "specification.json").write_text("{}")
    refused(options={"--out": stranger})
    assert [path.name for path in stranger.iterdir()] == ["specification.json"]

    def without_locks(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", without_locks)
    line = refused(options={"--out": tmp_path / "a" / "new" / "folder"})
    assert "No locks available" in line
    assert not (tmp_path / "a").exists()


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(refused, tmp_path):
    for name in ("blocks.log", "specification.json"):
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        os.mkfifo(folder / name)
        assert "is not a regular file" in refused(options={"--out": folder})


def test_a_finished_run_is_shown_from_where_nothing_can_be_written(
    dpcompose, played, adversary_file, monkeypatch
):
    monkeypatch.setattr("simulator.runner.store.folder.read_only", lambda folder: folder.exists())
    before = contents(played)
    settings = SETTINGS | {"--out": played}
    flat = [part for pair in settings.items() for part in pair]
    said = dpcompose("simulate", adversary_file(), *flat)
    assert (said.code, said.err) == (0, "")
    more = dpcompose("simulate", adversary_file(), *flat, "--trials", 9).complaint
    assert "cannot be written to, and lacks blocks of this run" in more
    assert contents(played) == before


LOSSES = """
from simulator.mechanisms import Mechanism
from simulator import PureDP

class Odd(Mechanism):
    query = ALICE
    def guarantee(self, relation=None):
        return PureDP(0.2)
    def sample(self, database, noise, relation=None):
        return 1.0
    def log_likelihood_ratio(self, answer, database_0, database_1, relation=None):
        import numpy as np
        return {loss}

def attack(coins):
    while True:
        yield WITHOUT_ALICE, EVERYONE, Odd()
"""


@pytest.mark.parametrize("loss", ["0.1 + 0.1j", "np.array([0.1, 0.2])", "np.array([0.1])", "'x'"])
def test_a_loss_that_is_no_real_number(refused, adversary_file, loss):
    line = refused(adversary_file(LOSSES.format(loss=loss), "attack"))
    assert line.startswith("round 1, trial 0 of experiment 0: ")
    assert "not a real number" in line


def test_a_folder_that_is_a_file(refused, tmp_path):
    path = tmp_path / "diary"
    path.write_text("dear diary")
    for out in (path, path / "run"):
        assert "cannot" in refused(options={"--out": out})
    assert path.read_text() == "dear diary"


def test_a_folder_that_cannot_be_written(refused, tmp_path):
    assert "cannot create /proc/nowhere" in refused(options={"--out": "/proc/nowhere"})
    if os.geteuid() != 0:
        (tmp_path / "locked").mkdir(mode=0o500)
        assert "cannot" in refused(options={"--out": tmp_path / "locked"})
        assert "cannot" in refused(options={"--out": tmp_path / "locked" / "run"})


def test_a_bad_question_is_refused_before_anything_is_played(refused, tmp_path):
    for option, value in (("--epsilon", "nan"), ("--delta", "2"), ("--confidence", "0")):
        refused(options={option: value, "--out": tmp_path / "never", "--trials": 10**9})
    assert not (tmp_path / "never").exists()


# --- huge values --------------------------------------------------------------------------------


@pytest.mark.parametrize("adversary", [None, "press-when-ahead"])
def test_more_trials_than_fit_into_memory(refused, adversary):
    line = refused(adversary, {"--trials": 10**15})
    assert "fit" in line
    assert "memory" in line


def test_numbers_beyond_any_machine(refused):
    assert "memory" in refused(options={"--trials": 10**30})
