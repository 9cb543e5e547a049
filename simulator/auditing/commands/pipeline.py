"""The command ``dpcompose pipeline``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from simulator.auditing.commands.audit import value_of
from simulator.doors.cli import options
from simulator.doors.cli.output import print_json, say
from simulator.foundations.errors import InvalidInput
from simulator.theory.guarantees.named import FORMS

if TYPE_CHECKING:
    from simulator.theory.guarantees.interface import Guarantee


@click.command()
@click.argument("pipeline")
@click.option(
    "--claimed",
    type=options.Family(),
    metavar="GUARANTEE",
    help=f"What is claimed of the whole pipeline: {FORMS}.",
)
@click.option(
    "--pair",
    nargs=2,
    required=True,
    metavar="DATABASE_0 DATABASE_1",
    help="Two neighbouring databases, as Python literals.",
)
@click.option(
    "--patch",
    "patches",
    multiple=True,
    metavar="LIBRARY",
    help="Record this library's mechanisms: diffprivlib or opendp; may be repeated.",
)
@click.option("--delta", type=float, help="Report the composed epsilon at this delta.")
@options.seed
@options.as_json
def pipeline(
    *,
    pipeline: str,
    claimed: Guarantee | None,
    pair: tuple[str, str],
    patches: tuple[str, ...],
    delta: float | None,
    seed: int,
    as_json: bool,
) -> int:
    r"""Record PIPELINE on a database, and replay it on a neighbour with its answers frozen.

    PIPELINE is path/to/file.py:function: a function (database) or (database, rng). What differs
    between the runs is computed from the data without a mechanism.

    \b
    Example:
      dpcompose pipeline mean.py:mean --pair "[0.2, 0.9]" "[0.2]" --claimed pure:1

    Exits with 1 when the claim is violated.
    """
    # slow to import; --help does not need them
    from simulator.adversaries.loading import from_file
    from simulator.auditing import record

    path, colon, function = pipeline.rpartition(":")
    if not colon or not path.endswith(".py"):
        raise InvalidInput(f"give a pipeline as path/to/file.py:function, not {pipeline!r}")
    found = record(
        from_file(path, function, "pipeline"),
        value_of(pair[0]),
        value_of(pair[1]),
        claimed=claimed,
        patches=patches,
        delta=delta,
        seed=seed,
    )
    if as_json:
        print_json(found.as_dict())
    else:
        say(found)
    return 1 if found.violated else 0
