"""A lower bound on epsilon from a test of one epsilon."""

from __future__ import annotations

from collections.abc import Callable

STEP = 0.1
MOST = 6.0
"""The epsilons that are tested: 0, 0.1, ..., 6. The true ones of most games are among them."""

_ABOVE = 1e-4
"""A rejected epsilon is below the true one: the bound is above it by this."""


def largest_rejected(rejects: Callable[[float], bool]) -> float:
    """A bound just above the last epsilon before the first that is not rejected; 0 without any.

    It is above the true epsilon only if the least tested epsilon that is not below the true one is
    rejected: the level is that of a single test, though many are made of the same scores.
    """
    found = 0.0
    for place in range(round(MOST / STEP) + 1):
        if not rejects(place * STEP):
            break
        found = place * STEP + _ABOVE
    return found
