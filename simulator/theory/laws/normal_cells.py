"""Masses of a standard normal variable on cells, each with a small relative error."""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_RULES = tuple((thin, np.polynomial.legendre.leggauss(n)) for thin, n in ((0.01, 3), (0.5, 6)))
"""Width times slope of ln density, and the Gauss-Legendre nodes that are exact to rounding there: n
nodes leave (width slope)^2n (n!)^4 / ((2n + 1) (2n)!^3) of the mass."""
_NODES, _WEIGHTS = _RULES[-1][1]
_THIN = _RULES[-1][0]
_SQRT_TWO_PI = float(np.sqrt(2.0 * np.pi))


def log_normal_cells(edges: Floats) -> Floats:
    """Logarithms of probabilities of N(0, 1) between finite ascending edges, however small.

    Shapes: edges (n+1,), result (n,).
    """
    left, right = edges[:-1], edges[1:]
    width = right - left
    thin = width * (1.0 + np.maximum(np.abs(left), np.abs(right))) <= _THIN
    # A wide cell is the difference of two tails, one well above the other.
    flip = left + right < 0.0
    near, far = (
        scipy.special.log_ndtr(np.where(flip, right, -left)),
        scipy.special.log_ndtr(np.where(flip, left, -right)),
    )
    with np.errstate(divide="ignore"):
        logs = near + np.log1p(-np.exp(np.minimum(far - near, 0.0)))
    middle, half = (left[thin] + right[thin]) / 2, width[thin] / 2
    total = np.zeros(middle.size)
    for node, weight in zip(_NODES, _WEIGHTS):
        t = half * node
        total += weight * np.exp(-t * (middle + t / 2))
    logs[thin] = np.log(half * total / _SQRT_TWO_PI) - middle**2 / 2
    return np.asarray(logs)


def normal_cells(edges: Floats) -> Floats:
    """Probabilities of N(0, 1) between ascending edges, which may be infinite.

    Shapes: edges (n+1,), result (n,). A thin cell is integrated, as the difference of two nearly
    equal distribution functions has few digits; a wide one is that difference, of the smaller
    tails.
    """
    left, right = edges[:-1], edges[1:]
    with np.errstate(invalid="ignore", over="ignore"):  # infinity minus itself: an empty cell
        width = right - left
        size = width * (1.0 + np.maximum(np.abs(left), np.abs(right)))
    masses = np.empty(width.size)
    wide = ~(size <= _THIN)
    low, high = left[wide], right[wide]
    upper = low > 0.0
    near, far = np.where(upper, -low, high), np.where(upper, -high, low)
    masses[wide] = scipy.special.ndtr(near) - scipy.special.ndtr(far)
    above = -math.inf
    for thin, (nodes, weights) in _RULES:
        inside = (size > above) & (size <= thin)
        masses[inside] = _integrated(left[inside], width[inside] / 2, nodes, weights)
        above = thin
    return masses


def _integrated(start: Floats, half: Floats, nodes: Floats, weights: Floats) -> Floats:
    total = np.zeros(start.size)
    for node, weight in zip(nodes, weights):
        total += weight * np.exp(-((start + half * (1.0 + node)) ** 2) / 2)
    return half * total / _SQRT_TWO_PI
