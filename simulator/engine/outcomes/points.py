"""Numbers that stand for one or many trials each, and the known part of their order.

A betting test changes its bets at the starts of epochs, each bet chosen from earlier epochs alone;
within an epoch the order does not matter. A counted sample keeps its first trials one by one, and
the order of the rest only up to *cuts*, at which bets change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.engine.outcomes.samples import Floats


@dataclass(frozen=True)
class Points:
    """A sample of numbers.

    Attributes
    ----------
    values : float64, shape (points,).
    counts : float64, shape (points,), how many trials each stands for; None for one each.
    cuts : pairs (trials, points): the first ``trials`` are the first ``points``. Trials up to the
        first cut are known one by one; the last cut is the end. Without cuts all are.
    stride : the number of points per trial before the first cut.
    """

    values: Floats
    counts: Floats | None = None
    cuts: tuple[tuple[int, int], ...] = ()
    stride: int = 1

    @property
    def trials(self) -> int:
        """How many trials the points stand for."""
        return self.cuts[-1][0] if self.cuts else self.values.size // self.stride

    @property
    def head(self) -> int:
        """How many trials are known one by one."""
        return self.cuts[0][0] if self.cuts else self.trials

    def place_of(self, trials: NDArray[np.intp]) -> NDArray[np.intp]:
        """The number of points before each number of trials, in the head or at a cut."""
        known = dict(self.cuts)
        places = [
            known[int(t)] if int(t) in known else int(t) * self.stride for t in trials.tolist()
        ]
        return np.array(places, dtype=np.intp)

    def times(self, numbers: Floats) -> Floats:
        """Each point's number times its trials."""
        return numbers if self.counts is None else numbers * self.counts

    def mean(self) -> float:
        """The mean over the trials."""
        if self.counts is None:
            return float(self.values.mean())
        return float(self.times(self.values).sum()) / self.trials

    def deviation(self) -> float:
        """The standard deviation over the trials."""
        if self.counts is None:
            return float(self.values.std())
        squares = self.times((self.values - self.mean()) ** 2)
        return math.sqrt(float(squares.sum()) / self.trials)

    def hits(self) -> int:
        """How many trials are not zero."""
        if self.counts is None:
            return int(np.count_nonzero(self.values))
        return round(float(self.counts[self.values != 0.0].sum()))


_FROM_START, _FROM_END = 1.1, 1.2
"""The ratios of the distances of two successive starts of epochs from an end."""
_FINEST = 1000
"""Epochs near the end have at least one trial in so many."""


def epoch_starts(sample: Points) -> NDArray[np.intp]:
    """First trial of every epoch, then the number of trials.

    The distances of successive starts from the first trial, and from the last, grow geometrically.
    After the trials that are known one by one there is one epoch from cut to cut.
    """
    head = sample.head
    from_start = _distances(head, 1, _FROM_START)
    from_end = (
        [] if sample.cuts else [head - d for d in _distances(head, head // _FINEST, _FROM_END)]
    )
    later = [trials for trials, _ in sample.cuts[1:]]
    return np.unique(np.array([*from_start, *from_end, *later], dtype=np.intp))


def _distances(most: int, least: int, growth: float) -> list[int]:
    found = [0]
    while found[-1] < most:
        found.append(min(most, max(found[-1] + max(least, 1), int(found[-1] * growth))))
    return found
