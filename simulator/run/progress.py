"""What a long run says while it lasts: on a terminal a bar, elsewhere nothing."""

from __future__ import annotations

import sys
from typing import Self


class Progress:
    """A bar on standard error with rate and time left; silent where that is no terminal.

    Counts rounds. Compilation is shown as such, and its time is kept out of the rate.
    """

    def __init__(self, shown: bool | None = None) -> None:
        self.shown = sys.stderr.isatty() if shown is None else shown

    def __enter__(self) -> Self:
        if self.shown:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                Progress,
                TaskProgressColumn,
                TextColumn,
                TimeRemainingColumn,
            )

            self.display = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self.display.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self.shown:
            self.display.stop()

    def compiling(self, name: str) -> None:
        """Say that a rule is being compiled."""
        if self.shown:
            self.bar = self.display.add_task(f"compiling {name}", total=None, rate="")

    def compiled(self) -> None:
        """Say that compilation is over."""
        if self.shown:
            self.display.remove_task(self.bar)

    def playing(self, name: str, rounds: int, done: int = 0) -> None:
        """Begin to count towards ``rounds``, of which ``done`` were found on disk."""
        if self.shown:
            self.bar = self.display.add_task(name, total=rounds, completed=done, rate="")
            self.found = done

    def played(self, rounds: int) -> None:
        """Count some more rounds."""
        if self.shown:
            self.display.advance(self.bar, rounds)
            task = next(task for task in self.display.tasks if task.id == self.bar)
            if task.elapsed:
                rate = (task.completed - self.found) / task.elapsed
                self.display.update(self.bar, rate=f"{rate / 1e6:.2f} M rounds/s")

    def notice(self, line: str) -> None:
        """Tell one line, on a terminal or not."""
        if self.shown:
            self.display.console.print(line, markup=False, highlight=False)
        else:
            print(line, file=sys.stderr)
