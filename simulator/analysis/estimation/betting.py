"""Confidence limits for the mean of a [0, 1] variable by betting against every candidate mean.

Source: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting"
(JRSS B, 2023), the hedged capital process with predictable plug-in bets. Against the candidate
mean m the wealth is the product of 1 + λ_i (X_i - m), with λ_i chosen before X_i is observed. It is
a nonnegative martingale if m is the true mean, and reaches 1/α with probability at most α (Ville).
Every candidate at which it does is rejected. The data must be independent with one common mean, in
an order fixed in advance.

Two choices make it fast and sharp for rare events:

* bets change only at the starts of *epochs*, whose lengths grow geometrically from either end, so
  that one evaluation of the wealth is a few vector operations, zeros being counted rather than
  visited;
* the size of a bet maximises the probability that the wealth against the limit reaches 1/α by the
  last trial (Kulldorff 1993; Browne 1999), for jumps of the size seen so far (a Poisson
  approximation; the Gaussian one is its limit for many hits). The choice affects only the width:
  any predictable bet is valid.

λ does not depend on m but for the cap that keeps wealth positive, so wealth is monotone in m and
the surviving candidates form an interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from simulator.analysis.estimation.estimate import Estimate, estimate_of_mean
from simulator.engine.outcomes.points import Points, epoch_starts
from simulator.engine.outcomes.samples import Floats, error_level, unit_interval_sample
from simulator.foundations.validation import open_probability

METHOD = "betting"

ABOVE = 1
"""Bets that the mean is above the candidate, for the lower limit."""
BELOW = -1
"""Bets that the mean is below the candidate, for the upper limit."""

_GROWTH = 1.1
"""The ratio of the distances of two successive starts of epochs from an end."""
_CAP = 0.99
"""The largest share of the wealth in one bet."""
_PRIOR = 0.25
"""A prior observation: the largest variance of a [0, 1] variable."""
_LARGEST_EXPONENT = 5.0
"""The largest exponent for which a Poisson bet is computed."""
_CHUNK = 16
"""Factors that are multiplied before a logarithm is taken, within the range of floats."""


@dataclass(frozen=True)
class Bets:
    """One bet per epoch, for both sides; ``starts`` holds the epochs' first trials, then n."""

    starts: NDArray[np.intp]
    above: Floats
    below: Floats

    def of(self, side: int) -> Floats:
        """Sizes of the bets of one side, all nonnegative."""
        return self.above if side == ABOVE else self.below


def bet_sizes(
    seen: Floats, moments: Floats, trials: int, alpha: float, left: Floats
) -> tuple[Floats, Floats]:
    """Sizes (above, below) after ``seen`` observations with raw power sums ``moments``, (3, E).

    ``left`` is the share of the ``trials`` that is left, in (0, 1]. With variance v and jump size
    s, the exponent to reach per expected hit is y = g s²/(n v), see :func:`aimed_growth`; the best
    bet solves ln(1+λ) - λ/(1+λ) = y upward and ln(1-λ) + λ/(1-λ) = y downward, in units of 1/s.
    """
    first, second, third = moments
    centred = np.maximum(second - first**2 / np.maximum(seen, 1.0), 0.0)
    variance = (_PRIOR + centred) / (seen + 1.0)
    jump = (_PRIOR + third) / (_PRIOR + second)
    growth = aimed_growth(alpha, left)
    exponent = np.minimum(growth * jump**2 / (trials * variance), _LARGEST_EXPONENT)
    return _upward(exponent) / jump, _downward(exponent) / jump


def aimed_growth(alpha: float, left: Floats) -> Floats:
    """The growth g to aim at with a share ``left`` of the trials left, per all trials; in nats.

    Against the candidate at which a normal sum just passes its quantile z at the end, the optimal
    bet for reaching 1/α by then is φ(y)/(Φ(y) sqrt(left n v)) at y = -z sqrt(left), the hedge of a
    digital option (Kulldorff 1993; Browne 1999): its square is 2 g/(n v).
    """
    y = scipy.special.ndtri(alpha) * np.sqrt(left)
    log_ratio = -0.5 * y**2 - 0.5 * math.log(2.0 * math.pi) - scipy.special.log_ndtr(y)
    return np.asarray(0.5 * np.exp(2.0 * log_ratio) / left)


def plug_in_bets(sample: Points, alpha: float) -> Bets:
    """Bets for a sample, each epoch's from the epochs before it alone."""
    starts = epoch_starts(sample, _GROWTH)
    first = sample.place_of(starts)[:-1]
    powers = (sample.times(sample.values**power) for power in (1, 2, 3))
    sums = np.array([np.add.reduceat(power, first) for power in powers])
    past = np.cumsum(sums, axis=1) - sums
    seen = starts[:-1].astype(np.float64)
    above, below = bet_sizes(seen, past, sample.trials, alpha, 1.0 - seen / sample.trials)
    return Bets(starts, above, below)


class Wealth:
    """Log-wealth of the bets on one sample, as a function of the candidate mean.

    ``sample`` is nonnegative; values above 1 are meaningful for the side ABOVE only, whose wealth
    stays nonnegative whatever the sample's upper bound.
    """

    def __init__(self, sample: Points, bets: Bets) -> None:
        self._bets = bets
        positive = sample.values > 0.0
        before = np.concatenate(([0], np.cumsum(positive)))[sample.place_of(bets.starts)]
        hits_in = np.diff(before)
        self._hits = sample.values[positive]
        self._epoch = np.repeat(np.arange(hits_in.size), hits_in)
        self._counts = None if sample.counts is None else sample.counts[positive]
        multiplicity = np.bincount(self._epoch, self._counts, minlength=hits_in.size)
        self._zeros = np.maximum(np.diff(bets.starts) - multiplicity, 0.0)
        in_range = self._hits.size == 0 or self._hits.max() <= 1.0
        chunks = np.arange(0, self._hits.size, _CHUNK if in_range else 1)
        self._chunks = np.unique(np.concatenate((chunks, before[:-1][hits_in > 0])))
        self._chunk_epoch = self._epoch[self._chunks]

    def log_peak(self, candidate: float, side: int) -> float:
        """Largest log-wealth at the end of an epoch, betting against ``candidate``."""
        room = candidate if side == ABOVE else 1.0 - candidate
        cap = _CAP / room if room > 0.0 else np.inf
        bets = side * np.minimum(self._bets.of(side), cap)
        gains = self._zeros * np.log1p(-bets * candidate)
        if self._counts is not None:
            logarithms = self._counts * np.log1p(bets[self._epoch] * (self._hits - candidate))
            gains = gains + np.bincount(self._epoch, logarithms, minlength=gains.size)
        elif self._hits.size:
            factors = 1.0 + bets[self._epoch] * (self._hits - candidate)
            logarithms = np.log(np.multiply.reduceat(factors, self._chunks))
            gains = gains + np.bincount(self._chunk_epoch, logarithms, minlength=gains.size)
        return float(np.cumsum(gains).max())


def betting_lower(sample: ArrayLike, alpha: float) -> float:
    """Lower limit of E X that fails with probability at most ``alpha``; X in [0, 1].

    ``alpha`` as small as 1e-12 is fine. Source and conditions: see the module. Raises InvalidInput.
    """
    return lower_limit(Points(unit_interval_sample(sample)), open_probability("alpha", alpha))


def betting_upper(sample: ArrayLike, alpha: float) -> float:
    """Upper limit of E X that fails with probability at most ``alpha``; X in [0, 1]."""
    return upper_limit(Points(unit_interval_sample(sample)), open_probability("alpha", alpha))


def betting_interval(sample: ArrayLike, confidence: float = 0.95) -> Estimate:
    """Mean of a [0, 1] sample, shape (trials,), with an interval valid at every sample size.

    Source: Waudby-Smith and Ramdas 2023, hedged capital. Raises InvalidInput.
    """
    points = Points(unit_interval_sample(sample))
    alpha = error_level(confidence) / 2.0
    limits = lower_limit(points, alpha), upper_limit(points, alpha)
    return estimate_of_mean(points, limits, confidence, METHOD)


def lower_limit_nonnegative(sample: Points, bets: Bets, alpha: float) -> float:
    """Lower limit of the mean of a nonnegative variable, for bets made in advance of the data."""
    wealth = Wealth(sample, bets)
    threshold = math.log(1.0 / alpha)

    def excess(candidate: float) -> float:
        return wealth.log_peak(candidate, ABOVE) - threshold

    mean = sample.mean()
    if mean == 0.0 or excess(0.0) < 0.0:
        return 0.0
    if excess(mean) >= 0.0:  # the sample mean itself is rejected
        return mean
    return float(_root(excess, 0.0, mean)) * (1.0 - 1e-8)


def lower_limit(sample: Points, alpha: float, bets: Bets | None = None) -> float:
    """``betting_lower`` of points, which may stand for many trials each."""
    return lower_limit_nonnegative(sample, bets or plug_in_bets(sample, alpha), alpha)


def upper_limit(sample: Points, alpha: float, bets: Bets | None = None) -> float:
    """``betting_upper`` of points, which may stand for many trials each."""
    wealth = Wealth(sample, bets or plug_in_bets(sample, alpha))
    threshold = math.log(1.0 / alpha)

    def excess(candidate: float) -> float:
        return wealth.log_peak(candidate, BELOW) - threshold

    mean = sample.mean()
    if excess(1.0) < 0.0:
        return 1.0
    if excess(mean) >= 0.0:
        return mean
    step = threshold / sample.trials
    while excess(min(1.0, mean + step)) < 0.0:
        step *= 2.0
    return min(1.0, float(_root(excess, mean, min(1.0, mean + step))) * (1.0 + 1e-8))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Root to nine digits; the callers then step outward by ten times that."""
    return float(scipy.optimize.brentq(function, low, high, xtol=1e-300, rtol=1e-9))


def _upward(exponent: Floats) -> Floats:
    branch = -np.real(scipy.special.lambertw(-np.exp(-1.0 - exponent), 0))
    return np.where(exponent < 1e-6, np.sqrt(2.0 * exponent), 1.0 / branch - 1.0)


def _downward(exponent: Floats) -> Floats:
    branch = -np.real(scipy.special.lambertw(-np.exp(-1.0 - exponent), -1))
    return np.where(exponent < 1e-6, np.sqrt(2.0 * exponent), 1.0 - 1.0 / branch)
