"""What accountants that are installed say of a training."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from simulator.auditing.conformance import known_libraries
from simulator.auditing.conformance.client import Lost, Worker
from simulator.auditing.conformance.events import (
    GAUSSIAN,
    SUBSAMPLED_GAUSSIAN,
    PrivacyEvent,
    listed,
)
from simulator.training.as_trained.described import TrainingRun

LIBRARIES = ("opacus", "jax-privacy", "dp-accounting")
SECONDS = 60.0
"""For each call of an accountant."""


@dataclass(frozen=True)
class AccountantClaim:
    """An epsilon under Poisson sampling and add-remove, or why there is none.

    Attributes
    ----------
    accountant : the library with its version, and its accountant.
    epsilon : what it returns; NaN where there is none.
    why : the reason then, or the library's own words about the number.
    """

    accountant: str
    epsilon: float
    why: str


def claims_of(run: TrainingRun) -> Iterator[AccountantClaim]:
    """The claims of every accountant of :data:`LIBRARIES` that is installed, each in a process."""
    whole = run.rate == 1.0
    kind = GAUSSIAN if whole else SUBSAMPLED_GAUSSIAN
    rounds = PrivacyEvent(kind, 1.0 / run.noise, run.steps, rate=run.rate)
    for name in LIBRARIES:
        library = known_libraries.find(name)
        if why := known_libraries.why_absent(library):
            yield AccountantClaim(name, math.nan, why)
            continue
        with Worker(known_libraries.address(name), megabytes=library.megabytes) as worker:
            yield from _of_library(name, worker, rounds, run.delta)


def _of_library(
    name: str, worker: Worker, rounds: PrivacyEvent, delta: float
) -> Iterator[AccountantClaim]:
    try:
        loaded = worker.start()
    except Lost as lost:
        yield AccountantClaim(name, math.nan, str(lost))
        return
    if "subjects" not in loaded:
        yield AccountantClaim(name, math.nan, _error(loaded))
        return
    for subject in loaded["subjects"]:
        if subject["role"] != "accountant" or rounds.kind not in subject["kinds"]:
            continue
        request = {
            "do": "value", "subject": subject["name"], "question": "epsilon",
            "events": listed([rounds]), "at": delta,
        }  # fmt: skip
        title = f"{name} {loaded['version']}, {subject['name']}"
        try:
            reply = worker.ask(request, SECONDS)
        except Lost as lost:
            yield AccountantClaim(title, math.nan, str(lost))
            continue
        why = subject["claims"] if "value" in reply else _error(reply)
        yield AccountantClaim(title, float(reply.get("value", math.nan)), why)


def _error(reply: dict[str, Any]) -> str:
    """Why a reply has no number."""
    if "not_applicable" in reply:
        return str(reply["not_applicable"])
    return f"{reply.get('error', 'no answer')}: {reply.get('message', '')}"
