"""Counts of an answer's parts by bins: features for parts with the same noise.

A sparse vector's marks, parallel noisy counts or a prefix sum differ between two inputs by a little
in many parts. The parts for which the inputs agree have the same law, so they are counted together,
and so are the differences of consecutive parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_ATOM = 0.02
"""The least share of all parts of a value with a bin of its own."""
_QUANTILES = 8
"""The number of intervals for other values."""
_ROWS = 20_000
"""The number of answers per input that bins are learned from."""
MOST_GROUPS = 8
"""The largest number of groups of parts."""


@dataclass(frozen=True)
class Bins:
    """The bins of the parts of one group: values that repeat, and intervals for the others.

    Attributes
    ----------
    steps : whether the differences of consecutive parts are used instead of the parts.
    parts : the indices of the parts.
    atoms, edges : the values that repeat, and the edges of the intervals.
    """

    steps: bool
    parts: np.ndarray
    atoms: np.ndarray
    edges: np.ndarray

    @property
    def size(self) -> int:
        """The number of bins, without the first."""
        return len(self.edges) + len(self.atoms)

    def codes(self, x: np.ndarray) -> np.ndarray:
        """The bin of each part of the group, shape (n, parts), of answers of shape (n, width)."""
        y = (np.diff(x, axis=1, prepend=0.0) if self.steps else x)[:, self.parts]
        code = np.searchsorted(self.edges, y)
        for i, atom in enumerate(self.atoms):
            code[y == atom] = len(self.edges) + 1 + i
        return code

    def counts(self, x: np.ndarray) -> list[np.ndarray]:
        """How many parts of each answer, shape (n, width), are in each bin but the first."""
        codes = self.codes(x)
        return [np.count_nonzero(codes == j, axis=1) for j in range(1, self.size + 1)]


@dataclass(frozen=True)
class PooledCounts:
    """The counts of all groups as a table of features."""

    width: int
    bins: tuple[Bins, ...]

    @classmethod
    def learn(
        cls, x_0: np.ndarray, x_1: np.ndarray, inputs: tuple[Any, Any] | None
    ) -> PooledCounts:
        """Bins from parts of answers, shapes (n_0, width) and (n_1, width)."""
        width = x_0.shape[1]
        groups = groups_of(inputs, width)
        pool = np.vstack([x_0[:_ROWS], x_1[:_ROWS]])
        bins = []
        with np.errstate(invalid="ignore"):
            for steps in (False, True):
                y = np.diff(pool, axis=1, prepend=0.0) if steps else pool
                for group in range(int(groups.max()) + 1):
                    parts = np.flatnonzero(groups == group)
                    bins.append(Bins(steps, parts, *_cut(y[:, parts].ravel())))
        return cls(width, tuple(bins))

    def of(self, x: np.ndarray) -> np.ndarray:
        """The features of answers, shape (n, number of features)."""
        with np.errstate(invalid="ignore"):
            columns = [column for bins in self.bins for column in bins.counts(x)]
        return np.stack(columns or [np.zeros(len(x))], axis=1).astype(float)

    def weighed(self, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The weighted sum of the features, shape (n,), without a table of them."""
        total, start = np.zeros(len(x)), 0
        with np.errstate(invalid="ignore"):
            for bins in self.bins:
                mine = np.concatenate([[0.0], weights[start : start + bins.size]])
                total += mine[bins.codes(x)].sum(axis=1)
                start += bins.size
        return total


def groups_of(inputs: tuple[Any, Any] | None, width: int) -> np.ndarray:
    """The group of each part, shape (width,), by the values of the two inputs there."""
    one = np.zeros(width, dtype=int)
    if inputs is None:
        return one
    try:
        a, b = (np.asarray(each, dtype=float).ravel() for each in inputs)
    except (TypeError, ValueError):
        return one
    if not len(a) == len(b) > 0 or width % len(a):
        return one
    keys = [(i // len(a), a[i % len(a)], b[i % len(a)]) for i in range(width)]
    known = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    return one if len(known) > MOST_GROUPS else np.array([known[key] for key in keys])


def _cut(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Atoms and edges of the bins of these values."""
    values = values[np.isfinite(values)]
    if not len(values):
        return np.zeros(0), np.zeros(0)
    distinct, counts = np.unique(values, return_counts=True)
    atoms = distinct[counts > _ATOM * len(values)]
    rest = values[~np.isin(values, atoms)]
    if len(rest) <= 0.01 * len(values):
        return atoms, np.zeros(0)
    levels = np.linspace(0.0, 1.0, _QUANTILES + 1)[1:-1]
    return atoms, np.unique(np.quantile(rest, levels))
