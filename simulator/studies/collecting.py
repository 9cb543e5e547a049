"""Play the tasks of a study until each quantity is known as well as wanted."""

from __future__ import annotations

import contextlib
import math
import shutil
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from simulator.engine.block import plays_without_lock
from simulator.foundations.errors import DpcomposeError, InvalidInput
from simulator.runner.calls import Kind, calls
from simulator.runner.play import checked_jobs, opened
from simulator.runner.pool import workers
from simulator.runner.prompt_exit import standing_for_all
from simulator.runner.store.provenance import fingerprint_of_program
from simulator.studies.answers import Findings, answered, answers_of
from simulator.studies.deciding import DECISIONS
from simulator.studies.points import Point
from simulator.studies.stopping import StoppingRule
from simulator.studies.storing import StudyFile
from simulator.studies.tasks import Task, require_names
from simulator.studies.under_way import UnderWay
from simulator.studies.watching import Watch, Watched

LARGE_COMPILED, LARGE_INTERPRETED = 1 << 30, 1 << 22
"""A look with more rounds is played by all workers together, and its blocks are stored."""
Notice = Callable[[str], None]
Trace = Callable[[Task, str], None]


def program() -> str:
    """The versions that numbers depend on, in one line."""
    return " ".join(f"{name}={version}" for name, version in fingerprint_of_program().items())


def collect(
    tasks: Iterable[Task],
    out: str | PathLike[str] | None = None,
    *,
    trials: int = 100_000,
    width: float | None = None,
    hits: int | None = None,
    decide: str = "",
    confidence: float = 0.95,
    at_most: float | None = None,
    jobs: int | None = None,
    notice: Notice | None = None,
    trace: Trace | None = None,
    watch: Watch | None = None,
) -> Generator[Point, None, None]:
    """Measure the quantities of every task; yields each point at each look.

    Tasks are played in waves: every open task at its next look, the widest intervals first.
    Small looks share one pool of workers; a large one is played by all workers, and its blocks
    are stored beside the file until it is done. What is known in ``out`` is not played again.

    Parameters
    ----------
    tasks : each identity once.
    out : a .csv file to which every point is appended; at the end it has one line per quantity,
        in the order of the tasks, after the lines of other tasks. The same call resumes an
        interrupted one, to the same numbers.
    trials, width, hits, decide, confidence : see :class:`StoppingRule`.
    at_most : seconds after which no look is begun; a look that would take longer is left out.
    jobs : workers; by default one per core. ``joblib.parallel_config`` may name a cluster.
    notice : called with a line on tasks that were left out.
    trace : called with a task that failed, and the traceback of its error.
    watch : called with a :class:`Snapshot` as each wave begins, at the end, and between these at
        most four times a second.

    Raises
    ------
    InvalidInput : a parameter or a task is invalid, or the file is of another program.

    >>> from simulator.studies import collect, grid
    >>> tasks = grid(None, "pure:0.1", [10, 20], "bound:basic epsilon(delta=1e-6)")
    >>> [round(point.value, 6) for point in collect(tasks, jobs=1)]
    [1.0, 2.0]
    """
    rule = StoppingRule(trials, width, hits, confidence, decide)
    checked_jobs(jobs)
    version, until = program(), math.inf if at_most is None else time.monotonic() + at_most
    given: dict[str, UnderWay] = {}
    for task in tasks:
        if task.id in given:  # other quantities of one game
            first = given[task.id].task
            task = replace(
                first,
                quantities=(*first.quantities, *task.quantities),
                experiments=(*first.experiments, *task.experiments),
            )
        given[task.id] = UnderWay(task, rule, version)
    require_names([each.task for each in given.values()])
    if not given:
        raise InvalidInput("a study needs a task")
    listed = list(given.values())
    watched = Watched(watch, workers(jobs, sum(task.rounds for task in listed)), until)
    notice = notice or (lambda line: None)
    study = _Study(listed, out, jobs, watched, notice=notice, trace=trace)
    return study.points()


class _Study:
    """The tasks of one call of :func:`collect`, and its file."""

    def __init__(
        self,
        tasks: list[UnderWay],
        out: str | PathLike[str] | None,
        jobs: int | None,
        watched: Watched,
        *,
        notice: Notice,
        trace: Trace | None,
    ) -> None:
        self.tasks, self.jobs, self.watched, self.notice = tasks, jobs, watched, notice
        self.trace = trace
        self.playing = 0
        self.file = None if out is None else StudyFile(out)
        if self.file is not None:
            try:
                self._resume(self.file)
            except BaseException:
                self.file.__exit__(None, None, None)
                raise

    def _resume(self, file: StudyFile) -> None:
        if file.torn:
            self.notice(f"the last line of {file.path} was incomplete, and is left out")
        now = self.tasks[0].program
        others = {point.program for point in file.points.values()} - {now}
        if others:
            raise InvalidInput(
                f"{file.path} was made by another program ({min(others)}; this is {now}): name "
                "another file"
            )
        for task in self.tasks:
            task.resume(file.points)
            for quantity, experiment in task.wanted():
                known = file.points.get((task.task.id, str(quantity), experiment))
                if known is not None and known.done and known.trials > task.rule.trials:
                    raise InvalidInput(
                        f"{file.path} has {known.quantity} of {known.adversary} from "
                        f"{known.trials:,} trials, this call plays {task.rule.trials:,} at most: "
                        "name another file"
                    )

    def points(self) -> Generator[Point, None, None]:
        """Play wave by wave; yield points as they come."""
        with contextlib.ExitStack() as standing:
            if self.file is not None:
                path = self.file.path
                line = f"{path} has what is done, and the same call goes on"
                standing.enter_context(standing_for_all(lambda: line, always=True))
            yield from self._points()

    def _points(self) -> Generator[Point, None, None]:
        try:
            yield from [point for task in self.tasks for point in task.ordered() if point.done]
            broken = self._is_within_a_wave()
            while True:
                if not broken:
                    yield from self._decided()
                broken = False
                wave = self._wave()
                if not wave:
                    break
                self.playing = len(wave)
                self.watched.see(self.tasks, self.playing, now=True)
                large = [task for task in wave if is_large(task)]
                yield from self._together([task for task in wave if not is_large(task)])
                for task in large:
                    yield from self._alone(task)
            self._end()
        finally:
            if self.file is not None:
                self.file.__exit__(None, None, None)
            self.watched.see(self.tasks, 0, now=True, ended=True)

    def _is_within_a_wave(self) -> bool:
        # An interruption left tasks a look behind; without it, nothing was decided before theirs.
        due = min((task.look for task in self.tasks if task.wanted()), default=math.inf)
        known = [point for task in self.tasks for point in task.points.values()]
        return any(point.looks > due for point in known if not point.computed)

    def _decided(self) -> list[Point]:
        """Stop what is decided by all that is known, between two waves."""
        rule = self.tasks[0].rule
        if not rule.decide:
            return []
        known = [point for task in self.tasks for point in task.points.values()]
        keys = DECISIONS[rule.decide](known)
        stopped = [point for task in self.tasks for point in task.decide(keys)]
        if self.file is not None:
            self.file.append(stopped)
        return stopped

    def _wave(self) -> list[UnderWay]:
        """The tasks to look at next, the least known first; none after the time."""
        left = self.watched.until - time.monotonic()
        due = [task for task in self.tasks if task.wanted()]
        if due and due[0].rule.decide:  # after an interruption some are a look ahead
            first = min(task.look for task in due)
            due = [task for task in due if task.look == first]
        fitting = [task for task in due if left > 0.0 and expected_seconds(task) < left]
        if due and not fitting:
            self.notice(f"the time is over: {len(due)} of {len(self.tasks)} tasks are not done")
        return sorted(fitting, key=lambda task: -widest(task))

    def _together(self, tasks: list[UnderWay]) -> Generator[Point, None, None]:
        """Looks that share one pool: of compiled rules in threads, the others in processes."""
        kinds: dict[Kind, list[UnderWay]] = {"threads": [], "processes": []}
        for task in tasks:
            try:
                compiled = plays_without_lock(task.task.game)
            except DpcomposeError:
                compiled = False
            kinds["threads" if compiled else "processes"].append(task)
        for kind, chosen in kinds.items():
            looks = [task.next_look() for task in chosen]
            jobs = min(workers(self.jobs, sum(task.rounds for task in chosen)), max(len(looks), 1))
            for place, answers in calls(answers_of, looks, jobs, kind):
                if not isinstance(answers, Findings):
                    answers = Findings((), 0.0, str(answers))
                yield from self._taken(chosen[place], answers)

    def _alone(self, task: UnderWay) -> Generator[Point, None, None]:
        """A large look, with all workers; its blocks outlast an interruption."""
        if self.file is None:
            yield from self._taken(task, answered(task.next_look(), self.jobs, None))
            return
        folder = blocks_of(self.file.path, task.task)
        look = task.next_look()
        with opened(folder, look.game) as store:
            answers = answered(look, self.jobs, store)
        yield from self._taken(task, answers)
        if not task.wanted():
            shutil.rmtree(folder, ignore_errors=True)

    def _taken(self, task: UnderWay, answers: Findings) -> Sequence[Point]:
        found = task.take(answers)
        if answers.traceback and self.trace is not None:
            self.trace(task.task, answers.traceback)
        if self.file is not None:
            self.file.append(found)
        self.playing -= 1
        self.watched.see(self.tasks, self.playing)
        return found

    def _end(self) -> None:
        """Put the file's lines in the order of the tasks, once each."""
        if self.file is not None:
            self.file.settle(point.key for task in self.tasks for point in task.ordered())
            blocks = blocks_folder(self.file.path)
            if blocks.is_dir() and not any(blocks.iterdir()):
                blocks.rmdir()


def is_large(task: UnderWay) -> bool:
    """Whether the next look is played by all workers together."""
    simulated = any(quantity.source == "simulated" for quantity, _ in task.wanted())
    limit = LARGE_COMPILED if task.task.game.is_read else LARGE_INTERPRETED
    return simulated and task.rounds > limit


def expected_seconds(task: UnderWay) -> float:
    """How long the next look takes, from the last one: 0 where there is none."""
    return 2.0 * task.last_seconds


def widest(task: UnderWay) -> float:
    """The largest relative width of a quantity that is not done; infinite before the first look."""
    widths = [point.relative_width for point in task.points.values() if not point.done]
    return max((math.inf if math.isnan(width) else width for width in widths), default=math.inf)


def blocks_folder(path: Path) -> Path:
    """The folder beside a study's file for the blocks of large looks."""
    return path.with_name(path.name + ".blocks")


def blocks_of(path: Path, task: Task) -> Path:
    """The folder for the blocks of one task."""
    return blocks_folder(path) / task.id
