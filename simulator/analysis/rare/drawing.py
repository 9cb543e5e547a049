"""A sample from a measure, and what it says about a rare event."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from simulator.analysis.ceilings import delta_ceiling, tail_ceiling
from simulator.analysis.estimation import Estimate, delta_log_bound, tail_log_bound
from simulator.analysis.estimation.weighted import MOST_ADVISED
from simulator.analysis.estimation.weighted_epsilon import weighted_point
from simulator.analysis.rare.reading import (
    NO_SUCH_LOSS,
    RareChoice,
    RareEvent,
    RarePlay,
    exact,
)
from simulator.analysis.result import Result
from simulator.engine.outcomes.log_mean import MINIMUM_HITS
from simulator.engine.sampling import Sampling
from simulator.foundations.errors import Refusal
from simulator.foundations.wording import count_of

HITS_WANTED = 3.0
"""Plain play is planned or advised with so many times the hits that it needs."""
NEVER = 1e-300
"""An event of a smaller probability is as good as impossible."""
SECOND_SAMPLE = 1 << 96
"""Added to the seed for a second sample of the same play."""


@dataclass(frozen=True)
class FromMeasure:
    """The measure to draw from; None is the experiment itself, ``why_plain`` why it must be."""

    sampling: Sampling | None
    why_plain: str = ""

    def __call__(self, choice: RareChoice) -> Sample:
        """Draw the sample; for a delta, also a second one at the epsilon that the first finds."""
        q, sampling = choice.question, self.sampling
        s, b = replace(q.specification, sampling=sampling), q.experiment
        first = last = Result.of(q.setting.play(s, b))
        first.known(b)  # raises Refusal if a mechanism has no likelihood
        point, seconds = q.epsilon, first.seconds
        if q.delta is not None:
            found = first.epsilon(q.delta, b, q.confidence)
            drawn = first.weighted(b) if found.no_value else None
            point = found.value if drawn is None else weighted_point(drawn, q.delta, b)
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
            measure=sampling, trials=s.trials, seconds=seconds, first=first, last=last,
            why_plain=self.why_plain,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Sample(RarePlay):
    """What was drawn: ``first`` for the epsilon of a delta, ``last`` for the event."""

    first: Result
    last: Result
    why_plain: str = ""

    def at_delta(self, confidence: float) -> Estimate | None:
        """The epsilon of the question's delta, if it has one."""
        q = self.choice.question
        if q.delta is None:
            return None
        return self.first.epsilon(q.delta, q.experiment, confidence)

    def at(self, epsilon: float, confidence: float) -> tuple[Estimate, Estimate]:
        """The tail and the divergence at ``epsilon``; the ends alone if no trial reached it.

        Raises Refusal if no trial reached a further epsilon.
        """
        b = self.choice.question.experiment
        try:
            tail = self.last.tail(epsilon, b, confidence)
            return tail, self.last.delta(epsilon, b, confidence)
        except Refusal as error:
            if epsilon != self.point:
                raise
            s, leak = self.last.specification, self.last.unseen_leak(b)[0]
            ends = [
                min(ceiling(s, epsilon), self._without_hits(bound, epsilon, confidence)) + leak
                for bound, ceiling in (
                    (tail_log_bound, tail_ceiling), (delta_log_bound, delta_ceiling)
                )
            ]  # fmt: skip
            tail, delta = (_without_hit(str(error), min(1.0, end), confidence) for end in ends)
            return tail, delta

    def require_sound(self, event: RareEvent) -> None:
        """Raise Refusal if plain play has too few hits."""
        s = self.last.specification
        if s.sampling is None and event.tail.hits < MINIMUM_HITS:
            delta = self.choice.question.delta
            advice = "give a smaller epsilon"
            if needed := plain_trials(delta or event.tail.lower):
                advice = f"try {needed:.2g} trials"
            elif delta:
                advice = f"give a delta of at least {HITS_WANTED * MINIMUM_HITS / s.trials:.2g}"
            raise Refusal(
                f"{event.tail.hits} of {count_of(s.trials, 'plain trial')} lost more than "
                f"{event.epsilon:g}, {MINIMUM_HITS} are needed: {advice}"
                + (f"; played plainly, as {self.why_plain}" if self.why_plain else "")
            )

    def _without_hits(
        self, bound: Callable[[float, float, float], float], epsilon: float, confidence: float
    ) -> float:
        """The upper limit of a weighted mean that no trial contributes to; 1 without a bound."""
        most = self.last.log_bound(bound, self.choice.question.experiment, epsilon)
        if most is None:
            return 1.0
        return upper_limit_without_hits(most, self.last.specification.trials, confidence)


def _without_hit(why: str, upper: float, confidence: float) -> Estimate:
    """The ends alone; zero where the family allows nothing else."""
    if upper == 0.0:
        return exact(0.0, (0.0, 0.0), confidence, NO_SUCH_LOSS)
    if upper < NEVER:  # no number of trials would help
        why = f"no trial hit the event, which is rarer than {NEVER:g}: give a smaller epsilon"
    return Estimate.refused(why, (0.0, upper), confidence)


def plain_trials(probability: float) -> float:
    """The plain trials that an event of at least this probability needs; 0 if far too many."""
    if probability * MOST_ADVISED < HITS_WANTED * MINIMUM_HITS:
        return 0.0
    return HITS_WANTED * MINIMUM_HITS / probability


def upper_limit_without_hits(log_bound: float, trials: int, confidence: float) -> float:
    """Upper limit of a mean of variables in [0, e^log_bound] all of which were 0."""
    alpha = (1.0 - confidence) / 2.0
    limit = -math.expm1(math.log(alpha) / trials) * math.exp(min(log_bound, 700.0))
    return max(limit, math.ulp(0.0))  # it is positive, however small
