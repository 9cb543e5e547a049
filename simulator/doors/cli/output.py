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
from typing import TYPE_CHECKING, Any, Literal, TextIO

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


PIPED = 240
"""The width of a table in a pipe or a file."""
LEAST_NAME, LEAST_TEXT = 30, 10
"""Characters that the first column and other columns of text keep."""


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
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Sequence[str] = (),
    spare: Sequence[str] = (),
) -> None:
    """Print a title and rows of text.

    The columns named in ``right``, which are aligned right, are never broken; texts are, between
    words, and those of the first column last of all. Of the columns named in ``spare`` as many as
    needed are left out of a terminal that is too narrow, and named below. Columns that still do not
    fit stand one space apart.
    """
    from rich.console import Console  # slow to import; JSON and --help do not need it
    from rich.table import Table

    cells, width = [tuple(row) for row in rows], terminal_width()
    natural = [max(map(len, each)) for each in zip(columns, *cells)]
    kept = list(range(len(columns)))  # places, as two columns may have one name
    gap = 2

    def too_wide(widths: Iterable[int]) -> bool:
        return sum(each + gap for each in widths) - gap > (width or PIPED)

    for name in spare if width else ():
        if too_wide(natural[place] for place in kept):
            kept.remove(columns.index(name))
    widths = {place: natural[place] for place in kept}
    least = {place: LEAST_TEXT if place else LEAST_NAME for place in kept}
    least |= {place: natural[place] for place in kept[1:] if columns[place] in right}
    while too_wide(widths.values()):
        texts = [place for place in kept[1:] if widths[place] > least[place]]
        names = [place for place in kept[:1] if widths[place] > least[place]]
        if not (texts or names):
            if gap == 1:
                break
            gap = 1
            continue
        widths[max(texts or names, key=lambda place: widths[place])] -= 1
    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0))
    for place, room in widths.items():
        name = columns[place]
        justify: Literal["left", "right"] = "right" if name in right else "left"
        table.add_column(name, justify=justify, overflow="fold", width=room)
    for row in cells:
        table.add_row(*(row[place] for place in kept))
    console = Console(
        file=sys.__stdout__, highlight=False, markup=False, color_system=None,
        width=sum(widths.values()) + gap * len(widths),
    )  # fmt: skip
    with console.capture() as drawn:  # rich would exit on a closed pipe
        console.print(table)
    say(title)
    say("\n".join(line.rstrip() for line in drawn.get().splitlines()))
    if len(kept) < len(columns):
        left_out = ", ".join(name for place, name in enumerate(columns) if place not in kept)
        say(f"({left_out}: in a wider window, or in a file)")


def terminal_width() -> int | None:
    """The columns of the terminal that results are printed to; None for a pipe or a file."""
    there = sys.__stdout__ is not None and sys.__stdout__.isatty()
    return shutil.get_terminal_size().columns if there else None


def print_labelled(label: str, text: str) -> None:
    """Print a labelled text, wrapped if the output is a terminal."""
    width = terminal_width()
    lines = textwrap.wrap(text, max(width - 13, 30)) if width else [text]
    for i, line in enumerate(lines or [""]):
        say(f"{'' if i else label:<11} {line}")


def number(value: float, digits: int = 4) -> str:
    """A number as text, with so many significant digits."""
    return f"{value:.{digits}g}"


def certain(bracket: Bracket) -> str:
    """``[lower, upper]`` of a bracket, rounded so that both ends stay certified."""
    return f"[{rounded(bracket.lower, ROUND_FLOOR)}, {rounded(bracket.upper, ROUND_CEILING)}]"
