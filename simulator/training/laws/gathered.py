"""A law of very many losses, known by its masses on cells."""
# ruff: noqa: D102  (overrides inherit the docstring of PrivacyLossLaw)

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.theory.laws.base import Floats
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.quadrature import QuadratureLaw


@dataclass(frozen=True)
class GatheredLaw(QuadratureLaw):
    """A finite law whose losses are too many to be atoms one by one: it has the masses of cells.

    Its masses are exact; the finite law's ``loss_error`` is of its losses.
    """

    finite: FiniteLaw
    has_accurate_cells = True

    @property
    def infinite_mass(self) -> float:  # type: ignore[override]
        return self.finite.infinite_mass

    @property
    def dual_infinite_mass(self) -> float:  # type: ignore[override]
        return self.finite.dual_infinite_mass

    @property
    def shift_error(self) -> float:  # type: ignore[override]
        return self.finite.loss_error

    @property
    def points(self) -> tuple[Floats, Floats]:
        return self.finite.losses, self.finite.log_masses

    @property
    def support(self) -> tuple[float, float]:
        return self.finite.support

    @property
    def is_discrete(self) -> bool:
        return False

    def delta(self, epsilon: float) -> float:
        return min(self.finite.delta(epsilon), 1.0)

    def reversed(self) -> GatheredLaw:
        return GatheredLaw(self.finite.reversed())

    def continuous_masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """The sums of the masses whose losses are in each cell, its lower edge included."""
        at = np.searchsorted(self.finite.losses, edges, side="left")
        empty = np.diff(at) == 0
        under0, under1 = (
            np.where(empty, 0.0, np.add.reduceat(each, at)[:-1]) for each in self._masses
        )
        return under0, under1

    @cached_property
    def _masses(self) -> tuple[Floats, Floats]:
        """The masses under P0 and P1, each with a 0 behind the last."""
        losses, logs = self.points
        return np.append(np.exp(logs), 0.0), np.append(np.exp(logs - losses), 0.0)
