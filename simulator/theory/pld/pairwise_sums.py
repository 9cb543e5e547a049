"""Sums of products of long arrays, added in pairs and by one thread.

BLAS shares out even short sums among threads, which wait for each other in a loop: on arrays like
these that takes more processor time than all else, and saves none. Pairs also round less.
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
