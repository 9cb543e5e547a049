"""The reports of tested libraries, as Markdown and as JSON."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from simulator.auditing.conformance.accountants import LibraryTrial
from simulator.auditing.conformance.client import TOO_LATE
from simulator.auditing.conformance.defects import GRAVE, SLIP, Defect
from simulator.auditing.conformance.events import listed
from simulator.auditing.conformance.spending import SpendingPlay
from simulator.auditing.conformance.verdicts import LOOSE, ORDER, ROUNDING, Judged, Ruling
from simulator.foundations.wording import count_of

DISAGREE = 1.01
"""Answers to one question that differ by more than this factor disagree."""

_COLUMNS = ("role", "calls", "unsound", "fails", "late", "declines", "loose", "infinite", "sound")
"""The columns of a subject's row that are printed as they are."""


@dataclass
class LibraryReport:
    """All results of one library."""

    found: LibraryTrial
    played: list[SpendingPlay] = field(default_factory=list)
    defects: list[Defect] = field(default_factory=list)


def rows(report: LibraryReport) -> list[dict[str, Any]]:
    """One row per subject: how many calls have which verdict."""
    found = []
    for subject in report.found.subjects:
        name = subject["name"]
        judged = [j for j in report.found.judged if j.subject == name]
        played = [p for p in report.played if p.subject == name]
        counted = Counter(str(j.verdict) for j in judged)
        counted.update(str(p.verdict) for p in played)
        reasons = [j.why for j in judged] + [p.why for p in played]
        calls = sum(counted[str(verdict)] for verdict in ORDER)
        factors = sorted(
            j.factor for j in judged if j.question == "epsilon" and math.isfinite(j.factor)
        )
        upper = [factor for factor in factors if factor >= 1.0]
        found.append(
            {
                "subject": name,
                "role": subject["role"],
                "claims": subject["claims"],
                "documented": subject["documented"],
                "remark": subject["remark"],
                "calls": calls,
                **{str(verdict): counted[str(verdict)] for verdict in ORDER},
                "late": sum(why.startswith(TOO_LATE) for why in reasons),
                "disagreeing": disagreeing(judged),
                "infinite": sum(j.why == "claims infinity" for j in judged),
                "median_factor": upper[len(upper) // 2] if upper else None,
                "undecided": counted[str(Ruling.UNKNOWN)],
                "not_offered": counted[str(Ruling.NOT_OFFERED)],
                "skipped": report.found.skipped.get(name, 0),
            }
        )
    return found


def disagreeing(judged: Sequence[Judged]) -> int:
    """How many questions have answers that depend on the form of the composition."""
    claims: dict[tuple[str, str, float], list[float]] = {}
    for one in judged:
        if math.isfinite(one.claimed) and one.claimed >= 0.0:
            claims.setdefault((one.group, one.question, one.at), []).append(one.claimed)
    return sum(max(some) > min(some) * DISAGREE + 1e-300 for some in claims.values())


def to_json(reports: Sequence[LibraryReport], provenance: dict[str, Any], cases: int) -> str:
    """The reports as JSON text with a final newline; infinities and NaN as text."""
    libraries = [
        {
            "library": report.found.name,
            "version": report.found.version,
            "absent": report.found.absent,
            "subjects": rows(report),
            "defects": [_defect(defect) for defect in report.defects],
        }
        for report in reports
    ]
    thresholds = {"loose": LOOSE, "rounding": ROUNDING}
    whole = {"compositions": cases, "thresholds": thresholds, "libraries": libraries}
    whole["provenance"] = provenance
    return json.dumps(_plain(whole), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _defect(defect: Defect) -> dict[str, Any]:
    example: dict[str, Any]
    if isinstance(defect.example, Judged):
        judged = defect.example
        example = {"events": listed(judged.events), "question": judged.question, "at": judged.at}
        example["claimed"] = judged.claimed
        example["warned"] = judged.warned
        truth = judged.truth
    else:
        play = defect.example
        example = {"adversary": play.adversary, "promise": list(play.promise)}
        truth = play.truth
    example["truth"] = None if truth is None else [truth.lower, truth.upper]
    return {
        "subject": defect.subject,
        "version": defect.version,
        "verdict": str(defect.verdict),
        "severity": defect.severity,
        "times_too_small": defect.factor,
        "title": defect.title,
        "calls": defect.calls,
        "claim": defect.claim,
        "where": defect.where,
        "truth_two_ways": list(defect.truths),
        "confirmed": defect.confirmed,
        "counted": defect.counts,
        "documented": defect.documented,
        "example": example,
        "snippet": defect.snippet,
        "printed": defect.printed,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value


_PREAMBLE = """\
# Accountants, filters and odometers on trial

{cases} compositions, drawn from a fixed seed, are put to every accountant; filters and odometers
are played by adversaries that try to spend more than is admitted to. Each answer is held against
certified ends of the truth. `make conform` writes this page and `conformance.json`.

- *unsound*: the claim is below the certified lower end by more than rounding (relative
  {rounding}).
- *fails*: an exception, NaN, a negative number, more memory or time than allowed, or a filter or
  odometer that takes what is no guarantee without a word. *late* counts what took too long; that is
  no defect by itself.
- *declines*: an exception by which the library says that the question is out of its reach. That is
  no defect.
- *loose*: an epsilon above {loose_epsilon} times the truth, or a delta above {loose_delta} times.
  That is no defect: bounds by theorems on families are loose by nature. *infinite* counts those
  that claim infinity where the truth is finite. *factor* is the median of claimed over true
  epsilon.
- *disagree*: questions whose answer changes by more than 1% when a count is written as repetition,
  the order is exchanged, or events that cost nothing are added.
- Every defect is shown by a program that runs without this package, and every unsound claim is
  confirmed by a second computation that shares nothing with the first; others are listed as
  unconfirmed and not counted. A claim is a *slip* where the truth is less than {slip} times it,
  and *grave* from {grave:g} times on. What the library itself warns of is marked *documented*, and
  not counted either.
- Rounding in Fourier transforms differs from machine to machine: there the last digits of a claim,
  and on which side of the truth it falls, may differ as well.
- Calls for kinds of event that a library does not take are not counted. A call takes {seconds:g}
  seconds at most.
"""


def to_markdown(
    reports: Sequence[LibraryReport], provenance: dict[str, Any], cases: int, seconds: float
) -> str:
    """The report as one page; ``seconds`` is the time limit of a call."""
    sections = [
        _PREAMBLE.format(
            cases=cases,
            rounding=f"{ROUNDING['epsilon']:g} for an epsilon, {ROUNDING['delta']:g} for a delta",
            loose_epsilon=LOOSE["epsilon"],
            loose_delta=LOOSE["delta"],
            seconds=seconds,
            slip=SLIP,
            grave=GRAVE,
        ),
        _summary(reports),
    ]
    for report in reports:
        sections.append(_section(report))
    versions = ", ".join(f"{name} {text}" for name, text in provenance["versions"].items() if text)
    sections.append(
        f"Made with {versions}; revision {provenance['revision']}; {provenance['time']}; "
        f"{provenance['machine']['processor']}, {provenance['machine']['cores']} cores.\n"
    )
    return "\n".join(sections)


def _summary(reports: Sequence[LibraryReport]) -> str:
    lines = [
        "| library | version | distinct defects | of these unsound | documented, not counted |",
        "|---|---|---|---|---|",
    ]
    for report in reports:
        if report.found.absent:
            lines.append(f"| {report.found.name} | absent | | | |")
            continue
        counted = [d for d in report.defects if d.counts]
        cells = [report.found.name, report.found.version, len(counted)]
        cells.append(sum(d.verdict == Ruling.UNSOUND for d in counted))
        cells.append(sum(d.confirmed is not False and not d.counts for d in report.defects))
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def _section(report: LibraryReport) -> str:
    title = f"## {report.found.name} {report.found.version}".rstrip()
    if report.found.absent:
        return f"{title}\n\nAbsent: {report.found.absent}.\n"
    lines = [
        "| subject | role | calls | unsound | fails | of these late | declines | loose | infinite "
        "| sound | factor | disagree |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    notes = []
    for row in rows(report):
        factor = "" if row["median_factor"] is None else f"{row['median_factor']:.3g}"
        name = f"`{row['subject']}`"
        cells = [name, *(row[column] for column in _COLUMNS), factor, row["disagreeing"]]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
        skipped = count_of(row["skipped"], "call was", "calls were")
        left = f" {skipped} not made for want of time." if row["skipped"] else ""
        remark = f" Remark: {row['remark']}." if row["remark"] else ""
        notes.append(f"- {name} claims {row['claims']}.{left}{remark}")
    parts = [title, "\n".join(lines), "\n".join(notes)]
    confirmed = [d for d in report.defects if d.confirmed is not False]
    doubtful = [d for d in report.defects if d.confirmed is False]
    parts += [_section_of_defect(number, defect) for number, defect in enumerate(confirmed, 1)]
    if doubtful:
        parts.append(
            "Not confirmed by a second computation or by the program itself, and not counted: "
            + "; ".join(f"`{d.subject}`, {d.claim} ({d.truths[-1]})" for d in doubtful)
            + "."
        )
    return "\n\n".join(parts) + "\n"


def _severity(defect: Defect) -> str:
    """The severity as text."""
    if math.isnan(defect.factor):
        return defect.severity
    times = f"{defect.factor:.3g}" if defect.factor >= 1.01 else f"1 + {defect.factor - 1.0:.2g}"
    return f"{defect.severity}: {times} times too small"


def _section_of_defect(number: int, defect: Defect) -> str:
    lines = [
        f"### {number}. {defect.subject}: {defect.title}",
        "",
        f"*{defect.verdict}*, {_severity(defect)}"
        f"{'' if defect.counts else ', documented and not counted'}, "
        f"{defect.calls} {'call' if defect.calls == 1 else 'calls'}; "
        f"{defect.library} {defect.version}",
        "",
        f"- {defect.claim}",
        *(f"- truth: {truth}" for truth in defect.truths),
    ]
    if defect.where:
        lines.append(f"- unsound: {defect.where}")
    if defect.documented:
        lines.append(f"- documented: {defect.documented}")
    if defect.warned:
        lines.append(f"- the library warned: {defect.warned}")
    if defect.snippet:
        lines += ["", "```python", defect.snippet.rstrip(), "```", "", "prints", ""]
        lines += ["```", defect.printed.rstrip() or "(nothing)", "```"]
    return "\n".join(lines)
