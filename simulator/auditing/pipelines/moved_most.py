"""Neighbours whose noisy answers move more than those of a pair that keeps the claim.

A statistic of the raw data in what noise is added to, as a clip at a quantile or the column with
the largest variance, is seen in no difference: it makes the sensitivity larger than the noise
covers, on some databases.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from numpy.random import default_rng  # before a recording replaces it

from simulator.auditing.pipelines.neighbours import orders_of, part, size
from simulator.auditing.pipelines.prices import shifts_of
from simulator.auditing.pipelines.readings import leak_of, read
from simulator.auditing.pipelines.report import PipelineReport

PAIRS = 64
"""How many pairs are tried."""
_PARTS = (
    (0.75, 0.0), (0.25, 0.25), (0.5, 0.06), (0.25, 0.5), (0.1, 0.0), (0.4, 0.4), (0.12, 0.5),
    (0.5, 0.0), (0.05, 0.2), (0.6, 0.12), (0.3, 0.3), (0.9, 0.0),
)  # fmt: skip
"""Shares of the records with the least and with the largest values, beside the largest one."""


def costlier_pair(trial: Any, end: float) -> tuple[PipelineReport | None, int]:
    """The report of two databases that violate the claim by their cost, and how many runs it took.

    They have some of the records of the trial's first database, and one of the two has one record
    more. No record occurs more often than it did: what holds for one record of each person does not
    hold for many.

    Parameters
    ----------
    trial : of a pair under "add-remove".
    end : the processor time after which no further pair is tried.
    """
    most, runs = _moved(trial), 2
    for places, removed in some_places(trial.databases[0], PAIRS):
        if time.process_time() > end:
            break
        fewer = [place for place in places if place != removed]
        databases = part(trial.databases[0], places), part(trial.databases[0], fewer)
        here, runs = replace(trial, databases=databases), runs + 2
        moved = _moved(here)
        if moved > most * (1.0 + 1e-9):
            most = moved
            report, _ = read(here, None)
            if report.violated and not leak_of(report):
                return report, runs
    return None, runs


def _moved(trial: Any) -> float:
    """How far all noisy answers of a pair moved, in scales of their noise; 0 where it differs."""
    if trial.leaks():
        return 0.0
    return sum(abs(each) for _, moved in shifts_of(trial.pairs) for each in moved)


def some_places(database: Any, count: int) -> Iterator[tuple[list[int], int]]:
    """Places of some records of a database, ascending, and the one of them that is removed.

    In turn the least and the largest values of a column, of which the largest is removed, or the
    other way round; and records at random.
    """
    n = size(database)
    rng = default_rng([n, 11])
    orders = [way for each in orders_of(database) for way in (each, each[::-1])]
    for number in range(count if n > 1 else 0):
        turn = number // 2
        if number % 2:
            order = orders[turn % len(orders)]
            least, largest = _PARTS[turn // len(orders) % len(_PARTS)]
            places = {*order[: int(n * least)], *order[-1 - int(n * largest) :]}
            yield sorted(places), order[-1]
        else:
            chosen = rng.permutation(n)[: max(n >> turn % 4, 2)].tolist()
            yield sorted(chosen), chosen[0] if turn % 2 else min(chosen)
