"""Gaussians N(G v, G) around likely scores at which U is a little above e^epsilon.

The likeliest scores with a given U are G v, where v is a multiple of the shares that the bins have
in U at them. There is one such point where all bins are alike, and one around each bin, where that
bin and its neighbours have most of U. Between them are points where one bin has a smaller peak
and all bins take part; they are used where they are about as likely.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import logsumexp

from simulator.analysis.allocation.pairs import BinnedPair
from simulator.engine.sampling import THETA_BITS, rounded

Floats = NDArray[np.float64]

_STEPS = 40
_ALIKE = 0.2
"""The share of the Gaussian that moves all bins alike."""
_PARTS = (0.2, 0.4, 0.6, 0.8)
"""Peaks of these parts of a full one, where all bins take part too."""
_FARTHEST = 4.0
"""Peaks less likely by this factor, in nats, are left out."""
_LEAST = 1e-3
"""Shares smaller than this part of the largest one are left out of a peak."""


@dataclass(frozen=True)
class Tilts:
    """A mixture of N(G v, G).

    Attributes
    ----------
    pair : P and Q.
    alike : float64, shape (bins,), the v that moves all bins alike.
    peaks : float64, shape (bins, peaks), mostly zeros.
    multiples : float64, shape (peaks,): a further v is a peak plus this times ``alike``.
    """

    pair: BinnedPair
    alike: Floats
    peaks: Floats
    multiples: Floats

    @cached_property
    def _sparse(self) -> scipy.sparse.csr_array:
        return scipy.sparse.csr_array(self.peaks.T)

    @cached_property
    def _half_squares(self) -> Floats:
        tilts = self.peaks + self.alike[:, None] * self.multiples
        return _rates(self.pair, np.column_stack([tilts, self.alike]))

    def draw(self, draws: int, generator: np.random.Generator) -> Floats:
        """Draw v, shape (bins, draws)."""
        alike = generator.random(draws) < _ALIKE
        place = generator.integers(self.peaks.shape[1], size=draws)
        tilts = self.peaks[:, place] + self.alike[:, None] * self.multiples[place]
        tilts[:, alike] = self.alike[:, None]
        return np.asarray(tilts)

    def log_ratio(self, scores: Floats) -> Floats:
        """Ln of the density of the mixture over that of N(0, G), for scores (bins, draws)."""
        even = self.alike @ scores
        exponents = self._sparse @ scores
        exponents += self.multiples[:, None] * even - self._half_squares[:-1, None]
        peak = exponents.max(axis=0)
        exponents -= peak
        mean = np.exp(exponents, out=exponents).mean(axis=0)
        peaked = math.log(1.0 - _ALIKE) + peak + np.log(mean)
        return np.logaddexp(peaked, math.log(_ALIKE) + even - self._half_squares[-1])


def likely_tilts(pair: BinnedPair, epsilon: float) -> Tilts:
    """The Gaussians for the divergence at ``epsilon``."""
    bins = pair.bins
    alike = np.full((bins, 1), 1.0 / bins)
    alike = rounded(_fixed_point(pair, alike, epsilon), THETA_BITS)
    full = _fixed_point(pair, np.eye(bins), epsilon)
    found = [(full, np.zeros(bins))]
    found += [_between(pair, alike, part * full, epsilon) for part in _PARTS]
    rates = [
        float(_rates(pair, peaks + alike * multiples).min()) - math.log(bins)
        for peaks, multiples in found
    ]
    least = min(*rates, float(_rates(pair, alike)[0])) + _FARTHEST
    kept = [each for each, rate in zip(found, rates) if rate < least] or found[:1]
    peaks = np.concatenate([each for each, _ in kept], axis=1)
    multiples = np.concatenate([each for _, each in kept])
    return Tilts(pair, alike[:, 0], rounded(peaks, THETA_BITS), rounded(multiples, THETA_BITS))


def _rates(pair: BinnedPair, tilts: Floats) -> Floats:
    """Half the squared distances of N(G v, G) from N(0, G), for the columns v."""
    return np.asarray(0.5 * np.einsum("jv,jv->v", tilts, pair.multiply_gram @ tilts))


def _fixed_point(pair: BinnedPair, starts: Floats, epsilon: float) -> Floats:
    """The tilts that are found from the shares ``starts``, a column each."""
    shares, size = starts, np.ones(starts.shape[1])
    for _ in range(_STEPS):
        size, found = _sized(pair, shares, size, epsilon)
        shares = 0.5 * (shares + found)
    return np.where(shares > _LEAST * shares.max(axis=0), size * shares, 0.0)


def _sized(pair: BinnedPair, shares: Floats, size: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """The multiple of the shares that makes U large enough, and the shares that bins then have."""
    moved = pair.multiply_gram @ shares
    spread = _spread(shares, moved) + math.log(pair.bins)
    for _ in range(6):  # Newton's method for ln U = the aim
        exponents = size * moved - spread
        loss = logsumexp(exponents, axis=0)
        aim = epsilon + np.log1p(1.0 / np.maximum(size - 1.0, 1.0))
        found = np.exp(exponents - loss)
        slope = np.einsum("jv,jv->v", found, moved)
        size = np.clip(size + (aim - loss) / slope, 0.5 * size, 2.0 * size + 1.0)
    return size, found


def _spread(tilts: Floats, moved: Floats) -> Floats:
    """Half the variance of the scores along v: a bin's ratio is averaged over all other noise."""
    along = np.einsum("jv,jv->v", tilts, moved)
    return np.asarray(0.5 * moved**2 / np.maximum(along, 1e-300))


def _between(
    pair: BinnedPair, alike: Floats, peaks: Floats, epsilon: float
) -> tuple[Floats, Floats]:
    """Smaller peaks, with the multiples of ``alike`` that make U large enough."""
    low, high = np.zeros(peaks.shape[1]), np.full(peaks.shape[1], 1.5)
    for _ in range(20):
        middle = 0.5 * (low + high)
        tilts = peaks + middle * alike
        moved = pair.multiply_gram @ tilts
        loss = logsumexp(moved - _spread(tilts, moved), axis=0) - math.log(pair.bins)
        low, high = np.where(loss > epsilon, low, middle), np.where(loss > epsilon, middle, high)
    return peaks, high
