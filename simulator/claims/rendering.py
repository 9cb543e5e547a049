"""The ledger as text: a page of markdown, and JSON for machines."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from simulator.claims.model import Finding, Verdict
from simulator.claims.running import Result

_ORDER = (
    Verdict.FAILS,
    Verdict.DOES_NOT_FOLLOW,
    Verdict.UNDECIDED,
    Verdict.NOT_TIGHT,
    Verdict.HOLDS,
)

_PREAMBLE = """\
# The claims of the sources, checked

Each line is one claim of a source, decided by running a check. *Slack* is what is claimed over
what was measured: 1 is tight. Verdicts of exact checks are certain up to rounding; a simulated
one states the probability of a false complaint. `dpcompose claims ID` runs one of them again.
"""


def to_json(results: Iterable[Result]) -> str:
    """The results as JSON text, a list of objects, with a final newline."""
    listed = [result.as_dict() for result in results]
    return json.dumps(listed, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def to_markdown(results: Sequence[Result]) -> str:
    """One page: counts, what was found wrong, then a table for each source, complaints first."""
    sections = [_PREAMBLE, _counts(results), _complaints(results)]
    for source, group in groupby(results, key=lambda result: result.claim.source.cite):
        sections.append(f"## {source}\n\n{_table(list(group))}")
    return "\n".join(section for section in sections if section)


def _counts(results: Sequence[Result]) -> str:
    counted = Counter(result.finding.verdict for result in results)
    listed = ", ".join(f"{counted[verdict]} {verdict}" for verdict in _ORDER if counted[verdict])
    strays = [result.claim.id for result in results if not result.as_recorded]
    warning = f"\n**Not as recorded: {', '.join(strays)}.**\n" if strays else ""
    return f"{len(results)} claims: {listed}.\n{warning}"


def _complaints(results: Sequence[Result]) -> str:
    found = [result for result in results if result.finding.verdict.is_complaint]
    if not found:
        return ""
    lines = [
        "| claim | place | printed | right |",
        "|---|---|---|---|",
        *(
            _row(r.claim.id, f"{r.claim.source.cite}, {r.claim.place}", f.printed, f.right)
            for r in found
            for f in [r.finding]
        ),
    ]
    return "## Found wrong or unsupported\n\n" + "\n".join(lines) + "\n"


def _table(results: Sequence[Result]) -> str:
    ordered = sorted(results, key=lambda result: _ORDER.index(result.finding.verdict))
    lines = [
        "| claim | place | statement | verdict | measured | slack | how |",
        "|---|---|---|---|---|---|---|",
        *(_line(result) for result in ordered),
    ]
    return "\n".join(lines) + "\n"


def _line(result: Result) -> str:
    claim, finding = result.claim, result.finding
    measured = str(finding.measured) + (f" ({finding.note})" if finding.note else "")
    verdict = str(finding.verdict)
    if not result.as_recorded:
        verdict += f" (recorded: {claim.expected})"
    how = _how(finding)
    slack = _slack(finding.slack)
    return _row(claim.id, claim.place, claim.statement, verdict, measured, slack, how)


def _how(finding: Finding) -> str:
    if finding.false_alarm is None:
        return finding.method
    return f"{finding.method}, false alarm {finding.false_alarm:.1g}"


def _slack(slack: float | None) -> str:
    if slack is None:
        return ""
    return f"{slack:.4g}" if math.isfinite(slack) else "∞"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
