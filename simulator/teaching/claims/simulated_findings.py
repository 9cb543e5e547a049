"""Findings from plays of both experiments, with their error probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from simulator.analysis.estimation import BoundVerdict, proportion_lower, proportion_upper
from simulator.analysis.result import Result
from simulator.teaching.claims.findings import decided, upper_bound
from simulator.teaching.claims.model import Finding, Verdict

FALSE_ALARM = 1e-6
"""Probability that a simulated check finds fault with a true claim."""


def largest_loss_seen(result: Result) -> float:
    """The largest absolute privacy loss in the sample."""
    return max(float(abs(losses).max()) for losses in result.samples.values())


def seen_within(result: Result, claimed: float, note: str = "") -> Finding:
    """Judge "every view's loss is at most ``claimed``", which a single view can refute."""
    plays = sum(losses.size for losses in result.samples.values())
    return upper_bound(
        largest_loss_seen(result),
        claimed,
        f"largest |loss| in {plays} plays",
        note=note,
        method="simulation",
        false_alarm=0.0,
    )


def worse_experiment(
    result: Result, what: str, test: Callable[..., BoundVerdict], *bounds: float, **options: Any
) -> Finding:
    """Judge ``what`` by a test of each experiment, at a false-alarm probability for both."""
    tests = [
        test(result.losses(b), *bounds, experiment=b, false_alarm=FALSE_ALARM / 2, **options)
        for b in (0, 1)
    ]
    found = decided(max(tests, key=lambda each: each.lower), f"{what}, the worse experiment")
    return replace(found, false_alarm=FALSE_ALARM)


def hoeffding_radius(trials: int, false_alarm: float = FALSE_ALARM) -> float:
    """A bound on the deviation of a mean of ``trials`` values in [0, 1], at a probability.

    Source: Hoeffding 1963, Theorem 2, on both sides.
    """
    return math.sqrt(math.log(2.0 / false_alarm) / (2.0 * trials))


def mostly(hits: int, trials: int, false_alarm: float = FALSE_ALARM) -> Verdict:
    """The verdict on "the probability is above one half", from ``hits`` among ``trials``.

    Undecided where one half lies between the one-sided Clopper-Pearson limits.
    """
    if proportion_lower(hits, trials, false_alarm) > 0.5:
        return Verdict.HOLDS
    if proportion_upper(hits, trials, false_alarm) < 0.5:
        return Verdict.FAILS
    return Verdict.UNDECIDED


def simulated(
    verdict: Verdict | bool, measured: str, *, printed: str = "", note: str = ""
) -> Finding:
    """A finding by simulation, which finds fault with a true claim with probability FALSE_ALARM.

    True and false stand for "holds" and "fails as printed".
    """
    if isinstance(verdict, bool):
        verdict = Verdict.HOLDS if verdict else Verdict.FAILS
    return Finding(
        verdict,
        measured,
        method="simulation",
        printed=printed or "as stated",
        right=measured,
        false_alarm=FALSE_ALARM,
        note=note,
    )
