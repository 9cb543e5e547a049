"""Losses counted in bins of a fixed grid, so that sums do not depend on the order.

A bin holds the numbers that share their sign, their decade and their first four significant digits,
rounded away from 0; below 0.01 it is 1e-6 wide. So a threshold of up to four digits is the end of a
bin, which includes the losses equal to it, and bins are narrow relative to their losses at every
scale. Per bin there are the number of losses, the least and the largest of them, and the sum of
where in the bin they lie, in units of 2^-24 of its width: whole numbers, and floats that are only
compared, so that sums have no rounding. Losses on a lattice have equal least and largest, up to
their own rounding, so no information is lost. Infinite and unknown (NaN) losses have their own
bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

MOST = 1 << 38
"""Most losses that may be counted, so that sums of places in a bin are below 2^62."""

PLACES = 1 << 24
"""Steps per bin, to which the place of a loss is rounded down."""

_LEADING = 4  # significant digits
_TIES = 1e-9  # of a bin: tolerance for rounding at the end of a bin
_KEYS = 1 << 14  # per decade
_SMALLEST = -2  # below 10 to this power bins are as wide as just above
_DECADES = 10.0 ** np.arange(_SMALLEST, 309)
_STEPS = 10.0 ** (np.arange(_SMALLEST, 310) - _LEADING)
_PER_UNIT = np.where(_STEPS < 1.0, np.round(1.0 / _STEPS), 1.0 / _STEPS)
_INFINITE = np.iinfo(np.int32).max - 1
_UNKNOWN = np.iinfo(np.int32).max


def bin_keys(values: Floats) -> tuple[NDArray[np.int32], Whole]:
    """Each number's bin and its place in it; keys ascend with the numbers, NaN last.

    Places count from the end of the bin nearer to 0.
    """
    size = np.abs(values)
    ordinary = np.isfinite(values)
    size = np.where(ordinary, size, 0.0)
    decade = np.searchsorted(_DECADES, size, side="right")
    scaled = size * _PER_UNIT[decade]
    digits = np.maximum(np.ceil(scaled - _TIES), 0.0)
    inside = scaled - np.maximum(digits - 1.0, 0.0)
    places = np.clip(np.floor(inside * PLACES), 0, PLACES).astype(np.int64)
    keys = (decade * _KEYS + digits).astype(np.int32)
    keys = np.where(ordinary, keys, _INFINITE)
    keys = np.where(np.signbit(values) & (values < 0.0), -1 - keys, keys)
    return np.where(np.isnan(values), _UNKNOWN, keys).astype(np.int32), places


def distances(keys: NDArray[np.int32]) -> tuple[Floats, Floats]:
    """Distances from 0 at which bins of finite numbers begin, and their widths."""
    towards = np.where(keys < 0, -1 - keys, keys)
    decade, digits = np.divmod(towards, _KEYS)
    per_unit = _PER_UNIT[decade]
    return np.maximum(digits - 1, 0) / per_unit, 1.0 / per_unit


@dataclass(frozen=True)
class LossBins:
    """Numbers counted on the grid. All arrays have one entry per bin, in the order of the keys.

    Attributes
    ----------
    keys : int32, ascending.
    counts : int64, the numbers in the bin, at least 1.
    places : int64, the sum of their places in the bin.
    least, largest : float64, the least and the largest of them.
    """

    keys: NDArray[np.int32]
    counts: Whole
    places: Whole
    least: Floats
    largest: Floats

    @classmethod
    def of(cls, values: Floats) -> LossBins:
        """Count the numbers, float64 of shape (trials,)."""
        # adding 0.0 makes -0.0 plain 0.0; sorting puts NaN last, whatever its bits
        ascending = np.sort(np.asarray(values, dtype=np.float64) + 0.0)
        keys, places = bin_keys(ascending)
        starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))[: keys.size]
        stops = np.append(starts[1:], keys.size)[: starts.size]
        return cls(
            keys[starts],
            (stops - starts).astype(np.int64),
            np.add.reduceat(places, starts) if keys.size else places,
            ascending[starts],
            ascending[stops - 1],
        )

    @classmethod
    def total(cls, parts: Sequence[LossBins]) -> LossBins:
        """Return the sum, the same bits for every order and grouping of the parts."""
        if len(parts) == 1:
            return parts[0]
        keys = np.concatenate([part.keys for part in parts] or [np.zeros(0, np.int32)])
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        if not keys.size:
            return cls.of(np.zeros(0))
        starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))

        def reduced(name: str, operation: np.ufunc) -> NDArray[Any]:
            joined = np.concatenate([getattr(part, name) for part in parts])[order]
            return np.asarray(operation.reduceat(joined, starts))

        return cls(
            keys[starts],
            reduced("counts", np.add),
            reduced("places", np.add),
            reduced("least", np.minimum),
            reduced("largest", np.maximum),
        )

    def __add__(self, other: LossBins) -> LossBins:
        return LossBins.total((self, other))

    @property
    def trials(self) -> int:
        """How many numbers were counted."""
        return int(self.counts.sum())

    @property
    def unknown(self) -> int:
        """How many of them are NaN."""
        return int(self.counts[-1]) if self.keys.size and self.keys[-1] == _UNKNOWN else 0

    def means(self) -> tuple[Floats, Floats]:
        """Return limits of the mean of each bin's numbers, between its least and largest."""
        with np.errstate(invalid="ignore"):
            finite = np.isfinite(self.least)
        begins, widths = distances(np.where(finite, self.keys, 0))
        # a place is rounded down by less than one step, plus at most one for rounding errors
        mean = self.places / self.counts
        near = begins + widths * ((mean - 1.0) / PLACES)
        far = begins + widths * ((mean + 2.0) / PLACES)
        negative = self.keys < 0
        low, high = np.where(negative, -far, near), np.where(negative, -near, far)
        low = np.where(finite, np.clip(low, self.least, self.largest), self.least)
        high = np.where(finite, np.clip(high, self.least, self.largest), self.largest)
        return low, high

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The columns by name."""
        return {
            "keys": self.keys,
            "counts": self.counts,
            "places": self.places,
            "least": self.least,
            "largest": self.largest,
        }

    def problem(self) -> str:
        """Why these bins cannot be the bins of any numbers; empty if they can."""
        if (np.diff(self.keys.astype(np.int64)) <= 0).any():
            return "bins out of order"
        if not ((self.counts >= 1) & (self.counts <= MOST)).all():
            return "bins that count nothing, or too much"
        if not ((self.places >= 0) & (self.places <= self.counts * PLACES)).all():
            return "bins whose places lie outside"
        ends = [bin_keys(end)[0] for end in (self.least, self.largest)]
        if any((end != self.keys).any() for end in ends) or (self.least > self.largest).any():
            return "bins whose ends lie outside"
        return ""
