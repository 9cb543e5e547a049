"""Neighbours whose noisy answers move more than those of a pair that keeps the claim.

A statistic of the raw data in what noise is added to, as a clip at a quantile or the column with
the fewest missing values, is seen in no difference: it makes the sensitivity larger than the noise
covers, on some databases. They are found on the way from a database to one of few records: a chain
of neighbours, on which a choice made from raw data is another one somewhere.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from numpy.random import default_rng  # before a recording replaces it

from simulator.auditing.pipelines.costs import cost_of, pairs_of
from simulator.auditing.pipelines.neighbours import orders_of, part, size
from simulator.auditing.pipelines.prices import above_claim, shifts_of
from simulator.auditing.pipelines.readings import leak_of, possible_everywhere, read
from simulator.auditing.pipelines.report import PipelineReport
from simulator.auditing.pipelines.tape import TapeEvent
from simulator.theory.events.units import ADD_REMOVE

CHAINS, LINKS = 12, 40
"""How many chains are tried, and how many databases of each."""
SECONDS = 1.5
"""Of processor time, after which no further database is tried."""


def costlier_pair(trial: Any, relation: str) -> tuple[PipelineReport | None, int]:
    """The report of two neighbours that violate the claim by their cost, and how many runs it took.

    Under "add-remove" they have some of the records of the trial's first database, and none more
    often than it does: what holds for one record of each person does not hold for many. Under
    "replace-one" one record stands in the place of all that are gone.
    """
    database = trial.databases[0]
    events = trial.play(database, None).tape.events
    runs, most, end = 1, 0.0, time.process_time() + SECONDS
    answers = events if possible_everywhere(events) else None
    for order in _orders(database):
        chain = _Chain(trial, events, relation, order)
        for fewer, more, moved in chain.steps():
            if time.process_time() > end:
                return None, runs + chain.runs
            if moved > most * (1.0 + 1e-9):
                most = moved
                if chain.costs_more_than_claimed(fewer, more):
                    pair = chain.database(more), chain.database(fewer)
                    report, _ = read(replace(trial, databases=pair, answers=answers), None)
                    if report.violated and not leak_of(report):
                        return report, runs + chain.runs
        runs += chain.runs
    return None, runs


class _Chain:
    """Databases of the first records of an order, each a neighbour of the next one.

    Runs on them have the answers of one run; ``runs`` is how many there were.
    """

    def __init__(
        self, trial: Any, answers: Sequence[TapeEvent], relation: str, order: Sequence[int]
    ) -> None:
        self.trial, self.answers, self.relation, self.order = trial, answers, relation, order
        self.runs = 0
        self._events: dict[int, Sequence[TapeEvent] | None] = {}

    def database(self, count: int) -> Any:
        """The database of the first ``count`` records."""
        kept = {*self.order[:count]}
        places = sorted(kept)
        if self.relation != ADD_REMOVE:
            places = [each if each in kept else self.order[0] for each in range(len(self.order))]
        return part(self.trial.databases[0], places)

    def steps(self) -> Iterator[tuple[int, int, float]]:
        """Numbers of records of two neighbours, and how far the answers moved.

        An interval of the chain is halved, the one first whose ends moved most for its length: by
        more than the root of the length, because steps that go either way add up to that.
        """
        waiting: list[tuple[float, int, int, float]] = []

        def add(low: int, high: int) -> None:
            moved = self._moved(low, high)
            heapq.heappush(waiting, (-moved / math.sqrt(high - low), low, high, moved))

        if len(self.order) > 1:
            add(1, len(self.order))
            if self.relation == ADD_REMOVE:
                add(0, 1)
        while waiting and self.runs < LINKS:
            _, low, high, moved = heapq.heappop(waiting)
            yield low, high, moved if high - low == 1 else 0.0
            if high - low > 1:
                middle = (low + high) // 2
                add(low, middle)
                add(middle, high)

    def costs_more_than_claimed(self, fewer: int, more: int) -> bool:
        """Whether these two cost more than is claimed, if all their answers are seen."""
        pairs = pairs_of(self._played(more) or (), self._played(fewer) or ())
        cost = cost_of(pairs, None, lambda spent: False)
        return above_claim(cost.total, self.trial.claimed) is not None

    def _moved(self, low: int, high: int) -> float:
        """How far all noisy answers moved, in scales of their noise; 0 where a run differs."""
        one, other = self._played(high), self._played(low)
        if one is None or other is None:
            return 0.0
        return sum(abs(each) for _, moved in shifts_of(pairs_of(one, other)) for each in moved)

    def _played(self, count: int) -> Sequence[TapeEvent] | None:
        """The events on the first records; None if they are others than those of the answers."""
        if count not in self._events:
            self.runs += 1
            run = self.trial.play(self.database(count), self.answers)
            same = run.diverged is None and len(run.tape.events) == len(self.answers)
            self._events[count] = run.tape.events if same else None
        return self._events[count]


def _orders(database: Any) -> Iterator[list[int]]:
    """Places of the records by each of their values, either way, and in random orders."""
    sorted_ones = [way for each in orders_of(database) for way in (each[::-1], each)]
    rng = default_rng([size(database), 13])
    for number in range(CHAINS):
        if number % 2 == 0 and number // 2 < len(sorted_ones):
            yield sorted_ones[number // 2]
        else:
            yield rng.permutation(size(database)).tolist()
