"""The losses of a run while its blocks are gathered: every loss, or counts in bins."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from simulator.engine.outcomes.loss_sample import LossSample
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.outcomes.tally import BinsSum, Tally, bins_of
from simulator.engine.outcomes.weighted_sample import WeightedSample
from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput
from simulator.runner.memory import available_bytes


class KeptLosses(Protocol):
    """The losses of one experiment."""

    def add(self, outcome: Outcome | Tally) -> None:
        """Add one block."""

    def sample(self) -> LossSample:
        """The sample of all losses."""

    def weighted(self) -> WeightedSample | None:
        """The sample of all losses with their weights, or None without weights."""


class EveryLoss:
    """Every loss, and its weight if it has one, in the order of the trials."""

    def __init__(self, specification: Specification) -> None:
        s = specification
        self.block_size = s.block_size
        self.losses = np.empty(s.trials)
        self.log_weights: np.ndarray | None = None if s.sampling is None else np.empty(s.trials)

    def add(self, outcome: Outcome | Tally) -> None:
        """Add one block."""
        if isinstance(outcome, Tally):
            raise InvalidInput(
                'the folder has summaries, and not every loss: play with keep="summary"'
            )
        start = outcome.block * self.block_size
        self.losses[start : start + outcome.trials] = outcome.losses
        if self.log_weights is not None and outcome.log_weights is not None:
            self.log_weights[start : start + outcome.trials] = outcome.log_weights

    def sample(self) -> LossSample:
        """The sample of all losses."""
        return LossSample.of(self.losses)

    def weighted(self) -> WeightedSample | None:
        """The sample of all losses with their weights, or None without weights."""
        if self.log_weights is None:
            return None
        return WeightedSample.of(self.sample(), self.log_weights)


class CountedLosses:
    """The losses of block 0, and counts of the other blocks in parts of doubling length."""

    def __init__(self) -> None:
        self.head = np.zeros(0)
        self.head_weights: np.ndarray | None = None
        self.parts: dict[int, BinsSum] = {}
        self.viewed: dict[int, float] = {}

    def add(self, outcome: Outcome | Tally) -> None:
        """Add one block, or a stretch of blocks."""
        if isinstance(outcome, Outcome):
            for view in outcome.views:
                first = view.trial - outcome.views[0].trial
                self.viewed[view.trial] = float(outcome.losses[first])
            if outcome.block == 0:
                self.head, self.head_weights = outcome.losses, outcome.log_weights
                return
            bins = bins_of(outcome)
        else:
            bins = outcome.bins
        self.parts.setdefault(outcome.block.bit_length(), BinsSum()).add(bins)

    def sample(self) -> LossSample:
        """The sample of all losses."""
        if (weighted := self.weighted()) is not None:
            return weighted.losses
        return LossSample.counted(self.head, self._parts(), self.viewed)

    def weighted(self) -> WeightedSample | None:
        """The sample of all losses with their weights, or None without weights."""
        if self.head_weights is None:
            return None
        head = self.head, self.head_weights
        return WeightedSample.counted(head, self._parts(), self.viewed)

    def _parts(self) -> list[Any]:
        return [self.parts[place].total() for place in sorted(self.parts)]


def bytes_needed(specification: Specification, experiments: int) -> int:
    """The bytes of all losses and weights."""
    s = specification
    return 8 * s.trials * experiments * (1 if s.sampling is None else 2)


def too_large(specification: Specification, experiments: int) -> str:
    """The message for losses that do not fit into memory."""
    s = specification
    needed, free = bytes_needed(s, experiments), available_bytes()
    has = "" if free is None else f" of the {free} bytes that are free"
    return (
        f"the losses of {s.trials} trials do not fit into memory, they need {needed} bytes{has}; "
        'take fewer trials, or play with keep="summary"'
    )


def require_memory(specification: Specification, experiments: int) -> None:
    """Raise InvalidInput if the machine has less free memory than the losses need."""
    free = available_bytes()
    if free is not None and bytes_needed(specification, experiments) > free:
        raise InvalidInput(too_large(specification, experiments))
