"""Bounds on the weights of weighted sampling that are known before a play."""

from __future__ import annotations

import math
from functools import lru_cache

from simulator.adversaries.contract import Rule
from simulator.engine.block import covering_engine, tilted_engine_for
from simulator.engine.sampling import Covering, Guarded, Sampling, Tilted
from simulator.engine.specification import Played, Specification
from simulator.foundations.errors import NotApplicable


def total_psi_bound(specification: Specification, b: int) -> float:
    """A bound on the sum of psi over the rounds of any play, known before a play.

    For a rule it follows from the menu; for a generator from the family, by psi(theta) = theta
    D_{1+theta}(P0||P1) and the family's bound on that Renyi divergence. For a guarded measure it is
    that of the guard, for a covering measure the exponent of every weight. Infinite for steered
    sampling, and where a loss may be infinite. Raises NotApplicable unless theta >= 0.
    """
    s = specification
    if isinstance(s.sampling, Covering):
        return covering_engine(s, b).moments.log_moment(s.sampling.theta)
    if not isinstance(s.sampling, Tilted | Guarded):
        return math.inf
    return psi_bound_at(s, b, s.sampling.theta)


def psi_bound_at(specification: Specification, b: int, theta: float) -> float:
    """A bound on the sum of psi(``theta``) over the rounds of any play; raises NotApplicable."""
    s = specification
    if theta < 0:
        raise NotApplicable(f"psi is bounded in advance for theta >= 0 only, not {theta:g}")
    if theta == 0:
        return 0.0
    if isinstance(s.adversary, Rule):
        return menu_psi_bound(Played.of(s), b, theta, s.rounds)
    return s.rounds * theta * s.family.renyi(1.0 + theta)


def weight_exponent(sampling: Sampling | None) -> tuple[float, float] | None:
    """(theta, offset) with ln W <= Psi + offset - theta L on every view; None where there is none.

    Psi is :func:`total_psi_bound`.
    """
    if isinstance(sampling, Guarded):
        return sampling.theta, -math.log(sampling.share)
    if isinstance(sampling, Tilted | Covering) and sampling.theta >= 0.0:
        return sampling.theta, 0.0
    return None


@lru_cache(maxsize=256)
def menu_psi_bound(played: Played, b: int, theta: float, rounds: int) -> float:
    """``largest_psi`` of the rule's menu, cached."""
    from simulator.engine.compiled.tilted_kernel import largest_psi

    engine = tilted_engine_for(played.specification)
    return largest_psi(engine.menus[b], theta, rounds)
