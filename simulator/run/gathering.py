"""Add up the outcomes of blocks, in whatever order they come: the sum does not depend on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge, Rule
from simulator.errors import InvalidInput
from simulator.play.block import Outcome, Specification
from simulator.play.interpreter import key_of
from simulator.play.views import View
from simulator.result import Result

Key = tuple[int, int]
"""(experiment, block)."""


class Gathered:
    """The blocks that a run has so far, found on disk or just played."""

    def __init__(self, specification: Specification, experiments: Sequence[int]) -> None:
        s = specification
        self.specification = s
        self.experiments = tuple(sorted(set(experiments)))
        self.keys: set[Key] = set()
        try:
            self.samples = {b: np.empty(s.trials) for b in self.experiments}
        except (MemoryError, ValueError):
            raise InvalidInput(
                f"the losses of {s.trials} trials do not fit into memory, they need "
                f"{8e-9 * s.trials * len(self.experiments):.3g} GB; ask for fewer trials"
            ) from None
        weighted = s.sampling is not None
        self.log_weights = {b: np.empty(s.trials) for b in self.experiments if weighted}
        self.traces = {b: OrderedSum() for b in self.experiments}
        self.views: list[View] = []
        self.met: dict[Key, tuple[Challenge, ...]] = {}

    def add(self, outcome: Outcome) -> None:
        """Put one block in its place; a block of an experiment not asked for is passed over."""
        if outcome.experiment not in self.samples:
            return
        start = outcome.block * self.specification.block_size
        self.samples[outcome.experiment][start : start + len(outcome.losses)] = outcome.losses
        if outcome.log_weights is not None:
            weights = self.log_weights[outcome.experiment]
            weights[start : start + len(outcome.log_weights)] = outcome.log_weights
        if outcome.trace is not None:
            self.traces[outcome.experiment].add(outcome.block, outcome.trace)
        self.views.extend(outcome.views)
        if outcome.challenges:
            self.met[outcome.block, outcome.experiment] = outcome.challenges
        self.keys.add((outcome.experiment, outcome.block))

    def missing(self) -> list[Key]:
        """The blocks still to be played, both experiments side by side."""
        return [
            (b, block)
            for block in range(self.specification.blocks)
            for b in self.experiments
            if (b, block) not in self.keys
        ]

    def challenges(self) -> tuple[Challenge, ...]:
        """The distinct challenges that were met, as far as they were recorded; a rule's menu."""
        s = self.specification
        if s.trust:
            return ()
        if isinstance(s.adversary, Rule):
            return s.adversary.menu
        distinct: dict[Any, Challenge] = {}
        for key in sorted(self.met):
            for challenge in self.met[key]:
                distinct.setdefault(key_of(challenge), challenge)
        return tuple(distinct.values())

    def result(self, seconds: float, compile_seconds: float, rounds_played: int) -> Result:
        """The whole."""
        traces = {b: sums.total for b, sums in self.traces.items() if sums.total is not None}
        return Result(
            self.specification,
            samples=self.samples,
            log_weights=self.log_weights,
            traces=traces,
            kept_views=tuple(self.views),
            challenges=self.challenges(),
            seconds=seconds,
            compile_seconds=compile_seconds,
            rounds_played=rounds_played,
        )


class OrderedSum:
    """A sum of arrays taken in the order of their blocks, so that its rounding repeats.

    Only what comes before its turn is held back; the rest is added and forgotten, for an array
    per block would fill the memory of a long run.
    """

    def __init__(self) -> None:
        self.total: np.ndarray | None = None
        self.turn = 0
        self.early: dict[int, np.ndarray] = {}

    def add(self, block: int, array: np.ndarray) -> None:
        """Add the array of one block."""
        self.early[block] = array
        while self.turn in self.early:
            following = self.early.pop(self.turn)
            self.total = following if self.total is None else self.total + following
            self.turn += 1
