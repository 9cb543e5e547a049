"""Tests of accountants: both questions on every composition, each call with a time limit."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from simulator.auditing.conformance.client import Lost, Worker
from simulator.auditing.conformance.compositions import Case
from simulator.auditing.conformance.events import NOTHING, Events, listed, relation_of
from simulator.auditing.conformance.known_libraries import address, find, why_absent
from simulator.auditing.conformance.protocol import Question
from simulator.auditing.conformance.truth import Truth
from simulator.auditing.conformance.verdicts import Judged, Ruling, failed, judge
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.validation import positive
from simulator.theory import Bracket

LONGEST_CALL = 1e6
"""Seconds; the operating system does not support much longer waits."""

_QUESTIONS: tuple[Question, ...] = ("epsilon", "delta")


@dataclass(frozen=True)
class Limits:
    """The time limits of a call and of a subject.

    Attributes
    ----------
    seconds : of one call.
    total : seconds of one subject; further calls are skipped and counted.
    """

    seconds: float = 10.0
    total: float = 60.0

    def __post_init__(self) -> None:
        positive("seconds", self.seconds)
        positive("total", self.total)
        if self.seconds > LONGEST_CALL:
            raise InvalidInput(f"seconds must be at most {LONGEST_CALL:g}, not {self.seconds!r}")


class Truths:
    """The truth of each group of cases, computed once."""

    def __init__(self, make: Callable[[Events], Truth] = Truth) -> None:
        self._make = make
        self._known: dict[Any, Truth] = {}
        self._answers: dict[Any, Bracket | None] = {}

    def of(self, case: Case) -> Truth:
        """The truth of a case."""
        if case.group not in self._known:
            self._known[case.group] = self._make(case.events)
        return self._known[case.group]

    def answer(self, case: Case, question: Question, at: float) -> Bracket | None:
        """The ends of the true answer, or None if they cannot be computed."""
        key = (case.group, question, at)
        if key not in self._answers:
            try:
                truth = self.of(case)
                curve = truth.epsilon if question == "epsilon" else truth.delta
                self._answers[key] = curve(at)
            except NotApplicable:
                self._answers[key] = None
        return self._answers[key]

    def place(self, case: Case, question: Question) -> float | None:
        """The argument of a question: the delta of a case, or its true epsilon, rounded down."""
        if question == "epsilon":
            return case.delta
        found = self.answer(case, "epsilon", case.delta)
        if found is None or not 0.0 < found.lower < math.inf:
            return None
        digits = 10.0 ** (2 - math.floor(math.log10(found.lower)))
        return math.floor(found.lower * digits) / digits


@dataclass(kw_only=True)
class LibraryTrial:
    """The result of the tests of one library.

    Attributes
    ----------
    absent : why the library could not be tested, or "".
    subjects : the subjects of the library, as its worker lists them.
    judged : one for each call of an accountant.
    skipped : calls skipped because of the time limit, by subject.
    """

    name: str
    version: str = ""
    absent: str = ""
    subjects: list[dict[str, Any]] = field(default_factory=list)
    judged: list[Judged] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0


def worker_for(name: str, python: str | None = None) -> Worker:
    """A worker for a library by name. Raises InvalidInput for an unknown one."""
    library = find(name)
    return Worker(address(name), python=python or sys.executable, megabytes=library.megabytes)


def try_accountants(
    name: str,
    cases: Sequence[Case],
    *,
    limits: Limits | None = None,
    truths: Truths | None = None,
    python: str | None = None,
    worker: Worker | None = None,
    progress: Callable[[str], None] | None = None,
) -> LibraryTrial:
    """Try every accountant of a library on every case.

    Parameters
    ----------
    name : a library that ``known_libraries.find`` knows, or any name with a ``worker``.
    python : an interpreter that has the library; this one by default.
    progress : called with a line per subject.

    Raises
    ------
    InvalidInput : an unknown name.
    """
    limits, truths = limits or Limits(), truths or Truths()
    found = LibraryTrial(name=name)
    if worker is None:
        if python is None and (absent := why_absent(find(name))):
            found.absent = absent
            return found
        worker = worker_for(name, python)
    began = time.monotonic()
    with worker:
        try:
            loaded = worker.start()
        except Lost as lost:
            found.absent = f"importing it failed: {lost}"
            return found
        if "error" in loaded:
            found.absent = f"importing it failed: {loaded['error']}: {loaded['message']}"
            return found
        if not {"version", "subjects"} <= loaded.keys():
            found.absent = f"{worker.python!r} does not run the worker of a library"
            return found
        found.version, found.subjects = loaded["version"], loaded["subjects"]
        for subject in found.subjects:
            if subject["role"] == "accountant":
                if progress:
                    progress(f"{name}: {subject['name']}")
                _try_one(worker, found, subject, cases, (limits, truths))
    found.seconds = time.monotonic() - began
    return found


def _try_one(
    worker: Worker,
    found: LibraryTrial,
    subject: dict[str, Any],
    cases: Sequence[Case],
    shared: tuple[Limits, Truths],
) -> None:
    limits, truths = shared
    spent = 0.0
    takes = {*subject["kinds"], NOTHING}
    for case in cases:
        if not {event.kind for event in case.events} <= takes:
            continue
        if relation_of(case.events) not in subject["relations"]:
            continue
        if NOTHING not in subject["kinds"] and any(e.kind == NOTHING for e in case.events):
            continue
        for question in _QUESTIONS:
            at = truths.place(case, question)
            if at is None:
                continue
            if spent > limits.total:
                found.skipped[subject["name"]] = found.skipped.get(subject["name"], 0) + 1
                continue
            judged = _call(worker, (found.name, subject), case, (question, at), shared)
            # of the processor where it is known, which a busy machine does not change
            spent += judged.seconds if math.isnan(judged.processor) else judged.processor
            found.judged.append(judged)


def _call(
    worker: Worker,
    named: tuple[str, dict[str, Any]],
    case: Case,
    question_at: tuple[Question, float],
    shared: tuple[Limits, Truths],
) -> Judged:
    limits, truths = shared
    library, subject = named
    question, at = question_at
    truth = truths.answer(case, question, at)
    request = {"do": "value", "subject": subject["name"], "question": question, "at": at}
    request |= {"events": listed(case.events)}
    began = time.monotonic()
    try:
        if worker.lost:  # the time of importing the library is not that of a call
            worker.start()
            began = time.monotonic()
        reply = worker.ask(request, limits.seconds)
    except Lost as lost:
        reply = {"lost": str(lost)}
    seconds = time.monotonic() - began
    claimed = float(reply.get("value", math.nan))
    factor, end = math.nan, failed(reply, subject["declines"])
    if end is not None:
        verdict, why = end
    elif truth is None:
        verdict, why = Ruling.UNKNOWN, "no certified truth"
    else:
        verdict, factor, why = judge(question, claimed, truth)
    return Judged(
        library=library,
        subject=subject["name"],
        case=case.name,
        group=case.group,
        events=case.events,
        question=question,
        at=at,
        claimed=claimed,
        truth=truth,
        verdict=verdict,
        factor=factor,
        why=why,
        warned=reply.get("warned", ""),
        seconds=seconds,
        processor=float(reply.get("processor", math.nan)),
        documented=subject["documented"],
    )


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names, each once; raises InvalidInput for an unknown one."""
    for name in names:
        find(name)
    return tuple(dict.fromkeys(names))
