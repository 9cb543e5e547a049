"""``dpcompose check``."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from simulator.adversaries.loading import find_adversary
from simulator.cli import options
from simulator.cli.output import number, print_json, print_table
from simulator.estimation import Outcome
from simulator.theory import all_bounds, bound
from simulator.theory.guarantees import Guarantee, PureDP
from simulator.verification import BOUNDS, Check, library_adversaries, verify

VERDICTS = {
    Outcome.HOLDS: "holds",
    Outcome.UNDECIDED: "not violated",  # too few trials to see that the divergence is below it
    Outcome.VIOLATED: "VIOLATED",
}


@click.command()
@click.argument("adversary", nargs=-1)
@click.option(
    "--family",
    type=options.Family(),
    default=str(PureDP(0.2)),
    show_default=True,
    metavar="FAMILY",
    help="The class of mechanisms, as for `dpcompose run`.",
)
@click.option("--rounds", type=int, default=100, show_default=True, help="Rounds k of a trial.")
@options.trials(default=20_000)
@options.seed
@options.jobs
@click.option(
    "--false-alarm",
    type=float,
    default=1e-6,
    show_default=True,
    help="Probability that some true bound is reported as violated.",
)
@click.option(
    "--bound",
    "names",
    multiple=True,
    default=BOUNDS,
    show_default=True,
    help="A bound to check, `all` for every one; may be repeated.",
)
@options.relation
@options.as_json
def check(
    adversary: tuple[str, ...],
    family: Guarantee,
    rounds: int,
    trials: int,
    seed: int,
    jobs: int | None,
    false_alarm: float,
    names: tuple[str, ...],
    relation: str,
    as_json: bool,
) -> int:
    """Check that the bounds hold for every adversary of the library, in both directions.

    Give ADVERSARY (names, or path/to/file.py:function) to check only these. Prints one line a
    claim, and exits 1 when a bound is violated: the measured divergence exceeds it beyond a
    doubt of --false-alarm, divided among all comparisons.
    """
    chosen = (
        {name: find_adversary(name, family, rounds) for name in adversary}
        if adversary
        else library_adversaries(family, rounds)
    )
    every = [bound.name for bound in all_bounds() if not bound.costly]
    checks = verify(
        chosen, family, rounds, trials,
        seed=seed, jobs=jobs, relation=options.relation_of(relation), false_alarm=false_alarm,
        names=every if "all" in names else [bound(name).name for name in names],
    )  # fmt: skip
    violated = [c for c in checks if c.violated]
    if as_json:
        print_json([asdict(c) for c in checks])
    else:
        show(checks, family, rounds, trials, false_alarm)
    if violated:
        print(f"{len(violated)} of {len(checks)} claims are violated", file=sys.stderr)
        return 1
    return 0


def show(
    checks: list[Check], family: Guarantee, rounds: int, trials: int, false_alarm: float
) -> None:
    """Print the table of claims."""
    rows = [
        (
            f"{c.adversary}, b = {c.experiment}",
            c.bound,
            number(c.epsilon),
            number(c.verdict.bound),
            f"{number(c.verdict.value)}  [{number(c.verdict.lower)}, {number(c.verdict.upper)}]",
            number(c.verdict.slack, 3),
            VERDICTS[c.verdict.outcome],
        )
        for c in checks
    ]
    print_table(
        f"{family}, {rounds} rounds, {trials} trials an experiment; family-wise false-alarm "
        f"probability {false_alarm:g}",
        ("claim", "bound", "epsilon", "bound delta", "measured delta", "slack", "verdict"),
        rows,
        right=("epsilon", "bound delta", "slack"),
    )
