"""Bounds by concentrated differential privacy: rho adds up and converts to (epsilon, delta)."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter

from simulator.theory.bounds.base import Bound, unlike
from simulator.theory.bounds.composition import Composition
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.renyi_divergence import renyi_to_delta, renyi_to_epsilon

_rho: Callable[[Guarantee], float] = attrgetter("zcdp_rho")


class ZCDPBunSteinke(Bound):
    """rho + 2 sqrt(rho ln(1/delta))."""

    name = "zcdp-bun-steinke"
    source = "Bun and Steinke 2016, Lemma 2.3 and Proposition 1.3"
    of_tail = True

    def _why_not(self, core: Composition) -> str | None:
        why = "every round must be concentrated, and {} implies no finite rho"
        return unlike(core, lambda guarantee: math.isfinite(guarantee.zcdp_rho), why)

    def _delta(self, core: Composition, epsilon: float) -> float:
        rho = core.total(_rho)
        if epsilon <= rho:
            return 1.0 if rho > 0.0 else 0.0
        return math.exp(-(epsilon - rho) / (4.0 * rho) * (epsilon - rho)) if rho > 0.0 else 0.0

    def _epsilon(self, core: Composition, delta: float) -> float:
        rho = core.total(_rho)
        return rho + 2.0 * math.sqrt(rho * -math.log(delta))


class ZCDPCanonneKamathSteinke(ZCDPBunSteinke):
    """Least over alpha of e^((alpha-1)(alpha rho - epsilon)) / (alpha-1) (1 - 1/alpha)^alpha."""

    name = "zcdp-canonne-kamath-steinke"
    source = "Bun and Steinke 2016, Lemma 2.3; Canonne, Kamath and Steinke 2020, Corollary 13"
    of_tail = False

    def _delta(self, core: Composition, epsilon: float) -> float:
        rho = core.total(_rho)
        return renyi_to_delta(lambda alpha: alpha * rho, epsilon) if rho > 0.0 else 0.0

    def _epsilon(self, core: Composition, delta: float) -> float:
        rho = core.total(_rho)
        return renyi_to_epsilon(lambda alpha: alpha * rho, delta) if rho > 0.0 else 0.0
