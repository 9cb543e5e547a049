"""A sample from a measure, and what it says about a rare event."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from simulator.analysis.ceilings import delta_ceiling, tail_ceiling
from simulator.analysis.estimation import Estimate, delta_log_bound, tail_log_bound
from simulator.analysis.rare.reading import RareChoice, RareEvent, RarePlay
from simulator.analysis.rare.witness import (
    ERROR,
    guesses_of,
    refuse_above,
    refuse_if_contradicted,
)
from simulator.analysis.result import Result
from simulator.engine.outcomes.log_mean import MINIMUM_HITS
from simulator.engine.sampling import Sampling
from simulator.foundations.errors import Refusal
from simulator.foundations.wording import count_of

HIDDEN = "these trials may miss the large losses of an adversary that has them on rare paths"
"""Why ``auto`` makes no guess where no weight is bounded in advance."""
SECOND_SAMPLE = 1 << 96
"""Added to the seed for a second sample of the same play."""


@dataclass(frozen=True)
class FromMeasure:
    """The measure to draw from; None is the experiment itself.

    Attributes
    ----------
    certain : whether there are valid ends alone: no guess, and no refusal without a hit.
    """

    sampling: Sampling | None
    certain: bool = False

    def __call__(self, choice: RareChoice) -> Sample:
        """Draw the sample; for a delta, also a second one at the epsilon that the first finds."""
        q, sampling = choice.question, self.sampling
        s, b = replace(q.specification, sampling=sampling), q.experiment
        first = last = Result.of(q.setting.play(s, b))
        first.known(b)  # raises Refusal if a mechanism has no likelihood
        point, seconds = q.epsilon, first.seconds
        if q.delta is not None:
            point = first.epsilon(q.delta, b, q.confidence).value
            if point == math.inf:
                raise Refusal(
                    f"infinite losses alone are more probable than delta = {q.delta:g} in "
                    f"{count_of(s.trials, 'trial')}: no epsilon is finite there"
                )
            # the first sample chose the point: its interval there would not be valid
            again = replace(s, seed=s.seed + SECOND_SAMPLE)
            last = Result.of(replace(q.setting, out=None).play(again, b))
            seconds += last.seconds
        assert point is not None
        return Sample(
            choice=choice, point=point, method="plain" if sampling is None else sampling.kind,
            measure=sampling, trials=s.trials, seconds=seconds, certain=self.certain, first=first,
            last=last,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Sample(RarePlay):
    """What was drawn: ``first`` for the epsilon of a delta, ``last`` for the event."""

    certain: bool
    first: Result
    last: Result

    def at_delta(self, confidence: float) -> Estimate | None:
        """The epsilon of the question's delta, if it has one."""
        q = self.choice.question
        if q.delta is None:
            return None
        return self._said(self.first.epsilon(q.delta, q.experiment, confidence))

    def at(self, epsilon: float, confidence: float) -> tuple[Estimate, Estimate]:
        """The tail and the divergence at ``epsilon``; raises Refusal if no trial reached it."""
        b = self.choice.question.experiment
        try:
            tail = self.last.tail(epsilon, b, confidence)
            return self._said(tail), self._said(self.last.delta(epsilon, b, confidence))
        except Refusal as error:
            if not self.certain or epsilon != self.point:
                raise
            s, leak = self.last.specification, self.last.unseen_leak(b)[0]
            ends = [
                min(ceiling(s, epsilon), self._without_hits(bound, epsilon, confidence)) + leak
                for bound, ceiling in (
                    (tail_log_bound, tail_ceiling), (delta_log_bound, delta_ceiling)
                )
            ]  # fmt: skip
            tail, delta = (
                Estimate.refused(str(error), (0.0, min(1.0, end)), confidence) for end in ends
            )
            return tail, delta

    def require_sound(self, event: RareEvent) -> None:
        """Raise Refusal if plain play has too few hits, or another sample contradicts a guess."""
        q, s = self.choice.question, self.last.specification
        if s.sampling is None and event.tail.hits < MINIMUM_HITS:  # else it was refused before
            raise Refusal(
                f"{event.tail.hits} of {count_of(s.trials, 'plain trial')} lost more than "
                f"{event.epsilon:g}, {MINIMUM_HITS} are needed: try more trials"
            )
        guesses = guesses_of(event, s.rounds, q.delta)
        if event.at_delta is not None and event.at_delta.guess is not None:
            again = self.last.delta(event.at_delta.guess[1], q.experiment, 1.0 - 2.0 * ERROR)
            refuse_above(guesses[-1], again.lower, "a second sample")
        refuse_if_contradicted(self.first.specification, q.experiment, guesses)

    def _said(self, found: Estimate) -> Estimate:
        return found.without_guess(HIDDEN) if self.certain else found

    def _without_hits(
        self, bound: Callable[[float, float, float], float], epsilon: float, confidence: float
    ) -> float:
        """The upper limit of a weighted mean that no trial contributes to; 1 without a bound."""
        most = self.last.log_bound(bound, self.choice.question.experiment, epsilon)
        if most is None:
            return 1.0
        return upper_limit_without_hits(most, self.last.specification.trials, confidence)


def upper_limit_without_hits(log_bound: float, trials: int, confidence: float) -> float:
    """Upper limit of a mean of variables in [0, e^log_bound] all of which were 0."""
    alpha = (1.0 - confidence) / 2.0
    return -math.expm1(math.log(alpha) / trials) * math.exp(min(log_bound, 700.0))
