"""From the curve δ(ε) = E[W (1 - e^{ε-L})₊] back to ε: the point, and its confidence limits.

The limits invert a test. For every ε the betting martingale tests "δ(ε) equals the target"; the
bets of an epoch come from past epochs and are those of the cell of ε under test, see ``betting``,
so wealth is monotone in ε within a cell, and the true ε survives with the stated probability.
Testing many ε needs no correction, as only the test at the true ε can err.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy

from simulator.analysis.estimation.betting import Bets, Course, first_kept, power_sums
from simulator.analysis.estimation.wealth import ABOVE, BELOW, Wealth
from simulator.engine.outcomes.log_mean import LogMean
from simulator.engine.outcomes.loss_sample import Excess, LossSample, excess
from simulator.engine.outcomes.points import Points, epoch_starts
from simulator.engine.outcomes.samples import Floats
from simulator.engine.outcomes.weighted_sample import WeightedSample
from simulator.foundations.roots import crossing

_STEP = 1e-6
"""The step of a numerical derivative in ε."""
_INVERTED = 2.0
"""Past trials are inverted anew where they have grown by this factor."""


def point_epsilon(
    signed: Floats, log_weights: Floats, log_delta: float, trials: int | None = None
) -> float:
    """Least ε >= 0 at which the sample's own δ(ε) is at most the target; may be +inf.

    ``trials`` are as many as there are losses, unless these stand for many each. With the losses
    in descending order, δ(ε) = (A_j - e^ε C_j)/n between the j-th and the next one, where A_j sums
    the weights of the j largest and C_j the weights times e^{-L}.
    """
    log_total = log_delta + math.log(trials or signed.size)  # ln(n δ)
    infinite = signed == np.inf
    log_certain = (
        float(scipy.special.logsumexp(log_weights[infinite])) if infinite.any() else -math.inf
    )
    if log_certain > log_total:
        return math.inf
    keep = np.flatnonzero((signed > 0.0) & ~infinite & (log_weights > -np.inf))
    if keep.size == 0:
        return 0.0
    keep = keep[np.argsort(-signed[keep])]
    descending = signed[keep]
    log_mass = np.logaddexp(log_certain, np.logaddexp.accumulate(log_weights[keep]))
    log_decayed = np.logaddexp.accumulate(log_weights[keep] - descending)
    # n δ at ε equal to each loss exceeds the target from some index on
    ends = np.append(descending[1:], 0.0)
    missing = np.minimum(ends + log_decayed - log_mass, 0.0)
    reached = log_mass + np.log(np.maximum(-np.expm1(missing), 1e-300)) > log_total
    if not reached.any():
        return 0.0
    last = int(np.argmax(reached))
    share = -math.expm1(min(log_total - float(log_mass[last]), 0.0))
    root = float(log_mass[last]) + math.log(max(share, 1e-300)) - float(log_decayed[last])
    return min(max(root, float(ends[last])), float(descending[last]))


def relative_error_of_epsilon(
    signed: Floats, log_weights: Floats, point: float, counts: Floats | None = None
) -> float:
    """Delta method: the standard error of δ over the slope of its curve, over ε; inf if unknown.

    ``counts`` are the trials that each loss stands for, one each without them.
    """
    hit = signed > point
    if not 0.0 < point < math.inf or not hit.any():
        return math.inf
    losses, log_w = signed[hit], log_weights[hit]
    trials = signed.size if counts is None else round(float(counts.sum()))
    many = None if counts is None else counts[hit]
    mean = LogMean.of(log_w + np.log(excess(losses, point)), trials, many)
    terms = log_w + point - losses
    slope = float(
        scipy.special.logsumexp(terms if many is None else terms + np.log(many))
    ) - math.log(trials)
    if mean.hits == 0 or slope == -math.inf:
        return math.inf
    return mean.relative_error * math.exp(min(mean.log_value - slope, 700.0)) / point


class Curve(Protocol):
    """A sample as a function of ε: its weighted excess over ε, scaled to be at most 1."""

    @property
    def trials(self) -> int:
        """The number of trials."""

    def excess(self, epsilon: float) -> Points:
        """The weighted excess over ``epsilon``."""

    def first(self, trials: int) -> Curve:
        """The curve of the first trials alone."""

    def suggestion(self, target: float) -> float:
        """The ε at which the mean excess is ``target``."""

    def largest_finite(self, otherwise: float) -> float:
        """The largest finite loss, or ``otherwise`` if that is larger."""


@dataclass(frozen=True)
class WeightedCurve:
    """Losses and their weights, shape (trials,); of ``cuts`` see :class:`Points`."""

    signed: Floats
    weights: Floats
    cuts: tuple[tuple[int, int], ...] = ()

    @property
    def trials(self) -> int:
        """The number of trials."""
        return self.signed.size

    def excess(self, epsilon: float) -> Points:
        """The weighted excess over ``epsilon``."""
        return Points(self.weights * excess(self.signed, epsilon), None, self.cuts)

    def first(self, trials: int) -> WeightedCurve:
        """The curve of the first trials alone."""
        cuts = tuple(cut for cut in self.cuts if cut[0] < trials)
        cuts = (*cuts, (trials, trials)) if cuts else ()
        return WeightedCurve(self.signed[:trials], self.weights[:trials], cuts)

    def suggestion(self, target: float) -> float:
        """The ε at which the mean excess is ``target``."""
        with np.errstate(divide="ignore"):  # a weight of zero has logarithm -inf, as intended
            return point_epsilon(self.signed, np.log(self.weights), math.log(target))

    def largest_finite(self, otherwise: float) -> float:
        """The largest finite loss, or ``otherwise`` if that is larger."""
        finite = self.signed[np.isfinite(self.signed)]
        return max(otherwise, float(finite.max())) if finite.size else otherwise


@dataclass(frozen=True)
class CellsCurve:
    """Weighted losses that were counted, over e^scale; ``ends`` as in :class:`PlainCurve`.

    ``bounded`` says that e^scale bounds the weighted excess, whatever rounding made of it.
    """

    sample: WeightedSample
    log_scale: float
    ends: Callable[[Excess], Points] = lambda found: found.centre
    bounded: bool = False

    @property
    def trials(self) -> int:
        """The number of trials."""
        return self.sample.trials

    def excess(self, epsilon: float) -> Points:
        """The weighted excess over ``epsilon``."""
        logs = self.sample.excess(epsilon)
        return self.ends((logs.bounded if self.bounded else logs.scaled)(self.log_scale))

    def first(self, trials: int) -> CellsCurve:
        """The curve of the first trials, in the middle of their bins."""
        return CellsCurve(self.sample.first(trials), self.log_scale, bounded=self.bounded)

    def suggestion(self, target: float) -> float:
        """The ε at which the mean excess is ``target``."""
        s, log_delta = self.sample, math.log(target) + self.log_scale
        return point_epsilon(s.losses.middles(), s.log_totals(), log_delta, s.trials)

    def largest_finite(self, otherwise: float) -> float:
        """The largest finite loss, or ``otherwise`` if that is larger."""
        return self.sample.losses.largest_finite(otherwise)


@dataclass(frozen=True)
class PlainCurve:
    """Losses of weight 1, of which ``ends`` says how to take those that were counted."""

    sample: LossSample
    ends: Callable[[Excess], Points] = lambda found: found.centre

    @property
    def trials(self) -> int:
        """The number of trials."""
        return self.sample.trials

    def excess(self, epsilon: float) -> Points:
        """The excess over ``epsilon``."""
        return self.ends(self.sample.excess(epsilon))

    def first(self, trials: int) -> PlainCurve:
        """The curve of the first trials, in the middle of their bins."""
        return PlainCurve(self.sample.first(trials))

    def suggestion(self, target: float) -> float:
        """The ε at which the mean excess is ``target``."""
        s = self.sample
        logs = np.zeros(s.least.size) if s.counts is None else np.log(s.counts)
        return point_epsilon(s.middles(), logs, math.log(target), s.trials)

    def largest_finite(self, otherwise: float) -> float:
        """The largest finite loss, or ``otherwise`` if that is larger."""
        return self.sample.largest_finite(otherwise)


@dataclass(frozen=True)
class Inversion:
    """Limits of the ε at which E[w (1 - e^{ε-L})₊] equals ``target``.

    The weights of ``curve`` are scaled so that the weighted excess is at most 1 for every
    ε >= ``floor`` (needed by :meth:`upper` alone); betting begins at trial ``start``, so
    scale and floor may be chosen from the trials before it. For :meth:`lower` leave ``floor`` at 0.
    """

    curve: Curve
    target: float
    alpha: float
    floor: float = field(default=0.0, kw_only=True)
    start: int = field(default=0, kw_only=True)

    def lower(self, point: float) -> float:
        """Every ε below this limit is rejected: there δ(ε) is above the target."""
        high = min(point, self._largest())
        found = self._first_kept(ABOVE, self.floor - 1.0, high)
        if found == high:  # all are rejected up to the point
            return point
        return max(self.floor, found - _outward(found))

    def upper(self, point: float) -> float:
        """Every ε above this limit is rejected: there δ(ε) is below the target; may be +inf."""
        low, high = max(point, self.floor), self._largest()
        if math.isinf(low):
            return math.inf
        found = self._first_kept(BELOW, max(low, high) + 1.0, low)
        if found > max(low, high):
            return math.inf
        return found if found == low else found + _outward(found)

    def _first_kept(self, side: int, far: float, near: float) -> float:
        """The first ε from ``far`` to ``near`` that is not rejected."""
        bets, threshold = self._bets(side), math.log(1.0 / self.alpha)

        def evidence(epsilon: float, sizes: Floats) -> float:
            wealth = Wealth(self.curve.excess(epsilon), bets.starts)
            return wealth.log_peak(self.target, side, sizes) - threshold

        return first_kept(evidence, bets, far, near, _root)

    def _bets(self, side: int) -> Bets:
        """The bets of one side; a larger ε has a smaller excess."""
        course = self._course
        if course.fork is None:
            return course.common(side)
        begin = int(course.starts[course.fork])
        past = self.curve.first(begin)
        suggestion = past.suggestion(self.target)
        if not self.floor < suggestion < self._largest():
            return course.common(side)
        found = past.excess(suggestion)
        slope = (past.excess(suggestion + _STEP).mean() - found.mean()) / _STEP
        if not slope < 0.0:
            return course.common(side)
        step = found.deviation() / math.sqrt(course.length) / -slope
        offsets = course.offsets(side)
        ends = suggestion + step * offsets
        ends = ends[(ends > self.floor) & (ends < self._largest())]
        every = self.curve.first(self.trials)
        sums = np.array([power_sums(every.excess(end), course.starts) for end in ends.tolist()])
        if not ends.size:
            return course.common(side)
        means = np.full(ends.size, self.target)
        return course.bets(side, ends, means, np.moveaxis(sums, 0, 1))

    @property
    def trials(self) -> int:
        """The number of trials."""
        return self.curve.trials

    @cached_property
    def _course(self) -> Course:
        starts = epoch_starts(self.curve.excess(self.floor))
        starts = np.unique(np.append(starts, self.start))
        moments = np.empty((3, starts.size - 1))
        inverted = 0
        for epoch, end in enumerate(starts[:-1].tolist()):
            if epoch == 0 or end >= _INVERTED * inverted:
                now, inverted = np.array(self._moments(end)), max(end, 1)
            moments[:, epoch] = now * (end / inverted)
        return Course.of(starts, moments, self.alpha, self.start)

    def _moments(self, end: int) -> tuple[float, float, float]:
        """Power sums of the first ``end`` weighted excesses at the ε that these trials suggest."""
        if end == 0:
            return 0.0, 0.0, 0.0
        past = self.curve.first(end)
        suggestion = past.suggestion(self.target)
        sample = past.excess(max(self.floor, min(suggestion, self._largest())))
        first, second, third = (float(sample.times(sample.values**p).sum()) for p in (1, 2, 3))
        return first, second, third

    def _largest(self) -> float:
        """Largest finite loss: beyond it the curve is flat."""
        return self.curve.largest_finite(self.floor)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    return crossing(function, low, high, xtol=1e-12, rtol=1e-10)


def _outward(root: float) -> float:
    """A step larger than the root finder's tolerance."""
    return 1e-9 * (1.0 + abs(root))
