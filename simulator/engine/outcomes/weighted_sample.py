"""Weighted losses of one experiment, one by one or counted, and the statistics that estimates need.

A cell of counted losses has the least and the largest of its losses and of its log-weights, and
limits of both means. A trial's contribution to a tail or to the hockey-stick divergence, W 1{L > t}
or W (1 - e^{ε-L})₊, and its mean over a cell have limits: e^x is convex, so its mean over a cell is
between its value at the mean and the chord.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulator.engine.outcomes.log_mean import LogMean
from simulator.engine.outcomes.loss_sample import Excess, LossSample, signed_sample
from simulator.engine.outcomes.samples import Floats, checked_log_weights
from simulator.engine.outcomes.weighted_bins import WeightedBins
from simulator.foundations.errors import NotApplicable

_LARGEST_LOG = 34.0  # values e^34 above the scale are clipped, which can only lower wealth
_ROUNDING = 1e-14  # error of a few additions and exponentials


@dataclass(frozen=True)
class WeightedSample:
    """Losses and their log-weights ln dP_b/dQ; the arrays have one entry per point.

    Attributes
    ----------
    losses : the losses of the points.
    least, largest : float64, the ends of each point's log-weights; one array where all are known.
    low_means, high_means : float64, limits of the mean of each point's log-weights.
    """

    losses: LossSample
    least: Floats
    largest: Floats
    low_means: Floats
    high_means: Floats

    @classmethod
    def of(cls, losses: LossSample, log_weights: ArrayLike) -> WeightedSample:
        """Losses one by one, and a log-weight for each. Raises InvalidInput."""
        log_w = checked_log_weights(log_weights, losses.trials)
        return cls(losses, log_w, log_w, log_w, log_w)

    @classmethod
    def counted(
        cls,
        head: tuple[Floats, Floats],
        parts: Sequence[WeightedBins],
        noted: Mapping[int, float] | None = None,
    ) -> WeightedSample:
        """The first losses and log-weights one by one, the others in parts that follow."""
        losses, log_w = head
        means = [part.weight_means() for part in parts]
        return cls(
            LossSample.counted(losses, [part.losses for part in parts], noted),
            np.concatenate([log_w, *(part.least_weights for part in parts)]),
            np.concatenate([log_w, *(part.largest_weights for part in parts)]),
            np.concatenate([log_w, *(low for low, _ in means)]),
            np.concatenate([log_w, *(high for _, high in means)]),
        )

    @classmethod
    def plain(cls, losses: LossSample) -> WeightedSample:
        """Losses drawn from the experiment itself, with weights 1."""
        zeros = np.zeros(losses.least.size)
        return cls(losses, zeros, zeros, zeros, zeros)

    @property
    def exact(self) -> bool:
        """Whether every loss and every weight is known."""
        return self.losses.exact

    @property
    def trials(self) -> int:
        """How many losses there are."""
        return self.losses.trials

    def one_by_one(self) -> tuple[Floats, Floats]:
        """Every loss and its log-weight; raises InvalidInput where they were counted."""
        return self.losses.losses(), self.least

    def signed(self, experiment: int) -> WeightedSample:
        """L in experiment 0, -L in experiment 1. Raises InvalidInput."""
        return replace(self, losses=signed_sample(self.losses, experiment))

    def first(self, trials: int) -> WeightedSample:
        """The first ``trials``, which are known one by one or end at a cut."""
        losses = self.losses.first(trials)
        columns = (self.least, self.largest, self.low_means, self.high_means)
        return WeightedSample(losses, *(column[: losses.least.size] for column in columns))

    def exchanged(self) -> WeightedSample:
        """The sample weighted for the other experiment: ln dP1/dQ = ln dP0/dQ - L.

        Losses are signed for the experiment that was played. Raises NotApplicable, see
        :func:`simulator.analysis.estimation.exchanged_log_weights`.
        """
        if np.any(self.losses.least == -np.inf):
            raise NotApplicable(
                "a loss is -inf, so it has no weight in experiment 0: draw the sample of "
                "experiment 1 itself"
            )
        if self.exact:
            return WeightedSample.of(self.losses, self.least - self.losses.least)
        bottom, top, low, high = self._decayed()
        return WeightedSample(self.losses, bottom, top, low, high)

    def _decayed(
        self, which: NDArray[np.intp] | slice = slice(None)
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Ends of ln W - L, and limits of its mean, at points where no loss is -inf."""
        losses = self.losses
        bottom = self.least[which] - losses.largest[which]
        top = self.largest[which] - losses.least[which]
        low = np.clip(self.low_means[which] - losses.high_means[which], bottom, top)
        high = np.clip(self.high_means[which] - losses.low_means[which], bottom, top)
        return bottom, top, low, high

    def middles(self) -> Floats:
        """One log-weight per point: the middle of the limits of its mean."""
        if self.exact:
            return self.least
        low, high = self.low_means, self.high_means
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(low), low + (high - low) / 2.0, high)

    def log_totals(self) -> Floats:
        """Logarithm of each point's weight times its trials."""
        counts = self.losses.counts
        return self.middles() if counts is None else self.middles() + np.log(counts)

    def log_mass_above(self, threshold: float) -> float:
        """Upper limit of the logarithm of the mean of W 1{L > threshold}."""
        high = self.above(threshold).high
        return LogMean.of(high, self.trials, self.losses.counts_or_none()).log_value

    def above(self, threshold: float) -> LogSample:
        """W 1{L > threshold} at every point."""
        losses = self.losses
        hit = losses.least > threshold
        if self.exact:
            return LogSample.of(np.where(hit, self.least, -np.inf), losses)
        some = losses.largest > threshold
        low, high = _means_of_exp(self.least, self.largest, self.low_means, self.high_means)
        return LogSample(
            losses,
            np.where(hit, self.least, -np.inf),
            np.where(some, self.largest, -np.inf),
            np.where(hit, low, -np.inf),
            np.where(some, high, -np.inf),
        )

    def excess(self, epsilon: float) -> LogSample:
        """W (1 - e^{ε-L})₊ at every point."""
        found = self.losses.excess(epsilon)
        with np.errstate(divide="ignore"):
            of_losses = [np.log(each) for each in (found.bottom, found.top, found.low, found.high)]
        if self.exact:
            return LogSample.of(self.least + of_losses[0], self.losses)
        bottom, top = self.least + of_losses[0], self.largest + of_losses[1]
        low, high = self.least + of_losses[2], self.largest + of_losses[3]
        # beyond epsilon the mean is that of W minus that of e^ε W e^{-L}, each with narrower limits
        beyond = np.flatnonzero((self.losses.least >= epsilon) & (self.largest > -np.inf))
        if beyond.size:
            tighter_low, tighter_high = self._beyond(epsilon, beyond)
            low[beyond] = np.maximum(low[beyond], tighter_low)
            high[beyond] = np.minimum(high[beyond], tighter_high)
        low, high = np.clip(low, bottom, top), np.clip(high, bottom, top)
        return LogSample(self.losses, bottom, top, np.minimum(low, high), high)

    def _beyond(self, epsilon: float, which: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Limits of the logarithm of the mean of W (1 - e^{ε-L}) at points with L >= ε."""
        scale = self.largest[which]
        columns = (self.least, self.largest, self.low_means, self.high_means)
        weights = _means_of_exp(*(column[which] - scale for column in columns))
        decayed = _means_of_exp(*(column - scale + epsilon for column in self._decayed(which)))
        low = np.exp(weights[0]) - np.exp(decayed[1]) - _ROUNDING
        high = np.exp(weights[1]) - np.exp(decayed[0]) + _ROUNDING
        with np.errstate(divide="ignore"):
            return scale + np.log(np.maximum(low, 0.0)), scale + np.log(high)


def _means_of_exp(
    bottom: Floats, top: Floats, low_mean: Floats, high_mean: Floats
) -> tuple[Floats, Floats]:
    """Limits of ln of the mean of e^x, for x between two ends and with a mean between two limits.

    Jensen's inequality below, the chord above.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        width = top - bottom
        share = np.where(width > 0.0, (high_mean - bottom) / width, 1.0)
        share = np.where(np.isfinite(share), share, 1.0)
        chord = top + np.log1p((1.0 - share) * np.expm1(-np.where(width > 0.0, width, 0.0)))
    return low_mean, np.where(top == -np.inf, top, np.clip(chord, low_mean, top))


@dataclass(frozen=True)
class LogSample:
    """Logarithms of a nonnegative function of the trials; -inf stands for zero.

    Attributes
    ----------
    losses : the losses of the same points.
    bottom, top : float64, shape (points,), the ends at every point; one array where all are known.
    low, high : float64, shape (points,), limits of the logarithm of its mean at every point.
    """

    losses: LossSample
    bottom: Floats
    top: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, logs: Floats, losses: LossSample | None = None) -> LogSample:
        """Logarithms one by one, in the order of the trials; cuts as ``losses`` has them."""
        return cls(LossSample.of(logs) if losses is None else losses, logs, logs, logs, logs)

    @property
    def exact(self) -> bool:
        """Whether every value is known."""
        return self.losses.exact

    @property
    def trials(self) -> int:
        """How many trials there are."""
        return self.losses.trials

    @property
    def centre(self) -> Floats:
        """The logarithm of the middle between the limits of each mean."""
        return self.low if self.exact else np.logaddexp(self.low, self.high) - math.log(2.0)

    def summary(self) -> LogMean:
        """The mean and its diagnostics, at the middle of the limits."""
        found = self._summary(self.centre)
        few, many = self._summary(self.low).hits, found.hits
        return found if self.exact else replace(found, hits=(few + many) // 2)

    def outer(self) -> tuple[LogMean, LogMean]:
        """The mean and its diagnostics, at the lower and the upper limits."""
        low = self._summary(self.low)
        return low, low if self.exact else self._summary(self.high)

    def _summary(self, logs: Floats) -> LogMean:
        return LogMean.of(logs, self.trials, self.losses.counts_or_none())

    def peak(self, trials: int) -> float:
        """Upper limit of the largest logarithm of the first ``trials``."""
        points = self.losses.first(trials).least.size
        return float(self.top[:points].max())

    def scaled(self, scale: float) -> Excess:
        """The values over e^scale, the largest clipped, which may lower their mean."""
        if self.exact:
            return self._over(scale, _LARGEST_LOG)
        known = np.where(self.top - scale > _LARGEST_LOG, self.bottom, self.low)
        return replace(self, low=known)._over(scale, _LARGEST_LOG)

    def bounded(self, log_bound: float) -> Excess:
        """The values over an upper bound of them; ends that exceed it by rounding are clipped."""
        return self._over(log_bound, 0.0)

    def _over(self, scale: float, most: float) -> Excess:
        ends = (self.bottom,) if self.exact else (self.bottom, self.top, self.low, self.high)
        values = [np.exp(np.minimum(end - scale, most)) for end in ends]
        return Excess(self.losses, *(values * 4 if self.exact else values))
