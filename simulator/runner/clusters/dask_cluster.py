"""The Dask cluster of ``joblib.parallel_config("dask")``.

Tasks are sent by its client. joblib's backend would wait forever for a task whose workers died, and
would return the error of a lost scheduler as a result.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import queue
import socket
from collections.abc import Collection, Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import joblib

from simulator.foundations.errors import InvalidInput
from simulator.foundations.strangers import from_json, read_text
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

CONNECT_SECONDS = 10.0
"""Seconds to wait for a scheduler."""


@contextlib.contextmanager
def dask_cluster(address: str) -> Iterator[None]:
    """Play on the cluster of a Dask scheduler: ``tcp://host:8786``, or a scheduler file.

    Raises InvalidInput if Dask is not installed, or no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise InvalidInput("Dask is not installed: pip install 'dpcompose[dask]'") from None
    # a lost scheduler is reported by ClusterLost, in one line
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    found = require_listener(address)
    try:
        asyncio.run(require_scheduler(found))
        client = Client(found, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # the network, the address, or a scheduler of another version
        silent = isinstance(error, TimeoutError) and not str(error)
        why = f"silent for {CONNECT_SECONDS:g} seconds" if silent else one_line(error)
        raise no_scheduler(address, why) from None
    try:
        with joblib.parallel_config("dask", client=client):
            yield
    finally:
        client.close(timeout=1)


def require_listener(address: str) -> str:
    """The scheduler's address; raises InvalidInput if its port refuses connections.

    The client would retry a refused connection until its timeout.
    """
    try:
        found = address
        if os.path.exists(address):
            found = from_json(read_text(address), address, exact=False)["address"]
        parts = urlsplit(found if "://" in found else f"tcp://{found}")
        host, port = parts.hostname, parts.port
    except (OSError, ValueError, KeyError, TypeError):
        raise InvalidInput(
            f"{address} is neither a scheduler file nor the address of a scheduler"
        ) from None
    if parts.scheme in ("tcp", "tls"):  # the client checks other schemes
        if not host or not port:
            raise InvalidInput(
                f"{address!r} is neither a scheduler file nor an address such as tcp://host:8786"
            )
        try:
            socket.create_connection((host, port), timeout=CONNECT_SECONDS).close()
        except OSError as error:
            raise no_scheduler(address, error.strerror or str(error)) from None
    return str(found)


async def require_scheduler(address: str) -> None:
    """Raise an error unless a scheduler accepts a connection.

    The client would wait forever for an answer, and log errors when it is closed.
    """
    from distributed.comm import connect
    from distributed.security import Security

    secured = Security().get_connection_args("client")
    comm = await asyncio.wait_for(
        connect(address, timeout=CONNECT_SECONDS, **secured), CONNECT_SECONDS
    )
    comm.abort()


def no_scheduler(address: str, why: str) -> InvalidInput:
    """The error for an address without a scheduler."""
    return InvalidInput(
        f"no Dask scheduler answers at {address} ({why}); start one with `dask scheduler`"
    )


class DaskCluster:
    """Plays tasks on the workers of a Dask client, which joblib's ``backend`` has."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self.client = backend.client
        self.address = getattr(self.client.scheduler, "address", "an unknown address")
        self.futures: dict[str, Any] = {}
        self.ended: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self.threads = Slots(f"the Dask cluster at {self.address}", self.query)

    def require_workers(self) -> None:
        """Wait for a worker as joblib does, so that an adaptive cluster starts one."""
        try:
            self.backend.effective_n_jobs(-1)
        except TimeoutError:
            raise InvalidInput(
                f"the Dask cluster at {self.address} has no workers, and none joined within "
                f"{self.backend.wait_for_workers_timeout:g} seconds: start some with "
                f"`dask worker {self.address}`"
            ) from None
        except Exception as error:
            raise self.lost(one_line(error)) from None

    def slots(self) -> int:
        """Return the number of threads of all workers."""
        return self.threads.now()

    def query(self) -> int:
        """Return the number of the workers' threads that the scheduler has."""
        if self.client.status != "running":
            raise self.lost(f"its client is {self.client.status}")
        try:
            return sum(self.client.nthreads().values())
        except Exception as error:  # whatever a closed connection raises
            raise self.lost(one_line(error)) from None

    def submit(self, play: Player, keys: tuple[Key, ...]) -> str:
        """Send a task, and return its name; on the dashboard it begins with dpcompose."""
        name = f"dpcompose-{uuid4().hex}"
        try:
            future = self.client.submit(
                play_blocks, play, keys, fingerprint_of_program(), key=name, pure=False,
                **self.backend.submit_kwargs,
            )  # fmt: skip
        except Exception as error:
            raise self.lost(one_line(error)) from None
        self.futures[name] = future
        self.client.loop.add_callback(self.collect, name, future)
        return name

    async def collect(self, name: str, future: Any) -> None:
        """Wait for the outcome of a task, in the client's thread."""
        try:
            ended = await future
        except BaseException as error:  # CancelledError is not an Exception
            ended = error
        self.ended.put((name, ended))

    def finished(self) -> Collection[Ended]:
        """Return the tasks that have ended since the last call, after POLL_SECONDS perhaps none."""
        found = []
        try:
            found.append(self.ended.get(timeout=POLL_SECONDS))
            while True:
                found.append(self.ended.get_nowait())
        except queue.Empty:
            pass
        if not found:
            self.slots()
        return [
            (name, self.outcome_of(ended)) for name, ended in found if self.futures.pop(name, None)
        ]

    def outcome_of(self, ended: Any) -> TaskOutcome | GivenUp:
        """Return the outcome of a task; raise other errors than a dead worker's."""
        from distributed import CancelledError, KilledWorker

        if isinstance(ended, TaskOutcome):
            return ended
        if isinstance(ended, KilledWorker):
            return GivenUp()
        if isinstance(ended, CancelledError):
            raise self.lost("its tasks were cancelled")
        raise cannot_play(ended)

    def forget(self, tasks: Iterable[str]) -> None:
        """Release tasks: the scheduler cancels those without a client."""
        for name in list(tasks):
            if future := self.futures.pop(name, None):
                future.release()

    def lost(self, why: str) -> ClusterLost:
        """The error for a scheduler that is lost."""
        return ClusterLost(f"the Dask scheduler at {self.address} is gone ({why})")
