"""The law of a mechanism whose noise is truncated to an interval."""
# ruff: noqa: D102  (overrides inherit the docstring of PrivacyLossLaw)

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite
from simulator.theory.laws.base import Floats
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.theory.laws.normal_cells import normal_cells
from simulator.theory.laws.quadrature import QuadratureLaw, points_of_cells

_PANELS, _NODES = 48, 16


@dataclass(frozen=True)
class TruncatedNoiseLaw(QuadratureLaw):
    """Gaussian or Laplace noise conditioned on [-reach, reach], ``reach`` in units of the shift.

    ``base`` is the law of the untruncated mechanism. An answer that only one of the databases can
    give has an infinite loss; the others keep the base's loss, their masses divided by that of the
    interval. The noise is log-concave, so smaller shifts have smaller losses. The pair is
    symmetric.

    Raises InvalidInput unless reach > 1/2: below, every answer reveals the database.

    >>> from simulator.theory import LaplaceLaw, TruncatedNoiseLaw
    >>> round(TruncatedNoiseLaw(LaplaceLaw(0.5), reach=10.0).infinite_mass, 6)
    0.0022
    """

    base: GaussianLaw | LaplaceLaw
    reach: float
    has_accurate_cells = True

    def __post_init__(self) -> None:
        if not isinstance(self.base, GaussianLaw | LaplaceLaw):
            raise InvalidInput("only the laws of Gaussian and Laplace noise can be truncated")
        if not finite("reach", self.reach) > 0.5:
            raise InvalidInput(
                f"noise within {self.reach!r} of the shift always reveals the database; "
                "it must reach beyond 1/2"
            )

    @property
    def _total(self) -> float:
        """Mass of the untruncated noise in the interval."""
        if isinstance(self.base, LaplaceLaw):
            return -math.expm1(-self.base.epsilon * self.reach)
        return float(normal_cells(np.array([-1.0, 1.0]) * self.base.mu * self.reach)[0])

    @cached_property
    def infinite_mass(self) -> float:  # type: ignore[override]
        if isinstance(self.base, GaussianLaw):
            ends = self.base.mu * np.array([-self.reach, 1.0 - self.reach])
            return float(normal_cells(ends)[0]) / self._total
        e, t = self.base.epsilon, self.reach
        if t >= 1.0:
            return math.exp(-e * (t - 1)) * -math.expm1(-e) / 2 / self._total
        return (-math.expm1(-e * t) - math.expm1(-e * (1 - t))) / 2 / self._total

    @property
    def dual_infinite_mass(self) -> float:  # type: ignore[override]
        return self.infinite_mass

    @property
    def _largest(self) -> float:
        """The largest finite loss of the continuous part."""
        if isinstance(self.base, LaplaceLaw):
            return self.base.epsilon * min(2 * self.reach - 1, 1.0)
        return self.base.mu**2 * (self.reach - 0.5)

    @property
    def atom_losses(self) -> Floats:
        some = isinstance(self.base, LaplaceLaw) and self.reach > 1.0
        return self.base.atom_losses if some else np.empty(0)

    @property
    def atom_log_masses(self) -> Floats:
        if self.atom_losses.size == 0:
            return np.empty(0)
        assert isinstance(self.base, LaplaceLaw)
        cut = -math.expm1(-self.base.epsilon * (self.reach - 1))
        return self.base.atom_log_masses + math.log(cut / self._total)

    @property
    def support(self) -> tuple[float, float]:
        return -self._largest, self._largest

    @property
    def is_discrete(self) -> bool:
        return False

    @property
    def points(self) -> tuple[Floats, Floats]:
        return points_of_cells(self, np.linspace(*self.support, 4097))

    def delta(self, epsilon: float) -> float:
        over = self.atom_losses > epsilon
        gains = -np.expm1(epsilon - self.atom_losses[over])
        jumps = float(np.exp(self.atom_log_masses[over]) @ gains)
        return self.infinite_mass + jumps + self._smooth_delta(epsilon)

    def _smooth_delta(self, epsilon: float) -> float:
        # E0[(1 - e^(epsilon - L))_+] = int_0^inf e^-u Pr0[L > epsilon + u] du: no cancellation.
        low, high = self.support
        if epsilon >= high:
            return 0.0
        flat = max(low - epsilon, 0.0)  # there every loss is above epsilon + u
        whole = float(self.continuous_masses(np.array([low, high]))[0][0])
        length = min(high - max(epsilon, low), 745.0)
        panels = np.r_[0.0, np.geomspace(1e-12, 1.0, _PANELS)] * length
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        half = np.diff(panels)[:, None] / 2
        u = flat + (panels[:-1, None] + half * (nodes + 1)).ravel()
        cells, _ = self.continuous_masses(np.append(np.minimum(epsilon + u, high), high))
        above = np.cumsum(cells[::-1])[::-1]
        rest = float((half * weights).ravel() @ (np.exp(-u) * above))
        return -math.expm1(-flat) * whole + rest

    def reversed(self) -> TruncatedNoiseLaw:
        return self

    def continuous_masses(self, edges: Floats) -> tuple[Floats, Floats]:
        clipped = np.clip(edges, *self.support)
        under0, under1 = self.base.continuous_masses(clipped)
        return under0 / self._total, under1 / self._total
