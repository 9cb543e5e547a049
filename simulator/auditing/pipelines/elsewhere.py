"""A pipeline that looks at the data outside of its mechanisms, though one pair does not show it.

With its answers frozen, a pipeline that looks at the data through mechanisms alone does the same on
every database, not on a neighbour alone. So it is replayed on databases of the same records, drawn
with replacement. Where it does something else there, two neighbours on the way to that database
differ: a chain of neighbours joins the two, and bisection finds the step.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from simulator.auditing.pipelines.differences import differences
from simulator.auditing.pipelines.neighbours import part, size
from simulator.auditing.pipelines.readings import leak_of, read
from simulator.auditing.pipelines.report import KEPT, PipelineReport
from simulator.auditing.pipelines.runs import TapedRun
from simulator.auditing.pipelines.tape import TapeEvent

SEEDS = 100
"""How many seeds a pair is tried with, if the pipeline looks at the data elsewhere."""
FEW = 8
"""How many databases are drawn; and how many seeds are tried where none can be drawn."""
SECONDS = 2.0
"""After so long no further seed or database is tried."""
_STEP = 1 << 32
"""Between two seeds."""
_EVERYWHERE = frozenset({"laplace", "normal", "gumbel", "logistic", "geometric"})
"""Noise of which every answer is possible on every database."""


def other_seeds(trial: Any, count: int) -> Iterator[Any]:
    """The trial with other seeds, within the limits."""
    end = time.monotonic() + SECONDS
    for number in range(1, count):
        if time.monotonic() > end:
            return
        yield replace(trial, seed=trial.seed + number * _STEP)


def drawn_places(n: int, number: int, seed: int) -> list[int]:
    """Places of n records, drawn with replacement: from all records, half of them, a quarter..."""
    rng = np.random.default_rng([seed, 7])
    some = rng.permutation(n)[: max(n >> number % 4, 2)]
    return sorted(rng.choice(some, n).tolist())


def chain(relation: str, places: Sequence[int]) -> list[list[int]]:
    """Places of the databases from all records to those at ``places``, neighbours in turn.

    Under "add-remove" a record is removed before the one in its place is added.
    """
    n, found = len(places), [list(range(len(places)))]
    for i, place in enumerate(places):
        if place == i:
            continue
        if relation == "add-remove":
            found.append([*places[:i], *range(i + 1, n)])
        found.append([*places[: i + 1], *range(i + 1, n)])
    return found


def does_otherwise(trial: Any, first: TapedRun, database: Any) -> bool:
    """Whether a run on another database differs, with the answers of the first run.

    An error there is no difference: it may need more records, or other ones.
    """
    run = trial.play(database, first.tape.events)
    if run.diverged is not None:
        return True
    if run.outcome.raised != first.outcome.raised:
        return False
    if len(run.tape.events) != len(first.tape.events):
        return True
    return next(differences(vars(first.outcome), vars(run.outcome)), None) is not None


def is_explained(trial: Any, database: Any) -> bool:
    """Whether some reading of what is done to noisy answers explains what another database does.

    The trial's reading may be one that its own two databases did not contradict.
    """
    here = replace(trial, databases=(trial.databases[0], database))
    return leak_of(read(replace(here, strict=frozenset(), merged=False), None)[0]) == 0


def step(
    databases: Callable[[int], Any], last: int, differs: Callable[[Any], bool]
) -> tuple[Any, Any]:
    """Two neighbours in a chain of which the second differs and the first does not."""
    low, high = 0, last
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if differs(databases(middle)) else (middle, high)
    return databases(low), databases(high)


def looks_elsewhere(trial: Any) -> bool | None:
    """Whether a pipeline does otherwise on other records; None where these cannot be drawn."""
    database, end = trial.databases[0], time.monotonic() + SECONDS
    n = size(database) if is_of_records(database) else 0
    for number in range(FEW if n > 1 else 0):
        here = replace(trial, seed=trial.seed + number * _STEP)
        first = here.play(database, None)
        other = part(database, drawn_places(n, number, here.seed))
        if (
            does_otherwise(here, first, other)
            and not does_otherwise(here, first, database)
            and not is_explained(here, other)
        ):
            return True
        if time.monotonic() > end:
            break
    return False if n > 1 else None


def is_of_records(database: Any) -> bool:
    """Whether a database is a list, an array or a table, whose records can be drawn."""
    return isinstance(database, list | tuple | np.ndarray) or hasattr(database, "iloc")


def violated_elsewhere(trial: Any, relation: str) -> tuple[PipelineReport | None, int, bool]:
    """The report of two neighbours near the first database of a trial that are violated.

    Parameters
    ----------
    trial : of a pair that is kept.
    relation : of neighbours.

    Returns
    -------
    The report or None; the number of databases tried; whether one of these differed.
    """
    database, end = trial.databases[0], time.monotonic() + SECONDS
    n, seen, tried = size(database), False, 0
    for number in range(SEEDS if n > 1 else 0):
        if number >= FEW and not seen:
            break
        if time.monotonic() > end:
            break
        here = replace(trial, seed=trial.seed + number * _STEP)
        first = here.play(database, None)
        places = drawn_places(n, number, here.seed)
        tried += 1
        other = part(database, places)
        if not does_otherwise(here, first, other):
            continue
        if does_otherwise(here, first, database):  # it is not recorded what that depends on
            continue
        if is_explained(here, other):
            continue
        seen = True
        links = chain(relation, places)
        found = step(
            lambda i, links=links: part(database, links[i]),  # type: ignore[misc]
            len(links) - 1,
            lambda each, here=here, first=first: does_otherwise(here, first, each),  # type: ignore[misc]
        )
        places_mixed = frozenset(first.tape.mixed)
        readings = dict.fromkeys([here.strict, here.strict | places_mixed])
        reports = [_of_pair(replace(here, strict=strict), found) for strict in readings]
        if reports[0].violated and not any(report.verdict == KEPT for report in reports):
            return reports[0], tried, seen
    return None, tried, seen


def _of_pair(trial: Any, found: tuple[Any, Any]) -> PipelineReport:
    """The report of two databases, with the answers of the first database of a trial."""
    events = trial.play(trial.databases[0], None).tape.events
    answers = events if _possible_everywhere(events) else None
    report: PipelineReport = replace(trial, databases=found, answers=answers).report(None)
    return report


def _possible_everywhere(events: Sequence[TapeEvent]) -> bool:
    """Whether these answers are possible on every database."""
    return all(
        event.kind != "mechanism" and all(noise.kind in _EVERYWHERE for noise in event.noise)
        for event in events
    )
