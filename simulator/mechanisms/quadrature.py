"""Integrals over Laplace noise, whose integrands are smooth but for a kink at every value."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import ArrayLike, NDArray

REACH = 46
"""Noise scales beyond the outermost kink after which less than 1e-19 of the mass remains."""

FARTHEST = 680.0
"""Noise scales after which two values count as this far apart: e^-680 is next to nothing."""


def panels(kinks: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights of 20-point Gauss-Legendre rules on panels of width at most 1.

    ``kinks``, in units of the noise scale, are where the integrand is not smooth. Between them it
    must be a sum of products of e^{+-y}, and fall like e^{-|y|} outside.
    """
    knots = np.unique(np.asarray(kinks, dtype=float))
    edges = np.unique(
        np.concatenate(
            [np.linspace(a, b, 2 + int(b - a)) for a, b in itertools.pairwise(knots)]
            + [knots[0] - np.arange(float(REACH)), knots[-1] + np.arange(float(REACH))]
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
