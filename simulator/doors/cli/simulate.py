"""The command ``dpcompose simulate``."""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from decimal import ROUND_CEILING
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import number, print_json, print_table, say
from simulator.foundations.errors import InvalidInput
from simulator.foundations.wording import count_of, rounded

if TYPE_CHECKING:
    from simulator.analysis.result import Result
    from simulator.theory.guarantees.interface import Guarantee


@click.command()
@click.argument("adversary")
@options.family
@options.rounds
@options.trials(required=False)
@options.seconds
@options.seed
@options.jobs
@click.option(
    "--epsilon",
    type=float,
    multiple=True,
    help="Measure the tail and delta at this epsilon; may be repeated.",
)
@click.option("--delta", type=float, default=1e-6, show_default=True, help="Delta of the bounds.")
@options.confidence
@options.relation
@options.privacy_filter
@options.out
@click.option(
    "--keep-views",
    type=int,
    default=0,
    help="Print so many trials of each experiment, round by round.",
)
@click.option(
    "--block-size",
    type=int,
    default=0,
    help="Trials that are drawn and stored together; a smaller block is stored sooner. Another "
    "size gives other draws.  [default: by the number of rounds]",
)
@click.option("--trace", is_flag=True, help="Record the loss along the rounds, for the picture.")
@options.plot
@options.table
@options.keep
@click.option(
    "--part", metavar="I/N", help="Play only this part, into --out; see `dpcompose merge`."
)
@click.option(
    "--dask",
    metavar="ADDRESS",
    help="Play on the cluster of this Dask scheduler: an address or a scheduler file.",
)
@options.as_json
def simulate(
    *,
    adversary: str,
    family: Guarantee,
    rounds: int,
    trials: int | None,
    seconds: float | None,
    seed: int,
    jobs: int | None,
    epsilon: tuple[float, ...],
    delta: float,
    confidence: float,
    relation: str,
    filter_text: str | None,
    out: str | None,
    keep_views: int,
    block_size: int,
    trace: bool,
    plot: Path | None,
    table: Path | None,
    keep: str | None,
    part: str | None,
    dask: str | None,
    as_json: bool,
) -> None:
    r"""Play ADVERSARY in both experiments and measure its privacy loss.

    ADVERSARY is a name in the library (see `dpcompose adversaries`) or path/to/file.py:function;
    of a file with one adversary path/to/file.py is enough.

    \b
    Example:
      dpcompose simulate press-when-ahead --family pure:0.2 --rounds 100 --trials 20000 --seed 7
      dpcompose simulate press-when-ahead --family pure:0.2 --rounds 8 --trials 20000 \
          --keep-views 2 --trace --plot run.png

    At every --epsilon it prints the tail Pr[L > epsilon] and the hockey-stick divergence
    delta(epsilon), each with its interval; without --epsilon, at four quantiles of the losses.
    The bounds are the epsilons that the theorems grant at --delta.

    With --seconds the number of trials is fixed by plays that only measure speed; the result is
    that of a run with so many --trials. With --out the same command continues, for as long again.
    """
    # slow to import; --help does not need them
    from simulator.adversaries.loading import find_adversary
    from simulator.analysis import simulate as simulation
    from simulator.analysis.report import Questions, report
    from simulator.foundations.frames import export
    from simulator.runner.partial_runs import simulate_part
    from simulator.theory.filters.named import parse_filter

    if trials is None and seconds is None:
        raise click.UsageError(
            "Missing option '--trials' or '--seconds'.", click.get_current_context()
        )
    questions = Questions(epsilon, delta, confidence)
    if part is not None and (out is None or plot is not None or table is not None):
        raise InvalidInput(
            "a part is stored and has no result: give a folder with --out, and leave out --plot "
            "and --table"
        )
    if dask is not None and jobs is not None:
        raise InvalidInput("a cluster plays on all of its workers: leave out --jobs")
    played: dict[str, Any] = {
        "seed": seed, "relation": options.relation_of(relation), "jobs": jobs, "keep": keep,
        "filter": None if filter_text is None else parse_filter(filter_text),
        "keep_views": keep_views, "trace": trace, "block_size": block_size,
    }  # fmt: skip
    if part is not None and (trials is None or seconds is not None):
        raise InvalidInput(
            "a part needs the number of trials of the run: give --trials, and leave out --seconds"
        )
    game = find_adversary(adversary, family, rounds), family, rounds
    with contextlib.nullcontext() if dask is None else cluster_of(dask):
        if part is not None:
            assert out is not None
            assert trials is not None
            stored = simulate_part(*game, trials, part=part, out=out, **played)
            print_json(stored.as_dict()) if as_json else say(stored)
            return
        result = simulation.simulate(*game, trials, seconds=seconds, out=out, **played)
    summary = report(result, adversary, questions)
    transcripts = [result.transcript(view) for view in result.views]
    if as_json:
        print_json(
            summary | ({"views": [asdict(view) for view in transcripts]} if keep_views else {})
        )
    else:
        show(summary, delta)
        for view in transcripts:
            say(f"\n{view}")
    if table is not None:
        export(result, table)
    if plot is not None:
        draw(result, adversary, confidence, plot)


def cluster_of(address: str) -> contextlib.AbstractContextManager[None]:
    """The cluster of a Dask scheduler."""
    from simulator.runner.clusters.dask_cluster import dask_cluster  # loads joblib and asyncio

    return dask_cluster(address)


def draw(result: Result, name: str, confidence: float, path: Path) -> None:
    """Draw the run into a file."""
    from simulator.analysis.plots.style import save_as
    from simulator.analysis.run_picture import picture

    save_as(picture(result, name, confidence), path)


def widened(summary: dict[str, Any]) -> str:
    """One line on how much wider the intervals are, at most, because losses were binned."""
    points = [point for each in summary["experiments"].values() for point in each["points"]]
    tail, delta = (
        rounded(max(point[what].get("widened", 0.0) for point in points), ROUND_CEILING, 2)
        for what in ("tail", "delta")
    )
    return (
        f"The losses were counted in bins, which moves an end of Pr[L > epsilon] by {tail} at "
        f"most, and of delta(epsilon) by {delta}"
    )


def show(summary: dict[str, Any], delta: float) -> None:
    """Print a report as two tables."""
    rows = [
        (
            b,
            number(point["epsilon"]),
            *(
                f"{number(point[what]['value'])}  [{number(point[what]['lower'])}, "
                f"{number(point[what]['upper'])}]"
                for what in ("tail", "delta")
            ),
        )
        for b, measured in summary["experiments"].items()
        for point in measured["points"]
    ]
    print_table(
        f"{summary['adversary']} in {summary['family']}, {count_of(summary['rounds'], 'round')}, "
        f"{count_of(summary['trials'], 'trial')} per experiment, "
        f"{'' if (kept := summary['filter']) is None else f'filter {kept}, '}"
        f"seed {summary['seed']}, "
        f"{100 * summary['confidence']:g}% intervals",
        ("experiment", "epsilon", "Pr[L > epsilon]", "delta(epsilon)"),
        rows,
        right=("epsilon",),
    )
    if summary["keep"] == "summary":
        say(widened(summary))
    say()
    granted = [
        (b["name"], b["kind"], number(b["epsilon"], 6), b["source"]) for b in summary["bounds"]
    ]
    if granted:
        print_table(
            f"What the theorems grant at delta = {number(delta)}",
            ("bound", "kind", "epsilon", "source"),
            granted,
            right=("epsilon",),
            spare=("source",),
        )
    else:
        say(f"No theorem grants an epsilon at delta = {number(delta)}")
    say(
        f"\n{summary['seconds']:.2f} s, "
        f"{summary['rounds_per_second'] / 1e6:.2f} million rounds per second"
    )
