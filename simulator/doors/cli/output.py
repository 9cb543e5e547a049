"""Print a result on standard output: a table for people, JSON for machines.

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
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import TYPE_CHECKING, Any, TextIO

import click

from simulator.foundations.errors import InvalidInput
from simulator.foundations.wording import printable

if TYPE_CHECKING:
    from simulator.theory.bracket import Bracket

_results: list[TextIO] = []
"""Where the results of the commands that are running go, the innermost last."""


def apart(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command, with what :func:`say` prints kept apart from what users' code prints."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        _results.append(sys.stdout)
        try:
            with contextlib.redirect_stdout(sys.stderr):
                return command(*arguments, **options)
        except InvalidInput as error:
            if error.argument:
                error.args = (_with_option(str(error), error.argument),)
            raise
        finally:
            _results.pop()

    return run


def _with_option(message: str, argument: str) -> str:
    """The message with the running command's option in place of the argument that begins it."""
    context = click.get_current_context(silent=True)
    option = f"--{argument.replace('_', '-')}"
    options = [] if context is None else [each.opts for each in context.command.params]
    rest = message.removeprefix(argument)
    return option + rest if [option] in options and rest != message else message


def say(text: object = "", end: str = "\n") -> None:
    """Print a part of a command's result."""
    print(printable(str(text)), end=end, file=_results[-1] if _results else sys.stdout)


def print_json(value: Any) -> None:
    """Print one JSON document; numbers that JSON does not know become null."""
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
    """Print rows of text; the columns named in ``right`` are set flush right."""
    from rich.console import Console  # most calls print JSON, or help
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console(file=sys.__stdout__, highlight=False, markup=False)
    if not console.is_terminal:  # a pipe or a file is as wide as the table
        console.width = 240
    with console.capture() as drawn:  # rich would end the program when the reader goes away
        console.print(table)
    say(title)
    say("\n".join(line.rstrip() for line in drawn.get().splitlines()))


def tell(label: str, text: str) -> None:
    """Print a labelled text, in lines that fit where the output is a terminal."""
    width = shutil.get_terminal_size().columns if sys.__stdout__ and sys.__stdout__.isatty() else 0
    lines = textwrap.wrap(text, max(width - 13, 30)) if width else [text]
    for i, line in enumerate(lines or [""]):
        say(f"{'' if i else label:<11} {line}")


def number(value: float, digits: int = 4) -> str:
    """A number for people to read."""
    return f"{value:.{digits}g}"


def end(value: float, rounding: str, digits: int = 8) -> str:
    """A certain end to so many digits, 15 at most, rounded so that it stays certain."""
    if not math.isfinite(value):
        return number(value, digits)
    return number(float(Context(prec=digits, rounding=rounding).create_decimal(value)), digits)


def certain(bracket: Bracket) -> str:
    """``[lower, upper]``, both certain as printed."""
    return f"[{end(bracket.lower, ROUND_FLOOR)}, {end(bracket.upper, ROUND_CEILING)}]"
