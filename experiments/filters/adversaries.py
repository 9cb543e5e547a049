"""The smallest budget of squared epsilons that an adversary is known to break.

The adversary plays randomized responses of whole multiples of a step s, chosen after every answer,
and a filter that charges eps^2 admits them while the squares add up to its budget. Losses and
budgets are whole numbers of s and s^2, so the recursion over budgets is exact up to rounding.
"""

from __future__ import annotations

import math

import numpy as np


def values(steps: int, epsilon: float, most: int) -> np.ndarray:
    """The largest delta(epsilon) of an adversary with budget n s^2, for n = 0, ..., most.

    ``s`` is epsilon / steps. Its epsilons are s, 2 s, ..., up to the root of the budget.
    """
    step, reach = epsilon / steps, math.isqrt(most)
    losses = step * np.arange(-2 * steps, steps + 1)
    rows = np.empty((most + 1, len(losses) + 2 * reach))
    inside = slice(reach, reach + len(losses))

    def store(n: int, row: np.ndarray) -> None:
        rows[n, inside] = row
        rows[n, :reach] = 0.0  # below: a loss that the adversary gives up
        rows[n, inside.stop :] = -np.expm1(-step * (steps + 1 + np.arange(reach)))

    store(0, np.maximum(0.0, -np.expm1(-np.maximum(losses, 0.0))))
    found = [0.0]
    for n in range(1, most + 1):
        best = rows[n - 1, inside].copy()
        for k in range(1, math.isqrt(n) + 1):
            below = rows[n - k * k]
            wins = 1.0 / (1.0 + math.exp(-k * step))
            mean = wins * below[reach + k : reach + k + len(losses)]
            mean += (1.0 - wins) * below[reach - k : reach - k + len(losses)]
            np.maximum(best, mean, out=best)
        store(n, best)
        found.append(float(best[steps]))
    return np.array(found)


def least_broken(epsilon: float, delta: float, steps: int, budget: float) -> float:
    """The least budget n s^2, up to 1.1 times ``budget``, at which an adversary exceeds delta.

    Raises ValueError where there is none.
    """
    square = (epsilon / steps) ** 2
    found = values(steps, epsilon, math.ceil(1.1 * budget / square))
    broken = np.flatnonzero(found > delta)
    if not len(broken):
        raise ValueError(f"no budget up to {1.1 * budget:g} is broken with {steps} steps")
    return float(broken[0] * square)
