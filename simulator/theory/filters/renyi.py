"""Filters that add up concentrated or Renyi divergences."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

from simulator.foundations.errors import NotApplicable
from simulator.foundations.roots import crossing, least_point
from simulator.theory.filters.interface import Filter, State
from simulator.theory.filters.rules import UP, renyi_step, zcdp_step
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.guarantees.renyi_divergence import pure_renyi, renyi_to_epsilon


def _inverse(cost: Callable[[float], float], target: float) -> float:
    """The argument at which an increasing ``cost`` reaches ``target``."""
    high = 1.0
    while cost(high) < target:
        high *= 2.0
    low = high / 2.0
    while low > 0.0 and cost(low) > target:
        low, high = low / 2.0, low
    return crossing(lambda x: cost(x) - target, low, high, xtol=1e-300)


def _equivalent_epsilon(cost: Callable[[float], float], target: float) -> float:
    """The pure epsilon whose ``cost`` is ``target``, rounded up."""
    return _inverse(cost, target) * (1.0 + 1e-14) if target > 0.0 else 0.0


class ZCDPFilter(Filter):
    """Refuse a round with which the sum of rho no longer converts to (epsilon, delta).

    >>> from simulator.theory import ZCDP, ZCDPFilter
    >>> running = ZCDPFilter(1.0, 1e-6).fresh()
    >>> running.admits(ZCDP(0.01)), running.admits(ZCDP(0.1))
    (True, False)
    """

    name = "zcdp"
    sums = rounds_up = True
    source = (
        "Feldman and Zrnic 2021; Whitehouse, Ramdas, Rogers and Wu 2023, filter for zCDP; "
        "conversion of Canonne, Kamath and Steinke 2020"
    )
    step = staticmethod(zcdp_step)

    @cached_property
    def rho(self) -> float:
        """The largest rho that converts to the promised pair."""
        target = self.delta - self.rounds_delta

        def epsilon(rho: float) -> float:
            return renyi_to_epsilon(lambda alpha: alpha * rho, target) if rho > 0.0 else 0.0

        rho, step = _inverse(epsilon, self.epsilon), 2.0**-52
        while epsilon(rho) * UP > self.epsilon:  # the root is rounded
            rho, step = rho * (1.0 - step), 2.0 * step
        return rho

    @property
    def initial(self) -> State:
        """No sums, the budget rho, and the delta of the rounds."""
        return (0.0, 0.0, 0.0, self.rho, self.rounds_delta)

    def price(self, guarantee: Guarantee) -> tuple[float, float]:
        """The pure epsilon with the same rho; raises NotApplicable where the rho is infinite."""
        rho = guarantee.core.zcdp_rho
        if not math.isfinite(rho):
            raise NotApplicable(f"the zcdp filter cannot account for {guarantee}")
        if isinstance(guarantee.core, PureDP):
            return guarantee.core.epsilon, guarantee.leak
        return _equivalent_epsilon(lambda e: PureDP(e).zcdp_rho, rho), guarantee.leak


class RenyiFilter(Filter):
    """Refuse a round with which the sum of Renyi divergences of one order exceeds its budget.

    The order is the one at which the budget divided by the order is largest, as the divergence of
    small rounds grows in proportion to it.

    >>> from simulator.theory import RenyiFilter, ZCDP
    >>> running = RenyiFilter(1.0, 1e-6).fresh()
    >>> running.admits(ZCDP(0.01)), running.admits(ZCDP(0.1))
    (True, False)
    """

    name = "renyi"
    sums = rounds_up = True
    source = (
        "Feldman and Zrnic 2021, Renyi filter of a fixed order; "
        "conversion of Canonne, Kamath and Steinke 2020, Proposition 12"
    )
    step = staticmethod(renyi_step)

    def _budget(self, alpha: float) -> float:
        log_share = math.log(alpha * (self.delta - self.rounds_delta))
        return self.epsilon + log_share / (alpha - 1.0) - math.log1p(-1.0 / alpha)

    @cached_property
    def alpha(self) -> float:
        """The Renyi order."""
        log_order, _ = least_point(
            lambda u: -self._budget(1.0 + math.exp(u)) / (1.0 + math.exp(u)), -12.0, 18.0
        )
        return 1.0 + math.exp(log_order)

    @property
    def initial(self) -> State:
        """No sums, and the budget at the best order; raises NotApplicable without one."""
        alpha = self.alpha
        budget = self._budget(alpha)
        if budget <= 0.0:
            raise NotApplicable(f"no Renyi order leaves a budget for {self}; allow more delta")
        return (0.0, 0.0, 0.0, budget / UP, self.rounds_delta, alpha)

    def price(self, guarantee: Guarantee) -> tuple[float, float]:
        """The pure epsilon with the same Renyi divergence at the filter's order."""
        alpha = self.alpha
        cost = guarantee.core.renyi(alpha)
        if not math.isfinite(cost):
            raise NotApplicable(
                f"the renyi filter of order {alpha:g} cannot account for {guarantee}"
            )
        if isinstance(guarantee.core, PureDP):
            return guarantee.core.epsilon, guarantee.leak
        return _equivalent_epsilon(lambda e: pure_renyi(e, alpha), cost), guarantee.leak
