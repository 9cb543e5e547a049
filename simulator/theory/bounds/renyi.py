"""Bounds by Renyi differential privacy: divergences add up, and the best order is converted."""

from __future__ import annotations

import math

from simulator.theory.bounds.base import Bound, unlike
from simulator.theory.bounds.composition import Composition
from simulator.theory.guarantees.renyi_divergence import (
    best_gain,
    no_gain,
    renyi_to_delta,
    renyi_to_epsilon,
)


def _stated_orders(core: Composition) -> tuple[float, ...]:
    """Orders at which some round states its divergence, up to the last that all rounds bound.

    Empty where every round bounds every order.
    """
    stated = [guarantee.renyi_orders for guarantee, _ in core if guarantee.renyi_orders]
    last = min((orders[-1] for orders in stated), default=math.inf)
    return tuple(sorted({order for orders in stated for order in orders if order <= last}))


def _one_order(core: Composition) -> float:
    """An order at which every round must be bounded for the composition to be bounded."""
    return max(_stated_orders(core), default=2.0)


def _harmless(core: Composition) -> bool:
    return core.renyi(_one_order(core)) == 0.0


class RDPCanonneKamathSteinke(Bound):
    """curve(alpha) + ln(1/(alpha delta))/(alpha-1) + ln(1-1/alpha), least over alpha.

    The curve sums the exact Renyi divergence of every round's extremal pair. Where rounds are
    bounded at stated orders only, the search ends at the last order that all of them bound.
    """

    name = "rdp-canonne-kamath-steinke"
    source = "Mironov 2017, Proposition 1; Canonne, Kamath and Steinke 2020, Proposition 12"
    _gain = staticmethod(best_gain)

    def _why_not(self, core: Composition) -> str | None:
        order = _one_order(core)
        why = f"{{}} bounds no Renyi divergence of order {order:g}"
        return unlike(core, lambda guarantee: math.isfinite(guarantee.renyi(order)), why)

    def _delta(self, core: Composition, epsilon: float) -> float:
        if _harmless(core):
            return 0.0
        return renyi_to_delta(core.renyi, epsilon, orders=_stated_orders(core), gain=self._gain)

    def _epsilon(self, core: Composition, delta: float) -> float:
        if _harmless(core):
            return 0.0
        return renyi_to_epsilon(core.renyi, delta, orders=_stated_orders(core), gain=self._gain)


class RDPMironov(RDPCanonneKamathSteinke):
    """curve(alpha) + ln(1/delta)/(alpha-1), least over alpha."""

    name = "rdp-mironov"
    source = "Mironov 2017, Propositions 1 and 3"
    _gain = staticmethod(no_gain)
