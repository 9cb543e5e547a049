"""Signals at random moments of a run's life, to its parent, to a worker, or to all as Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from experiments.faults.cases import GENERATOR, RULE, Case, Tally, Whole, difference, lasting

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
TARGETS = ("parent", "worker", "all")
PATIENCE = 5.0
STARTING = "Fatal Python error: init_import_site"
"""The first words of a Python that Ctrl-C has met while it started; its exit code is 1."""
"""Seconds within which every process must end; a worker that is starting takes one or two."""


def members(session: int) -> list[int]:
    """The live processes of a session."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] not in "ZX":
                found.append(int(entry))
    return found


def workers(session: int) -> list[int]:
    """The worker processes of a session."""
    found = []
    for pid in members(session):
        try:
            if b"LokyProcess" in Path("/proc", str(pid), "cmdline").read_bytes():
                found.append(pid)
        except OSError:
            continue
    return found


def hit(process: subprocess.Popen[str], number: int, target: str, draw: random.Random) -> str:
    """Send the signal; return who was hit: without workers the parent is."""
    if target == "all":
        os.killpg(process.pid, number)
        return "all"
    pids = sorted(workers(process.pid)) if target == "worker" else []
    chosen = draw.choice(pids) if pids else process.pid
    with contextlib.suppress(ProcessLookupError):
        os.kill(chosen, number)
    return "worker" if pids else "parent"


def kill(case: Case, whole: Whole, number: int, target: str, seed: int) -> tuple[str, str, float]:
    """One try: (who was hit, the outcome, seconds until every process was gone)."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "run")
        process = case.start(folder)
        time.sleep(draw.uniform(0.0, whole.seconds))
        if process.poll() is not None:
            process.communicate()
            return target, "late", 0.0
        struck = hit(process, number, target, draw)
        start = time.monotonic()
        patience = PATIENCE + (20 * whole.seconds if struck == "worker" else 0.0)
        try:
            out, err = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return struck, f"its output is held open {patience:g} s after the signal", patience
        over = time.monotonic()
        while (left := members(process.pid)) and time.monotonic() - over < PATIENCE:
            time.sleep(0.01)
        lasted = time.monotonic() - start
        if left:
            os.killpg(process.pid, signal.SIGKILL)
            return struck, f"{len(left)} processes are left", lasted
        outcome = judged(case, whole, folder, (process.returncode, out, err), number, struck)
    return struck, outcome, lasted if struck != "worker" else 0.0


def judged(
    case: Case, whole: Whole, folder: Path, ended: tuple[int, str, str], number: int, struck: str
) -> str:
    """Whether a run that was hit ended as it should, and whether its folder resumes."""
    code, out, err = ended
    lines = err.strip().splitlines()
    dead = (-number, 128 + number)
    starting = code == 1 and err.startswith(STARTING)
    if code == 0:
        if lasting(json.loads(out)) != whole.printed or lines:
            return f"ended with something else: {err.strip()}"
    elif struck == "worker" or not (code in dead or starting):
        return f"exit {code}: {err.strip()}"
    elif out and number == signal.SIGKILL and _is_whole(out, whole):
        return difference(case, whole, folder) or "late"  # hit while the interpreter was leaving
    elif out:
        return f"exit {code} with a part of its output"
    early = starting or (code == -number and number != signal.SIGKILL)
    if not early and len(lines) > 1:
        return f"more than a line: {err.strip()}"
    return difference(case, whole, folder) or ("early" if early else "equal")


def _is_whole(out: str, whole: Whole) -> bool:
    try:
        return bool(lasting(json.loads(out)) == whole.printed)
    except ValueError:
        return False


def campaign(tries: int, seed: int, at_once: int, minutes: float) -> Iterator[Tally]:
    """So many tries of each signal, or as many as the time allows; one tally per kind."""
    until = time.monotonic() + 60.0 * minutes
    draw = random.Random(seed)
    tallies: dict[tuple[int, str, str], Tally] = {}
    with tempfile.TemporaryDirectory() as name:
        wholes = {case: Whole.of(case, Path(name, str(i))) for i, case in enumerate(CASES)}
    plan = []
    for number in SIGNALS:
        for i in range(tries):
            case = CASES[i % 2]
            target = "parent" if case is RULE else TARGETS[(i // 2) % 3]
            plan.append((case, wholes[case], number, target, draw.getrandbits(32)))
    draw.shuffle(plan)

    def tried(task: tuple[Case, Whole, int, str, int]) -> tuple[str, str, float] | None:
        return kill(*task) if time.monotonic() < until else None

    with ThreadPoolExecutor(at_once) as pool:
        for task, found in zip(plan, pool.map(tried, plan)):
            if found is None:
                continue
            struck, outcome, lasted = found
            case, number = task[0], task[2]
            kind = f"{signal.Signals(number).name} to {struck}, {case.name}"
            tally = tallies.setdefault((number, case.name, struck), Tally(kind))
            tally.lasted(lasted)
            if outcome in ("early", "late"):
                tally.tries += 1
                setattr(tally, outcome, getattr(tally, outcome) + 1)
            else:
                tally.count(outcome)
    yield from (tallies[key] for key in sorted(tallies, key=lambda k: (CASES_BY[k[1]], k)))


CASES = (RULE, GENERATOR)
CASES_BY = {case.name: i for i, case in enumerate(CASES)}
