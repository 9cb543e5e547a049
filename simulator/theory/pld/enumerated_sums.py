"""Composition of few rounds with few losses, by enumeration of all sums."""

from __future__ import annotations

from math import comb, prod

import numpy as np

from simulator.theory.laws.finite import FiniteLaw, merge_losses
from simulator.theory.pld.counted_laws import CountedLaws

ROUNDING = 1e-15
_MAX_SUMS = 1 << 16
_MAX_ROUNDS = 64
"""Most rounds; beyond, enumeration has more rounding than the transforms."""


def enumerate_sums(parts: CountedLaws) -> FiniteLaw | None:
    """The composed law itself, or None where it is not finite or has too many losses.

    Sums that agree up to ROUNDING times the largest, the rounding of each round, are merged.
    """
    if not all(law.is_discrete and law.atom_losses.size for law, _ in parts.items):
        return None
    # A multiset of count losses out of m.
    sizes = (comb(count + law.atom_losses.size - 1, count) for law, count in parts.items)
    if parts.rounds > _MAX_ROUNDS or prod(sizes) > _MAX_SUMS:
        return None
    losses, logs = np.zeros(1), np.zeros(1)
    within = ROUNDING * max(map(abs, parts.support))
    for law, count in parts.items:
        for _ in range(count):
            sums = np.add.outer(losses, law.atom_losses).ravel()
            masses = np.add.outer(logs, law.atom_log_masses).ravel()
            losses, logs = merge_losses(sums, masses, within)
    dual = parts.reversed().infinite_mass
    return FiniteLaw(losses, logs, parts.infinite_mass, dual)
