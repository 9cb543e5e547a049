"""What a long run says while it lasts: on a terminal bars, elsewhere nothing."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any, Self

from simulator.foundations import stages
from simulator.foundations.wording import printable


class Bars:
    """Bars on standard error, one for each stage that is under way, with the time left.

    They are drawn only while there is one, so that results can be printed in between.
    """

    def __init__(self) -> None:
        self.display: Any = None
        self.begun: list[Any] = []

    def begin(self, name: str, total: float | None, done: float = 0.0) -> Any:
        """Draw a bar; without a ``total`` it says for how long it has been there."""
        if self.display is None:
            self.display = _display()
            self.display.start()
        bar = self.display.add_task(printable(name), total=total, completed=done, rate="")
        self.begun.append(bar)
        return bar

    def advance(self, stage: Any, by: float = 1.0) -> None:
        """Move a bar on."""
        self.display.advance(stage, by)

    def rate(self, stage: Any, found: float, what: str) -> None:
        """Say how many millions of ``what`` a second were done, but for those ``found``."""
        task = next(task for task in self.display.tasks if task.id == stage)
        if task.elapsed:
            rate = (task.completed - found) / task.elapsed
            self.display.update(stage, rate=f"{rate / 1e6:.2f} M {what}/s")

    def end(self, stage: Any) -> None:
        """Remove a bar, and the display with the last one."""
        if stage not in self.begun:
            return
        self.begun.remove(stage)
        self.display.remove_task(stage)
        if not self.begun:
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
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,  # results are not for standard error
    )


@contextlib.contextmanager
def on_a_terminal() -> Iterator[None]:
    """Draw a bar for each stage of what is done inside, where standard error is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    with stages.shown_by(Bars()):
        yield


class Progress:
    """A run's bar with its rate and the time left; silent where standard error is no terminal.

    Counts rounds. Compilation is shown as such, and its time is kept out of the rate.
    """

    def __init__(self, shown: bool | None = None) -> None:
        around = stages.display()
        self.bars = around if isinstance(around, Bars) else Bars()
        self.shown = sys.stderr.isatty() if shown is None else shown
        self.bar: Any = None
        self.found = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._end()

    def compiling(self, name: str) -> None:
        """Say that a rule is being compiled."""
        self._begin(f"compiling {name}", None)

    def compiled(self) -> None:
        """Say that compilation is over."""
        self._end()

    def playing(self, name: str, rounds: int, done: int = 0) -> None:
        """Begin to count towards ``rounds``, of which ``done`` were found on disk."""
        self._begin(name, rounds, done)
        self.found = done

    def played(self, rounds: int) -> None:
        """Count some more rounds."""
        if self.bar is not None:
            self.bars.advance(self.bar, rounds)
            self.bars.rate(self.bar, self.found, "rounds")

    def notice(self, line: str) -> None:
        """Print one line, on a terminal or not."""
        self.bars.notice(line)

    def _begin(self, name: str, total: float | None, done: int = 0) -> None:
        self._end()
        if self.shown:
            self.bar = self.bars.begin(name, total, done)

    def _end(self) -> None:
        if self.bar is not None:
            self.bars.end(self.bar)
            self.bar = None
