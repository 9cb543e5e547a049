"""Saddle points of the inversion integral, tabulated once per composition.

delta(E) is an integral of exp(K(z) - zE)/(z(1+z)) over a vertical line Re z = theta, K the
log-moment generating function of the total loss. On the line through the saddle point the terms do
not cancel, so a delta of 1e-30 keeps its relative accuracy. The table affects width and speed only:
any theta gives a correct bracket.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator.theory.laws.base import Floats
from simulator.theory.pld.counted_laws import CountedLaws

_POSITIVE = np.logspace(-9, 18, 811)
"""The thetas that are tabulated for delta, ascending."""
_FINE = 61
"""Points of a finer table."""
_NEAR = np.logspace(-9, -1, 120)
_OVERLAP = np.sort(np.r_[-_NEAR, -np.linspace(0.11, 0.89, 40), -1 + _NEAR])
"""Those for 1 - delta, in (-1, 0), dense near both ends."""


@dataclass(frozen=True)
class Saddles:
    """Saddle points by epsilon, all arrays of shape (points,).

    Attributes
    ----------
    theta, epsilon : each saddle point, and the epsilon that it belongs to.
    log_value : ln of the saddle-point estimate of delta, or of 1 - delta.
    spread : standard deviation of the total loss, tilted by theta.
    """

    theta: Floats
    epsilon: Floats
    log_value: Floats
    spread: Floats

    @classmethod
    def of(cls, parts: CountedLaws, overlap: bool = False, thetas: Floats = _POSITIVE) -> Saddles:
        """Tabulate for delta (theta > 0), or for 1 - delta (``overlap``: -1 < theta < 0).

        ``thetas`` are the positive ones to tabulate, ascending.
        """
        theta = _OVERLAP if overlap else thetas
        step = 1e-25 * np.minimum(np.abs(theta), 1)
        lifted = parts.log_mgf(theta + 1j * step)  # complex step: K' without cancellation
        epsilon = lifted.imag / step - 1 / theta - 1 / (1 + theta)
        # theta * epsilon must keep a few digits; beyond, the top of the support is all there is.
        usable = np.abs(theta * epsilon) < 1e11
        usable |= theta <= 1
        theta, lifted, epsilon = theta[usable], lifted[usable], epsilon[usable]
        epsilon = np.maximum.accumulate(epsilon)
        curvature = np.maximum(np.gradient(epsilon, theta), 1e-300)
        log_value = lifted.real - theta * epsilon - np.log(np.abs(theta * (1 + theta)))
        log_value = log_value - np.log(2 * np.pi * curvature) / 2
        return cls(theta, epsilon, log_value, np.sqrt(curvature))

    def finer(self, parts: CountedLaws, epsilon: float) -> Saddles:
        """A table for the same composition that is fine around this epsilon."""
        at = int(np.searchsorted(self.theta, self.theta_at(epsilon)))
        low, high = max(at - 2, 0), min(at + 1, self.theta.size - 1)
        return Saddles.of(parts, thetas=np.geomspace(self.theta[low], self.theta[high], _FINE))

    def theta_at(self, epsilon: float) -> float:
        """The saddle point for this epsilon."""
        return float(np.interp(epsilon, self.epsilon, self.theta))

    def log_value_at(self, epsilon: float) -> float:
        """Logarithm of the saddle-point estimate of delta(epsilon) (or of 1 - delta)."""
        return float(np.interp(epsilon, self.epsilon, self.log_value))

    def log_bound_at(self, epsilon: float) -> float:
        """About the logarithm of Chernoff's bound on delta, for theta > 0.

        The bound has theta^theta/(1 + theta)^(1 + theta) in place of the integral's factors.
        """
        theta, spread = self.theta_at(epsilon), self.spread_at(epsilon)
        factors = (1 + theta) * math.log(theta) - theta * math.log1p(theta)
        return self.log_value_at(epsilon) + factors + math.log(2 * math.pi) / 2 + math.log(spread)

    def spread_at(self, epsilon: float) -> float:
        """Standard deviation of the tilted loss there."""
        return float(np.interp(epsilon, self.epsilon, self.spread))

    def epsilon_at(self, log_value: float) -> float:
        """The epsilon whose estimate is exp(log_value)."""
        # delta falls with epsilon, 1 - delta grows.
        sign = 1.0 if self.theta[-1] < 0 else -1.0
        rising = np.maximum.accumulate(sign * self.log_value)
        return float(np.interp(sign * log_value, rising, self.epsilon))
