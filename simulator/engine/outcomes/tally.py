"""Sums of outcomes: losses counted in bins, moments along the rounds, digests.

Tallies of aligned stretches of blocks add up to the tally of a longer stretch. Counts are whole
numbers, which add up in any order. The moments are floats, added in pairs of neighbouring stretches
of one size, so that their rounding does not depend on the order of blocks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from simulator.engine.outcomes.bins import LossBins
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.outcomes.packing import packed, unpacked, unpacked_weighted
from simulator.engine.outcomes.weighted_bins import WeightedBins
from simulator.engine.views.views import View

PLAIN, WEIGHTED = "bins", "weighted_bins"
"""The names of stored bins, without log-weights and with them."""


@dataclass(frozen=True)
class Tally:
    """The sum of ``blocks`` blocks from number ``block`` on: one, or an aligned stretch.

    Attributes
    ----------
    bins : the counted losses, with their log-weights where there are any.
    trace : as in :class:`~simulator.engine.outcomes.outcome.Outcome`.
    digests : uint64, shape (blocks,): a digest of every block's losses and trace, to compare two
        runs to the bit.
    doubt, challenges : as in Outcome; of a single block only, and not stored.
    """

    experiment: int
    block: int
    blocks: int
    bins: LossBins | WeightedBins
    digests: np.ndarray
    _: KW_ONLY
    trace: np.ndarray | None = None
    doubt: str = ""
    challenges: tuple[Any, ...] = ()

    @classmethod
    def of(cls, outcome: Outcome) -> Tally:
        """The tally of one block."""
        return cls(
            outcome.experiment, outcome.block, 1, bins_of(outcome),
            np.array([digest(outcome)], dtype=np.uint64),
            trace=outcome.trace, doubt=outcome.doubt, challenges=outcome.challenges,
        )  # fmt: skip

    @property
    def views(self) -> tuple[View, ...]:
        """Empty, as a block with kept views is not counted."""
        return ()

    @property
    def trials(self) -> int:
        """How many losses were counted."""
        return self.bins.trials

    def arrays(self) -> dict[str, np.ndarray]:
        """The tally as named arrays, for storage."""
        name = WEIGHTED if isinstance(self.bins, WeightedBins) else PLAIN
        named = {name: packed(self.bins), "digests": self.digests}
        if self.trace is not None:
            named["trace"] = self.trace
        return named


def added(parts: Iterator[tuple[int, int, Mapping[str, np.ndarray]]]) -> dict[str, np.ndarray]:
    """The sum of arrays of tallies, given in order with block and number of blocks.

    Together they cover an aligned stretch.
    """
    sums: dict[str, BinsSum] = {}
    digests, trace = [], PairwiseSum()
    for block, blocks, arrays in parts:
        name, bins = counted_in(arrays)
        sums.setdefault(name, BinsSum()).add(bins)
        digests.append(arrays["digests"])
        if "trace" in arrays:
            trace.add(block, blocks, arrays["trace"])
    named = {name: packed(bins.total()) for name, bins in sums.items()}
    named["digests"] = np.concatenate(digests)
    total = trace.total()
    return named if total is None else named | {"trace": total}


def bins_of(outcome: Outcome) -> LossBins | WeightedBins:
    """The losses of a block, counted, with their log-weights where there are some."""
    if outcome.log_weights is None:
        return LossBins.of(outcome.losses)
    return WeightedBins.of(outcome.losses, outcome.log_weights)


def counted_in(arrays: Mapping[str, np.ndarray]) -> tuple[str, LossBins | WeightedBins]:
    """The bins among the arrays of a tally, and their name. Raises InvalidInput."""
    if WEIGHTED in arrays:
        return WEIGHTED, unpacked_weighted(arrays[WEIGHTED])
    return PLAIN, unpacked(arrays[PLAIN])


def digest(outcome: Outcome) -> int:
    """An eight-byte digest of a block's losses, log-weights and trace."""
    state = hashlib.blake2b(digest_size=8)
    for array in (outcome.losses, outcome.log_weights, outcome.trace):
        state.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    return int.from_bytes(state.digest(), "little")


class BinsSum:
    """A sum of bins of one kind, taken many at a time."""

    MOST = 1 << 19
    """Most bins that are collected before they are added up."""

    def __init__(self) -> None:
        self._parts: list[Any] = []
        self._pending = 0

    def add(self, bins: LossBins | WeightedBins) -> None:
        """Add some more."""
        self._parts.append(bins)
        self._pending += bins.keys.size
        if self._pending > self.MOST + self._parts[0].keys.size:
            self.total()

    def total(self) -> Any:
        """The sum so far."""
        self._parts = [type(self._parts[0]).total(self._parts)]
        self._pending = self._parts[0].keys.size
        return self._parts[0]


class PairwiseSum:
    """A sum of arrays of stretches of blocks, each added to its twin of the same size.

    The additions depend on the stretches alone and not on their order, so the rounding repeats.
    """

    def __init__(self) -> None:
        self._parts: dict[tuple[int, int], np.ndarray] = {}

    def add(self, block: int, blocks: int, array: np.ndarray) -> None:
        """Add the array of an aligned stretch."""
        # block 0 is never joined with the following stretch
        while (twin := (block ^ blocks, blocks)) in self._parts and min(block, twin[0]) > 0:
            other = self._parts.pop(twin)
            array = other + array if twin[0] < block else array + other
            block, blocks = min(block, twin[0]), 2 * blocks
        self._parts[block, blocks] = array

    def total(self) -> np.ndarray | None:
        """The sum so far, or None."""
        total = None
        for key in sorted(self._parts):
            total = self._parts[key] if total is None else total + self._parts[key]
        return total
