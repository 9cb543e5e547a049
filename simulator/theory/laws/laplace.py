"""The law of the Laplace mechanism."""
# ruff: noqa: D102  (overrides inherit the docstring of PrivacyLossLaw)

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from simulator.theory.laws.base import Floats, PrivacyLossLaw, RealOrComplex
from simulator.theory.parameters import positive

_rule = cache(np.polynomial.legendre.leggauss)


@dataclass(frozen=True)
class LaplaceLaw(PrivacyLossLaw):
    """Laplace mechanism: ``epsilon`` = shift over scale, P0 centred away from P1 by the shift.

    Atoms 1/2 at +epsilon and exp(-epsilon)/2 at -epsilon, density exp((l - epsilon)/2)/4 between.
    Source: the law of a folded linear function of a Laplace variable, by integration.

    >>> from simulator.theory import LaplaceLaw
    >>> law = LaplaceLaw(epsilon=0.5)
    >>> law.support, round(law.delta(0.25), 6)
    ((-0.5, 0.5), 0.117503)
    """

    epsilon: float
    has_accurate_cells = True

    def __post_init__(self) -> None:
        positive("epsilon (shift over scale)", self.epsilon)

    @property
    def atom_losses(self) -> Floats:
        return np.array([-self.epsilon, self.epsilon])

    @property
    def atom_log_masses(self) -> Floats:
        return np.array([-np.log(2) - self.epsilon, -np.log(2)])

    @property
    def support(self) -> tuple[float, float]:
        return -self.epsilon, self.epsilon

    @property
    def is_discrete(self) -> bool:
        return False

    @property
    def mean(self) -> float:
        return self._moment(1, 0.0)

    @property
    def variance(self) -> float:
        return self._moment(2, self.mean)

    @property
    def points(self) -> tuple[Floats, Floats]:
        # Panels of Gauss-Legendre over the density exp((l - epsilon)/2)/4.
        edges = np.linspace(-self.epsilon, self.epsilon, int(min(8 + self.epsilon, 512)) + 1)
        nodes, weights = _rule(16)
        half = np.diff(edges)[:, None] / 2
        losses = (edges[:-1, None] + half * (nodes + 1)).ravel()
        logs = (losses - self.epsilon) / 2 + np.log(half * weights / 4).ravel()
        return np.r_[losses, self.atom_losses], np.r_[logs, self.atom_log_masses]

    def _moment(self, power: int, centre: float) -> float:
        # With l = epsilon - 2u the density is exp(-u)/2 on [0, epsilon]. All terms have one sign
        # for a small epsilon, where the closed form cancels.
        nodes, weights = _rule(60)
        reach = min(self.epsilon, 60.0)
        u = reach * (nodes + 1) / 2
        inner = reach / 2 * weights @ (np.exp(-u) / 2 * (self.epsilon - 2 * u - centre) ** power)
        edge = (self.epsilon - centre) ** power / 2
        far = np.exp(-self.epsilon) / 2 * (-self.epsilon - centre) ** power
        return float(inner + edge + far)

    def log_mgf(self, theta: ArrayLike) -> RealOrComplex:
        return laplace_log_mgf(self.epsilon, theta)

    def delta(self, epsilon: float) -> float:
        if epsilon >= self.epsilon:
            return 0.0
        if epsilon <= -self.epsilon:
            return float(-np.expm1(epsilon))
        return float(-np.expm1((epsilon - self.epsilon) / 2))

    def reversed(self) -> LaplaceLaw:
        return self

    def continuous_masses(self, edges: Floats) -> tuple[Floats, Floats]:
        clipped = np.clip(edges, -self.epsilon, self.epsilon)
        width = np.diff(clipped)
        under0 = np.exp((clipped[1:] - self.epsilon) / 2) * -np.expm1(-width / 2) / 2
        under1 = np.exp((-clipped[:-1] - self.epsilon) / 2) * -np.expm1(-width / 2) / 2
        return under0, under1


def laplace_log_mgf(epsilon: ArrayLike, theta: ArrayLike) -> RealOrComplex:
    """psi(theta) of the laws with these parameters; the two arguments are broadcast."""
    z, reach = np.asarray(theta), np.asarray(epsilon)
    # The pair is symmetric: E0 e^{zL} = E0 e^{-(1+z)L}. Reflect to where nothing overflows.
    z = np.where(z.real < -0.5, -1 - z, z)
    kappa = 1 + 2 * z
    drop = -np.expm1(-kappa * reach)
    tiny = np.abs(kappa) < 1e-300
    inner = np.where(tiny, reach, drop / np.where(tiny, 1, kappa))
    return np.asarray(z * reach + np.log1p((inner - drop) / 2))
