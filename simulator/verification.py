"""Hold the bounds against every adversary, in both directions, at a stated false-alarm probability.

A bound that is true survives with probability at least 1 - false_alarm however often one looks
within a call: the error is divided among all the comparisons made (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.adversaries.registry import entries
from simulator.databases import ADD_REMOVE, Relation
from simulator.errors import NotApplicable
from simulator.estimation import Verdict, violation
from simulator.runner import simulate
from simulator.theory import BoundOnComposition, Composition, bounds_for
from simulator.theory.guarantees import Guarantee
from simulator.validation import open_probability

BOUNDS = ("basic", "advanced", "advanced-tight-mean", "kairouz-oh-viswanath-3.3")
"""Checked by default, where they apply."""

DELTAS = (0.1, 1e-2, 1e-3)
"""Where each bound is probed: at the epsilons that it grants for these deltas."""


@dataclass(frozen=True)
class Check:
    """One claim: this adversary, in this experiment, stays within this bound.

    ``epsilon`` is the probed point with the least slack, ``verdict`` what was measured there.
    """

    adversary: str
    experiment: int
    bound: str
    epsilon: float
    verdict: Verdict

    @property
    def violated(self) -> bool:
        """Whether the measured divergence exceeds the bound beyond doubt."""
        return self.verdict.outcome == "violated"


def library_adversaries(family: Guarantee, rounds: int) -> dict[str, Callable[..., Any]]:
    """Every adversary of the library, made for a family."""
    return {entry.name: entry.make(family, rounds) for entry in entries()}


def verify(
    adversaries: Mapping[str, Callable[..., Any]],
    family: Guarantee,
    rounds: int,
    trials: int,
    *,
    seed: int = 0,
    jobs: int | None = None,
    relation: Relation = ADD_REMOVE,
    false_alarm: float = 1e-6,
    names: Collection[str] = BOUNDS,
    bounds: Sequence[BoundOnComposition] | None = None,
    progress: bool | None = None,
) -> list[Check]:
    """Play every adversary and test every bound on its measured hockey-stick divergence.

    Parameters
    ----------
    adversaries : by name; each must keep to ``family``.
    false_alarm : probability that some true bound is reported as violated.
    names : which of the registered bounds to test; those that do not apply are left out.
    bounds : the bounds themselves, in place of ``names``.

    Returns one Check for each adversary, experiment and bound, the probe with the least slack.
    """
    open_probability("false_alarm", false_alarm)
    if bounds is None:
        bounds = [
            bound
            for bound in bounds_for(Composition.repeat(family, rounds))
            if bound.kind in ("upper", "exact") and bound.name in names
        ]
    probes = [(bound, *probe) for bound in bounds for probe in probed(bound)]
    each = false_alarm / max(1, len(adversaries) * 2 * len(probes))
    checks = []
    for name, adversary in adversaries.items():
        result = simulate(
            adversary, family, rounds, trials,
            seed=seed, jobs=jobs, relation=relation, progress=progress,
        )  # fmt: skip
        for experiment in (0, 1):
            losses = result.losses(experiment)
            found = [
                Check(
                    name, experiment, bound.name, epsilon,
                    violation(losses, epsilon, delta, each, experiment),
                )
                for bound, epsilon, delta in probes
            ]  # fmt: skip
            checks.extend(least_slack(found))
    return checks


def probed(bound: BoundOnComposition) -> list[tuple[float, float]]:
    """The points (epsilon, delta) at which to test a bound: what it grants at each of DELTAS."""
    points: dict[float, float] = {}
    for delta in DELTAS:
        try:
            epsilon = bound.epsilon(delta).upper
        except NotApplicable:
            continue
        if math.isfinite(epsilon):
            points[epsilon] = min(delta, bound.delta(epsilon).upper)
    return list(points.items())


def least_slack(found: Sequence[Check]) -> list[Check]:
    """For each bound the violated probe, if any, otherwise the one with the least slack."""
    best: dict[str, Check] = {}
    for check in found:
        known = best.get(check.bound)
        if known is None or rank(check) < rank(known):
            best[check.bound] = check
    return list(best.values())


def rank(check: Check) -> tuple[bool, float]:
    """Order of concern: violations first, then by slack."""
    return not check.violated, check.verdict.slack
