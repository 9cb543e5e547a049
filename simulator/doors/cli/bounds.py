"""The command ``dpcompose bounds``."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import note, number, print_json, print_table, say
from simulator.foundations.strangers import read_text
from simulator.foundations.wording import count_of, exactly, rounded
from simulator.theory.bounds.base import ANY
from simulator.theory.bounds.comparison import Row, Rows
from simulator.theory.bracket import Kind
from simulator.theory.events import read_account
from simulator.theory.events.named import NamedRounds, compare, read_rounds

PICTURE_DELTAS = tuple(10.0**-exponent for exponent in range(1, 13))
"""The deltas at which a picture has epsilon."""

WHAT_IT_IS: dict[Kind, str] = {
    "upper": "upper bound",
    "exact": "exact",
    "fixed-pair": "certified for that pair",
    "lower": "lower bound",
    "approximation": "approximation",
    "estimate": "estimate",
}
"""The kinds in the words of a table."""

Evaluate = Callable[..., Rows]
"""``evaluate(delta=..., epsilon=...)``, of which one is None, returns the rows of the table."""


class Composite(NamedTuple):
    """Rounds to be evaluated: what they are, how many (None of a file), and their rows.

    With ``named`` the rows are those of named bounds.
    """

    what: str
    rounds: int | None
    evaluate: Evaluate
    named: bool


@click.command(cls=options.CommandOfMechanisms)
@click.argument("mechanisms", nargs=-1, metavar="MECHANISM...")
@options.event
@click.option(
    "--rounds",
    type=options.Numbers(click.INT),
    metavar="K[,K...]",
    default=None,
    help="Rounds k of one mechanism without *COUNT.  [default: 1]",
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
@click.option(
    "--why", is_flag=True, help="Print the lemmas behind each row, and where their proofs stand."
)
@options.plot
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, with all digits.")
@options.as_json
def bounds(
    *,
    mechanisms: tuple[str, ...],
    event: str | None,
    rounds: tuple[int, ...] | None,
    delta: tuple[float, ...] | None,
    epsilon: tuple[float, ...] | None,
    names: tuple[str, ...],
    tolerance: float | None,
    why: bool,
    plot: Path | None,
    as_csv: bool,
    as_json: bool,
) -> None:
    r"""Compare the bounds of the literature with the exact answer.

    MECHANISM is what a round runs, as NAME:VALUE,... or NAME:PARAMETER=VALUE,... of the list below;
    with *COUNT it is so many rounds, else one. Several are one composition.

    \b
    Examples:
      dpcompose bounds laplace:0.1 --rounds 1000 --delta 1e-6
      dpcompose bounds pure:0.1*500 pure:0.2*300 --epsilon 20
      dpcompose bounds subsampled-gaussian:sigma=1,rate=0.01 --rounds 1000
      dpcompose bounds random-allocation:sigma=1,steps=100,epochs=10
      dpcompose bounds --event training.json --delta 1e-5
      dpcompose bounds shuffled:epsilon=1,reports=10000 --why
      dpcompose bounds pure:0.1 --rounds 10,100,1000 --delta 1e-5,1e-6 --csv

    Prints a table sorted by tightness. An upper bound is never below the truth; an approximation
    may be. Columns lower and upper enclose the bound, rounding included: an exact row is exact to
    their distance. "Who plays" is the adversary whose game a number is about.
    """
    if delta is not None and epsilon is not None:
        raise click.UsageError("give --delta or --epsilon, not both")
    if as_csv and as_json:
        raise click.UsageError("give --csv or --json, not both")
    if why and (as_csv or as_json):
        raise click.UsageError("--why is of a table: leave out --csv and --json")
    how: dict[str, Any] = {"names": names, "tolerance": tolerance}
    if event is not None:
        if mechanisms or rounds is not None:
            raise click.UsageError("--event has all rounds: leave out MECHANISM and --rounds")
        account = read_account(read_text(event))
        played = re.findall(r'"kind": ?"(\w+)"', account.to_json())
        ground = [kind.replace("_", "-") for kind in played]
        title = f"{event} under {account.relation}"
        compositions = [Composite(title, None, partial(account.compare, **how), bool(names))]
    elif not mechanisms:
        raise click.UsageError("give a mechanism, as laplace:0.1, or --event FILE")
    else:
        games = grid(mechanisms, rounds)
        if plot is not None and any(each.mechanism.estimated for game in games for each in game):
            raise click.UsageError(f"--plot draws no estimates, as of {games[0][0].term.name}")
        ground = [each.term.name for game in games for each in game]
        compositions = [composite(played, how) for played in games]
    at = "delta" if epsilon is None else "epsilon"
    answers = [
        GridPoint(one, at, point, one.evaluate(**question))
        for one in compositions
        for point, question in questions(delta, epsilon)
    ]
    if plot is not None:
        along = [each for each in answers if each.point == answers[0].point]
        draw(along, plot)
    if as_json:
        full = len(answers) > 1
        print_json({"bounds": [row for each in answers for row in each.as_dicts(full=full)]})
    elif as_csv:
        print_csv(answers)
    else:
        for place, each in enumerate(answers):
            say(end="\n" if place else "")
            print_answers(each, tolerance)
        if why:
            print_lemmas([row.name for each in answers for row in each.rows], ground)
    for reason in dict.fromkeys(reason for each in answers for reason in each.rows.refused):
        note(reason)


def grid(mechanisms: Sequence[str], rounds: tuple[int, ...] | None) -> list[list[NamedRounds]]:
    """The rounds of each composition: one for each number of --rounds."""
    if len(mechanisms) == 1:
        return [[read_rounds(mechanisms[0], times)] for times in rounds or (None,)]
    played = [read_rounds(text) for text in mechanisms]
    total = sum(each.count for each in played)
    if rounds not in (None, (total,)):
        raise click.UsageError(f"--rounds is of one mechanism; these have {total} by *COUNT")
    return [played]


def composite(played: Sequence[NamedRounds], how: dict[str, Any]) -> Composite:
    """What is evaluated of some rounds, with the words of its title."""
    total = sum(each.count for each in played)
    if len(played) > 1:
        what = ", ".join(str(replace(each.term, count=each.count)) for each in played)
    elif played[0].mechanism.estimated:
        what = str(played[0].term)
    else:
        what = f"{count_of(total, 'round')} of {played[0].term}"
    return Composite(what, total, partial(compare, *played, **how), bool(how["names"]))


class GridPoint(NamedTuple):
    """The rows at one point of a grid: a composition, and a delta or an epsilon."""

    of: Composite
    at: str
    point: float
    rows: Rows

    @property
    def groups(self) -> list[list[Row]]:
        """The rows that state one number together, unless bounds were named."""
        return [[row] for row in self.rows] if self.of.named else self.rows.joined()

    @property
    def wanted(self) -> str:
        """What the rows answer."""
        return "delta" if self.at == "epsilon" else "epsilon"

    def as_dicts(self, *, full: bool = True) -> list[dict[str, Any]]:
        """The rows as plain values, in full with the point."""
        point = {"rounds": self.of.rounds, self.at: self.point} if full else {}
        return [
            point
            | {
                "name": row.name,
                "kind": row.kind,
                "adversary": row.adversary,
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
    numbers = ("rounds", "delta", "epsilon", "lower", "upper")
    columns = (*numbers, "name", "kind", "adversary", "source")
    writer = csv.DictWriter(table, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(row for each in answers for row in each.as_dicts())
    say(table.getvalue(), end="")


def print_answers(answers: GridPoint, tolerance: float | None) -> None:
    """Print the rows at one point as a table, those that state one number as one."""
    # enough digits to show the width that --tolerance sets
    digits = 8 if tolerance is None else max(8, 2 + math.ceil(-math.log10(tolerance)))
    print_table(
        f"{answers.wanted} of {answers.of.what} at {answers.at} = {exactly(answers.point)}",
        ("bound", "who plays", "what it is", answers.wanted, "lower", "upper", "source"),
        [
            (
                row.name,
                row.adversary,
                WHAT_IT_IS[row.kind],
                number(row.answer.value, digits),
                rounded(row.answer.lower, ROUND_FLOOR, digits),
                rounded(row.answer.upper, ROUND_CEILING, digits),
                "; the same number: ".join(
                    [row.source, *([", ".join(other.name for other in same)] if same else [])]
                ),
            )
            for row, *same in answers.groups
        ],
        right=(answers.wanted, "lower", "upper"), spare=("source", "who plays"),
    )  # fmt: skip
    if line := two_games(answers):
        say(line)


def print_lemmas(rows: Sequence[str], mechanisms: Sequence[str]) -> None:
    """Print the lemmas behind these rows and the laws of these mechanisms, each once.

    Each has its names, its title, its sentence and its file.
    """
    from simulator.theory.lemmas import lemmas_behind

    found = lemmas_behind([*rows, *mechanisms])
    for lemma, names in found:
        say()
        say(f"{', '.join(names)}: {lemma.title}")
        say(f"  {lemma.sentence}")
        say(f"  {lemma.place}")
    known = {name for _, names in found for name in names}
    without = [name for name in dict.fromkeys(rows) if name not in known]
    if without:
        say()
        say(f"without a lemma here: {', '.join(without)}")


def two_games(answers: GridPoint) -> str:
    """One line that says which row other accountants print, and what another adversary gets."""
    fixed = [row for row in answers.rows if row.kind == "fixed-pair"]
    free = [row for row in answers.rows if row.adversary == ANY and row.kind in ("exact", "upper")]
    if not (fixed and free):
        return ""
    best = min(free, key=lambda row: row.answer.upper)
    pair = number(fixed[0].answer.value, 6)
    turning = rounded(best.answer.upper, ROUND_CEILING, 6)
    return (
        f"Accountants such as Opacus and dp_accounting print {pair} (the same pair in every "
        "round); an adversary who exchanges the two databases from round to round gets "
        f"{'' if best.kind == 'exact' else 'at most '}{turning} ({best.name})."
    )


def _rounds(each: GridPoint) -> int:
    return each.of.rounds or 0


def draw(along: Sequence[GridPoint], path: Path) -> None:
    """Draw epsilon against delta, or the answer against several numbers of rounds, into a file."""
    from simulator.analysis.plots import paper_figure, plot_bounds
    from simulator.analysis.plots.names import label
    from simulator.analysis.plots.style import save_as, scientific

    first = along[0]
    along = sorted({each.of.rounds: each for each in along}.values(), key=_rounds)
    at: Sequence[float] = PICTURE_DELTAS
    texts = {}
    if len(along) == 1:
        answers = [first.of.evaluate(delta=delta, epsilon=None) for delta in PICTURE_DELTAS]
        title = f"composition of {first.of.what}"
    else:
        at, answers = [float(_rounds(each)) for each in along], [each.rows for each in along]
        title = first.of.what.partition(" ")[2]  # without the number of rounds
        symbol = {"delta": r"\delta", "epsilon": r"\varepsilon"}
        point = scientific(first.point) if 0.0 < first.point < 0.01 else f"{first.point:g}"
        ylabel = f"${symbol[first.wanted]}$ at ${symbol[first.at]} = {point}$"
        texts = {"xlabel": "rounds", "ylabel": ylabel}
    found = [{row.name: row.answer.value for row in each} for each in answers]
    rows = list({row.name: row for each in along for row in each.rows}.values())
    curves = {
        label(row.name, row.kind): [each.get(row.name, math.nan) for each in found] for row in rows
    }
    tightest_first = dict(sorted(curves.items(), key=lambda item: item[1][-1]))
    with paper_figure(width=6.2, height=3.6) as (figure, axes):
        exact = [label(row.name) for row in rows if row.kind == "exact"]
        plot_bounds(axes, at, tightest_first, exact, **texts)
        axes.set_title(title)
        save_as(figure, path)
