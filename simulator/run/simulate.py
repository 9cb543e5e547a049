"""Play experiments over blocks in parallel: resume, progress, interruption, lost workers.

The only importer of joblib. Blocks of compiled rules go to threads, for their kernels release the
interpreter lock, blocks of generators to processes; ``joblib.parallel_config`` may name another
backend. A result depends on the specification alone, whatever the number of jobs, the order in
which blocks finish, or an interruption in between.
"""

from __future__ import annotations

import contextlib
import operator
import time
import warnings
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from os import PathLike
from typing import Any

import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError

from simulator.adversaries.contract import Rule
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.declared import require_declared
from simulator.errors import Breach, DpcomposeError, InvalidInput
from simulator.play.block import Outcome, Specification, prepared_engine
from simulator.play.sampling import Sampling
from simulator.play.specification import RULE_BLOCK_ROUNDS
from simulator.play.stored import stored_outcome
from simulator.result import Result
from simulator.run.gathering import Gathered, Key
from simulator.run.interruption import shielded
from simulator.run.progress import Progress
from simulator.run.worker import Player, one_line
from simulator.store import RunStore
from simulator.theory.filters import Filter
from simulator.theory.guarantees import Guarantee
from simulator.validation import whole

WORTH_A_WORKER = 1 << 16
"""Rounds that are played sooner than a worker process starts."""


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
    sampling: Sampling | None = None,
    filter: Filter | None = None,
    out: str | PathLike[str] | None = None,
    progress: bool | None = None,
    trust: bool = True,
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
    jobs : parallel workers, -1 for every core; by default what ``joblib.parallel_config`` says,
        or every core.
    keep_views : keep the views of the first so many trials, for ``result.replay``.
    trace : record the moments of the loss along the rounds, for ``result.moments``.
    block_size : trials that share one seed, part of the identity; 0 chooses it.
    sampling : ``Tilted(theta)`` or a steered measure to draw from when large losses are rare;
        the estimates are then weighted. None draws from the experiments themselves.
    filter : a privacy filter that is asked before every query. A query that it refuses is not
        run, costs nothing, and is answered NaN.
    out : a folder to keep every finished block in, and to resume from. ``trials`` and
        ``keep_views`` may be raised when a run is resumed: only the blocks that the larger run
        lacks are played, and the result is that of one larger run.
    progress : whether to show a bar; by default where standard error is a terminal.
    trust : whether to believe the likelihoods that mechanisms declare. With False every distinct
        challenge that was met, and every entry of a rule's menu, is held against fresh draws
        (:func:`simulator.declared.examine`); a true likelihood is blamed with probability 1e-6 at
        most in the whole play.

    Raises
    ------
    InvalidInput : a parameter makes no sense, or the adversary cannot be sent to a process.
    Breach : the adversary broke the rules; names the round, the trial and the values.
    WorkerLost : a worker process died twice while it played the same block.
    FalseLikelihood : ``trust`` is False, and a mechanism draws otherwise than it declares.

    Source: Roth 2011 (Lecture 4), Algorithm 1.
    """
    specification = Specification(
        adversary, family, rounds, trials, seed, relation=relation, block_size=block_size,
        keep_views=keep_views, trace=trace, sampling=sampling, filter=filter,
        trust=bool(trust),
    )  # fmt: skip
    played = checked_experiments(experiments)
    checked_jobs(jobs)
    if out is None:
        result = run(specification, played, jobs, None, progress)
    else:
        with RunStore.open(out, specification.identity(), specification.goal()) as store:
            result = run(specification, played, jobs, store, progress)
    require_declared(result.challenges, relation, specification.seed)
    return result


def checked_experiments(experiments: Iterable[int]) -> tuple[int, ...]:
    """Return the experiments in order, each once; raise InvalidInput unless some of 0 and 1."""
    try:
        chosen = tuple(sorted({operator.index(b) for b in experiments}))
    except TypeError:
        chosen = ()
    if not chosen or not {0, 1}.issuperset(chosen):
        raise InvalidInput(f"experiments must be some of 0 and 1, as (0, 1), not {experiments!r}")
    return chosen


def checked_jobs(jobs: int | None) -> None:
    """Raise InvalidInput unless ``jobs`` is a number of workers, -1 or None."""
    if jobs is not None and jobs != -1:
        whole("jobs", jobs)


def run(
    specification: Specification,
    experiments: Sequence[int],
    jobs: int | None = None,
    store: RunStore | None = None,
    progress: bool | None = None,
) -> Result:
    """Play the blocks of a specification that ``store`` does not hold yet, and gather them all."""
    s = specification
    s.require_unchanged()
    gathered = Gathered(s, experiments)
    with Progress(progress) as bar:
        if store is not None:
            if store.dropped:
                bar.notice(store.dropped)
            restore(store, gathered)
            if gathered.keys and not s.trust and not s.is_rule:
                raise InvalidInput(
                    f"{store.folder} does not keep which challenges were met: play with "
                    "trust=True, or name another folder"
                )
        missing = gathered.missing()
        compile_seconds = compiled(s, bar) if missing else 0.0
        total = s.trials * s.rounds * len(gathered.experiments)
        left = sum(s.trials_in(block) for _, block in missing) * s.rounds
        bar.playing(s.name, total, total - left)
        doubts: dict[str, str] = {}
        start = time.perf_counter()
        with contextlib.closing(outcomes(s, missing, workers(jobs, left))) as played:
            for outcome in played:
                gathered.add(outcome)
                if outcome.doubt:
                    doubts.setdefault(outcome.doubt.partition(":")[0], outcome.doubt)
                if store is not None:
                    store.append(outcome.experiment, outcome.block, outcome.arrays())
                bar.played(len(outcome.losses) * s.rounds)
        seconds = time.perf_counter() - start
        for line in doubts.values():
            bar.notice(line)
    return gathered.result(seconds, compile_seconds, left)


def restore(store: RunStore, gathered: Gathered) -> None:
    """Gather the stored blocks; those that the goal has outgrown are to be played anew.

    Raises InvalidInput for a block that the specification cannot have left.
    """
    for experiment, block, arrays, _ in store.read():
        try:
            outcome = stored_outcome(gathered.specification, experiment, block, arrays)
        except InvalidInput as error:
            raise InvalidInput(f"{store.folder}: {error}; name another folder") from None
        if outcome is None:
            store.outgrow(experiment, block)
        else:
            gathered.add(outcome)


def compiled(specification: Specification, bar: Progress) -> float:
    """Compile the adversary where it is a rule; return the seconds it took."""
    s = specification
    if not isinstance(s.adversary, Rule):
        return 0.0
    bar.compiling(s.name)
    start = time.perf_counter()
    try:
        engine = prepared_engine(s)
    except (DpcomposeError, KeyboardInterrupt):
        raise
    except BaseException as error:  # the step is anybody's code
        complaint = f"{s.name} raised {one_line(error)} when asked for its first move"
        raise Breach(complaint) from error
    bar.compiled()
    if engine is not None and engine.complaint:
        bar.notice(engine.complaint)
    return time.perf_counter() - start


def workers(jobs: int | None, rounds: int) -> int:
    """How many workers to play ``rounds`` rounds with: asked for, configured, or every core."""
    if jobs is None:
        # parallel_config's number, which a Parallel that prefers threads would pass over
        jobs = joblib.parallel.get_active_backend()[1]
    if jobs is None:
        jobs = joblib.cpu_count() if rounds > WORTH_A_WORKER else 1
    return joblib.cpu_count() if jobs == -1 else jobs


def outcomes(
    specification: Specification, keys: Sequence[Key], jobs: int
) -> Generator[Outcome, None, None]:
    """Play the blocks with ``jobs`` workers and yield them as they finish.

    A worker that dies takes its pool with it. Every block that was in flight is then played once
    more, alone, so that a block that kills its worker again is known for it and costs no other.
    Raises WorkerLost for that block.
    """
    play = Player(specification)
    left = dict.fromkeys(keys)
    while left:
        in_flight: dict[Key, None] = {}
        try:
            with contextlib.closing(parallel(play, list(left), jobs, in_flight)) as played:
                for outcome in played:
                    del left[outcome.experiment, outcome.block]
                    yield outcome
        except TerminatedWorkerError:
            for key in [key for key in left if key in in_flight]:
                yield alone(play, key, jobs)
                del left[key]


def alone(play: Player, key: Key, jobs: int) -> Outcome:
    """Play one block in a worker of its own; raise WorkerLost when it dies."""
    try:
        (outcome,) = parallel(play, [key], jobs, {})
    except TerminatedWorkerError:
        raise WorkerLost(
            f"a worker died twice while playing experiment {key[0]}, block {key[1]}; "
            "it may be out of memory: try fewer jobs, or a smaller block_size"
        ) from None
    return outcome


def parallel(
    play: Player, keys: Collection[Key], jobs: int, in_flight: dict[Key, None]
) -> Generator[Outcome, None, None]:
    """Yield the blocks of one joblib pool as they finish; ``in_flight`` notes what was begun.

    ``parallel_config`` may name the backend. Closing the iterator stops the workers.
    """
    s = play.specification
    engine = prepared_engine(s)
    threads = engine is not None and not engine.complaint
    preference = "threads" if threads else "processes"
    backend, _ = joblib.parallel.get_active_backend(prefer=preference)
    if jobs > 1 and not getattr(backend, "supports_return_generator", False):
        raise InvalidInput(
            f"joblib's {type(backend).__name__} cannot hand over blocks as they finish; "
            "name another backend, such as loky or threading"
        )
    processes = jobs > 1 and not getattr(backend, "supports_sharedmem", False)
    if processes:
        play.pickled  # noqa: B018 (raises here, and not from inside of a pool)

    def tasks() -> Iterator[Any]:
        for key in keys:
            in_flight[key] = None
            yield joblib.delayed(play)(*key)

    # A kernel in the main thread would not hear Ctrl-C before its block ends: where a single
    # trial is long, a lone job gets a thread of its own, one block at a time.
    aside = jobs == 1 and threads and s.rounds > RULE_BLOCK_ROUNDS
    pool = joblib.Parallel(
        n_jobs=2 if aside else jobs,
        pre_dispatch=1 if aside else "2 * n_jobs",
        prefer=preference,
        return_as="generator_unordered",
        batch_size=1,
    )
    with contextlib.ExitStack() as ending:
        with shielded() if processes else contextlib.nullcontext():
            finished = pool(tasks())
            ending.callback(stop, finished)
        for outcome in finished:  # noqa: UP028 ("yield from" would close it before "stop" does)
            yield outcome


def stop(finished: Generator[Outcome, None, None]) -> None:
    """Stop a pool's workers, be there work left or not."""
    with warnings.catch_warnings():  # joblib warns of work left over, which is the intention
        warnings.simplefilter("ignore")
        finished.close()
