"""Play blocks on the workers of a cluster: the size of a task, and the loss of a worker."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from typing import Any, Protocol

from simulator.engine.block import Outcome
from simulator.engine.outcomes.tally import Tally
from simulator.foundations.errors import InvalidInput
from simulator.runner.clusters.task import TaskOutcome
from simulator.runner.gathering import Key
from simulator.runner.lost import ClusterLost, WorkerLost, died_twice
from simulator.runner.worker import Player, one_line

TASK_SECONDS = 2.0
"""The aimed duration of a task: far longer than sending it, and short enough to lose."""

TASK_BYTES = 1 << 20
"""The aimed size of a task's outcomes, unless a single block is larger."""

TASKS_PER_SLOT = 2
"""Tasks sent per slot: one is played while the next one waits."""

POLL_SECONDS = 1.0
"""Seconds between two queries for the workers, and of one wait for a task."""

PATIENCE = 30.0
"""Seconds without a worker after which a cluster is lost; restarting one takes a few."""


class GivenUp:
    """The outcome of a task whose workers died, as often as the cluster retries it."""


Ended = tuple[Any, TaskOutcome | GivenUp]
"""A task, and its outcome."""


class Cluster(Protocol):
    """Workers on other machines that play tasks; ``submit`` returns the name of a task."""

    def require_workers(self) -> None:
        """Wait for a worker for a limited time; raise InvalidInput if there is none."""

    def slots(self) -> int:
        """Return how many tasks can be played at once now, at least 1."""

    def submit(self, play: Player, keys: tuple[Key, ...]) -> Any:
        """Send a task, and return its name. Raises ClusterLost."""

    def finished(self) -> Collection[Ended]:
        """Wait for tasks to end, and return those that have. Raises ClusterLost."""

    def forget(self, tasks: Iterable[Any]) -> None:
        """Cancel tasks, without waiting for them to end."""


class Slots:
    """How many tasks the workers of a cluster play at once; ``query`` is called once per second."""

    def __init__(self, cluster: str, query: Callable[[], int]) -> None:
        self.cluster = cluster
        self.query = query
        self.count = 0
        self.last_query = self.last_worker = time.monotonic()

    def now(self) -> int:
        """The number, at least 1; raises ClusterLost after PATIENCE seconds without a worker."""
        now = time.monotonic()
        if not self.count or now - self.last_query > POLL_SECONDS:
            self.count, self.last_query = self.query(), now
        if self.count:
            self.last_worker = now
        elif now - self.last_worker > PATIENCE:
            raise ClusterLost(f"{self.cluster} has had no workers for {PATIENCE:g} seconds")
        return max(1, self.count)


class TaskSize:
    """How many blocks a task has, from the duration and the size of earlier ones.

    No result depends on it: each block has its own seed and record.
    """

    def __init__(self) -> None:
        self.blocks = 1

    def measure(self, played: TaskOutcome) -> None:
        """Update the number by a task that was played."""
        count = len(played.outcomes)
        seconds = max(played.seconds / count, 1e-6)
        bytes_ = max(size_of(outcome) for outcome in played.outcomes)
        fitting = min(TASK_SECONDS / seconds, TASK_BYTES / bytes_)
        # grow by steps: the first blocks may have been faster than others
        self.blocks = max(1, min(int(fitting), 4 * self.blocks))

    def next(self, left: int, slots: int) -> int:
        """How many blocks to send, when ``left`` are left; the last are divided among slots."""
        return max(1, min(self.blocks, math.ceil(left / (TASKS_PER_SLOT * slots))))


def size_of(outcome: Outcome | Tally) -> int:
    """The bytes of an outcome's arrays, approximately."""
    if isinstance(outcome, Tally):
        return sum(array.nbytes for array in outcome.arrays().values())
    arrays = (outcome.losses, outcome.trace, outcome.log_weights)
    answers = sum(len(view.answers) for view in outcome.views)
    return 8 * answers + sum(array.nbytes for array in arrays if array is not None)


def cluster_outcomes(
    cluster: Cluster, play: Player, keys: Sequence[Key]
) -> Generator[Outcome | Tally, None, None]:
    """Play the blocks on a cluster and yield them as they finish.

    The cluster retries a task whose worker died. The blocks of a task that it gives up are played
    at the end, one at a time, so that a block that kills its workers is identified, and the others
    are played. Raises WorkerLost for that block, and the errors of workers. Closing the iterator
    cancels the tasks.
    """
    left = deque(keys)
    suspects: list[Key] = []
    under_way: dict[Any, tuple[Key, ...]] = {}
    size = TaskSize()
    try:
        while left or under_way:
            slots = cluster.slots()
            while left and len(under_way) < TASKS_PER_SLOT * slots:
                blocks = tuple(left.popleft() for _ in range(size.next(len(left), slots)))
                under_way[cluster.submit(play, blocks)] = blocks
            for task, ended in cluster.finished():
                blocks = under_way.pop(task)
                if isinstance(ended, GivenUp):
                    suspects.extend(blocks)
                    continue
                yield from ended.outcomes
                if ended.error is not None:
                    raise ended.error
                size.measure(ended)
        fatal: list[WorkerLost] = []
        for key in suspects:
            try:
                yield alone_on(cluster, play, key, under_way)
            except WorkerLost as lost:  # raised when the other suspects are played
                fatal.append(lost)
        if fatal:
            raise fatal[0]
    finally:
        cluster.forget(under_way)


def alone_on(
    cluster: Cluster, play: Player, key: Key, under_way: dict[Any, tuple[Key, ...]]
) -> Outcome | Tally:
    """Play one block while no other is played; raise WorkerLost if its workers die again."""
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


def cannot_play(error: BaseException) -> InvalidInput:
    """The error for a worker that cannot begin, from the first cause of its error."""
    while error.__cause__ is not None:
        error = error.__cause__
    return InvalidInput(
        f"a worker of the cluster cannot play ({one_line(error)}): give every worker the "
        "environment of this process"
    )
