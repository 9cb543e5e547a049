"""A pool of workers that plays blocks: threads, processes or a cluster's, and what dies of them.

Blocks of compiled rules go to threads, for their kernels release the interpreter lock, blocks of
generators to processes; ``joblib.parallel_config`` may name another backend.
"""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from typing import Any

import joblib
from joblib.externals.loky import BrokenProcessPool

from simulator.engine.block import Outcome, Specification, prepared_engine
from simulator.engine.outcomes.tally import Tally
from simulator.engine.specification import RULE_BLOCK_ROUNDS
from simulator.foundations.errors import InvalidInput
from simulator.runner.clusters.cluster import Cluster, cluster_outcomes, died_twice
from simulator.runner.clusters.dask_cluster import DaskCluster
from simulator.runner.clusters.ray_cluster import RayCluster
from simulator.runner.gathering import Key
from simulator.runner.interruption import shielded
from simulator.runner.lifetime import bound_to_this_process, stop_idle_workers
from simulator.runner.memory import WORKER_BYTES, affordable
from simulator.runner.worker import Player

WORTH_A_WORKER = 1 << 18
"""Rounds that are played sooner than a worker process starts."""


CLUSTERS: dict[str, Callable[[Any], Cluster]] = {"dask": DaskCluster, "ray": RayCluster}
"""joblib's backends that are clusters, by the names under which they are registered."""

ROOM = 4
"""Finished blocks that may wait to be taken, for each worker thread."""


def workers(jobs: int | None, rounds: int) -> int:
    """How many workers to play ``rounds`` rounds with: asked for, configured, or every core."""
    if jobs is None:
        # parallel_config's number, which a Parallel that prefers threads would pass over
        jobs = joblib.parallel.get_active_backend()[1]
    if jobs is None:
        jobs = joblib.cpu_count() if rounds > WORTH_A_WORKER else 1
    return joblib.cpu_count() if jobs == -1 else jobs


def cluster(jobs: int | None) -> Cluster | None:
    """The cluster that ``parallel_config`` names, if one; ``jobs=1`` plays here all the same."""
    backend, _ = joblib.parallel.get_active_backend()
    connect = None if jobs == 1 else kind_of_cluster(backend)
    return None if connect is None else connect(backend)


def kind_of_cluster(backend: Any) -> Callable[[Any], Cluster] | None:
    """What plays on the cluster of a joblib backend; None for one of this machine."""
    for name, connect in CLUSTERS.items():
        kind = joblib.parallel.BACKENDS.get(name)
        if kind is not None and isinstance(backend, kind):
            return connect
    return None


def require_workers(jobs: int | None) -> None:
    """Raise InvalidInput where ``parallel_config`` names a cluster that has no workers."""
    if (chosen := cluster(jobs)) is not None:
        chosen.require_workers()


def crowded(specification: Specification, jobs: int | None, blocks: int) -> str:
    """One line where the memory is too small for ``jobs`` worker processes; else empty."""
    asked = min(workers(jobs, specification.rounds * specification.trials), blocks)
    fitting = affordable(asked)
    if jobs is None or fitting >= asked or not own_processes(preference(specification)):
        return ""
    return (
        f"started {fitting} of {asked} workers: there is no memory for more, at "
        f"{WORKER_BYTES // 10**6} MB each"
    )


def preference(specification: Specification) -> str:
    """What a specification is played in: threads where its rule is compiled, or processes."""
    engine = prepared_engine(specification)
    if engine is not None and not engine.complaint:
        return "threads"
    try:
        joblib.parallel.get_active_backend(prefer="processes")
    except ValueError:  # ``parallel_config(require="sharedmem")`` rules them out
        return "threads"
    return "processes"


def own_processes(preferred: str) -> bool:
    """Whether joblib's active backend would start processes of its own on this machine."""
    backend, _ = joblib.parallel.get_active_backend(prefer=preferred)
    return isinstance(backend, joblib.parallel.BACKENDS["loky"])


def outcomes(
    specification: Specification, keys: Sequence[Key], jobs: int | None
) -> Generator[Outcome | Tally, None, None]:
    """Play the blocks and yield them as they finish, on ``jobs`` workers or on a cluster's.

    A worker that dies costs its blocks in flight once; one block that kills its worker again and
    again costs no other. Raises WorkerLost for that block, and ClusterLost.
    """
    play = Player(specification)
    chosen = cluster(jobs) if keys else None
    if chosen is None:
        rounds = specification.rounds * sum(specification.trials_in(block) for _, block in keys)
        yield from pool_outcomes(play, keys, max(1, min(workers(jobs, rounds), len(keys))))
        return
    play.pickled  # noqa: B018 (raises here, and not from inside of a cluster's client)
    chosen.require_workers()
    yield from cluster_outcomes(chosen, play, keys)


def pool_outcomes(
    play: Player, keys: Sequence[Key], jobs: int
) -> Generator[Outcome | Tally, None, None]:
    """Play the blocks with ``jobs`` workers of this machine and yield them as they finish.

    A worker that dies takes its pool with it. Every block that was in flight is then played once
    more, alone, so that a block that kills its worker again is known for it and costs no other.
    Raises WorkerLost for that block.
    """
    left = dict.fromkeys(keys)
    while left:
        in_flight: dict[Key, None] = {}
        try:
            with contextlib.closing(parallel(play, list(left), jobs, in_flight)) as played:
                for outcome in played:
                    del left[outcome.experiment, outcome.block]
                    yield outcome
        except BrokenProcessPool:
            for key in [key for key in left if key in in_flight]:
                yield alone(play, key, jobs)
                del left[key]


def alone(play: Player, key: Key, jobs: int) -> Outcome | Tally:
    """Play one block in a worker of its own; raise WorkerLost when it dies."""
    try:
        (outcome,) = parallel(play, [key], jobs, {})
    except BrokenProcessPool:
        raise died_twice(key) from None
    return outcome


def parallel(
    play: Player, keys: Collection[Key], jobs: int, in_flight: dict[Key, None]
) -> Generator[Outcome | Tally, None, None]:
    """Yield the blocks of one joblib pool as they finish; ``in_flight`` notes what was begun.

    ``parallel_config`` may name the backend. Closing the iterator stops the workers.
    """
    s = play.specification
    preferred = preference(s)
    backend, _ = joblib.parallel.get_active_backend(prefer=preferred)
    generates = getattr(backend, "supports_return_generator", False)
    # jobs=1 plays here: a cluster's backend would pass it over, and another one refuse it
    here = {"backend": "threading" if preferred == "threads" else "loky"}
    own = own_processes(preferred)
    if own and len(keys) > 1:  # a single block is played apart because it may kill its worker
        jobs = affordable(jobs)
    if jobs > 1 and not generates:
        raise InvalidInput(
            f"joblib's {type(backend).__name__} cannot hand over blocks as they finish; "
            "name another backend, such as loky or threading"
        )
    processes = jobs > 1 and not getattr(backend, "supports_sharedmem", False)
    if processes:
        play.pickled  # noqa: B018 (raises here, and not from inside of a pool)

    # Threads may be faster than what is done with their blocks, and joblib hands out the next one
    # whether the last was taken or not: they wait, lest the memory fill with finished blocks.
    room = threading.Semaphore(ROOM * jobs)

    def play_with_room(b: int, block: int) -> Outcome | Tally:
        room.acquire()  # given back where the block is taken
        return play(b, block)

    def tasks() -> Iterator[Any]:
        for key in keys:
            in_flight[key] = None
            yield joblib.delayed(play if processes else play_with_room)(*key)

    # A kernel in the main thread would not hear Ctrl-C before its block ends: where a single
    # trial is long, a lone job gets a thread of its own, one block at a time.
    aside = jobs == 1 and preferred == "threads" and s.rounds > RULE_BLOCK_ROUNDS
    pool = joblib.Parallel(
        n_jobs=2 if aside else jobs,
        pre_dispatch=1 if aside else "2 * n_jobs",
        prefer=preferred,
        return_as="generator_unordered",
        batch_size=1,
        **(here if kind_of_cluster(backend) or not generates else {}),
        **(bound_to_this_process() if own and jobs > 1 else {}),
    )
    with contextlib.ExitStack() as ending:
        with shielded() if processes else contextlib.nullcontext():
            finished = pool(tasks())
            if own and jobs > 1:
                ending.callback(stop_idle_workers)
            ending.callback(stop, finished)
            ending.callback(room.release, len(keys))
        for outcome in finished:
            room.release()
            yield outcome


def stop(finished: Generator[Outcome | Tally, None, None]) -> None:
    """Stop a pool's workers, be there work left or not."""
    with warnings.catch_warnings():  # joblib warns of work left over, which is the intention
        warnings.simplefilter("ignore")
        finished.close()
