"""Extremal pairs: the laws that dominate every mechanism with a given guarantee."""

from __future__ import annotations

import numpy as np
import scipy

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import probability_below_one
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.parameters import nonnegative, positive


def randomized_response(epsilon: float, delta: float = 0.0) -> FiniteLaw:
    """Dominating pair of every (epsilon, delta)-DP mechanism.

    Losses +-epsilon, and with delta > 0 mass delta at infinity in both directions (Kairouz, Oh,
    Viswanath, "The Composition Theorem for Differential Privacy", ICML 2015, Theorem 3.1 ff.).

    >>> from simulator.theory import randomized_response
    >>> law = randomized_response(0.2, delta=1e-6)
    >>> round(law.infinite_mass, 9), law.atom_losses.round(6).tolist()
    (1e-06, [-0.2, 0.2])
    """
    epsilon, delta = nonnegative("epsilon", epsilon), probability_below_one("delta", delta)
    kept = np.log1p(-delta)
    if epsilon == 0:
        return FiniteLaw(np.zeros(1), np.array([kept]), delta, delta)
    log_masses = kept + np.array([-epsilon, 0.0]) + np.log(scipy.special.expit(epsilon))
    return FiniteLaw(np.array([-epsilon, epsilon]), log_masses, delta, delta)


def bounded_range_law(epsilon: float, high: float) -> FiniteLaw:
    """Extremal pair of an epsilon-bounded-range mechanism: losses ``high`` and ``high - epsilon``.

    Pr[L = high] = (1 - exp(high - epsilon))/(1 - exp(-epsilon)), 0 <= high <= epsilon
    (Dong, Durfee, Rogers, "Optimal Differential Privacy Composition for Exponential Mechanisms",
    ICML 2020, Lemma 4.2 ff.).

    >>> from simulator.theory import bounded_range_law
    >>> bounded_range_law(0.2, high=0.15).atom_losses.round(6).tolist()
    [-0.05, 0.15]
    """
    positive("epsilon", epsilon)
    if not 0 <= high <= epsilon:
        raise InvalidInput(f"high must be in [0, epsilon] = [0, {epsilon}], got {high!r}")
    total = np.log(-np.expm1(-epsilon))
    with np.errstate(divide="ignore"):
        upper = np.log(-np.expm1(high - epsilon)) - total
        lower = high - epsilon + np.log(-np.expm1(-high)) - total
    losses, logs = np.array([high - epsilon, high]), np.array([lower, upper])
    possible = np.isfinite(logs)
    return FiniteLaw(losses[possible], logs[possible])
