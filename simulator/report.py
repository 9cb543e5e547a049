"""A run told in numbers: what was measured where, beside what the bounds grant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from simulator.errors import NotApplicable
from simulator.estimation import Estimate
from simulator.result import Result
from simulator.theory import Composition, bounds_for
from simulator.theory.guarantees import Guarantee
from simulator.validation import finite, open_probability


def report(
    result: Result,
    adversary: str,
    epsilons: Sequence[float] = (),
    delta: float = 1e-6,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """A run as plain values, fit for JSON.

    ``epsilons`` are the points to measure at; without any, four quantiles of the losses.
    ``delta`` is where the bounds are asked.
    """
    open_probability("delta", delta)
    open_probability("confidence", confidence)
    points = [finite("epsilon", e) for e in epsilons] or typical_epsilons(result)
    s = result.specification
    return {
        "adversary": adversary,
        "family": str(s.family),
        "relation": str(s.relation),
        "rounds": s.rounds,
        "trials": s.trials,
        "seed": s.seed,
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
            for b in sorted(result.samples)
        },
        "bounds": granted(s.family, s.rounds, delta),
        "seconds": result.seconds,
        "compile_seconds": result.compile_seconds,
        "rounds_per_second": result.rounds_per_second,
    }


def interval(estimate: Estimate) -> dict[str, Any]:
    """An estimate's value, interval and method."""
    keys = ("value", "lower", "upper", "confidence", "method")
    return {key: getattr(estimate, key) for key in keys}


def typical_epsilons(result: Result) -> list[float]:
    """Round numbers near the 50, 90, 99 and 99.9% quantiles of the finite losses."""
    losses = result.losses(min(result.samples))
    finite_losses = losses[np.isfinite(losses)]
    if not finite_losses.size:
        return [0.0]
    quantiles = np.quantile(finite_losses, (0.5, 0.9, 0.99, 0.999))
    return sorted({float(f"{max(0.0, q):.2g}") for q in quantiles})


def granted(family: Guarantee, rounds: int, delta: float) -> list[dict[str, Any]]:
    """Every quick bound's epsilon at ``delta``, tightest first."""
    rows = []
    for bound in bounds_for(Composition.repeat(family, rounds)):
        if bound.bound.costly:
            continue
        try:
            epsilon = bound.epsilon(delta).value
        except NotApplicable:
            epsilon = math.inf
        rows.append(
            {"name": bound.name, "kind": bound.kind, "epsilon": epsilon, "source": bound.source}
        )
    return sorted(rows, key=lambda row: row["epsilon"])
