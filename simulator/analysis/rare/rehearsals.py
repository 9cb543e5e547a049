"""The held-out plays of one question: one shared set, within a budget.

Whoever chooses a measure plays from here. A play of a measure that was played before is the same
one, and together they cost no more rounds than the sample that counts, or LEAST where that is
small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from simulator.adversaries.contract import Rule
from simulator.analysis.rare.rehearsal import Rehearsal, plain, rehearse
from simulator.engine.sampling import RoundByRound
from simulator.engine.specification import Specification
from simulator.foundations.errors import Refusal
from simulator.foundations.seeds import Pilot

LEAST = 100_000
"""Rounds that may be spent however few are to be played."""
PLAYS = 12
"""Plays that the budget is for."""
FEW_TRIALS, MOST_TRIALS = 50, 4000
MOST_COMPILED, MOST_INTERPRETED = 2_000_000, 300_000
"""Rounds of one play: about a tenth of a second, and a few seconds."""
LIKELY = 300
"""Trials of one play that show a measure's error, however many rounds they have."""


@dataclass
class Rehearsals:
    """Plays of experiment b that are held out from every result.

    Attributes
    ----------
    specification, b : what is played, under any measure.
    budget : rounds that may be played in all.
    spent : rounds that were.
    first : the number of the first play among those held out, see ``Pilot``.
    keep_rounds : whether the rounds of the plays are kept, which takes longer.
    known : the plays so far, by their measures.
    advance : called with the rounds of each play.
    """

    specification: Specification
    b: int
    budget: int
    spent: int = 0
    first: int = Pilot.MEASURES
    keep_rounds: bool = True
    known: dict[RoundByRound, Rehearsal] = field(default_factory=dict)
    advance: Callable[..., None] | None = None

    @classmethod
    def of(cls, specification: Specification, b: int) -> Rehearsals:
        """No play yet; the budget of the trials that are to be played."""
        s = specification
        return cls(s, b, max(LEAST, s.trials * s.rounds))

    @property
    def fitting(self) -> int:
        """How many trials one play may have for its rounds."""
        most = MOST_COMPILED if isinstance(self.specification.adversary, Rule) else MOST_INTERPRETED
        return max(LIKELY, most // self.specification.rounds)

    @property
    def trials(self) -> int:
        """How many trials one play has."""
        share = self.budget // self.specification.rounds // PLAYS
        return max(FEW_TRIALS, min(MOST_TRIALS, self.fitting, share))

    @property
    def left(self) -> int:
        """How many trials the budget still holds."""
        return max(0, self.budget - self.spent) // self.specification.rounds

    def play(self, sampling: RoundByRound, trials: int | None = None) -> Rehearsal:
        """Some trials under a measure; raises Refusal where the budget holds no more."""
        if sampling not in self.known:
            trials = min(trials or self.trials, self.left)
            if trials < FEW_TRIALS and self.known:
                raise Refusal(
                    f"no measure was found within {self.budget} rounds of pilot: try more trials"
                )
            trials = max(trials, FEW_TRIALS)
            number = self.first + len(self.known)
            self.known[sampling] = rehearse(
                self.specification, self.b, sampling, trials, number=number,
                keep_rounds=self.keep_rounds,
            )  # fmt: skip
            rounds = trials * self.specification.rounds
            self.spent += rounds
            if self.advance is not None:
                self.advance(rounds)
        return self.known[sampling]

    def plain(self) -> Rehearsal:
        """Trials of the experiment itself."""
        return self.play(plain())
