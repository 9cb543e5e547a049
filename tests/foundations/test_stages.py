"""Stages of long computations: told to whoever shows them, and to nobody without trouble."""

import contextlib
import io

import pytest

from simulator.foundations import stages
from simulator.runner import progress
from simulator.runner.progress import Bars, Progress


class Notes:
    """A display that writes down what it is told."""

    def __init__(self):
        self.told = []

    def begin(self, name, total):
        self.told.append(("begin", name, total))
        return name

    def advance(self, stage, by=1.0):
        self.told.append(("advance", stage, by))

    def end(self, stage):
        self.told.append(("end", stage))


def test_nobody_need_look():
    with stages.stage("long", 3) as advance:
        advance()
        advance(2.0)
    assert list(stages.in_stages("abc", "letters")) == ["a", "b", "c"]
    assert stages.display() is None


def test_a_display_is_told_of_each_stage_and_of_its_end():
    notes = Notes()
    with stages.shown_by(notes), stages.stage("outer"):
        assert list(stages.in_stages("ab", "letters")) == ["a", "b"]
    assert notes.told == [
        ("begin", "outer", None),
        ("begin", "letters", 2),
        ("advance", "letters", 1.0),
        ("advance", "letters", 1.0),
        ("end", "letters"),
        ("end", "outer"),
    ]
    assert stages.display() is None


def test_a_stage_that_fails_or_is_left_ends_too():
    notes = Notes()
    with stages.shown_by(notes), pytest.raises(KeyboardInterrupt), stages.stage("torn"):
        raise KeyboardInterrupt
    with stages.shown_by(notes):
        for _ in stages.in_stages("abc", "letters"):
            break
    assert [told for told in notes.told if told[0] != "advance"] == [
        ("begin", "torn", None), ("end", "torn"), ("begin", "letters", 3), ("end", "letters"),
    ]  # fmt: skip


class Terminal(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self):
        return True


@contextlib.contextmanager
def bars_on(terminal):
    """Standard error is that terminal, and stages are shown on it."""
    with contextlib.redirect_stderr(terminal), progress.on_a_terminal():
        yield stages.display()


def test_bars_are_drawn_on_a_terminal_while_a_stage_lasts(monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with bars_on(terminal) as bars:
        assert isinstance(bars, Bars)
        assert terminal.getvalue() == ""
        with stages.stage("counting sheep", 4) as advance:
            advance(3.0)
            bars.display.refresh()
            assert "counting sheep" in terminal.getvalue()
            assert "75%" in terminal.getvalue()
        assert bars.display is None
        print("a result")
    assert capsys.readouterr().out == "a result\n"
    assert "a result" not in terminal.getvalue()


def test_a_runs_bar_stands_with_the_others(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with bars_on(terminal) as bars, stages.stage("adversaries", 2):
        with Progress() as bar:
            bar.compiling("a rule")
            assert len(bars.running) == 2
            bar.compiled()
            bar.playing("a rule", 100)
            bar.played(40)
            bar.notice("a line")
            assert len(bars.running) == 2
        assert len(bars.running) == 1
    assert "a line" in terminal.getvalue()


def test_no_bar_is_drawn_where_nobody_looks(capsys):
    with progress.on_a_terminal(), stages.stage("long"), Progress() as bar:
        bar.playing("a rule", 100)
        bar.played(100)
    assert capsys.readouterr() == ("", "")
