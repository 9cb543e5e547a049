"""``dpcompose audit``."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any, get_args

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import print_json, say
from simulator.foundations.errors import InvalidInput
from simulator.theory.guarantees.families import FORMS
from simulator.trials.auditing.defaults import CONFIDENCE, SAMPLES
from simulator.trials.auditing.patterns import Neighbours

if TYPE_CHECKING:
    from simulator.theory.guarantees.families import Guarantee


@click.command()
@click.argument("mechanism")
@click.option(
    "--claimed",
    type=options.Family(),
    required=True,
    metavar="GUARANTEE",
    help=f"What is claimed: {FORMS}.",
)
@click.option(
    "--pair",
    "pairs",
    nargs=2,
    multiple=True,
    metavar="INPUT_0 INPUT_1",
    help="Two neighbouring inputs, as Python literals; may be repeated.",
)
@click.option(
    "--length", type=int, help="Search the standard pairs of vectors of this length instead."
)
@click.option(
    "--neighbours",
    type=click.Choice(get_args(Neighbours)),
    default="all coordinates",
    show_default=True,
    help="What may differ in those.",
)
@click.option(
    "--samples", type=int, default=SAMPLES, show_default=True, help="The most draws per input."
)
@click.option(
    "--confidence",
    type=float,
    default=CONFIDENCE,
    show_default=True,
    help="A verdict of violation is false with probability 1 minus this, at most.",
)
@options.seed
@click.option("--epsilon", type=float, help="Bound delta here; by default at the claimed epsilon.")
@click.option("--delta", type=float, help="Bound epsilon here; by default at the claimed delta.")
@click.option(
    "--bits/--no-bits",
    default=True,
    show_default=True,
    help="Look at every bit of floats, or at twelve significant digits.",
)
@click.option(
    "--whole-budget", is_flag=True, help="Go on when the verdict is clear, for larger bounds."
)
@click.option("--seconds", type=float, help="Draw no more after this time.")
@click.option(
    "--time-limit", type=float, default=60.0, show_default=True, help="Seconds for one call."
)
@options.as_json
def audit(
    *,
    mechanism: str,
    claimed: Guarantee,
    pairs: tuple[tuple[str, str], ...],
    length: int | None,
    neighbours: Neighbours,
    samples: int,
    confidence: float,
    seed: int,
    epsilon: float | None,
    delta: float | None,
    bits: bool,
    whole_budget: bool,
    seconds: float | None,
    time_limit: float,
    as_json: bool,
) -> int:
    r"""Put MECHANISM, a black box, on trial for the guarantee that it claims.

    MECHANISM is path/to/file.py:function, a function (input, n, rng) that gives n answers, or one
    of (input, rng) or (input) that gives one. Answers may be anything; an exception is one.

    \b
    Example:
      dpcompose audit noise.py:laplace --claimed pure:0.1 --pair 0 1

    Exit code 1 says that the claim is violated.
    """
    # What plays takes longer to import than a page of help to print.
    from simulator.adversaries.loading import from_file
    from simulator.trials.auditing import audit as put_on_trial

    path, colon, function = mechanism.rpartition(":")
    if not colon or not path.endswith(".py"):
        raise InvalidInput(f"a mechanism is named as path/to/file.py:function, not {mechanism!r}")
    sample = from_file(path, function, "mechanism")
    if not pairs and length is None:
        raise InvalidInput("name two inputs with --pair INPUT_0 INPUT_1, or give --length")
    found = put_on_trial(
        sample,
        claimed=claimed,
        samples=samples,
        confidence=confidence,
        seed=seed,
        pairs=[(literal(a), literal(b)) for a, b in pairs] or None,
        length=length,
        neighbours=neighbours,
        epsilon=epsilon,
        delta=delta,
        bits=bits,
        stop_early=not whole_budget,
        seconds=math.inf if seconds is None else seconds,
        time_limit=time_limit,
    )
    if as_json:
        print_json(found.as_dict())
    else:
        say(found)
    return 1 if found.violated else 0


def literal(text: str) -> Any:
    """A Python literal, or the text itself where it is none."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
