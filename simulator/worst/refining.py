"""Passes over finer grids, until the ends are close, the time is over, or only rounding is left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from simulator.foundations.errors import NotApplicable
from simulator.foundations.stages import stage
from simulator.theory.bracket import Bracket
from simulator.worst.grid import TooLarge
from simulator.worst.grid_pass import GridPass

MOST_LEVELS = 12
MOST_COARSER = 6
"""Most levels below the first one that are tried where that one is too large."""
PATIENCE = 10.0
"""A pass whose estimated time exceeds this many times the allowed seconds is not begun..."""
LEAST_ALLOWED = 30.0
"""...unless its estimate is at most this many seconds."""


@dataclass(frozen=True, kw_only=True)
class Refined:
    """The ends of all passes together.

    Attributes
    ----------
    delta : the intersection of all brackets.
    best : the pass with the largest lower end.
    stopped : why no finer grid was tried: "tolerance", "time", or "rounding".
    seconds : the processor time taken.
    """

    delta: Bracket
    best: GridPass
    stopped: str
    seconds: float


def allowed(seconds: float, patience: float | None = None) -> float:
    """The largest estimated time of one pass: ``patience``, or a multiple of ``seconds``."""
    return max(PATIENCE * seconds, LEAST_ALLOWED) if patience is None else patience


def refined(
    run: Callable[[int, GridPass | None], GridPass],
    first: int,
    epsilon: float,
    *,
    tolerance: float,
    seconds: float,
    nothing: Callable[[], float] = lambda: 1e-300,
    most: float = 1.0,
) -> Refined:
    """The result of passes from the level ``first`` on, each with the one before it.

    ``most`` is an upper end that is known beforehand. ``nothing()``, called after each pass, is the
    delta that counts as zero. Raises NotApplicable where the first pass cannot be run.
    """
    start = time.process_time()
    found, best, stopped = Bracket(0.0, most), None, "time"
    for last in _passes(run, first, start, seconds):
        ends, before = last.delta(epsilon), found.upper
        if best is None or ends.lower >= found.lower:
            best = last
        found = found.meet(ends)
        if close(found, tolerance) or found.upper <= nothing():
            stopped = "tolerance"
            break
        if _only_rounding(found, before, best):
            stopped = "rounding"
            break
    assert best is not None
    return Refined(delta=found, best=best, stopped=stopped, seconds=time.process_time() - start)


def _passes(
    run: Callable[[int, GridPass | None], GridPass], first: int, start: float, seconds: float
) -> Iterator[GridPass]:
    """Yield passes while the next one can be run and its estimated end is in time."""
    last: GridPass | None = None
    took = 0.0
    level, coarser = first, 0
    while level < MOST_LEVELS:
        before = time.process_time()
        try:
            with stage(f"grid {level - first + coarser + 1}"):
                last = run(level, last)
        except NotApplicable as error:
            if last is not None:
                return
            if not isinstance(error, TooLarge) or coarser == MOST_COARSER:
                raise
            level, coarser = level - 1, coarser + 1
            continue
        level += 1
        yield last
        now = time.process_time()
        # at most twice the last growth, too
        growth = min(last.growth, 2.0 * (now - before) / took) if took else last.growth
        took = now - before
        if now - start + growth * took > seconds:
            return


def close(found: Bracket, tolerance: float) -> bool:
    """Whether the ends are within the tolerance of each other."""
    return found.width <= tolerance * found.upper


def _only_rounding(found: Bracket, before: float, best: GridPass) -> bool:
    """Whether a finer grid cannot help: the ends are exact, or apparently no play wins.

    ``before`` is the upper end of the coarser grid.
    """
    if best.lower is best.upper:
        return True
    return found.lower == 0.0 and found.upper < 1e-12 and found.upper > 0.5 * before


def verdict_of(delta: Bracket, promised: float) -> str:
    """Whether the promised delta holds: sound, broken or undecided."""
    if delta.lower > promised:
        return "broken"
    return "sound" if delta.upper <= promised else "undecided"
