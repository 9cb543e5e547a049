"""A confidence band for exceedance probabilities that holds at all thresholds at once.

Let p(t) = Pr[L > t], and S(t) the number of n independent losses above t. As t falls p grows from 0
to 1; take p as the time. For a fixed factor c the likelihood ratio of "c times as many exceedances"
against the truth,

    R_c(p) = c^S ((1 - c p)/(1 - p))^(n - S),

is a nonnegative martingale in that time that starts at 1 (up to p = 1/c when c > 1). So is any
average of R_c over a grid of factors fixed in advance, and by Ville's inequality the average
reaches 1/α anywhere with probability at most α. Averages over c > 1 decrease in p and give the
lower limit, averages over c < 1 increase and give the upper one, α/2 each. Nothing is assumed of
the law of the loss: with atoms, fewer thresholds are distinct.

The grid, |c - 1| in powers of two from 1/√n, has a factor fit for every depth of the tail: the band
is wider than the pointwise interval by a logarithmic factor down to single hits, unlike the
Dvoretzky-Kiefer-Wolfowitz band, which is constant in width. Where p is near 1 it is about as wide
as in the middle.

Source: Ville (1939) for the inequality; that R_c is a martingale follows in one line from S being
binomial given its past in that time.
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import NDArray

from simulator.engine.outcomes.samples import Floats

METHOD = "simultaneous, likelihood-ratio martingale"

_STEPS = 64
"""Bisections, which reach the spacing of floats."""
_LARGEST_POWER = 6
"""Factors above 1 + 2^6 have an effect on tails of one or two hits only."""


def exceedance_limits(
    exceedances: NDArray[np.intp], trials: int, alpha: float
) -> tuple[Floats, Floats]:
    """Limits (lower, upper) of p(t) from S(t), failing anywhere with probability at most ``alpha``.

    ``exceedances`` has one count per threshold; the limits are monotone in the count, so
    monotone in the threshold.
    """
    counts, place = np.unique(exceedances, return_inverse=True)
    column = counts.astype(np.float64)
    depth = math.ceil(math.log2(math.sqrt(trials)))
    more = 1.0 + np.exp2(np.arange(-depth, _LARGEST_POWER + 1, dtype=np.float64))
    fewer = 1.0 - np.exp2(np.arange(-depth, 1, dtype=np.float64))
    threshold = math.log(2.0 / alpha)
    share = column / trials

    below, above = np.zeros_like(share), share.copy()
    for _ in range(_STEPS):
        middle = (below + above) / 2.0
        rejected = _log_average(column, trials, middle, more) >= threshold
        below, above = np.where(rejected, middle, below), np.where(rejected, above, middle)
    lower = below

    below, above = share.copy(), np.ones_like(share)
    for _ in range(_STEPS):
        middle = (below + above) / 2.0
        rejected = _log_average(column, trials, middle, fewer) >= threshold
        below, above = np.where(rejected, below, middle), np.where(rejected, middle, above)
    return lower[place], above[place]


def _log_average(counts: Floats, trials: int, candidate: Floats, factors: Floats) -> Floats:
    """Logarithm of the average of R_c at each count and candidate; R_c is 0 from c p = 1 on."""
    scaled = factors[:, None] * candidate
    inside = (scaled < 1.0) & (candidate < 1.0)
    below = np.log1p(-np.where(inside, scaled, 0.0)) - np.log1p(-np.where(inside, candidate, 0.0))
    ratio = scipy.special.xlogy(counts, factors[:, None]) + (trials - counts) * below
    return np.asarray(
        scipy.special.logsumexp(np.where(inside, ratio, -np.inf), axis=0) - math.log(factors.size)
    )
