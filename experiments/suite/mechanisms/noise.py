"""Laplace noise on a grid, its law, and integrals over one noisy threshold."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

import numpy as np

CELLS_PER_UNIT = 2.0**20
"""A power of two, so that scaling by it is exact."""
TAIL = 60.0
"""Scales of Laplace noise after which its mass, e^-60 of the whole, is left out of integrals."""


def on_grid(values: np.ndarray) -> np.ndarray:
    """The middle of the cell of width 2^-20 in which each value lies; ``values`` is overwritten.

    The low bits of a sum of floats reveal the input (Mironov 2012). On the grid an answer has the
    law of real numbers, up to about 2^-30. Whole numbers are borders of cells, so comparisons
    with them are exact, and no answer is 0 or a code.
    """
    values *= CELLS_PER_UNIT
    np.floor(values, out=values)
    values += 0.5
    values /= CELLS_PER_UNIT
    return values


def laplace_log_below(x: np.ndarray, scale: float) -> np.ndarray:
    """Ln Pr[noise < x] of Laplace noise."""
    u = np.abs(x) / scale
    return np.where(x < 0.0, -u - math.log(2.0), np.log1p(-0.5 * np.exp(-u)))


def laplace_density(x: np.ndarray, scale: float) -> np.ndarray:
    """Density of Laplace noise."""
    return np.exp(-np.abs(x) / scale) / (2.0 * scale)


def quadrature(
    kinks: Iterable[float], scale: float, narrowest: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights for integrals against noise of ``scale``, analytic but at ``kinks``.

    Gauss and Legendre's rule with 16 nodes on pieces no wider than ``narrowest``, the smallest
    scale in the integrand, to 60 scales of the noise beyond the outermost kinks. The error is about
    1e-15 for products of Laplace laws.
    """
    kinks = sorted(set(kinks))
    piece = narrowest or scale
    ends = [kinks[0] - TAIL * scale, *kinks, kinks[-1] + TAIL * scale]
    borders = [
        np.linspace(left, right, 2 + int((right - left) / piece))
        for left, right in itertools.pairwise(ends)
    ]
    return rule_on(np.unique(np.concatenate(borders)))


def rule_on(borders: np.ndarray, order: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of Gauss and Legendre's rule on each piece between ``borders``, flat."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    halves = np.diff(borders)[:, None] / 2.0
    middles = (borders[1:] + borders[:-1])[:, None] / 2.0
    return (middles + halves * nodes).ravel(), (halves * weights).ravel()
