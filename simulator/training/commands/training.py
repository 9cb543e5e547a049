"""The command ``dpcompose training``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from decimal import ROUND_CEILING, ROUND_FLOOR
from typing import TYPE_CHECKING, Any

import click

from simulator.doors.cli import options
from simulator.doors.cli.numerals import Numeral
from simulator.doors.cli.output import note, number, print_json, print_table, say
from simulator.foundations.errors import NotApplicable
from simulator.foundations.strangers import read_text
from simulator.foundations.wording import rounded

if TYPE_CHECKING:
    from simulator.training.as_trained.described import TrainingRun

WHOLE, REAL = Numeral(click.INT), Numeral(click.FLOAT)


@click.command()
@click.option("--noise", type=REAL, help="Noise multiplier: standard deviation over C.")
@click.option("--records", type=WHOLE, help="Records of the data set.")
@click.option("--batch", type=WHOLE, help="Expected records of a batch.")
@click.option("--epochs", type=REAL, help="Epochs, or --steps.")
@click.option("--steps", type=WHOLE, help="Steps, or --epochs.")
@click.option("--delta", type=REAL, help="The delta of every epsilon.")
@click.option("--cut", type=WHOLE, help="Largest sample where samples are cut.  [batch + 25%]")
@click.option(
    "--settings",
    metavar="FILE.json",
    help="Settings of Opacus or jax_privacy, or the state of an accountant of Opacus.",
)
@click.option(
    "--canaries", type=WHOLE, default=500, show_default=True, help="Of a one-run audit; 0: none."
)
@click.option(
    "--play", "trials", type=WHOLE, default=0, metavar="TRIALS", help="Play every loader as well."
)
@options.seed
@click.option(
    "--libraries/--no-libraries", default=True, help="Whether to call installed accountants."
)
@options.as_json
def training(
    *,
    settings: str | None,
    canaries: int,
    trials: int,
    seed: int,
    libraries: bool,
    as_json: bool,
    **numbers: Any,
) -> None:
    r"""Print what a training by DP-SGD loses, for each way in which its loader forms batches.

    \b
    Examples:
      dpcompose training --noise 1 --records 50000 --batch 500 --epochs 10 --delta 1e-5
      dpcompose training --settings settings.json --records 50000 --play 2000

    C is the norm that each record's gradient is clipped at. A record that is there or not moves a
    sum by C, one that is replaced by any other by 2C. The columns lower and upper enclose epsilon,
    rounding included. "One run" is what an audit of one training shows, in a play with that many
    canaries and their best scores; "played" is a lower end, with 95% for all loaders together.
    """
    from simulator.training.as_trained.described import left_out, training_of

    text = None if settings is None else read_text(settings)
    run = training_of(numbers, text)
    rows = list(table(run, canaries, trials, seed))
    claims = claimed(run) if libraries else []
    at_best = None
    if canaries:
        from simulator.training.as_trained.shown import shown_at_best

        at_best = shown_at_best(canaries, run.delta).epsilon
    if as_json:
        print_json({
            "training": {name: getattr(run, name) for name in (
                "noise", "records", "batch", "steps", "delta", "rate",
            )} | {"steps_per_epoch": run.per_epoch},
            "loaders": rows, "accountants": claims, "one_run_at_best": at_best,
        })  # fmt: skip
    else:
        show(run, rows, claims, {"canaries": canaries, "at_best": at_best, "played": trials})
    if text is not None and (unread := left_out(text)):
        note(f"settings: not read: {', '.join(unread)}")


def table(run: TrainingRun, canaries: int, trials: int, seed: int) -> Iterator[dict[str, Any]]:
    """The rows as plain values, one after the other; each loader is audited and played once."""
    from simulator.training.as_trained.played import played_epsilon
    from simulator.training.as_trained.rows import loader_rows
    from simulator.training.as_trained.shown import shown_by_play

    done: set[str] = set()
    for row in loader_rows(run):
        loader, one_run, played = row.loader, None, None
        if loader not in done and canaries:
            with suppress(NotApplicable):
                one_run = shown_by_play(run, loader, canaries, seed=seed).epsilon
        if loader not in done and trials:
            with suppress(NotApplicable):
                played = played_epsilon(run, loader, trials, seed)
        done.add(loader)
        yield {
            "loader": loader, "neighbours": row.neighbours, "lower": row.epsilon.lower,
            "upper": row.epsilon.upper, "one_run": one_run, "played": played, "source": row.source,
        }  # fmt: skip


def claimed(run: TrainingRun) -> list[dict[str, Any]]:
    """The claims of accountants as plain values."""
    from simulator.training.as_trained.claims import claims_of

    return [vars(claim) for claim in claims_of(run)]


def show(
    run: TrainingRun,
    rows: list[dict[str, Any]],
    claims: list[dict[str, Any]],
    more: dict[str, Any],
) -> None:
    """Print the table, and below it the accountants and the limit of the audit."""
    columns = ["batches", "neighbours", "lower", "upper"]
    columns += ["one run"] if more["canaries"] else []
    columns += ["played"] if more["played"] else []
    cells = []
    for row in rows:
        upper = row["upper"]
        line = [
            row["loader"],
            row["neighbours"],
            rounded(row["lower"], ROUND_FLOOR, 6) if row["lower"] > 0.0 else "",
            rounded(upper, ROUND_CEILING, 6) if math.isfinite(upper) else "",
        ]
        for name, wanted in (("one_run", "canaries"), ("played", "played")):
            if more[wanted]:
                line.append("" if row[name] is None else number(row[name], 4))
        cells.append([*line, row["source"]])
    print_table(
        f"epsilon at delta = {run.delta:g} of {run.steps} step{'s' * (run.steps > 1)} "
        f"({run.per_epoch} per epoch), noise {run.noise:g} C, rate {run.rate:.6g}",
        (*columns, "what it rests on"), cells, right=columns[2:], spare=("what it rests on",),
    )  # fmt: skip
    say("Accountants state the first row: Poisson samples, add-remove.")
    for claim in claims:
        if math.isnan(claim["epsilon"]):
            what = f"none ({claim['why']})"
        else:
            what = number(claim["epsilon"], 7)
        say(f"  {claim['accountant']}: {what}{_other_rate(run, claim['accountant'])}")
    if more["canaries"]:
        say(
            f"One run with {more['canaries']} canaries shows at most {number(more['at_best'])} "
            "(95%), all guesses right, whatever the noise."
        )


def _other_rate(run: TrainingRun, accountant: str) -> str:
    """What Opacus samples at, where that is not the rate of the table."""
    stated = run.rate != run.batch / run.records
    if not accountant.startswith("opacus") or stated or run.rate == run.opacus_rate:
        return ""
    return (
        f"; its loader samples at {run.opacus_rate:.6g}, 1 / {run.per_epoch} batches: give that as "
        f"sample_rate in settings, the rate here is {run.rate:.6g}"
    )
