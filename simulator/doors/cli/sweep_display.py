"""A live table of a running study on standard error, if that is a terminal."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Iterator
from typing import Any, Self

from simulator.doors.cli.output import number
from simulator.foundations.wording import count_of, printable
from simulator.study.watching import Snapshot

ROWS = 6
"""The widest intervals that are shown."""


class SweepDisplay:
    """The counts, the time and the widest intervals; call it with snapshots.

    Nothing is drawn before a look begins, nor where standard error is no terminal.
    """

    def __init__(self, title: str) -> None:
        self.title = printable(title)
        self.live: Any = None
        self.drawn: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self.live is not None:
            self.live.stop()
            self.live = None

    def __call__(self, snapshot: Snapshot) -> None:
        """Draw a snapshot in place of the last one; the last of all removes the table."""
        if snapshot.ended or not sys.stderr.isatty():
            self.__exit__()
            return
        from rich.live import Live  # slow to import

        self.drawn = _Drawn(self.title, snapshot)
        if self.live is None:
            from rich.console import Console

            self.live = Live(
                console=Console(stderr=True, highlight=False),
                get_renderable=lambda: self.drawn.table(),
                transient=True,
                refresh_per_second=2,
            )
            self.live.start()

    @contextlib.contextmanager
    def above(self) -> Iterator[None]:
        """Remove the table while results are printed on the same terminal."""
        shown = self.live is not None and sys.__stdout__ is not None and sys.__stdout__.isatty()
        if shown:
            self.live.stop()
        yield
        if shown:
            self.live.start()


class _Drawn:
    """A snapshot as a table whose clock goes on."""

    def __init__(self, title: str, snapshot: Snapshot) -> None:
        self.title, self.snapshot = title, snapshot
        self.at = time.monotonic()

    def table(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        s, since = self.snapshot, time.monotonic() - self.at
        counts = [
            f"{s.done} of {count_of(s.quantities, 'quantity', 'quantities')} done",
            f"{s.playing} of {count_of(s.tasks, 'task')} running",
            f"{s.failed} failed",
        ]
        times = [f"{clock(s.used + since)} used"]
        if math.isfinite(s.left):
            times.append(f"about {clock(max(s.left - since, 0.0))} left")
        if math.isfinite(s.limit):
            times.append(f"begins nothing after {clock(max(s.limit - since, 0.0))}")
        table = Table(box=None, pad_edge=False)
        for column in ("widest intervals", "quantity", "value", "lower", "upper", "width"):
            is_text = column in ("widest intervals", "quantity")
            table.add_column(
                column, justify="left" if is_text else "right", no_wrap=True, overflow="ellipsis"
            )
        for p in s.widest[:ROWS]:
            game = f"{p.adversary}  {p.family}  k={p.rounds}  b={p.experiment}"
            width = "" if math.isnan(p.relative_width) else f"{p.relative_width:.1%}"
            cells = (game, p.quantity, number(p.value), number(p.lower), number(p.upper), width)
            table.add_row(*(Text(printable(cell)) for cell in cells))
        return Group(
            Text(f"{self.title}: {', '.join(counts)}"),
            Text(", ".join(times)),
            ProgressBar(total=s.quantities, completed=s.done),
            *([table] if s.widest else []),
        )


def clock(seconds: float) -> str:
    """A time as ``0:42`` or ``1:05:00``."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"
