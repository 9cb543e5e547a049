"""Whole-process times: of the command before and after its work, and of all that README shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from experiments import stages
from experiments.benchmarks.measure import Line, command_seconds, program_seconds
from experiments.command import group

COMPILES = shlex.split("simulate press-when-ahead --family pure:0.1 --rounds 10 --trials 1000")


def start() -> Iterator[Line]:
    """Processor time of the command before it does anything."""
    for words in (["--help"], *([name, "--help"] for name in group().list_commands(None))):
        spent = min(command_seconds(words) for _ in range(3))
        name = " ".join(["dpcompose", *words])
        yield Line(f"{name}: time", spent, "s", 0.3, at_least=False)


def end() -> Iterator[Line]:
    """The time from a command's last line to its exit, when it ignores signals."""
    spent = min(_after_its_last_line() for _ in range(3))
    yield Line(
        "command that compiled: its end", spent, "s after its last line", 0.5, at_least=False
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


def stored() -> Iterator[Line]:
    """Processor time of a command whose kernel an earlier one has stored."""
    words = shlex.split(
        "simulate press-when-ahead --family pure:.2 --rounds 100 --trials 100000 --jobs 1"
    )
    command_seconds(words)
    spent = min(command_seconds(words) for _ in range(3))
    numpys = min(program_seconds("import numpy") for _ in range(3))
    detail = {"import_of_numpy": numpys, "ratio": spent / numpys}
    yield Line("command with a stored kernel", spent, "s", 1.5, at_least=False, detail=detail)


def of_readme() -> Iterator[Line]:
    """Processor time of each program and each command that README shows, in new processes."""
    text = (stages.ROOT / "README.md").read_text(encoding="utf-8")
    programs = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    for number, program in enumerate(programs, start=1):
        spent = min(program_seconds(program) for _ in range(3))
        target = 2.0 if number == 1 else None
        yield Line(f"README, program {number}", spent, "s", target, at_least=False)
    for command in re.findall(r"^(?:\$|   ) dpcompose (.*)$", text, flags=re.MULTILINE):
        spent = command_seconds(shlex.split(command))
        yield Line(f"README, dpcompose {command.split()[0]}", spent, "s")


FIRST = """
import sys
from experiments.benchmarks import adversaries
from simulator import simulate
simulate(adversaries.mechanism_anew, adversaries.PURE, 100, 100_000, jobs=1, progress=False)
"""


def first_programs() -> Iterator[Line]:
    """Processor time of the first program of a process, in ten million rounds of two experiments.

    No kernel of its mechanism was compiled before, or one for another adversary, or its own.
    """
    program = FIRST.replace("import sys", f"import sys; sys.path.insert(0, {str(stages.ROOT)!r})")
    numpys = min(program_seconds("import numpy") for _ in range(3))
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        for name, target, dropped in (
            ("a new mechanism", None, "*"), ("a new adversary", 1.0, "*.kernel"),
            ("played before", 1.0, ""),
        ):  # fmt: skip
            spent = []
            for _ in range(3):
                for file in cache.glob(dropped) if dropped else ():
                    file.unlink()
                with patch.dict(os.environ, {"DPCOMPOSE_CACHE": str(cache)}):
                    spent.append(program_seconds(program))
            detail = {"import_of_numpy": numpys, "ratio": min(spent) / numpys}
            yield Line(f"first program of a process, {name}", min(spent), "s", target,
                       at_least=False, detail=detail)  # fmt: skip


BENCHMARKS = (start, end, stored, first_programs, of_readme)
