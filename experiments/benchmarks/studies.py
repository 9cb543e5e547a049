"""What a study of many small tasks costs beside playing them by hand."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from experiments.benchmarks import adversaries
from experiments.benchmarks.measure import REPEATS, Line, alternately
from simulator import simulate
from simulator.studies import Task, collect

TASKS, ROUNDS, TRIALS, EPSILON = 200, 10, 1000, 0.5


def by_hand() -> None:
    """Play every task and estimate its tails, at the two confidences of a study's line."""
    for seed in range(TASKS):
        result = simulate(
            adversaries.query_anew, adversaries.PURE, ROUNDS, TRIALS, seed=seed, jobs=1,
            progress=False,
        )  # fmt: skip
        for experiment in (0, 1):
            for confidence in (0.95, 1.0 - 1e-6):
                result.tail(EPSILON, experiment, confidence)


def as_a_study(folder: Path) -> None:
    """Collect the same tasks into a new file, in this process."""
    tasks = [
        Task(
            adversaries.query_anew, adversaries.PURE, ROUNDS, f"tail(epsilon={EPSILON})", seed=seed
        )
        for seed in range(TASKS)
    ]
    out = folder / "study.csv"
    out.unlink(missing_ok=True)
    for _ in collect(tasks, out, trials=TRIALS, jobs=1):
        pass


def small_tasks() -> Iterator[Line]:
    """200 generators of 1,000 trials and ten rounds, in both experiments."""
    with tempfile.TemporaryDirectory() as folder:
        ratio, alone, study, spread = alternately(
            by_hand, partial(as_a_study, Path(folder)), repeats=REPEATS
        )
    detail = {"seconds_by_hand": alone, "seconds_of_the_study": study} | spread
    yield Line(
        "study of 200 small tasks", ratio, "x playing them by hand", 1.05, at_least=False,
        detail=detail,
    )  # fmt: skip


BENCHMARKS = (small_tasks,)
