"""Certified ends for balls in bins with bands, see ``simulator/theory/lemmas/cyclic-bands.md``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.foundations.errors import NotApplicable
from simulator.theory.bracket import Bracket
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.training.laws.allocation import AllocationLaw
from simulator.training.laws.moving_averages import SLACK, MovingAverage
from simulator.training.laws.transform_ends import TransformEnds, error_share
from simulator.training.matrices.pairs import BinnedPair

_MOST_LAGS = 4
_SHARE, _LARGEST = 2.0**-6, 500.0
_WORK = 1.6e9
"""Of either end, see MovingAverage.work: some five seconds."""
_SPREADS = (0.0, 0.01, 0.03, 0.1)
"""Shares of the variance of a score that are made independent, for spectra near 0."""


@dataclass(frozen=True, eq=False)
class BandedEnds:
    """Certified ends of a pair whose bins are correlated with their neighbours alone.

    Kahane's inequality: divergences do not fall when an entry of G rises. ``upper`` has entries
    that are at least those of G, ``lower`` at most.
    """

    pair: BinnedPair

    @cached_property
    def width(self) -> int:
        """How many lags are not 0, around the circle; raises NotApplicable for none or many."""
        lags = np.nonzero(self.pair.gram)
        apart = np.abs(lags[0] - lags[1])
        width = 1 + int(np.minimum(apart, self.pair.bins - apart).max())
        if width > _MOST_LAGS or self.pair.bins < 3 * width or (self.pair.gram < 0.0).any():
            raise NotApplicable(
                f"certified ends are of bands over at most {_MOST_LAGS} bins, of three times as "
                f"many bins: not {width} of {self.pair.bins}"
            )
        return width

    @cached_property
    def cyclic(self) -> bool:
        """Whether the last bins meet the first."""
        return bool(np.any(self.pair.gram[: self.width, -self.width :] != 0.0))

    @cached_property
    def larger(self) -> AllocationLaw:
        """A law that is larger in convex order.

        Bins a width apart have independent ratios, and U is a mean of such means.
        """
        longest = math.sqrt(float(np.max(np.diagonal(self.pair.gram))) * (1.0 + SLACK))
        bins = self.pair.bins - (self.width - 1 if self.cyclic else 0)
        return AllocationLaw(GaussianLaw(longest), max(bins // self.width, 1))

    @cached_property
    def smaller(self) -> AllocationLaw:
        """A law that is smaller in convex order: all bins are independent, and as the shortest."""
        shortest = math.sqrt(float(np.min(np.diagonal(self.pair.gram))) * (1.0 - SLACK))
        return AllocationLaw(GaussianLaw(shortest), self.pair.bins)

    def upper(self, spread: float, ratio_error: float, outside: float) -> MovingAverage:
        """Larger scores. A ring is a mean of its chains without w - 1 bins in a row."""
        gram, bins, w = self.pair.gram, self.pair.bins, self.width
        around = (np.arange(bins) + np.arange(w)[:, None]) % bins
        most = np.array([gram[np.arange(bins), each].max() for each in around])
        most[0] *= 1.0 + spread
        terms = bins - (w - 1 if self.cyclic else 0)
        made = MovingAverage(
            most * (1.0 + SLACK), terms, np.zeros(0), ratio_error=ratio_error, outside=outside
        )
        lags = np.r_[made.gram[0, :w], np.zeros(bins - w)]
        for lag in range(bins):
            if (
                gram[np.arange(bins), (np.arange(bins) + lag) % bins] > max(lags[lag], lags[-lag])
            ).any():
                raise NotApplicable("the covariances of the chain are not above those of the pair")
        return made

    def lower(self, spread: float, ratio_error: float, outside: float) -> MovingAverage:
        """Smaller scores, of a chain whose last are smaller still: their bins are shorter."""
        gram, bins, w = self.pair.gram, self.pair.bins, self.width
        first = gram[0, :w] * (1.0 - SLACK)
        first[1:] *= 1.0 - spread
        made = MovingAverage(
            first, bins, np.ones(w - 1), ratio_error=ratio_error, outside=outside,
            most_free=0.99 * float(np.diagonal(gram).min()),
        )  # fmt: skip
        moving = first[0] - made.free
        for index in range(w - 1):
            place = bins - w + 1 + index
            share = math.sqrt(max((gram[place, place] - made.free) / moving, 0.0))
            for lag in range(1, w):
                if first[lag] > 0.0:
                    before = made.shrinking[index - lag] if lag <= index else 1.0
                    share = min(share, gram[place, place - lag] / (first[lag] * before))
            made.shrinking[index] = min(share * (1.0 - SLACK), 1.0)
        if (made.gram > gram).any():
            raise NotApplicable("the covariances of the chain are not below those of the pair")
        return made

    def ends(self, delta: float, epsilon: float) -> tuple[TransformEnds, TransformEnds]:
        """The ends for a delta near this one and epsilons up to this one."""
        found, share = [], error_share(delta)
        for build in (self.lower, self.upper):
            for spread in _SPREADS:
                average = build(spread, share, share * delta)
                try:
                    most = int(_WORK / average.work)
                    break
                except NotApplicable:
                    if spread == _SPREADS[-1]:
                        raise
            found.append(
                TransformEnds.at(average, self.larger, delta, epsilon, min(max(most, 8), 5000))
            )
        return found[0], found[1]

    def epsilon(self, delta: float) -> Bracket:
        """A bracket of the epsilon at this delta, in the worse direction."""
        most = _least(lambda x: self._simple(x)[1] <= delta, 0.0, _LARGEST)
        least = _least(lambda x: self._simple(x)[0] < delta, 0.0, most, low_side=True)
        ends = self._transforms(delta, most)
        if ends is None:
            return Bracket(least, most)
        high = _least(lambda x: self._narrowed(ends, x)[1] <= delta, 0.0, most)
        low = _least(lambda x: self._narrowed(ends, x)[0] < delta, least, high, low_side=True)
        return Bracket(max(least, min(low, high)), high)

    def delta(self, epsilon: float) -> Bracket:
        """A bracket of the delta at this epsilon, in the worse direction."""
        simple = self._simple(epsilon)
        ends = self._transforms(simple[1], epsilon) if simple[1] > 0.0 else None
        return Bracket(*(simple if ends is None else self._narrowed(ends, epsilon)))

    def _transforms(
        self, delta: float, epsilon: float
    ) -> tuple[TransformEnds, TransformEnds] | None:
        """The ends by transforms; None where they cannot be had."""
        if self.width == 1 or epsilon >= _LARGEST:
            return None
        try:
            return self.ends(delta, epsilon)
        except NotApplicable:
            return None

    def _simple(self, epsilon: float) -> tuple[float, float]:
        """Ends of delta by independent ratios alone."""
        lower = max(
            end.delta(epsilon + end.loss_error)
            for law in (self.smaller, self.smaller.reversed())
            for end in (law.ends(_SHARE)[0],)
        )
        upper = max(law.delta(epsilon) for law in (self.larger, self.larger.reversed()))
        return min(lower, upper), upper

    def _narrowed(
        self, ends: tuple[TransformEnds, TransformEnds], epsilon: float
    ) -> tuple[float, float]:
        """Ends of delta by all that is known."""
        lower, upper = ends
        laws = (self.larger, self.larger.reversed())
        most = max(
            min(one, law.delta(epsilon))
            for one, law in zip((upper.addition(epsilon)[1], upper.removal(epsilon)[1]), laws)
        )
        least = max(lower.addition(epsilon)[0], lower.removal(epsilon)[0])
        return min(max(least, self._simple(epsilon)[0]), most), most


def _least(  # type: ignore[no-untyped-def]
    holds, low: float, high: float, *, low_side: bool = False
) -> float:
    """About the least point at which something holds; it holds there, or not on the low side."""
    if holds(low):
        return low
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low if low_side else high
