"""Bounds on the weights of weighted sampling that are known before a play."""

from __future__ import annotations

import math
from functools import lru_cache

from simulator.engine.block import covering_engine
from simulator.engine.compiled.menu import Menu
from simulator.engine.sampling import Covering, Guarded, Tilted
from simulator.engine.specification import Played, Specification
from simulator.foundations.errors import NotApplicable

Exponents = list[tuple[float, float]]
"""(theta, m) of some parts of the views, with ln W <= m - theta L on every view of the part."""


def weight_exponents(specification: Specification, b: int) -> Exponents | None:
    """Bounds on the weights of all views, known before a play; None where there is none.

    For a program they follow from the menu, otherwise from the family, by psi(theta) = theta
    D_{1+theta}(P0||P1) and the family's bound on that Renyi divergence. For a guarded measure they
    are those of the guard, for a covering measure the exponents of every weight.
    """
    s, sampling = specification, specification.sampling
    if isinstance(sampling, Covering):
        return [(theta, m) for _, theta, m in covering_engine(s, b).parts(sampling)]
    if not isinstance(sampling, Tilted | Guarded) or sampling.theta < 0.0:
        return None
    psi = psi_bound_at(s, b, sampling.theta)
    if isinstance(sampling, Guarded):
        psi -= math.log(sampling.share)
    return [(sampling.theta, psi)] if math.isfinite(psi) else None


def psi_bound_at(specification: Specification, b: int, theta: float) -> float:
    """A bound on the sum of psi(``theta``) over the rounds of any play; raises NotApplicable."""
    s = specification
    if theta < 0:
        raise NotApplicable(f"psi is bounded in advance for theta >= 0 only, not {theta:g}")
    if theta == 0:
        return 0.0
    if s.is_read:
        return menu_psi_bound(Played.of(s), b, theta, s.rounds)
    return s.rounds * theta * s.family.renyi(1.0 + theta)


@lru_cache(maxsize=256)
def menu_psi_bound(played: Played, b: int, theta: float, rounds: int) -> float:
    """``largest_psi`` of the program's menu, cached."""
    from simulator.engine.compiled.tilted_kernel import largest_psi

    menu = Menu.of(*played.terms, exchanged=bool(b))
    return largest_psi(menu, theta, rounds)
