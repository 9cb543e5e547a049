"""How far a study is while it runs: what is done, what is being played, the time left."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.foundations.wording import count_of
from simulator.studies.points import Point

if TYPE_CHECKING:
    from simulator.studies.under_way import UnderWay


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A study at one moment.

    Attributes
    ----------
    quantities, done, failed : how many are wanted, done, and failed; all bounds count as one.
    tasks, running : how many tasks are not done, and how many of them are being played.
    used : seconds since the study began in this call.
    left : about how many more it needs, NaN before each task was looked at.
    limit : seconds from now after which no look begins, infinite without a limit.
    ended : whether no look follows.
    points : what is known, in the order of the tasks.

    >>> from simulator.studies import Task, collect
    >>> task, seen = Task(None, "pure:0.1", 10, ["bound:basic epsilon(delta=1e-6)"]), []
    >>> points = list(collect([task], jobs=1, watch=seen.append))
    >>> [snapshot.counts for snapshot in seen][-1]
    '1 of 1 quantity done'
    """

    quantities: int
    done: int
    failed: int
    tasks: int
    running: int
    used: float
    left: float
    limit: float
    ended: bool
    points: tuple[Point, ...]

    @property
    def counts(self) -> str:
        """What is done, in words."""
        words = [f"{self.done} of {count_of(self.quantities, 'quantity', 'quantities')} done"]
        if not self.ended:
            words.append(f"{self.running} of {self.tasks} open tasks running")
        elif missing := self.quantities - self.done - self.failed:
            words.append(f"{missing} not done")
        return ", ".join([*words, *([f"{self.failed} failed"] if self.failed else [])])

    def times(self, since: float = 0.0) -> str:
        """The time used and left, in words, so many seconds later."""
        used = f"{clock(self.used + since)} used"
        if math.isfinite(self.left):
            return f"{used}, about {clock(self.left - since)} left"
        return used + (
            f", {clock(self.limit - since)} at most left" if self.limit < math.inf else ""
        )

    @property
    def widest(self) -> list[Point]:
        """The points that are not done, the relatively widest interval first."""

        def width(point: Point) -> float:
            return math.inf if math.isnan(point.relative_width) else point.relative_width

        return sorted((p for p in self.points if p.stopped == ""), key=width, reverse=True)


Watch = Callable[[Snapshot], None]
EVERY, COST = 0.25, 0.02
"""Seconds between two snapshots within a look, and the share of the time that they may take."""


def clock(seconds: float) -> str:
    """A time as ``0:42`` or ``1:05:00``; 0 for a negative one."""
    minutes, second = divmod(int(max(seconds, 0.0)), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"


class Watched:
    """Takes the snapshots of a study for a function; does nothing without one."""

    def __init__(self, watch: Watch | None, jobs: int, until: float) -> None:
        self.watch, self.jobs, self.until = watch, jobs, until
        self.began = time.monotonic()
        self.next = 0.0

    def see(
        self, tasks: Sequence[UnderWay], playing: int, *, now: bool = False, ended: bool = False
    ) -> None:
        """Give a snapshot, unless the last one is young; ``now`` gives it always."""
        moment = time.monotonic()
        if self.watch is None or (moment < self.next and not now):
            return
        wanted = [(task, task.found(*each)) for task in tasks for each in task.task.wanted()]
        self.watch(
            Snapshot(
                quantities=len(wanted),
                done=sum(bool(found) and all(p.done for p in found) for _, found in wanted),
                failed=sum(any(p.stopped == "failed" for p in found) for _, found in wanted),
                tasks=sum(bool(task.wanted()) for task in tasks),
                running=min(playing, self.jobs),
                used=moment - self.began,
                left=min(seconds_left(tasks) / self.jobs, max(self.until - moment, 0.0)),
                limit=self.until - moment,
                ended=ended,
                points=tuple(point for _, found in wanted for point in found),
            )
        )
        end = time.monotonic()
        self.next = end + max(EVERY, (end - moment) / COST)


def seconds_left(tasks: Iterable[UnderWay]) -> float:
    """About how many seconds of one worker are left; NaN before each task was looked at.

    A look takes as long per trial as the last one; an interval narrows with the square root of
    the trials.
    """
    return math.fsum(seconds_left_of(task) for task in tasks if task.wanted())


def seconds_left_of(task: UnderWay) -> float:
    """The seconds of one task's further looks."""
    if task.look == 0 or not task.last_seconds:
        return math.nan
    rule, before = task.rule, task.rule.trials_at(task.look - 1)
    needed = float(rule.trials)
    if rule.width is not None:
        open_widths = [p.relative_width for p in task.points.values() if p.stopped == ""]
        ratio = max(open_widths, default=math.nan) / rule.width
        needed = min(needed, before * ratio**2) if math.isfinite(ratio) else needed
    trials, look = 0, task.look
    while rule.trials_at(look) < needed and not rule.is_last(look):
        trials += rule.trials_at(look)
        look += 1
    return task.last_seconds / before * (trials + rule.trials_at(look))
