"""The total privacy loss of many randomized responses, exactly, and its hockey-stick curve.

The law is a list of atoms in decreasing order of loss. Between two atoms the curve is delta(E) =
delta_j + (e^(L_j) - e^E) B_j, where L_j is the last atom above E, B_j the probability in experiment
1 of the atoms down to L_j, and delta_j = delta(L_j). Both sequences are running sums of positive
terms, so the far tails are accurate, and the inverse is explicit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from simulator.foundations.ties import beyond
from simulator.theory.bracket import Bracket
from simulator.theory.inverse import certain_inverse
from simulator.theory.laws.binomial import log_binomial, log_binomial_error
from simulator.theory.outward import UNIT, above, below

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LossAtoms:
    """Atoms of a privacy loss: losses decreasing and positive, log-probability in experiment 0.

    Atoms of loss <= 0 never enter delta(E) for E >= 0 and are left out. ``log_error`` bounds the
    error of each ``log_mass``, of its shape or one for all, and ``loss_error`` that of every loss:
    :meth:`delta_bracket` and :meth:`epsilon_bracket` are certified; the other methods are exact up
    to rounding. ``rounds`` is the number of rounds whose losses are summed.
    """

    losses: Floats
    log_mass: Floats
    log_error: Floats | float = 0.0
    loss_error: float = 0.0
    rounds: int = 1

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

    def delta_bracket(self, epsilon: float) -> Bracket:
        """Bracket of the curve at epsilon >= 0."""
        lower = self._summed(above(epsilon + self.loss_error), -1)
        return Bracket(lower, self._summed(below(epsilon - self.loss_error), +1))

    def epsilon_bracket(self, delta: float, top: float) -> Bracket:
        """Bracket of the inverse at 1e-300 <= delta < 1; no loss is above ``top``."""
        return certain_inverse(self.delta_bracket, delta, start=self.epsilon(delta), top=top)

    def _summed(self, epsilon: float, sign: int) -> float:
        """Sum of the atoms' terms at epsilon, moved up or down by its own rounding."""
        many = int(np.searchsorted(-self.losses, -epsilon, side="left"))  # atoms > epsilon
        if many == 0:
            return 0.0
        terms = self.log_mass[:many] + np.log(-np.expm1(epsilon - self.losses[:many]))
        top = float(terms.max())
        weights = np.exp(terms - top)
        total = float(weights.sum())
        here = weights > 0.0
        errors = np.broadcast_to(self.log_error, self.losses.shape)[:many][here]
        wrong = float(weights[here] @ (errors + 4 * UNIT * (8 + np.abs(terms[here])))) / total
        wrong += UNIT * (128 + 4 * abs(top))  # pairwise sums lose far less than 128 units
        moved = math.exp(min(0.0, top + math.log(total) + sign * wrong))
        return min(moved + _UNDERFLOW, 1.0) if sign > 0 else max(moved - _UNDERFLOW, 0.0)

    def tail(self, threshold: float) -> float:
        """Probability in experiment 0 that the loss exceeds a threshold >= 0.

        An atom that equals it up to rounding does not, see :mod:`simulator.foundations.ties`.
        """
        least = beyond(threshold, self.rounds)
        above = int(np.searchsorted(-self.losses, -least, side="left"))
        return math.exp(float(scipy.special.logsumexp(self.log_mass[:above]))) if above else 0.0

    def epsilon(self, delta: float) -> float:
        """Invert the curve: the least epsilon >= 0 where it is at most delta, 0 < delta < 1."""
        if self.losses.size == 0:
            return 0.0
        log_target = math.log(delta)
        above = int(np.searchsorted(self._log_deltas, log_target, side="left"))
        last, log_delta = float(self.losses[above - 1]), float(self._log_deltas[above - 1])
        log_excess = log_target + math.log(-math.expm1(log_delta - log_target))
        log_share = log_excess - last - float(self._log_mass_1[above - 1])
        if log_share >= 0.0:  # the curve is below delta at every epsilon
            return 0.0
        return max(0.0, last + math.log(-math.expm1(log_share)))


_UNDERFLOW = 1e-307  # below it a double keeps no digits


@lru_cache(maxsize=4)
def repeated_atoms(epsilon: float, rounds: int) -> LossAtoms:
    """The positive atoms (k - 2 l) epsilon of ``rounds`` randomized responses."""
    failures = np.arange((rounds + 1) // 2, dtype=np.float64)
    log_mass, log_error = log_responses(epsilon, rounds, failures)
    losses = (rounds - 2.0 * failures) * epsilon
    return LossAtoms(losses, log_mass, log_error, 2 * UNIT * rounds * epsilon, rounds)


def log_responses(epsilon: float, rounds: int, failures: Floats) -> tuple[Floats, Floats]:
    """Log-probabilities of each number of untruthful answers, and bounds on their errors."""
    log_p = -math.log1p(math.exp(-epsilon))
    law = (rounds, rounds - failures, log_p, log_p - epsilon)
    return log_binomial(*law), log_binomial_error(*law)


def _group(epsilon: float, rounds: int) -> tuple[Floats, Floats, Floats]:
    """Numbers of untruthful answers, their log-probabilities, and bounds on the errors of these."""
    return _small_group(epsilon, rounds) if rounds < 1000 else _new_group(epsilon, rounds)


def _new_group(epsilon: float, rounds: int) -> tuple[Floats, Floats, Floats]:
    failures = np.arange(rounds + 1, dtype=np.float64)
    return failures, *log_responses(epsilon, rounds, failures)


_small_group = lru_cache(maxsize=512)(_new_group)  # 12 MB at most


@lru_cache(maxsize=2)
def mixed_atoms(parts: tuple[tuple[float, int], ...]) -> LossAtoms:
    """The positive atoms of several groups (epsilon, rounds): prod(rounds + 1) before the cut."""
    losses, log_mass, log_error = np.zeros(1), np.zeros(1), np.zeros(1)
    for epsilon, rounds in parts:
        failures, group_mass, group_error = _group(epsilon, rounds)
        losses = np.add.outer(losses, (rounds - 2.0 * failures) * epsilon).ravel()
        log_mass = np.add.outer(log_mass, group_mass).ravel()
        log_error = np.add.outer(log_error, group_error).ravel() + UNIT * np.abs(log_mass)
    loss_error = 2 * UNIT * len(parts) * math.fsum(count * epsilon for epsilon, count in parts)
    order = np.argsort(-losses, kind="stable")
    order = order[: int(np.count_nonzero(losses > 0.0))]
    return LossAtoms(
        losses[order],
        log_mass[order],
        log_error[order],
        loss_error,
        sum(rounds for _, rounds in parts),
    )
