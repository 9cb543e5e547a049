"""Blocks on the workers of a cluster: how many go into a task, and what a lost worker costs."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from typing import Any, Protocol

from simulator.engine.block import Outcome
from simulator.engine.outcomes.tally import Tally
from simulator.foundations.errors import DpcomposeError, InvalidInput
from simulator.runner.clusters.task import TaskOutcome
from simulator.runner.gathering import Key
from simulator.runner.worker import Player, one_line

TASK_SECONDS = 2.0
"""A task should last so long: far longer than it takes to send one, and short enough to lose."""

TASK_BYTES = 1 << 20
"""What a task sends back should not be more than that, unless a single block is."""

TASKS_PER_SLOT = 2
"""One is played while the next one is already there."""

A_LOOK = 1.0
"""Seconds between two looks at which workers there are."""

PATIENCE = 30.0
"""Seconds without any worker in the middle of a play: one that is started anew takes a few."""


class WorkerLost(DpcomposeError):
    """A block whose worker died twice."""

    exit_code = 4


class ClusterLost(DpcomposeError):
    """A cluster whose scheduler or whose workers have all gone away."""

    exit_code = 4


class GivenUp:
    """What is left of a task whose workers died, as often as the cluster sends one out."""


Ended = tuple[Any, TaskOutcome | GivenUp]
"""A task, and what came of it."""


class Cluster(Protocol):
    """Workers elsewhere that play tasks. A task is named by whatever ``submit`` returns."""

    def require_workers(self) -> None:
        """Wait for a worker, a short while; raise InvalidInput when none comes."""

    def slots(self) -> int:
        """How many tasks are played at once, at this moment; at least 1."""

    def submit(self, play: Player, keys: tuple[Key, ...]) -> Any:
        """Send a task out. Raises ClusterLost."""

    def finished(self) -> Collection[Ended]:
        """Wait for tasks to end. Raises ClusterLost when that cannot happen any more."""

    def forget(self, tasks: Iterable[Any]) -> None:
        """Cancel tasks without waiting for anything."""


class Slots:
    """How many tasks the workers of a cluster play at once; asked for once in a second."""

    def __init__(self, cluster: str, ask: Callable[[], int]) -> None:
        self.cluster = cluster
        self.ask = ask
        self.count = 0
        self.looked = self.seen = time.monotonic()

    def now(self) -> int:
        """The number as of the last look, at least 1; raises ClusterLost after long without any."""
        now = time.monotonic()
        if not self.count or now - self.looked > A_LOOK:
            self.count, self.looked = self.ask(), now
        if self.count:
            self.seen = now
        elif now - self.seen > PATIENCE:
            raise ClusterLost(f"{self.cluster} has had no workers for {PATIENCE:g} seconds")
        return max(1, self.count)


class TaskSize:
    """How many blocks go into a task, from how long the last ones took and how large they were.

    No result depends on it: blocks are what is seeded, stored and added up.
    """

    def __init__(self) -> None:
        self.blocks = 1

    def measure(self, played: TaskOutcome) -> None:
        """Take note of a task that was played."""
        count = len(played.outcomes)
        seconds = max(played.seconds / count, 1e-6)
        bytes_ = max(size_of(outcome) for outcome in played.outcomes)
        fitting = min(TASK_SECONDS / seconds, TASK_BYTES / bytes_)
        # a first block that happened to be quick must not send hundreds to one worker
        self.blocks = max(1, min(int(fitting), 4 * self.blocks))

    def next(self, left: int, slots: int) -> int:
        """How many blocks to send now, when ``left`` are left: at the end all slots have some."""
        return max(1, min(self.blocks, math.ceil(left / (TASKS_PER_SLOT * slots))))


def size_of(outcome: Outcome | Tally) -> int:
    """The bytes of an outcome's arrays, near enough."""
    if isinstance(outcome, Tally):
        return sum(array.nbytes for array in outcome.arrays().values())
    arrays = (outcome.losses, outcome.trace, outcome.log_weights)
    answers = sum(len(view.answers) for view in outcome.views)
    return 8 * answers + sum(array.nbytes for array in arrays if array is not None)


def cluster_outcomes(
    cluster: Cluster, play: Player, keys: Sequence[Key]
) -> Generator[Outcome | Tally, None, None]:
    """Play the blocks on a cluster and yield them as they finish.

    The cluster sends a task whose worker died to another worker, some times. A task that it gives
    up is taken apart when all else is played, and each of its blocks is played alone, so that one
    that kills its workers is known for it and costs no other. Raises WorkerLost for that block,
    and what was raised in a worker. Closing the iterator cancels what is under way.
    """
    left = deque(keys)
    suspects: list[Key] = []
    under_way: dict[Any, tuple[Key, ...]] = {}
    size = TaskSize()
    try:
        while left or under_way:
            slots = cluster.slots()
            while left and len(under_way) < TASKS_PER_SLOT * slots:
                some = tuple(left.popleft() for _ in range(size.next(len(left), slots)))
                under_way[cluster.submit(play, some)] = some
            for task, ended in cluster.finished():
                some = under_way.pop(task)
                if isinstance(ended, GivenUp):
                    suspects.extend(some)
                    continue
                yield from ended.outcomes
                if ended.error is not None:
                    raise ended.error
                size.measure(ended)
        fatal: list[WorkerLost] = []
        for key in suspects:
            try:
                yield alone_on(cluster, play, key, under_way)
            except WorkerLost as lost:  # those that were with it are played first
                fatal.append(lost)
        if fatal:
            raise fatal[0]
    finally:
        cluster.forget(under_way)


def alone_on(
    cluster: Cluster, play: Player, key: Key, under_way: dict[Any, tuple[Key, ...]]
) -> Outcome | Tally:
    """Play one block while no other is played; raise WorkerLost when its workers die again."""
    sent = cluster.submit(play, (key,))
    under_way[sent] = (key,)
    ended = None
    while ended is None:
        ended = dict(cluster.finished()).get(sent)
    del under_way[sent]
    if isinstance(ended, GivenUp):
        raise died_twice(key)
    if ended.error is not None:
        raise ended.error
    (outcome,) = ended.outcomes
    return outcome


def died_twice(key: Key) -> WorkerLost:
    """The error that names a block."""
    return WorkerLost(
        f"a worker died twice while playing experiment {key[0]}, block {key[1]}; "
        "it may be out of memory: try fewer jobs, or a smaller block_size"
    )


def cannot_play(error: BaseException) -> InvalidInput:
    """The error for a worker that cannot even begin, by the cause of all causes."""
    while error.__cause__ is not None:
        error = error.__cause__
    return InvalidInput(
        f"a worker of the cluster cannot play ({one_line(error)}): give every worker the "
        "environment of this process"
    )
