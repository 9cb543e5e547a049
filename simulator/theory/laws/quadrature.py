"""Moments and transforms without a closed form, as means over points of the law."""
# ruff: noqa: D102  (overrides inherit the docstring of PrivacyLossLaw)

from __future__ import annotations

import math
from collections.abc import Callable
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


def mean_gain(
    loss_of: Callable[[Floats], Floats],
    log_density_of: Callable[[Floats], Floats],
    epsilon: float,
    ends: tuple[float, float],
) -> float:
    """E0[(1 - exp(epsilon - L))_+] over answers between two ends, in panels of a quarter.

    ``log_density_of`` an answer is that of P0, but for -ln sqrt(2 pi).
    """
    nodes, weights = np.polynomial.legendre.leggauss(16)
    edges = np.linspace(*ends, int(4 * (ends[1] - ends[0])) + 1)
    half = np.diff(edges)[:, None] / 2
    z = (edges[:-1, None] + half * (nodes + 1)).ravel()
    density = np.exp(log_density_of(z)) / math.sqrt(2 * math.pi)
    gain = -np.expm1(np.minimum(epsilon - loss_of(z), 0.0))
    return float((half * weights).ravel() @ (density * gain))


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
