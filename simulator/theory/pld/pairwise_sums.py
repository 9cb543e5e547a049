"""Sums of products of long arrays, pairwise and in one thread.

BLAS distributes even short sums over threads that wait for each other, which takes more processor
time than it saves on arrays of this size. Pairwise sums also have less rounding.
"""

from __future__ import annotations

import math

import numpy as np

from simulator.theory.laws.base import Floats


def dot(first: Floats, second: Floats) -> float:
    """Sum of the products of two arrays (n,)."""
    return float(np.multiply(first, second).sum())


def norm(values: Floats) -> float:
    """Root of the sum of squares of the moduli, real or complex, (n,)."""
    moduli = np.abs(values)
    return math.sqrt(dot(moduli, moduli))
