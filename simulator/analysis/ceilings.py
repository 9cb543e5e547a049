"""Upper bounds that follow from the family, which do not depend on a sample.

The least of all bounds on k rounds of the family, and of the proved promise of a filter. They hold
for any adaptive adversary whose mechanisms keep their guarantees, in both experiments.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from simulator import theory
from simulator.engine.specification import Specification
from simulator.foundations.errors import NotApplicable
from simulator.foundations.ties import beyond, reached
from simulator.theory.filters.interface import Filter
from simulator.theory.guarantees.interface import Guarantee

if TYPE_CHECKING:
    from simulator.analysis.estimation import Estimate

GAPS = 12
"""How many values of e are tried in :func:`tail_ceiling`."""


def delta_ceiling(specification: Specification, epsilon: float) -> float:
    """A bound on delta(``epsilon``)."""
    s = specification
    return _delta(s.family, s.rounds, s.filter, float(epsilon))


def tail_ceiling(specification: Specification, threshold: float) -> float:
    """A bound on Pr[L > ``threshold``]: delta(e)/(1 - e^{e - threshold}) for any e below."""
    if not threshold > 0.0:
        return 1.0
    s = specification
    if s.family.leak == 0.0 and s.rounds * s.family.core.pure_epsilon <= reached(
        threshold, s.rounds
    ):
        return 0.0  # the losses of all rounds together do not exceed it
    gaps = np.geomspace(max(1e-3 * threshold, math.ulp(0.0)), threshold, GAPS)
    at = [(threshold - float(gap), -math.expm1(-float(gap))) for gap in gaps]
    return min(1.0, *(delta_ceiling(specification, max(e, 0.0)) / share for e, share in at))


def epsilon_ceiling(specification: Specification, delta: float) -> float:
    """A bound on the least epsilon with delta(epsilon) <= ``delta``; infinite without one."""
    s = specification
    return _epsilon(s.family, s.rounds, s.filter, float(delta))


def under_basic_composition(
    found: Estimate, specification: Specification, delta: float
) -> Estimate:
    """The estimate of epsilon(``delta``) with an upper end that basic composition admits.

    Where ``delta`` allows for the rounds' own deltas, no epsilon exceeds the sum of the rounds'.
    """
    s = specification
    if s.rounds * s.family.leak > delta:
        return found
    most = beyond(s.rounds * s.family.core.pure_epsilon, s.rounds)
    return replace(found, upper=most) if found.value <= most < found.upper else found


@lru_cache(maxsize=64)
def _bounds(family: Guarantee, rounds: int) -> tuple[theory.BoundOnComposition, ...]:
    # the bounds load every engine of privacy loss distributions, for weighted samples alone
    found = theory.bounds_for(theory.Composition.repeat(family, rounds))
    return tuple(one for one in found if one.kind in ("upper", "exact") and not one.bound.costly)


@lru_cache(maxsize=4096)
def _delta(family: Guarantee, rounds: int, filter_: Filter | None, epsilon: float) -> float:
    if epsilon < 0.0:
        return 1.0
    least = 1.0 if filter_ is None else filter_.bounds_delta(epsilon)
    for bound in _bounds(family, rounds):
        try:
            least = min(least, bound.delta(epsilon).upper)
        except NotApplicable:
            continue
    return least


@lru_cache(maxsize=256)
def _epsilon(family: Guarantee, rounds: int, filter_: Filter | None, delta: float) -> float:
    least = math.inf if filter_ is None else filter_.bounds_epsilon(delta)
    for bound in _bounds(family, rounds):
        try:
            least = min(least, bound.epsilon(delta).upper)
        except NotApplicable:
            continue
    return least
