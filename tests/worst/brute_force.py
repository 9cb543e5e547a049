"""The worst case of a small game by plain recursion over every play, losses as they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

Table = tuple[Sequence[float], Sequence[float]]
"""Probabilities of the answers in experiment 0 and in experiment 1."""

Admit = Callable[[Any, int], Any]


def worst(
    tables: Sequence[Table],
    epsilon: float,
    rounds: int,
    admit: Admit = lambda state, option: state or (),
    state: Any = (),
) -> float:
    """The largest E0[(1 - e^(epsilon - loss))_+] over all adaptive choices.

    ``admit(state, option)`` returns the state after it, or None where it is refused.
    """

    def value(left: int, under0: float, under1: float, state: Any) -> float:
        # the probabilities of one play in both experiments
        best = max(0.0, under0 - math.exp(epsilon) * under1)
        if left == 0:
            return best
        for option, (first, second) in enumerate(tables):
            after = admit(state, option)
            if after is None:
                continue
            total = math.fsum(
                value(left - 1, under0 * p, under1 * q, after)
                for p, q in zip(first, second)
                if p > 0.0
            )
            best = max(best, total)
        return best

    return value(rounds, 1.0, 1.0, state)


def response(epsilon: float) -> Table:
    """Randomized response."""
    p = 1.0 / (1.0 + math.exp(-epsilon))
    return (p, 1.0 - p), (1.0 - p, p)
