"""Weighted losses counted on a fixed grid of losses and log-weights, in any order to the bit.

Losses have the bins of ``bins``, log-weights bins of 2^-7, so a weight is known to within 1% and
the mean of a cell's weights much better: each cell has whole sums of the places of losses and
log-weights in their bins, and by Jensen's inequality and its converse the mean of e^x over a cell
of width h is known to within h²/8. Where more than :data:`MOST_CELLS` cells are occupied, bins of
log-weights are joined in pairs. A part never occupies more cells than the whole, so the final width
does not depend on the order either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.engine.outcomes.bins import MOST, PLACES, LossBins, bin_keys
from simulator.engine.outcomes.samples import Floats, checked_log_weights

Whole = NDArray[np.int64]

MOST_CELLS = 1 << 17
"""Most occupied cells; beyond, neighbours in log-weight are joined."""

WIDEST = 7
"""Most joins of bins of log-weights, to a width of 1."""

_REDUCED: dict[str, np.ufunc] = {
    "keys": np.minimum,
    "weight_keys": np.minimum,
    "counts": np.add,
    "places": np.add,
    "weight_places": np.add,
    "least": np.minimum,
    "largest": np.maximum,
    "least_weights": np.minimum,
    "largest_weights": np.maximum,
}
"""How entries of one cell are combined; the order is that of the stored columns."""

_PER_UNIT = 128.0
_PLACES = 1 << 16
_OUTSIDE = 1 << 30  # log-weights beyond this many bins, including -inf, share a bin at either end


def weight_keys(log_weights: Floats) -> tuple[NDArray[np.int32], Whole]:
    """Each log-weight's bin and its place in it, rounded down."""
    scaled = np.clip(log_weights * _PER_UNIT, -_OUTSIDE - 1.0, _OUTSIDE)
    below = np.floor(scaled)
    return below.astype(np.int32), np.floor((scaled - below) * _PLACES).astype(np.int64)


@dataclass(frozen=True)
class WeightedBins:
    """Losses counted on the grid. All arrays have one entry per cell, ascending by both keys.

    Attributes
    ----------
    keys, weight_keys : int32, the bins of the loss and of the log-weight.
    counts : int64, the trials in the cell, at least 1.
    places, weight_places : int64, the sums of the places of losses and log-weights in their bins.
    least, largest : float64, the least and the largest of the losses.
    least_weights, largest_weights : float64, the same of the log-weights.
    level : how often bins of log-weights were joined in pairs.
    """

    keys: NDArray[np.int32]
    weight_keys: NDArray[np.int32]
    counts: Whole
    places: Whole
    weight_places: Whole
    _: KW_ONLY
    least: Floats
    largest: Floats
    least_weights: Floats
    largest_weights: Floats
    level: int = 0

    @classmethod
    def of(cls, values: Floats, log_weights: Floats) -> WeightedBins:
        """Count losses and their log-weights, float64 of shape (trials,) both.

        Raises InvalidInput for a log-weight that is NaN or +inf.
        """
        # adding 0.0 makes -0.0 plain 0.0, and NaN always the same bits
        values = np.where(np.isnan(values), np.nan, values) + 0.0
        log_w = (checked_log_weights(log_weights, values.size) if values.size else values) + 0.0
        keys, places = bin_keys(values)
        by_weight, weight_places = weight_keys(log_w)
        ones = np.ones(values.size, dtype=np.int64)
        return cls(
            keys, by_weight, ones, places, weight_places,
            least=values, largest=values, least_weights=log_w, largest_weights=log_w,
        )._gathered()._bounded()  # fmt: skip

    @classmethod
    def total(cls, parts: Sequence[WeightedBins]) -> WeightedBins:
        """Return the sum, the same bits for every order and grouping of the parts."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return cls.of(np.zeros(0), np.zeros(0))
        level = max(part.level for part in parts)
        columns = [part._at(level).arrays() for part in parts]
        joined = {name: np.concatenate([each[name] for each in columns]) for name in columns[0]}
        return cls(**joined, level=level)._gathered()._bounded()

    def __add__(self, other: WeightedBins) -> WeightedBins:
        return WeightedBins.total((self, other))

    def _gathered(self) -> WeightedBins:
        """Entries of the same cell added up."""
        if not self.keys.size:
            return self
        cell = self._cells
        order = np.argsort(cell, kind="stable")
        cell = cell[order]
        starts = np.flatnonzero(np.concatenate(([True], cell[1:] != cell[:-1])))

        columns = {}
        for name, column in self.arrays().items():
            columns[name] = _REDUCED[name].reduceat(column[order], starts)
        return WeightedBins(**columns, level=self.level)

    def _at(self, level: int) -> WeightedBins:
        """The same entries with bins of log-weights joined up to a level; none are added up."""
        joins = level - self.level
        if joins == 0:
            return self
        inside = (self.weight_keys & ((1 << joins) - 1)).astype(np.int64)
        return replace(
            self,
            weight_keys=self.weight_keys >> joins,
            weight_places=self.weight_places + self.counts * inside * (_PLACES << self.level),
            level=level,
        )

    def _bounded(self) -> WeightedBins:
        """The bins with the fewest joins that leave at most MOST_CELLS cells."""
        found = self
        while found.keys.size > MOST_CELLS and found.level < WIDEST:
            found = found._at(found.level + 1)._gathered()
        return found

    @cached_property
    def _cells(self) -> Whole:
        return (self.keys.astype(np.int64) << 32) + self.weight_keys

    @property
    def losses(self) -> LossBins:
        """The columns of the losses alone; keys repeat."""
        return LossBins(self.keys, self.counts, self.places, self.least, self.largest)

    @property
    def trials(self) -> int:
        """How many losses were counted."""
        return int(self.counts.sum())

    @property
    def unknown(self) -> int:
        """How many of them are NaN."""
        return int(self.counts[np.isnan(self.least)].sum())

    def weight_means(self) -> tuple[Floats, Floats]:
        """Return limits of the mean of each cell's log-weights, between its least and largest."""
        per_bin = float(_PLACES << self.level)
        mean = self.weight_places / self.counts
        begins = self.weight_keys.astype(np.float64)
        # a place is rounded down by less than one step of the finest bins, the quotient by less
        near = (begins + (mean - 0.5) / per_bin) * ((1 << self.level) / _PER_UNIT)
        far = (begins + (mean + 1.5) / per_bin) * ((1 << self.level) / _PER_UNIT)
        known = np.abs(begins) < (_OUTSIDE >> self.level)
        low = np.where(known, np.clip(near, self.least_weights, self.largest_weights), -np.inf)
        high = np.where(known, np.clip(far, self.least_weights, self.largest_weights), np.inf)
        return np.maximum(low, self.least_weights), np.minimum(high, self.largest_weights)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The columns by name."""
        return {name: getattr(self, name) for name in _REDUCED}

    @classmethod
    def of_columns(cls, columns: Sequence[NDArray[Any]], level: int) -> WeightedBins:
        """Inverse of ``arrays``, of which the columns are the values in order."""
        return cls(**dict(zip(_REDUCED, columns, strict=True)), level=level)

    def problem(self) -> str:
        """Why these cells cannot be those of any losses; empty if they can."""
        if not 0 <= self.level <= WIDEST:
            return "cells of an unknown width"
        if (self._cells[1:] <= self._cells[:-1]).any():  # a difference might overflow
            return "cells out of order"
        if not ((self.counts >= 1) & (self.counts <= MOST)).all():
            return "cells that count nothing, or too much"
        most = self.counts * PLACES, self.counts * (_PLACES << self.level)
        for places, limit in zip((self.places, self.weight_places), most):
            if not ((places >= 0) & (places <= limit)).all():
                return "cells whose places lie outside"
        ends = [bin_keys(end)[0] for end in (self.least, self.largest)]
        weights = (self.least_weights, self.largest_weights)
        if any(np.isnan(end).any() or (end == np.inf).any() for end in weights):
            return "cells with weights that are not numbers"
        by_weight = [weight_keys(end)[0] >> self.level for end in weights]
        outside = any((end != self.keys).any() for end in ends)
        outside |= any((end != self.weight_keys).any() for end in by_weight)
        if outside or (self.least > self.largest).any() or (weights[0] > weights[1]).any():
            return "cells whose ends lie outside"
        return ""
