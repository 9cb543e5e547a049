"""The campaign of faults: a few tries, and that its checks can fail."""

import json
import signal

import pytest

from experiments.faults import __main__ as faults
from experiments.faults import damage, kills, numbers, strangers
from experiments.faults.cases import Tally, Whole, line_or_equal
from experiments.faults.table import markdown
from experiments.results.records import unstamped
from experiments.stages import RESULTS
from simulator.foundations.errors import InvalidInput


def test_a_wrong_outcome_is_listed():
    tally = Tally("a kind")
    for said in ("equal", "lines", "resumed, it prints something else"):
        tally.count(said)
    assert (tally.tries, tally.equal, tally.lines) == (3, 1, 1)
    text = markdown([tally], 60.0)
    assert "3 tries, 1 with a wrong outcome" in text
    assert "- a kind: resumed, it prints something else" in text


@pytest.mark.parametrize(
    ("out", "number", "said"),
    [
        ('{"a": 1, "seconds": 2}', signal.SIGKILL, "late"),
        ('{"a": 1, "seco', signal.SIGKILL, "exit -9 with a part of its output"),
        ('{"a": 2}', signal.SIGKILL, "exit -9 with a part of its output"),
        ('{"a": 1}', signal.SIGTERM, "exit -15 with a part of its output"),
    ],
)
def test_what_is_killed_may_have_said_all_but_no_part(monkeypatch, tmp_path, out, number, said):
    monkeypatch.setattr(kills, "difference", lambda *_: "")
    whole = Whole({"a": 1}, {}, 1.0)
    ended = (-number, out, "")
    assert kills.judged(kills.RULE, whole, tmp_path, ended, number, "parent") == said


def test_ctrl_c_while_python_starts_is_before_the_first_statement(monkeypatch, tmp_path):
    monkeypatch.setattr(kills, "difference", lambda *_: "")
    whole, text = Whole({"a": 1}, {}, 1.0), f"{kills.STARTING}: ...\nKeyboardInterrupt"

    def judged(err):
        return kills.judged(kills.RULE, whole, tmp_path, (1, "", err), signal.SIGINT, "parent")

    assert judged(text) == "early"
    assert judged(f"Traceback ...\n{text}").startswith("exit 1: ")


class Two(InvalidInput):
    def __str__(self):
        return "two\nlines"


def test_what_a_call_may_do():
    def raises(error):
        def call():
            raise error

        return call

    assert line_or_equal(lambda: True) == "equal"
    assert line_or_equal(lambda: False) == "another result"
    assert line_or_equal(raises(InvalidInput("one line"))) == "lines"
    assert line_or_equal(raises(InvalidInput("two\nlines"))) == "lines"
    assert "more than a line" in line_or_equal(raises(Two()))
    assert line_or_equal(raises(KeyError("x"))) == "KeyError: 'x'"


@pytest.mark.nightly
def test_damage_is_mended_and_a_swapped_block_is_seen(tmp_path):
    original = damage.Original(tmp_path / "whole")
    assert original.outcome() == "equal"
    first = original.records[0]
    assert original.outcome(original.log[: first[1] - 1]) == "equal"
    assert original.outcome(damage.flipped(original.log, 8 * (first[0] + 30))) == "equal"
    other = damage.Original(tmp_path / "other")
    other.result = damage.simulate(
        damage.press, damage.PureDP(0.2), 20, 1000, seed=4, block_size=50, jobs=1, keep_views=3
    )
    assert other.outcome() == "another result"


def test_what_a_try_with_a_stranger_s_file_may_not_do(tmp_path):
    def ends(call):
        return strangers.fault(*strangers.alone(call))

    assert ends(lambda: 2) == ""
    assert "exit 70" in ends(lambda: 70)
    assert "exit 99" in ends(lambda: 1 // 0)
    assert "a hang" in strangers.fault(0, "", strangers.SECONDS + 1.0)
    assert "a traceback" in strangers.fault(1, "Traceback (most recent call last)", 0.0)
    writes = strangers.Reader("it", "f", lambda path: path.write_text("new"), "old")
    (tmp_path / "run").mkdir()
    assert "changed what was there" in strangers.tried(writes, "link", tmp_path / "run")
    assert strangers.tried(strangers.READERS[0], "pipe", tmp_path / "run") == "lines"


def test_what_a_try_with_an_extreme_number_may_not_do(tmp_path, monkeypatch):
    words = ("calibrate", "laplace", "--rounds", "3", "--target-epsilon", "1")
    changed = numbers.with_flag(words, "--rounds", "-1")
    assert changed == ["calibrate", "laplace", "--rounds", "-1", "--target-epsilon", "1"]
    assert numbers.with_flag(words, "--share", "0")[-2:] == ["--share", "0"]
    whole = [*words, "--target-delta", "1e-6"]
    assert numbers.tried(numbers.with_flag(whole, "--rounds", f"1{'0' * 400}"), tmp_path) == "lines"
    assert numbers.tried(numbers.with_flag(whole, "--rounds", "nan"), tmp_path) == "lines"
    assert "mistaken" in numbers.tried(changed, tmp_path)
    monkeypatch.setattr(numbers, "_called", lambda *_: print(f"error: not {10**400}") or 2)
    assert "no error of one short line" in numbers.tried(words, tmp_path)
    monkeypatch.setattr(numbers, "_called", lambda *_: 1 // 0)
    assert "exit 99" in numbers.tried(words, tmp_path)


def test_unknown_parts_are_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        faults.main(["--only", "nothing", "--folder", "nowhere"])
    assert "invalid choice" in capsys.readouterr().err


def test_the_committed_campaign_is_what_the_readme_says():
    whole = json.loads((RESULTS / "faults.json").read_text(encoding="utf-8"))
    rows = [Tally(**row) for row in whole["rows"]]
    page = unstamped((RESULTS / "faults.md").read_text(encoding="utf-8"))
    assert page == markdown(rows, whole["seconds"])
    assert sum(row.tries for row in rows if row.kind.startswith("SIG")) == 300
    assert not any(row.wrong for row in rows)
    assert all(row.equal + row.lines + row.early + row.late == row.tries for row in rows)
