"""The one door to the terminal: a result on standard output, as text or as JSON, and notices.

The words of strangers are printed too, so every control character is written as an escape.

Standard output is for results alone: while a command runs, what other code prints goes to
standard error.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from typing import TYPE_CHECKING, Any, TextIO

import click

from simulator.foundations.errors import InvalidInput
from simulator.foundations.wording import in_short, printable, rounded
from simulator.runner.prompt_exit import standing_for_all

if TYPE_CHECKING:
    from simulator.theory.bracket import Bracket

_results: list[TextIO] = []
"""The streams for the results of the running commands, the innermost last."""


def redirecting(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command, with only what :func:`say` prints on standard output; the rest on error."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        _results.append(sys.stdout)
        try:
            with contextlib.redirect_stdout(sys.stderr), _standing(options):
                return command(*arguments, **options)
        except InvalidInput as error:
            if error.argument:
                error.args = (_with_option(str(error), error.argument),)
            raise
        finally:
            _results.pop()

    return run


def _standing(options: Mapping[str, Any]) -> contextlib.AbstractContextManager[None]:
    """Where a command takes no folder, an interruption must not advise one."""
    if "out" in options:
        return contextlib.nullcontext()
    return standing_for_all(lambda: "nothing is stored", always=False)


def _with_option(message: str, argument: str) -> str:
    """The message, with the running command's option in place of the argument at its beginning."""
    context = click.get_current_context(silent=True)
    option = f"--{argument.replace('_', '-')}"
    options = [] if context is None else [each.opts for each in context.command.params]
    rest = message.removeprefix(argument)
    return option + rest if [option] in options and rest != message else message


def say(text: object = "", end: str = "\n") -> None:
    """Print a part of a command's result on standard output."""
    print(printable(str(text)), end=end, file=_results[-1] if _results else sys.stdout)


def note(line: object) -> None:
    """Print one line on standard error: a notice, or an error."""
    print(in_short(" ".join(str(line).split())), file=sys.stderr)


def print_json(value: Any) -> None:
    """Print one JSON document; infinity and NaN become null."""
    say(json.dumps(strict(value), indent=2, allow_nan=False))


def strict(value: Any) -> Any:
    """The value with every infinity and NaN replaced by None, through lists and dicts."""
    if isinstance(value, dict):
        return {key: strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [strict(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def print_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()
) -> None:
    """Print a title and rows of text; the columns named in ``right`` are aligned right."""
    from rich.console import Console  # slow to import; JSON and --help do not need it
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console(file=sys.__stdout__, highlight=False, markup=False)
    if not console.is_terminal:  # a pipe or a file is as wide as the table
        console.width = 240
    with console.capture() as drawn:  # rich would exit on a closed pipe
        console.print(table)
    say(title)
    say("\n".join(line.rstrip() for line in drawn.get().splitlines()))


def print_labelled(label: str, text: str) -> None:
    """Print a labelled text, wrapped if the output is a terminal."""
    width = shutil.get_terminal_size().columns if sys.__stdout__ and sys.__stdout__.isatty() else 0
    lines = textwrap.wrap(text, max(width - 13, 30)) if width else [text]
    for i, line in enumerate(lines or [""]):
        say(f"{'' if i else label:<11} {line}")


def number(value: float, digits: int = 4) -> str:
    """A number as text, with so many significant digits."""
    return f"{value:.{digits}g}"


def certain(bracket: Bracket) -> str:
    """``[lower, upper]`` of a bracket, rounded so that both ends stay certified."""
    return f"[{rounded(bracket.lower, ROUND_FLOOR)}, {rounded(bracket.upper, ROUND_CEILING)}]"
