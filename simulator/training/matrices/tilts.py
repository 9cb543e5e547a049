"""Gaussians around likely scores at which U is a little above e^epsilon.

The likeliest scores with a given U are G v, where v is a multiple of the shares of the bins in U at
them. There is one such point where all bins are alike, and one around each bin, where that bin and
its neighbours have most of U.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import logsumexp

from simulator.engine.sampling import THETA_BITS, rounded
from simulator.training.matrices.pairs import BinnedPair, lighter
from simulator.training.matrices.parts import Drawn

Floats = NDArray[np.float64]

_STEPS = 40
_NARROW = 0.6
"""The standard deviation along v around one bin, where the excess falls off faster than Q does."""
_LEAST = 1e-3
"""Shares smaller than this part of the largest one are left out."""


@dataclass(frozen=True)
class Tilts:
    """A mixture of Gaussians with means G v, uniform over the columns v.

    Along v, y = <v, z>/|v| with |v|^2 = v^T G v is N(|v|, width^2); the rest is as in N(0, G).

    Attributes
    ----------
    pair : P and Q.
    tilts : float64, shape (bins, columns).
    width : of y.
    """

    pair: BinnedPair
    tilts: Floats
    width: float

    @cached_property
    def _lengths(self) -> Floats:
        moved = self.pair.multiply_gram @ self.tilts
        return np.asarray(np.sqrt(np.einsum("jv,jv->v", self.tilts, moved)))

    @cached_property
    def _directions(self) -> Floats | scipy.sparse.csr_array:
        return lighter(np.ascontiguousarray((self.tilts / self._lengths).T))

    def draw(self, draws: int, generator: np.random.Generator) -> Floats:
        """Scores, shape (bins, draws)."""
        place = generator.integers(self.tilts.shape[1], size=draws)
        noise = generator.standard_normal((self.pair.bins, draws))
        scores = np.asarray(self.pair.multiply_factor @ noise)
        tilts, lengths = self.tilts[:, place], self._lengths[place]
        along = np.einsum("jd,jd->d", tilts, scores) / lengths
        change = lengths + (self.width - 1.0) * along
        return np.asarray(scores + self.pair.multiply_gram @ (tilts * (change / lengths)))

    def log_ratio(self, drawn: Drawn) -> Floats:
        """Ln of its density over that of Q."""
        along = np.asarray(self._directions @ drawn.scores)
        # y^2/2 - (y - |v|)^2/(2 width^2) is a multiple of (y - center)^2, and a constant
        bend = 0.5 * (1.0 / self.width**2 - 1.0)
        slope = self._lengths / self.width**2
        exponents = along * (slope[:, None] - bend * along)
        exponents -= 0.5 * (self._lengths**2 / self.width**2)[:, None]
        peak = exponents.max(axis=0)
        exponents -= peak
        mean = np.exp(exponents, out=exponents).mean(axis=0)
        return np.asarray(peak + np.log(mean) - math.log(self.width))


def likely_tilts(pair: BinnedPair, epsilon: float) -> tuple[Tilts, Tilts]:
    """The Gaussians around one bin each, and the one of all bins alike."""
    bins = pair.bins
    full = _fixed_point(pair, np.eye(bins), epsilon)
    alike = _fixed_point(pair, np.full((bins, 1), 1.0 / bins), epsilon)
    return (
        Tilts(pair, rounded(full, THETA_BITS), _NARROW),
        Tilts(pair, rounded(alike, THETA_BITS), 1.0),
    )


def _fixed_point(pair: BinnedPair, starts: Floats, epsilon: float) -> Floats:
    """The tilts that are found from the shares ``starts``, a column each."""
    shares, size = starts, np.ones(starts.shape[1])
    for _ in range(_STEPS):
        size, found = _sized(pair, shares, size, epsilon)
        shares = 0.5 * (shares + found)
    return np.where(shares > _LEAST * shares.max(axis=0), size * shares, 0.0)


def _sized(pair: BinnedPair, shares: Floats, size: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """The multiple of the shares that makes U large enough, and the shares that bins then have.

    A bin's ratio is averaged over all noise but that along v.
    """
    moved = pair.multiply_gram @ shares
    along = np.maximum(np.einsum("jv,jv->v", shares, moved), 1e-300)
    spread = 0.5 * moved**2 / along + math.log(pair.bins)
    for _ in range(6):  # Newton's method for ln U = the aim
        exponents = size * moved - spread
        loss = logsumexp(exponents, axis=0)
        aim = epsilon + np.log1p(1.0 / np.maximum(size - 1.0, 1.0))
        found = np.exp(exponents - loss)
        slope = np.einsum("jv,jv->v", found, moved)
        size = np.clip(size + (aim - loss) / slope, 0.5 * size, 2.0 * size + 1.0)
    return size, found
