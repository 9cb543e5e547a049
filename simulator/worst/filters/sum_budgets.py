"""Filters as a budget on one running sum: the cost of a round, and the limit of the sum.

While no round has a delta, each of these filters admits a round while a sum of costs stays within a
limit. The search for the worst adversary then needs only this sum. ``certain`` and ``possible``
enclose the limit, rounding included.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch

from simulator.foundations.errors import NotApplicable
from simulator.foundations.roots import crossing
from simulator.theory.filters.advanced import RogersFilter, WhitehouseFilter
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.renyi import RenyiFilter, ZCDPFilter
from simulator.theory.filters.rules import AS_STORED
from simulator.theory.filters.sums import SumFilter
from simulator.theory.guarantees.renyi_divergence import pure_renyi

_ROUNDING = 1e-10
"""Largest relative effect on a budget of the filters' outward rounding over 10^5 rounds."""


@dataclass(frozen=True)
class Budget:
    """A sum of costs and its limit.

    Attributes
    ----------
    cost : of a round, from the epsilon at which the filter accounts for it; increasing from 0.
    certain : rounds whose costs add up to at most this are all admitted.
    possible : rounds whose costs add up to more are never all admitted.
    """

    cost: Callable[[float], float]
    certain: float
    possible: float


@singledispatch
def budget_of(filter_: Filter, largest: float) -> Budget:
    """The budget of a filter over rounds that it accounts for at up to ``largest`` epsilon.

    Raises NotApplicable for a filter that keeps more than one sum.
    """
    raise NotApplicable(
        f"the {filter_.name} filter is not known to keep one running sum, and the menu leads "
        "to more states than can be enumerated; give it fewer mechanisms, with fixed parameters"
    )


@budget_of.register
def _(filter_: SumFilter, largest: float) -> Budget:
    return Budget(lambda epsilon: epsilon, filter_.epsilon, filter_.epsilon * AS_STORED)


@budget_of.register
def _(filter_: WhitehouseFilter, largest: float) -> Budget:
    log_inverse = -math.log(filter_.delta - filter_.rounds_delta)
    root = (
        2.0
        * filter_.epsilon
        / (math.sqrt(2.0 * log_inverse) + math.sqrt(2.0 * (log_inverse + filter_.epsilon)))
    )
    return _about(lambda epsilon: epsilon * epsilon, root * root, root * root)


@budget_of.register
def _(filter_: ZCDPFilter, largest: float) -> Budget:
    return _about(lambda epsilon: epsilon * math.tanh(epsilon / 2.0), filter_.rho, filter_.rho)


@budget_of.register
def _(filter_: RenyiFilter, largest: float) -> Budget:
    alpha, total = filter_.alpha, filter_.initial[3]
    return _about(lambda epsilon: pure_renyi(epsilon, alpha), total, total)


@budget_of.register
def _(filter_: RogersFilter, largest: float) -> Budget:
    # The drift sum of epsilon (e^epsilon - 1)/2 lies between half the sum of squares and
    # (e^largest - 1)/largest times that.
    offset = filter_.epsilon**2 / (28.04 * -math.log(filter_.delta))
    log_inverse = math.log(2.0 / filter_.delta)

    def limit(drift: float) -> float:
        def excess(squares: float) -> float:
            growth = 2.0 + math.log1p(squares / offset)
            return (
                drift * squares / 2.0
                + math.sqrt((squares + offset) * growth * log_inverse)
                - filter_.epsilon
            )

        if excess(0.0) >= 0.0:
            return 0.0
        top = 2.0 * filter_.epsilon**2 + 2.0 * filter_.epsilon
        return crossing(excess, 0.0, top, xtol=2e-12)

    ratio = math.expm1(largest) / largest
    return _about(lambda epsilon: epsilon * epsilon, limit(ratio), limit(1.0))


def _about(cost: Callable[[float], float], certain: float, possible: float) -> Budget:
    return Budget(cost, certain * (1.0 - _ROUNDING), possible * (1.0 + _ROUNDING))
