"""Progress bars for long commands, if standard error is a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any, Self

from simulator.foundations import stages
from simulator.foundations.wording import printable


class Bars:
    """Bars on standard error, one per running stage, with the remaining time.

    Between stages no display is active, so that results can be printed.
    """

    def __init__(self) -> None:
        self.display: Any = None
        self.running: list[Any] = []

    def begin(self, name: str, total: float | None, done: float = 0.0) -> Any:
        """Draw a bar; without a ``total`` it has the elapsed time alone."""
        if self.display is None:
            self.display = _display()
            self.display.start()
        bar = self.display.add_task(printable(name), total=total, completed=done, rate="")
        self.running.append(bar)
        return bar

    def advance(self, stage: Any, by: float = 1.0) -> None:
        """Advance a bar."""
        self.display.advance(stage, by)

    def rate(self, stage: Any, found: float, what: str) -> None:
        """Show how many millions of ``what`` are done per second, without the first ``found``."""
        task = next(task for task in self.display.tasks if task.id == stage)
        if task.elapsed:
            rate = (task.completed - found) / task.elapsed
            self.display.update(stage, rate=f"{rate / 1e6:.2f} M {what}/s")

    def end(self, stage: Any) -> None:
        """Remove a bar, and stop the display after the last one."""
        if stage not in self.running:
            return
        self.running.remove(stage)
        self.display.remove_task(stage)
        if not self.running:
            self.display.stop()
            self.display = None

    def notice(self, line: str) -> None:
        """Print one line above the bars."""
        line = printable(line)
        if self.display is None:
            print(line, file=sys.stderr)
        else:
            self.display.console.print(line, markup=False, highlight=False)


def _display() -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,  # standard output has the results
    )


@contextlib.contextmanager
def on_a_terminal() -> Iterator[None]:
    """Draw a bar for each stage inside the context, if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    with stages.shown_by(Bars()):
        yield


class Progress:
    """A run's bar, which counts rounds, with its rate and the remaining time.

    It is shown if standard error is a terminal. The rate excludes the time of compilation.
    """

    def __init__(self, shown: bool | None = None) -> None:
        display = stages.display()
        self.bars = display if isinstance(display, Bars) else Bars()
        self.shown = sys.stderr.isatty() if shown is None else shown
        self.bar: Any = None
        self.found = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._end()

    def compiling(self, name: str) -> None:
        """Show that a rule is being compiled."""
        self._begin(f"compiling {name}", None)

    def compiled(self) -> None:
        """Remove the bar of the compilation."""
        self._end()

    def playing(self, name: str, rounds: int, done: int = 0) -> None:
        """Show a bar of ``rounds``, of which ``done`` were read from disk."""
        self._begin(name, rounds, done)
        self.found = done

    def played(self, rounds: int) -> None:
        """Advance the bar by some rounds."""
        if self.bar is not None:
            self.bars.advance(self.bar, rounds)
            self.bars.rate(self.bar, self.found, "rounds")

    def notice(self, line: str) -> None:
        """Print one line on standard error."""
        self.bars.notice(line)

    def _begin(self, name: str, total: float | None, done: int = 0) -> None:
        self._end()
        if self.shown:
            self.bar = self.bars.begin(name, total, done)

    def _end(self) -> None:
        if self.bar is not None:
            self.bars.end(self.bar)
            self.bar = None
