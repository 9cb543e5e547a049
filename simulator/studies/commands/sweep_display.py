"""A live table of a running study on standard error, if that is a terminal."""

from __future__ import annotations

import math
import sys
import time
from typing import Any, Self

from simulator.doors.cli.output import number
from simulator.foundations.wording import printable
from simulator.studies.watching import Snapshot

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
        self.drawn = _Drawn(self.title, snapshot)
        if self.live is None:
            from rich.console import Console  # slow to import
            from rich.live import Live

            self.live = Live(
                console=Console(stderr=True, highlight=False),
                get_renderable=lambda: self.drawn.table(),
                transient=True,
                refresh_per_second=2,
                redirect_stdout=False,  # standard output has the results
            )
            self.live.start(refresh=True)


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
        table = Table(box=None, pad_edge=False)
        rows = []
        for p in s.widest[:ROWS]:
            game = f"{p.adversary}  {p.family}  k={p.rounds}  b={p.experiment}"
            width = "" if math.isnan(p.relative_width) else f"{p.relative_width:.1%}"
            rows.append((game, p.quantity, *map(number, (p.value, p.lower, p.upper)), width))
        columns = ("widest intervals", "quantity", "value", "lower", "upper", "width")
        for place, column in enumerate(columns):  # names are cut where it is narrow, no numbers
            least = max(len(row[place]) for row in [columns, *rows]) if place > 1 else None
            table.add_column(
                column, justify="right" if place > 1 else "left", no_wrap=True,
                overflow="ellipsis", min_width=least,
            )  # fmt: skip
        for row in rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        line = Table.grid(padding=(0, 2))
        line.add_row(ProgressBar(total=s.quantities, completed=s.done, width=30), s.times(since))
        return Group(Text(f"{self.title}: {s.counts}"), line, *([table] if s.widest else []))
