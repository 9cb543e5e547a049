"""The two readings of an operation on a noisy answer, and the one that explains a pipeline.

What is done to a noisy answer may compute from it, as in ``data - noisy_mean``, or add more data
under its noise, as in ``low + noise + high``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from simulator.auditing.pipelines.additions import unseen
from simulator.auditing.pipelines.report import PipelineReport

MOST_PLACES = 2
"""Most places that are read in the second way one by one."""

_LEAKS = ("control flow", "argument", "output")


def explained(trial: Any, delta: float | None) -> PipelineReport:
    """The report of a trial under the reading in which least leaks; see :func:`read`."""
    return read(trial, delta)[0]


def read(trial: Any, delta: float | None) -> tuple[PipelineReport, Any]:
    """The report of a trial under the reading in which least leaks, and the trial read so.

    The first reading is taken everywhere; if something leaks then, the second one at each place,
    and at all. Then all that is added to a noise is taken as one addition, if nothing depends on
    the sums in between. Where all leak, a report that names a call comes before one that does not.
    """
    found: PipelineReport = trial.report(delta)
    places = list(dict.fromkeys(trial.first.tape.mixed))
    if not leak_of(found):
        return found, trial
    readings = [(found, trial)]
    for strict in (
        []
        if not places
        else [*(frozenset({each}) for each in places[:MOST_PLACES]), frozenset(places)]
    ):
        other = replace(trial, strict=strict)
        readings.append((other.report(delta), other))
        if not leak_of(readings[-1][0]):
            return readings[-1]
    if min(leak_of(report) for report, _ in readings) == 1:
        whole = replace(trial, strict=frozenset(places))
        if unseen(whole):
            merged = replace(whole, merged=True)
            readings.append((merged.report(delta), merged))
    return min(readings, key=lambda each: (leak_of(each[0]), _unnamed(each[0])))


def leak_of(report: PipelineReport) -> int:
    """2 for a certain leak, 1 for one that is not, else 0."""
    found = [each.certain for each in report.findings if each.kind in _LEAKS]
    return 0 if not found else 1 + any(found)


def _unnamed(report: PipelineReport) -> bool:
    return bool(report.findings) and report.findings[0].call is None
