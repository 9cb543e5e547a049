"""Evidence against Pr[E | 0] <= e^epsilon Pr[E | 1] + delta from draws of both, at any time.

One pair of draws, x in {0, 1} for whether the first falls into E and y for the second, is bet on
with the ratio of an alternative's likelihood to that of the null's nearest point,

    (q0/t0)^x ((1 - q0)/(1 - t0))^(1 - x) (q1/t1)^y ((1 - q1)/(1 - t1))^(1 - y).

With A0 = (q0 - t0)/(t0 (1 - t0)) and A1 likewise, its mean under (p0, p1) is
(1 + A0 (p0 - t0)) (1 + A1 (p1 - t1)). On the null's edge p0 = c p1 + delta, c = e^epsilon, that is
1 + (c A0 + A1) u + c A0 A1 u^2 with u = p1 - t1. The nearest point in Kullback-Leibler divergence
has c A0 + A1 = 0 and A0 > 0 > A1, so the mean is at most 1 there, and inside the null as well,
where p0 is smaller. Products of such ratios, each alternative chosen from earlier draws, are
nonnegative supermartingales: they reach 1/alpha with probability at most alpha, ever (Ville 1939).

Source: Turner, Ly and Gruenwald, "Generic E-variables for exact sequential k-sample tests that
allow for optional stopping", 2024, Section 3, for convex nulls on two Bernoulli samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_STEPS = 60
_PRECISION = 4e-16


@dataclass(frozen=True)
class Odds:
    """Logarithms of the factors of the evidence for the four outcomes of a pair of draws.

    Attributes
    ----------
    hit_0, miss_0, hit_1, miss_1 : arrays of one shape; all 0 if the alternative is in the
        null.
    """

    hit_0: np.ndarray
    miss_0: np.ndarray
    hit_1: np.ndarray
    miss_1: np.ndarray

    def evidence(self, hits_0: np.ndarray, hits_1: np.ndarray, draws: int) -> np.ndarray:
        """Ln of the evidence of so many hits among ``draws`` pairs."""
        first = hits_0 * self.hit_0 + (draws - hits_0) * self.miss_0
        return np.asarray(first + hits_1 * self.hit_1 + (draws - hits_1) * self.miss_1)

    def growth(self, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
        """Mean of the logarithm per pair of draws if the alternative is true."""
        first = q0 * self.hit_0 + (1 - q0) * self.miss_0
        return np.asarray(first + q1 * self.hit_1 + (1 - q1) * self.miss_1)


def nearest(
    q0: np.ndarray, q1: np.ndarray, epsilon: np.ndarray, delta: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The null's point that is nearest to (q0, q1) in divergence; that point itself inside it.

    Parameters
    ----------
    q0, q1 : probabilities strictly between 0 and 1.
    epsilon, delta : which null; all four are broadcast.
    """
    c = np.exp(epsilon)
    q0, q1, c, delta = np.broadcast_arrays(q0, q1, c, delta)
    outside = q0 > c * q1 + delta
    low, high = np.array(q1, dtype=float), np.where(outside, (q0 - delta) / c, q1)
    both = np.maximum(q0 - delta, 0.0) + q1
    middle = 1.0 + c + both + (c - 1.0) * q1
    # the root at delta = 0, where the equation is quadratic
    t1 = 2.0 * both / (middle + np.sqrt(np.maximum(middle**2 - 8.0 * c * both, 0.0)))
    t1 = np.clip(t1, low, high)
    for _ in range(_STEPS):  # Newton's, or halving where that leaves the interval
        t0 = c * t1 + delta
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            slope = c * (q0 - t0) / (t0 * (1.0 - t0)) + (q1 - t1) / (t1 * (1.0 - t1))
            bend = c**2 * (q0 / t0**2 + (1.0 - q0) / (1.0 - t0) ** 2)
            bend += q1 / t1**2 + (1.0 - q1) / (1.0 - t1) ** 2
            after = t1 + slope / bend
        low = np.where(slope > 0, t1, low)
        high = np.where(slope > 0, high, t1)
        after = np.where((after >= low) & (after <= high), after, 0.5 * (low + high))
        small = np.abs(after - t1) <= _PRECISION * t1
        t1 = after
        if np.all(small | ~outside):
            break
    return np.where(outside, c * t1 + delta, q0), np.where(outside, t1, q1)


class Bettor:
    """Bets on (q0, q1) against the null of (epsilon, delta).

    Attributes
    ----------
    rate : mean growth of the log-evidence per pair of draws if (q0, q1) is the truth.
    """

    def __init__(
        self, q0: np.ndarray, q1: np.ndarray, epsilon: np.ndarray, delta: np.ndarray
    ) -> None:
        self.t0, self.t1 = nearest(q0, q1, epsilon, delta)
        self.gap_0, self.gap_1 = q0 - self.t0, q1 - self.t1
        self.rate = self.odds(1.0).growth(q0, q1)

    def odds(self, boldness: float | np.ndarray) -> Odds:
        """The bet on a point between the null (``boldness`` 0) and (q0, q1) (1).

        It has the same nearest point, with smaller gains and losses.
        """
        a0, a1 = boldness * self.gap_0, boldness * self.gap_1
        return Odds(
            np.log1p(a0 / self.t0),
            np.log1p(-a0 / (1.0 - self.t0)),
            np.log1p(a1 / self.t1),
            np.log1p(-a1 / (1.0 - self.t1)),
        )


def rough_growth(
    q0: np.ndarray, q1: np.ndarray, epsilon: np.ndarray, delta: np.ndarray
) -> np.ndarray:
    """Approximate growth per pair in closed form, within a factor of two, to choose among events.

    It is that of two Poisson counts, divided by 1 - t1 as for common events.
    """
    c = np.exp(epsilon)
    above = np.maximum(q0 - delta, 0.0)
    t1 = (above + q1) / (1.0 + c)
    outside = above > c * q1
    with np.errstate(divide="ignore", invalid="ignore"):
        value = above * np.log(above / (c * t1)) + q1 * np.log(q1 / t1)
        value = value * above / np.maximum(q0, 1e-300) / (1.0 - np.minimum(t1, 0.99))
    return np.where(outside, np.maximum(value, 0.0), 0.0)
