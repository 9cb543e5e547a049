"""What becomes of a claim when one of its knobs is turned: the numbers of its picture.

A knob is a keyword default of the claim's check. Each is turned by itself, the others stay as
they are. Where the check refuses a value, or takes too long, the picture has a gap.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import signal
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import Any

from experiments import stages
from simulator.claims import Claim, all_claims, find

FACTORS = (1.0, 2.0, 0.5, 1.41421356, 0.70710678, 4.0, 0.25)
"""What a number is multiplied by; the nearest come first, in case the time runs out."""
MOST_PANELS = 2
SECONDS_A_CALL = 2
SECONDS_A_CLAIM = 4.0


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
    """Turn the claim's knobs: first those that its altered variant alters."""
    started = time.perf_counter()
    knobs = [
        name
        for name, value in claim.parameters.items()
        if isinstance(value, int | float) and name != "seed"
    ]
    knobs.sort(key=lambda name: name not in claim.wrong)
    found = []
    for knob in knobs[:MOST_PANELS]:
        default, altered = claim.parameters[knob], claim.wrong.get(knob)
        turns = []
        for value in values(default, altered):
            if time.perf_counter() - started < SECONDS_A_CLAIM:
                turns.append(turn(claim, knob, value))
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


def turn(claim: Claim, knob: str, value: Any) -> Turn:
    """Check the claim with one knob at another value."""
    with time_limit(SECONDS_A_CALL), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            finding = claim.check(**{knob: value})
        except Exception:  # a check promises an answer at the values of the claim alone
            return Turn(value, None, None)
    slack = finding.as_dict()["slack"]
    return Turn(value, str(finding.verdict), slack)


@contextlib.contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in the body after so long."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def turned_all(cache_folder: Path, jobs: int = 2) -> dict[str, list[Sweep]]:
    """The sweeps of every claim, by id; made anew when the code of the package has changed."""
    path = cache_folder / f"knobs-{fingerprint()}.json"
    if path.exists():
        return {id: [read(each) for each in sweeps] for id, sweeps in load(path).items()}
    ids = [claim.id for claim in all_claims()]
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        found = dict(zip(ids, pool.map(turned_by_id, ids, chunksize=4)))
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
    """A digest of the code that checks run."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
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


def load(path: Path) -> dict[str, Sequence[dict[str, Any]]]:
    """What was stored."""
    found: dict[str, Sequence[dict[str, Any]]] = json.loads(path.read_text(encoding="utf-8"))
    return found
