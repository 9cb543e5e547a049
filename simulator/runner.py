"""Play experiments over blocks in parallel: resume, progress, interruption, lost workers.

The only importer of joblib. Blocks of compiled rules go to threads, for their kernels release the
interpreter lock, blocks of generators to processes; ``joblib.parallel_config`` may name another
backend. A result depends on the specification alone, whatever the number of jobs, the order in
which blocks finish, or an interruption in between.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from typing import Any

import joblib
import numpy as np
from joblib.externals.loky.process_executor import TerminatedWorkerError

from simulator.adversaries.contract import Rule
from simulator.databases import ADD_REMOVE, Relation
from simulator.errors import DpcomposeError, InvalidInput
from simulator.experiment import Outcome, Specification, engine_for, play_block
from simulator.progress import Progress
from simulator.result import Result
from simulator.store import RunStore
from simulator.theory.guarantees import Guarantee
from simulator.validation import whole
from simulator.views import View

Key = tuple[int, int]
"""(experiment, block)."""


class WorkerLost(DpcomposeError):
    """A block whose worker died twice."""

    exit_code = 1


def simulate(
    adversary: Callable[..., Any],
    family: Guarantee,
    rounds: int,
    trials: int,
    *,
    seed: int = 0,
    relation: Relation = ADD_REMOVE,
    experiments: Sequence[int] = (0, 1),
    jobs: int | None = None,
    keep_views: int = 0,
    trace: bool = False,
    block_size: int = 0,
    out: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> Result:
    """Play Compose(adversary, family, rounds, b) for b = 0 and 1, ``trials`` times each.

    Parameters
    ----------
    adversary : a generator function ``answer = yield database_0, database_1, mechanism`` that
        receives its coins, or a :class:`~simulator.adversaries.contract.Rule`.
    family : the class the mechanisms must belong to, e.g. ``PureDP(0.2)``.
    rounds, trials : k, and how often each experiment is played.
    seed : the root seed; results are a function of it and of the other parameters above.
    relation : ``ADD_REMOVE`` or ``REPLACE_ONE``.
    experiments : which of 0 and 1 to play.
    jobs : parallel workers; by default what ``joblib.parallel_config`` says, or every core.
    keep_views : keep the views of the first so many trials, for ``result.replay``.
    trace : record the moments of the loss along the rounds, for ``result.moments``.
    block_size : trials that share one seed, part of the identity; 0 chooses it.
    out : a folder to keep every finished block in, and to resume from.
    progress : whether to show a bar; by default where standard error is a terminal.

    Raises
    ------
    InvalidInput : a parameter makes no sense.
    Breach : the adversary broke the rules; names the round, the trial and the values.

    Source: Roth 2011 (Lecture 4), Algorithm 1.
    """
    specification = Specification(
        adversary, family, rounds, trials, seed, relation, block_size, keep_views, trace
    )
    if not experiments or any(b not in (0, 1) for b in experiments):
        raise InvalidInput(f"experiments must be some of 0 and 1, not {tuple(experiments)}")
    if jobs is not None and jobs != -1:
        whole("jobs", jobs)
    if out is None:
        return run(specification, experiments, jobs, None, progress)
    with RunStore.open(out, specification.identity()) as store:
        return run(specification, experiments, jobs, store, progress)


def run(
    specification: Specification,
    experiments: Sequence[int],
    jobs: int | None = None,
    store: RunStore | None = None,
    progress: bool | None = None,
) -> Result:
    """Play the blocks of a specification that ``store`` does not hold yet, and gather them all."""
    s = specification
    gathered = Gathered(s, experiments)
    with Progress(progress) as bar:
        if store is not None:
            if store.dropped:
                bar.notice(store.dropped)
            for stored in store.read():
                experiment, block, arrays, _ = stored
                gathered.add(Outcome.of_arrays(experiment, block, arrays))
        compile_seconds = compiled(s, bar)
        missing = [
            (b, block)
            for block in range(s.blocks)
            for b in sorted(set(experiments))
            if (b, block) not in gathered.keys
        ]
        total = s.trials * s.rounds * len(set(experiments))
        left = sum(s.trials_in(block) for _, block in missing) * s.rounds
        bar.playing(s.name, total, total - left)
        start = time.perf_counter()
        for outcome in outcomes(s, missing, jobs):
            gathered.add(outcome)
            if store is not None:
                store.append(outcome.experiment, outcome.block, outcome.arrays())
            bar.played(len(outcome.losses) * s.rounds)
        seconds = time.perf_counter() - start
    return gathered.result(seconds, compile_seconds)


def compiled(specification: Specification, bar: Progress) -> float:
    """Compile the adversary where it is a rule; return the seconds it took."""
    s = specification
    if not isinstance(s.adversary, Rule):
        return 0.0
    bar.compiling(s.name)
    start = time.perf_counter()
    engine = engine_for(s.adversary, s.family, s.relation)
    bar.compiled()
    if engine.complaint:
        bar.notice(engine.complaint)
    return time.perf_counter() - start


def outcomes(
    specification: Specification, keys: Sequence[Key], jobs: int | None
) -> Iterator[Outcome]:
    """Play the blocks in parallel and yield them as they finish.

    A worker that dies takes the pool with it: the blocks that were in flight are played once
    more in a new pool. Raises WorkerLost when a block was in flight twice.
    """
    attempts = dict.fromkeys(keys, 0)
    left = list(keys)
    while left:
        in_flight: set[Key] = set()

        def tasks(todo: Sequence[Key], flying: set[Key]) -> Iterable[Any]:
            for key in todo:
                flying.add(key)
                yield joblib.delayed(play_block)(specification, *key)

        try:
            for outcome in pool(specification, jobs)(tasks(tuple(left), in_flight)):
                key = (outcome.experiment, outcome.block)
                in_flight.discard(key)
                left.remove(key)
                yield outcome
        except TerminatedWorkerError:
            for key in in_flight:
                attempts[key] += 1
                if attempts[key] > 1:
                    raise WorkerLost(
                        f"a worker died twice while playing experiment {key[0]}, block {key[1]}; "
                        "it may be out of memory: try fewer jobs"
                    ) from None


def pool(specification: Specification, jobs: int | None) -> joblib.Parallel:
    """A joblib pool fit for the specification; ``parallel_config`` overrides the backend."""
    s = specification
    threads = isinstance(s.adversary, Rule) and not (
        engine_for(s.adversary, s.family, s.relation).complaint
    )
    configured = joblib.parallel.get_active_backend()[1]
    if jobs is None and configured in (None, 1):
        jobs = os.cpu_count() or 1
    return joblib.Parallel(
        n_jobs=jobs,
        prefer="threads" if threads else "processes",
        return_as="generator_unordered",
        batch_size=1,
    )


class Gathered:
    """Blocks added up in whatever order they come; the sum does not depend on it."""

    def __init__(self, specification: Specification, experiments: Sequence[int]) -> None:
        s = specification
        self.specification = s
        self.keys: set[Key] = set()
        self.samples = {b: np.empty(s.trials) for b in sorted(set(experiments))}
        self.traces: dict[Key, np.ndarray] = {}
        self.views: list[View] = []

    def add(self, outcome: Outcome) -> None:
        """Put one block in its place; a block of an experiment not asked for is passed over."""
        if outcome.experiment not in self.samples:
            return
        start = outcome.block * self.specification.block_size
        self.samples[outcome.experiment][start : start + len(outcome.losses)] = outcome.losses
        if outcome.trace is not None:
            self.traces[outcome.experiment, outcome.block] = outcome.trace
        self.views.extend(outcome.views)
        self.keys.add((outcome.experiment, outcome.block))

    def result(self, seconds: float, compile_seconds: float) -> Result:
        """The whole, traces summed in the order of the blocks so that rounding repeats."""
        traces: dict[int, np.ndarray] = {}
        for b, block in sorted(self.traces):
            traces[b] = traces.get(b, 0.0) + self.traces[b, block]
        return Result(
            self.specification,
            self.samples,
            traces,
            tuple(self.views),
            seconds,
            compile_seconds,
        )
