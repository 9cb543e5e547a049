"""The command ``dpcompose conform``."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import click

from simulator.auditing import conformance
from simulator.doors.cli import options
from simulator.doors.cli.output import note, print_json, print_table, say
from simulator.foundations.files import check_writable, require_target, write_text

PATH = click.Path(path_type=Path, dir_okay=False)


class Effort(NamedTuple):
    """How much is tried: a share of the compositions, seconds of a call and of a subject."""

    share: float
    seconds: float
    total: float


QUICK = Effort(0.05, 3.0, 10.0)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME|FILE.py]...")
@click.option(
    "--share",
    type=click.FloatRange(0.0, 1.0, min_open=True),
    help="Share of the compositions to try.  [default: 0.1]",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0.0, min_open=True),
    help="Seconds that one call may take.  [default: 10]",
)
@click.option(
    "--quick",
    is_flag=True,
    help="For a pull request, under two minutes: --share 0.05, --seconds 3, 10 s for a subject.",
)
@click.option("--junit", type=PATH, help="Write a JUnit report into this file.")
@click.option("--comment", type=PATH, help="Write a summary in Markdown into this file.")
@options.as_json
def conform(
    *,
    names: tuple[str, ...],
    share: float | None,
    seconds: float | None,
    quick: bool,
    junit: Path | None,
    comment: Path | None,
    as_json: bool,
) -> int:
    """Test accountants, filters and odometers of other libraries.

    Without NAME it lists the libraries, and whether they are installed. With NAME it evaluates
    compositions with each of the library's accountants, plays adversaries against its filters and
    odometers, and compares what they claim with certified ends of the truth.

    \b
    Examples:
      dpcompose conform
      dpcompose conform dpcompose
      dpcompose conform path/to/adapter.py
      dpcompose conform diffprivlib --share 1
      dpcompose conform dp-accounting --quick --junit conform.xml --comment conform.md

    Exits with 1 when a claim is unsound or a call fails, unless the library documents it, and with
    2 when a library is not installed.
    """  # noqa: D301 (click needs the character \b, which keeps the lines after it unwrapped)
    # slow to import; --help does not need it
    from simulator.auditing.conformance import summaries
    from simulator.foundations.children import interruptible

    if not names:
        return print_libraries(as_json)
    for path in filter(None, (junit, comment)):
        require_target(path)
        check_writable(path.parent)
    share = share or (QUICK.share if quick else 0.1)
    limits = conformance.Limits(
        seconds=seconds or (QUICK.seconds if quick else 10.0), total=QUICK.total if quick else 60.0
    )
    # those that showed defects come first, so that no limit of time leaves them out
    cases = [*conformance.known_nasty(), *conformance.cases(share=share)]
    truths = conformance.Truths()
    with interruptible():
        reports = [
            conformance.tried(
                name,
                cases,
                limits=limits,
                truths=truths,
                progress=note,
            )
            for name in conformance.check_names(names)
        ]
    if junit:
        write_text(junit, summaries.to_junit(reports))
    if comment:
        write_text(comment, summaries.to_comment(reports))
    if as_json:
        print_json([as_dict(report) for report in reports])
    else:
        for report in reports:
            show(report)
    absent = any(report.found.absent for report in reports)
    counted = any(defect.counts for report in reports for defect in report.defects)
    return 2 if absent else int(counted)


def print_libraries(as_json: bool) -> int:
    """Print the libraries, and whether they are installed."""
    found = conformance.statuses(conformance.names())
    if as_json:
        print_json([{"library": one.name, "absent": one.absent} for one in found])
    else:
        print_table(
            "Libraries that can be tested",
            ("library", "installed"),
            [(one.name, f"absent: {one.absent}" if one.absent else "yes") for one in found],
        )
    return 0


def as_dict(report: conformance.LibraryReport) -> dict[str, object]:
    """A report as plain values, for JSON."""
    return {
        "library": report.found.name,
        "version": report.found.version,
        "absent": report.found.absent,
        "subjects": conformance.rows(report),
        "defects": [
            {
                "subject": defect.subject,
                "verdict": str(defect.verdict),
                "claim": defect.claim,
                "truth": list(defect.truths),
                "where": defect.where,
                "confirmed": defect.confirmed,
                "documented": defect.documented,
                "counted": defect.counts,
                "snippet": defect.snippet,
                "printed": defect.printed,
            }
            for defect in report.defects
        ],
    }


def show(report: conformance.LibraryReport) -> None:
    """Print the table of a report, and each defect."""
    name = f"{report.found.name} {report.found.version}".strip()
    if report.found.absent:
        say(f"{name}: absent: {report.found.absent}")
        return
    columns = ("subject", "role", "calls", "unsound", "fails", "declines", "loose", "sound")
    print_table(
        name,
        columns,
        [[str(row[column]) for column in columns] for row in conformance.rows(report)],
        right=columns[2:],
    )
    for defect in report.defects:
        remarks = " (unconfirmed)" if defect.confirmed is False else ""
        remarks += " (documented)" if defect.documented else ""
        say(f"\n{defect.verdict}{remarks}: {defect.subject}: {defect.title}\n  {defect.claim}")
        for truth in defect.truths:
            say(f"  truth: {truth}")
        if defect.where:
            say(f"  unsound {defect.where}")
    say()
