"""Bounded range, the guarantee of the exponential mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from simulator.theory.guarantees.interface import Guarantee, within
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.guarantees.renyi_divergence import bounded_range_renyi, bounded_range_rho
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
