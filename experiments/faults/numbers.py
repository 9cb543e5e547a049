"""Every flag of every command that takes a number, with numbers at the ends of their range.

Each try is a process of its own, with a limit of time and of memory. It may print an answer, or be
refused by one line.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import click

from experiments.faults import strangers
from experiments.faults.cases import Tally

VALUES = ("5e-324", "1e308", "-0.0", "nan", "inf", "0", "-1", f"1{'0' * 400}")
MOST = 400
"""Characters of a line that refuses a number."""


def flags(command: click.Command) -> list[str]:
    """The options of a command that take numbers."""
    return [
        max(option.opts, key=len)
        for option in command.params
        if isinstance(option, click.Option)
        and any(word in option.type.name for word in ("integer", "float"))
    ]


def with_flag(words: Sequence[str], flag: str, value: str) -> list[str]:
    """The words of a command with a value of a flag, in place of the one that is there."""
    found = list(words)
    if flag in found:
        found[found.index(flag) + 1] = value
        return found
    return [*found, flag, value]


def tried(words: Sequence[str], run: Path) -> str:
    """The outcome of a command in a folder with an adversary: ``equal``, ``lines``, or a fault."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "attack.py").write_text(strangers.BESIDE)
        (folder / "adapter.py").write_text(strangers.ADAPTER)
        (folder / "run").symlink_to(run)
        code, said, seconds = strangers.alone(partial(_called, words, folder))
    where = " ".join(word[:20] for word in words)
    if wrong := strangers.fault(code, said, seconds):
        return f"{where}: {wrong}"
    errors = [line for line in said.splitlines() if line.startswith("error: ")]
    if code == 2 and not (len(errors) == 1 and len(errors[0]) <= MOST):
        return f"{where}: no error of one short line: {said.strip()[-MOST:]}"
    return strangers.outcome(code)


def _called(words: Sequence[str], folder: Path) -> int:
    from simulator.doors.cli import run_and_write

    os.chdir(folder)
    return run_and_write(words)


def campaign(quick: bool) -> Iterator[Tally]:
    """Every command, flag and value, each once."""
    from simulator.doors.cli import group

    context = click.Context(group)
    tally, seen = Tally("an extreme number for a flag"), set()
    with tempfile.TemporaryDirectory() as name:
        run = strangers.a_run(Path(name))
        for words in list(strangers.COMMANDS.values())[:: 6 if quick else 1]:
            command = group.get_command(context, words[0])
            for flag in flags(command) if command else ():
                if (words[0], flag) in seen:
                    continue
                seen.add((words[0], flag))
                for value in VALUES[:1] if quick else VALUES:
                    tally.count(tried(with_flag(words, flag, value), run))
    yield tally
