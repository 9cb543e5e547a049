"""The command ``dpcompose sweep``."""

from __future__ import annotations

import contextlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import note, number, say
from simulator.foundations import grammar, stages
from simulator.foundations.errors import InvalidInput
from simulator.foundations.wording import count_of

if TYPE_CHECKING:
    from simulator.studies import Point, Snapshot, Task


class Width(click.ParamType):
    """A relative width, as ``5%`` or ``0.05``."""

    name = "width"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the width, or fail with one line."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)(%?)", value.strip())
        width = 0.0 if found is None else float(found[1]) / (100.0 if found[2] else 1.0)
        if width <= 0.0:
            self.fail(f"{value!r} is not a width above 0; write 5% or 0.05", param, ctx)
        return width


@click.command()
@click.argument("what", nargs=-1, required=True, metavar="ADVERSARY... | FILE")
@click.option("--family", metavar="FAMILY[,FAMILY...]", help="The families, one task for each.")
@click.option(
    "--rounds", metavar="K[,K...]", help="The rounds: 100, or 10..10000 for 1, 2, 5 by decades."
)
@click.option(
    "--quantity",
    multiple=True,
    metavar="TEXT",
    help="What to measure, as 'epsilon(delta=1e-6)', 'tail(epsilon=1)' or 'bound delta(epsilon=1)'."
    "  [repeatable]",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The table, a .csv.")
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.html",
    help="Write a page too, which shows the table while it grows, and a plot.",
)
@click.option("--trials", type=int, help="At most so many of each experiment.  [default: 100000]")
@click.option("--width", type=Width(), help="Stop where an interval is relatively as narrow: 5%.")
@click.option("--hits", type=int, help="Stop where so many trials contribute.")
@click.option(
    "--decide",
    type=click.Choice(["order", "bounds"]),
    help="Stop where it is clear which adversary has more, or on which side of its bounds it is.",
)
@click.option(
    "--seconds", type=options.Duration(), metavar="TIME", help="Begin nothing after 600, 10m or 2h."
)
@click.option("--confidence", type=float, help="Of each interval.  [default: 0.95]")
@options.seed
@options.relation
@options.privacy_filter
@options.jobs
@click.option("--tracebacks", is_flag=True, help="Print where a task failed.")
def sweep(
    *,
    what: tuple[str, ...],
    family: str | None,
    rounds: str | None,
    quantity: tuple[str, ...],
    out: Path,
    report: Path | None,
    trials: int | None,
    width: float | None,
    hits: int | None,
    decide: str | None,
    seconds: float | None,
    confidence: float | None,
    seed: int,
    relation: str,
    filter_text: str | None,
    jobs: int | None,
    tracebacks: bool,
) -> None:
    r"""Measure many games, and keep one line per quantity in a table.

    \b
    Example:
      dpcompose sweep press-when-ahead stop-when-sure --family pure:0.1,pure:0.2 \
          --rounds 10..1000 --quantity 'epsilon(delta=1e-3)' --width 5% --out study.csv
      dpcompose sweep study.toml --out study.csv --seconds 2h --report study.html

    Every combination of adversaries, families and rounds is a task. A FILE.toml has tables
    [[task]] with the same names as the options; a FILE.py has a list `tasks`.

    Work goes on until each interval is as narrow as wanted, or has all trials. Intervals keep
    their confidence however often they are looked at. The same command resumes from the table.
    A task that fails does not stop the others; the command then ends with 1. A terminal shows
    how far it is; the page of --report shows it in a browser, without a network or a server.
    """
    # slow to import
    from simulator.studies import collect
    from simulator.studies.commands.sweep_display import SweepDisplay
    from simulator.studies.report import ReportFile

    if report is not None and report.suffix != ".html":
        raise InvalidInput(f"a report is an .html file, not {report}")
    page = None if report is None else ReportFile(report, out.name)
    display = SweepDisplay(out.name)

    def watch(snapshot: Snapshot) -> None:
        display(snapshot)
        if page is not None:
            page(snapshot)

    given = {"trials": trials, "width": width, "hits": hits, "decide": decide,
             "confidence": confidence}  # fmt: skip
    chosen = {name: value for name, value in given.items() if value is not None}
    tasks, settings = tasks_from(
        what, family, rounds, quantity, {"seed": seed, "relation": relation, "filter": filter_text}
    )
    failures: dict[str, Point] = {}
    traces: dict[str, str] = {}
    points: dict[tuple[str, str, int], Point] = {}
    found = collect(
        tasks, out, at_most=seconds, jobs=jobs, notice=note,
        trace=lambda task, text: traces.update({task.id: text}),
        watch=watch if report is not None or sys.stderr.isatty() else None, **(settings | chosen),
    )  # fmt: skip
    with stages.shown_by(None), display, contextlib.closing(found):  # one table, no bars
        for point in found:
            points[point.key] = point
            if point.done:
                show(point)
            if point.stopped == "failed":
                failures.setdefault(point.error, point)
    done = sum(point.done for point in points.values())
    say(f"{out}: {count_of(done, 'quantity', 'quantities')} of {len(points)} done")
    for error, point in failures.items():
        note(f"failed: {point.quantity} of {point.adversary} ({point.family}, k = {point.rounds}): "
             f"{error}")  # fmt: skip
        if tracebacks and point.task in traces:
            note(traces[point.task])
    if failures:
        click.get_current_context().exit(1)


def tasks_from(
    what: tuple[str, ...],
    family: str | None,
    rounds: str | None,
    quantity: tuple[str, ...],
    others: dict[str, Any],
) -> tuple[list[Task], dict[str, Any]]:
    """The tasks of a file, or of all combinations of the options."""
    from simulator.studies import grid
    from simulator.studies.task_files import read_tasks, rounds_of

    if len(what) == 1 and what[0].endswith((".toml", ".py")):
        if family is not None or rounds is not None or quantity:
            raise InvalidInput("a file of tasks has families, rounds and quantities of its own")
        return read_tasks(Path(what[0]))
    if family is None or rounds is None or not quantity:
        raise InvalidInput("give --family, --rounds and --quantity, or a file of tasks")
    numbers = [k for text in rounds.split(",") for k in rounds_of(text)]
    return grid(what, grammar.split(family), numbers, quantity, **others), {}


def show(point: Point) -> None:
    """Print a quantity that is done."""
    ends = f"[{number(point.lower)}, {number(point.upper)}]"
    say(
        f"{point.adversary}  {point.family}  k={point.rounds}  b={point.experiment}  "
        f"{point.quantity} = {number(point.value)} {ends}  "
        f"({point.stopped}, {count_of(point.trials, 'trial', spec=',')})"
    )
