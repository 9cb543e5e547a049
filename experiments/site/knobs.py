"""The verdicts and slacks of a claim along each of its parameters, the knobs of its page.

A knob is a keyword default of the claim's check. Each is changed alone, the others stay as
they are. Where the check refuses a value, or takes too long, the picture has a gap. What is printed
is taken from the committed results, so that no picture is empty. Time is the processor's: a busy
machine draws the same pictures.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from experiments.site.committed import committed, numbers_of
from simulator.teaching.claims import Claim

FACTORS = (1.0, 2.0, 0.5, 1.41421356, 0.70710678, 4.0, 0.25)
"""What a number is multiplied by; the nearest come first, in case the time runs out."""
MOST_PANELS = 2
SECONDS_A_CALL = 2.0
SECONDS_A_CLAIM = 4.0
SECONDS_ALTERED = 30.0
"""For the altered value, which the page shows."""
WAITING = 10.0
"""A call that does not compute is given up after so many times its seconds."""


@dataclass(frozen=True)
class Turn:
    """One value of a knob, and what the check finds there; a refusal has no verdict."""

    value: Any
    verdict: str | None
    slack: float | None


@dataclass(frozen=True)
class Sweep:
    """One knob of a claim, turned; ``altered`` is its value in the wrong variant, or None."""

    knob: str
    default: Any
    altered: Any
    turns: tuple[Turn, ...]


def turned(claim: Claim, called: set[str] | None = None) -> list[Sweep]:
    """Turn the claim's knobs: first those that its altered variant alters.

    A second knob that there is no time for is left out. The files of the functions that the checks
    call are added to ``called``; what numba has compiled is not seen.
    """
    printed = committed()[claim.id]
    spent = 0.0
    found: list[Sweep] = []
    for knob in numbers_of(claim)[:MOST_PANELS]:
        default, altered = claim.parameters[knob], claim.wrong.get(knob)
        turns = [Turn(default, printed["verdict"], printed["slack"])]
        for value in values(default, altered)[1:]:
            started = time.process_time()
            with recorded(called):  # anew for each value: an error in the recorder ends it
                if value == altered:
                    turns.append(turn(claim, knob, value, SECONDS_ALTERED))
                elif spent < SECONDS_A_CLAIM:
                    turns.append(turn(claim, knob, value))
                    spent += time.process_time() - started
        if len(turns) > 1 or not found:
            turns.sort(key=lambda each: each.value)
            found.append(Sweep(knob, default, altered, tuple(turns)))
    return found


def values(default: Any, altered: Any) -> list[Any]:
    """The values to try, the claim's own first."""
    if isinstance(default, bool):
        return [default, not default]
    listed = [default] + ([altered] if isinstance(altered, int | float) else [])
    scaled = [factor * default for factor in FACTORS if factor * default != default]
    if isinstance(default, int):
        scaled = [max(1, round(value)) for value in scaled]
    return list(dict.fromkeys([*listed, *scaled]))


def turn(claim: Claim, knob: str, value: Any, seconds: float = SECONDS_A_CALL) -> Turn:
    """Check the claim with one knob at another value."""
    with time_limit(seconds), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            finding = claim.check(**{knob: value})
        except Exception:  # a check has an answer for certain at the values of the claim only
            return Turn(value, None, None)
    slack = finding.as_dict()["slack"]
    return Turn(value, str(finding.verdict), slack)


@contextlib.contextmanager
def recorded(called: set[str] | None) -> Iterator[None]:
    """Add the file of each function that the body calls to ``called``, unless it is None."""
    if called is None:
        yield
        return

    def enter(frame: FrameType, event: str, argument: Any) -> None:
        called.add(frame.f_code.co_filename)

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        yield
    finally:
        sys.settrace(before)


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the body after so much of the processor's time, or WAITING as long."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    timers = (
        (signal.ITIMER_PROF, signal.SIGPROF, seconds),
        (signal.ITIMER_REAL, signal.SIGALRM, WAITING * seconds),
    )
    before = [(number, signal.signal(number, stop)) for _, number, _ in timers]
    for timer, _, limit in timers:
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for timer, _, _ in timers:
            signal.setitimer(timer, 0.0)
        for number, handler in before:
            signal.signal(number, handler)


def plain(sweep: Sweep) -> dict[str, Any]:
    """A sweep as JSON."""
    turns = [[each.value, each.verdict, each.slack] for each in sweep.turns]
    return {**vars(sweep), "turns": turns}


def read(stored: dict[str, Any]) -> Sweep:
    """A sweep from JSON."""
    return Sweep(**{**stored, "turns": tuple(Turn(*each) for each in stored["turns"])})
