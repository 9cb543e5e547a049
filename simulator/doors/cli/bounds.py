"""The command ``dpcompose bounds``."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from simulator.doors.cli import options
from simulator.doors.cli.factorisation import NAME as FACTORISATION
from simulator.doors.cli.factorisation import Factorisation, factorisation_options
from simulator.doors.cli.output import end, number, print_json, print_table, say
from simulator.doors.cli.random_allocation import NAME as ALLOCATION
from simulator.doors.cli.random_allocation import Allocation, allocation_options
from simulator.foundations.validation import numeral
from simulator.theory.bounds.comparison import Row
from simulator.theory.events import read_account
from simulator.theory.events.mechanisms import MECHANISMS, compare

ROUND_DELTA = 1e-10
"""The default of --round-delta."""
PICTURE_DELTAS = tuple(10.0**-exponent for exponent in range(1, 13))
"""The deltas at which a picture has epsilon."""

Evaluate = Callable[..., Sequence[Row]]
"""``evaluate(delta=..., epsilon=...)``, of which one is None, returns the rows of the table."""


class Schedule(click.ParamType):
    """``0.1`` or ``0.1x500,0.2x300``: parameters, each with or without a number of rounds."""

    name = "schedule"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[tuple[float, int | None]]:
        """Return (parameter, rounds or None) of each part; fail with one line."""
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


def with_rounds(
    schedule: list[tuple[float, int | None]], rounds: int | None, flag: str
) -> list[tuple[float, int]]:
    """The schedule with the rounds of every part; a single part may take those of --rounds."""
    counted = [(amount, count) for amount, count in schedule if count is not None]
    if len(counted) == len(schedule):
        total = sum(count for _, count in counted)
        if rounds is not None and rounds != total:
            raise click.UsageError(f"--rounds is {rounds}, but {flag} has {total} rounds")
        return counted
    if len(schedule) > 1:
        raise click.UsageError(f"give the rounds of every part, as {flag} 0.1x500,0.2x300")
    if rounds is None:
        raise click.UsageError(f"give --rounds, or {flag} 0.1x1000")
    return [(schedule[0][0], rounds)]


def counted(schedule: list[tuple[float, int | None]]) -> int | None:
    """The rounds of a schedule, or None where a part has none."""
    counts = [count for _, count in schedule if count is not None]
    return sum(counts) if counts and len(counts) == len(schedule) else None


def schedule_of(
    mechanism: str, *, epsilon: Any, sigma: Any, rate: float | None, reports: int | None
) -> tuple[list[tuple[float, int | None]], str]:
    """The schedule and its option; raises UsageError for an option that does not fit."""
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
            f"{mechanism} takes {' and '.join(needed)}, and not {' or '.join(rest)}"
        )
    return given[flag], flag


@click.command()
@options.event
@click.option(
    "--mechanism",
    type=options.Named([*MECHANISMS, ALLOCATION, FACTORISATION]),
    default=None,
    help="The mechanism of every round.  [default: pure]",
)
@click.option(
    "--round-epsilon",
    type=Schedule(),
    default=None,
    metavar="EPSILON",
    help="Epsilon of a round; for gaussian mu = sensitivity/sigma. Of several: 0.1x500,0.2x300.",
)
@click.option(
    "--sigma",
    type=Schedule(),
    default=None,
    metavar="SIGMA",
    help="For subsampled-gaussian: noise over sensitivity of a round; as --round-epsilon.",
)
@click.option(
    "--rate",
    type=float,
    default=None,
    help="For subsampled mechanisms: the probability that a record is sampled in a round.",
)
@click.option(
    "--reports", type=int, default=None, help="For shuffled: the number of reports, one per person."
)
@click.option(
    "--rounds",
    type=options.Numbers(click.INT),
    metavar="K[,K...]",
    default=None,
    help="Rounds k, unless --round-epsilon has them; by default 1 for shuffled.",
)
@click.option(
    "--delta",
    type=options.Numbers(click.FLOAT),
    metavar="DELTA[,DELTA...]",
    default=None,
    help="Print epsilon at each delta.  [default: 1e-6]",
)
@click.option(
    "--epsilon",
    type=options.Numbers(click.FLOAT),
    metavar="EPSILON[,EPSILON...]",
    default=None,
    help="Print delta at each epsilon instead.",
)
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
    help="Print this bound, or the reason why it does not apply; may be repeated.",
)
@click.option(
    "--tolerance",
    type=float,
    default=None,
    help="Largest relative width of the exact row, such as 1e-10.",
)
@allocation_options
@factorisation_options
@options.plot
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, with all digits.")
@options.as_json
def bounds(
    *,
    event: str | None,
    mechanism: str | None,
    round_epsilon: list[tuple[float, int | None]] | None,
    sigma: list[tuple[float, int | None]] | None,
    rate: float | None,
    reports: int | None,
    rounds: tuple[int, ...] | None,
    delta: tuple[float, ...] | None,
    epsilon: tuple[float, ...] | None,
    round_delta: float | None,
    names: tuple[str, ...],
    tolerance: float | None,
    plot: Path | None,
    as_csv: bool,
    as_json: bool,
    allocation: Allocation,
    factorisation: Factorisation,
) -> None:
    r"""Compare the bounds of the literature with the exact answer.

    \b
    Examples:
      dpcompose bounds --mechanism laplace --round-epsilon 0.1 --rounds 1000 --delta 1e-6
      dpcompose bounds --mechanism pure --round-epsilon 0.1x500,0.2x300 --epsilon 20
      dpcompose bounds --mechanism subsampled-gaussian --sigma 1 --rate 0.01 --rounds 1000
      dpcompose bounds --mechanism shuffled --round-epsilon 1 --reports 10000
      dpcompose bounds --mechanism random-allocation --sigma 1 --steps 100 --epochs 10
      dpcompose bounds --mechanism matrix-factorisation --sigma 3 --bins 10 --rounds 100
          --coefficients 1,0.5 --epsilon 4
      dpcompose bounds --event training.json --delta 1e-5
      dpcompose bounds --round-epsilon 0.1 --rounds 10,100,1000 --delta 1e-5,1e-6 --csv

    Prints a table sorted by tightness. An upper bound is never below the truth; an approximation
    may be. Columns lower and upper enclose the bound, rounding included: an exact row is exact to
    their distance.
    """
    if delta is not None and epsilon is not None:
        raise click.UsageError("give --delta or --epsilon, not both")
    if as_csv and as_json:
        raise click.UsageError("give --csv or --json, not both")
    if plot is not None and len(rounds or ()) > 1:
        raise click.UsageError("--plot draws one composition: give one number to --rounds")
    how: dict[str, Any] = {"names": names, "tolerance": tolerance}
    compositions: dict[int | None, Evaluate] = {}
    if mechanism != FACTORISATION:
        factorisation.refuse_given(drawing=mechanism == ALLOCATION)
    if mechanism != ALLOCATION:
        allocation.refuse_given()
    if event is not None:
        given = (mechanism, round_epsilon, sigma, rate, reports, rounds, round_delta)
        if any(each is not None for each in given):
            raise click.UsageError(
                "--event describes all rounds: leave out --mechanism and the options of rounds"
            )
        account = read_account(options.text_of(event))
        what = f"{event} under {account.relation}"
        title = f"composition of {what}"
        compositions[None] = partial(account.compare, **how)
    else:
        what = mechanism or "pure"
        parameters = {"epsilon": round_epsilon, "sigma": sigma, "rate": rate, "reports": reports}
        title = title_of(what, parameters | {"rounds": rounds[0] if rounds else None})
        for count in rounds or (counted(round_epsilon or sigma or []),):
            if what == FACTORISATION:
                foreign = (round_epsilon, rate, reports, round_delta, tolerance, plot, event)
                compositions[count] = factorisation.evaluation(sigma, count, names, foreign)
                continue
            if what == ALLOCATION:
                others = (round_epsilon, rate, reports, rounds, round_delta)
                certified = allocation.evaluation(sigma, others, **how)
                compositions[None] = factorisation.beside(certified, sigma, allocation)
                continue
            compositions[count] = bounds_of_mechanism(what, parameters, count, round_delta, **how)
    answers = [
        GridPoint(count, "delta" if epsilon is None else "epsilon", at, list(evaluate(**question)))
        for count, evaluate in compositions.items()
        for at, question in questions(delta, epsilon)
    ]
    grid = len(answers) > 1
    if plot is not None:
        draw(next(iter(compositions.values())), answers[0].rows, title, plot)
    if as_json:
        print_json({"bounds": [row for each in answers for row in each.as_dicts(full=grid)]})
    elif as_csv:
        print_csv(answers)
    else:
        for place, each in enumerate(answers):
            say(end="\n" if place else "")
            print_answers(
                each, what if len(compositions) == 1 else f"{what}, {each.rounds} rounds", tolerance
            )


class GridPoint(NamedTuple):
    """The rows at one point of a grid: a number of rounds, and a delta or an epsilon."""

    rounds: int | None
    at: str
    point: float
    rows: list[Row]

    @property
    def wanted(self) -> str:
        """What the rows answer."""
        return "delta" if self.at == "epsilon" else "epsilon"

    def as_dicts(self, *, full: bool = True) -> list[dict[str, Any]]:
        """The rows as plain values, in full with the point."""
        point = {"rounds": self.rounds, self.at: self.point} if full else {}
        return [
            point
            | {
                "name": row.name,
                "kind": row.kind,
                self.wanted: row.answer.value,
                "lower": row.answer.lower,
                "upper": row.answer.upper,
                "source": row.source,
                "seconds": row.seconds,
            }
            for row in self.rows
        ]


def questions(
    delta: tuple[float, ...] | None, epsilon: tuple[float, ...] | None
) -> list[tuple[float, dict[str, float | None]]]:
    """Every point with the arguments of its evaluation."""
    if epsilon is None:
        return [(at, {"delta": at, "epsilon": None}) for at in delta or (1e-6,)]
    return [(at, {"delta": None, "epsilon": at}) for at in epsilon]


def print_csv(answers: Sequence[GridPoint]) -> None:
    """Print one line for each bound at each point."""
    table = io.StringIO()
    columns = ("rounds", "delta", "epsilon", "lower", "upper", "name", "kind", "source")
    writer = csv.DictWriter(table, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(row for each in answers for row in each.as_dicts())
    say(table.getvalue(), end="")


def print_answers(answers: GridPoint, what: str, tolerance: float | None) -> None:
    """Print the rows at one point as a table."""
    # enough digits to show the width that --tolerance sets
    digits = 8 if tolerance is None else max(8, 2 + math.ceil(-math.log10(tolerance)))
    print_table(
        f"{answers.wanted} of {what} at {answers.at} = {number(answers.point)}",
        ("bound", "kind", answers.wanted, "lower", "upper", "source"),
        [
            (
                row.name,
                row.kind,
                number(row.answer.value, digits),
                end(row.answer.lower, ROUND_FLOOR, digits),
                end(row.answer.upper, ROUND_CEILING, digits),
                row.source,
            )
            for row in answers.rows
        ],
        right=(answers.wanted, "lower", "upper"),
    )


def title_of(mechanism: str, parameters: dict[str, Any]) -> str:
    """The title of a picture: the mechanism and its parameters."""
    words = []
    for name, value in parameters.items():
        if isinstance(value, list):
            each = ", ".join(f"{v:g}" + (f"x{count}" if count else "") for v, count in value)
            words.append(f"{name} {each}")
        elif value is not None:
            words.append(f"{name} {value:g}")
    return f"composition of {mechanism}: {', '.join(words)}"


def draw(evaluate: Evaluate, rows: Sequence[Row], title: str, path: Path) -> None:
    """Draw epsilon against delta for every row, into a file."""
    from simulator.analysis.plots import paper_figure, plot_bounds
    from simulator.analysis.plots.names import label
    from simulator.analysis.plots.style import save_as

    found = [
        {row.name: row.answer.value for row in evaluate(delta=delta, epsilon=None)}
        for delta in PICTURE_DELTAS
    ]
    curves = {label(row.name): [each.get(row.name, math.nan) for each in found] for row in rows}
    tightest_first = dict(sorted(curves.items(), key=lambda item: item[1][-1]))
    with paper_figure(width=6.2, height=3.6) as (figure, axes):
        exact = [label(row.name) for row in rows if row.kind == "exact"]
        plot_bounds(axes, PICTURE_DELTAS, tightest_first, exact)
        axes.set_title(title)
        save_as(figure, path)


def bounds_of_mechanism(
    mechanism: str,
    parameters: dict[str, Any],
    rounds: int | None,
    round_delta: float | None,
    **how: Any,
) -> Evaluate:
    """The bounds on rounds that all play one mechanism."""
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
        with_rounds(schedule, rounds, flag),
        leak=round_delta,
        rate=1.0 if rate is None else rate,
        reports=1 if reports is None else reports,
        **how,
    )
