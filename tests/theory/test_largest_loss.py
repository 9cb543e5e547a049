"""Answers by the largest loss alone, against exact ones."""

from __future__ import annotations

from dataclasses import replace

import mpmath
import numpy as np

from simulator.theory.events import Account, laplace, self_compose, subsampled
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.largest_loss import LargestLoss

LOSS, ROUNDS = 0.1, 7
LAW = FiniteLaw(  # randomized response
    np.array([-LOSS, LOSS]), -np.log1p(np.exp([LOSS, -LOSS]))
)


def delta_of_responses(epsilon: float) -> mpmath.mpf:
    """The sum over the number of responses that are true."""
    with mpmath.workdps(40):
        p = 1 / (1 + mpmath.exp(-mpmath.mpf(LOSS)))
        return mpmath.fsum(
            mpmath.binomial(ROUNDS, j) * p**j * (1 - p) ** (ROUNDS - j)
            * max(1 - mpmath.exp(mpmath.mpf(epsilon) - (2 * j - ROUNDS) * mpmath.mpf(LOSS)), 0)
            for j in range(ROUNDS + 1)
        )  # fmt: skip


def encloses(found: LargestLoss) -> bool:
    """Whether both answers hold at epsilons near the largest loss and far from it."""
    for below in (1e-9, 1e-4, 0.05, 0.15, 0.5):
        epsilon = LOSS * ROUNDS - below
        exact = delta_of_responses(epsilon)
        ends = found.delta(epsilon)
        if not ends.lower <= exact <= ends.upper:
            return False
        least = found.epsilon(float(exact))
        if not least.lower * (1 - 1e-12) <= epsilon <= least.upper:
            return False
    return True


def test_ends_enclose_the_exact_answers() -> None:
    assert encloses(LargestLoss.of(CountedLaws.of([(LAW, ROUNDS)])))


def test_a_larger_mass_is_refuted() -> None:
    right = LargestLoss.of(CountedLaws.of([(LAW, ROUNDS)]))
    assert not encloses(replace(right, log_mass=right.log_mass + 0.01))


def test_sampled_laplace_at_a_delta_below_its_largest_loss() -> None:
    """A line does not resolve it; the largest loss is an atom, and the answer."""
    found = Account(self_compose(subsampled(laplace(1294.0), 1e-6), 10)).epsilon(1e-25)
    with mpmath.workdps(40):
        most = 10 * mpmath.log1p(mpmath.mpf(1e-6) * mpmath.expm1(mpmath.mpf(1) / 1294))
    assert found.lower <= most <= found.upper
    assert found.width <= 1e-10 * found.upper
