"""Play the blocks of a run: resume, progress, interruption, lost workers.

A result depends on the specification alone, not on the number of jobs, the order in which blocks
finish, or interruptions.
"""

from __future__ import annotations

import contextlib
import operator
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike

import numpy as np

from simulator.engine.block import (
    Outcome,
    Specification,
    is_compiled_for,
    prepared_engine,
    repeats_of,
)
from simulator.engine.outcomes.stored import stored_outcome, stored_tally
from simulator.engine.outcomes.tally import PLAIN, WEIGHTED, Tally, added
from simulator.foundations.errors import Breach, DpcomposeError, InvalidInput, raised
from simulator.foundations.validation import positive, whole
from simulator.runner.fitting import stored_trials, trials_that_fit
from simulator.runner.gathering import Gathered, Key
from simulator.runner.lost import ClusterLost
from simulator.runner.measured import Measured
from simulator.runner.pool import WORTH_A_WORKER, crowded, outcomes, workers
from simulator.runner.progress import Progress
from simulator.runner.prompt_exit import under_way
from simulator.runner.store import RunStore
from simulator.runner.store.log import Block
from simulator.runner.store.provenance import HASH_SEED, differing_versions

COMPILED_RATE, INTERPRETED_RATE = 1e8, 4e5
"""Approximate rounds per second and worker, compiled and in Python."""


def opened(out: str | PathLike[str], specification: Specification) -> RunStore:
    """The store of a run; raises InvalidInput as ``RunStore.open`` does."""
    s = specification
    return RunStore.open(out, s.identity(), s.goal(), combine=added_records)


def checked_experiments(experiments: Iterable[int]) -> tuple[int, ...]:
    """The experiments in order, each once; raises InvalidInput unless they are of 0 and 1."""
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
) -> Measured:
    """Play the blocks of a specification that ``store`` lacks, and return the result of all."""
    s = specification
    s.require_unchanged()
    gathered = Gathered(s, experiments)
    with Progress(progress) as bar:
        if store is not None:
            if store.dropped:
                bar.notice(store.dropped)
            restore(store, s, gathered.add)
            if not gathered.empty and not s.trust and not s.has_whole_menu:
                raise InvalidInput(
                    f"{store.folder} does not store the challenges that were met: play with "
                    "trust=True, or name another folder"
                )
        missing = gathered.missing()
        if store is not None and missing and (line := mixed(store)):
            bar.notice(line)
        with resumable(store, missing, s.block_size):
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
    return gathered.measured(seconds, compile_seconds, left)


def run_in(
    out: str | PathLike[str] | None,
    specification: Specification,
    experiments: Sequence[int],
    jobs: int | None = None,
    progress: bool | None = None,
) -> Measured:
    """The result of a run, with its blocks in the folder ``out`` if there is one."""
    if out is None:
        return run(specification, experiments, jobs, None, progress)
    with opened(out, specification) as store:
        return run(specification, experiments, jobs, store, progress)


def fitted(
    specification: Specification,
    experiments: Sequence[int],
    jobs: int | None,
    out: str | PathLike[str] | None,
    progress: bool | None,
    *,
    seconds: float,
) -> Specification:
    """The specification with the stored trials, and as many more as fit into the time."""
    s = specification
    positive("seconds", seconds)
    found, goal = stored_trials(out, s.block_size, experiments)
    if s.trials <= found:
        return s
    with noting(partial(pilot_line, found)):
        with Progress(progress) as bar:
            compiled(s, bar)
        several = workers(jobs, s.rounds * WORTH_A_WORKER)
        fitting = trials_that_fit(s, experiments, seconds, several)
    trials = min(s.trials, max(goal, found + fitting))
    return replace(s, trials=trials)


def mixed(store: RunStore) -> str:
    """A line if the folder is played by several versions of what draws depend on, else ""."""
    if store.count() and (several := differing_versions(store.sessions())):
        return f"{store.folder} is played by different versions, on which draws depend: {several}"
    return ""


def lengthy(specification: Specification, jobs: int | None, rounds: int) -> str:
    """A line if ``rounds`` rounds will take more than an hour, else ""."""
    s = specification
    hours = rounds / (INTERPRETED_RATE * workers(jobs, rounds)) / 3600.0
    if hours >= 1.0 and s.is_read:
        hours *= INTERPRETED_RATE / COMPILED_RATE
    if hours < 1.0:
        return ""
    duration = f"{hours:.0f} hours" if hours < 72.0 else f"{hours / 24.0:.3g} days"
    return f"{rounds:.3g} rounds to play, some {duration}; Ctrl-C ends it"


def played(
    specification: Specification,
    missing: Sequence[Key],
    jobs: int | None,
    store: RunStore | None,
    bar: Progress,
) -> Generator[Outcome | Tally, None, None]:
    """Play blocks; yield each one when it is stored, and print doubts at the end."""
    s = specification
    doubts: dict[str, str] = {}
    repeats = repeats_of(s) if missing else 0
    with (
        resumable(store, missing, s.block_size),
        contextlib.closing(outcomes(s, missing, jobs)) as finished,
    ):
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
    if missing and s.code.by_hash and HASH_SEED == "random":
        doubts["hash"] = (
            f"{s.code.by_hash[0]}, which differ between processes: sort what the set holds, or "
            "set PYTHONHASHSEED=0 before Python starts"
        )
    if missing and s.code.by_address:
        doubts["address"] = (
            f"{s.code.by_address[0]}, which differs between processes: what was played may not be "
            "what is played another time"
        )
    if missing and repeats_of(s) > repeats:
        bar.notice(
            f"{s.name} ran partly uncompiled, some hundred times slower: compiled, its step may go "
            "another way than in Python (at a whole number beyond 64 bits, a division by zero, an "
            "error of math)"
        )
    for line in doubts.values():
        bar.notice(line)


def stored_line(store: RunStore | None, missing: Sequence[Key], block_size: int) -> str:
    """A line on what an interrupted play has stored, and how to resume it."""
    if store is None:
        return "nothing is stored: name a folder (--out, or out=) to resume from next time"
    found = store.count()
    total = found + sum(not store.holds(*key) for key in missing)
    line = f"{found} of {total} blocks are stored in {store.folder}; "
    if found or block_size == 1:
        return line + "the same command resumes from there"
    return line + (
        f"a block has up to {block_size} trials: --block-size, or block_size=, makes smaller ones, "
        "which are stored sooner (with other draws)"
    )


def pilot_line(found: int) -> str:
    """A line on what is stored where the pilot that chooses the trials is interrupted."""
    stored = f"{found} trials of each experiment are" if found else "nothing is"
    return (
        f"a pilot was measuring how many trials fit into the time: {stored} stored so far; the "
        "same command measures again"
    )


@contextlib.contextmanager
def noting(line: Callable[[], str]) -> Iterator[None]:
    """Add a line on what is stored to an interruption."""
    under_way.append(line)
    try:
        yield
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(line())
        raise
    finally:
        under_way.remove(line)


@contextlib.contextmanager
def resumable(store: RunStore | None, missing: Sequence[Key], block_size: int) -> Iterator[None]:
    """Add to an interruption, or to the loss of a cluster, what is stored and how to resume."""
    try:
        with noting(partial(stored_line, store, missing, block_size)):
            yield
    except ClusterLost as lost:
        if store is None:
            raise ClusterLost(f"{lost}; name a folder to resume from next time") from None
        total = store.count() + sum(not store.holds(*key) for key in missing)
        raise ClusterLost(
            f"{lost}; {store.count()} of {total} blocks are stored in {store.folder}: run again, "
            "here or elsewhere, to resume"
        ) from None


def restore(
    store: RunStore, specification: Specification, add: Callable[[Outcome | Tally], None]
) -> None:
    """Call ``add`` with the stored blocks; those too short for the goal will be played again.

    Raises InvalidInput for a block that is not of the specification.
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
    """The outcome in a record, or None if it is too short for the goal. Raises InvalidInput."""
    where = record.experiment, record.block
    if {PLAIN, WEIGHTED} & set(record.arrays):
        return stored_tally(specification, *where, record.arrays, blocks=record.blocks)
    return stored_outcome(specification, *where, record.arrays)


def added_records(records: Iterator[Block]) -> dict[str, np.ndarray]:
    """The sum of the tallies in records."""
    return added((each.block, each.blocks, each.arrays) for each in records)


def compiled(specification: Specification, bar: Progress) -> float:
    """Check the menu, and compile what plays compiled; return the seconds that took."""
    s = specification
    start = time.perf_counter()
    if compiles := is_compiled_for(s):
        bar.compiling(s.name)
    try:
        engine = prepared_engine(s)
    except (DpcomposeError, KeyboardInterrupt):
        raise
    except BaseException as error:  # raised by the user's code
        step = getattr(s.adversary, "step", None)
        raise Breach(f"in its first move {s.name} raised {raised(error, step)}") from error
    bar.compiled()
    if engine is not None and engine.complaint:
        bar.notice(engine.complaint)
    return time.perf_counter() - start if compiles else 0.0
