"""The verdicts and slacks of a claim along each of its parameters, the knobs of its page.

A knob is a keyword default of the claim's check. Each is changed alone, the others stay as
they are. Where the check refuses a value, or takes too long, the picture has a gap. What is printed
is taken from the committed results, so that no picture is empty. Time is the processor's: a busy
machine draws the same pictures.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import signal
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import Any

from experiments import stages
from experiments.site.committed import PATH, committed, numbers_of
from simulator.foundations.stages import stage
from simulator.teaching.claims import Claim, all_claims, find

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


def turned(claim: Claim) -> list[Sweep]:
    """Turn the claim's knobs: first those that its altered variant alters.

    A second knob that there is no time for is left out.
    """
    printed = committed()[claim.id]
    spent = 0.0
    found: list[Sweep] = []
    for knob in numbers_of(claim)[:MOST_PANELS]:
        default, altered = claim.parameters[knob], claim.wrong.get(knob)
        turns = [Turn(default, printed["verdict"], printed["slack"])]
        for value in values(default, altered)[1:]:
            started = time.process_time()
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


def turned_all(cache_folder: Path, jobs: int = 2) -> dict[str, list[Sweep]]:
    """The sweeps of every claim, by id; made anew when the code of the package has changed."""
    path = cache_folder / f"knobs-{fingerprint()}.json"
    if path.exists():
        stored = json.loads(path.read_text(encoding="utf-8"))
        return {id: [read(each) for each in sweeps] for id, sweeps in stored.items()}
    ids = [claim.id for claim in all_claims()]
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        turned = pool.map(turned_by_id, ids, chunksize=4)
        with stage("the knobs of the claims", len(ids)) as advance:
            found = {}
            for name, sweeps in zip(ids, turned):
                found[name] = sweeps
                advance()
    cache_folder.mkdir(parents=True, exist_ok=True)
    written = {id: [plain(each) for each in sweeps] for id, sweeps in found.items()}
    unfinished = path.with_suffix(".part")
    unfinished.write_text(json.dumps(written), encoding="utf-8")
    unfinished.replace(path)
    for other in set(cache_folder.glob("knobs-*.json")) - {path}:
        other.unlink()
    return found


def turned_by_id(id: str) -> list[Sweep]:
    """The sweeps of the claim of that id: a check cannot be sent to a process, its id can."""
    return turned(find(id))


@cache
def fingerprint() -> str:
    """A digest of the code that checks run, and of what they are known to find."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    digest.update(PATH.read_bytes())
    for path in sorted((stages.ROOT / "simulator").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def plain(sweep: Sweep) -> dict[str, Any]:
    """A sweep as JSON."""
    turns = [[each.value, each.verdict, each.slack] for each in sweep.turns]
    return {**vars(sweep), "turns": turns}


def read(stored: dict[str, Any]) -> Sweep:
    """A sweep from JSON."""
    return Sweep(**{**stored, "turns": tuple(Turn(*each) for each in stored["turns"])})
