"""Confidence limits for the mean of a [0, 1] variable by betting against every candidate mean.

Source: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting"
(JRSS B, 2023), the hedged capital process with predictable plug-in bets. Against the candidate
mean m the wealth is the product of 1 + λ_i (X_i - m), with λ_i chosen before X_i is observed. It is
a nonnegative martingale if m is the true mean, and reaches 1/α with probability at most α (Ville).
Every candidate at which it does is rejected. The data must be independent with one common mean, in
an order fixed in advance.

Three choices make it fast and sharp:

* bets change only at the starts of *epochs*, whose lengths grow geometrically from either end, so
  that one evaluation of the wealth is a few vector operations, zeros being counted rather than
  visited;
* the size of a bet maximises the probability that the wealth against the limit reaches 1/α by the
  last trial (Kulldorff 1993; Browne 1999), for jumps of the size seen so far (a Poisson
  approximation; the Gaussian one is its limit for many hits). It depends on the wealth reached so
  far, as in Voracek and Orabona, "STaR-Bets" (2025): a bet that aims at what is still missing
  comes within a few percent of the normal interval, one that keeps to a plan within 20%. The
  choice affects only the width: any predictable bet is valid;
* wealth is that of a *representative*: candidates are divided into cells, and all of a cell have
  the bets that suit its end, the candidate that is the hardest to reject. So the bets do not depend
  on the candidate within a cell, and wealth is monotone there: a rejected end rejects its cell, and
  the limit lies in the first cell whose end is not rejected. As every candidate has one test,
  nothing is divided among the cells. They are chosen after an eighth of the trials, before which
  all have the same bets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from simulator.analysis.estimation.estimate import Estimate, estimate_of_mean
from simulator.analysis.estimation.wealth import ABOVE, BELOW, CAP, Wealth
from simulator.engine.outcomes.points import Points, epoch_starts
from simulator.engine.outcomes.samples import Floats, error_level, unit_interval_sample
from simulator.foundations.roots import crossing
from simulator.foundations.validation import open_probability

METHOD = "betting"

_PRIOR = 0.25
"""A prior observation: the largest variance of a [0, 1] variable."""
_LARGEST_LOG = 50.0
"""The largest logarithm of what one hit multiplies wealth by."""
_NEARLY = 1.0 - 1e-12
_AIMED = 0.97
"""The part of the error that bets aim at, as wealth only approaches its aim before the end."""
_PILOT = 8
"""Cells are chosen after one trial in so many."""
_FEWEST = 2000
"""Fewer trials are bet on without cells, ten times as fast."""
_SPACING, _REACH = 0.15, 3.0
"""Between the ends of cells, and how far they reach, in standard deviations of what they end."""

Sums = NDArray[np.float64]
"""Power sums of a sample over its epochs, of shape (3, ..., epochs): x, x^2 and x^3."""


@dataclass(frozen=True)
class Bets:
    """The bets of one side, for cells of candidates.

    Attributes
    ----------
    starts : the first trials of the epochs, then the number of trials.
    side : ABOVE or BELOW.
    ends : shape (cells - 1,), the ends of the cells but of the last, which has none; in the order
        from candidates that are surely rejected.
    sizes : nonnegative, shape (cells, epochs).
    """

    starts: NDArray[np.intp]
    side: int
    ends: Floats
    sizes: Floats


def spread_of(seen: Floats, moments: Floats) -> tuple[Floats, Floats]:
    """The variance and the size of a hit, from raw power sums ``moments``, (3, ...)."""
    first, second, third = moments
    centred = np.maximum(second - first**2 / np.maximum(seen, 1.0), 0.0)
    return (_PRIOR + centred) / (seen + 1.0), (_PRIOR + third) / (_PRIOR + second)


def bet_above(root: Floats, quantile: Floats) -> Floats:
    """The size of a bet that the mean is above the candidate, in units of one over a hit.

    The wealth that reaches 1/α where the sum passes its limit at the end, and nothing elsewhere, is
    Φ(y)/α, with y the ``quantile``: the distance from there in standard deviations of what is left.
    A bet that replicates it multiplies the wealth at a hit by Φ(y + d)/Φ(y), where d is what a hit
    moves: the hedge of a digital option (Kulldorff 1993; Browne 1999). What is left is like a
    Poisson number of hits, of mean ``root``², whose square root is normal.
    """
    after = scipy.special.log_ndtr(quantile + _moved(root - 0.5 * quantile))
    return np.expm1(np.minimum(after - scipy.special.log_ndtr(quantile), _LARGEST_LOG))


def bet_below(root: Floats, quantile: Floats) -> Floats:
    """The size of a bet that the mean is below; a hit multiplies the wealth by Φ(y - d)/Φ(y)."""
    after = scipy.special.log_ndtr(quantile - _moved(root + 0.5 * quantile))
    return -np.expm1(after - scipy.special.log_ndtr(quantile))


def _moved(root: Floats) -> Floats:
    """By how much a hit moves the quantile, at the square root of the hits at the limit."""
    more = np.maximum(root, 0.0) ** 2 - 1.0  # hits at the limit, less one
    with np.errstate(divide="ignore"):
        return np.where(more > 0.0, 2.0 / (root + np.sqrt(np.maximum(more, 0.0))), np.inf)


def power_sums(sample: Points, starts: NDArray[np.intp]) -> Sums:
    """Those of each epoch, shape (3, epochs)."""
    first = sample.place_of(starts)[:-1]
    x, found = sample.values, []
    power = sample.times(x)
    for _ in range(3):
        found.append(np.add.reduceat(power, first))
        power = power * x
    return np.array(found)


@dataclass(frozen=True)
class Course:
    """A betting game before it is played: its epochs, and the bets that all candidates have.

    Attributes
    ----------
    starts : the first trials of the epochs, then the number of trials.
    alpha : the error.
    begin : the trial from which on there are bets.
    above, below : the sizes of the common bets, shape (epochs,).
    """

    starts: NDArray[np.intp]
    alpha: float
    begin: int
    above: Floats
    below: Floats

    @classmethod
    def of(cls, starts: NDArray[np.intp], past: Sums, alpha: float, begin: int = 0) -> Course:
        """The course whose common bets follow a plan; ``past`` are power sums before each epoch."""
        seen = starts[:-1].astype(np.float64)
        length = max(int(starts[-1]) - begin, 1)
        left = np.sqrt(np.minimum((starts[-1] - seen) / length, 1.0))
        variance, hit = spread_of(seen, past)
        half = 0.5 * scipy.special.ndtri(alpha)
        whole = np.sqrt(length * variance) / hit
        quantile = 2.0 * half * left  # of a sum that goes straight to the limit
        # the hits at the limit are fewer, or more, than those that were seen
        above = bet_above(left * np.maximum(whole + half, 0.0), quantile) / hit
        below = bet_below(left * (whole - half), quantile) / hit
        above, below = (np.where(seen >= begin, sizes, 0.0) for sizes in (above, below))
        return cls(starts, alpha, begin, above, below)

    @property
    def length(self) -> int:
        """How many trials are bet on."""
        return max(int(self.starts[-1]) - self.begin, 1)

    @property
    def fork(self) -> int | None:
        """The epoch from which on cells have bets of their own; None where trials are few."""
        if self.length < _FEWEST:
            return None
        epoch = int(np.searchsorted(self.starts - self.begin, self.length / _PILOT))
        return epoch if epoch < self.starts.size - 1 else None

    def offsets(self, side: int) -> Floats:
        """Ends of cells beside a pilot's estimate, in standard deviations of the mean of all.

        In the order from candidates that are surely rejected.
        """
        fork = self.fork
        assert fork is not None
        share = (self.starts[fork] - self.begin) / self.length
        reach = _REACH * math.sqrt(1.0 / share - 1.0)
        steps = np.arange(-reach, reach + _SPACING, _SPACING)
        return side * (steps + scipy.special.ndtri(self.alpha))

    def common(self, side: int) -> Bets:
        """The bets of one cell of all candidates."""
        sizes = self.above if side == ABOVE else self.below
        return Bets(self.starts, side, np.empty(0), sizes[None])

    def bets(self, side: int, ends: Floats, means: Floats, sums: Sums) -> Bets:
        """The bets of cells with these ``ends``, shape (cells - 1,).

        ``means`` are the candidate means there, of the same shape, and ``sums`` those of the sample
        that is played against each, shape (3, cells - 1 or 1, epochs); the last cell has the common
        bets. The wealth that the bets depend on is a lower bound of the wealth of the game: all of
        an epoch's values at one, the same first two power sums kept, for the side ABOVE; with the
        largest later power sums that the third allows for the side BELOW.
        """
        sizes = np.tile(self.common(side).sizes[0], (ends.size + 1, 1))
        log_wealth, done = np.zeros(ends.size), np.zeros(ends.size, dtype=bool)
        past = np.cumsum(sums, axis=2) - sums
        trials, fork = self.starts[-1], self.fork
        room = np.maximum(means if side == ABOVE else 1.0 - means, 1e-300)
        for epoch, (start, end) in enumerate(zip(self.starts[:-1], self.starts[1:])):
            here = np.minimum(sizes[:-1, epoch], CAP / room)
            if fork is not None and epoch >= fork:
                quantile = scipy.special.ndtri_exp(
                    np.minimum(math.log(_AIMED * self.alpha) + log_wealth, -1e-12)
                )
                variance, hit = spread_of(np.array(float(start)), past[:, :, epoch])
                # that of rare hits is in proportion to their mean
                least = _PRIOR / (start + 1.0)
                variance = variance * (means + least) / (past[0, :, epoch] / start + least)
                root = np.sqrt(float(trials - start) * variance) / hit
                chosen = (bet_above if side == ABOVE else bet_below)(root, quantile) / hit
                here = np.where(done, 0.0, np.minimum(chosen, CAP / room))
                sizes[:-1, epoch] = here
            log_wealth += _least_gain(side * here, means, float(end - start), sums[:, :, epoch])
            done |= log_wealth >= -math.log(self.alpha)
        return Bets(self.starts, side, ends, sizes)


def _least_gain(bets: Floats, means: Floats, trials: float, sums: Sums) -> Floats:
    """A lower bound of the sum of ln(1 + bet (x - mean)) over an epoch."""
    first, second, third = sums
    base = np.log1p(-bets * means)
    share = bets / np.exp(base)  # 1 + bet (x - mean) = (1 - bet mean) (1 + share x)
    size = np.divide(second, first, out=np.zeros_like(first), where=first > 0.0)
    count = np.divide(first, size, out=np.zeros_like(first), where=size > 0.0)
    upward = count * np.log1p(np.maximum(share, 0.0) * size)
    down = np.minimum(share, 0.0)
    # ln(1 - s x) is a series in powers of x, of which those from the third on are at most x^3
    rest = np.log1p(np.maximum(down, -_NEARLY)) - down + 0.5 * down**2
    downward = down * first - 0.5 * down**2 * second + third * rest
    return np.asarray(trials * base + upward + downward)


def course_of(sample: Points, alpha: float, begin: int = 0) -> Course:
    """The course of a sample, whose bets come from the epochs before them alone."""
    starts = epoch_starts(sample)
    if begin:
        starts = np.unique(np.append(starts, begin))
    sums = power_sums(sample, starts)
    return Course.of(starts, np.cumsum(sums, axis=1) - sums, alpha, begin)


def bets_on_mean(sample: Points, alpha: float, side: int, begin: int = 0) -> Bets:
    """Bets of one side for candidate means of a sample."""
    course = course_of(sample, alpha, begin)
    if course.fork is None:
        return course.common(side)
    sums = power_sums(sample, course.starts)
    seen = float(course.starts[course.fork])
    first, second, _ = sums[:, : course.fork].sum(axis=1)
    mean = (first + _PRIOR) / (seen + 1.0)
    variance = (_PRIOR + max(second - first**2 / seen, 0.0)) / (seen + 1.0)
    # on the scale of the square root, as the variance of rare hits is in proportion to their mean
    root = math.sqrt(mean) + 0.5 * course.offsets(side) * math.sqrt(
        variance / (mean * course.length)
    )
    ends = root[(root > 0.0) & (root < 1.0)] ** 2
    return course.bets(side, ends, ends, sums[:, None, :])


def betting_lower(sample: ArrayLike, alpha: float) -> float:
    """Lower limit of E X that fails with probability at most ``alpha``; X in [0, 1].

    ``alpha`` as small as 1e-12 is fine. Source and conditions: see the module. Raises InvalidInput.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import betting_lower
    >>> round(betting_lower(np.random.default_rng(0).uniform(size=200), alpha=0.025), 3)
    0.485
    """
    return lower_limit(Points(unit_interval_sample(sample)), open_probability("alpha", alpha))


def betting_upper(sample: ArrayLike, alpha: float) -> float:
    """Upper limit of E X that fails with probability at most ``alpha``; X in [0, 1].

    >>> import numpy as np
    >>> from simulator.analysis.estimation import betting_upper
    >>> round(betting_upper(np.random.default_rng(0).uniform(size=200), alpha=0.025), 3)
    0.595
    """
    return upper_limit(Points(unit_interval_sample(sample)), open_probability("alpha", alpha))


def betting_interval(sample: ArrayLike, confidence: float = 0.95) -> Estimate:
    """Mean of a [0, 1] sample, shape (trials,), with an interval valid at every sample size.

    Source: Waudby-Smith and Ramdas 2023, hedged capital. Raises InvalidInput.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import betting_interval
    >>> print(betting_interval(np.random.default_rng(0).uniform(size=200)))
    0.54 [0.485, 0.595] (95%, betting)
    """
    points = Points(unit_interval_sample(sample))
    alpha = error_level(confidence) / 2.0
    limits = lower_limit(points, alpha), upper_limit(points, alpha)
    return estimate_of_mean(points, limits, confidence, METHOD)


def lower_limit(sample: Points, alpha: float, bets: Bets | None = None) -> float:
    """Lower limit of the mean of a nonnegative variable; ``bets`` are made in advance of the data.

    Without ``bets`` those of :func:`bets_on_mean`.
    """
    bets = bets or bets_on_mean(sample, alpha, ABOVE)
    mean = sample.mean()
    if mean == 0.0:
        return 0.0
    found = first_kept(_evidence(sample, alpha, bets), bets, 0.0, mean, _root)
    return found if found in (0.0, mean) else found * (1.0 - 1e-8)


def upper_limit(sample: Points, alpha: float, bets: Bets | None = None) -> float:
    """``betting_upper`` of points, which may stand for many trials each."""
    bets = bets or bets_on_mean(sample, alpha, BELOW)
    mean = sample.mean()
    found = first_kept(_evidence(sample, alpha, bets), bets, 1.0, mean, _root)
    return found if found == mean else min(1.0, found * (1.0 + 1e-8))


Evidence = Callable[[float, Floats], float]
"""Log-wealth against a candidate above what rejects it, for the sizes of bets of a cell."""


def _evidence(sample: Points, alpha: float, bets: Bets) -> Evidence:
    wealth, threshold = Wealth(sample, bets.starts), math.log(1.0 / alpha)
    return lambda candidate, sizes: wealth.log_peak(candidate, bets.side, sizes) - threshold


def first_kept(
    evidence: Evidence,
    bets: Bets,
    far: float,
    near: float,
    root: Callable[[Callable[[float], float], float, float], float],
) -> float:
    """The first candidate from ``far`` to ``near`` that is not rejected; ``near`` if all are."""
    if far == near:
        return near

    def of_cell(sizes: Floats, candidate: float) -> float:
        return evidence(candidate, sizes)

    sign = 1.0 if far < near else -1.0
    before = far
    for end, sizes in zip([*bets.ends.tolist(), near], bets.sizes):
        end = near if sign * (near - end) <= 0.0 else end
        if evidence(end, sizes) < 0.0:
            if evidence(before, sizes) < 0.0:
                return before
            return root(partial(of_cell, sizes), *sorted((before, end)))
        if end == near:
            break
        before = end
    return near


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Root to nine digits; the callers then step outward by ten times that."""
    return crossing(function, low, high, xtol=1e-300, rtol=1e-9)
