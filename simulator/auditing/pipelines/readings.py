"""The two readings of an operation on a noisy answer, and the one that explains a pipeline.

What is done to a noisy answer may compute from it, as in ``data - noisy_mean``, or add more data
under its noise, as in ``low + noise + high``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from simulator.auditing.pipelines.additions import unseen
from simulator.auditing.pipelines.report import KEPT, PipelineReport
from simulator.auditing.pipelines.tape import TapeEvent

MOST_PLACES = 2
"""Most places that are read in the second way one by one."""

_EVERYWHERE = frozenset({"laplace", "normal", "gumbel", "logistic", "geometric"})
"""Noise of which every answer is possible on every database."""

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
    readings: list[tuple[PipelineReport, Any]] = []
    for other in _readings(trial, lambda: min(leak_of(report) for report, _ in readings)):
        readings.append((other.report(delta), other))
        if not leak_of(readings[-1][0]):
            return readings[-1]
    return min(readings, key=lambda each: (leak_of(each[0]), _unnamed(each[0])))


def _readings(trial: Any, least: Callable[[], int]) -> Iterator[Any]:
    """The trial under each reading; ``least`` is how much leaks in those that were yielded."""
    yield trial
    places = list(dict.fromkeys(trial.first.tape.mixed))
    if places:
        for strict in (*(frozenset({each}) for each in places[:MOST_PLACES]), frozenset(places)):
            yield replace(trial, strict=strict)
    if least() == 1:
        whole = replace(trial, strict=frozenset(places))
        if unseen(whole):
            yield replace(whole, merged=True)


def leak_on(trial: Any, database: Any) -> tuple[int, Any]:
    """What leaks on a database that is no neighbour, as :func:`leak_of`, in the best reading.

    The trial's reading may be one that its own two databases did not contradict; the second value
    is the trial in the reading in which nothing leaks, if there is one.
    """
    databases = (trial.databases[0], database)
    here, leaks = replace(trial, databases=databases, strict=frozenset(), merged=False), [2]
    for other in _readings(here, lambda: min(leaks)):
        found = other.leaks()
        leaks.append(1 + any(each.certain for each in found) if found else 0)
        if leaks[-1] < min(leaks[:-1]) and other.strict and other.reuses():
            leaks[-1] = 2  # one noise on data that moved differently: not what is meant
        if not leaks[-1]:
            return 0, replace(trial, strict=other.strict, merged=other.merged)
    return min(leaks), None


def proven_of_pair(trial: Any, databases: tuple[Any, Any]) -> PipelineReport | None:
    """The report of two databases with the answers of the first database of a trial.

    None where they are not violated in what the pipeline does with equal answers.
    """
    mixed = frozenset(trial.play(trial.databases[0], None).tape.mixed)
    reports = []
    for strict in dict.fromkeys([trial.strict, trial.strict | mixed]):
        here = replace(trial, strict=strict)
        events = here.play(trial.databases[0], None).tape.events
        answers = events if possible_everywhere(events) else None
        reports.append(replace(here, databases=databases, answers=answers).report(None))
    kept = any(report.verdict == KEPT for report in reports)
    return None if kept or leak_of(reports[0]) < 2 else reports[0]


def possible_everywhere(events: Sequence[TapeEvent]) -> bool:
    """Whether these answers are possible on every database."""
    return all(
        event.kind != "mechanism" and all(noise.kind in _EVERYWHERE for noise in event.noise)
        for event in events
    )


def leak_of(report: PipelineReport) -> int:
    """2 for a certain leak, 1 for one that is not, else 0."""
    found = [each.certain for each in report.findings if each.kind in _LEAKS]
    return 0 if not found else 1 + any(found)


def _unnamed(report: PipelineReport) -> bool:
    return bool(report.findings) and report.findings[0].call is None
