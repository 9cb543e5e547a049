"""Moments and transforms without a closed form, as means over points of the law."""
# ruff: noqa: D102  (overrides inherit the docstring of PrivacyLossLaw)

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from simulator.theory.laws.base import Floats, PrivacyLossLaw, RealOrComplex, log_mean_exp


def points_of_cells(law: PrivacyLossLaw, edges: Floats) -> tuple[Floats, Floats]:
    """Points of a law from its cells: one per cell, at its mean of exp(-L), and the atoms.

    The error is of second order in the width of the cells.
    """
    under0, under1 = law.continuous_masses(edges)
    middle = (edges[:-1] + edges[1:]) / 2
    full = (under0 > 0) & ((under1 > 0) | np.isfinite(middle))
    logs = np.log(under0[full])
    # In the tail the mass under P1 may underflow.
    some = under1[full] > 0
    losses = np.where(some, logs - np.log(np.where(some, under1[full], 1.0)), middle[full])
    return np.r_[losses, law.atom_losses], np.r_[logs, law.atom_log_masses]


class QuadratureLaw(PrivacyLossLaw):
    """A law whose means under P0 are sums over its points; these are not certified."""

    has_exact_transform = False

    @cached_property
    def _points(self) -> tuple[Floats, Floats]:
        return self.points

    @property
    def mean(self) -> float:
        losses, logs = self._points
        return float("inf") if self.infinite_mass > 0 else float(np.exp(logs) @ losses)

    @property
    def variance(self) -> float:
        losses, logs = self._points
        centred = losses - np.exp(logs) @ losses
        return float("inf") if self.infinite_mass > 0 else float(np.exp(logs) @ centred**2)

    def log_mgf(self, theta: ArrayLike) -> RealOrComplex:
        return log_mean_exp(theta, *self._points)
