"""A pipeline that looks at the data outside of its mechanisms, though one pair does not show it.

With its answers frozen, a pipeline that looks at the data through mechanisms alone does the same on
every database, not on a neighbour alone. So it is replayed on databases of the same records that
are far from its own. Where it does something else there, two neighbours on the way to that database
differ: a chain of neighbours joins the two, and bisection finds the step.
"""

from __future__ import annotations

import contextlib
import io
import math
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import default_rng  # before a recording replaces it

from simulator.auditing.pipelines.differences import differences
from simulator.auditing.pipelines.moved_most import costlier_pair
from simulator.auditing.pipelines.neighbours import orders_of, part, size
from simulator.auditing.pipelines.readings import leak_on, proven_of_pair
from simulator.auditing.pipelines.report import KEPT, PipelineReport
from simulator.auditing.pipelines.runs import TapedRun
from simulator.theory.events.units import ADD_REMOVE

SEEDS = 100
"""How many seeds are tried, if the pipeline is seen to look at the data elsewhere."""
FEW = 16
"""How many seeds are tried where it is not."""
SECONDS = 2.0
"""Of processor time, after which no further seed or database is tried."""
_STEP = 1 << 32
"""Between two seeds."""
_SIZES = ((0, 1), (3, 1), (1, 2), (20, 1), (1, 4))
"""Numbers of records of other databases, as fractions of the number that is given."""
LONGEST = 1.0
"""Seconds that a run on more records may take, if time grows with the square of their number."""
QUICK = 0.02
"""Seconds of a run, beyond which neighbours are looked for among those of fewer records."""


@dataclass(frozen=True)
class NearbySearch:
    """What was found near a pair.

    Attributes
    ----------
    report : of two neighbours that are violated, or of the pair itself in a reading that other
        databases ask for; None if neither differs.
    runs : how many runs there were.
    looks : whether the pipeline did otherwise on other records.
    late : what it reads of the data after its last call, though nothing was seen to depend on it.
    """

    report: PipelineReport | None
    runs: int
    looks: bool
    late: str = ""


class _Runs:
    """Runs of a trial, counted, within a limit of time."""

    def __init__(self, trial: Any, number: int) -> None:
        self.trial = replace(trial, seed=trial.seed + number * _STEP)
        self.first: TapedRun = self.trial.play(trial.databases[0], None)
        self.count = 1
        self.last = self.first

    def compared(self, database: Any) -> bool | None:
        """Whether a run on another database differs, with the answers of the first run.

        None for an error there: it may need more records, or other ones.
        """
        self.count += 1
        first, run = self.first, self.trial.play(database, self.first.tape.events)
        self.last = run
        if run.diverged is not None:
            return True
        if run.outcome.raised != first.outcome.raised:
            return None
        if len(run.tape.events) != len(first.tape.events):
            return True
        return next(differences(vars(first.outcome), vars(run.outcome)), None) is not None


def search(trial: Any, relation: str) -> NearbySearch:
    """Two neighbours near the first database of a trial that are violated, if there are.

    Parameters
    ----------
    trial : of a pair that is not violated.
    relation : of neighbours; "" where it is not known: then no other neighbours are tried, and the
        trial's own are tried with other seeds.
    """
    database = trial.databases[0]
    n = size(database)
    late: str | None = None
    explained = None
    pace = 0.0  # seconds for the square of the number of records
    runs, seen, looks, end = 0, False, False, time.process_time() + SECONDS
    with quiet():
        for number in range(SEEDS):
            if number == FEW and not seen:
                late = _late_read(trial, relation)
            if (number >= FEW and not (looks or late)) or time.process_time() > end:
                break
            if looks and number:
                found = _own_pair(trial, number)
                runs += 2
                if found is not None:
                    return NearbySearch(found, runs, True)
                if not relation:
                    continue
            here = _Runs(trial, number)
            for places in other_places(database, relation, number):
                if len(places) > n and pace * len(places) ** 2 > LONGEST:
                    continue
                differs = here.compared(part(database, places))
                if len(places) >= n:
                    pace = max(pace, here.last.seconds / len(places) ** 2)
                if differs is not True:
                    continue
                if here.compared(database) is not False:  # what it depends on is not recorded
                    break
                leak, reading = leak_on(here.trial, part(database, places))
                explained = reading if explained is None else explained
                seen, looks = seen or leak > 0, looks or leak > 1
                found = _on_the_way(here, relation, places) if relation and leak > 1 else None
                if found is not None:
                    return NearbySearch(found, runs + here.count, True)
                if time.process_time() > end:
                    break
            runs += here.count
        if explained is not None and not seen:
            other = explained.report(None)  # of the same two databases, in the other reading
            if other.verdict != KEPT:
                return NearbySearch(other, runs, False)
        if late is None and not seen:
            late = _late_read(trial, relation)
    if relation and trial.claimed is not None:
        costlier, more = costlier_pair(trial, relation)
        runs += more
        if costlier is not None:
            return NearbySearch(costlier, runs, False)
    return NearbySearch(None, runs, seen, "" if seen else str(late or ""))


def quick_pair(trial: Any) -> tuple[Any, Any]:
    """The databases of a trial under "add-remove", or two of fewer records where a run takes long.

    The first one has one record more. Time is taken to grow with the square of their number.
    """
    larger = max(trial.databases, key=size)
    n, seconds = size(larger), max(trial.first.seconds, trial.second.seconds)
    if seconds <= QUICK:
        return larger, trial.databases[0 if larger is trial.databases[1] else 1]
    count = max(int(n * math.sqrt(QUICK / seconds)), min(n, 12))
    places = sorted(default_rng([n, 17]).permutation(n)[:count].tolist())
    return part(larger, places), part(larger, places[:-1])


def _late_read(trial: Any, relation: str) -> str:
    """What a pipeline reads of the data after its last call, and where."""
    here = _Runs(trial, 0)
    database, first = here.trial.databases[0], here.first
    if not first.tape.uses:
        return ""
    own = here.trial.late_reads(database, first)
    for places in other_places(database, relation, 0):
        other = part(database, places)
        if here.compared(other) is False:
            found = own.first_other(here.trial.late_reads(other, first))
            if found:
                return str(found)
    return ""


def _own_pair(trial: Any, number: int) -> PipelineReport | None:
    """The report of the trial's own pair with another seed, if that violates it."""
    other = replace(trial, seed=trial.seed + number * _STEP)
    return proven_of_pair(other, other.databases) if other.leaks() else None


def _on_the_way(here: _Runs, relation: str, places: Sequence[int]) -> PipelineReport | None:
    """The report of two neighbours on the way to the places of a database that differs."""
    database = here.trial.databases[0]
    links = chain(relation, size(database), places)
    low, high = 0, len(links) - 1
    while high - low > 1:
        middle = (low + high) // 2
        differs = here.compared(part(database, links[middle])) is True
        low, high = (low, middle) if differs else (middle, high)
    found = part(database, links[low]), part(database, links[high])
    if here.compared(found[0]) is not False:  # an error
        return None
    return proven_of_pair(here.trial, found)


def other_places(database: Any, relation: str, number: int) -> Iterator[list[int]]:
    """Places of the records of other databases, by number from 0.

    One record as often as there are records; records drawn with replacement from few of them; the
    half with the least or the largest values; under "add-remove" also fewer and more records.
    """
    n = size(database)
    rng = default_rng([number, n, 7])
    if n < 2:
        if relation == ADD_REMOVE and number < 2:
            yield [0] * (number * 5)
        return
    orders = orders_of(database)
    order = orders[number // 2 % len(orders)] if number % 2 else rng.permutation(n).tolist()
    order = order[::-1] if number // 2 // len(orders) % 2 else order
    yield [order[0]] * n
    some = rng.permutation(n)[: max(n >> (number + 1) % 5, 2)]
    yield sorted(rng.choice(some, n).tolist())
    half = order[: (n + 1) // 2]
    yield sorted([*half, *half][:n])
    if relation == ADD_REMOVE:
        times, parts = _SIZES[number % len(_SIZES)]
        yield sorted(rng.choice(n, n * times // parts).tolist())


def chain(relation: str, n: int, places: Sequence[int]) -> list[list[int]]:
    """Places of the databases from n records to those at ``places``, neighbours in turn.

    Under "add-remove" a record is removed before the one in its place is added.
    """
    found = [list(range(n))]
    for i in range(max(n, len(places))):
        new, rest = places[i : i + 1], range(i + 1, n)
        if i < n and list(new) == [i]:
            continue
        if i < n and (relation == ADD_REMOVE or not new):
            found.append([*places[:i], *rest])
        if new:
            found.append([*places[: i + 1], *rest])
    return found


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Within, what pipelines print is not shown, nor are warnings."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield
