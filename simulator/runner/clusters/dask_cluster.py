"""A Dask cluster that ``joblib.parallel_config("dask")`` names.

The tasks go to its client directly. joblib's own backend never returns from a task whose workers
died, for it sets an error without calling back, and takes a scheduler that is gone for a result.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import queue
import socket
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import joblib

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

CONNECT_SECONDS = 10.0
"""How long a scheduler has to answer."""


@contextlib.contextmanager
def dask_cluster(address: str) -> Iterator[None]:
    """Play on the cluster of a Dask scheduler: ``tcp://host:8786``, or the scheduler's file.

    Raises InvalidInput where Dask is not installed, and where no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise InvalidInput("Dask is not installed: pip install 'dpcompose[dask]'") from None
    # what it logs of a scheduler that is gone, ClusterLost says in one line
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    found = require_listener(address)
    try:
        asyncio.run(require_scheduler(found))
        client = Client(found, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # of the network, of the address, of another version's scheduler
        silent = isinstance(error, TimeoutError) and not str(error)
        why = f"silent for {CONNECT_SECONDS:g} seconds" if silent else one_line(error)
        raise unanswered(address, why) from None
    try:
        with joblib.parallel_config("dask", client=client):
            yield
    finally:
        client.close(timeout=1)


def require_listener(address: str) -> str:
    """The scheduler's address; raises InvalidInput unless somebody listens there.

    What is refused at once the client would try again and again.
    """
    try:
        said = (
            json.loads(Path(address).read_text())["address"] if Path(address).is_file() else address
        )
        parts = urlsplit(said if "://" in said else f"tcp://{said}")
        host, port = parts.hostname, parts.port
    except (OSError, ValueError, KeyError, TypeError):
        raise InvalidInput(
            f"{address} is no scheduler file, and no address of a scheduler"
        ) from None
    if parts.scheme in ("tcp", "tls"):  # what else there is, the client knows
        if not host or not port:
            raise InvalidInput(
                f"no scheduler file {address!r}, and no address of a scheduler, as tcp://host:8786"
            )
        try:
            socket.create_connection((host, port), timeout=CONNECT_SECONDS).close()
        except OSError as error:
            raise unanswered(address, error.strerror or str(error)) from None
    return str(said)


async def require_scheduler(address: str) -> None:
    """Raise unless a scheduler shakes hands.

    Whom nobody answers the client waits for without end, and one that cannot begin complains of
    itself when it is let go.
    """
    from distributed.comm import connect
    from distributed.security import Security

    secured = Security().get_connection_args("client")
    comm = await asyncio.wait_for(
        connect(address, timeout=CONNECT_SECONDS, **secured), CONNECT_SECONDS
    )
    comm.abort()


def unanswered(address: str, why: str) -> InvalidInput:
    """The error for an address at which there is no scheduler."""
    return InvalidInput(
        f"no Dask scheduler answers at {address} ({why}); start one with `dask scheduler`"
    )


class DaskCluster:
    """Plays tasks on the workers of a Dask client; ``backend`` is joblib's, which holds it."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self.client = backend.client
        self.address = getattr(self.client.scheduler, "address", "an unknown address")
        self.futures: dict[str, Any] = {}
        self.ended: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self.threads = Slots(f"the Dask cluster at {self.address}", self.look)

    def require_workers(self) -> None:
        """Wait for a worker as joblib does, so that a cluster that adapts itself starts one."""
        try:
            self.backend.effective_n_jobs(-1)
        except TimeoutError:
            raise InvalidInput(
                f"the Dask cluster at {self.address} has no workers, and none came within "
                f"{self.backend.wait_for_workers_timeout:g} seconds: start some with "
                f"`dask worker {self.address}`"
            ) from None
        except Exception as error:
            raise self.gone(one_line(error)) from None

    def slots(self) -> int:
        """How many threads the workers have between them."""
        return self.threads.now()

    def look(self) -> int:
        """Ask the scheduler for the workers' threads."""
        if self.client.status != "running":
            raise self.gone(f"its client is {self.client.status}")
        try:
            return sum(self.client.nthreads().values())
        except Exception as error:  # whatever a closed connection raises
            raise self.gone(one_line(error)) from None

    def submit(self, play: Player, keys: tuple[Key, ...]) -> str:
        """Send a task out; its name on the dashboard is dpcompose."""
        name = f"dpcompose-{uuid4().hex}"
        try:
            future = self.client.submit(
                play_blocks, play, keys, fingerprint_of_program(), key=name, pure=False,
                **self.backend.submit_kwargs,
            )  # fmt: skip
        except Exception as error:
            raise self.gone(one_line(error)) from None
        self.futures[name] = future
        self.client.loop.add_callback(self.collect, name, future)
        return name

    async def collect(self, name: str, future: Any) -> None:
        """Wait, in the client's own thread, for what comes of a task."""
        try:
            ended = await future
        except BaseException as error:  # that of a cancelled task is no Exception
            ended = error
        self.ended.put((name, ended))

    def finished(self) -> Collection[Ended]:
        """Every task that has ended since the last call, or after a while none."""
        found = []
        try:
            found.append(self.ended.get(timeout=A_LOOK))
            while True:
                found.append(self.ended.get_nowait())
        except queue.Empty:
            pass
        if not found:
            self.slots()
        return [(name, self.judged(ended)) for name, ended in found if self.futures.pop(name, None)]

    def judged(self, ended: Any) -> TaskOutcome | GivenUp:
        """What came of a task; raises what is no result and no dead worker."""
        from distributed import CancelledError, KilledWorker

        if isinstance(ended, TaskOutcome):
            return ended
        if isinstance(ended, KilledWorker):
            return GivenUp()
        if isinstance(ended, CancelledError):
            raise self.gone("its tasks were cancelled")
        raise cannot_play(ended)

    def forget(self, tasks: Iterable[str]) -> None:
        """Let go of tasks: the scheduler then cancels those that nobody waits for."""
        for name in list(tasks):
            if future := self.futures.pop(name, None):
                future.release()

    def gone(self, why: str) -> ClusterLost:
        """The error for a scheduler that does not answer."""
        return ClusterLost(f"the Dask scheduler at {self.address} is gone ({why})")
