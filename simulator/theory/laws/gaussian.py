"""The law of the Gaussian mechanism."""
# ruff: noqa: D102  (overrides inherit the docstring of PrivacyLossLaw)

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfcx, log_ndtr, ndtr

from simulator.theory.laws.base import Floats, PrivacyLossLaw, Transform, require_positive


@dataclass(frozen=True)
class GaussianLaw(PrivacyLossLaw):
    """Gaussian mechanism: ``mu`` = shift over standard deviation; L ~ N(mu^2/2, mu^2) under P0.

    One-round delta: Balle and Wang, "Improving the Gaussian Mechanism", ICML 2018, Theorem 5.
    """

    mu: float

    def __post_init__(self) -> None:
        require_positive("mu (shift over standard deviation)", self.mu)

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

    def log_mgf(self, theta: ArrayLike) -> Transform:
        z = np.asarray(theta)
        return np.asarray(z * (1 + z) * (self.mu**2 / 2))

    def log_mgf_error(self, z: Transform, psi: Transform, theta: float) -> Floats:
        # psi is a product of three factors, so its error is relative to psi itself.
        return np.asarray(1e-15 * (1 + np.abs(psi)))

    def delta(self, epsilon: float) -> float:
        if epsilon < 0:
            return float(-np.expm1(epsilon) + np.exp(epsilon) * self.delta(-epsilon))
        low = epsilon / self.mu - self.mu / 2
        high = low + self.mu
        if low < -1:
            return float(ndtr(-low) - np.exp(epsilon + log_ndtr(-high)))
        return float(np.exp(-(low**2) / 2) / np.sqrt(2 * np.pi) * _mills_drop(low, high))

    def reversed(self) -> GaussianLaw:
        return self

    def continuous_masses(self, edges: Floats) -> tuple[Floats, Floats]:
        return self._cells(edges, self.mu**2 / 2), self._cells(edges, -(self.mu**2) / 2)

    def _cells(self, edges: Floats, centre: float) -> Floats:
        z = (edges - centre) / self.mu
        # Difference the tail that is small, so that far cells keep their digits.
        return np.where(z[:-1] > 0, ndtr(-z[:-1]) - ndtr(-z[1:]), ndtr(z[1:]) - ndtr(z[:-1]))


def _mills_drop(low: float, high: float) -> float:
    """m(low) - m(high) for Mills' ratio m of the normal law, -1 <= low < high, without cancelling.

    m' = t m - 1, so a short drop is integrated; a long one is a plain difference.
    """

    def mills(t: Floats) -> Floats:
        return np.asarray(np.sqrt(np.pi / 2) * erfcx(t / np.sqrt(2)))

    if high - low > 1:
        return float(mills(np.array(low)) - mills(np.array(high)))
    nodes, weights = np.polynomial.legendre.leggauss(24)
    t = low + (high - low) * (nodes + 1) / 2
    # Far out 1 - t m(t) cancels; there its continued fraction (depth 60) is exact to rounding.
    slope = np.where(t < 6, 1 - t * mills(t), _mills_slope_far(np.maximum(t, 6.0)))
    return float((high - low) / 2 * weights @ slope)


def _mills_slope_far(t: Floats) -> Floats:
    """1 - t m(t) = m(t) c with m = 1/(t + c), c = 1/(t + 2/(t + 3/(t + ...)))."""
    tail = np.zeros_like(t)
    for n in range(60, 0, -1):
        tail = n / (t + tail)
    return tail / (t + tail)
