"""``dpcompose bounds``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from functools import partial
from pathlib import Path
from typing import Any

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import end, number, print_json, print_table
from simulator.foundations.validation import numeral
from simulator.theory.bounds.comparison import Row
from simulator.theory.events import read_account
from simulator.theory.events.mechanisms import MECHANISMS, compare

ROUND_DELTA = 1e-10
DRAWN = tuple(10.0**-exponent for exponent in range(1, 13))
"""The deltas of a picture."""

Evaluate = Callable[..., list[Row]]
"""``evaluate(delta=..., epsilon=...)``, one of both None."""


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
                parts.append((numeral(amount), int(count) if times else None))
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


def schedule_of(
    mechanism: str, *, epsilon: Any, sigma: Any, rate: float | None, reports: int | None
) -> tuple[list[tuple[float, int | None]], str]:
    """The schedule and its flag, if just the options are given that the mechanism takes."""
    named = MECHANISMS[mechanism]
    takes = {
        "--sigma" if named.noisy else "--round-epsilon": True,
        "--round-epsilon" if named.noisy else "--sigma": False,
        "--rate": named.sampled,
        "--reports": named.shuffled,
    }
    given = {"--round-epsilon": epsilon, "--sigma": sigma, "--rate": rate, "--reports": reports}
    flag = next(iter(takes))
    if any((given[name] is not None) != wanted for name, wanted in takes.items()):
        needed = [name for name, wanted in takes.items() if wanted]
        rest = [name for name, wanted in takes.items() if not wanted]
        raise click.UsageError(
            f"{mechanism} takes {' and '.join(needed)}, and no {' nor '.join(rest)}"
        )
    return given[flag], flag


@click.command()
@options.event
@click.option(
    "--mechanism",
    type=options.Named(list(MECHANISMS)),
    default=None,
    help="What every round runs.  [default: pure]",
)
@click.option(
    "--round-epsilon",
    type=Schedule(),
    default=None,
    metavar="EPSILON",
    help="Of every round; for gaussian mu = sensitivity/sigma. Heterogeneous: 0.1x500,0.2x300.",
)
@click.option(
    "--sigma",
    type=Schedule(),
    default=None,
    metavar="SIGMA",
    help="For subsampled-gaussian: noise over sensitivity, of every round, as --round-epsilon.",
)
@click.option(
    "--rate",
    type=float,
    default=None,
    help="For subsampled mechanisms: the probability that a record is sampled in a round.",
)
@click.option(
    "--reports", type=int, default=None, help="For shuffled: how many people send one report each."
)
@click.option(
    "--rounds",
    type=int,
    default=None,
    help="Rounds k, unless --round-epsilon has them; 1 for shuffled.",
)
@click.option("--delta", type=float, default=None, help="Print epsilon(delta).  [default: 1e-6]")
@click.option("--epsilon", type=float, default=None, help="Print delta(epsilon) instead.")
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
    help="Print only this bound, and say why if it does not apply; may be repeated.",
)
@click.option(
    "--tolerance",
    type=float,
    default=None,
    help="Relative width that the exact row must keep, such as 1e-10.",
)
@options.plot
@options.as_json
def bounds(
    *,
    event: str | None,
    mechanism: str | None,
    round_epsilon: list[tuple[float, int | None]] | None,
    sigma: list[tuple[float, int | None]] | None,
    rate: float | None,
    reports: int | None,
    rounds: int | None,
    delta: float | None,
    epsilon: float | None,
    round_delta: float | None,
    names: tuple[str, ...],
    tolerance: float | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    r"""Set every bound of the literature beside the exact answer.

    \b
    Examples:
      dpcompose bounds --mechanism laplace --round-epsilon 0.1 --rounds 1000 --delta 1e-6
      dpcompose bounds --mechanism pure --round-epsilon 0.1x500,0.2x300 --epsilon 20
      dpcompose bounds --mechanism subsampled-gaussian --sigma 1 --rate 0.01 --rounds 1000
      dpcompose bounds --mechanism shuffled --round-epsilon 1 --reports 10000
      dpcompose bounds --event training.json --delta 1e-5

    Prints a table sorted by tightness. An upper bound is never below the truth, an approximation
    may be; lower and upper enclose the truth as far as the row certifies it, all rounding included:
    an exact row is exact to their distance.
    """
    if delta is not None and epsilon is not None:
        raise click.UsageError("give --delta or --epsilon, not both")
    if delta is None and epsilon is None:
        delta = 1e-6
    wanted = "delta" if epsilon is not None else "epsilon"
    if event is not None:
        given = (mechanism, round_epsilon, sigma, rate, reports, rounds, round_delta)
        if any(each is not None for each in given):
            raise click.UsageError("--event has all of the rounds: give no other option of theirs")
        account = read_account(options.text_of(event))
        what = f"{event} under {account.relation}"
        titled = f"composition of {what}"
        evaluate: Evaluate = partial(account.compare, names=names, tolerance=tolerance)
    else:
        what = mechanism or "pure"
        parameters = {"epsilon": round_epsilon, "sigma": sigma, "rate": rate, "reports": reports}
        titled = _titled(what, parameters | {"rounds": rounds})
        evaluate = _of_mechanism(
            what, parameters, rounds, round_delta, names=names, tolerance=tolerance
        )
    rows = evaluate(delta=delta, epsilon=epsilon)
    if plot is not None:
        draw(evaluate, rows, titled, plot)
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
    # Enough to see the width that --tolerance sets.
    digits = 8 if tolerance is None else max(8, 2 + math.ceil(-math.log10(tolerance)))
    print_table(
        f"{wanted} of {what} at {'delta' if epsilon is None else 'epsilon'} = "
        f"{number((delta or 0.0) if epsilon is None else epsilon)}",
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


def _titled(mechanism: str, parameters: dict[str, Any]) -> str:
    """A mechanism with its parameters, as they were given."""
    words = []
    for name, value in parameters.items():
        if isinstance(value, list):
            each = ", ".join(f"{v:g}" + (f"x{count}" if count else "") for v, count in value)
            words.append(f"{name} {each}")
        elif value is not None:
            words.append(f"{name} {value:g}")
    return f"composition of {mechanism}: {', '.join(words)}"


def draw(evaluate: Evaluate, rows: Sequence[Row], titled: str, path: Path) -> None:
    """Draw the epsilon of every row against delta into a file."""
    from simulator.analysis.plots import paper_figure, plot_bounds
    from simulator.analysis.plots.style import save_as

    found = [{row.name: row.answer.value for row in evaluate(delta=d, epsilon=None)} for d in DRAWN]
    named = {row.name: [one.get(row.name, math.nan) for one in found] for row in rows}
    tightest = dict(sorted(named.items(), key=lambda item: item[1][-1]))
    with paper_figure(width=6.2, height=3.6) as (figure, axes):
        plot_bounds(axes, DRAWN, tightest, [row.name for row in rows if row.kind == "exact"])
        axes.set_title(titled)
        save_as(figure, path)


def _of_mechanism(
    mechanism: str,
    parameters: dict[str, Any],
    rounds: int | None,
    round_delta: float | None,
    **how: Any,
) -> Evaluate:
    """The bounds on rounds that all run one mechanism."""
    named = MECHANISMS[mechanism]
    if round_delta is None:
        round_delta = ROUND_DELTA if named.leaks else 0.0
    schedule, flag = schedule_of(mechanism, **parameters)
    if named.shuffled and len(schedule) == 1 and schedule[0][1] is None:
        rounds = rounds or 1
    rate, reports = parameters["rate"], parameters["reports"]
    return partial(
        compare,
        mechanism,
        filled(schedule, rounds, flag),
        leak=round_delta,
        rate=1.0 if rate is None else rate,
        reports=1 if reports is None else reports,
        **how,
    )
