"""Freedman's inequality for the privacy loss: the variance in place of the range."""

from __future__ import annotations

from simulator.theory.bounds.base import Bound, needs_squares, pure_epsilon
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.concentration import freedman_deviation, freedman_tail


class Freedman(Bound):
    """Pr[L > epsilon] by Freedman's inequality, which bounds delta(epsilon); capped by basic.

    A round's loss exceeds its mean by at most epsilon_i, as the mean is not negative. The variance
    is :attr:`Guarantee.loss_variance`. Tighter than Azuma for large epsilon_i and many rounds,
    where the variance is well below the squared half-range.
    """

    name = "freedman"
    source = "Freedman 1975, Theorem 1.6, on the martingale of Roth 2011, Lecture 4, Theorem 6"
    of_tail = True

    def _why_not(self, core: Composition) -> str | None:
        return needs_squares(core)

    def _amounts(self, core: Composition) -> tuple[float, float, float]:
        mean = core.total(lambda guarantee: guarantee.mean_loss)
        variance = core.total(lambda guarantee: guarantee.loss_variance)
        return mean, variance, max(guarantee.pure_epsilon for guarantee, _ in core)

    def _delta(self, core: Composition, epsilon: float) -> float:
        if epsilon >= core.total(pure_epsilon):
            return 0.0
        mean, variance, deviation = self._amounts(core)
        return freedman_tail(epsilon - mean, variance, deviation)

    def _epsilon(self, core: Composition, delta: float) -> float:
        mean, variance, deviation = self._amounts(core)
        return min(core.total(pure_epsilon), mean + freedman_deviation(delta, variance, deviation))
