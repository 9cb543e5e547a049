"""b-min-sep sampling, for ``dpcompose bounds`` and ``dpcompose calibrate``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from simulator.foundations.errors import NotApplicable
from simulator.theory.bounds.base import SAME_PAIR
from simulator.theory.bounds.comparison import TRUTH, Rows
from simulator.theory.events.leaves import GaussianEvent
from simulator.theory.events.named import EventMechanism, NamedRounds
from simulator.theory.events.tree import EventTree
from simulator.training.events import MinSeparationEvent
from simulator.training.named import TESTED, beside_test

if TYPE_CHECKING:
    from simulator.training.laws.subset_test import ParticipationTest

_BLOCKS = (
    "upper bound: blocks of rounds, at each start of which every record may take part "
    "(lemma b-min-sep)"
)


def _separated(sigma: float, rate: float, apart: int, rounds: int) -> EventTree:
    """Rounds of Gaussian sums."""
    return MinSeparationEvent(GaussianEvent(sigma), rate, apart, rounds)


@dataclass(frozen=True)
class NamedSeparation(EventMechanism):
    """Each record at random, but not again in the next rounds."""

    inexact = True

    def compare(self, rounds: NamedRounds, **question: Any) -> Rows:
        """Every bound and the composed loss, upper bounds all, and a lower end by a test."""

        def test() -> ParticipationTest:
            from simulator.training.laws.subset_test import separated_test

            return separated_test(**rounds.values)

        if rounds.count == 1:
            rows = beside_test(super().compare, rounds, question, test)
        elif TESTED in question["names"]:
            raise NotApplicable(f"{TESTED} is of one run of {rounds.term.name}")
        else:
            rows = super().compare(rounds, **question)
        named = (
            replace(row, source=_BLOCKS, adversary=SAME_PAIR) if row.name == TRUTH else row
            for row in rows
        )
        return Rows(named, rows.refused)


B_MIN_SEP = NamedSeparation(
    _separated,
    "Each record in a round with probability RATE, and then not in the next APART - 1 of ROUNDS.",
)
