"""The upper ends of an account at every delta in [0, 1] and every epsilon in [0, infinity]."""

from __future__ import annotations

import math

from simulator.foundations.errors import InvalidInput
from simulator.theory.events import Account
from simulator.theory.events.leaves import NOTHING_LOST, ROUNDED_UP

_LEAST_DELTA = 1e-300


def epsilon_above(account: Account, delta: float) -> float:
    """An epsilon that certainly holds at ``delta`` in [0, 1]; infinite where none is finite.

    Raises InvalidInput for another delta.
    """
    if not 0.0 <= delta <= 1.0:
        raise InvalidInput(f"delta must be in [0, 1], not {delta!r}")
    if delta == 1.0 or _is_nothing(account):
        return 0.0
    if delta < _LEAST_DELTA:
        total = sum(part.count * part.guarantees[0].pure_epsilon for part in account.rounds)
        return total * ROUNDED_UP
    return account.epsilon(delta).upper


def delta_above(account: Account, epsilon: float) -> float:
    """A delta that certainly holds at ``epsilon`` >= 0, which may be infinite.

    Raises InvalidInput for another epsilon.
    """
    if math.isnan(epsilon) or epsilon < 0.0:
        raise InvalidInput(f"epsilon must be at least 0, not {epsilon!r}")
    if _is_nothing(account):
        return 0.0
    if math.isinf(epsilon):
        kept = sum(
            part.count * math.log1p(-max(part.law.infinite_mass, part.law.dual_infinite_mass))
            for part in account.rounds
            if part.law is not None
        )
        return -math.expm1(kept) * ROUNDED_UP
    return min(account.delta(epsilon).upper, 1.0)


def _is_nothing(account: Account) -> bool:
    """Whether no answer depends on the database."""
    return all(part.law == NOTHING_LOST.law for part in account.rounds)
