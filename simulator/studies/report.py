"""A study as one HTML page: a table and a plot, without a network, a server or a library."""

from __future__ import annotations

import html
import json
import math
import re
import time
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from simulator.foundations.files import require_target, write_text
from simulator.foundations.wording import count_of, printable
from simulator.studies.points import Point
from simulator.studies.quantities import Quantity
from simulator.studies.watching import Snapshot

RELOAD = 5
"""Seconds after which the page of a running study loads itself again."""
REST = 2.0
"""Seconds between two writes of the page, at least."""
COST = 0.05
"""The share of the time that may go into writing the page."""


def report(
    points: Iterable[Point], title: str = "A study", progress: Snapshot | None = None
) -> str:
    """An HTML page of these points; opened from disk, it can be sorted, filtered and pointed at.

    While ``progress`` has not ended, the page says how far the study is, and reloads itself.
    Raises InvalidInput for a point without a known quantity.

    >>> from simulator.studies import collect, grid, report
    >>> tasks = grid(None, "pure:0.1", [10, 20], "bound:basic epsilon(delta=1e-6)")
    >>> "<table" in report(collect(tasks, jobs=1), title="Basic composition")
    True
    """
    listed = list(points)
    running = progress is not None and not progress.ended
    data = {
        "written": round(time.time(), 1),
        "running": running,
        "points": [_plain(_shown(point)) for point in listed],
    }
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # ASCII: no U+2028 either
    for character in "<>&":  # no text of a point ends the script element
        text = text.replace(character, f"\\u{ord(character):04x}")
    slots = {
        "title": html.escape(printable(title)),
        "reload": f'<meta http-equiv="refresh" content="{RELOAD}">' if running else "",
        "state": _state(progress, listed),
        "data": text,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda slot: slots[slot[1]], _template())


class ReportFile:
    """A page of a running study on disk; called with snapshots, it is written in one step each.

    Raises InvalidInput where it cannot be written.
    """

    def __init__(self, path: str | PathLike[str], title: str) -> None:
        self.path, self.title = Path(path), title
        require_target(self.path)
        self.next = 0.0

    def __call__(self, snapshot: Snapshot) -> None:
        """Write the page, unless that was done a moment ago; the last page always."""
        start = time.monotonic()
        if start < self.next and not snapshot.ended:
            return
        write_text(self.path, report(snapshot.points, self.title, snapshot))
        end = time.monotonic()
        self.next = end + max(REST, (end - start) / COST)


@lru_cache(maxsize=1)
def _template() -> str:
    return files("simulator.studies").joinpath("report.html").read_text(encoding="utf-8")


def _state(progress: Snapshot | None, points: list[Point]) -> str:
    """How far the study is, as HTML."""
    written = time.strftime("%Y-%m-%d %H:%M:%S")
    if progress is None:
        done = sum(point.done for point in points)
        return f"<p>{done} of {count_of(len(points), 'quantity', 'quantities')} done.</p>"
    if progress.ended:
        return f"<p>{progress.counts}. Written {written}.</p>"
    return (
        f'<progress max="{progress.quantities}" value="{progress.done}"></progress>'
        f"<p>{progress.counts}; {progress.times()}. Written {written}; the page loads itself again."
        '<span id="stale" hidden> This was more than a minute ago: a look takes long, or the '
        "command has ended.</span></p>"
    )


def _shown(point: Point) -> dict[str, Any]:
    quantity = Quantity.parse(point.quantity)
    return vars(point) | {
        "kind": quantity.kind,
        "source": quantity.source,
        "bound": quantity.name,
        "place": str(Quantity(quantity.kind, quantity.at)),
        "width": point.relative_width,
        "command": point.command,
    }


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields in JSON's types: NaN and infinities as texts, no control characters."""

    def plain(value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0.0 else "-Infinity"
        return printable(value) if isinstance(value, str) else value

    return {name: plain(value) for name, value in fields.items()}
