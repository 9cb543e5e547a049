"""The step of a lattice on which all of several numbers lie."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MAX_POINTS = 1 << 22
"""Most points of a lattice."""


def common_step(rises: NDArray[np.float64]) -> float | None:
    """Greatest step of which all rises are multiples up to rounding; None where there is none.

    By Euclid's algorithm on the residues.
    """
    rises = rises[rises > 0]
    if rises.size == 0:
        return 1.0
    tolerance = 1e-12 * float(rises.max())
    step = float(rises.min())
    if rises.max() / MAX_POINTS > step:
        return None
    for _ in range(60):
        residue = np.abs(rises - np.rint(rises / step) * step)
        if (residue <= tolerance).all():
            counts = np.rint(rises / step)
            return float(counts @ rises / (counts @ counts))
        step = float(residue[residue > tolerance].min())
        if rises.max() / step > MAX_POINTS:
            return None
    return None
