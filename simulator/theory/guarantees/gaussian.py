"""Gaussian differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from simulator.theory.guarantees.interface import Guarantee, within
from simulator.theory.guarantees.pure import kept
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.extremal import randomized_response
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.gaussian_curve import gaussian_delta
from simulator.theory.parameters import nonnegative, positive


@dataclass(frozen=True)
class GaussianDP(Guarantee):
    """mu-Gaussian differential privacy: dominated by N(0, 1) against N(mu, 1).

    Source: Dong, Roth and Su 2022, Definition 2.6. The Gaussian mechanism has mu = Delta / sigma.

    >>> from simulator.theory import GaussianDP
    >>> round(GaussianDP(0.25).hockey_stick(0.5), 6), GaussianDP(0.25).zcdp_rho
    (0.002709, 0.03125)
    """

    mu: float
    kind: ClassVar[str] = "gdp"

    def __post_init__(self) -> None:
        self._set("mu", nonnegative("mu", self.mu))

    def admits(self, other: Guarantee) -> bool:
        """Whether ``other`` is mu-GDP at this mu."""
        return within(other.gdp_mu, self.mu)

    def _hockey_stick(self, epsilon: float) -> float:
        return gaussian_delta(self.mu, epsilon)

    @property
    def worst_law(self) -> PrivacyLossLaw:
        """Two normal laws, mu apart."""
        return GaussianLaw(self.mu) if self.mu > 0.0 else randomized_response(0.0)

    @property
    def pure_epsilon(self) -> float:
        """Zero for mu = 0, else infinity: the Gaussian loss is unbounded."""
        return 0.0 if self.mu == 0.0 else math.inf

    @property
    def zcdp_rho(self) -> float:
        """mu^2 / 2 (Bun and Steinke 2016, Proposition 1.6)."""
        return kept(self.mu, self.mu * self.mu / 2.0)

    @property
    def gdp_mu(self) -> float:
        """The mu itself."""
        return self.mu


def gaussian_noise(sigma: float) -> GaussianDP:
    """The family of Gaussian noise ``sigma`` at sensitivity 1: mu = 1/sigma."""
    return GaussianDP(1.0 / positive("sigma", sigma))
