"""The command ``dpcompose audit``."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any, get_args

import click

from simulator.auditing.audits.defaults import CONFIDENCE, SAMPLES
from simulator.auditing.audits.patterns import Neighbours
from simulator.doors.cli import options
from simulator.doors.cli.output import note, print_json, say
from simulator.foundations.errors import InvalidInput
from simulator.theory.guarantees.named import FORMS

if TYPE_CHECKING:
    from simulator.theory.guarantees.interface import Guarantee

NOTHING_AUDITED = 3
"""The exit code of an audit that could not have found anything, as of an estimate refused."""


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
    "--length", type=int, help="Try the standard pairs of vectors of this length instead."
)
@click.option(
    "--neighbours",
    type=click.Choice(get_args(Neighbours)),
    default="all coordinates",
    show_default=True,
    help="What may differ in the pairs of --length.",
)
@click.option(
    "--samples",
    type=int,
    default=SAMPLES,
    show_default=True,
    help="At most this many draws per input.",
)
@click.option(
    "--confidence",
    type=float,
    default=CONFIDENCE,
    show_default=True,
    help="1 minus the largest probability that a verdict of violation is false.",
)
@options.seed
@click.option(
    "--epsilon", type=float, help="Bound delta at this epsilon; by default at the claimed one."
)
@click.option(
    "--delta", type=float, help="Bound epsilon at this delta; by default at the claimed one."
)
@click.option(
    "--bits/--no-bits",
    default=True,
    show_default=True,
    help="Compare every bit of floats, or twelve significant digits.",
)
@click.option(
    "--whole-budget", is_flag=True, help="Go on after the verdict is clear, for larger bounds."
)
@click.option("--seconds", type=float, help="Stop drawing after this time.")
@click.option(
    "--time-limit",
    type=float,
    default=60.0,
    show_default=True,
    help="Seconds that one call may take.",
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
    r"""Test whether MECHANISM, a black box, keeps the guarantee that it claims.

    MECHANISM is path/to/file.py:function: a function (input, n, rng) that returns n answers, or
    (input, rng) or (input) that returns one. Answers may be any objects; an exception is an answer.

    \b
    Example:
      dpcompose audit noise.py:laplace --claimed pure:0.1 --pair 0 1

    Exits with 1 when the claim is violated, and with 3 when nothing was audited, because every
    answer is the same on both inputs.
    """
    # slow to import; --help does not need them
    from simulator.adversaries.loading import from_file
    from simulator.auditing.audits import audit as audit_mechanism

    path, colon, function = mechanism.rpartition(":")
    if not colon or not path.endswith(".py"):
        raise InvalidInput(f"give a mechanism as path/to/file.py:function, not {mechanism!r}")
    sample = from_file(path, function, "mechanism")
    if not pairs and length is None:
        raise InvalidInput("give two inputs with --pair INPUT_0 INPUT_1, or give --length")
    found = audit_mechanism(
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
    if found.unaudited and not found.violated:
        note(found.unaudited)
        return NOTHING_AUDITED
    return 1 if found.violated else 0


def literal(text: str) -> Any:
    """The value of a Python literal, or the text itself if it is not a literal."""
    try:
        return value_of(text)
    except InvalidInput:
        return text


def value_of(text: str) -> Any:
    """The value of a Python literal; raises InvalidInput for other text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise InvalidInput(
            f"pair must be two Python literals, as [0.2, 0.9] or \"'text'\", not {text:.60}",
            argument="pair",
        ) from None
