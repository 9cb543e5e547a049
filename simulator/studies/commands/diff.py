"""The command ``dpcompose diff``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import number, print_json, say
from simulator.foundations.errors import InvalidInput
from simulator.foundations.wording import count_of

if TYPE_CHECKING:
    from simulator.studies import Point


@click.command()
@click.argument("one", type=click.Path(path_type=Path))
@click.argument("other", type=click.Path(path_type=Path))
@options.as_json
def diff(*, one: Path, other: Path, as_json: bool) -> None:
    r"""Compare two studies: which quantities moved by more than chance.

    \b
    Example:
      dpcompose diff before.csv after.csv

    ONE and OTHER are tables of `dpcompose sweep`, of two versions, seeds or machines. A quantity
    has moved where its wide ends, which miss with probability 1e-6, have no number in common; the
    false-alarm probability is that of the whole table. Exit code 1 if a quantity has moved.
    """
    from simulator.studies import Study, compare  # slow to import

    found = compare(Study.load(one), Study.load(other))
    if not found.compared:
        raise InvalidInput(f"no quantity is both in {one} and in {other}: nothing is compared")
    if as_json:
        print_json(
            {
                "moved": [
                    {"one": each.one.row(), "other": each.other.row()} for each in found.moved
                ],
                "compared": found.compared,
                "only_one": len(found.only_one),
                "only_other": len(found.only_other),
                "false_alarm": found.false_alarm,
            }
        )
    else:
        for each in found.moved:
            p = each.one
            say(
                f"moved: {p.quantity} of {p.adversary}, {p.family}, k={p.rounds}, "
                f"b={p.experiment}: {ends(each.one)} and {ends(each.other)}"
            )
        say(
            f"{len(found.moved)} of {count_of(found.compared, 'quantity', 'quantities')} moved "
            f"(false alarm at most {number(found.false_alarm, 2)} for all)"
        )
        for path, lacking in ((one, found.only_one), (other, found.only_other)):
            if lacking:
                say(f"{count_of(len(lacking), 'quantity', 'quantities')} only in {path}")
    if found.moved:
        click.get_current_context().exit(1)


def ends(point: Point) -> str:
    """A value with its wide ends."""
    wide = f"[{number(point.sure_lower)}, {number(point.sure_upper)}]"
    return f"{number(point.value)} {wide}"
