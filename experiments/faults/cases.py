"""The runs that are played, whole and interrupted, and their comparison."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.command import main
from simulator.foundations.errors import DpcomposeError
from simulator.runner.store import RunStore

ATTACK = f"{Path(__file__).with_name('attack.py')}:press"
COMMAND = (sys.executable, "-c", "from simulator.doors.cli import main; main()")

_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class Case:
    """A call of ``dpcompose simulate``."""

    name: str
    arguments: tuple[str, ...]

    def call(self, folder: Path, jobs: int = 2) -> list[str]:
        """Its arguments, with its folder."""
        return ["simulate", *self.arguments, "--json", "--jobs", str(jobs), "--out", str(folder)]

    def start(self, folder: Path, jobs: int = 2, **options: Any) -> subprocess.Popen[str]:
        """Start it as a process in a new session."""
        return subprocess.Popen(
            [*COMMAND, *self.call(folder, jobs)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **options,
        )


RULE = Case(
    "rule, two threads",
    ("press-when-ahead", "--family=pure:0.2", "--rounds=100", "--trials=200000", "--seed=5"),
)
GENERATOR = Case(
    "generator, two processes",
    (ATTACK, "--family=pure:0.2", "--rounds=100", "--trials=3930", "--seed=5"),
)
SMALL = Case(
    "generator, small", (ATTACK, "--family=pure:0.2", "--rounds=43000", "--trials=6", "--seed=5")
)


@dataclass(frozen=True)
class Whole:
    """A run without a fault."""

    printed: dict[str, Any]
    stored: dict[tuple[int, int], bytes]
    seconds: float

    @classmethod
    def of(cls, case: Case, folder: Path) -> Whole:
        """Play it in another process."""
        start = time.monotonic()
        process = case.start(folder)
        out, err = process.communicate()
        if process.returncode:
            raise RuntimeError(err)
        return cls(lasting(json.loads(out)), stored(folder), time.monotonic() - start)


def lasting(printed: dict[str, Any]) -> dict[str, Any]:
    """What a command printed, without its times."""
    return {key: value for key, value in printed.items() if "second" not in key}


def stored(folder: Path) -> dict[tuple[int, int], bytes]:
    """The bytes of every stored block, by experiment and block."""
    found = {}
    store = RunStore.load(folder)
    try:
        for each in store.read():
            arrays = [each.arrays[name].tobytes() for name in sorted(each.arrays)]
            found[each.experiment, each.block] = b"".join(arrays)
    finally:
        store.close()
    return found


def resumed(case: Case, folder: Path) -> tuple[int, str, str]:
    """Resume a run in this process, which has compiled its rule: (exit code, output, errors)."""
    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    with _one_at_a_time, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(case.call(folder, jobs=1))
        except SystemExit as left:
            code = left.code
    return int(code or 0), out.getvalue(), err.getvalue()


def difference(case: Case, whole: Whole, folder: Path) -> str:
    """How a resumed run differs from the whole one, or ""."""
    code, out, err = resumed(case, folder)
    if code:
        return f"resuming exits {code}: {err.strip()}"
    if lasting(json.loads(out)) != whole.printed:
        return "resumed, it prints something else"
    if stored(folder) != whole.stored:
        return "resumed, it stores something else"
    return ""


@dataclass
class Tally:
    """The outcomes of the tries of one kind.

    Attributes
    ----------
    equal : ended or resumed with the bits of the run without a fault.
    lines : refused by one line, with nothing changed.
    early : died by the signal before the command's first statement, as any program of Python.
    late : ended before the signal.
    wrong : other outcomes, as text.
    slowest : seconds until the last process of a killed run had ended.
    """

    kind: str
    tries: int = 0
    equal: int = 0
    lines: int = 0
    early: int = 0
    late: int = 0
    wrong: list[str] = field(default_factory=list)
    slowest: float | None = None

    def count(self, outcome: str) -> None:
        """Count one outcome: ``equal``, ``lines``, or what is wrong."""
        self.tries += 1
        if outcome in ("equal", "lines"):
            setattr(self, outcome, getattr(self, outcome) + 1)
        else:
            self.wrong.append(outcome)

    def lasted(self, seconds: float) -> None:
        """Record the time until a killed run's processes had ended."""
        self.slowest = max(self.slowest or 0.0, seconds)


def line_or_equal(call: Callable[[], bool]) -> str:
    """The outcome of a call that returns whether its result is correct."""
    try:
        return "equal" if call() else "another result"
    except DpcomposeError as error:
        return "lines" if "\n" not in str(error) else f"more than a line: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
