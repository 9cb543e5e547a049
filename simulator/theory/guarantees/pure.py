"""Pure and approximate differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import scipy

from simulator.foundations.validation import probability_below_one
from simulator.theory.guarantees.interface import Guarantee, within
from simulator.theory.guarantees.renyi_divergence import pure_renyi
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.extremal import randomized_response
from simulator.theory.outward import not_lost
from simulator.theory.parameters import nonnegative


@dataclass(frozen=True)
class PureDP(Guarantee):
    """epsilon-differential privacy. ``PureDP(0.0)`` is a harmless round.

    Extremal pair: randomized response (Kairouz, Oh and Viswanath 2017, Theorem 3.3).

    >>> from simulator import PureDP
    >>> PureDP(0.2).implies(PureDP(0.3)), round(PureDP(0.2).zcdp_rho, 6)
    (True, 0.019934)
    """

    epsilon: float
    kind: ClassVar[str] = "pure"

    def __post_init__(self) -> None:
        epsilon = nonnegative("epsilon", self.epsilon)
        if epsilon is not self.epsilon:
            self._set("epsilon", epsilon)

    def admits(self, other: Guarantee) -> bool:
        """Whether ``other`` is epsilon-DP at this epsilon."""
        return within(other.pure_epsilon, self.epsilon)

    def _hockey_stick(self, epsilon: float) -> float:
        return pure_delta(self.epsilon, epsilon)

    @property
    def worst_law(self) -> PrivacyLossLaw:
        """Randomized response."""
        return randomized_response(self.epsilon)

    @property
    def pure_epsilon(self) -> float:
        """The epsilon itself."""
        return self.epsilon

    @property
    def loss_variance(self) -> float:
        """(epsilon / cosh(epsilon/2))^2 of randomized response, where it is the largest.

        Beyond it is the bound by the range, epsilon^2: simulator/theory/lemmas/freedman.md.
        """
        if self.epsilon > 1.0 + math.exp(-self.epsilon):
            return self.epsilon**2
        return (self.epsilon / math.cosh(self.epsilon / 2.0)) ** 2

    @property
    def zcdp_rho(self) -> float:
        """The least rho, epsilon tanh(epsilon / 2): that of randomized response as alpha goes to 1.

        Source: Steinke, "Tight RDP & zCDP bounds from pure DP", 2024 (epsilon^2 / 2 in Bun and
        Steinke 2016, Proposition 3.3).
        """
        return kept(self.epsilon, self.epsilon * math.tanh(self.epsilon / 2.0))

    @property
    def gdp_mu(self) -> float:
        """Least mu: the Gaussian trade-off curve is convex and meets the corner of the pure one.

        Source: Dong, Roth and Su 2022, Section 2.
        """
        if self.epsilon > 1.0:
            return -2.0 * float(scipy.special.ndtri_exp(scipy.special.log_expit(-self.epsilon)))
        return math.sqrt(8.0) * float(scipy.special.erfinv(math.tanh(self.epsilon / 2.0)))

    def renyi(self, alpha: float) -> float:
        """Of randomized response; see ``pure_renyi``."""
        return pure_renyi(self.epsilon, alpha)


@dataclass(frozen=True)
class ApproxDP(Guarantee):
    """(epsilon, delta)-differential privacy, delta in [0, 1).

    Extremal pair: with probability delta the bit is revealed, otherwise randomized response
    (Kairouz, Oh and Viswanath 2017, Theorem 3.3).

    >>> from simulator.theory import ApproxDP, PureDP
    >>> ApproxDP(0.2, 1e-6).admits(PureDP(0.1)), ApproxDP(0.2, 1e-6).hockey_stick(0.2)
    (True, 1e-06)
    """

    epsilon: float
    delta: float
    kind: ClassVar[str] = "approx"

    def __post_init__(self) -> None:
        self._set("epsilon", nonnegative("epsilon", self.epsilon))
        self._set("delta", probability_below_one("delta", self.delta))

    def admits(self, other: Guarantee) -> bool:
        """Whether ``other`` is (epsilon, delta)-DP at this epsilon and delta."""
        return within(other.pure_epsilon, self.epsilon) or within(
            other.hockey_stick(self.epsilon), self.delta
        )

    def _hockey_stick(self, epsilon: float) -> float:
        return self.delta + (1.0 - self.delta) * pure_delta(self.epsilon, epsilon)

    @property
    def worst_law(self) -> PrivacyLossLaw:
        """Randomized response that reveals the bit with probability delta."""
        return randomized_response(self.epsilon, self.delta)

    @property
    def core(self) -> Guarantee:
        """Pure differential privacy with the same epsilon."""
        return PureDP(self.epsilon)

    @property
    def leak(self) -> float:
        """The delta."""
        return self.delta

    @property
    def pure_epsilon(self) -> float:
        """The epsilon when delta is 0, else infinity."""
        return self.epsilon if self.delta == 0.0 else math.inf

    @property
    def implied(self) -> Guarantee | None:
        """Pure differential privacy when delta is 0, else None."""
        return self.core if self.delta == 0.0 else None


def kept(parameter: float, square: float) -> float:
    """A number proportional to a squared parameter, rounded up where it underflows."""
    return not_lost(square) if parameter > 0.0 else 0.0


def pure_delta(epsilon_0: float, epsilon: float) -> float:
    """delta(epsilon), epsilon >= 0, of randomized response with parameter ``epsilon_0``."""
    if epsilon >= epsilon_0:
        return 0.0
    return -math.expm1(epsilon - epsilon_0) / (1.0 + math.exp(-epsilon_0))
