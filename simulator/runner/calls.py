"""Many independent calls on one pool of workers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Literal, TypeVar

import joblib

from simulator.foundations.children import guarded
from simulator.foundations.errors import DpcomposeError
from simulator.runner.interruption import shielded
from simulator.runner.lifetime import bound_to_this_process, stop_idle_workers
from simulator.runner.lost import WorkerLost
from simulator.runner.memory import affordable
from simulator.runner.pool import has_processes, kind_of_cluster, own_processes, stop

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Kind = Literal["threads", "processes"]


def calls(
    function: Callable[[Item], Answer], items: Sequence[Item], jobs: int, kind: Kind
) -> Generator[tuple[int, Answer | DpcomposeError], None, None]:
    """Yield (place, ``function(item)``) of each item as it is done, on ``jobs`` workers.

    The function has to return its errors. Where a worker dies, the items that were begun are called
    again, one at a time; one that kills its worker again has WorkerLost as its answer. Within
    ``joblib.parallel_config`` another backend, such as a cluster's, makes the calls.
    """
    left = dict.fromkeys(range(len(items)))
    while left:
        begun: dict[int, None] = {}
        try:
            for place, answer in _pool(function, items, list(left), begun, jobs=jobs, kind=kind):
                del left[place]
                yield place, answer
        except BrokenProcessPool:
            for place in [place for place in left if place in begun]:
                del left[place]
                try:
                    yield from _pool(function, items, [place], {}, jobs=2, kind=kind)
                except BrokenProcessPool:
                    yield place, WorkerLost("a worker died twice in this task: out of memory?")


def _pool(
    function: Callable[[Item], Answer],
    items: Sequence[Item],
    places: Sequence[int],
    begun: dict[int, None],
    *,
    jobs: int,
    kind: Kind,
) -> Generator[tuple[int, Answer], None, None]:
    def tasks() -> Iterator[Any]:
        for place in places:
            begun[place] = None
            yield joblib.delayed(_placed)(function, place, items[place])

    kind = kind if has_processes() else "threads"
    backend, _ = joblib.parallel.get_active_backend(prefer=kind)
    own = own_processes(kind) and kind_of_cluster(backend) is None
    if own and jobs > 1:
        jobs = affordable(jobs)
    streams = backend.supports_return_generator  # a Ray cluster returns all answers at the end
    pool = joblib.Parallel(
        n_jobs=jobs,
        prefer=kind,
        return_as="generator_unordered" if streams else "list",
        batch_size=1,
        **(bound_to_this_process() if own and jobs > 1 else {}),
    )
    with contextlib.ExitStack() as ending:
        ending.enter_context(guarded())
        with shielded() if own and jobs > 1 else contextlib.nullcontext():
            finished = pool(tasks())
            if own and jobs > 1:
                ending.callback(stop_idle_workers)
            if streams:
                ending.callback(stop, finished)
        yield from finished


def _placed(function: Callable[[Item], Answer], place: int, item: Item) -> tuple[int, Answer]:
    return place, function(item)
