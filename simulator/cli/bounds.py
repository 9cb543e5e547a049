"""``dpcompose bounds`` and ``dpcompose calibrate``."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR
from typing import Any

import click

from simulator.cli import options
from simulator.cli.output import end, number, print_json, print_table
from simulator.theory import calibrate as ladder
from simulator.theory.comparison import MECHANISMS, compare
from simulator.theory.guarantees import BoundedRange, GaussianDP, Guarantee, PureDP

ROUND_DELTA = 1e-10


class Schedule(click.ParamType):
    """``0.1`` or ``0.1x500,0.2x300``: parameters, each with a number of rounds or without."""

    name = "schedule"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[tuple[float, int | None]]:
        """Read it, or fail with one line."""
        if isinstance(value, list):
            return value
        parts: list[tuple[float, int | None]] = []
        for part in value.split(","):
            amount, times, count = part.partition("x")
            try:
                parts.append((float(amount), int(count) if times else None))
            except ValueError:
                self.fail(f"{part!r} is not of the form 0.1 or 0.1x500", param, ctx)
        return parts


def filled(
    schedule: list[tuple[float, int | None]], rounds: int | None, flag: str
) -> list[tuple[float, int]]:
    """The schedule with every number of rounds; only a single part may leave it to --rounds."""
    counted = [(amount, count) for amount, count in schedule if count is not None]
    if len(counted) == len(schedule):
        total = sum(count for _, count in counted)
        if rounds is not None and rounds != total:
            raise click.UsageError(f"--rounds {rounds} does not match the {total} in {flag}")
        return counted
    if len(schedule) > 1:
        raise click.UsageError(f"write the rounds of every part, as {flag} 0.1x500,0.2x300")
    if rounds is None:
        raise click.UsageError(f"give --rounds, or write the rounds as {flag} 0.1x1000")
    return [(schedule[0][0], rounds)]


def asked_schedule(
    mechanism: str, epsilon: Any, sigma: Any, rate: float | None
) -> tuple[list[tuple[float, int | None]], str]:
    """The schedule and its flag: a sampled mechanism has --sigma and --rate, others --epsilon."""
    if MECHANISMS[mechanism].sampled:
        if sigma is None or rate is None or epsilon is not None:
            raise click.UsageError(f"{mechanism} takes --sigma and --rate, and no --epsilon")
        return sigma, "--sigma"
    if sigma is not None or rate is not None:
        raise click.UsageError(f"{mechanism} takes --epsilon, and neither --sigma nor --rate")
    if epsilon is None:
        raise click.UsageError("Missing option '--epsilon'.")
    return epsilon, "--epsilon"


@click.command()
@click.option(
    "--mechanism",
    type=click.Choice(list(MECHANISMS)),
    default="pure",
    show_default=True,
    help="What every round runs.",
)
@click.option(
    "--epsilon",
    type=Schedule(),
    default=None,
    metavar="EPSILON",
    help="Per round; for gaussian mu = sensitivity/sigma. Heterogeneous: 0.1x500,0.2x300.",
)
@click.option(
    "--sigma",
    type=Schedule(),
    default=None,
    metavar="SIGMA",
    help="For subsampled-gaussian: noise over sensitivity, per round, as --epsilon.",
)
@click.option(
    "--rate",
    type=float,
    default=None,
    help="For subsampled-gaussian: the probability that a record is sampled in a round.",
)
@click.option("--rounds", type=int, default=None, help="Rounds k, unless --epsilon tells them.")
@click.option("--delta", type=float, default=None, help="Ask for the epsilon at this delta.")
@click.option("--at", type=float, default=None, help="Ask for the delta at this epsilon instead.")
@click.option(
    "--round-delta",
    type=float,
    default=None,
    help=f"The delta of every round, for the mechanism approx.  [default: {ROUND_DELTA:g}]",
)
@click.option(
    "--bound",
    "names",
    multiple=True,
    metavar="NAME",
    help="Ask only this bound, and say why if it does not apply; may be repeated.",
)
@click.option(
    "--tolerance",
    type=float,
    default=None,
    help="Relative width that the exact row must keep, such as 1e-10.",
)
@options.as_json
def bounds(
    *,
    mechanism: str,
    epsilon: list[tuple[float, int | None]] | None,
    sigma: list[tuple[float, int | None]] | None,
    rate: float | None,
    rounds: int | None,
    delta: float | None,
    at: float | None,
    round_delta: float | None,
    names: tuple[str, ...],
    tolerance: float | None,
    as_json: bool,
) -> None:
    r"""Set every bound of the literature beside the exact answer.

    \b
    Examples:
      dpcompose bounds --mechanism laplace --epsilon 0.1 --rounds 1000 --delta 1e-6
      dpcompose bounds --mechanism pure --epsilon 0.1x500,0.2x300 --at 20
      dpcompose bounds --mechanism subsampled-gaussian --sigma 1 --rate 0.01 --rounds 1000

    Prints a table sorted by tightness. An upper bound is never below the truth, an approximation
    may be; lower and upper enclose the truth as far as the row certifies it, all rounding included:
    an exact row is exact to their distance.
    """
    if delta is not None and at is not None:
        raise click.UsageError("give --delta or --at, not both")
    if delta is None and at is None:
        delta = 1e-6
    wanted = "delta" if at is not None else "epsilon"
    if round_delta is None:
        round_delta = ROUND_DELTA if MECHANISMS[mechanism].leaks else 0.0
    schedule, flag = asked_schedule(mechanism, epsilon, sigma, rate)
    rows = compare(
        mechanism,
        filled(schedule, rounds, flag),
        delta=delta,
        epsilon=at,
        leak=round_delta,
        rate=1.0 if rate is None else rate,
        names=names,
        tolerance=tolerance,
    )
    if as_json:
        print_json(
            {
                "bounds": [
                    {
                        "name": row.name,
                        "kind": row.kind,
                        wanted: row.answer.value,
                        "lower": row.answer.lower,
                        "upper": row.answer.upper,
                        "source": row.source,
                        "seconds": row.seconds,
                    }
                    for row in rows
                ]
            }
        )
        return
    # Enough to see the width that was asked for.
    digits = 8 if tolerance is None else max(8, 2 + math.ceil(-math.log10(tolerance)))
    print_table(
        f"{wanted} of {mechanism} at {'delta' if at is None else 'epsilon'} = "
        f"{number((delta or 0.0) if at is None else at)}",
        ("bound", "kind", wanted, "lower", "upper", "source"),
        [
            (
                row.name,
                row.kind,
                number(row.answer.value, digits),
                end(row.answer.lower, ROUND_FLOOR, digits),
                end(row.answer.upper, ROUND_CEILING, digits),
                row.source,
            )
            for row in rows
        ],
        right=(wanted, "lower", "upper"),
    )


FAMILIES: dict[str, type[Guarantee]] = {
    "pure": PureDP,
    "gaussian": GaussianDP,
    "range": BoundedRange,
}


@click.command()
@click.option("--target-epsilon", type=float, required=True, help="Allowed over all rounds.")
@click.option("--target-delta", type=float, required=True, help="Allowed over all rounds.")
@click.option("--rounds", type=int, required=True, help="Rounds k.")
@click.option(
    "--family",
    type=click.Choice(list(FAMILIES)),
    default="pure",
    show_default=True,
    help="What a round promises: epsilon-DP, mu-Gaussian, or epsilon-bounded range.",
)
@options.as_json
def calibrate(
    target_epsilon: float, target_delta: float, rounds: int, family: str, as_json: bool
) -> None:
    r"""Print the largest per-round epsilon that each bound admits for a target over all rounds.

    \b
    Example (ten thousand databases, total loss 1 except with probability e^-32):
      dpcompose calibrate --target-epsilon 1 --target-delta 1.2664e-14 --rounds 10000
    """
    make: Any = FAMILIES[family]
    rungs = ladder(target_epsilon, target_delta, rounds, family=make)
    if as_json:
        print_json(
            {
                "rungs": [
                    {
                        "name": rung.name,
                        "kind": rung.kind,
                        "parameter": rung.value,
                        "noise": rung.noise,
                        "source": rung.source,
                    }
                    for rung in rungs
                ]
            }
        )
        return
    parameter = "mu" if family == "gaussian" else "epsilon"
    print_table(
        f"Largest {parameter} of each of {rounds} rounds for a total of "
        f"({number(target_epsilon)}, {number(target_delta)})",
        ("bound", "kind", parameter, "1 in", "source"),
        [
            (rung.name, rung.kind, number(rung.value, 8), number(rung.noise, 6), rung.source)
            for rung in rungs
        ],
        right=(parameter, "1 in"),
    )
