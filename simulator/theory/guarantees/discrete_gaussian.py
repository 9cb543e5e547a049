"""The family of discrete Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite
from simulator.theory.guarantees.dominated import DominatedFamily
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.renyi_divergence import check_order
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.discrete import discrete_gaussian
from simulator.theory.outward import not_lost
from simulator.theory.parameters import positive


@dataclass(frozen=True)
class DiscreteGaussianDP(DominatedFamily):
    """Discrete Gaussian noise of ``sigma`` at a whole ``sensitivity``.

    (sensitivity/sigma)^2/2-zCDP by Canonne, Kamath, Steinke, "The Discrete Gaussian for
    Differential Privacy", NeurIPS 2020, Theorem 4.

    >>> from simulator.theory import DiscreteGaussianDP
    >>> round(DiscreteGaussianDP(sigma=4.0, sensitivity=1).zcdp_rho, 6)
    0.03125
    """

    sigma: float
    sensitivity: float
    kind: ClassVar[str] = "discrete-gaussian"

    def __post_init__(self) -> None:
        self._set("sigma", positive("sigma", self.sigma))
        size = finite("sensitivity", self.sensitivity)
        if not (size >= 1.0 and size.is_integer()):
            raise InvalidInput(f"the sensitivity must be whole and at least 1, not {size!r}")
        self._set("sensitivity", size)

    @cached_property
    def _law(self) -> PrivacyLossLaw:
        return discrete_gaussian(self.sigma, round(self.sensitivity))

    @property
    def worst_law(self) -> PrivacyLossLaw:
        """The law at a shift by the whole sensitivity."""
        return self._law

    dominating_law = attained_law = worst_law

    def admits(self, other: Guarantee) -> bool:
        """Whether ``other`` is the same noise at no larger sensitivity."""
        if isinstance(other, DiscreteGaussianDP):
            return other.sigma == self.sigma and other.sensitivity <= self.sensitivity
        return other.pure_epsilon == 0.0

    @property
    def zcdp_rho(self) -> float:
        """As of the Gaussian."""
        return not_lost((self.sensitivity / self.sigma) ** 2 / 2.0)

    def renyi(self, alpha: float) -> float:
        """At most alpha rho."""
        return check_order(alpha) * self.zcdp_rho
