"""A pool of workers that plays blocks: threads, processes, or the workers of a cluster.

Blocks of a compiled adversary are played in threads, because kernels release the interpreter lock,
and blocks in Python in processes; ``joblib.parallel_config`` may name another backend. joblib is
imported where it is used: one worker needs none, and a tenth of a second is much for a small play.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
import warnings
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any

from simulator.engine.block import Outcome, Specification, plays_without_lock
from simulator.engine.outcomes.tally import Tally
from simulator.engine.specification import LARGE_BLOCK_ROUNDS
from simulator.foundations.children import guarded
from simulator.foundations.errors import InvalidInput
from simulator.runner.gathering import Key
from simulator.runner.interruption import shielded
from simulator.runner.lifetime import bound_to_this_process, stop_idle_workers
from simulator.runner.lost import died_twice
from simulator.runner.memory import WORKER_BYTES, affordable
from simulator.runner.worker import Player

if TYPE_CHECKING:
    from simulator.runner.clusters.cluster import Cluster

WORTH_A_WORKER = 1 << 18
"""Up to so many rounds are played faster than a worker process starts."""

CLUSTERS = {
    "dask": "simulator.runner.clusters.dask_cluster:DaskCluster",
    "ray": "simulator.runner.clusters.ray_cluster:RayCluster",
}
"""Where the classes for joblib's backends that are clusters are, by their registered names."""

QUEUED_BLOCKS = 4
"""The largest number of finished blocks that wait to be stored, per worker thread."""


def workers(jobs: int | None, rounds: int) -> int:
    """How many workers play ``rounds`` rounds: ``jobs``, as configured, or one per core."""
    if jobs is None:
        import joblib

        # the number of parallel_config, which a Parallel that prefers threads ignores
        jobs = joblib.parallel.get_active_backend()[1]
    if jobs is None:
        jobs = cores() if rounds > WORTH_A_WORKER else 1
    return cores() if jobs == -1 else jobs


def cores() -> int:
    """How many cores there are, by joblib; raises InvalidInput where a limit is no number."""
    import joblib

    from simulator.foundations.surroundings import CORES, require_whole  # not for one process

    require_whole([CORES])

    count: int = joblib.cpu_count()
    return count


def cluster(jobs: int | None) -> Cluster | None:
    """The cluster of ``parallel_config``, or None; ``jobs=1`` plays in this process."""
    if jobs == 1:
        return None
    import joblib

    backend, _ = joblib.parallel.get_active_backend()
    place = kind_of_cluster(backend)
    if place is None:
        return None
    module, _, name = place.partition(":")
    connect: Callable[[Any], Cluster] = getattr(importlib.import_module(module), name)
    return connect(backend)


def kind_of_cluster(backend: Any) -> str | None:
    """Where the class for the cluster of a joblib backend is, or None for another backend."""
    import joblib

    for name, place in CLUSTERS.items():
        kind = joblib.parallel.BACKENDS.get(name)
        if kind is not None and isinstance(backend, kind):
            return place
    return None


def require_workers(jobs: int | None) -> None:
    """Raise InvalidInput if the cluster of ``parallel_config`` has no workers."""
    if (chosen := cluster(jobs)) is not None:
        chosen.require_workers()


def crowded(specification: Specification, jobs: int | None, blocks: int) -> str:
    """A line if the memory is too small for ``jobs`` worker processes, else ""."""
    wanted = min(workers(jobs, specification.rounds * specification.trials), blocks)
    fitting = affordable(wanted)
    if jobs is None or fitting >= wanted or not own_processes(preference(specification)):
        return ""
    return (
        f"started {fitting} of {wanted} workers: there is no memory for more, at "
        f"{WORKER_BYTES // 10**6} MB each"
    )


def preference(specification: Specification) -> str:
    """The kind of workers: threads if the adversary is compiled, or processes."""
    if plays_without_lock(specification):
        return "threads"
    import joblib

    try:
        joblib.parallel.get_active_backend(prefer="processes")
    except (ValueError, KeyError):  # parallel_config(require="sharedmem") excludes them
        return "threads"
    return "processes" if has_processes() else "threads"


def has_processes() -> bool:
    """Whether processes can be started here: a plain container may have no semaphores."""
    import joblib

    return "loky" in joblib.parallel.BACKENDS


def own_processes(preferred: str) -> bool:
    """Whether joblib's active backend would start processes on this machine."""
    import joblib

    backend, _ = joblib.parallel.get_active_backend(prefer=preferred)
    return has_processes() and isinstance(backend, joblib.parallel.BACKENDS["loky"])


def outcomes(
    specification: Specification, keys: Sequence[Key], jobs: int | None
) -> Generator[Outcome | Tally, None, None]:
    """Play the blocks on ``jobs`` workers or on a cluster, and yield them as they finish.

    The blocks of a worker that dies are played again. Raises WorkerLost for a block that kills its
    worker twice, and ClusterLost.
    """
    play = Player(specification)
    chosen = cluster(jobs) if keys else None
    if chosen is None:
        rounds = specification.rounds * sum(specification.trials_in(block) for _, block in keys)
        yield from pool_outcomes(play, keys, max(1, min(workers(jobs, rounds), len(keys))))
        return
    play.pickled  # noqa: B018 (raises here rather than in the client of a cluster)
    chosen.require_workers()
    from simulator.runner.clusters.cluster import cluster_outcomes  # few plays are on a cluster

    yield from cluster_outcomes(chosen, play, keys)


def pool_outcomes(
    play: Player, keys: Sequence[Key], jobs: int
) -> Generator[Outcome | Tally, None, None]:
    """Play the blocks with ``jobs`` workers of this machine, and yield them as they finish.

    The death of a worker breaks its pool. Every block that was in flight is then played again, one
    at a time, so that a block that kills its worker again is identified. Raises WorkerLost for it.
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
    """Play one block in a pool of its own; raise WorkerLost if its worker dies."""
    try:
        (outcome,) = parallel(play, [key], jobs, {})
    except BrokenProcessPool:
        raise died_twice(key) from None
    return outcome


def parallel(
    play: Player, keys: Collection[Key], jobs: int, in_flight: dict[Key, None]
) -> Generator[Outcome | Tally, None, None]:
    """Play blocks in one joblib pool, and yield them as they finish.

    Blocks that were begun are added to ``in_flight``. ``parallel_config`` may name the backend.
    Closing the iterator stops the workers.
    """
    s = play.specification
    # A kernel in the main thread delays Ctrl-C to the end of its block: if a trial is long, a
    # single job is played in another thread, one block at a time.
    long = s.rounds > LARGE_BLOCK_ROUNDS
    if jobs == 1 and not long:
        yield from one_by_one(play, keys, in_flight)
        return
    import joblib

    preferred = preference(s)
    backend, _ = joblib.parallel.get_active_backend(prefer=preferred)
    generates = getattr(backend, "supports_return_generator", False)
    # for jobs=1: a cluster's backend would ignore it, and another one might refuse it
    local = {"backend": "threading" if preferred == "threads" else "loky"}
    own = own_processes(preferred)
    if own and len(keys) > 1:  # a single block may have killed its worker: it needs a process
        jobs = affordable(jobs)
    if jobs > 1 and not generates:
        raise InvalidInput(
            f"joblib's {type(backend).__name__} does not return blocks as they finish; "
            "name another backend, such as loky or threading"
        )
    processes = jobs > 1 and not getattr(backend, "supports_sharedmem", False)
    if processes:
        play.pickled  # noqa: B018 (raises here rather than in the pool)

    in_thread = jobs == 1 and preferred == "threads" and long
    if jobs == 1 and not in_thread:
        yield from one_by_one(play, keys, in_flight)
        return

    # Threads may play blocks faster than these are stored, and joblib would queue them without
    # limit: the threads wait, to bound the memory.
    room = threading.Semaphore(QUEUED_BLOCKS * jobs)

    def play_with_room(b: int, block: int) -> Outcome | Tally:
        room.acquire()  # released when the block is yielded
        return play(b, block)

    def tasks() -> Iterator[Any]:
        for key in keys:
            in_flight[key] = None
            yield joblib.delayed(play if processes else play_with_room)(*key)

    pool = joblib.Parallel(
        n_jobs=2 if in_thread else jobs,
        pre_dispatch=1 if in_thread else "2 * n_jobs",
        prefer=preferred,
        return_as="generator_unordered",
        batch_size=1,
        **(local if kind_of_cluster(backend) or not generates else {}),
        **(bound_to_this_process() if own and jobs > 1 else {}),
    )
    with contextlib.ExitStack() as ending:
        ending.enter_context(guarded())
        with shielded() if processes else contextlib.nullcontext():
            finished = pool(tasks())
            if own and jobs > 1:
                ending.callback(stop_idle_workers)
            ending.callback(stop, finished)
            ending.callback(room.release, len(keys))
        for outcome in finished:
            room.release()
            yield outcome


def one_by_one(
    play: Player, keys: Collection[Key], in_flight: dict[Key, None]
) -> Generator[Outcome | Tally, None, None]:
    """Play blocks in this thread, as they are taken; those begun are added to ``in_flight``."""
    for key in keys:
        in_flight[key] = None
        yield play(*key)


def stop(finished: Generator[Outcome | Tally, None, None]) -> None:
    """Stop a pool's workers."""
    with warnings.catch_warnings():  # joblib warns of unfinished tasks
        warnings.simplefilter("ignore")
        finished.close()
