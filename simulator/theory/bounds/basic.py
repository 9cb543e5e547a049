"""Basic composition: the epsilons add up."""

from __future__ import annotations

from simulator.theory.bounds.base import Bound, needs_pure, pure_epsilon
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.round_deltas import SUM_OF_LEAKS


class Basic(Bound):
    """(sum epsilon_i, sum delta_i) for adaptively chosen mechanisms; delta is 1 below the sum."""

    name = "basic"
    source = "Roth 2011, Lecture 4, Theorem 1; Dwork and Roth 2014, Theorem 3.16"
    leak_rule = SUM_OF_LEAKS
    of_tail = True

    def _why_not(self, core: Composition) -> str | None:
        return needs_pure(core)

    def _delta(self, core: Composition, epsilon: float) -> float:
        return 0.0 if epsilon >= core.total(pure_epsilon) else 1.0

    def _epsilon(self, core: Composition, delta: float) -> float:
        return core.total(pure_epsilon)
