"""Losses that equal a threshold up to rounding: one rule for every tail.

Where losses have atoms, Pr[L > t] jumps, and at a jump the rounding of the sum of k round losses,
and of t, decides on which side of t the sum falls. A loss counts as larger than t where it exceeds
t by more than the rounding error. With u = 2^-53, the k round losses c_i and their partial sums
S_i, all of what follows in experiment 0 (exchange the roles in experiment 1):

* adding up: the computed S_k is off by at most k u max|S_i|, to first order in u (Higham 2002,
  Accuracy and Stability of Numerical Algorithms, section 4.2);
* partial sums: e^{-S_i} is a nonnegative supermartingale with mean at most 1. So S_i < -r has
  probability at most e^{-r} (Ville), and to pass t + r and then come back to t has at most e^{-r}.
  With r = REACH, max|S_i| <= REACH + |t| wherever S_k is near t, but for a probability of 1e-17
  per trial. No bound on the round losses is needed;
* one round: c_i = S_i - S_{i-1} is at most 2 (REACH + |t|), and so is the log-likelihood of an
  answer that is drawn at all. A formula with two roundings of numbers of that size is off by at
  most 4 u (REACH + |t|); there are k;
* the threshold: t is off by u |t| as typed, and by up to 2 k u |t| where it was added up itself.

Together no more than 8 k u (REACH + |t|). That is 1e-12 for 30 rounds and 4e-10 for 10,000, while
the atoms of k rounds of randomized response lie 2 epsilon apart: they are distinguished for every
epsilon above k 2e-14. A loss with a continuous law falls into so narrow a gap with a negligible
probability.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from simulator.foundations.errors import NotApplicable

ROUNDS = 10_000
"""The rounds that a sample is taken to have where none are given."""
REACH = 40.0
"""A loss this far on the unlikely side, in nats, has a probability of 4e-18 at most."""

_UNIT = 2.0**-53
_TERMS = 8

Thresholds = TypeVar("Thresholds", float, NDArray[np.float64])


def tolerance(threshold: Thresholds, rounds: int) -> Thresholds:
    """Bound on what rounding adds to a loss of ``rounds`` rounds near ``threshold``, in nats.

    Elementwise, finite everywhere; derived above.
    """
    size: Any = np.where(np.isfinite(threshold), np.abs(threshold), 0.0)[()]
    return _TERMS * _UNIT * rounds * (REACH + size)


def require_distinguishable(largest: float, rounds: int) -> None:
    """Raise NotApplicable where round losses of at most ``largest`` are within the tolerance."""
    if 0.0 < largest < 8.0 * float(tolerance(0.0, rounds)):
        raise NotApplicable(
            f"round losses of at most {largest:g} cannot be distinguished from the rounding of "
            f"a sum of {rounds} rounds: tails need a larger epsilon"
        )


def reached(threshold: float, rounds: int) -> float:
    """What a sum of ``rounds`` stated numbers must exceed to be larger than ``threshold``.

    Ten losses of 0.1 add up to 1, though not as doubles: each number and the threshold are off by
    u, and their sum by (rounds - 1) u, all relative to the threshold.
    """
    return threshold * (1.0 + 2.0 * (rounds + 1) * _UNIT)


def beyond(threshold: Thresholds, rounds: int) -> Thresholds:
    """What a computed loss of ``rounds`` rounds must exceed to be larger than ``threshold``."""
    return threshold + tolerance(threshold, rounds)
