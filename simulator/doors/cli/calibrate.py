"""The command ``dpcompose calibrate``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from simulator.doors.cli import options
from simulator.doors.cli.bounds import ROUND_DELTA
from simulator.doors.cli.factorisation import NAME as FACTORISATION
from simulator.doors.cli.factorisation import Factorisation, factorisation_options
from simulator.doors.cli.output import certain, number, print_json, print_table, say
from simulator.doors.cli.random_allocation import NAME as ALLOCATION
from simulator.doors.cli.random_allocation import Allocation, allocation_options
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.wording import count_of
from simulator.theory import calibrate as largest_parameters
from simulator.theory.bounds.certified_calibration import (
    Calibrated,
    ParameterScale,
    Rounds,
    calibrate_certified,
)
from simulator.theory.bracket import Bracket
from simulator.theory.events.accounting import LARGEST_PARAMETER
from simulator.theory.events.mechanisms import MECHANISMS, account_of
from simulator.theory.events.open_account import OpenAccount, scale_of
from simulator.theory.guarantees.bounded_range import BoundedRange
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP

FAMILIES: dict[str, type[Guarantee]] = {
    "pure": PureDP,
    "gaussian": GaussianDP,
    "range": BoundedRange,
}
"""The choices of --family, and their classes."""

_ADVERSARIES = {
    False: "one pair of databases in all rounds",
    True: "the direction chosen in every round",
}


@click.command()
@click.option("--target-epsilon", type=float, required=True, help="Epsilon of all rounds.")
@click.option("--target-delta", type=float, required=True, help="Delta of all rounds.")
@click.option(
    "--rounds", type=int, default=None, help="Rounds k; required without --event or --mechanism."
)
@click.option(
    "--family",
    type=click.Choice(list(FAMILIES)),
    default=None,
    help="What a round promises: epsilon-DP, mu-Gaussian, or epsilon-bounded range.  "
    "[default: pure]",
)
@click.option(
    "--mechanism",
    type=options.Named([*MECHANISMS, ALLOCATION, FACTORISATION]),
    default=None,
    help="Calibrate the one parameter of this mechanism that is left out.",
)
@click.option(
    "--round-epsilon",
    type=float,
    default=None,
    help="Epsilon of a round, as for `dpcompose bounds`.",
)
@click.option("--sigma", type=float, default=None, help="For subsampled-gaussian.")
@click.option("--rate", type=float, default=None, help="For subsampled mechanisms.")
@click.option(
    "--round-delta",
    type=float,
    default=None,
    help=f"The delta of every round, for the mechanism approx.  [default: {ROUND_DELTA:g}]",
)
@options.event
@click.option(
    "--digits",
    type=click.IntRange(1, 9),
    default=5,
    show_default=True,
    help="Significant digits of the parameter that --mechanism or --event calibrates.",
)
@click.option(
    "--direction",
    type=click.Choice(("fixed", "any")),
    default=None,
    help="With --mechanism or --event: the same database holds the record in every round, or the "
    "adversary chooses anew which one does.  [default: fixed]",
)
@allocation_options
@factorisation_options
@options.as_json
def calibrate(
    *,
    target_epsilon: float,
    target_delta: float,
    rounds: int | None,
    family: str | None,
    mechanism: str | None,
    round_epsilon: float | None,
    sigma: float | None,
    rate: float | None,
    round_delta: float | None,
    event: str | None,
    digits: int,
    direction: str | None,
    as_json: bool,
    allocation: Allocation,
    factorisation: Factorisation,
) -> None:
    r"""Print the largest per-round epsilon that each bound admits for a target over all rounds.

    With --mechanism it prints the one parameter that is left out (sigma, rate, epsilon or rounds),
    found by the certified privacy loss; with --event, the member of the file that is "?". The title
    says which adversary it is for, as --direction chooses.

    \b
    Examples (the first: ten thousand databases, total loss 1 except with probability e^-32):
      dpcompose calibrate --target-epsilon 1 --target-delta 1.2664e-14 --rounds 10000
      dpcompose calibrate --mechanism subsampled-gaussian --rate 0.01 --rounds 1000
          --target-epsilon 2 --target-delta 1e-5
      dpcompose calibrate --mechanism matrix-factorisation --bins 10 --rounds 100
          --coefficients 1,0.5 --target-epsilon 2 --target-delta 1e-6
    """
    target, any_direction = (target_epsilon, target_delta), direction == "any"
    numbers = {"epsilon": round_epsilon, "sigma": sigma, "rate": rate, "round-delta": round_delta}
    if mechanism == FACTORISATION:
        given = numbers | {"family": family, "event": event, "direction": direction}
        _refuse_given(given, f"does not go with --mechanism {FACTORISATION}")
        factorisation.calibrate(target, rounds, digits, as_json)
        return
    factorisation.refuse_given()
    if mechanism == ALLOCATION:
        others: dict[str, Any] = {"family": family, "event": event, "rounds": rounds}
        others |= {name: value for name, value in numbers.items() if name != "sigma"}
        _refuse_given(others, f"does not go with --mechanism {ALLOCATION}")
        found, scale = allocation.calibrated(target, sigma, digits, any_direction)
        _print_certified(found, scale, ALLOCATION, target, exact=allocation.exact, as_json=as_json)
        return
    allocation.refuse_given()
    if mechanism is None:
        _refuse_given(numbers, "needs --mechanism")
        if event is None:
            _refuse_given({"direction": direction}, "needs --mechanism or --event")
    if event is not None:
        _refuse_given(
            {"mechanism": mechanism, "family": family, "rounds": rounds}, "does not go with --event"
        )
        text = options.text_of(event)
        account = OpenAccount.from_json(text, digits)
        found = account.calibrated(*target, any_direction=any_direction)
        exact = account.at(found.value).exact
        _print_certified(found, account.scale, event, target, exact=exact, as_json=as_json)
    elif mechanism is not None:
        _refuse_given({"family": family}, "does not go with --mechanism")
        laws, scale = _unknown_of(mechanism, numbers, rounds, digits)
        found = calibrate_certified(laws, *target, scale, any_direction=any_direction)
        _print_certified(found, scale, mechanism, target, exact=True, as_json=as_json)
    elif rounds is None:
        raise click.UsageError("Missing option '--rounds'.")
    else:
        _print_largest(target, rounds, family or "pure", as_json)


def _refuse_given(values: dict[str, Any], reason: str) -> None:
    """Raise UsageError for a value that is given."""
    for name, value in values.items():
        if value is not None:
            raise click.UsageError(f"{_option(name)} {reason}")


def _option(name: str) -> str:
    """The option of a parameter."""
    return "--round-epsilon" if name == "epsilon" else f"--{name}"


def _unknown_of(
    mechanism: str, numbers: dict[str, float | None], rounds: int | None, digits: int
) -> tuple[Callable[[float], Rounds], ParameterScale]:
    """The laws of all rounds as a function of the parameter that is not given, and its scale."""
    named = MECHANISMS[mechanism]
    if not account_of(mechanism, [(1.0, 1)], 1.0 if named.shuffled else 0.5).exact:
        raise NotApplicable(f"{mechanism} has no dominating pair of laws to calibrate by")
    takes = ("sigma" if named.noisy else "epsilon", *(("rate",) if named.sampled else ()))
    others = [name for name in ("epsilon", "sigma", "rate") if name not in takes]
    _refuse_given(
        {name: numbers[name] for name in others}, f"does not go with --mechanism {mechanism}"
    )
    if not named.leaks:
        _refuse_given({"round-delta": numbers["round-delta"]}, "needs --mechanism approx")
    values = {name: numbers[name] for name in takes} | {"rounds": rounds}
    missing = [name for name, value in values.items() if value is None]
    if len(missing) != 1:
        flags = ", ".join(map(_option, values))
        raise click.UsageError(f"leave out one of {flags}, to be calibrated, and give the others")
    _check_given(values)
    leak = numbers["round-delta"]
    second = (ROUND_DELTA if leak is None else leak) if named.leaks else 0.0
    unknown = missing[0]

    def laws(value: float) -> Rounds:
        known = {name: value if given is None else given for name, given in values.items()}
        parameter, rounds = known["sigma" if named.noisy else "epsilon"], int(known["rounds"])
        return account_of(mechanism, [(parameter, rounds)], known.get("rate", second)).laws

    scale = scale_of("count" if unknown == "rounds" else unknown, digits)
    return laws, replace(scale, name=unknown)


def _check_given(values: dict[str, float | None]) -> None:
    """Raise InvalidInput for a number out of its range."""
    for name, value in values.items():
        if value is None or name == "rate":
            continue
        least = 1 if name == "rounds" else 1.0 / LARGEST_PARAMETER if name == "sigma" else 0.0
        most = math.inf if name == "rounds" else LARGEST_PARAMETER
        if not (least <= value <= most and value > 0.0):
            within = f"at least {least:g}" if least else "above 0"
            raise InvalidInput(f"{name} must be {within} and at most {most:g}, not {value!r}")


def _print_certified(
    found: Calibrated,
    scale: ParameterScale,
    what: str,
    target: tuple[float, float],
    *,
    exact: bool,
    as_json: bool,
) -> None:
    """Print the value that meets the target, and the next one, which does not.

    Where the laws are not ``exact`` only upper ends are certain: the next one is not known to.
    """
    rows = [("meets the target", found.value, found.epsilon)]
    if found.beyond is not None and found.beyond_epsilon is not None:
        rows.append(
            ("does not" if exact else "is not known to", found.beyond, found.beyond_epsilon)
        )
    if not exact:
        rows = [(name, value, Bracket(0.0, ends.upper)) for name, value, ends in rows]
    if as_json:
        keys = ("meets", "misses" if exact else "unknown")
        print_json(
            {"parameter": found.name, "direction": "any" if found.any_direction else "fixed"}
            | {
                key: {
                    "value": int(value) if scale.digits == 0 else value,
                    "lower": ends.lower,
                    "upper": ends.upper,
                }
                for key, (_, value, ends) in zip(keys, rows)
            }
        )
        return
    print_table(
        f"{found.name} of {what} for a total of ({number(target[0])}, {number(target[1])}), "
        f"certified at delta = {number(target[1])}, {_ADVERSARIES[found.any_direction]}",
        ("", found.name, "total epsilon"),
        [(name, number(value, 12), certain(ends)) for name, value, ends in rows],
        right=(found.name,),
    )
    if len(rows) == 1:
        say(f"every {'larger' if scale.grows else 'smaller'} {found.name} meets it too")


def _print_largest(target: tuple[float, float], rounds: int, family: str, as_json: bool) -> None:
    """Print the largest per-round parameter that each bound admits."""
    make: Any = FAMILIES[family]
    found = largest_parameters(*target, rounds, family=make)
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
    parameter = "mu" if family == "gaussian" else "epsilon"
    print_table(
        f"Largest {parameter} of each of {count_of(rounds, 'round')} for a total of "
        f"({number(target[0])}, {number(target[1])})",
        ("bound", "kind", parameter, "1 in", "source"),
        [
            (row.name, row.kind, number(row.value, 8), number(row.noise, 6), row.source)
            for row in found
        ],
        right=(parameter, "1 in"),
    )
