"""Bounded range, the guarantee of the exponential mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from simulator.theory.guarantees.interface import Guarantee, within
from simulator.theory.guarantees.pure import PureDP, kept
from simulator.theory.guarantees.renyi_divergence import bounded_range_renyi
from simulator.theory.outward import UNIT
from simulator.theory.parameters import nonnegative


@dataclass(frozen=True)
class BoundedRange(Guarantee):
    """epsilon-bounded range: the loss of any one pair lies in some interval of width epsilon.

    The exponential mechanism with weight epsilon / (2 Delta) keeps it. Extremal pairs: loss t with
    probability (1 - e^(t-epsilon)) / (1 - e^(-epsilon)), else t - epsilon, t in [0, epsilon].

    Source: Durfee and Rogers 2019 (definition); Dong, Durfee and Rogers 2020, Section 4.
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
    def mean_loss(self) -> float:
        """Largest mean loss, u - 1 - ln u with u = epsilon / (1 - e^-epsilon).

        Source: Dong, Durfee and Rogers 2020, Section 7.
        """
        if self.epsilon == 0.0:
            return 0.0
        excess = self.epsilon / -math.expm1(-self.epsilon) - 1.0
        rounded_up = excess - math.log1p(excess) + 8.0 * UNIT * (excess + self.epsilon)
        return min(rounded_up, kept(self.epsilon, self.epsilon**2 / 8.0))

    @property
    def zcdp_rho(self) -> float:
        """epsilon^2 / 8 (Cesar and Rogers 2021), or that of pure privacy if less."""
        return min(kept(self.epsilon, self.epsilon**2 / 8.0), PureDP(self.epsilon).zcdp_rho)

    @property
    def gdp_mu(self) -> float:
        """The mu of randomized response of half the width, the worst of the extremal pairs."""
        return PureDP(self.epsilon / 2.0).gdp_mu

    def renyi(self, alpha: float) -> float:
        """The largest Renyi divergence of laws whose loss is in a range of width epsilon."""
        return bounded_range_renyi(self.epsilon, alpha)
