"""``dpcompose sweep``: options, task files, resumption, failures, bad input."""

import io
import math
import re

import pytest

from simulator.studies import Point, Snapshot, Study
from simulator.studies.commands.sweep_display import SweepDisplay

SWEEP = ("sweep", "fixed-worst-case", "--family", "pure:0.1,pure:0.2", "--jobs", 1)
EPSILON = ("--quantity", "epsilon(delta=0.01)")


def test_a_sweep_writes_one_line_per_quantity_and_resumes(dpcompose, tmp_path):
    out = tmp_path / "study.csv"
    run = (*SWEEP, "--rounds", "5..10", *EPSILON, "--width", "20%", "--out", out)
    said = dpcompose(*run)
    assert said.code == 0
    assert f"{out}: 8 quantities of 8 done" in said.out
    study = Study.load(out)
    assert [(p.family, p.rounds, p.experiment) for p in study] == [
        (family, k, b) for family in ("pure:0.1", "pure:0.2") for k in (5, 10) for b in (0, 1)
    ]
    assert all(point.relative_width <= 0.2 for point in study)
    content = out.read_bytes()
    assert sorted(dpcompose(*run).out.splitlines()) == sorted(said.out.splitlines())
    assert out.read_bytes() == content


def test_a_sweep_writes_a_page_beside_the_table(dpcompose, tmp_path):
    page = tmp_path / "study.html"
    run = (*SWEEP, "--rounds", "5", *EPSILON, "--trials", 2000, "--out", tmp_path / "study.csv")
    said = dpcompose(*run, "--report", page)
    assert (said.code, said.err) == (0, "")
    assert "<h1>study.csv</h1>" in page.read_text()
    assert "4 of 4 quantities done. Written" in page.read_text()
    refused = dpcompose(*run, "--report", tmp_path / "study.csv")
    assert refused.complaint.startswith("a report is an .html file")


def snapshot(**changed):
    point = Point(
        task="0", adversary="\x1b[31mwho[red]", family="pure:0.2", rounds=10, relation="",
        filter="", seed=0, experiment=1,
        quantity="tail(epsilon=0.5)", value=0.2, lower=0.1, upper=0.4,
        confidence=0.95, sure_lower=0.0, sure_upper=1.0, method="", trials=1000, hits=9, looks=1,
        stopped="", seconds=0.0, program="",
    )  # fmt: skip
    fields = {
        "quantities": 8, "done": 2, "failed": 0, "tasks": 3, "running": 2, "used": 61.0,
        "left": 600.0, "limit": math.inf, "ended": False, "points": (point,),
    }  # fmt: skip
    return Snapshot(**(fields | changed))


def test_a_terminal_shows_a_live_table_which_leaves_nothing(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    for name, value in {"COLUMNS": "100", "LINES": "30", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stderr", terminal)
    with SweepDisplay("study.csv") as display:
        display(snapshot())
        shown = terminal.getvalue()
        display(snapshot(ended=True))
        assert display.live is None
    assert "study.csv: 2 of 8 quantities done, 2 of 3 open tasks running" in shown
    assert "1:01 used, about 9:59 left" in shown or "1:01 used, about 10:00 left" in shown
    assert re.search("\n[^━\n]*widest intervals", shown)  # on a line of its own
    assert "\\x1b[31mwho[red]  pure:0.2  k=10  b=1" in shown
    assert "75.0%" in shown
    assert "\x1b[31m" not in shown


def test_no_terminal_shows_no_table(capsys):
    with SweepDisplay("study.csv") as display:
        display(snapshot())
    assert capsys.readouterr() == ("", "")


def test_a_toml_file_has_the_same_tasks_as_the_options(dpcompose, tmp_path):
    (tmp_path / "study.toml").write_text(
        """
[stop]
trials = 2000

[[task]]
adversary = "fixed-worst-case"
family = ["pure:0.1", "pure:0.2"]
rounds = [5]
quantity = "epsilon(delta=0.01)"
metadata = { why = "a test" }
"""
    )
    assert dpcompose("sweep", tmp_path / "study.toml", "--out", tmp_path / "one.csv").code == 0
    run = (*SWEEP, "--rounds", 5, *EPSILON, "--trials", 2000, "--out", tmp_path / "two.csv")
    assert dpcompose(*run).code == 0
    one, two = Study.load(tmp_path / "one.csv"), Study.load(tmp_path / "two.csv")
    assert [(p.key, p.value, p.upper) for p in one] == [(p.key, p.value, p.upper) for p in two]
    assert {point.metadata for point in one} == {'{"why":"a test"}'}


def test_a_python_file_has_tasks(dpcompose, adversary_file, tmp_path):
    adversary_file(
        "\nfrom simulator.studies import grid\n"
        "tasks = grid(press_when_ahead, 'pure:0.2', [3, 4], 'tail(epsilon=0.3)')\n"
    )
    path = tmp_path / "mine.py"
    said = dpcompose("sweep", path, "--out", tmp_path / "s.csv", "--trials", 1000, "--jobs", 1)
    assert said.code == 0
    assert "4 quantities of 4 done" in said.out


def test_a_task_that_fails_is_reported_at_the_end(dpcompose, adversary_file, tmp_path):
    wrong = adversary_file("\n\ndef wrong(coins):\n    yield 1, 2, 3\n", function="wrong")
    said = dpcompose(
        "sweep", wrong, "fixed-worst-case", "--family", "pure:0.2", "--rounds", 4, *EPSILON,
        "--out", tmp_path / "s.csv", "--trials", 1000, "--jobs", 1,
    )  # fmt: skip
    assert said.code == 1
    assert "2 quantities of 4 done" in said.out
    assert said.err.count("failed: ") == 1


BAD_TOML = {
    "[[task]\n": "line 1",
    "[[tasks]]\n": "no key 'tasks'; did you mean task?",
    "[[task]]\nadversary='a'\n": "task 1 has no 'family'",
    "[stop]\nwidht=1\n[[task]]\n": "no key 'widht'; did you mean width?",
    "[[task]]\nadversary='random-pair'\nfamily='pure:0.1'\nrounds='5..2'\nquantity='tail(1)'\n":
        "task 1: '5..2' are no rounds",
    "[[task]]\nadversary='random-pair'\nfamily='pure:0.1'\nrounds=5\nquantity='tial(1)'\n":
        "task 1: no quantity 'tial'; did you mean tail?",
    "[[task]]\nadversary='random-pear'\nfamily='pure:0.1'\nrounds=5\nquantity='tail(1)'\n":
        "did you mean random-pair",
}  # fmt: skip


@pytest.mark.parametrize("content", BAD_TOML)
def test_a_bad_task_file_gets_one_line_with_the_position(dpcompose, tmp_path, content):
    path = tmp_path / "bad.toml"
    path.write_text(content)
    said = dpcompose("sweep", path, "--out", tmp_path / "s.csv")
    assert said.code == 2
    assert BAD_TOML[content] in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert not (tmp_path / "s.csv").exists()


@pytest.mark.parametrize(("arguments", "complaint"), [
    (("--rounds", "5", *EPSILON), "give --family, --rounds and --quantity"),
    (("--family", "pure:0.1", "--rounds", "x", *EPSILON), "'x' are no rounds"),
    (("--family", "pure:0.1", "--rounds", "5", *EPSILON, "--width", "0"), "not a width above 0"),
    (("--family", "pure:0.1", "--rounds", "5", *EPSILON, "--trials", "0"), "trials"),
    (("--family", "pure:0.1", "--rounds", "5", *EPSILON, "--out", "a.txt"), "in a .csv file"),
])  # fmt: skip
def test_bad_options_get_one_line(dpcompose, tmp_path, arguments, complaint, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = () if "--out" in arguments else ("--out", "s.csv")
    said = dpcompose("sweep", "random-pair", *arguments, *out)
    assert said.code == 2
    assert complaint in said.err
    assert not (tmp_path / "s.csv").exists()


@pytest.mark.nightly
def test_a_study_is_drawn_and_compared(dpcompose, tmp_path):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    run = (*SWEEP, "--rounds", "5,10,20", "--quantity", "delta(epsilon=0.3)", "--trials", 20_000)
    for path, seed in ((one, 1), (two, 2)):
        assert dpcompose(*run, "--seed", seed, "--out", path).code == 0
    assert dpcompose("plot-study", one, "--y", "delta", "--group", "family").code == 0
    assert (tmp_path / "one.png").stat().st_size > 10_000
    labels = ("--labels", "fixed-worst-case=the worst, other=x")
    assert "no series 'other' to label" in dpcompose("plot-study", one, "--y", "delta", *labels).err
    same = dpcompose("diff", one, two)
    assert (same.code, same.out) == (
        0,
        "0 of 12 quantities moved (false alarm at most 2.4e-05 for all)\n",
    )
    text = two.read_text().replace("pure:0.1", "pure:0.05").replace("pure:0.2", "pure:0.1")
    two.write_text(text.replace("pure:0.05", "pure:0.2"))
    changed = dpcompose("diff", one, two)
    assert changed.code == 1
    assert changed.out.count("moved: delta(epsilon=0.3) of fixed-worst-case") >= 8
    assert len(dpcompose("diff", one, two, "--json").json["moved"]) >= 8
    bad = dpcompose("plot-study", one, "--y", "tail")
    assert (bad.code, len(bad.err.strip().splitlines())) == (2, 1)


def test_tables_with_nothing_in_common_are_not_called_equal(dpcompose, tmp_path):
    one, empty = tmp_path / "one.csv", tmp_path / "empty.csv"
    dpcompose(*SWEEP, "--rounds", "5", "--quantity", "tail(1)", "--trials", 100, "--out", one)
    empty.write_text("")
    assert dpcompose("diff", one, one).code == 0
    found = dpcompose("diff", one, empty)
    assert (found.code, "nothing is compared" in found.complaint) == (2, True)


def test_a_failure_has_its_traceback_on_request(dpcompose, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text("def bob(coins):\n    yield missing_name\n")
    sweep = ("sweep", f"{mine}:bob", "fixed-worst-case", "--family", "pure:0.1", "--jobs", 1)
    sweep = (*sweep, "--rounds", 2, "--quantity", "tail(epsilon=0.1)", "--trials", 100, "--out")
    short = dpcompose(*sweep, tmp_path / "a.csv")
    assert (short.code, "Traceback" in short.err) == (1, False)
    assert short.err.startswith("failed: tail(epsilon=0.1) of ")
    long = dpcompose(*sweep, tmp_path / "b.csv", "--tracebacks")
    assert (long.code, long.err.count('mine.py", line 2, in bob')) == (1, 1)
    assert "2 quantities of 4 done" in long.out


@pytest.mark.parametrize(("key", "value"), [("adversary", "nobody-knows"), ("family", "pure:x")])
def test_a_task_that_cannot_be_read_is_named_by_its_place(dpcompose, tmp_path, key, value):
    names = {"adversary": "fixed-worst-case", "family": "pure:0.1", "quantity": "tail(epsilon=1)"}
    tables = [names, names | {key: value}]
    text = "".join(
        "[[task]]\nrounds = 2\n" + "".join(f'{name} = "{of}"\n' for name, of in table.items())
        for table in tables
    )
    (tmp_path / "study.toml").write_text(text)
    found = dpcompose("sweep", tmp_path / "study.toml", "--out", tmp_path / "study.csv")
    assert (found.code, "study.toml, task 2: " in found.complaint) == (2, True)
