"""The total privacy loss of many randomized responses, exactly, and its hockey-stick curve.

The law is a list of atoms in decreasing order of loss. Between two atoms the curve is
delta(E) = delta_j + (e^(L_j) - e^E) B_j, where L_j is the last atom above E, B_j the probability
in experiment 1 of the atoms down to L_j, and delta_j = delta(L_j). Both sequences are running
sums of positive terms, so that far tails lose no digits, and the inverse is explicit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LossAtoms:
    """Atoms of a privacy loss: losses decreasing and positive, log-probability in experiment 0.

    Atoms of loss <= 0 never enter delta(E) for E >= 0 and are left out.
    """

    losses: Floats
    log_mass: Floats

    @cached_property
    def _log_mass_1(self) -> Floats:
        """Logarithms of the B_j: log-probability in experiment 1 of the atoms down to the j-th."""
        return np.logaddexp.accumulate(self.log_mass - self.losses)

    @cached_property
    def _log_deltas(self) -> Floats:
        """Logarithms of delta(L_j); the first is -infinity."""
        gaps = np.diff(self.losses)
        with np.errstate(divide="ignore"):  # equal atoms add nothing: ln 0
            steps = self.losses[:-1] + np.log(-np.expm1(gaps)) + self._log_mass_1[:-1]
        return np.concatenate(([-np.inf], np.logaddexp.accumulate(steps)))

    def log_delta(self, epsilon: float) -> float:
        """Natural logarithm of the curve at epsilon >= 0; -infinity from the largest loss on."""
        above = int(np.searchsorted(-self.losses, -epsilon, side="left"))  # atoms > epsilon
        if above == 0:
            return -math.inf
        last = float(self.losses[above - 1])
        rest = float(self._log_mass_1[above - 1]) + last + math.log(-math.expm1(epsilon - last))
        return float(np.logaddexp(self._log_deltas[above - 1], rest))

    def delta(self, epsilon: float) -> float:
        """Hockey-stick divergence at epsilon >= 0."""
        return math.exp(self.log_delta(epsilon))

    def tail(self, threshold: float) -> float:
        """Probability in experiment 0 that the loss exceeds a threshold >= 0."""
        above = int(np.searchsorted(-self.losses, -threshold, side="left"))
        return math.exp(float(logsumexp(self.log_mass[:above]))) if above else 0.0

    def epsilon(self, delta: float) -> float:
        """Invert the curve: the least epsilon >= 0 where it is at most delta, 0 < delta < 1."""
        if self.losses.size == 0:
            return 0.0
        log_target = math.log(delta)
        above = int(np.searchsorted(self._log_deltas, log_target, side="left"))
        last, log_delta = float(self.losses[above - 1]), float(self._log_deltas[above - 1])
        log_excess = log_target + math.log(-math.expm1(log_delta - log_target))
        log_share = log_excess - last - float(self._log_mass_1[above - 1])
        if log_share >= 0.0:  # delta(-infinity) is not reached: all of e^E is used up
            return 0.0
        return max(0.0, last + math.log(-math.expm1(log_share)))


def log_binomial(rounds: int, successes: Floats, log_p: float, log_q: float) -> Floats:
    """Logarithms of binomial probabilities, by Loader's deviance form.

    The large cancelling logarithms of factorials are replaced by Stirling's error and the
    deviance, so the absolute error is near 1e-15 times the deviation, not times ln k!.

    Source: Loader 2000, "Fast and accurate computation of binomial probabilities".
    """
    failures = rounds - successes
    mean_1, mean_0 = rounds * math.exp(log_p), rounds * math.exp(log_q)
    offset = mean_0 - failures if log_q < log_p else successes - mean_1  # successes - mean
    inner = (successes > 0) & (failures > 0)
    x, y, d = successes[inner], failures[inner], offset[inner]
    result = rounds * np.where(successes == 0, log_q, log_p)
    result[inner] = (
        _stirling_error(np.array([float(rounds)]))[0]
        - _stirling_error(x)
        - _stirling_error(y)
        - _deviance(x, math.log(rounds) + log_p, d)
        - _deviance(y, math.log(rounds) + log_q, -d)
        + 0.5 * (math.log(rounds / (2.0 * math.pi)) - np.log(x) - np.log(y))
    )
    return result


def _stirling_error(n: Floats) -> Floats:
    """Logarithm of n! minus Stirling's formula, for n >= 1."""
    small = gammaln(np.minimum(n, 16.0) + 1.0) - (
        0.5 * np.log(2.0 * np.pi * np.minimum(n, 16.0))
        + np.minimum(n, 16.0) * (np.log(np.minimum(n, 16.0)) - 1.0)
    )
    square = 1.0 / (n * n)
    series = 1 / 1188 - square * (691 / 360360)
    series = 1 / 1680 - square * series
    series = 1 / 1260 - square * series
    series = 1 / 360 - square * series
    series = (1 / 12 - square * series) / n
    return np.where(n > 15.0, series, small)


def _deviance(x: Floats, log_mean: float, offset: Floats) -> Floats:
    """Deviance x ln(x / mean) + mean - x, given offset = x - mean without cancellation."""
    apart = np.log(x) - log_mean
    near = np.abs(offset) < 0.1 * math.exp(log_mean)
    apart[near] = np.log1p(offset[near] / math.exp(log_mean))
    return np.asarray(x * apart - offset)


@lru_cache(maxsize=4)
def repeated_atoms(epsilon: float, rounds: int) -> LossAtoms:
    """The positive atoms (k - 2 l) epsilon of ``rounds`` randomized responses."""
    failures = np.arange((rounds + 1) // 2, dtype=np.float64)
    log_mass = _log_responses(epsilon, rounds, failures)
    return LossAtoms((rounds - 2.0 * failures) * epsilon, log_mass)


def _log_responses(epsilon: float, rounds: int, failures: Floats) -> Floats:
    log_p = -math.log1p(math.exp(-epsilon))
    return log_binomial(rounds, rounds - failures, log_p, log_p - epsilon)


@lru_cache(maxsize=2)
def mixed_atoms(parts: tuple[tuple[float, int], ...]) -> LossAtoms:
    """The positive atoms of several groups (epsilon, rounds): prod(rounds + 1) before the cut."""
    losses, log_mass = np.zeros(1), np.zeros(1)
    for epsilon, rounds in parts:
        failures = np.arange(rounds + 1, dtype=np.float64)
        group_mass = _log_responses(epsilon, rounds, failures)
        losses = np.add.outer(losses, (rounds - 2.0 * failures) * epsilon).ravel()
        log_mass = np.add.outer(log_mass, group_mass).ravel()
    positive = losses > 0.0
    losses, log_mass = losses[positive], log_mass[positive]
    order = np.argsort(-losses, kind="stable")
    return LossAtoms(losses[order], log_mass[order])
