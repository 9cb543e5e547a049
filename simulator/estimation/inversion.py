"""From the curve δ(ε) = E[W (1 - e^{ε-L})₊] back to ε: the point, and its confidence limits.

The limits invert a test. For every ε the betting martingale tests "δ(ε) equals the target"; the
bets of an epoch come from past epochs and do not depend on the ε under test, so wealth is
monotone in ε, the ε that survive form an interval, and the true one survives with the stated
probability. No correction for trying many ε is due: only the test at the true ε can err.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from simulator.deferred import brentq, logsumexp
from simulator.estimation.betting import ABOVE, BELOW, Bets, Wealth, bet_sizes, epoch_starts
from simulator.estimation.log_mean import LogMean
from simulator.estimation.samples import Floats

_EPOCH_GROWTH = 2.0  # each epoch inverts the whole past, so there must be few


def excess(signed: Floats, epsilon: float) -> Floats:
    """(1 - e^{ε-L})₊ for every loss, in [0, 1]; 1 where L = +inf and 0 where L <= ε."""
    return -np.expm1(epsilon - np.maximum(signed, epsilon))


def point_epsilon(signed: Floats, log_weights: Floats, log_delta: float) -> float:
    """Least ε >= 0 at which the sample's own δ(ε) is at most the target; may be +inf.

    With the losses in descending order, δ(ε) = (A_j - e^ε C_j)/n between the j-th and the next
    one, where A_j sums the weights of the j largest and C_j the weights times e^{-L}.
    """
    log_total = log_delta + math.log(signed.size)  # ln(n δ)
    infinite = signed == np.inf
    log_certain = float(logsumexp(log_weights[infinite])) if infinite.any() else -math.inf
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


def relative_error_of_epsilon(signed: Floats, log_weights: Floats, point: float) -> float:
    """Delta method: the standard error of δ over the slope of its curve, over ε; inf if unknown."""
    hit = signed > point
    if not 0.0 < point < math.inf or not hit.any():
        return math.inf
    losses, log_w = signed[hit], log_weights[hit]
    mean = LogMean.of(log_w + np.log(excess(losses, point)), signed.size)
    slope = float(logsumexp(log_w + point - losses)) - math.log(signed.size)
    if mean.hits == 0 or slope == -math.inf:
        return math.inf
    return mean.relative_error * math.exp(min(mean.log_value - slope, 700.0)) / point


@dataclass(frozen=True)
class Inversion:
    """Limits of the ε at which E[w (1 - e^{ε-L})₊] equals ``target``.

    ``weights`` has shape (trials,) and is scaled so that the weighted excess is at most 1 for
    every ε >= ``floor`` (needed by :meth:`upper` alone); betting begins at index ``start``, so
    scale and floor may be chosen from the trials before it. For :meth:`lower` leave ``floor`` at 0.
    """

    signed: Floats
    weights: Floats
    target: float
    alpha: float
    floor: float = field(default=0.0, kw_only=True)
    start: int = field(default=0, kw_only=True)

    def lower(self, point: float) -> float:
        """Every ε below this limit is rejected: there δ(ε) is above the target."""
        gap = self._gap(ABOVE)
        if gap(self.floor) < 0.0:
            return self.floor
        high = min(point, self._largest())
        if gap(high) >= 0.0:
            return point
        root = _root(gap, self.floor, high)
        return max(self.floor, root - _outward(root))

    def upper(self, point: float) -> float:
        """Every ε above this limit is rejected: there δ(ε) is below the target; may be +inf."""
        gap = self._gap(BELOW)
        low, high = max(point, self.floor), self._largest()
        if math.isinf(low) or gap(high) < 0.0:
            return math.inf
        if gap(low) >= 0.0:
            return low
        root = _root(gap, low, high)
        return root + _outward(root)

    def _gap(self, side: int) -> Callable[[float], float]:
        """Log-wealth above the rejection threshold, as a function of ε."""
        bets, threshold = self._bets, math.log(1.0 / self.alpha)

        def gap(epsilon: float) -> float:
            sample = self.weights * excess(self.signed, epsilon)
            return Wealth(sample, bets).log_peak(self.target, side) - threshold

        return gap

    @cached_property
    def _bets(self) -> Bets:
        trials = self.signed.size
        starts = epoch_starts(trials, _EPOCH_GROWTH)
        starts = np.unique(np.append(starts, self.start))
        moments = np.array([self._moments(int(end)) for end in starts[:-1]]).T
        seen = starts[:-1].astype(np.float64)
        above, below = bet_sizes(seen, moments, max(trials - self.start, 1), self.alpha)
        open_ = starts[:-1] >= self.start
        return Bets(starts, np.where(open_, above, 0.0), np.where(open_, below, 0.0))

    def _moments(self, end: int) -> tuple[float, float, float]:
        """Power sums of the first ``end`` weighted excesses at the ε that these trials suggest."""
        if end == 0:
            return 0.0, 0.0, 0.0
        past, weights = self.signed[:end], self.weights[:end]
        with np.errstate(divide="ignore"):  # a weight of zero has logarithm -inf, as intended
            suggestion = point_epsilon(past, np.log(weights), math.log(self.target))
        sample = weights * excess(past, max(self.floor, min(suggestion, self._largest())))
        return float(sample.sum()), float((sample**2).sum()), float((sample**3).sum())

    def _largest(self) -> float:
        """Largest finite loss: beyond it the curve is flat."""
        finite = self.signed[np.isfinite(self.signed)]
        return max(self.floor, float(finite.max())) if finite.size else self.floor


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    return float(brentq(function, low, high, xtol=1e-12, rtol=1e-10))


def _outward(root: float) -> float:
    """A step that certainly covers the root finder's tolerance."""
    return 1e-9 * (1.0 + abs(root))
