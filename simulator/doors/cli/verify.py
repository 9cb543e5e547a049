"""The command ``dpcompose verify``."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import note, number, print_json, print_table, say
from simulator.foundations.validation import whole
from simulator.foundations.wording import count_of
from simulator.theory.bounds.usual_bounds import BOUNDS
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP

if TYPE_CHECKING:
    from simulator.analysis.verification import Check

VERDICTS = {
    "holds": "holds",
    "undecided": "not violated",  # too few trials to see that the divergence is below it
    "violated": "VIOLATED",
}
"""What is printed for a :class:`simulator.analysis.estimation.BoundOutcome`."""


@click.command()
@click.argument("adversary", nargs=-1)
@click.option(
    "--family",
    type=options.Family(),
    default=str(PureDP(0.2)),
    show_default=True,
    metavar="FAMILY",
    help="The class of mechanisms, as for `dpcompose simulate`.",
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
    metavar="NAME",
    help="A bound to check, or `all`; may be repeated.  "
    f"[default: those that apply of {', '.join(BOUNDS)}]",
)
@click.option("--every", is_flag=True, help="Print every claim, not only the closest ones.")
@options.relation
@options.as_json
def verify(
    *,
    adversary: tuple[str, ...],
    family: Guarantee,
    rounds: int,
    trials: int,
    seed: int,
    jobs: int | None,
    false_alarm: float,
    names: tuple[str, ...],
    every: bool,
    relation: str,
    as_json: bool,
) -> int:
    r"""Check the bounds against every adversary of the library, in both experiments.

    Give ADVERSARY (names, or path/to/file.py:function) to check only these.

    \b
    Examples:
      dpcompose verify
      dpcompose verify path/to/mine.py:attack --family pure:0.2 --rounds 50 --trials 100000

    A claim is that in one experiment the hockey-stick divergence delta(epsilon) of an adversary
    is within a bound. It is VIOLATED if the lower end of the interval exceeds the bound; the
    probability that any true claim is called so is at most --false-alarm. It holds if the interval
    lies within the bound. Otherwise it is not violated, and more trials may decide. An adversary
    whose claims are all decided after a part of --trials is left there. A mechanism
    that loses more in a round than it promises ends the check with its name and exit code 1.

    For each adversary and experiment the table has the claim with the least slack (the bound over
    the measured value), and every violated claim. Exits with 1 when a bound is violated.
    """
    # slow to import; --help does not need them
    from simulator.adversaries.loading import find_adversary
    from simulator.analysis import verification
    from simulator.analysis.likelihoods import MISSING, NotTested, tests_of_likelihoods
    from simulator.analysis.verification import (
        closest,
        library_adversaries,
        named_bounds,
        usual_bounds,
    )
    from simulator.theory import Composition

    composition = Composition.repeat(family, whole("rounds", rounds))
    bounds = named_bounds(composition, names) if names else usual_bounds(composition)
    chosen = (
        {name: find_adversary(name, family, rounds) for name in adversary}
        if adversary
        else library_adversaries(family, rounds)
    )
    if not tests_of_likelihoods():
        note(f"note: likelihoods are not tested: {MISSING}")
    with warnings.catch_warnings(action="ignore", category=NotTested):
        checks = verification.verify(
            chosen, family, rounds, trials,
            seed=seed, jobs=jobs, relation=options.relation_of(relation), false_alarm=false_alarm,
            bounds=bounds,
        )  # fmt: skip
    if as_json:
        print_json(
            {
                "family": str(family),
                "rounds": rounds,
                "trials": trials,
                "seed": seed,
                "false_alarm": false_alarm,
                "claims": [plain(check) for check in checks],
                "likelihoods": checks.likelihoods,
            }
        )
    else:
        print_table(
            f"{family}, {count_of(rounds, 'round')}, {played(checks, trials)} per experiment; a "
            f"true bound is called violated with probability at most {false_alarm:g}",
            ("claim", "bound", "epsilon", "bound delta", "measured delta", "slack", "verdict"),
            [row(check) for check in (checks if every else closest(checks))],
            right=("epsilon", "bound delta", "slack"),
        )
        say(f"\n{summary(checks)}")
        if checks.likelihoods:
            say(f"likelihoods: {checks.likelihoods}")
    return 1 if any(check.violated for check in checks) else 0


def plain(check: Check) -> dict[str, Any]:
    """A check as plain values, for JSON."""
    verdict = check.verdict
    return {
        "adversary": check.adversary,
        "experiment": check.experiment,
        "bound": check.bound,
        "epsilon": check.epsilon,
        "delta": verdict.bound,
        "measured": {"value": verdict.value, "lower": verdict.lower, "upper": verdict.upper},
        "slack": verdict.slack,
        "verdict": str(verdict.outcome),
        "trials": check.trials,
    }


def played(checks: Sequence[Check], trials: int) -> str:
    """How many trials an adversary has, in words."""
    least = min(check.trials for check in checks)
    return (
        count_of(trials, "trial") if least == trials else f"{least} to {count_of(trials, 'trial')}"
    )


def row(check: Check) -> tuple[str, ...]:
    """A check as a row of the table."""
    verdict = check.verdict
    return (
        f"{check.adversary}, b = {check.experiment}",
        check.bound,
        number(check.epsilon),
        number(verdict.bound),
        f"{number(verdict.value)}  [{number(verdict.lower)}, {number(verdict.upper)}]",
        number(verdict.slack, 3),
        VERDICTS[verdict.outcome],
    )


def summary(checks: Sequence[Check]) -> str:
    """How many claims have which verdict."""
    from simulator.analysis.estimation import BoundOutcome

    count = Counter(check.verdict.outcome for check in checks)
    return (
        f"{count_of(len(checks), 'claim')}: "
        f"{count_of(count[BoundOutcome.HOLDS], 'holds', 'hold')}, "
        f"{count_of(count[BoundOutcome.UNDECIDED], 'is not violated', 'are not violated')}, "
        f"{count_of(count[BoundOutcome.VIOLATED], 'is violated', 'are violated')}"
    )
