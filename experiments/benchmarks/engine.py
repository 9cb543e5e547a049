"""Rounds a second: compiled rules against bare draws, two jobs, the runner's overhead."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from experiments.benchmarks import adversaries
from experiments.benchmarks.measure import Line, alternately, fresh
from simulator import Guarantee, simulate
from simulator.run.worker import Player

ROUNDS = 100
TRIALS = 200_000
CHUNK = 1 << 16
"""Draws at once: numpy is fastest while they stay in the cache."""

Draw = Callable[..., Any]


def play(adversary: Any, family: Guarantee, trials: int, jobs: int = 1) -> Any:
    """Play experiment 0 quietly."""
    return simulate(adversary, family, ROUNDS, trials, experiments=(0,), jobs=jobs, progress=False)


def bare(draw: Draw, total: int) -> None:
    """Draw ``total`` numbers and do nothing with them."""
    for _ in range(total // CHUNK):
        draw(size=CHUNK)
    draw(size=total % CHUNK)


def against_bare_draws() -> Iterator[Line]:
    """A rule's rounds, per core, over bare draws of the same total."""
    generator = np.random.default_rng(0)
    cases: list[tuple[str, Any, Draw, float]] = [
        ("Laplace", adversaries.laplace, generator.laplace, 1.8),
        ("randomized response", adversaries.randomized_response, generator.standard_normal, 1.0),
        ("Gaussian", adversaries.gaussian, generator.standard_normal, 1.0),
    ]
    for name, make, draw, target in cases:
        rule, family = make()
        play(rule, family, 1)  # compiles
        total = TRIALS * ROUNDS
        ratio, ours, theirs = alternately(
            partial(play, rule, family, TRIALS), partial(bare, draw, total)
        )
        detail = {"rounds_per_second": total / ours, "draws_per_second": total / theirs}
        unit = f"x bare {draw.__name__} draws"
        yield Line(f"compiled rule, {name}", ratio, unit, target, detail=detail)


def two_jobs() -> Iterator[Line]:
    """Wall time of one job over that of two."""
    rule, family = adversaries.laplace()
    play(rule, family, 1)
    trials = 10 * TRIALS
    cores = []

    def two() -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        play(rule, family, trials, 2)
        cores.append((time.process_time() - cpu) / (time.perf_counter() - wall))

    ratio, together, alone = alternately(
        two, partial(play, rule, family, trials, 1), repeats=7, clock=time.perf_counter
    )
    # Below two cores the machine was busy with something else, and the ratio shows that.
    detail = {
        "seconds_two_jobs": together,
        "seconds_one_job": alone,
        "cores_that_two_jobs_got": statistics.median(cores),
    }
    yield Line("two jobs", ratio, "x one job", 1.8, detail=detail)


def overhead() -> Iterator[Line]:
    """Share of a run of some ten seconds that is not spent inside of blocks."""
    rule, family = adversaries.laplace()
    play(rule, family, 1)
    rate = play(rule, family, TRIALS).rounds_per_second
    trials = int(10.0 * rate / ROUNDS)
    inside = 0.0
    original = Player.__call__

    def timed(self: Player, *block: Any) -> Any:
        nonlocal inside
        start = time.perf_counter()
        outcome = original(self, *block)
        inside += time.perf_counter() - start
        return outcome

    with patch.object(Player, "__call__", timed):
        start = time.perf_counter()
        play(rule, family, trials)
        total = time.perf_counter() - start
    yield Line(
        "runner's overhead", 100.0 * (1.0 - inside / total), "% of a run", 5.0, at_least=False,
        detail={"seconds": total},
    )  # fmt: skip


COMPILE = """
import json
from experiments.benchmarks import adversaries
from simulator import simulate
rule, family = adversaries.laplace()
print(json.dumps(simulate(rule, family, 10, 10, jobs=1, progress=False).compile_seconds))
"""


def compilation() -> Iterator[Line]:
    """Seconds to compile a new rule in a new process, the import of numba included."""
    times = [float(fresh(COMPILE)) for _ in range(3)]
    yield Line("compilation of a rule", statistics.median(times), "s", 5.0, at_least=False)


def generator_adversary() -> Iterator[Line]:
    """Rounds a second of processor time of a generator adversary."""
    trials = 5_000
    rates = []
    for _ in range(5):
        start = time.process_time()
        play(adversaries.press_when_ahead, adversaries.PURE, trials)
        rates.append(trials * ROUNDS / (time.process_time() - start))
    yield Line("generator adversary", statistics.median(rates), "rounds/s per core", 300_000.0)


BENCHMARKS = (against_bare_draws, two_jobs, overhead, compilation, generator_adversary)
