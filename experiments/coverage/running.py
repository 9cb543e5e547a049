"""Play the cases as users do, a fresh pilot in each, and record the outcome of every interval."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from experiments.coverage.adversaries import suite
from experiments.coverage.automata import automata
from experiments.coverage.cases import Case, cases
from experiments.coverage.exchanged import estimate_exchanged
from experiments.coverage.subject import Subject
from experiments.coverage.truth import CELLS, Bracket, Law, law_of
from simulator.analysis.estimation import Estimate
from simulator.analysis.rare import RareEvent, Setting, estimate_rare
from simulator.errors import NotApplicable, Refusal

CONFIDENCE = 0.95
ROUNDING = 1e-10
"""The relative distance up to which an end is not a miss: exact answers are exact but for it."""
LEAST_SECONDS = 8.0
"""The least time of one adversary, whose kernels are compiled first."""


class Claim(NamedTuple):
    """What an estimate gives, which of its ends claim to be valid, and whether it has a value."""

    lower: float
    upper: float
    lower_valid: bool
    upper_valid: bool
    has_value: bool


def claim_of(estimate: Estimate) -> Claim:
    """What an estimate claims."""
    return Claim(
        estimate.lower, estimate.upper, estimate.lower_valid, estimate.upper_valid,
        not estimate.no_value,
    )  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """The outcome of one interval, or of one call without an interval.

    Attributes
    ----------
    case : the question.
    kind : the way the adversary hides its large losses.
    quantity : what the interval is of; "... at epsilon(delta)" where its epsilon was estimated.
    method : who chose it, and how the answer was found.
    status : "answered", "refused", or "failed" for an error that is not a refusal.
    reason : why there is no answer.
    truth, claim : None where there is no answer.
    """

    case: Case
    kind: str
    quantity: str
    method: str
    status: str = "answered"
    reason: str = ""
    truth: Bracket | None = None
    claim: Claim | None = None

    @property
    def is_primary(self) -> bool:
        """Whether tables over several quantities count it."""
        return self.claim is None or self.quantity == self.case.quantity

    def misses(self, interval: tuple[float, float]) -> tuple[bool, bool]:
        """Whether the lower end is above the truth, and the upper end below it."""
        assert self.truth is not None
        low, high = interval
        above = low > self.truth.upper * (1.0 + ROUNDING)
        below = high < self.truth.lower * (1.0 - ROUNDING)
        return above, below


Estimator = Callable[..., RareEvent]


def play(
    case: Case, subject: Subject, laws: tuple[Law, Law], estimator: Estimator | None = None
) -> list[Outcome]:
    """One call, and the outcome of each interval in its answer."""
    usual: Estimator = estimate_exchanged if case.method == "exchanged" else estimate_rare
    call = estimator or usual
    by = "auto" if case.method == "auto" else "by name"
    target = {"delta" if case.quantity == "epsilon" else "epsilon": case.point}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            event = call(
                subject.player, subject.family, subject.rounds, case.trials, **target,
                experiment=case.experiment, method=case.method, confidence=CONFIDENCE,
                seed=case.seed, setting=Setting(filter=subject.filter, jobs=1, progress=False),
            )  # fmt: skip
    except (Refusal, NotApplicable) as refusal:
        return [unanswered(case, subject, by, "refused", str(refusal))]
    except Exception as error:  # it is counted, and fails the run
        return [unanswered(case, subject, by, "failed", f"{type(error).__name__}: {error}")]
    return [
        judged(case, subject, laws[case.experiment], f"{by}: {event.method}", *named)
        for named in intervals_of(event)
    ]


def unanswered(case: Case, subject: Subject, by: str, status: str, reason: str) -> Outcome:
    """The outcome of a call that gave no answer."""
    method = f"{by}: {status}"
    return Outcome(case, subject.kind, case.quantity, method, status, reason)


def intervals_of(event: RareEvent) -> Iterable[tuple[str, float, Estimate]]:
    """(quantity, epsilon of the event, estimate) of every interval in an answer."""
    where = "" if event.at_delta is None else " at epsilon(delta)"
    if event.at_delta is not None:
        yield "epsilon", event.epsilon, event.at_delta
    yield "tail" + where, event.epsilon, event.tail
    yield "delta" + where, event.epsilon, event.delta


def judged(
    case: Case, subject: Subject, law: Law, method: str, quantity: str, at: float, found: Estimate
) -> Outcome:
    """Set one interval beside the truth."""
    claim = claim_of(found)
    if quantity == "epsilon":
        truth = law.epsilon(case.point)
    else:
        truth = (law.tail if quantity.startswith("tail") else law.delta)(at)
    return Outcome(case, subject.kind, quantity, method, truth=truth, claim=claim)


@dataclass(frozen=True)
class Task:
    """The work of one call: one adversary, so that its kernels are compiled once.

    Attributes
    ----------
    most : cases at most.
    seconds : no case is begun after so long.
    deadline : nothing is begun after this moment, in seconds of the epoch.
    """

    subject: str
    seed: int
    most: int
    seconds: float
    deadline: float
    cells: int = CELLS


def work(task: Task) -> list[Outcome]:
    """Play the cases of one adversary, in their order, as far as time allows."""
    if time.time() > task.deadline:
        return []
    subject = subjects()[task.subject]
    laws = law_of(subject, 0, task.cells), law_of(subject, 1, task.cells)
    begun, outcomes = time.time(), []
    for case in islice(cases(subject, laws, task.seed), task.most):
        outcomes += play(case, subject, laws)
        if time.time() > min(begun + task.seconds, task.deadline):
            break
    return outcomes


@cache
def subjects() -> dict[str, Subject]:
    """The suite, made once in each process: a kernel is compiled for each Rule that is made."""
    return suite()


def tasks(
    names: Iterable[str], seed: int, minutes: float, workers: int, most: int, cells: int = CELLS
) -> list[Task]:
    """One task per adversary, in an order that the seed determines; the time is shared evenly.

    Where it is too little for all, the last are left out: two written by hand come before each
    automaton.
    """
    shuffled, total = sorted(names), 60.0 * minutes * workers
    np.random.default_rng(seed).shuffle(shuffled)
    random = {subject.name for subject in automata()}
    written = iter([name for name in shuffled if name not in random])
    others = iter([name for name in shuffled if name in random])
    turns = ((*islice(written, 2), *islice(others, 1)) for _ in shuffled)
    listed = [name for turn in turns for name in turn]
    seconds = max(total / max(len(listed), 1), LEAST_SECONDS)
    deadline = time.time() + 60.0 * minutes
    return [Task(name, seed, most, seconds, deadline, cells) for name in listed]


def measure(todo: list[Task], workers: int) -> list[Outcome]:
    """The outcomes of every task, in the order of the tasks."""
    if workers == 1:
        return [outcome for task in todo for outcome in work(task)]
    with ProcessPoolExecutor(workers) as pool:
        return [outcome for part in pool.map(work, todo) for outcome in part]
