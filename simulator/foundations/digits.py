"""The first twelve significant digits of floats: what an audit looks at that no rounding moves."""

from __future__ import annotations

import numpy as np

SIGNIFICANT = 12
"""Decimal digits looked at, counted from that of a typical number."""


def typical(numbers: np.ndarray) -> float:
    """The upper quartile of the finite absolute values; 1 where that is near the ends of floats."""
    finite = np.abs(numbers[np.isfinite(numbers)])
    magnitude = float(np.quantile(finite, 0.75)) if finite.size else 1.0
    return magnitude if 1e-290 < magnitude < 1e290 else 1.0


def significant(x: np.ndarray, magnitude: float) -> tuple[np.ndarray, np.ndarray]:
    """Absolute values in units of the last digit looked at, and which of them have such digits.

    Both of the shape of ``x``: whole numbers as floats, and False where one is infinite, NaN or
    too far above ``magnitude`` to be a float's own digits.
    """
    unit = 10.0 ** (SIGNIFICANT - 1 - np.floor(np.log10(magnitude)))
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.round(np.abs(x) * unit)
        return whole, whole < 2.0**53
