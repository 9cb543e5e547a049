"""Bounds by Gaussian trade-off functions: mu^2 adds up."""

from __future__ import annotations

import math

from simulator.theory.bounds.base import Bound, unlike
from simulator.theory.bounds.composition import Composition
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.guarantees.renyi import ZCDP
from simulator.theory.laws.gaussian_curve import (
    gaussian_delta,
    gaussian_delta_bracket,
    gaussian_epsilon,
    gaussian_epsilon_bracket,
)

_LARGEST_ROUND = 30.0
_SMALLEST_SQUARES = 1e-290  # sums of squares below it lose digits to underflow


def _response_variance(guarantee: Guarantee) -> float:
    spread = guarantee.pure_epsilon / math.cosh(guarantee.pure_epsilon / 2.0)
    return spread * spread


class _ByMu(Bound):
    """A bound equal to the Gaussian curve of some mu."""

    def _mu(self, core: Composition) -> float:
        squares = core.total(lambda guarantee: guarantee.gdp_mu**2)
        if squares >= _SMALLEST_SQUARES:
            return math.sqrt(squares)
        largest = max(guarantee.gdp_mu for guarantee, _ in core)
        if largest == 0.0:
            return 0.0
        return largest * math.sqrt(core.total(lambda guarantee: (guarantee.gdp_mu / largest) ** 2))

    def _delta(self, core: Composition, epsilon: float) -> float:
        return 0.0 if math.isinf(epsilon) else gaussian_delta(self._mu(core), epsilon)

    def _epsilon(self, core: Composition, delta: float) -> float:
        return gaussian_epsilon(self._mu(core), delta)

    def _delta_ends(self, core: Composition, epsilon: float) -> Bracket:
        if math.isinf(epsilon):
            return Bracket(0.0, 0.0)
        return gaussian_delta_bracket(self._mu(core), epsilon)

    def _epsilon_ends(self, core: Composition, delta: float) -> Bracket:
        return gaussian_epsilon_bracket(self._mu(core), delta)


class AnalyticGaussian(_ByMu):
    """Phi(mu/2 - E/mu) - e^E Phi(-mu/2 - E/mu) with mu^2 the sum of mu_i^2."""

    name = "analytic-gaussian"
    source = "Balle and Wang 2018, Theorem 8; Dong, Roth and Su 2022, Corollary 3.3"
    kind = "exact"

    def _why_not(self, core: Composition) -> str | None:
        gaussian = core.consists_of(GaussianDP)
        return None if gaussian else "every round must be Gaussian differential privacy"


class GaussianDominates(_ByMu):
    """The Gaussian curve of the composition of Gaussians that dominate the rounds."""

    name = "gdp"
    source = "Dong, Roth and Su 2022, Corollary 3.3 (each round replaced by its Gaussian)"

    def _why_not(self, core: Composition) -> str | None:
        if core.consists_of(GaussianDP):
            return "every round is Gaussian already; use analytic-gaussian"
        why = "every round must imply Gaussian privacy, and {} does not"
        return unlike(core, lambda guarantee: math.isfinite(guarantee.gdp_mu), why)


class CentralLimit(_ByMu):
    """mu = 2 (sum of means) / sqrt(sum of variances) of the extremal losses.

    An approximation for many rounds of small epsilon; it can be too small or too large.
    """

    name = "gdp-clt"
    source = "Dong, Roth and Su 2022, Theorem 3.4"
    kind = "approximation"

    def _why_not(self, core: Composition) -> str | None:
        if not core.consists_of(PureDP):
            return "the limit is stated here for pure or approximate differential privacy"
        if max(guarantee.pure_epsilon for guarantee, _ in core) > _LARGEST_ROUND:
            return f"a round with epsilon above {_LARGEST_ROUND:g} has almost no variance"
        return None

    def _mu(self, core: Composition) -> float:
        mean = core.total(lambda guarantee: guarantee.mean_loss)
        variance = core.total(_response_variance)
        return 2.0 * mean / math.sqrt(variance) if variance > 0.0 else 0.0


class GaussianInZCDP(_ByMu):
    """The curve of the Gaussian mechanism with mu^2 = 2 rho, which belongs to the family."""

    name = "gaussian-in-zcdp"
    source = "Bun and Steinke 2016, Proposition 1.6; Balle and Wang 2018, Theorem 8"
    kind = "lower"
    adversary = "one with Gaussian noise"

    def _why_not(self, core: Composition) -> str | None:
        zcdp = core.consists_of(ZCDP)
        return None if zcdp else "every round must be zero-concentrated differential privacy"

    def _mu(self, core: Composition) -> float:
        return math.sqrt(2.0 * core.total(lambda guarantee: guarantee.zcdp_rho))
