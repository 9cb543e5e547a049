"""How many trials fit into a time: settled by plays of their own, before the first one counts.

Were the blocks counted that happen to be over when the time is, a block whose losses make it slow
would be the one that is missing: the sample would lean towards quick plays. So speed is measured
on held-out draws, a number of trials is fixed from it, and all of them are played, however long
that takes. Given that number the sample has a fixed size, and every interval holds as it stands.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike

from simulator.engine.block import Specification
from simulator.engine.outcomes.bins import MOST as MOST_COUNTED
from simulator.foundations.errors import Breach, InvalidInput
from simulator.foundations.files import folder_path
from simulator.foundations.stages import stage
from simulator.runner.gathering import Key
from simulator.runner.pool import outcomes
from simulator.runner.store import RunStore

HELD_OUT = 1 << 97
"""Added to the seed of plays that only measure speed."""

ALONE, TOGETHER = 0.02, 0.06
"""The shares of the time for which one worker is timed, and then all of them."""
EACH = 8
"""The blocks that each worker then plays."""
KEPT_BACK = 0.1
"""The share of what is left that is not planned for: machines have other work as well."""
STEP = 16
"""The next play that is timed is at most so many times as long."""


def trials_that_fit(
    specification: Specification, experiments: Sequence[int], seconds: float, jobs: int
) -> int:
    """How many more trials of each experiment can be played in ``seconds``, at least 1.

    The specification's own trials are the most. What this takes is taken off the time, but for the
    start of the workers: a cluster's may load for longer than they are to play.
    """
    s, start = specification, time.perf_counter()
    pace, trials = 0.0, 1
    with stage("measuring the speed"), contextlib.suppress(Breach):  # the run will tell of it
        while True:
            pace, took = _pace_alone(s, experiments, trials)
            if took >= ALONE * seconds or trials >= min(s.trials, s.block_size):
                break
            wanted = math.ceil(min(s.trials, ALONE * seconds * pace))
            trials = min(max(trials + 1, min(STEP * trials, wanted)), s.trials, s.block_size)
        if jobs > 1 and took < TOGETHER * seconds and trials < s.trials:
            size = max(1, int(min(s.block_size, TOGETHER * seconds * pace / EACH)))
            pace, starting = _pace_together(s, experiments, size, jobs)
            start += starting
    left = max(0.0, seconds - (time.perf_counter() - start))
    return max(1, int(min(s.trials, pace * left * (1.0 - KEPT_BACK))))


def _pace_alone(s: Specification, experiments: Sequence[int], trials: int) -> tuple[float, float]:
    """Trials of each experiment in a second, played here, and the seconds that this took."""
    began = time.perf_counter()
    with contextlib.closing(outcomes(_held_out(s, trials, 1), _keys(experiments, 1), 1)) as played:
        for _ in played:
            pass
    took = max(time.perf_counter() - began, 1e-9)
    return trials / took, took


def _pace_together(
    s: Specification, experiments: Sequence[int], size: int, jobs: int
) -> tuple[float, float]:
    """Trials of each experiment in a second, played by all workers in blocks of that size.

    Returned beside the seconds that the workers took to start.

    Until each has handed over a block it may be starting, and is not timed. They play to the end:
    workers that are idle go on with the run, and others would have to start.
    """
    blocks = -(-EACH * jobs // len(experiments))
    held_out, keys = _held_out(s, size, blocks), _keys(experiments, blocks)
    began = time.perf_counter()
    with contextlib.closing(outcomes(held_out, keys, jobs)) as played:
        arrivals = [time.perf_counter() for _ in played]
    took = max(arrivals[-1] - arrivals[jobs - 1], 1e-9)
    return size * (len(keys) - jobs) / len(experiments) / took, arrivals[jobs - 1] - began


def _held_out(s: Specification, size: int, blocks: int) -> Specification:
    """The same play in blocks of that size, on draws of its own."""
    return replace(
        s, seed=s.seed + HELD_OUT, trials=(blocks + 1) * size, block_size=size, keep_views=0
    )


def _keys(experiments: Sequence[int], blocks: int) -> list[Key]:
    """So many blocks, from number 1 on: of block 0 some trials are played twice."""
    return [(b, block) for block in range(1, blocks + 1) for b in experiments]


def stored_trials(
    out: str | PathLike[str] | None, block_size: int, experiments: Sequence[int]
) -> tuple[int, int]:
    """How many trials of each experiment a folder holds, and how many it is to hold."""
    if out is None:
        return 0, 0
    folder = folder_path(out)
    try:
        with RunStore.load(folder) as store:
            goal, done = store.goal()["trials"], [b for b, _ in store.done()]
    except (InvalidInput, KeyError):  # no run yet; if it is a damaged one, opening it will tell
        return 0, 0
    return min(goal, min(map(done.count, experiments)) * block_size), goal


def most_trials(experiments: Sequence[int], counted: bool) -> int:
    """How many trials of each experiment to play at most.

    Where each loss is kept, what fills a quarter of this machine's memory.
    """
    if counted:
        return MOST_COUNTED
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, memory // (4 * 16 * len(experiments)))  # with their weights
