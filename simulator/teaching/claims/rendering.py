"""The ledger as text: a page of markdown, and JSON for machines."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from simulator.foundations.wording import count_of
from simulator.teaching.claims.model import Fault, Finding, Verdict
from simulator.teaching.claims.registry import sources
from simulator.teaching.claims.running import ClaimResult

_COUNTED = {  # in the order of a table; one of them, several
    Verdict.FAILS: ("fails as printed", "fail as printed"),
    Verdict.DOES_NOT_FOLLOW: (
        "is true but does not follow from what is cited",
        "are true but do not follow from what is cited",
    ),
    Verdict.UNDECIDED: ("is undecided", "are undecided"),
    Verdict.NOT_TIGHT: ("holds but is not tight", "hold but are not tight"),
    Verdict.HOLDS: ("holds", "hold"),
}

_PREAMBLE = """\
# The claims of the sources, checked

Every theorem, example, printed number and proof step of the sources that can be put to a
test, each on one line: the claim in our words, the verdict, and the number behind it. The
parameters of each check are in `claims.json`; `make claims` writes both files.

- An id begins with its source: {sources}.
- *Slack* is what is claimed over what is attained: 1 is tight, below 1 the claim is exceeded.
- A verdict comes from an exact computation unless its line says *simulated*; then it states the
  probability that such a check finds fault with a true claim.
- “Our answer” marks what a source asks but does not answer, “ours” what it does not say at all: a
  tight form, a converse, a condition that is needed.
- Under *printed* stands what the source says, in our words and with our parameters in its formulas;
  what we add to make it checkable is said to be ours.

`dpcompose claims ID` checks one of them again and prints everything about it.
"""

_HEADINGS = {
    Fault.SUBSTANCE: """\
## Found wrong or unsupported: {}

What is printed is false, or does not follow from what it rests on; a reader who relies on it is
misled.
""",
    Fault.READING: """\
## False in one reading: {}

The print is too vague to be false as it stands. Each line says what is printed, how we read it, and
why that reading is false; another reading may be true.
""",
    Fault.SLIP: """\
## Slips: {}

Wrong to the letter only: a misprint, a missing condition, = for ≤. A reader sees what is meant, and
that is true.
""",
    Fault.TRANSCRIPT: """\
## As transcribed: {}

Slips in the text that we have, of handwriting or slides read by machine. The authors may have
written it right, so these are no complaints about them.
""",
}


def to_json(results: Iterable[ClaimResult]) -> str:
    """The results as JSON text, a list of objects, with a final newline."""
    listed = [result.as_dict() for result in results]
    return json.dumps(listed, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def to_markdown(results: Sequence[ClaimResult]) -> str:
    """One page: counts, what was found wrong, then a table for each source, complaints first."""
    found = [result for result in results if result.finding.verdict.is_complaint]
    sections = [
        _PREAMBLE.format(sources="; ".join(f"`{s.key}` is {s.cite}" for s in sources())),
        f"{counts(results)}\n",
        _strays(results),
        *(
            _complaints(heading, [result for result in found if result.claim.fault is fault])
            for fault, heading in _HEADINGS.items()
        ),
    ]
    for source, group in groupby(results, key=lambda result: result.claim.source.cite):
        listed = list(group)
        sections.append(f"## {source}\n\n{counts(listed)}\n\n{_table(listed)}")
    return "\n".join(section for section in sections if section)


def complaints_first(results: Iterable[ClaimResult]) -> list[ClaimResult]:
    """The results ordered by verdict, those that fail as printed first, and slips after faults."""
    order, faults = list(_COUNTED), list(_HEADINGS)
    return sorted(
        results, key=lambda r: (order.index(r.finding.verdict), faults.index(r.claim.fault))
    )


def counts(results: Sequence[ClaimResult]) -> str:
    """A sentence with the number of claims of each verdict."""
    counted = Counter(result.finding.verdict for result in results)
    listed = [
        count_of(counted[verdict], one, several)
        for verdict, (one, several) in reversed(_COUNTED.items())
        if counted[verdict]
    ]
    return f"{count_of(len(results), 'claim')}: {', '.join(listed)}."


def how(finding: Finding) -> str:
    """By what means the verdict was reached, and how often it would be a false complaint."""
    if finding.false_alarm is None:
        return finding.method
    return f"{finding.method}, false alarm {finding.false_alarm:.1g}"


def slack_text(slack: float | None) -> str:
    """A slack for a table."""
    if slack is None:
        return ""
    return f"{slack:.4g}" if math.isfinite(slack) else "∞"


def _strays(results: Sequence[ClaimResult]) -> str:
    strays = [result.claim.id for result in results if not result.as_recorded]
    return f"**Not as recorded: {', '.join(strays)}.**\n" if strays else ""


def _complaints(heading: str, found: Sequence[ClaimResult]) -> str:
    if not found:
        return ""
    lines = [
        "| claim | place | printed | right |",
        "|---|---|---|---|",
        *map(_complaint, found),
    ]
    return f"{heading.format(len(found))}\n" + "\n".join(lines) + "\n"


def _complaint(result: ClaimResult) -> str:
    claim, finding = result.claim, result.finding
    right = _sentences(finding.right, finding.note)
    return _row(claim.id, claim.place, finding.printed, right)


def _table(results: Sequence[ClaimResult]) -> str:
    lines = [
        "| claim | place | statement | verdict | slack | measured |",
        "|---|---|---|---|---|---|",
        *map(_line, complaints_first(results)),
    ]
    return "\n".join(lines) + "\n"


def _line(result: ClaimResult) -> str:
    claim, finding = result.claim, result.finding
    verdict = str(finding.verdict)
    if not result.as_recorded:
        verdict += f" (recorded: {claim.expected})"
    slack = slack_text(finding.slack)
    return _row(claim.id, claim.place, claim.statement, verdict, slack, _measured(finding))


def _measured(finding: Finding) -> str:
    """What was measured, then the remark, then how, where that is not exact."""
    remark = "" if finding.verdict.is_complaint else finding.note  # stands among the complaints
    text = _sentences(str(finding.measured), remark)
    if finding.false_alarm is not None:
        kind = "simulated" if finding.method == "simulation" else "exact and simulated"
        text += f" (*{kind}*, false alarm {finding.false_alarm:.1g})"
    return text


def _sentences(first: str, second: str) -> str:
    """Both, the second as a sentence of its own if it begins with a word; it may be missing."""
    if not second:
        return first
    word = second.split()[0]
    if word.isascii() and word.isalpha() and len(word) > 1:
        return f"{first}. {second[0].upper()}{second[1:]}."
    return f"{first}; {second}"  # k = 20 is no sentence


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
