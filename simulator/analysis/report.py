"""The report of a run: estimates at some points, and the bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simulator.analysis.estimation import Estimate
from simulator.analysis.result import Result
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.validation import finite, open_probability, probability_below_one
from simulator.theory import Composition, bounds_for
from simulator.theory.guarantees.interface import Guarantee

SHOWN = ("value", "lower", "upper", "confidence", "method", "lower_valid", "upper_valid",
         "widened")  # fmt: skip
"""The fields of an estimate that a report has."""


@dataclass(frozen=True)
class Questions:
    """The points of a report, which are checked before play; raises InvalidInput.

    Attributes
    ----------
    epsilons : the points >= 0 to measure at; without any, quantiles of the losses.
    delta : of the bounds, in [0, 1).
    confidence : of each interval, in (0, 1).
    """

    epsilons: tuple[float, ...] = ()
    delta: float = 1e-6
    confidence: float = 0.95

    def __post_init__(self) -> None:
        for epsilon in self.epsilons:
            if finite("epsilon", epsilon) < 0.0:
                raise InvalidInput(f"epsilon must be at least 0, not {epsilon:g}")
        probability_below_one("delta", self.delta)
        open_probability("confidence", self.confidence)


def report(result: Result, adversary: str, questions: Questions) -> dict[str, Any]:
    """A run as plain values, fit for JSON."""
    points = list(questions.epsilons) or typical_epsilons(result)
    confidence, delta = questions.confidence, questions.delta
    s = result.specification
    return {
        "adversary": adversary,
        "family": str(s.family),
        "relation": str(s.relation),
        "filter": None if s.filter is None else str(s.filter),
        "rounds": s.rounds,
        "trials": s.trials,
        "seed": s.seed,
        "keep": "summary" if s.summarises else "losses",
        "confidence": confidence,
        "delta": delta,
        "experiments": {
            str(b): {
                "points": [
                    {
                        "epsilon": e,
                        "tail": interval(result.tail(e, b, confidence)),
                        "delta": interval(result.delta(e, b, confidence)),
                    }
                    for e in points
                ]
            }
            for b in sorted(result.sample)
        },
        "bounds": granted(s.family, s.rounds, delta),
        "seconds": result.seconds,
        "compile_seconds": result.compile_seconds,
        "rounds_per_second": result.rounds_per_second,
    }


def interval(estimate: Estimate) -> dict[str, Any]:
    """An estimate's value, interval and method."""
    named = estimate.as_dict()
    return {key: named[key] for key in SHOWN if key in named}


def typical_epsilons(result: Result) -> list[float]:
    """Round numbers near the 50, 90, 99 and 99.9% quantiles of the finite losses.

    Of experiment 0, or of the negative losses if experiment 1 alone was played. If there is only
    one such number, half of it is added.
    """
    sample = result.known(0) if 0 in result.sample else result.known(1).negated()
    quantiles = sample.finite_quantiles((0.5, 0.9, 0.99, 0.999))
    if not quantiles.size:
        return [0.0]
    points = sorted({float(f"{max(0.0, q):.2g}") for q in quantiles})
    return points if len(points) > 1 or points == [0.0] else [points[0] / 2.0, *points]


def granted(family: Guarantee, rounds: int, delta: float) -> list[dict[str, Any]]:
    """The epsilon of every bound at ``delta``, tightest first; without costly ones."""
    rows = []
    for bound in bounds_for(Composition.repeat(family, rounds)):
        if bound.bound.costly:
            continue
        try:
            epsilon = bound.epsilon(delta).value
        except NotApplicable:
            continue
        rows.append(
            {"name": bound.name, "kind": bound.kind, "epsilon": epsilon, "source": bound.source}
        )
    return sorted(rows, key=lambda row: row["epsilon"])
