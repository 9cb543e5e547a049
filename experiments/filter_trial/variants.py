"""Filters that look sound and are not, and one that is.

Those of realised losses have the state of RealisedFilter: the loss so far, what was spent in both
experiments, two sums of deltas, and the budgets.
"""

from __future__ import annotations

from typing import Any

from simulator.theory.filters.interface import State
from simulator.theory.filters.realised import RealisedFilter
from simulator.theory.filters.residue import ResidueFilter
from simulator.theory.filters.rules import realised_step
from simulator.theory.guarantees.interface import Guarantee

ROUNDS = 50


class SquaresOfCurve:
    """Broken: it takes eps^2 of a Gaussian curve's mu^2 for a pure round.

    In the form of :class:`~simulator.worst.own_filter.OwnFilter`.
    """

    monotone, initial = True, 0.0

    def __init__(self, epsilon: float, delta: float) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.budget = ResidueFilter(epsilon, delta).mu ** 2

    def admit(self, state: float, guarantee: Guarantee) -> tuple[bool, float]:
        """Whether the round may run, and the sum of squares after it."""
        after = state + guarantee.pure_epsilon**2
        return after <= self.budget * (1.0 + 1e-12), after


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
