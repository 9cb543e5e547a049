"""Play experiments over blocks in parallel: resume, progress, interruption, lost workers.

A result depends on the specification alone, whatever the number of jobs, the order in which blocks
finish, or an interruption in between.
"""

from __future__ import annotations

import contextlib
import operator
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from simulator.adversaries.contract import Rule
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.declared import require_declared
from simulator.errors import Breach, DpcomposeError, InvalidInput
from simulator.play.block import Outcome, Specification, prepared_engine
from simulator.play.sampling import Sampling
from simulator.play.stored import stored_outcome, stored_tally
from simulator.play.tally import PLAIN, WEIGHTED, Tally, added
from simulator.result import Result
from simulator.run.cluster import ClusterLost
from simulator.run.fitting import most_trials, stored_trials, trials_that_fit
from simulator.run.gathering import Gathered, Key
from simulator.run.pool import WORTH_A_WORKER, crowded, outcomes, require_workers, workers
from simulator.run.progress import Progress
from simulator.run.worker import one_line
from simulator.store import RunStore
from simulator.store.log import Block
from simulator.theory.filters import Filter
from simulator.theory.guarantees import Guarantee
from simulator.validation import positive, whole

RULE_RATE, GENERATOR_RATE = 1e8, 3e5
"""Rounds per second and worker, about."""


def simulate(
    adversary: Callable[..., Any],
    family: Guarantee,
    rounds: int,
    trials: int | None = None,
    *,
    seconds: float | None = None,
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
    keep: str | None = None,
) -> Result:
    """Play Compose(adversary, family, rounds, b) for b = 0 and 1, ``trials`` times each.

    Parameters
    ----------
    adversary : a generator function ``answer = yield database_0, database_1, mechanism`` that
        receives its coins, or a :class:`~simulator.adversaries.contract.Rule`.
    family : the class the mechanisms must belong to, e.g. ``PureDP(0.2)``.
    rounds, trials : k, and how often each experiment is played.
    seconds : play as many trials as fit into this time, compiling and the start of workers not
        counted; ``trials``, where given, is the most. Their number is settled before the first one
        counts (:mod:`simulator.run.fitting`), and the result is that of a run with so many
        ``trials``.
        With ``out`` what fits is added to what is there. A quarter of the memory is the most that
        they take.
    seed : the root seed; results are a function of it and of the other parameters above.
    relation : ``ADD_REMOVE`` or ``REPLACE_ONE``.
    experiments : which of 0 and 1 to play.
    jobs : parallel workers, -1 for every core; by default what ``joblib.parallel_config`` says,
        or every core. Within ``parallel_config("dask")`` or ``("ray")`` the cluster plays, with
        all of its workers, unless ``jobs`` is 1.
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
    keep : "losses" keeps each of them, 8 bytes per trial. "summary" counts them in bins of four
        significant digits, so that memory does not grow with the trials; estimates say by how much
        that widens them, and ``result.losses()`` is refused. By default losses up to ten million
        trials and a summary beyond, with their weights where ``sampling`` has some. No number that
        is drawn depends on it, and a folder of losses may be gone on with as a summary.

    Raises
    ------
    InvalidInput : a parameter makes no sense, or the adversary cannot be sent to a process.
    Breach : the adversary broke the rules; names the round, the trial and the values.
    WorkerLost : a worker process died twice while it played the same block.
    ClusterLost : the scheduler of a cluster, or every worker, went away.
    FalseLikelihood : ``trust`` is False, and a mechanism draws otherwise than it declares.

    Source: Roth 2011 (Lecture 4), Algorithm 1.
    """
    if trials is None and seconds is None:
        raise InvalidInput("say how often to play with trials=, or for how long with seconds=")
    asked = checked_experiments(experiments)
    counted = keep != "losses"
    specification = Specification(
        adversary, family, rounds, most_trials(asked, counted) if trials is None else trials, seed,
        relation=relation, block_size=block_size, keep_views=keep_views, trace=trace,
        sampling=sampling, filter=filter, trust=bool(trust), keep=keep,
    )  # fmt: skip
    checked_jobs(jobs)
    require_workers(jobs)
    if seconds is not None:
        specification = fitted(specification, asked, jobs, out, progress, seconds=seconds)
    if out is None:
        result = run(specification, asked, jobs, None, progress)
    else:
        with opened(out, specification) as store:
            result = run(specification, asked, jobs, store, progress)
    require_declared(result.challenges, relation, specification.seed)
    return result


def opened(out: str | PathLike[str], specification: Specification) -> RunStore:
    """The folder of a run, to go on with; raises InvalidInput as ``RunStore.open`` does."""
    s = specification
    return RunStore.open(out, s.identity(), s.goal(), combine=added_records)


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
            restore(store, s, gathered.add)
            if not gathered.empty and not s.trust and not s.is_rule:
                raise InvalidInput(
                    f"{store.folder} does not keep which challenges were met: play with "
                    "trust=True, or name another folder"
                )
        missing = gathered.missing()
        compile_seconds = compiled(s, bar) if missing else 0.0
        left = sum(s.trials_in(block) for _, block in missing) * s.rounds
        if line := crowded(s, jobs, len(missing)):
            bar.notice(line)
        if line := lengthy(s, jobs, left):
            bar.notice(line)
        total = s.trials * s.rounds * len(gathered.experiments)
        bar.playing(s.name, total, total - left)
        start = time.perf_counter()
        with contextlib.closing(played(s, missing, jobs, store, bar)) as outcomes_of_blocks:
            for outcome in outcomes_of_blocks:
                gathered.add(outcome)
        seconds = time.perf_counter() - start
    return gathered.result(seconds, compile_seconds, left)


def fitted(
    specification: Specification,
    experiments: Sequence[int],
    jobs: int | None,
    out: str | PathLike[str] | None,
    progress: bool | None,
    *,
    seconds: float,
) -> Specification:
    """The specification with as many trials, on top of those stored, as fit into the time."""
    s = specification
    positive("seconds", seconds)
    found, goal = stored_trials(out, s.block_size, experiments)
    if s.trials <= found:
        return s
    with Progress(progress) as bar:
        compiled(s, bar)
    several = workers(jobs, s.rounds * WORTH_A_WORKER)
    fitting = trials_that_fit(s, experiments, seconds, several)
    trials = min(s.trials, max(goal, found + fitting))
    return replace(s, trials=trials)


def lengthy(specification: Specification, jobs: int | None, rounds: int) -> str:
    """One line where ``rounds`` rounds will take more than an hour; else empty."""
    s = specification
    rate = (RULE_RATE if s.is_rule else GENERATOR_RATE) * workers(jobs, rounds)
    hours = rounds / rate / 3600.0
    if hours < 1.0:
        return ""
    lasting = f"{hours:.0f} hours" if hours < 72.0 else f"{hours / 24.0:.3g} days"
    return f"{rounds:.3g} rounds to play, some {lasting}; Ctrl-C ends it"


def played(
    specification: Specification,
    missing: Sequence[Key],
    jobs: int | None,
    store: RunStore | None,
    bar: Progress,
) -> Generator[Outcome | Tally, None, None]:
    """Play blocks; yield each one when it is stored, and say at the end what is doubtful."""
    s = specification
    doubts: dict[str, str] = {}
    with resumable(store, missing), contextlib.closing(outcomes(s, missing, jobs)) as finished:
        for outcome in finished:
            if outcome.doubt:
                doubts.setdefault(outcome.doubt.partition(":")[0], outcome.doubt)
            if store is not None:
                full = outcome.trials == outcome.blocks * s.block_size
                store.append(
                    outcome.experiment, outcome.block, outcome.arrays(),
                    blocks=outcome.blocks, adds=isinstance(outcome, Tally) and full,
                )  # fmt: skip
            bar.played(outcome.trials * s.rounds)
            yield outcome
    for line in doubts.values():
        bar.notice(line)


@contextlib.contextmanager
def resumable(store: RunStore | None, missing: Sequence[Key]) -> Iterator[None]:
    """Say, where a cluster is lost, how much is kept and how to go on."""
    try:
        yield
    except ClusterLost as lost:
        if store is None:
            raise ClusterLost(f"{lost}; name a folder (out=) to resume from next time") from None
        total = store.count() + sum(not store.holds(*key) for key in missing)
        raise ClusterLost(
            f"{lost}; {store.count()} of {total} blocks are stored in {store.folder}: run again, "
            "here or elsewhere, to resume"
        ) from None


def restore(
    store: RunStore, specification: Specification, add: Callable[[Outcome | Tally], None]
) -> None:
    """Hand over the stored blocks; those that the goal has outgrown are to be played anew.

    Raises InvalidInput for a block that the specification cannot have left.
    """
    for record in store.read():
        try:
            outcome = from_record(specification, record)
        except InvalidInput as error:
            raise InvalidInput(f"{store.folder}: {error}; name another folder") from None
        if outcome is None:
            store.outgrow(record.experiment, record.block)
        else:
            try:
                add(outcome)
            except InvalidInput as error:
                raise InvalidInput(f"{store.folder}: {error}") from None


def from_record(specification: Specification, record: Block) -> Outcome | Tally | None:
    """What a record holds; None where the goal has outgrown it. Raises InvalidInput."""
    where = record.experiment, record.block
    if {PLAIN, WEIGHTED} & set(record.arrays):
        return stored_tally(specification, *where, record.arrays, blocks=record.blocks)
    return stored_outcome(specification, *where, record.arrays)


def added_records(records: Iterator[Block]) -> dict[str, np.ndarray]:
    """Add up the records of tallies."""
    return added((each.block, each.blocks, each.arrays) for each in records)


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
