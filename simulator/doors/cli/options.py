"""Options that several commands share, and the types of their values."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from simulator.data.databases import ADD_REMOVE, RELATIONS, Relation
from simulator.doors.cli.numerals import Numeral
from simulator.foundations import grammar
from simulator.foundations.errors import InvalidInput
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.named import FORMS, parse_guarantee
from simulator.theory.guarantees.pure import PureDP


class Family(click.ParamType):
    """A family of mechanisms, as ``pure:0.2``."""

    name = "family"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Guarantee:
        """Return the family, or fail with one line."""
        if isinstance(value, Guarantee):
            return value
        try:
            family = parse_guarantee(value)
        except InvalidInput as error:
            self.fail(str(error), param, ctx)
        if family.implies(PureDP(0.0)):
            self.fail(f"{value} allows no loss at all; its parameter must be above 0", param, ctx)
        return family


class Numbers(click.ParamType):
    """One number or several, as ``10,100,1000``."""

    name = "numbers"

    def __init__(self, each: click.ParamType) -> None:
        self.each = Numeral(each)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Any, ...]:
        """Return the numbers, or fail with one line."""
        if isinstance(value, tuple):
            return value
        return tuple(self.each.convert(part.strip(), param, ctx) for part in value.split(","))


class Duration(click.ParamType):
    """A time above zero in seconds, as ``600``; also ``600s``, ``10m`` or ``2h``."""

    name = "seconds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the seconds, or fail with one line."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)([smh]?)", value.strip())
        if found is None:
            self.fail(f"{value!r} is not a time; write 600 (seconds), 10m or 2h", param, ctx)
        seconds = float(found[1]) * UNITS[found[2]]
        if seconds == 0.0:
            self.fail(f"{value!r} must be above 0; write 600 (seconds), 10m or 2h", param, ctx)
        return seconds


UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
"""Seconds in each unit of a duration."""


def relation_of(text: str) -> Relation:
    """The neighbouring relation of that name."""
    return RELATIONS[text]


class Picture(click.ParamType):
    """A file to draw into: its folder exists, and its name ends in .png, .svg or .pdf."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path, or fail with one line, before anything is played."""
        # imports matplotlib, which most calls do not need
        from simulator.analysis.plots.style import drawable

        try:
            return drawable(value)
        except InvalidInput as error:
            self.fail(str(error), param, ctx)


class Size(click.ParamType):
    """The size of a picture in inches, as ``7x3``."""

    name = "size"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float]:
        """Return the width and the height, or fail with one line."""
        if isinstance(value, tuple):
            return value
        found = re.fullmatch(r"(\d{1,2}(?:\.\d{1,4})?)x(\d{1,2}(?:\.\d{1,4})?)", value)
        if found is None or min(size := (float(found[1]), float(found[2]))) < 1.0:
            self.fail(f"{value!r} is not a size; write WIDTHxHEIGHT in inches, as 7x3", param, ctx)
        return size


class Export(click.ParamType):
    """A file to write a table into: its folder exists, and its name ends in .csv or .parquet."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path, or fail with one line, before anything is played."""
        from simulator.foundations.frames import exportable

        try:
            return exportable(value)
        except InvalidInput as error:
            self.fail(str(error), param, ctx)


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

family: Decorator = click.option(
    "--family",
    type=Family(),
    required=True,
    metavar="FAMILY",
    help=f"The class of mechanisms that the adversary must choose from: {FORMS}.",
)
rounds: Decorator = click.option("--rounds", type=int, required=True, help="Rounds k of a trial.")
seed: Decorator = click.option(
    "--seed", type=int, default=0, show_default=True, help="Root seed of every random draw."
)
jobs: Decorator = click.option(
    "--jobs", type=int, default=None, help="Parallel workers; every core by default."
)
as_json: Decorator = click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
relation: Decorator = click.option(
    "--relation",
    type=click.Choice(list(RELATIONS)),
    default=str(ADD_REMOVE),
    show_default=True,
    help="When two databases are neighbours.",
)
event: Decorator = click.option(
    "--event",
    metavar="FILE",
    default=None,
    help="JSON of an event tree, or of an Opacus history, with all rounds.",
)
confidence: Decorator = click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    help="Confidence of each interval.",
)
out: Decorator = click.option(
    "--out",
    type=click.Path(),
    help="Store every finished block in this folder, and resume from it.",
)
plot: Decorator = click.option(
    "--plot",
    type=Picture(),
    default=None,
    metavar="FILE",
    help="Draw the result here: .png, .svg or .pdf.",
)
table: Decorator = click.option(
    "--table",
    type=Export(),
    default=None,
    metavar="FILE",
    help="Write every loss here: .csv, or .parquet where pyarrow or polars is installed.",
)
keep: Decorator = click.option(
    "--keep",
    type=click.Choice(["losses", "summary"]),
    default=None,
    help="Keep each loss, 8 bytes per trial, or count losses in bins, in constant memory; by "
    "default losses up to ten million trials.",
)
privacy_filter: Decorator = click.option(
    "--filter",
    "filter_text",
    default=None,
    metavar="FILTER",
    help="A privacy filter before every query: NAME:EPSILON[,DELTA[,ROUNDS_DELTA]].",
)


seconds: Decorator = click.option(
    "--seconds",
    type=Duration(),
    default=None,
    metavar="SECONDS",
    help="Play as many trials as fit: 600 (seconds), 10m or 2h; at most --trials.",
)


def trials(default: int | None = None, required: bool = True) -> Decorator:
    """The option --trials, with a default, or required or not."""
    return click.option(
        "--trials",
        type=int,
        required=required and default is None,
        default=default,
        show_default=default is not None,
        help="Trials of each experiment.",
    )


class CommandOfMechanisms(click.Command):
    """A command whose help lists the mechanisms with their parameters."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and the mechanisms below them."""
        from simulator.theory.events.named import mechanism_names, named_mechanism

        super().format_options(ctx, formatter)
        rows = []
        for name in mechanism_names():
            with suppress(InvalidInput):  # its code is gone
                mechanism = named_mechanism(name)
                rows.append((grammar.form(name, mechanism.parameters), mechanism.about))
        with formatter.section("Mechanisms (capitals are required; [,parameter=default])"):
            formatter.write_dl(rows, col_max=34)
