"""The law of Gaussian noise on a Poisson sample in which one record is replaced."""
# ruff: noqa: D102  (overrides inherit the docstring of PrivacyLossLaw)

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite
from simulator.theory.laws.base import Floats
from simulator.theory.laws.normal_cells import normal_cells
from simulator.theory.laws.quadrature import QuadratureLaw, mean_gain
from simulator.theory.outward import UNIT
from simulator.theory.parameters import positive

_REACH = 39.0
"""Standard deviations beyond which a normal density underflows."""
_MOST_POINTS = 1 << 15


@dataclass(frozen=True)
class ReplacedSampleLaw(QuadratureLaw):
    """N(0, 1) noise on a sum over a Poisson sample, one record of norm at most ``mu`` replaced.

    The pair is (1 - rate) N(0, 1) + rate N(mu, 1) and (1 - rate) N(0, 1) + rate N(-mu, 1). Two
    databases attain it (mu against -mu, all else 0), and exchanging them mirrors the answer, so the
    law is its own :meth:`reversed`. With N = ln(1 - rate + rate exp(mu z - mu^2/2)) at the answer z
    the loss is N(z) - N(-z).

    It dominates: simulator/theory/lemmas/replaced-sample.md.

    Raises InvalidInput unless mu > 0 and 0 < rate < 1.
    """

    mu: float
    rate: float
    has_accurate_cells = True

    def __post_init__(self) -> None:
        positive("mu", self.mu)
        if not 0.0 < finite("rate", self.rate) < 1.0:
            raise InvalidInput(f"the sampling rate must be above 0 and below 1, not {self.rate!r}")

    @property
    def loss_error(self) -> float:  # type: ignore[override]
        logs = abs(math.log(self.rate)) + abs(math.log1p(-self.rate))
        return 32 * UNIT * (self.mu * (self.mu + _REACH) + logs)

    @property
    def support(self) -> tuple[float, float]:
        return -math.inf, math.inf

    @property
    def is_discrete(self) -> bool:
        return False

    @property
    def points(self) -> tuple[Floats, Floats]:
        reach = self.mu + _REACH
        spacing = 0.5 * min(1.0, 1.0 / self.mu)
        z = np.linspace(-reach, reach, int(min(math.ceil(2 * reach / spacing), _MOST_POINTS)) + 1)
        logs = self._log_density(z)
        return self._loss(z), logs - scipy.special.logsumexp(logs)

    def _mixed(self, z: Floats) -> Floats:
        """N at the answer z."""
        exponent = self.mu * z - self.mu**2 / 2
        near = np.log1p(self.rate * np.expm1(np.minimum(exponent, 1.0)))
        far = np.logaddexp(math.log1p(-self.rate), math.log(self.rate) + exponent)
        return np.where(np.abs(exponent) <= 1.0, near, far)

    def _loss(self, z: Floats) -> Floats:
        return self._mixed(z) - self._mixed(-z)

    def _log_density(self, z: Floats) -> Floats:
        """Of P0, but for a constant."""
        return -(z**2) / 2 + self._mixed(z)

    def _answer(self, losses: Floats) -> Floats:
        """The z of each loss: exp(mu z) is the root of a quadratic equation."""
        half = np.abs(losses) / 2
        odds = math.log1p(-self.rate) - math.log(self.rate) + self.mu**2 / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            log_sinh = half + np.log(-np.expm1(-2.0 * half)) - math.log(2.0)
            large = odds + log_sinh
            root = np.where(
                large < 20.0, np.arcsinh(np.exp(np.minimum(large, 20.0))), large + math.log(2.0)
            )
        return np.asarray(np.copysign((half + root) / self.mu, losses))

    def delta(self, epsilon: float) -> float:
        (start,) = self._answer(np.array([epsilon]))
        if not math.isfinite(start):
            return 0.0 if epsilon > 0 else 1.0
        far = max(float(start), self.mu) + _REACH
        start = max(float(start), -_REACH)
        return mean_gain(self._loss, self._log_density, epsilon, (start, far))

    def reversed(self) -> ReplacedSampleLaw:
        return self

    def continuous_masses(self, edges: Floats) -> tuple[Floats, Floats]:
        z = self._answer(edges)
        nothing = (1 - self.rate) * normal_cells(z)
        here = nothing + self.rate * normal_cells(z - self.mu)
        return here, nothing + self.rate * normal_cells(z + self.mu)
