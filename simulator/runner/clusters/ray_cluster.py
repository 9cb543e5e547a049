"""The Ray cluster of ``joblib.parallel_config("ray")``, after Ray's ``register_ray()``.

Tasks are sent to Ray directly. joblib's backend for Ray is a pool that returns all results at the
end, and does not return when a worker dies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Any

from simulator.foundations.errors import InvalidInput
from simulator.runner.clusters.cluster import (
    POLL_SECONDS,
    Ended,
    GivenUp,
    Slots,
    cannot_play,
)
from simulator.runner.clusters.task import TaskOutcome, play_blocks
from simulator.runner.gathering import Key
from simulator.runner.lost import ClusterLost
from simulator.runner.store.provenance import fingerprint_of_program
from simulator.runner.worker import Player, one_line

RETRIES = 2
"""How often a task whose worker died is sent to another one."""


class RayCluster:
    """Plays tasks on a Ray cluster; joblib's ``backend`` has the options of its tasks."""

    def __init__(self, backend: Any) -> None:
        import ray

        self.ray = ray
        if not ray.is_initialized():
            ray.init()  # as the backend does; RAY_ADDRESS may name a cluster
        options = {"num_cpus": 1, "max_retries": RETRIES} | (backend.ray_remote_args or {})
        self.play_blocks = ray.remote(play_blocks).options(**options)
        self.under_way: list[Any] = []
        self.sent: dict[int, Any] = {}
        self.cores = Slots("the Ray cluster", self.query)

    def require_workers(self) -> None:
        """Raise InvalidInput if the cluster has no cores."""
        if not self.query():
            raise InvalidInput("the Ray cluster has no cores to play on: start some workers")

    def slots(self) -> int:
        """Return the number of cores of all nodes."""
        return self.cores.now()

    def query(self) -> int:
        """Return the number of cores that Ray has."""
        try:
            return int(self.ray.cluster_resources().get("CPU", 0))
        except Exception as error:
            raise lost(error) from None

    def submit(self, play: Player, keys: tuple[Key, ...]) -> Any:
        """Send a task, and return it."""
        try:
            if id(play) not in self.sent:
                self.sent[id(play)] = self.ray.put(play)
            task = self.play_blocks.remote(self.sent[id(play)], keys, fingerprint_of_program())
        except Exception as error:
            raise lost(error) from None
        self.under_way.append(task)
        return task

    def finished(self) -> Collection[Ended]:
        """Return the tasks that have ended since the last call, after POLL_SECONDS perhaps none."""
        try:
            first, others = self.ray.wait(self.under_way, timeout=POLL_SECONDS)
            more, _ = (
                self.ray.wait(others, num_returns=len(others), timeout=0) if others else ([], 0)
            )
        except Exception as error:
            raise lost(error) from None
        if not first:
            self.slots()
        ended = [*first, *more]
        self.under_way = [task for task in self.under_way if task not in ended]
        return [(task, self.outcome_of(task)) for task in ended]

    def outcome_of(self, task: Any) -> TaskOutcome | GivenUp:
        """Return the outcome of a task; raise other errors than a dead worker's."""
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
            raise lost(error) from None
        return played

    def forget(self, tasks: Iterable[Any]) -> None:
        """Cancel tasks, also those that are being played."""
        for task in list(tasks):
            with suppress(Exception):
                self.ray.cancel(task, force=True)
        self.under_way = []


def lost(error: Exception) -> ClusterLost:
    """The error for a cluster that is lost."""
    return ClusterLost(f"the Ray cluster is gone ({one_line(error)})")
