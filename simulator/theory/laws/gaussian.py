"""The law of the Gaussian mechanism."""
# ruff: noqa: D102  (overrides inherit the docstring of PrivacyLossLaw)

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from simulator.theory.laws.base import Floats, PrivacyLossLaw, RealOrComplex
from simulator.theory.laws.gaussian_curve import gaussian_delta
from simulator.theory.laws.normal_cells import normal_cells
from simulator.theory.parameters import positive

_REACH = 39.0
"""In deviations; beyond, the normal tail is below the smallest double."""
_MOST_POINTS = 1 << 15


@dataclass(frozen=True)
class GaussianLaw(PrivacyLossLaw):
    """Gaussian mechanism: ``mu`` = shift over standard deviation; L ~ N(mu^2/2, mu^2) under P0.

    One-round delta: Balle and Wang, "Improving the Gaussian Mechanism", ICML 2018, Theorem 5.

    >>> from simulator.theory import GaussianLaw
    >>> law = GaussianLaw(mu=0.5)
    >>> law.mean, law.variance, round(law.delta(1.0), 6)
    (0.125, 0.25, 0.00683)
    """

    mu: float
    has_accurate_cells = True

    def __post_init__(self) -> None:
        positive("mu (shift over standard deviation)", self.mu)

    @property
    def support(self) -> tuple[float, float]:
        return -np.inf, np.inf

    @property
    def is_discrete(self) -> bool:
        return False

    @property
    def mean(self) -> float:
        return self.mu**2 / 2

    @property
    def variance(self) -> float:
        return self.mu**2

    @property
    def points(self) -> tuple[Floats, Floats]:
        # Functions of a sampled mechanism's loss have poles pi nats off the real line, so the
        # trapezoidal rule's error decreases exponentially in pi over its spacing.
        low, high = -_REACH, self.mu + _REACH
        spacing = 0.5 * min(1.0, 1.0 / self.mu)
        z = np.linspace(low, high, int(min(np.ceil((high - low) / spacing), _MOST_POINTS)) + 1)
        logs = -((z - self.mu) ** 2) / 2
        return self.mu * (z - self.mu / 2), logs - scipy.special.logsumexp(logs)

    def log_mgf(self, theta: ArrayLike) -> RealOrComplex:
        z = np.asarray(theta)
        return np.asarray(z * (1 + z) * (self.mu**2 / 2))

    def log_mgf_error(self, z: RealOrComplex, psi: RealOrComplex, theta: float) -> Floats:
        # psi is a product of three factors, so its error is relative to psi itself.
        return np.asarray(1e-15 * (1 + np.abs(psi)))

    def delta(self, epsilon: float) -> float:
        return gaussian_delta(self.mu, float(epsilon))

    def reversed(self) -> GaussianLaw:
        return self

    def continuous_masses(self, edges: Floats) -> tuple[Floats, Floats]:
        return self._cells(edges, self.mu**2 / 2), self._cells(edges, -(self.mu**2) / 2)

    def _cells(self, edges: Floats, centre: float) -> Floats:
        return normal_cells((edges - centre) / self.mu)
