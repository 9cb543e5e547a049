"""How many trials fit into a time: decided by plays on other draws, before the run.

A run that stopped at a time would miss the blocks that are slow, and their losses: its sample would
be biased towards fast plays. Hence the speed is measured on held-out draws, the number of trials is
computed from it, and all of them are played, however long that takes. The size of the sample does
not depend on its losses, so every interval is valid.
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
"""Added to the seed of the plays that measure speed."""

SHARE_OF_ONE, SHARE_OF_ALL = 0.02, 0.06
"""The shares of the time in which one worker is timed, and then all workers."""
BLOCKS_EACH = 8
"""The blocks that each worker plays when all are timed."""
RESERVE = 0.1
"""The share of the remaining time that is not planned for."""
STEP = 16
"""A timed play is at most so many times as long as the one before."""


def trials_that_fit(
    specification: Specification, experiments: Sequence[int], seconds: float, jobs: int
) -> int:
    """How many more trials of each experiment can be played in ``seconds``, at least 1.

    At most the specification's trials. The time of measuring is subtracted, without that of
    starting the workers: those of a cluster may take longer to start than ``seconds``.
    """
    s, start = specification, time.perf_counter()
    pace, trials = 0.0, 1
    with stage("measuring the speed"), contextlib.suppress(Breach):  # the run raises it again
        while True:
            pace, took = _pace_alone(s, experiments, trials)
            if took >= SHARE_OF_ONE * seconds or trials >= min(s.trials, s.block_size):
                break
            wanted = math.ceil(min(s.trials, SHARE_OF_ONE * seconds * pace))
            trials = min(max(trials + 1, min(STEP * trials, wanted)), s.trials, s.block_size)
        if jobs > 1 and took < SHARE_OF_ALL * seconds and trials < s.trials:
            size = max(1, int(min(s.block_size, SHARE_OF_ALL * seconds * pace / BLOCKS_EACH)))
            pace, starting = _pace_together(s, experiments, size, jobs)
            start += starting
    left = max(0.0, seconds - (time.perf_counter() - start))
    return max(1, int(min(s.trials, pace * left * (1.0 - RESERVE))))


def _pace_alone(s: Specification, experiments: Sequence[int], trials: int) -> tuple[float, float]:
    """Trials of each experiment per second in this process, and the seconds of the play."""
    began = time.perf_counter()
    with contextlib.closing(outcomes(_held_out(s, trials, 1), _keys(experiments, 1), 1)) as played:
        for _ in played:
            pass
    took = max(time.perf_counter() - began, 1e-9)
    return trials / took, took


def _pace_together(
    s: Specification, experiments: Sequence[int], size: int, jobs: int
) -> tuple[float, float]:
    """Trials of each experiment per second with all workers, and the seconds of their start.

    Blocks have ``size`` trials. Time counts from the ``jobs``-th block on, when all workers have
    started. All blocks are played, so that the idle workers are reused by the run.
    """
    blocks = -(-BLOCKS_EACH * jobs // len(experiments))
    held_out, keys = _held_out(s, size, blocks), _keys(experiments, blocks)
    began = time.perf_counter()
    with contextlib.closing(outcomes(held_out, keys, jobs)) as played:
        arrivals = [time.perf_counter() for _ in played]
    took = max(arrivals[-1] - arrivals[jobs - 1], 1e-9)
    return size * (len(keys) - jobs) / len(experiments) / took, arrivals[jobs - 1] - began


def _held_out(s: Specification, size: int, blocks: int) -> Specification:
    """The specification with blocks of that size and other draws."""
    return replace(
        s, seed=s.seed + HELD_OUT, trials=(blocks + 1) * size, block_size=size, keep_views=0
    )


def _keys(experiments: Sequence[int], blocks: int) -> list[Key]:
    """Blocks from number 1 on: some trials of block 0 are played twice."""
    return [(b, block) for block in range(1, blocks + 1) for b in experiments]


def stored_trials(
    out: str | PathLike[str] | None, block_size: int, experiments: Sequence[int]
) -> tuple[int, int]:
    """The trials of each experiment in a folder, stored and intended."""
    if out is None:
        return 0, 0
    folder = folder_path(out)
    try:
        with RunStore.load(folder) as store:
            goal, done = store.goal()["trials"], [b for b, _ in store.done()]
    except (InvalidInput, KeyError):  # no run yet, or a damaged one: opening it raises the error
        return 0, 0
    return min(goal, min(map(done.count, experiments)) * block_size), goal


def most_trials(experiments: Sequence[int], counted: bool) -> int:
    """The largest number of trials of each experiment.

    If each loss is kept, they fill a quarter of this machine's memory.
    """
    if counted:
        return MOST_COUNTED
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, memory // (4 * 16 * len(experiments)))  # with their weights
