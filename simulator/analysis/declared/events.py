"""Events of answers, chosen where weighted draws of the two databases differ most so far."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simulator.analysis.declared.columns import LOSS, ColumnBlock

BINS = 64
ROUNDING = 1e-9
"""Losses this close, absolutely and in proportion, are one: a formula rounds them apart."""
SLACK = 0.5
"""By what share of the overlap an event of the bits may differ before it is a contradiction."""

Both = tuple[np.ndarray, np.ndarray]
"""Arrays of the draws on database 0 and of those on database 1."""


@dataclass(frozen=True, kw_only=True)
class Within:
    """The event low <= column < high; ``low == high`` stands for equality.

    Attributes
    ----------
    block, column : where it stands.
    name : the column's, in words.
    sign : 1 where draws of database 0 were seen to have more of it, -1 where they had less.
    rough : whether honest rounding moves its probability.
    """

    block: int
    column: int
    name: str
    low: float
    high: float
    sign: int
    rough: bool

    def holds(self, blocks: tuple[ColumnBlock, ...]) -> np.ndarray:
        """Whether it happened, bool of shape (answers,)."""
        x = blocks[self.block].table[:, self.column]
        return x == self.low if self.low == self.high else (x >= self.low) & (x < self.high)

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.name} is {self.low:.9g}"
        if self.low == -np.inf:
            return f"{self.name} is below {self.high:.9g}"
        return f"{self.name} is in [{self.low:.9g}, {self.high:.9g})"


@dataclass(frozen=True)
class Gap:
    """How an event's weighted frequencies differ: mean and mean square of one pair of draws."""

    event: Within
    mean: float
    square: float
    pairs: int


def widest_gap(
    blocks: tuple[tuple[ColumnBlock, ...], ...], weights: Both, rough: bool
) -> Gap | None:
    """The event whose weighted frequencies differ most, measured in standard errors.

    Parameters
    ----------
    blocks : of the draws on database 0, and of those on database 1.
    weights : of the draws, shape (pairs,), in [0, 1].
    rough : of rough columns, where only what is beyond SLACK of the overlap counts, or of others.

    Returns None where nothing differs.
    """
    pairs = len(weights[0])
    allowed = SLACK * float(weights[0].sum() + weights[1].sum()) / 2.0 if rough else 0.0
    best, gap = 0.0, None
    for place, both in enumerate(zip(*blocks)):
        if both[0].rough != rough:
            continue
        for prefix, sums, squares, edges in histograms(both, weights):
            scores = (np.abs(sums) - allowed) / np.sqrt(squares + allowed**2 / pairs + 1.0)
            column, i = np.unravel_index(int(np.argmax(scores)), scores.shape)
            if scores[column, i] <= best:
                continue
            best = float(scores[column, i])
            low, high = interval(edges[column], int(i), prefix)
            sign = 1 if sums[column, i] > 0.0 else -1
            name = both[0].names[column]
            event = Within(
                block=place,
                column=int(column),
                name=name,
                low=low,
                high=high,
                sign=sign,
                rough=rough,
            )
            gap = Gap(event, sums[column, i] / pairs, squares[column, i] / pairs, pairs)
    return gap


@dataclass(frozen=True)
class Edges:
    """The lower edges of bins, ascending; ``exact`` where a bin holds one value only."""

    values: np.ndarray
    exact: bool


def interval(edges: Edges, i: int, prefix: bool) -> tuple[float, float]:
    """The ends of bin ``i``, or of all bins up to it; equal ends for a single value."""
    values = edges.values
    if edges.exact and not prefix:
        return float(values[i]), float(values[i])
    low = -np.inf if prefix else float(values[i])
    return low, float(values[i + 1]) if i + 1 < len(values) else np.inf


def histograms(
    both: tuple[ColumnBlock, ColumnBlock], weights: Both
) -> Iterator[tuple[bool, np.ndarray, np.ndarray, list[Edges]]]:
    """Differences of weighted frequencies and sums of squares, shape (columns, bins).

    First of single bins, then (True) of all bins up to each.
    """
    width = both[0].table.shape[1]
    if both[0].coded:
        edges = [Edges(np.arange(float(BINS)), True)] * width
        codes = [block.table for block in both]
    else:
        edges = [
            edges_of(
                np.concatenate([block.table[:, c] for block in both]),
                ROUNDING if c == LOSS else 0.0,
            )
            for c in range(width)
        ]
        codes = [
            np.column_stack([coded(block.table[:, c], edges[c]) for c in range(width)])
            for block in both
        ]
    slots = BINS + 2
    sums, squares = np.zeros(width * slots), np.zeros(width * slots)
    for code, w, sign in zip(codes, weights, (1.0, -1.0)):
        place = (code + slots * np.arange(width)).ravel()
        sums += sign * np.bincount(place, np.repeat(w, width), minlength=len(sums))
        squares += np.bincount(place, np.repeat(w**2, width), minlength=len(sums))
    sums, squares = (x.reshape(width, slots)[:, : BINS + 1] for x in (sums, squares))
    yield False, sums, squares, edges
    yield True, sums.cumsum(axis=1), squares.cumsum(axis=1), edges


def coded(x: np.ndarray, edges: Edges) -> np.ndarray:
    """The bin of each number, shape (n,); NaN is in the last, which no event has."""
    place = np.searchsorted(edges.values, x, side="right") - 1
    return np.where(np.isnan(x) | (place < 0), BINS + 1, place)


def edges_of(values: np.ndarray, rounding: float) -> Edges:
    """Edges of bins: the distinct values where they are few, else quantiles.

    Values are distinct that differ by more than ``rounding``, times 1 plus the value.
    """
    values = np.sort(values[~np.isnan(values)])
    if not len(values):
        return Edges(np.zeros(1), True)
    room: np.ndarray = rounding * (1.0 + np.abs(np.where(np.isfinite(values), values, 0.0)))
    with np.errstate(invalid="ignore"):  # inf - inf is no difference
        first: np.ndarray = np.flatnonzero(np.r_[True, values[1:] - values[:-1] > room[1:]])
    if len(first) > BINS:
        places = np.linspace(0, len(values), BINS, endpoint=False).astype(int)
        first = first[np.unique(np.searchsorted(first, places, side="right") - 1)]
    few = len(first) < BINS and not rounding
    edges = values[first] - room[first]
    if not few or rounding:
        edges[0] = -np.inf
    return Edges(edges, few)
