"""Bars of long commands: on a terminal while something lasts, and nowhere else."""

import contextlib
import io

from simulator.foundations import stages
from simulator.runner import progress
from simulator.runner.progress import Bars, Progress


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


def test_a_name_with_brackets_is_drawn_as_it_is(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with bars_on(terminal) as bars, Progress() as bar:
        bar.playing("[bold]press[/bold] [x", 100)
        bars.display.refresh()
        bar.notice("[bold]a line")
    assert "[bold]press[/bold] [x" in terminal.getvalue()
    assert "[bold]a line" in terminal.getvalue()


def test_no_bar_is_drawn_where_nobody_looks(capsys):
    with progress.on_a_terminal(), stages.stage("long"), Progress() as bar:
        bar.playing("a rule", 100)
        bar.played(100)
    assert capsys.readouterr() == ("", "")
