"""Losses of one experiment, one by one or counted in bins, and the statistics that estimates need.

Of a bin the least and the largest loss and limits of the mean are known. A statistic that depends
on more is returned twice, as a lower and an upper limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulator.engine.outcomes.bins import LossBins
from simulator.engine.outcomes.points import Points
from simulator.engine.outcomes.samples import Floats, signed_losses
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import experiment_number

Whole = NDArray[np.int64]

_PILOT_SHARE = 10  # one trial in ten may set the scale of bets on weights, and is then not bet on


@dataclass(frozen=True)
class LossSample:
    """Losses of shape (points,), each point standing for one trial or for a bin of them.

    Attributes
    ----------
    least, largest : float64, the ends of each point's losses; one array where all are known.
    low_means, high_means : float64, limits of the mean of each point's losses.
    counts : int64, the trials that each point stands for; None where each is one trial.
    cuts : the known order of the points, see :class:`simulator.engine.outcomes.points.Points`.
    noted : the losses of some trials by number, where losses were counted.
    """

    least: Floats
    largest: Floats
    low_means: Floats
    high_means: Floats
    counts: Whole | None = None
    _: KW_ONLY
    cuts: tuple[tuple[int, int], ...] = ()
    noted: Mapping[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, losses: Floats, head: int | None = None) -> LossSample:
        """Every loss, float64 of shape (trials,).

        With ``head`` bets change at head, 2 head, 4 head, ... trials, as for a sample counted in
        bins after its first ``head`` trials.
        """
        cuts = [losses.size]
        if head is not None and head < losses.size:
            cuts = [head << i for i in range(64) if head << i < losses.size] + cuts
        pairs = tuple((cut, cut) for cut in cuts)
        return cls(losses, losses, losses, losses, cuts=pairs if len(pairs) > 1 else ())

    @classmethod
    def counted(
        cls, head: Floats, parts: Sequence[LossBins], noted: Mapping[int, float] | None = None
    ) -> LossSample:
        """The first losses one by one, and the others counted in consecutive parts."""
        parts = [part for part in parts if part.keys.size]
        means = [part.means() for part in parts]
        cuts = [(head.size, head.size)]
        for part in parts:
            cuts.append((cuts[-1][0] + part.trials, cuts[-1][1] + part.keys.size))
        ones = np.ones(head.size, dtype=np.int64)
        return cls(
            np.concatenate([head, *(part.least for part in parts)]),
            np.concatenate([head, *(part.largest for part in parts)]),
            np.concatenate([head, *(low for low, _ in means)]),
            np.concatenate([head, *(high for _, high in means)]),
            np.concatenate([ones, *(part.counts for part in parts)]),
            cuts=tuple(cuts),
            noted=noted or {},
        )

    @property
    def exact(self) -> bool:
        """Whether every loss is known."""
        return self.counts is None

    @property
    def trials(self) -> int:
        """How many losses there are."""
        return self.cuts[-1][0] if self.cuts else self.least.size

    @cached_property
    def unknown(self) -> int:
        """How many of them are NaN."""
        return self.total(np.isnan(self.least))

    def total(self, which: NDArray[np.bool_]) -> int:
        """The trials of the points that are marked."""
        return int(np.count_nonzero(which) if self.counts is None else self.counts[which].sum())

    def pilots(self) -> tuple[int, ...]:
        """Numbers of first trials to set the scale of the bets, to be tried in turn.

        A tenth of all. Where bets change at cuts, first the trials that are known one by one, which
        set the same scale whether the others were counted or not; then those up to a cut.
        """
        tenth = max(1, self.trials // _PILOT_SHARE)
        cuts = [trials for trials, _ in self.cuts]
        if not cuts or cuts[0] >= tenth:
            return (tenth,)
        return cuts[0], max(trials for trials in cuts if trials <= tenth)

    def counts_or_none(self) -> Floats | None:
        """The trials that each point stands for, as floats; None where each is one trial."""
        return None if self.counts is None else self.counts.astype(np.float64)

    def of_trial(self, trial: int) -> float:
        """The loss of one trial; one of ``noted`` where losses were counted."""
        return float(self.least[trial]) if self.exact else self.noted[trial]

    def losses(self) -> Floats:
        """Every loss; raises InvalidInput where they were counted."""
        if not self.exact:
            raise InvalidInput(
                "this result keeps a summary of its losses, not each of them:  play with "
                'keep="losses"'
            )
        return self.least

    def middles(self) -> Floats:
        """One loss per point: the middle of the limits of its mean."""
        if self.exact:
            return self.least
        low, high = self.low_means, self.high_means
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(low), low + (high - low) / 2.0, low)

    def negated(self) -> LossSample:
        """The sample of -L."""
        if self.exact:
            negative = -self.least
            return LossSample(negative, negative, negative, negative, cuts=self.cuts)
        return LossSample(
            -self.largest, -self.least, -self.high_means, -self.low_means, self.counts,
            cuts=self.cuts, noted=self.noted,
        )  # fmt: skip

    def first(self, trials: int) -> LossSample:
        """The first ``trials``, which are known one by one or end at a cut."""
        points = int(Points(self.least, None, self.cuts).place_of(np.array([trials]))[0])
        cuts = tuple(cut for cut in self.cuts if cut[0] < trials)
        counts = None if self.counts is None else self.counts[:points]
        ends = (*cuts, (trials, points)) if cuts or counts is not None else ()
        if self.exact:
            one = self.least[:points]
            return LossSample(one, one, one, one, cuts=ends)
        return LossSample(
            self.least[:points], self.largest[:points],
            self.low_means[:points], self.high_means[:points], counts, cuts=ends,
        )  # fmt: skip

    def count_above(self, thresholds: Floats) -> tuple[Whole, Whole]:
        """Lower and upper limits of the number of losses above each threshold."""
        few = self._count_above(self.least, thresholds)
        return few, few if self.exact else self._count_above(self.largest, thresholds)

    def _count_above(self, values: Floats, thresholds: Floats) -> Whole:
        if thresholds.ndim == 0 or thresholds.size == 1:  # counting is faster than sorting
            return np.full(thresholds.shape, self.total(values > thresholds), dtype=np.int64)
        if self.counts is None:
            place = np.searchsorted(np.sort(values), thresholds, side="right")
            return np.asarray(self.trials - place, dtype=np.int64)
        order = np.argsort(values)
        below = np.concatenate(([0], np.cumsum(self.counts[order])))
        place = np.searchsorted(values[order], thresholds, side="right")
        return np.asarray(self.trials - below[place], dtype=np.int64)

    def at_ranks(self, ranks: Whole) -> Floats:
        """The losses of these ranks, from 0 in ascending order; of a bin, its largest."""
        if self.counts is None:
            return np.asarray(np.sort(self.least)[ranks])
        order = np.argsort(self.largest)
        place = np.searchsorted(np.cumsum(self.counts[order]), ranks, side="right")
        return np.asarray(self.largest[order][place])

    def finite_quantiles(self, shares: Sequence[float]) -> Floats:
        """Quantiles of the finite losses; of a bin its largest. Empty where none is finite."""
        finite = np.isfinite(self.least)
        if not finite.any():
            return np.zeros(0)
        if self.counts is None:
            return np.quantile(self.least[finite], shares)
        below = self.total(self.least == -np.inf)
        last = self.total(finite) - 1
        return self.at_ranks(below + np.rint(np.asarray(shares) * last).astype(np.int64))

    def largest_finite(self, otherwise: float) -> float:
        """The larger of ``otherwise`` and the largest finite loss."""
        finite = self.largest[np.isfinite(self.largest)]
        return float(max(otherwise, finite.max())) if finite.size else otherwise

    def excess(self, epsilon: float) -> Excess:
        """(1 - e^{ε-L})₊ of every loss."""
        bottom = excess(self.least, epsilon)
        if self.exact:
            return Excess(self, bottom, bottom, bottom, bottom)
        top = excess(self.largest, epsilon)
        wide = np.flatnonzero((self.largest > self.least) & (self.largest > epsilon))
        low, high = bottom.copy(), top.copy()
        a, b = self.least[wide], self.largest[wide]
        # where the curve is concave: above its chord, and below its value at the mean (Jensen)
        reach = np.maximum(a, epsilon)
        share = np.maximum(self.low_means[wide] - reach, 0.0) / (b - reach)
        low[wide] += share * (top[wide] - bottom[wide])
        kink = a < epsilon
        at_mean = excess(self.high_means[wide], epsilon)
        high[wide] = np.where(kink, self.high_means[wide] - a, at_mean)
        low, high = np.clip(low, bottom, top), np.clip(high, bottom, top)
        return Excess(self, bottom, top, np.minimum(low, high), high)


@dataclass(frozen=True)
class Excess:
    """A nonnegative function of the trials, with its limits at every point.

    Attributes
    ----------
    bottom, top : float64, shape (points,), its ends.
    low, high : float64, shape (points,), limits of its mean.
    """

    sample: LossSample
    bottom: Floats
    top: Floats
    low: Floats
    high: Floats

    @cached_property
    def centre(self) -> Points:
        """Every point at the middle of the limits of its mean."""
        return self.at(self.low if self.sample.exact else (self.low + self.high) / 2.0)

    def at(self, values: Floats) -> Points:
        """All trials of a point at one value, which maximises a bet's wealth for these means."""
        return Points(values, self.sample.counts_or_none(), self.sample.cuts)

    def spread(self, means: Floats) -> Points:
        """The trials of a point at its two ends, which minimises a bet's wealth for these means.

        The logarithm is concave, so its mean is least for the widest law.
        """
        counts = self.sample.counts
        if counts is None:
            return self.at(means)
        width = self.top - self.bottom
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(width > 0.0, (means - self.bottom) / width, 0.0)
        values, weights = np.empty(2 * width.size), np.empty(2 * width.size)
        values[0::2], values[1::2] = self.bottom, self.top
        weights[0::2], weights[1::2] = counts * (1.0 - share), counts * share
        cuts = tuple((trials, 2 * points) for trials, points in self.sample.cuts)
        return Points(values, weights, cuts, stride=2)


def excess(signed: Floats, epsilon: float) -> Floats:
    """(1 - e^{ε-L})₊ for every loss, in [0, 1]; 1 where L = +inf and 0 where L <= ε."""
    return -np.expm1(epsilon - np.maximum(signed, epsilon))


def signed_sample(losses: ArrayLike | LossSample, experiment: int) -> LossSample:
    """Losses of the experiment whose views were drawn: L in experiment 0, -L in experiment 1.

    An array has shape (trials,); infinite losses are allowed, NaN is not. Raises InvalidInput.
    """
    if not isinstance(losses, LossSample):
        return LossSample.of(signed_losses(losses, experiment))
    if losses.unknown:
        raise InvalidInput("losses holds NaN: find the trial that produced it")
    return losses.negated() if experiment_number(experiment) else losses
