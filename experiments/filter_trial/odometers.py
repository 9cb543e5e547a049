"""What "at any stopping time" costs: odometers beside what is exact at a fixed time."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from experiments.filter_trial.published_odometers import (
    FormulaOdometer,
    doubling,
    line,
    rogers,
    stitched,
)
from simulator.theory.filters.odometers import MixtureOdometer
from simulator.theory.guarantees.pure import PureDP
from simulator.worst.least_odometer import least_odometer
from simulator.worst.odometers import Odometer, worst_odometer

CASES: tuple[tuple[tuple[float, ...], int, float], ...] = (
    ((0.1,), 16, 1e-6),
    ((0.1,), 64, 1e-6),
    ((0.1,), 256, 1e-6),
    ((0.1,), 1024, 1e-6),
    ((0.1,), 256, 1e-9),
    ((0.02,), 256, 1e-6),
    ((0.5,), 64, 1e-6),
    ((0.05, 0.2), 24, 1e-6),
    ((0.02, 0.1), 40, 1e-6),
)
"""(Epsilons of the menu, rounds, delta)."""
RECORDS = 10_000


def published(
    epsilons: Sequence[float], rounds: int, delta: float
) -> dict[str, MixtureOdometer | FormulaOdometer]:
    """The odometers, tuned to the squares of that many rounds of the largest epsilon."""
    squares = rounds * max(epsilons) ** 2
    return {
        "line": FormulaOdometer(delta, line(squares)),
        "mixture": MixtureOdometer(delta, squares / 10.0),
        "stitched": FormulaOdometer(delta, stitched(min(epsilons) ** 2)),
        "doubling": FormulaOdometer(delta, doubling(squares / 64.0)),
        "rogers": FormulaOdometer(delta, rogers(RECORDS)),
    }


def reading(odometer: Any, epsilon: float, rounds: int) -> float:
    """What an odometer reads after so many rounds of one epsilon."""
    running = odometer.fresh()
    for _ in range(rounds):
        running.spend(PureDP(epsilon))
    return float(running.epsilon)


def row(epsilons: tuple[float, ...], rounds: int, delta: float) -> dict[str, Any]:
    """The least odometer of a menu and the published ones, after all rounds of the largest."""
    least = least_odometer(epsilons, rounds, delta)
    menu = ",".join(f"randomized-response:{each!r}" for each in epsilons)
    found: dict[str, Any] = {
        "epsilons": list(epsilons),
        "rounds": rounds,
        "delta": delta,
        "exact": least.exact,
        "factor": [least.factor.lower, least.factor.upper],
        "delta_ratio": float(least.at_once.delta.lower / delta),
        "readings": {},
        "worst": {},
    }
    for name, odometer in published(epsilons, rounds, delta).items():
        made: Odometer = odometer
        worst = worst_odometer(menu, made, rounds, seconds=20.0)
        found["readings"][name] = reading(odometer, max(epsilons), rounds)
        found["worst"][name] = worst.delta.upper / delta
    return found


INTRODUCTION = f"""
Made by `make filter-trial`. The adversary plays randomized responses of the listed epsilons and
stops after any round, by the answers. *Exact*: epsilon at delta after all rounds of the largest
epsilon, fixed in advance; a filter with just that budget admits exactly these rounds. *Least*: the
least multiple of the exact epsilons of all compositions that is a sound odometer, with certified
ends: with a slightly smaller one an adversary is known that gets more than delta. *In delta*: how
many times delta the adversary gets where the odometer reads the exact epsilons. Then what published
odometers read after the same rounds, each cut off at basic composition and tuned to these rounds
(rogers: {RECORDS} records); their formulas are from memory. In brackets the largest delta that the
worst adversary gets from them, over the announced one.
"""


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """The page of the rows."""
    names = list(rows[0]["readings"])
    lines = [
        "# Odometers: what any stopping time costs",
        "",
        *INTRODUCTION.strip().splitlines(),
        "",
        f"| ε of the menu | rounds | δ | exact | least | factor | in delta | {' | '.join(names)} |",
        "|" + "---|" * (7 + len(names)),
    ]
    for each in rows:
        low, high = each["factor"]
        cells = [
            ", ".join(f"{e:g}" for e in each["epsilons"]),
            str(each["rounds"]),
            f"{each['delta']:g}",
            f"{each['exact']:.3f}",
            f"{each['exact'] * high:.3f}",
            f"{high:.3f}" if high == low else f"{low:.3f} to {high:.3f}",
            f"{each['delta_ratio']:.2f}",
            *(f"{each['readings'][n]:.3f} ({each['worst'][n]:.1g})" for n in names),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    price = 100.0 * (max(each["factor"][1] for each in rows) - 1.0)
    in_delta = max(each["delta_ratio"] for each in rows)
    words = (
        f"The price is at most {price:.1f}% of epsilon in these menus, or a factor of "
        f"{in_delta:.1f} in delta: a filter need not pay it. It grows slowly with the rounds. The "
        "factor is the same on all readings; an odometer may be narrower late if it is wider early."
    )
    lines += ["", *textwrap.wrap(words, 100), ""]
    return "\n".join(lines)
