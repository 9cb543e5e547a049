"""Privacy filters: each admits or refuses a round before its mechanism runs.

The adversary chooses every round's epsilon and delta adaptively. The whole interaction under a
``proved`` filter keeps (``epsilon``, ``delta``)-differential privacy. A refused round costs
nothing, and a cheaper one may still be admitted after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import scipy

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.extensions import added, load_added
from simulator.foundations.wording import did_you_mean
from simulator.theory.filters.clt import CLTFilter
from simulator.theory.filters.gaussian import GaussianFilter
from simulator.theory.filters.interface import Filter, RunningFilter, State
from simulator.theory.filters.natural import NaturalFilter
from simulator.theory.filters.realised import RealisedFilter
from simulator.theory.filters.residue import ResidueFilter
from simulator.theory.filters.rules import (
    UP,
    renyi_step,
    rogers_step,
    sum_step,
    whitehouse_step,
    zcdp_step,
)
from simulator.theory.guarantees.families import Guarantee, PureDP
from simulator.theory.guarantees.renyi_divergence import pure_renyi, renyi_to_epsilon
from simulator.theory.inverse import crossing


class SumFilter(Filter):
    """Basic composition: refuse a round whose epsilon or delta exceeds what is left of the sums."""

    name = "sum"
    sums = True
    source = "Rogers, Roth, Ullman and Vadhan 2016, Theorem 3.6"
    step = staticmethod(sum_step)

    def _check(self) -> None:
        self._fixes_rounds_delta(self.delta)

    @property
    def initial(self) -> State:
        """See :meth:`Filter.initial`. All of delta is for the rounds."""
        return (0.0, 0.0, 0.0, 0.0, self.epsilon, self.delta)


class RogersFilter(Filter):
    """A filter at the rate of advanced composition. Half of delta is for the rounds' deltas."""

    name = "rogers"
    sums = rounds_up = True
    source = "Rogers, Roth, Ullman and Vadhan 2016, Theorem 5.1"
    step = staticmethod(rogers_step)

    def _check(self) -> None:
        if not 0.0 < self.delta < math.exp(-1.0):
            raise InvalidInput(f"the rogers filter needs 0 < delta < 1/e, not {self.delta!r}")
        if self.epsilon < 1e-150:
            raise InvalidInput(
                f"the rogers filter needs an epsilon of at least 1e-150, not {self.epsilon!r}"
            )
        self._fixes_rounds_delta(self.delta / 2.0)

    @property
    def initial(self) -> State:
        """See :meth:`Filter.initial`."""
        offset = self.epsilon**2 / (28.04 * -math.log(self.delta))
        budgets = (self.epsilon, self.delta / 2.0)
        return (0.0, 0.0, 0.0, 0.0, *budgets, offset, math.log(2.0 / self.delta))


class WhitehouseFilter(Filter):
    """The rate of advanced composition: sqrt(2 Q ln(1/delta')) + Q/2, Q the sum of squares."""

    name = "whitehouse"
    sums = rounds_up = True
    source = "Whitehouse, Ramdas, Rogers and Wu 2023, filter for (epsilon, delta)-DP"
    step = staticmethod(whitehouse_step)

    @property
    def initial(self) -> State:
        """See :meth:`Filter.initial`."""
        log_inverse = -math.log(self.delta - self.rounds_delta)
        return (0.0, 0.0, 0.0, self.epsilon, self.rounds_delta, log_inverse)


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
    """Refuse a round with which the sum of rho no longer converts to (epsilon, delta)."""

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
        """See :meth:`Filter.initial`."""
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
        found = scipy.optimize.minimize_scalar(
            lambda u: -self._budget(1.0 + math.exp(u)) / (1.0 + math.exp(u)),
            bounds=(-12.0, 18.0),
            method="bounded",
        )
        return 1.0 + math.exp(float(found.x))

    @property
    def initial(self) -> State:
        """See :meth:`Filter.initial`."""
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


FILTERS: dict[str, type[Filter]] = {
    kind.name: kind
    for kind in (
        SumFilter,
        RogersFilter,
        WhitehouseFilter,
        ZCDPFilter,
        RenyiFilter,
        ResidueFilter,
        NaturalFilter,
    )
}
"""The filters of (epsilon, delta)-DP rounds, by name."""
BY_NAME = FILTERS | {kind.name: kind for kind in (GaussianFilter, RealisedFilter, CLTFilter)}
"""The filters that :func:`parse_filter` reads, beside those of entry points."""


def parse_filter(text: str) -> Filter:
    """Read ``NAME:EPSILON``, ``NAME:EPSILON,DELTA``, ``NAME:EPSILON,DELTA,ROUNDS_DELTA``.

    NAME may be that of an entry point ``dpcompose.filters``, which is a subclass of Filter and may
    read its own values, as ``certified:FILE.json``. Inverse of ``str()``. Raises InvalidInput on
    anything else.
    """
    name, _, values = text.strip().partition(":")
    if name not in BY_NAME and name not in added("filters"):
        known = [*BY_NAME, *added("filters")]
        others = did_you_mean(name, known) or f"; write one of {', '.join(known)}, as sum:1"
        raise InvalidInput(f"unknown filter {text!r:.80}{others}")
    kind = BY_NAME[name] if name in BY_NAME else load_added("filters", name)
    if not (isinstance(kind, type) and issubclass(kind, Filter)):
        raise InvalidInput(f"the entry point {name!r} must be a subclass of Filter, not {kind!r}")
    return kind.parse(values)


__all__ = [
    "FILTERS",
    "CLTFilter",
    "Filter",
    "NaturalFilter",
    "RealisedFilter",
    "RenyiFilter",
    "ResidueFilter",
    "RogersFilter",
    "RunningFilter",
    "State",
    "SumFilter",
    "WhitehouseFilter",
    "ZCDPFilter",
    "parse_filter",
]
