"""Filters of realised losses that look sound and are not, and one that is.

Each takes its state from :class:`~simulator.theory.filters.realised.RealisedFilter`: the loss so
far, what was spent in both experiments, two sums of deltas, and the budgets.
"""

from __future__ import annotations

from typing import Any

from simulator.theory.filters.interface import State
from simulator.theory.filters.realised import RealisedFilter
from simulator.theory.filters.rules import realised_step

ROUNDS = 50


class Threshold(RealisedFilter):
    """Broken: admit any round until the realised loss has passed epsilon."""

    name, source, proved = "threshold", "broken on purpose", False

    @staticmethod
    def step(state: Any, epsilon: float, delta: float) -> tuple[bool, State]:
        """Admit while the loss is between -epsilon and epsilon."""
        return abs(state[0]) < state[5], state


class EachWithin(RealisedFilter):
    """Broken: look ahead one round, and admit it if this round alone adds at most delta."""

    name, source, proved = "each within delta", "broken on purpose", False

    @staticmethod
    def step(state: Any, epsilon: float, delta: float) -> tuple[bool, State]:
        """Admit by the look-ahead; nothing is added up."""
        return realised_step(state, epsilon, delta)[0], state


class ShareEach(RealisedFilter):
    """Sound: at most ``ROUNDS`` rounds, each of which may add its share of delta."""

    name, source = f"delta / {ROUNDS} each", "our reading of arXiv 2604.08630, without its theta"

    @staticmethod
    def step(state: Any, epsilon: float, delta: float) -> tuple[bool, State]:
        """Admit by the look-ahead; the second sum is the number of rounds."""
        loss, _, rounds, leaked, error, promised, budget, leak_budget = state
        fresh = (loss, 0.0, 0.0, leaked, error, promised, budget / ROUNDS, leak_budget)
        if rounds >= ROUNDS or not realised_step(fresh, epsilon, delta)[0]:
            return False, state
        return True, (loss, 0.0, rounds + 1.0, leaked, error, promised, budget, leak_budget)
