"""Quadrature over Laplace noise, for integrands that are smooth except for kinks."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import ArrayLike, NDArray

REACH = 46
"""Noise scales beyond the outermost kink; less than 1e-19 of the mass is outside."""


def panels(kinks: ArrayLike, steepest: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights of 20-point Gauss-Legendre rules on panels short enough for 1e-16.

    ``kinks``, in units of the noise scale, are where the integrand is not smooth. Between them it
    must be a sum of e^{sy} with |s| <= ``steepest``, and fall at least like e^{-|y|} outside.
    """
    knots = np.unique(np.asarray(kinks, dtype=float))
    ends = [knots[0] - REACH, *knots, knots[-1] + REACH]
    pieces = max(1, -(-steepest // 20))  # per unit; e^{20y} over a panel is integrated accurately
    edges = np.unique(
        np.concatenate(
            [np.linspace(a, b, 1 + pieces * math.ceil(b - a)) for a, b in itertools.pairwise(ends)]
        )
    )
    nodes, weights = leggauss(20)
    half = 0.5 * np.diff(edges)
    y = ((edges[:-1] + edges[1:]) / 2 + half * nodes[:, None]).ravel()
    return y, (half * weights[:, None]).ravel()


def laplace_cdf(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pr[Lap(1) <= distance], elementwise."""
    tail = 0.5 * np.exp(-np.abs(distance))
    return np.where(distance < 0, tail, 1.0 - tail)
