"""``dpcompose run``."""

from __future__ import annotations

from typing import Any

import click

from simulator.adversaries.loading import find_adversary
from simulator.cli import options
from simulator.cli.output import number, print_json, print_table
from simulator.run.report import Questions, report
from simulator.run.simulate import simulate
from simulator.theory.filters import parse_filter
from simulator.theory.guarantees import Guarantee


@click.command()
@click.argument("adversary")
@options.family
@options.rounds
@options.trials()
@options.seed
@options.jobs
@click.option("--epsilon", type=float, multiple=True, help="Measure here; may be repeated.")
@click.option("--delta", type=float, default=1e-6, show_default=True, help="Ask the bounds here.")
@options.confidence
@options.relation
@options.privacy_filter
@options.out
@options.as_json
def run(
    *,
    adversary: str,
    family: Guarantee,
    rounds: int,
    trials: int,
    seed: int,
    jobs: int | None,
    epsilon: tuple[float, ...],
    delta: float,
    confidence: float,
    relation: str,
    filter_text: str | None,
    out: str | None,
    as_json: bool,
) -> None:
    r"""Play ADVERSARY in both experiments and measure its privacy loss.

    ADVERSARY is a name of the library (see `dpcompose adversaries`) or path/to/file.py:function.

    \b
    Example:
      dpcompose run press-when-ahead --family pure:0.2 --rounds 100 --trials 20000 --seed 7

    At every --epsilon it reports the tail Pr[L > epsilon] and the hockey-stick divergence
    delta(epsilon), each with its interval; without --epsilon, at four points where the losses
    lie. The bounds are the epsilons that the theorems grant at --delta.
    """
    questions = Questions(epsilon, delta, confidence)
    result = simulate(
        find_adversary(adversary, family, rounds), family, rounds, trials,
        seed=seed, relation=options.relation_of(relation), jobs=jobs, out=out,
        filter=None if filter_text is None else parse_filter(filter_text),
    )  # fmt: skip
    summary = report(result, adversary, questions)
    if as_json:
        print_json(summary)
    else:
        show(summary, delta)


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
        f"{summary['adversary']} in {summary['family']}, {summary['rounds']} rounds, "
        f"{summary['trials']} trials per experiment, seed {summary['seed']}, "
        f"{100 * summary['confidence']:g}% intervals",
        ("experiment", "epsilon", "Pr[L > epsilon]", "delta(epsilon)"),
        rows,
        right=("epsilon",),
    )
    print()
    print_table(
        f"What the theorems grant at delta = {number(delta)}",
        ("bound", "kind", "epsilon", "source"),
        [(b["name"], b["kind"], number(b["epsilon"], 6), b["source"]) for b in summary["bounds"]],
        right=("epsilon",),
    )
    print(
        f"\n{summary['seconds']:.2f} s, "
        f"{summary['rounds_per_second'] / 1e6:.2f} million rounds per second"
    )
