"""Numbers counted by bins: the last bin is that of NaN."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

BINS = 64
"""The number of bins of a column."""


@dataclass(frozen=True)
class Ordered:
    """A sample of numbers in ascending order.

    Attributes
    ----------
    values : shape (m,), without NaN.
    below : how many of the sample are before each place, and in all; shape (m + 1,), or None for
        one of each value.
    missing : how many more are NaN.
    """

    values: np.ndarray
    below: np.ndarray | None = None
    missing: int = 0

    @classmethod
    def of(cls, ascending: np.ndarray) -> Ordered:
        """From numbers in ascending order, NaN last."""
        some = int(np.searchsorted(ascending, np.inf, side="right"))
        return cls(ascending[:some], missing=len(ascending) - some)

    @classmethod
    def weighed(cls, values: np.ndarray, counts: np.ndarray, missing: int = 0) -> Ordered:
        """From numbers with the count of each, in any order."""
        some = np.flatnonzero(counts)
        order = some[np.argsort(values[some], kind="stable")]
        return cls(values[order], np.concatenate([[0], np.cumsum(counts[order])]), missing)

    def joined(self, other: Ordered) -> Ordered:
        """Both samples as one; both have counts, or neither."""
        values, missing = np.concatenate([self.values, other.values]), self.missing + other.missing
        if self.below is None or other.below is None:
            return Ordered(np.sort(values), missing=missing)
        counts = np.concatenate([np.diff(self.below), np.diff(other.below)])
        return Ordered.weighed(values, counts, missing)

    def __len__(self) -> int:
        return (len(self.values) if self.below is None else int(self.below[-1])) + self.missing

    def places(self, edges: np.ndarray) -> np.ndarray:
        """How many are below each edge."""
        found = np.searchsorted(self.values, edges, side="left")
        return np.asarray(found if self.below is None else self.below[found])

    def counts(self, edges: np.ndarray) -> np.ndarray:
        """How many are in each bin between the edges, and NaN; shape (edges + 2,)."""
        ends = np.empty(len(edges) + 3, dtype=np.int64)
        ends[0], ends[1:-2] = 0, self.places(edges)
        ends[-2], ends[-1] = len(self) - self.missing, len(self)
        return ends[1:] - ends[:-1]

    def quantiles(self, levels: np.ndarray) -> np.ndarray:
        """The value at each level, or the one before; shape of ``levels``."""
        places = np.floor(levels * (len(self) - self.missing - 1)).astype(int)
        if self.below is not None:
            places = np.searchsorted(self.below, places, side="right") - 1
        return np.asarray(self.values[places])

    def means(self, edges: np.ndarray) -> np.ndarray:
        """The mean in each bin between the edges; in an empty one its lower edge, or the first."""
        counts = np.ones(len(self.values)) if self.below is None else np.diff(self.below)
        sums = np.concatenate([[0.0], np.cumsum(self.values * counts)])
        places = np.searchsorted(self.values, edges, side="left")
        totals = np.diff(sums[places], prepend=0.0, append=sums[-1])
        found = self.counts(edges)[:-1]
        return np.where(found > 0, totals / np.maximum(found, 1), [*edges[:1], *edges])

    def distinct(self) -> np.ndarray:
        """Each value once."""
        return distinct(self.values)


def distinct(ascending: np.ndarray) -> np.ndarray:
    """Each of some numbers in ascending order, once."""
    new = np.ones(len(ascending), dtype=bool)
    np.not_equal(ascending[1:], ascending[:-1], out=new[1:])
    return ascending[new]


def cut(values: np.ndarray) -> np.ndarray:
    """Edges of bins: the distinct values if there are few, else quantiles."""
    sample = Ordered(np.sort(values[np.isfinite(values)]))
    if not len(sample):
        return np.zeros(0)
    each = sample.distinct()
    return (
        each
        if len(each) <= 2 * BINS
        else distinct(sample.quantiles(np.linspace(0.0, 1.0, BINS + 1)[1:-1]))
    )


def bin_of(x: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The bin of each number; the last bin is that of NaN."""
    bins = np.searchsorted(edges, x, side="right")
    bins[np.isnan(x)] = len(edges) + 1
    return bins


def bin_counts(x: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """How many numbers each bin holds; to sort them is faster than to place each."""
    return Ordered.of(np.sort(x)).counts(edges)
