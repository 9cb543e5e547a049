"""A Ray cluster that ``joblib.parallel_config("ray")`` names, once Ray has registered itself.

The tasks go to Ray directly. joblib's backend for Ray is a pool that returns everything at the end,
and waits for ever when a worker dies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Any

from simulator.foundations.errors import InvalidInput
from simulator.runner.clusters.cluster import (
    A_LOOK,
    ClusterLost,
    Ended,
    GivenUp,
    Slots,
    cannot_play,
)
from simulator.runner.clusters.task import TaskOutcome, play_blocks
from simulator.runner.gathering import Key
from simulator.runner.store.provenance import fingerprint_of_program
from simulator.runner.worker import Player, one_line

RETRIES = 2
"""How often a task whose worker died goes to another one."""


class RayCluster:
    """Plays tasks on a Ray cluster; ``backend`` is joblib's, with the options of its tasks."""

    def __init__(self, backend: Any) -> None:
        import ray

        self.ray = ray
        if not ray.is_initialized():
            ray.init()  # as the backend would: RAY_ADDRESS names a cluster
        options = {"num_cpus": 1, "max_retries": RETRIES} | (backend.ray_remote_args or {})
        self.play_blocks = ray.remote(play_blocks).options(**options)
        self.under_way: list[Any] = []
        self.sent: dict[int, Any] = {}
        self.cores = Slots("the Ray cluster", self.look)

    def require_workers(self) -> None:
        """Raise InvalidInput where the cluster has no cores."""
        if not self.look():
            raise InvalidInput("the Ray cluster has no cores to play on: start some workers")

    def slots(self) -> int:
        """How many cores the nodes have between them."""
        return self.cores.now()

    def look(self) -> int:
        """Ask Ray for the cores."""
        try:
            return int(self.ray.cluster_resources().get("CPU", 0))
        except Exception as error:
            raise gone(error) from None

    def submit(self, play: Player, keys: tuple[Key, ...]) -> Any:
        """Send a task out."""
        try:
            if id(play) not in self.sent:
                self.sent[id(play)] = self.ray.put(play)
            task = self.play_blocks.remote(self.sent[id(play)], keys, fingerprint_of_program())
        except Exception as error:
            raise gone(error) from None
        self.under_way.append(task)
        return task

    def finished(self) -> Collection[Ended]:
        """Every task that has ended since the last call, or after a while none."""
        try:
            first, others = self.ray.wait(self.under_way, timeout=A_LOOK)
            more, _ = (
                self.ray.wait(others, num_returns=len(others), timeout=0) if others else ([], 0)
            )
        except Exception as error:
            raise gone(error) from None
        if not first:
            self.slots()
        ended = [*first, *more]
        self.under_way = [task for task in self.under_way if task not in ended]
        return [(task, self.judged(task)) for task in ended]

    def judged(self, task: Any) -> TaskOutcome | GivenUp:
        """What came of a task; raises what is no result and no dead worker."""
        errors = self.ray.exceptions
        try:
            played: TaskOutcome = self.ray.get(task)
        except (
            errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError,
            errors.LocalRayletDiedError, errors.ObjectLostError,
        ):  # fmt: skip
            return GivenUp()
        except (errors.RayTaskError, errors.RaySystemError) as error:
            raise cannot_play(error) from None
        except Exception as error:
            raise gone(error) from None
        return played

    def forget(self, tasks: Iterable[Any]) -> None:
        """Cancel tasks, those that are being played too."""
        for task in list(tasks):
            with suppress(Exception):
                self.ray.cancel(task, force=True)
        self.under_way = []


def gone(error: Exception) -> ClusterLost:
    """The error for a cluster that does not answer."""
    return ClusterLost(f"the Ray cluster is gone ({one_line(error)})")
