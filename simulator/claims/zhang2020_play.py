"""How the claims of Zhang 2020 are played, and how a play becomes a finding."""

from __future__ import annotations

import math
from typing import Any

from simulator.claims.cast import Adversary, Playing
from simulator.claims.model import Finding, Verdict
from simulator.databases import Database
from simulator.mechanisms import Mechanism
from simulator.result import Result

FALSE_ALARM = 1e-6
"""Probability that a simulated check of these modules complains about a true claim."""


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


def simulated(
    true: bool,
    measured: str,
    *,
    printed: str = "as stated",
    right: str = "",
    note: str = "",
    exact_too: bool = False,
    slack: float | None = None,
    verdict: Verdict = Verdict.HOLDS,
) -> Finding:
    """Judge a statement by a simulation that complains wrongly with probability FALSE_ALARM.

    ``verdict`` is what it gets when true; ``exact_too`` says that it was computed as well.
    """
    return Finding(
        verdict if true else Verdict.FAILS,
        measured,
        method="both" if exact_too else "simulation",
        slack=slack,
        printed=printed,
        right=right or measured,
        false_alarm=FALSE_ALARM,
        note=note,
    )
