"""Reports for a pull request: JUnit's XML, and Markdown of the size of a comment."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from simulator.auditing.conformance.defects import Defect
from simulator.auditing.conformance.report import LibraryReport, rows
from simulator.foundations.wording import count_of

SHOWN = 10
"""Defects that a comment lists."""


def to_junit(reports: Sequence[LibraryReport]) -> str:
    """One suite for each library, one case for each subject; its counted defects are failures.

    A library that is not installed is an error of its suite.
    """
    whole = ElementTree.Element("testsuites", name="dpcompose conform")
    for report in reports:
        name, subjects = report.found.name, rows(report)
        counted = _counted(report)
        suite = ElementTree.SubElement(
            whole,
            "testsuite",
            name=name,
            tests=str(max(len(subjects), 1)),
            failures=str(len({defect.subject for defect in counted})),
            errors=str(int(bool(report.found.absent))),
            time=f"{report.found.seconds:.1f}",
        )
        if report.found.absent:
            case = ElementTree.SubElement(suite, "testcase", classname=name, name="installed")
            ElementTree.SubElement(case, "error", message=report.found.absent)
        for row in subjects:
            case = ElementTree.SubElement(suite, "testcase", classname=name, name=row["subject"])
            mine = [defect for defect in counted if defect.subject == row["subject"]]
            if mine:
                text = "\n\n".join(_in_words(defect) for defect in mine)
                message = _printable(f"{mine[0].verdict}: {mine[0].title}")
                failure = ElementTree.SubElement(case, "failure", message=message)
                failure.text = _printable(text)
    ElementTree.indent(whole)
    text = ElementTree.tostring(whole, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def to_comment(reports: Sequence[LibraryReport]) -> str:
    """A table of the subjects, and the worst counted defects, in Markdown."""
    lines = [
        "| library | subject | calls | unsound | fails | loose | sound |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    defects = []
    for report in reports:
        name = f"{report.found.name} {report.found.version}".strip()
        if report.found.absent:
            lines.append(f"| {name} | absent: {report.found.absent} | | | | | |")
        for row in rows(report):
            numbers = " | ".join(str(row[key]) for key in ("calls", "unsound", "fails", "loose"))
            lines.append(f"| {name} | {row['subject']} | {numbers} | {row['sound']} |")
        defects += [(name, defect) for defect in _counted(report)]
    if not defects:
        return "\n".join([*lines, "", "No defect found.", ""])
    worst = sorted(defects, key=lambda pair: -pair[1].factor if pair[1].factor > 0.0 else 0.0)
    lines += ["", f"**{count_of(len(defects), 'defect')}**", ""]
    for name, defect in worst[:SHOWN]:
        lines.append(
            f"- {name}, {defect.subject}: {defect.verdict} ({defect.severity}): {defect.claim}"
        )
    if len(defects) > SHOWN:
        lines.append(f"- {len(defects) - SHOWN} more")
    return "\n".join([*lines, ""])


def _counted(report: LibraryReport) -> list[Defect]:
    return [defect for defect in report.defects if defect.counts]


def _in_words(defect: Defect) -> str:
    truths = "".join(f"\ntruth: {truth}" for truth in defect.truths)
    snippet = f"\n\n{defect.snippet}" if defect.snippet else ""
    return f"{defect.verdict}: {defect.title}\n{defect.claim}{truths}{snippet}"


def _printable(text: str) -> str:
    """The text without characters that XML does not allow."""
    return "".join(
        c for c in text if c in "\n\t" or " " <= c < "\ud800" or "\ue000" <= c < "\ufffe"
    )
