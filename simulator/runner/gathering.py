"""Add up the outcomes of blocks; the sum does not depend on their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulator.adversaries.contract import Challenge, Rule
from simulator.engine.block import Outcome, Specification
from simulator.engine.outcomes.tally import PairwiseSum, Tally
from simulator.engine.views.views import View
from simulator.foundations.errors import InvalidInput
from simulator.identity.keys import key_of
from simulator.runner.keeping import CountedLosses, EveryLoss, KeptLosses, require_memory, too_large
from simulator.runner.measured import Measured
from simulator.runner.store.cover import Cover

Key = tuple[int, int]
"""(experiment, block)."""


class Gathered:
    """The blocks of a run so far, read from disk or played."""

    def __init__(self, specification: Specification, experiments: Sequence[int]) -> None:
        s = specification
        self.specification = s
        self.experiments = tuple(sorted(set(experiments)))
        self.covers = {b: Cover() for b in self.experiments}
        if not s.summarises:
            require_memory(s, len(self.experiments))
        try:
            self.kept: dict[int, KeptLosses] = {
                b: CountedLosses() if s.summarises else EveryLoss(s) for b in self.experiments
            }
        except (MemoryError, ValueError):
            raise InvalidInput(too_large(s, len(self.experiments))) from None
        self.traces = {b: PairwiseSum() for b in self.experiments}
        self.views: list[View] = []
        self.met: dict[Key, tuple[Challenge, ...]] = {}

    def add(self, outcome: Outcome | Tally) -> None:
        """Add one block; a block of an experiment that is not gathered is ignored."""
        if outcome.experiment not in self.kept:
            return
        self.kept[outcome.experiment].add(outcome)
        if outcome.trace is not None:
            self.traces[outcome.experiment].add(outcome.block, outcome.blocks, outcome.trace)
        self.views.extend(outcome.views)
        if outcome.challenges:
            self.met[outcome.block, outcome.experiment] = outcome.challenges
        self.covers[outcome.experiment].add(outcome.block, outcome.block + outcome.blocks)

    @property
    def empty(self) -> bool:
        """Whether there is no block yet."""
        return not any(list(cover) for cover in self.covers.values())

    def missing(self) -> list[Key]:
        """The blocks still to be played, the two experiments alternating."""
        gaps = [
            (block, b)
            for b, cover in self.covers.items()
            for start, stop in cover.missing(self.specification.blocks)
            for block in range(start, stop)
        ]
        gaps.sort()
        return [(b, block) for block, b in gaps]

    def challenges(self) -> tuple[Challenge, ...]:
        """The recorded challenges, each once, or a program's menu; none if they are trusted."""
        s = self.specification
        if s.trust:
            return ()
        if isinstance(s.program, Rule) and s.has_whole_menu:
            return s.program.menu
        distinct: dict[Any, Challenge] = {}
        for key in sorted(self.met):
            for challenge in self.met[key]:
                distinct.setdefault(key_of(challenge), challenge)
        return tuple(distinct.values())

    def _order(self, view: View) -> tuple[int, int, int]:
        """The sorting key of a view, which does not depend on the order of the blocks."""
        return view.trial // self.specification.block_size, view.experiment, view.trial

    def measured(self, seconds: float, compile_seconds: float, rounds_played: int) -> Measured:
        """The result of all blocks."""
        totals = {b: trace.total() for b, trace in self.traces.items()}
        kept = self.kept
        return Measured(
            self.specification,
            sample={b: kept[b].sample() for b in kept},
            weights={b: weighted for b in kept if (weighted := kept[b].weighted()) is not None},
            traces={b: total for b, total in totals.items() if total is not None},
            kept_views=tuple(sorted(self.views, key=self._order)),
            challenges=self.challenges(),
            seconds=seconds,
            compile_seconds=compile_seconds,
            rounds_played=rounds_played,
        )
