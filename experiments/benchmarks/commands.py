"""The time of the command: before it does anything, and after its last line."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

from experiments.benchmarks.measure import Line, command_seconds
from experiments.command import group

COMPILES = (
    "simulate",
    "press-when-ahead",
    "--family",
    "pure:0.1",
    "--rounds",
    "10",
    "--trials",
    "1000",
)


def start() -> Iterator[Line]:
    """Processor time of the command before it does anything."""
    for words in (["--help"], *([name, "--help"] for name in group().list_commands(None))):
        spent = min(command_seconds(words) for _ in range(3))
        name = " ".join(["dpcompose", *words])
        yield Line(f"{name}: time", spent, "s", 0.3, at_least=False)


def end() -> Iterator[Line]:
    """The time from a command's last line to its exit, in which it ignores signals."""
    spent = min(_after_its_last_line() for _ in range(3))
    yield Line(
        "command that compiled: its end", spent, "s after its last word", 0.5, at_least=False
    )


def _after_its_last_line() -> float:
    program = "from simulator.doors.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, *COMPILES],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    process.stdout.readline()  # results are written together
    printed = time.perf_counter()
    process.communicate()
    return time.perf_counter() - printed


BENCHMARKS = (start, end)
