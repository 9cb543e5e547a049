"""The wealth of bets on a sample against a candidate for its mean."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulator.engine.outcomes.points import Points
from simulator.engine.outcomes.samples import Floats

ABOVE = 1
"""Bets that the mean is above the candidate, for the lower limit."""
BELOW = -1
"""Bets that the mean is below the candidate, for the upper limit."""

CAP = 0.99
"""The largest share of the wealth in one bet."""
_CHUNK = 16
"""Factors that are multiplied before a logarithm is taken, within the range of floats."""


class Wealth:
    """Log-wealth of bets on one sample, as a function of the candidate mean.

    ``sample`` is nonnegative; values above 1 are meaningful for the side ABOVE only, whose wealth
    stays nonnegative whatever the sample's upper bound.
    """

    def __init__(self, sample: Points, starts: NDArray[np.intp]) -> None:
        positive = sample.values > 0.0
        before = np.concatenate(([0], np.cumsum(positive)))[sample.place_of(starts)]
        hits_in = np.diff(before)
        self._hits = sample.values[positive]
        self._epoch = np.repeat(np.arange(hits_in.size), hits_in)
        self._counts = None if sample.counts is None else sample.counts[positive]
        multiplicity = np.bincount(self._epoch, self._counts, minlength=hits_in.size)
        self._zeros = np.maximum(np.diff(starts) - multiplicity, 0.0)
        in_range = self._hits.size == 0 or self._hits.max() <= 1.0
        chunks = np.arange(0, self._hits.size, _CHUNK if in_range else 1)
        self._chunks = np.unique(np.concatenate((chunks, before[:-1][hits_in > 0])))
        self._chunk_epoch = self._epoch[self._chunks]

    def log_peak(self, candidate: float, side: int, sizes: Floats) -> float:
        """Largest log-wealth at the end of an epoch, betting against ``candidate``."""
        room = candidate if side == ABOVE else 1.0 - candidate
        cap = CAP / room if room > 0.0 else np.inf
        bets = side * np.minimum(sizes, cap)
        gains = self._zeros * np.log1p(-bets * candidate)
        if self._counts is not None:
            logarithms = self._counts * np.log1p(bets[self._epoch] * (self._hits - candidate))
            gains = gains + np.bincount(self._epoch, logarithms, minlength=gains.size)
        elif self._hits.size:
            factors = 1.0 + bets[self._epoch] * (self._hits - candidate)
            logarithms = np.log(np.multiply.reduceat(factors, self._chunks))
            gains = gains + np.bincount(self._chunk_epoch, logarithms, minlength=gains.size)
        return float(np.cumsum(gains).max())
