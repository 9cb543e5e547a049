"""Losses that equal a threshold but for rounding.

The loss of a play is a sum over its rounds, so the same loss comes out a few units in the last
place higher on one path and lower on another. Where losses have atoms and one lies at the
threshold, comparing the sums as they are would count a part of the atom, by accident of rounding;
Pr[L > t] counts none of it.
"""

from __future__ import annotations

RELATIVE = 1e-9
SMALLEST = 1e-12


def above_rounding(threshold: float) -> float:
    """The threshold, raised by more than rounding adds to a sum that should equal it."""
    return threshold + max(RELATIVE * abs(threshold), SMALLEST)
