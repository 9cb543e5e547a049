"""A shared set of rehearsals, within a budget of rounds.

A measure is played once. All rehearsals together have at most as many rounds as the final sample,
or LEAST if that has fewer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field

from simulator.adversaries.contract import Rule
from simulator.analysis.rare.rehearsal import Rehearsal, plain, rehearse
from simulator.engine.sampling import RoundByRound
from simulator.engine.specification import Specification
from simulator.foundations.errors import Refusal
from simulator.foundations.seeds import Pilot

LEAST = 100_000
"""The budget of rounds is at least this."""
PLAYS = 12
"""The number of rehearsals that the budget is divided into."""
FEW_TRIALS, MOST_TRIALS = 50, 4000
"""The least and the largest number of trials of a rehearsal."""
MOST_COMPILED, MOST_INTERPRETED = 2_000_000, 300_000
"""The largest number of rounds of a rehearsal: a tenth of a second, and a few seconds."""
LIKELY = 300
"""Trials that show a measure's error; a rehearsal may have so many at any number of rounds."""


@dataclass
class Rehearsals:
    """Rehearsals of experiment b.

    Attributes
    ----------
    specification, b : what is played, under any measure.
    budget : the largest number of rounds of all rehearsals.
    spent : the rounds played so far.
    first : the number of the first play among those held out, see ``Pilot``.
    keep_rounds : whether the rounds of the plays are kept, which takes longer.
    known : the plays so far, by their measures.
    advance : called with the rounds of each play.
    """

    specification: Specification
    b: int
    budget: int
    _: KW_ONLY
    spent: int = 0
    first: int = Pilot.MEASURES
    keep_rounds: bool = True
    known: dict[RoundByRound, Rehearsal] = field(default_factory=dict)
    advance: Callable[..., None] | None = None

    @classmethod
    def of(cls, specification: Specification, b: int) -> Rehearsals:
        """An empty set, with the budget for the specification's trials."""
        s = specification
        return cls(s, b, max(LEAST, s.trials * s.rounds))

    @property
    def fitting(self) -> int:
        """The largest number of trials of a rehearsal, by their rounds."""
        most = MOST_COMPILED if isinstance(self.specification.adversary, Rule) else MOST_INTERPRETED
        return max(LIKELY, most // self.specification.rounds)

    @property
    def trials(self) -> int:
        """The number of trials of a rehearsal."""
        share = self.budget // self.specification.rounds // PLAYS
        return max(FEW_TRIALS, min(MOST_TRIALS, self.fitting, share))

    @property
    def left(self) -> int:
        """The number of trials that are left in the budget."""
        return max(0, self.budget - self.spent) // self.specification.rounds

    def play(self, sampling: RoundByRound, trials: int | None = None) -> Rehearsal:
        """The rehearsal of a measure; raises Refusal if the budget is spent."""
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
        """The rehearsal of the experiment itself."""
        return self.play(plain())
