"""Numbers that may stand for many trials each, and what is known of the order they came in.

A betting test changes its bets at the starts of epochs, each bet chosen from earlier epochs alone;
within an epoch the order is of no account. A sample that was counted keeps its first trials one by
one, and of the rest only between which *cuts* they lie. Bets then change at the cuts.
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
    cuts : pairs (trials, points): so many of the trials are so many of the points. The first
        trials, up to the first cut, are known one by one; the last cut is the end. Without any
        cut all are.
    stride : how many points stand for each of those first trials together.
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
        """The points before each of these numbers of trials, of the head or at a cut."""
        known = dict(self.cuts)
        places = [
            known[int(t)] if int(t) in known else int(t) * self.stride for t in trials.tolist()
        ]
        return np.array(places, dtype=np.intp)

    def times(self, numbers: Floats) -> Floats:
        """One number per point, times the trials that it stands for."""
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


def epoch_starts(sample: Points, growth: float) -> NDArray[np.intp]:
    """First trial of every epoch, then the number of trials; epochs grow by ``growth``.

    So they do as far as the trials are known one by one; then there is one from cut to cut.
    """
    starts = [0]
    while starts[-1] < sample.head:
        starts.append(min(sample.head, max(starts[-1] + 1, int(starts[-1] * growth))))
    starts.extend(trials for trials, _ in sample.cuts[1:])
    return np.array(starts, dtype=np.intp)
