"""How the claims of Zhang 2020 are played, and how a play becomes a finding."""

from __future__ import annotations

import math
from typing import Any

from simulator.claims.cast import Adversary, Playing
from simulator.claims.model import Finding, Verdict
from simulator.data.databases import Database
from simulator.estimation import proportion_lower, proportion_upper
from simulator.mechanisms import Mechanism
from simulator.result import Result

FALSE_ALARM = 1e-6
"""Probability that a simulated check of these modules finds fault with a true claim."""


def challenges(*triples: tuple[Database, Database, Mechanism]) -> Adversary:
    """An adversary that sends these challenges one after another, whatever it is answered."""

    def send(coins: Any) -> Playing:
        for triple in triples:  # noqa: UP028 -- a tuple cannot be sent answers
            yield triple

    return send


def largest_loss(result: Result) -> float:
    """The largest absolute privacy loss that was seen."""
    return max(float(abs(losses).max()) for losses in result.samples.values())


def hoeffding_radius(trials: int, false_alarm: float = FALSE_ALARM) -> float:
    """How far the mean of ``trials`` values in [0, 1] strays with that probability at most.

    Source: Hoeffding 1963, Theorem 2, on both sides.
    """
    return math.sqrt(math.log(2.0 / false_alarm) / (2.0 * trials))


def mostly(hits: int, trials: int, false_alarm: float = FALSE_ALARM) -> Verdict:
    """Whether something happens more often than not: the verdict of ``hits`` among ``trials``.

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
