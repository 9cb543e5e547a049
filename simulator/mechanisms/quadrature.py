"""Quadrature over Laplace noise, for integrands that are smooth except for kinks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

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


STEEPEST = 6.0
"""Largest change of a logarithm along a panel of :func:`log_of_integral`."""

NEGLIGIBLE = 50.0
"""A panel whose integrand is everywhere below e^-50 of the largest is left out."""


def log_of_integral(
    logarithm: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    kinks: ArrayLike,
    unit: float,
    reach: float,
) -> float:
    """Ln of the integral of a log-concave function, whose logarithm is given, to about 1e-13.

    ``kinks`` are where it is not smooth. From each of them to the next it must be analytic, with
    singularities no nearer to them than about ``unit``; beyond ``reach`` outside it is negligible.
    Panels grow in proportion to the distance from the kinks, and are halved until the logarithm
    changes little along each; as it is concave, its ends and middle tell how much it can.
    """
    edges = _graded(np.unique(np.asarray(kinks, dtype=float)), unit, reach)
    while True:
        middles = (edges[:-1] + edges[1:]) / 2
        at_edges = logarithm(edges)
        three = np.stack([at_edges[:-1], logarithm(middles), at_edges[1:]])
        peaks = three.max(axis=0)
        best = int(peaks.argmax())
        counts = peaks > peaks[best] - NEGLIGIBLE
        counts[max(best - 1, 0) : best + 2] = True  # the largest value is in one of these
        apart = (edges[:-1] < middles) & (middles < edges[1:])
        steep = counts & apart & (np.ptp(three, axis=0) > STEEPEST)
        if not steep.any():
            break
        edges = np.sort(np.append(edges, middles[steep]))
    nodes, weights = leggauss(20)
    half = 0.5 * np.diff(edges)[counts]
    y = (middles[counts] + half * nodes[:, None]).ravel()
    return float(logsumexp(logarithm(y), b=(half * weights[:, None]).ravel()))


def _graded(knots: NDArray[np.float64], unit: float, reach: float) -> NDArray[np.float64]:
    """Edges of panels that start with a ``unit`` at each knot and double away from it."""
    away = unit * 2.0 ** np.arange(max(0, math.ceil(math.log2((np.ptp(knots) + reach) / unit))))
    outside = away[away < reach]
    edges = [knots[0] - reach, *(knots[0] - outside), *knots, *(knots[-1] + outside)]
    for a, b in itertools.pairwise(knots):
        inside = away[away < (b - a) / 2]
        edges += [*(a + inside), *(b - inside)]
    return np.unique([*edges, knots[-1] + reach])


def laplace_cdf(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pr[Lap(1) <= distance], elementwise."""
    tail = 0.5 * np.exp(-np.abs(distance))
    return np.where(distance < 0, tail, 1.0 - tail)
