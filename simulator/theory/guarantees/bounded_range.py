"""Bounded range, the guarantee of the exponential mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from simulator.theory.guarantees.interface import Guarantee, within
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.guarantees.renyi_divergence import check_order, pure_renyi
from simulator.theory.outward import UNIT, not_lost
from simulator.theory.parameters import nonnegative


@dataclass(frozen=True)
class BoundedRange(Guarantee):
    """epsilon-bounded range: the loss of any one pair lies in some interval of width epsilon.

    The exponential mechanism with weight epsilon / (2 Delta) keeps it. Extremal pairs: loss t with
    probability (1 - e^(t-epsilon)) / (1 - e^(-epsilon)), else t - epsilon, t in [0, epsilon].

    Source: Durfee and Rogers 2019 (definition); Dong, Durfee and Rogers 2020, Section 4.

    >>> from simulator.theory import BoundedRange
    >>> round(BoundedRange(0.2).zcdp_rho, 6), BoundedRange(0.2).pure_epsilon
    (0.004997, 0.2)
    """

    epsilon: float
    kind: ClassVar[str] = "range"

    def __post_init__(self) -> None:
        self._set("epsilon", nonnegative("epsilon", self.epsilon))

    def admits(self, other: Guarantee) -> bool:
        """Whether the range of ``other`` is no wider."""
        return within(other.range_width, self.epsilon)

    def _hockey_stick(self, epsilon: float) -> float:
        if epsilon >= self.epsilon:
            return 0.0
        return math.expm1((epsilon - self.epsilon) / 2.0) ** 2 / -math.expm1(-self.epsilon)

    @property
    def pure_epsilon(self) -> float:
        """The width: a loss in an interval of that width that contains 0 is at most the width."""
        return self.epsilon

    @property
    def range_width(self) -> float:
        """The width itself."""
        return self.epsilon

    @property
    def zcdp_rho(self) -> float:
        """The largest mean loss; see :func:`bounded_range_rho`."""
        return bounded_range_rho(self.epsilon)

    mean_loss = zcdp_rho

    @property
    def gdp_mu(self) -> float:
        """The mu of randomized response of half the width, the worst of the extremal pairs."""
        return PureDP(self.epsilon / 2.0).gdp_mu

    def renyi(self, alpha: float) -> float:
        """The largest Renyi divergence of laws whose loss is in a range of width epsilon."""
        return bounded_range_renyi(self.epsilon, alpha)


def _log_expm1(x: float) -> float:
    return x + math.log(-math.expm1(-x))


def bounded_range_rho(epsilon: float) -> float:
    """The least rho of epsilon-bounded range, x coth x - 1 + ln(sinh(x)/x) at x = epsilon/2.

    It is the largest mean loss, u - 1 - ln u with u = epsilon / (1 - e^-epsilon), rounded up: the
    largest Renyi divergence over its order is that of an order that goes to 1. Below epsilon^2 / 8
    (Cesar and Rogers 2021).

    Source: Dong, Durfee and Rogers 2020, Section 7, for the mean; arXiv 2510.25746 for the orders,
    of which a test takes the supremum.
    """
    if epsilon == 0.0:
        return 0.0
    if epsilon < 0.1:  # where the difference has few digits: the alternating series, cut
        square = epsilon * epsilon / 4.0
        series = 0.5 - square * (1.0 / 36.0 - square / 405.0)
        return not_lost(square * series * (1.0 + 16.0 * UNIT))
    excess = epsilon / -math.expm1(-epsilon) - 1.0
    return excess - math.log1p(excess) + 8.0 * UNIT * (excess + epsilon)


def bounded_range_renyi(epsilon: float, alpha: float) -> float:
    """Largest Renyi divergence of order ``alpha`` of any epsilon-bounded-range mechanism.

    The extremal pair has loss t with probability (1 - e^(t - epsilon)) / (1 - e^(-epsilon)) and t -
    epsilon otherwise; maximising over t in [0, epsilon] has a closed form, rounded up. The result
    is at most alpha times :func:`bounded_range_rho`.

    Source: Dong, Durfee and Rogers 2020, Section 4.
    """
    theta = check_order(alpha) - 1.0
    if epsilon == 0.0:
        return 0.0
    cap = min(not_lost(alpha * bounded_range_rho(epsilon)), pure_renyi(epsilon, alpha))
    if alpha * epsilon < 1e-3:  # the closed form only loses digits here
        return cap
    log_c = _log_expm1(theta * epsilon) - math.log(-math.expm1(-epsilon))
    log_1c = log_c + math.log1p(math.exp(-log_c)) if log_c > 0 else math.log1p(math.exp(log_c))
    log_share = math.log(theta / alpha)
    shift = log_share + (log_1c - log_c)  # t - epsilon
    if not -epsilon <= shift <= 0.0:
        return cap
    # The terms nearly cancel for a small epsilon, so their rounding error is added.
    size = abs(log_share) + abs(log_c) + abs(log_1c) + theta * epsilon + 4.0
    lost = 16.0 * UNIT * (size + (size + math.log(alpha)) / theta)
    return min(cap, shift + (log_1c - math.log(alpha)) / theta + lost)
