"""What a benchmark yields, and how two programs are timed against each other."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

Benchmark = Callable[[], Iterator["Line"]]
Clock = Callable[[], float]


@dataclass(frozen=True)
class Line:
    """One figure beside its target; ``at_least`` says which side of the target is good.

    ``detail`` holds what else was measured, as plain JSON. Without a target, or without a figure
    because a peer is not installed, there is no verdict.
    """

    name: str
    figure: float | None
    unit: str
    target: float | None = None
    _: KW_ONLY
    at_least: bool = True
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def met(self) -> bool | None:
        """Whether the target is met."""
        if self.figure is None or self.target is None:
            return None
        return self.figure >= self.target if self.at_least else self.figure <= self.target


def seconds(work: Callable[[], Any], clock: Clock = time.process_time) -> float:
    """The time of one call, by default of the processor."""
    start = clock()
    work()
    return clock() - start


REPEATS = 5
"""Pairs of runs that a ratio and its spread are of, where they are not quick."""
Spread = dict[str, list[float]]


def alternately(
    first: Callable[[], Any],
    second: Callable[[], Any],
    repeats: int = 7,
    clock: Clock = time.process_time,
) -> tuple[float, float, float, Spread]:
    """Time two programs A B A B ...; return the median of B/A, that of each, and the spread.

    The spread is the least and the largest B/A. Processor time by default: it leaves out what other
    processes take.
    """
    pairs = [(seconds(first, clock), seconds(second, clock)) for _ in range(repeats)]
    ratios = sorted(b / a for a, b in pairs)
    middle = [statistics.median(each) for each in zip(*pairs)]
    return statistics.median(ratios), middle[0], middle[1], {"spread": [ratios[0], ratios[-1]]}


def scaled(spread: Spread, factor: float) -> Spread:
    """The spread of a figure that is a ratio times a factor."""
    return {name: [factor * end for end in ends] for name, ends in spread.items()}


def peak_megabytes() -> float:
    """The most memory that this program has had so far.

    Not ru_maxrss where Linux says better: that counts what the parent had at the fork.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        (line,) = (each for each in status.read_text().splitlines() if each.startswith("VmHWM:"))
        return 1024 * int(line.split()[1]) / 1e6
    unit = 1.0 if sys.platform == "darwin" else 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def fresh(program: str) -> Any:
    """Run a Python program in a new process and return the JSON that it prints."""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return json.loads(run.stdout)


def command_seconds(words: list[str]) -> float:
    """Processor time of a command in a new process; it may end with 1, a negative verdict."""
    program = f"from simulator.doors.cli import main; main({words!r})"
    return program_seconds(program, statuses=(0, 1))


def program_seconds(
    program: str, statuses: tuple[int, ...] = (0,), environment: Mapping[str, str] | None = None
) -> float:
    """Processor time of a Python program in a new process, from start to exit, workers included.

    With cached bytecode, alone in a folder: a command may write files, and resume from them.
    ``environment`` has further variables, such as PYTHONPATH for the code of another revision.
    Raises RuntimeError where it ends with another exit status.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    kept |= environment or {}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as empty:
        file = Path(empty) / "program.py"  # as a user's: what stands in no file is not compiled
        file.write_text(program, encoding="utf-8")
        words = [sys.executable, file.name]
        run = subprocess.run(words, capture_output=True, text=True, env=kept, cwd=empty)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode not in statuses:
        raise RuntimeError(f"the program ended with {run.returncode}: {run.stderr[-500:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
