"""Advanced composition: mean of the loss plus Azuma's deviation, capped by basic composition."""

from __future__ import annotations

import math

from simulator.theory.bounds.base import Bound, needs_squares, pure_epsilon
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.concentration import azuma_deviation, azuma_tail
from simulator.theory.bounds.round_deltas import SUM_OF_LEAKS
from simulator.theory.guarantees.interface import Guarantee


def lemma_7_mean(guarantee: Guarantee) -> float:
    """Mean epsilon (e^epsilon - 1) of Roth 2011, Lemma 7, infinite where it overflows."""
    epsilon = guarantee.pure_epsilon
    return epsilon * math.expm1(epsilon) if epsilon < 700.0 else math.inf


def tight_mean(guarantee: Guarantee) -> float:
    """Mean epsilon tanh(epsilon / 2), that of randomized response."""
    return guarantee.pure_epsilon * math.tanh(guarantee.pure_epsilon / 2.0)


def _squared_range(guarantee: Guarantee) -> float:
    return 4.0 * guarantee.pure_epsilon**2


def squares(core: Composition) -> float:
    """Sum of the squared epsilons, Q."""
    return core.total(lambda guarantee: guarantee.pure_epsilon**2)


class Advanced(Bound):
    """sqrt(2 Q ln(1/delta')) + sum epsilon_i (e^epsilon_i - 1), and the deltas add up."""

    name = "advanced"
    source = (
        "Dwork, Rothblum and Vadhan 2010; Roth 2011, Lecture 4, Theorem 6; "
        "Dwork and Roth 2014, Theorem 3.20"
    )
    leak_rule = SUM_OF_LEAKS
    of_tail = True

    def _why_not(self, core: Composition) -> str | None:
        return needs_squares(core)

    def _mean(self, core: Composition) -> float:
        return core.total(lemma_7_mean)

    def uncapped_epsilon(self, core: Composition, delta: float) -> float:
        """The theorem's epsilon without the cap by basic composition."""
        return self._mean(core) + azuma_deviation(delta, core.total(_squared_range))

    def _delta(self, core: Composition, epsilon: float) -> float:
        if epsilon >= core.total(pure_epsilon):
            return 0.0
        return azuma_tail(epsilon - self._mean(core), core.total(_squared_range))

    def _epsilon(self, core: Composition, delta: float) -> float:
        return min(core.total(pure_epsilon), self.uncapped_epsilon(core, delta))


class AdvancedTightMean(Advanced):
    """Advanced composition with tanh(epsilon / 2) in place of e^epsilon - 1 in the mean."""

    name = "advanced-tight-mean"
    source = (
        "lecture notes on group privacy and composition, advanced composition; "
        "Kairouz, Oh and Viswanath 2017, Theorem 3.4, third term"
    )

    def _mean(self, core: Composition) -> float:
        return core.total(tight_mean)


class KairouzOhViswanath(Bound):
    """min of basic, S + sqrt(2 Q ln(e + sqrt(Q)/delta')) and S + sqrt(2 Q ln(1/delta')).

    S is the sum of epsilon_i tanh(epsilon_i / 2), Q that of epsilon_i squared.
    """

    name = "kairouz-oh-viswanath-3.5"
    source = "Kairouz, Oh and Viswanath 2017, Theorems 3.4 and 3.5"

    def _why_not(self, core: Composition) -> str | None:
        return needs_squares(core)

    def _delta(self, core: Composition, epsilon: float) -> float:
        if epsilon >= core.total(pure_epsilon):
            return 0.0
        total = squares(core)
        if total == 0.0:  # every round is harmless
            return 0.0
        excess = epsilon - core.total(tight_mean)
        if excess <= 0.0:
            return 1.0
        exponent = excess * excess / (2.0 * total)
        azuma = math.exp(-exponent)
        if exponent <= 1.0:
            return azuma
        second = math.sqrt(total) * azuma / -math.expm1(1.0 - exponent)
        return min(azuma, second)

    def _epsilon(self, core: Composition, delta: float) -> float:
        total = squares(core)
        # e + sqrt(Q)/delta' may overflow, so its logarithm is computed from the two terms.
        log_ratio = 0.5 * math.log(total) - math.log(delta) if total > 0.0 else -math.inf
        log_sum = max(1.0, log_ratio) + math.log1p(math.exp(-abs(log_ratio - 1.0)))
        deviation = math.sqrt(2.0 * total * min(log_sum, -math.log(delta)))
        return min(core.total(pure_epsilon), core.total(tight_mean) + deviation)
