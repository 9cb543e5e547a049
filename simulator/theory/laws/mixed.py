"""A law known only through its distribution functions: atoms and a continuous part."""

# ruff: noqa: D102  (overrides inherit the docstring of PrivacyLossLaw)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise

import numpy as np
import scipy

from simulator.foundations.errors import InvalidInput
from simulator.theory.laws.base import Floats
from simulator.theory.laws.quadrature import QuadratureLaw, points_of_cells

Distribution = Callable[[Floats], Floats]
_CELLS = 4096


@dataclass(frozen=True)
class MixedLaw(QuadratureLaw):
    """Atoms, and a continuous part on [low, high] given by cdf and survival function.

    Each function is vectorised and gives the mass of the continuous part at most (or beyond) a
    loss: ``cdf0``, ``sf0`` under P0 and ``cdf1``, ``sf1`` under P1. Both are asked for, so that
    cells keep their digits in either tail. ``atoms`` are (loss, P0-probability), ascending. There
    is no closed transform: moments and ``log_mgf`` are approximations by 4096 cells (error of
    second order in their width), and compositions go through a certified discretisation.
    """

    low: float
    high: float
    _: KW_ONLY
    cdf0: Distribution
    sf0: Distribution
    cdf1: Distribution
    sf1: Distribution
    atoms: tuple[tuple[float, float], ...] = ()
    infinite_mass: float = 0.0
    dual_infinite_mass: float = 0.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise InvalidInput("the continuous part needs finite bounds low < high")
        for name, total in (("P0", self._total(0)), ("P1", self._total(1))):
            if abs(total - 1) > 1e-9:
                raise InvalidInput(f"the masses under {name} must sum to 1, they sum to {total!r}")

    def _total(self, under: int) -> float:
        outside = self.dual_infinite_mass if under else self.infinite_mass
        return outside + self._mass(-np.inf, np.inf, under)

    @property
    def atom_losses(self) -> Floats:
        return np.array([loss for loss, _ in self.atoms])

    @property
    def atom_log_masses(self) -> Floats:
        return np.log([mass for _, mass in self.atoms])

    @property
    def support(self) -> tuple[float, float]:
        losses = [self.low, self.high, *self.atom_losses]
        return float(min(losses)), float(max(losses))

    @property
    def is_discrete(self) -> bool:
        return False

    @property
    def points(self) -> tuple[Floats, Floats]:
        return points_of_cells(self, np.linspace(self.low, self.high, _CELLS + 1))

    def delta(self, epsilon: float) -> float:
        # E0[(1 - e^(epsilon - L))_+] = int_0^inf e^-u Pr0[L > epsilon + u] du: no cancellation.
        over = self.atom_losses > epsilon
        masses = np.exp(self.atom_log_masses[over])
        jumps = masses @ -np.expm1(epsilon - self.atom_losses[over])
        reach = min(self.high - epsilon, 745.0)
        smooth = 0.0
        if reach > 0:
            flat = max(self.low - epsilon, 0.0)
            knots = sorted({0.0, min(flat, reach), reach})
            smooth = sum(
                scipy.integrate.quad(self._tail_term, a, b, (epsilon,), epsabs=0, epsrel=1e-12)[0]
                for a, b in pairwise(knots)
            )
        return float(self.infinite_mass + jumps + smooth)

    def _tail_term(self, u: float, epsilon: float) -> float:
        return float(np.exp(-u) * self.sf0(np.array(epsilon + u)))

    def reversed(self) -> MixedLaw:
        return MixedLaw(
            -self.high,
            -self.low,
            cdf0=lambda loss: self.sf1(-loss),
            sf0=lambda loss: self.cdf1(-loss),
            cdf1=lambda loss: self.sf0(-loss),
            sf1=lambda loss: self.cdf0(-loss),
            atoms=tuple(
                (-loss, mass * float(np.exp(-loss))) for loss, mass in reversed(self.atoms)
            ),
            infinite_mass=self.dual_infinite_mass,
            dual_infinite_mass=self.infinite_mass,
        )

    def continuous_masses(self, edges: Floats) -> tuple[Floats, Floats]:
        clipped = np.clip(edges, self.low, self.high)
        return _between(self.cdf0, self.sf0, clipped), _between(self.cdf1, self.sf1, clipped)


def _between(cdf: Distribution, sf: Distribution, edges: Floats) -> Floats:
    """Masses of cells, from whichever tail is the smaller there."""
    left, right = np.asarray(cdf(edges)), np.asarray(sf(edges))
    return np.maximum(np.where(left[:-1] < right[:-1], np.diff(left), -np.diff(right)), 0.0)
