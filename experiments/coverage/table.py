"""Count what missed: ends that claim to be valid, against what they claim."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from scipy.stats import binom

from experiments.coverage.running import CONFIDENCE, Outcome

FALSE_ALARM = 1e-6
"""Probability that one verdict is "broken" although the ends keep their promise."""
NOMINAL = round(1.0 - CONFIDENCE, 12)
"""The share of misses that an interval allows itself: of its two ends together, so of each."""


@dataclass(frozen=True)
class Count:
    """How many valid ends or intervals there were, and how many missed.

    Attributes
    ----------
    allowed : the most misses that chance explains at the nominal rate, but with FALSE_ALARM.
    """

    number: int
    missed: int

    @property
    def allowed(self) -> int:
        """The most misses that chance explains; 0 where nothing was claimed."""
        return int(binom.isf(FALSE_ALARM, self.number, NOMINAL)) if self.number else 0

    @property
    def verdict(self) -> str:
        """One of "kept", "broken", and "none" where nothing was claimed."""
        if not self.number:
            return "none"
        return "kept" if self.missed <= self.allowed else "broken"

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self) | {"allowed": self.allowed, "verdict": self.verdict}


@dataclass(frozen=True)
class Row:
    """One group of outcomes.

    Attributes
    ----------
    group, value : what the outcomes have in common.
    calls : of estimate_rare; ``refused`` and ``failed`` gave no answer.
    lower, upper : the ends that claim validity, counted apart.
    both : the intervals of which both ends do, missed by either.
    ends_alone : intervals without a value.
    ratio : median of upper to lower over the valid intervals.
    """

    group: str
    value: str
    calls: int
    refused: int
    failed: int
    lower: Count
    upper: Count
    both: Count
    ends_alone: int
    ratio: float | None

    @property
    def verdict(self) -> str:
        """Whether any end is "broken"; else whether any is "kept"; else "none"."""
        verdicts = {self.lower.verdict, self.upper.verdict, self.both.verdict}
        return next((v for v in ("broken", "kept") if v in verdicts), "none")

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        plain = {name: value for name, value in vars(self).items() if not isinstance(value, Count)}
        counts = {name: getattr(self, name).as_dict() for name in ("lower", "upper", "both")}
        return plain | counts | {"verdict": self.verdict}


def sizes(outcome: Outcome) -> str:
    """The decade of the number of trials."""
    least = 5
    for most in (30, 100, 1000, 10_000, 100_000):
        if outcome.case.trials <= most:
            return f"{least} to {most}"
        least = most + 1
    return f"above {most}"


GROUPS: dict[str, Callable[[Outcome], str]] = {
    "all": lambda o: "all",
    "method": lambda o: o.method,
    "quantity": lambda o: o.quantity,
    "trials": sizes,
    "experiment": lambda o: str(o.case.experiment),
    "threshold": lambda o: o.case.place,
    "hiding": lambda o: "drawn at random" if o.kind == "automaton" else "made to hide",
    "kind": lambda o: o.kind,
    "adversary": lambda o: o.case.subject,
}
"""By what the outcomes are grouped. Each call counts once in a row; only the rows of a quantity
take every interval of an answer, for there no two of a row are from one sample."""


def rows(outcomes: Iterable[Outcome]) -> list[Row]:
    """Every row, group by group, in order of the values."""
    listed = list(outcomes)
    found = []
    for group, value_of in GROUPS.items():
        parts: dict[str, list[Outcome]] = defaultdict(list)
        for outcome in listed:
            if group == "quantity" or outcome.is_primary:
                parts[value_of(outcome)].append(outcome)
        order = sorted(
            parts, key=lambda value: int(value.split()[0]) if group == "trials" else value
        )
        found += [row(group, value, parts[value]) for value in order]
    return found


@dataclass(frozen=True)
class CallRow:
    """The outcomes of calls, each with all of its intervals; refusals are counted too.

    If a method refuses small samples, its intervals may miss more often than they state though few
    calls do: both shares are needed.

    Attributes
    ----------
    method, hiding : what the calls have in common.
    missed : calls with a valid end that missed; ``answered`` calls gave an answer.
    ends_alone : answered calls without any value.
    """

    method: str
    hiding: str
    calls: int
    refused: int
    failed: int
    answered: int
    missed: int
    ends_alone: int


def call_rows(outcomes: Iterable[Outcome]) -> list[CallRow]:
    """Calls by who chose the method, those of adversaries made to hide by themselves."""
    of_call: dict[Any, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        of_call[outcome.case].append(outcome)
    parts: dict[tuple[str, str], list[list[Outcome]]] = defaultdict(list)
    for case, given in of_call.items():
        for hiding in ("all", GROUPS["hiding"](given[0])):
            parts[case.method, hiding].append(given)
    return [call_row(method, hiding, parts[method, hiding]) for method, hiding in sorted(parts)]


def call_row(method: str, hiding: str, calls: list[list[Outcome]]) -> CallRow:
    """Count one part of the calls."""
    answered = [given for given in calls if given[0].claim is not None]
    return CallRow(
        method,
        hiding,
        calls=len(calls),
        refused=sum(given[0].status == "refused" for given in calls),
        failed=sum(given[0].status == "failed" for given in calls),
        answered=len(answered),
        missed=sum(any(missed_claim(o) for o in given) for given in answered),
        ends_alone=sum(not any(has_value(o) for o in given) for given in answered),
    )


def missed_claim(outcome: Outcome) -> bool:
    """Whether an end that claims validity missed."""
    if outcome.claim is None:
        return False
    above, below = outcome.misses((outcome.claim.lower, outcome.claim.upper))
    return (above and outcome.claim.lower_valid) or (below and outcome.claim.upper_valid)


def has_value(outcome: Outcome) -> bool:
    """Whether the answer has a value between its ends."""
    return outcome.claim is not None and outcome.claim.has_value


def row(group: str, value: str, outcomes: list[Outcome]) -> Row:
    """Count one group."""
    lower, upper, both, ratios = [], [], [], []
    for outcome in outcomes:
        claim = outcome.claim
        if claim is None:
            continue
        above, below = outcome.misses((claim.lower, claim.upper))
        if claim.lower_valid:
            lower.append(above)
        if claim.upper_valid:
            upper.append(below)
        if claim.lower_valid and claim.upper_valid:
            both.append(above or below)
            ratios.append(ratio(claim.lower, claim.upper))
    return Row(
        group,
        value,
        calls=len(outcomes),
        refused=sum(o.status == "refused" for o in outcomes),
        failed=sum(o.status == "failed" for o in outcomes),
        lower=Count(len(lower), sum(lower)),
        upper=Count(len(upper), sum(upper)),
        both=Count(len(both), sum(both)),
        ends_alone=sum(o.claim is not None and not has_value(o) for o in outcomes),
        ratio=middle(ratios),
    )


def ratio(lower: float, upper: float) -> float:
    """Upper over lower; 1 for 0 over 0."""
    if lower > 0.0:
        return upper / lower
    return 1.0 if upper == 0.0 else math.inf


def middle(ratios: list[float]) -> float | None:
    """The median; None where there is none, or it is infinite."""
    found = median(ratios) if ratios else math.inf
    return found if math.isfinite(found) else None


HEAD = (
    "", "calls", "refused", "lower missed", "upper missed", "either missed", "claims",
    "upper/lower", "ends alone",
)  # fmt: skip


CALLS = ("calls by method", "adversaries", "calls", "refused", "missed of all calls",
         "missed of those answered", "ends alone")  # fmt: skip


def markdown(found: list[Row], calls: Iterable[CallRow] = ()) -> str:
    """The tables in Markdown; of the adversaries only those whose claims are broken."""
    lines = [
        f"Intervals of {CONFIDENCE:.0%}. Ends that claim validity: missed of how many, and whether "
        f'that is at most {NOMINAL:.0%} within counting error ("broken" where it is not; each '
        f"verdict errs with probability {FALSE_ALARM:g} at most). Ends alone: answers without a "
        "value."
    ]
    for group in GROUPS:
        here = [row for row in found if row.group == group]
        if group == "adversary":
            here = [row for row in here if row.verdict == "broken" or row.failed]
        if here:
            title = "adversary, where a claim is broken" if group == "adversary" else group
            head = (title, *HEAD[1:])
            lines += ["", line(head), line(["---"] * len(head)), *map(cells, here)]
    lines += ["", line(CALLS), line(["---"] * len(CALLS))]
    lines += [
        line([
            call.method, call.hiding, call.calls, call.refused,
            share(call.missed, call.calls), share(call.missed, call.answered),
            share(call.ends_alone, call.answered),
        ])
        for call in calls
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def cells(row: Row) -> str:
    """One line of the table."""
    return line([
        row.value,
        row.calls,
        f"{row.refused}" + (f" (and {row.failed} failed)" if row.failed else ""),
        share(row.lower.missed, row.lower.number),
        share(row.upper.missed, row.upper.number),
        share(row.both.missed, row.both.number),
        row.verdict,
        shown(row.ratio),
        row.ends_alone,
    ])  # fmt: skip


def line(entries: Iterable[Any]) -> str:
    """One line of Markdown."""
    return "| " + " | ".join(map(str, entries)) + " |"


def share(part: int, whole: int) -> str:
    """A share in words, as in 3 of 60 (5.0%)."""
    return f"{part} of {whole} ({part / whole:.1%})" if whole else "-"


def shown(number: float | None) -> str:
    """Three digits."""
    return "-" if number is None else f"{number:.3g}"
