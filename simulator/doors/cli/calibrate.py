"""The command ``dpcompose calibrate``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import certain, number, print_json, print_table, say
from simulator.foundations import grammar
from simulator.foundations.errors import NotApplicable
from simulator.foundations.strangers import read_text
from simulator.foundations.validation import whole
from simulator.foundations.wording import count_of
from simulator.theory import calibrate as largest_parameters
from simulator.theory.events.named import named_mechanism
from simulator.theory.events.open_account import OpenAccount
from simulator.theory.events.targets import FoundParameter, Target, stated
from simulator.theory.guarantees.bounded_range import BoundedRange
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP

FAMILIES: dict[str, type[Guarantee]] = {"pure": PureDP, "gdp": GaussianDP, "range": BoundedRange}
"""The choices of --family, and their classes."""


@click.command(cls=options.CommandOfMechanisms)
@click.argument("mechanism", required=False)
@click.option("--target-epsilon", type=float, required=True, help="Epsilon of all rounds.")
@click.option("--target-delta", type=float, required=True, help="Delta of all rounds.")
@click.option(
    "--rounds",
    type=int,
    default=None,
    help="Rounds k. Without MECHANISM it is required; with one, it is 1 by default, or found.",
)
@click.option(
    "--family",
    type=click.Choice(list(FAMILIES)),
    default=None,
    help="Without MECHANISM, what a round promises: epsilon-DP, mu-Gaussian, or epsilon-bounded "
    "range.  [default: pure]",
)
@options.event
@click.option(
    "--digits",
    type=click.IntRange(1, 9),
    default=5,
    show_default=True,
    help="Significant digits of the parameter of MECHANISM or --event.",
)
@click.option(
    "--direction",
    type=click.Choice(("fixed", "any")),
    default=None,
    help="With MECHANISM or --event: the same database holds the record in every round, or the "
    "adversary chooses anew which one does.  [default: fixed]",
)
@options.as_json
def calibrate(
    *,
    mechanism: str | None,
    target_epsilon: float,
    target_delta: float,
    rounds: int | None,
    family: str | None,
    event: str | None,
    digits: int,
    direction: str | None,
    as_json: bool,
) -> None:
    r"""Print the largest per-round epsilon that each bound admits for a target over all rounds.

    With MECHANISM it prints the one parameter that is left out, or the number of rounds where none
    is, found by the certified privacy loss; with --event, the member of the file that is "?". The
    title says which adversary it is for, as --direction chooses.

    \b
    Examples (the first: ten thousand databases, total loss 1 except with probability e^-32):
      dpcompose calibrate --target-epsilon 1 --target-delta 1.2664e-14 --rounds 10000
      dpcompose calibrate subsampled-gaussian:rate=0.01 --rounds 1000
          --target-epsilon 2 --target-delta 1e-5
      dpcompose calibrate matrix-factorisation:bins=10,rounds=100,coefficients=1,0.5
          --target-epsilon 2 --target-delta 1e-6
    """
    target = Target(target_epsilon, target_delta, digits, direction == "any")
    chosen = {"MECHANISM": mechanism, "--event": event}
    given = [name for name, value in chosen.items() if value is not None]
    if len(given) == 2:
        raise click.UsageError("give MECHANISM or --event, not both")
    if given and family is not None:
        raise click.UsageError(f"--family does not go with {given[0]}")
    if not given and direction is not None:
        raise click.UsageError("--direction needs MECHANISM or --event")
    if event is not None:
        if rounds is not None:
            raise click.UsageError("--rounds does not go with --event")
        print_calibration(of_event(event, target), event, target, as_json)
    elif mechanism is not None:
        print_calibration(*of_mechanism(mechanism, rounds, target), target, as_json)
    elif rounds is None:
        raise click.UsageError("Missing option '--rounds'.")
    else:
        print_largest(target, rounds, family or "pure", as_json)


def of_event(path: str, target: Target) -> FoundParameter:
    """The member of a file that is "?"."""
    account = OpenAccount.from_json(read_text(path), target.digits)
    found = account.calibrated(target.epsilon, target.delta, any_direction=target.any_direction)
    return stated(found, account.scale, target, exact=account.at(found.value).exact)


def of_mechanism(text: str, rounds: int | None, target: Target) -> tuple[FoundParameter, str]:
    """The parameter that a mechanism's text leaves out, and what it is of."""
    term = grammar.read(text)
    if term.count is not None:
        if rounds not in (None, term.count):
            raise click.UsageError(f"--rounds is {rounds}, but {text} has {term.count}")
        rounds = term.count
    elif rounds is not None:
        rounds = whole("rounds", rounds)
    mechanism = named_mechanism(term.name)
    values = grammar.bind(term, mechanism.parameters, partial=True)
    found = mechanism.calibrate(replace(term, count=None), values, rounds, target)
    return found, term.once if rounds is None else f"{count_of(rounds, 'round')} of {term.once}"


def print_calibration(found: FoundParameter, what: str, target: Target, as_json: bool) -> None:
    """Print the value that meets the target, and the next one."""
    name = found.parameter
    if as_json:
        rows = {
            row.key: {"value": row.value}
            | ({row.quantity: row.ends.value} if row.quantity else {})
            | {"lower": row.ends.lower, "upper": row.ends.upper}
            for row in found.rows
        }
        print_json({"parameter": name, **found.facts, **rows})
        return
    print_table(
        f"{name} of {what} for a total of ({number(target.epsilon)}, {number(target.delta)}), "
        f"{found.how}",
        ("", name, found.quantity),
        [(row.label, number(row.value, 12), row.text or certain(row.ends)) for row in found.rows],
        right=(name,),
    )
    if found.note:
        say(found.note)


def print_largest(target: Target, rounds: int, family: str, as_json: bool) -> None:
    """Print the largest per-round parameter that each bound admits."""
    make: Any = FAMILIES[family]
    found = largest_parameters(target.epsilon, target.delta, rounds, family=make)
    if not found:
        raise NotApplicable(
            f"no bound admits a round of the family {family} for a total of "
            f"({number(target.epsilon)}, {number(target.delta)})"
        )
    if as_json:
        print_json(
            {
                "rungs": [
                    {
                        "name": row.name,
                        "kind": row.kind,
                        "parameter": row.value,
                        "noise": row.noise,
                        "source": row.source,
                    }
                    for row in found
                ]
            }
        )
        return
    parameter = "mu" if family == "gdp" else "epsilon"
    print_table(
        f"Largest {parameter} of each of {count_of(rounds, 'round')} for a total of "
        f"({number(target.epsilon)}, {number(target.delta)})",
        ("bound", "kind", parameter, "1 in", "source"),
        [
            (row.name, row.kind, number(row.value, 8), number(row.noise, 6), row.source)
            for row in found
        ],
        right=(parameter, "1 in"),
        spare=("source",),
    )
