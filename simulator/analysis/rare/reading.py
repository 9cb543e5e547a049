"""A rare event as it is read from a play, at any epsilon and any confidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from simulator.analysis.ceilings import delta_ceiling
from simulator.analysis.estimation import Estimate
from simulator.analysis.rare.question import Question
from simulator.engine.sampling import Covering, Sampling, Tilted
from simulator.foundations.errors import InvalidInput, Refusal
from simulator.foundations.facts import ShownByFacts
from simulator.foundations.validation import finite, open_probability


@dataclass(frozen=True, kw_only=True, repr=False)
class RareEvent(ShownByFacts):
    """A tail and a divergence at one epsilon.

    Attributes
    ----------
    epsilon : the point; the estimated epsilon(delta) if a delta was given.
    tail : Pr[L > epsilon], or of -L in experiment 1.
    delta : the hockey-stick divergence.
    at_delta : the interval of epsilon(delta), if a delta was given.
    method : how the final sample was drawn.
    measure : what it was drawn from, as ``simulate`` takes it; None for the experiment itself, and
        where no sample was drawn.
    trials : the trials of the final sample.
    seconds, pilot_seconds : wall time of the final sample, and of choosing its measure.
    pilot_rounds : rounds that were played to choose it.

    >>> from simulator import estimate_rare
    >>> from simulator.analysis import Setting, Tilted
    >>> rare = estimate_rare(
    ...     "fixed-worst-case", "pure:0.2", 10, 200, epsilon=1.9,
    ...     method=Tilted(5.0), setting=Setting(jobs=1, progress=False),
    ... )
    >>> rare.epsilon, rare.trials, rare.measure
    (1.9, 200, Tilted(theta=5.0))
    """

    epsilon: float
    tail: Estimate
    delta: Estimate
    at_delta: Estimate | None
    method: str
    measure: Sampling | None
    trials: int
    seconds: float
    pilot_seconds: float
    pilot_rounds: int = 0
    play: RarePlay | None = field(default=None, repr=False, compare=False)

    def facts(self) -> dict[str, str]:
        """The estimates, and how they were made."""
        at = {} if self.at_delta is None else {"epsilon of that delta": str(self.at_delta)}
        return {
            "epsilon": f"{self.epsilon:.6g}", "tail": str(self.tail), "delta": str(self.delta),
            **at, "method": self.method, "trials": str(self.trials),
        }  # fmt: skip

    @property
    def theta(self) -> float | None:
        """The theta of a measure that has one alone."""
        return self.measure.theta if isinstance(self.measure, Tilted | Covering) else None

    def read(self, epsilon: float | None = None, confidence: float | None = None) -> RareEvent:
        """The same play at another epsilon or confidence; intervals are not simultaneous.

        Raises Refusal if the play does not reach ``epsilon``.
        """
        if self.play is None:
            raise InvalidInput("an estimate without its play cannot be read at another epsilon")
        confidence = self.delta.confidence if confidence is None else confidence
        return self.play.event(
            self.epsilon if epsilon is None else finite("epsilon", epsilon),
            open_probability("confidence", confidence),
        )


@dataclass(frozen=True)
class RareChoice:
    """How a question is answered, and the rounds and seconds that it took to choose it."""

    question: Question
    way: Way
    rounds: int
    seconds: float

    def play(self) -> RarePlay:
        """Play it. Raises Refusal, and what a play raises."""
        return self.way(self)


Way = Callable[[RareChoice], "RarePlay"]
"""What a method has chosen to play."""


@dataclass(frozen=True, kw_only=True)
class RarePlay:
    """The outcome of a choice: what was measured or computed.

    Attributes
    ----------
    point : the epsilon of the event.
    method, measure, trials, seconds : as of a RareEvent.
    advice : which method has a value, where this one has none.
    """

    choice: RareChoice
    point: float
    method: str
    measure: Sampling | None = None
    trials: int = 0
    seconds: float = 0.0
    advice: str = ""

    def at(self, epsilon: float, confidence: float) -> tuple[Estimate, Estimate]:
        """The tail and the divergence at ``epsilon``; raises Refusal if it is not reached."""
        raise NotImplementedError

    def at_delta(self, confidence: float) -> Estimate | None:
        """The epsilon of the question's delta, if it has one."""
        return None

    def require_sound(self, event: RareEvent) -> None:
        """Raise Refusal if the event that was read is contradicted, or rests on too little."""

    def read(self) -> RareEvent:
        """The answer to the question. Raises Refusal if it is not to be trusted."""
        event = self.event(self.point, self.choice.question.confidence)
        self.require_sound(event)
        return event

    def event(self, epsilon: float, confidence: float) -> RareEvent:
        """The event at ``epsilon``; raises Refusal if it is not reached."""
        at_delta = self.at_delta(confidence) if epsilon == self.point else None
        tail, delta = self.at(epsilon, confidence)
        return RareEvent(
            epsilon=epsilon, tail=self.advised(tail), delta=self.advised(delta),
            at_delta=None if at_delta is None else self.advised(at_delta), method=self.method,
            measure=self.measure, trials=self.trials, seconds=self.seconds, play=self,
            pilot_seconds=self.choice.seconds, pilot_rounds=self.choice.rounds,
        )  # fmt: skip

    def advised(self, found: Estimate) -> Estimate:
        """The estimate, with the advice if it has no value."""
        if not (self.advice and found.no_value):
            return found
        return replace(found, no_value=f"{found.no_value}; {self.advice}")


NO_SUCH_LOSS = "the family allows no such loss"


class Nothing(RarePlay):
    """No play: no adversary of the family loses more than the point."""

    @classmethod
    def of(cls, choice: RareChoice) -> Nothing:
        """The answer to a question at an epsilon."""
        point, trials = choice.question.epsilon, choice.question.specification.trials
        assert point is not None
        return cls(choice=choice, point=point, method="exact", trials=trials)

    def at(self, epsilon: float, confidence: float) -> tuple[Estimate, Estimate]:
        """Zeros at and above the point; raises Refusal below it.

        Stated losses may add up to the point but for rounding, which a delta allows for.
        """
        if epsilon < self.point:
            raise Refusal(f"nothing was played, and losses above {epsilon:g} may be possible")
        most = delta_ceiling(self.choice.question.specification, epsilon)
        tail, delta = (exact(0.0, (0.0, end), confidence, NO_SUCH_LOSS) for end in (0.0, most))
        return tail, delta


def exact(value: float, ends: tuple[float, float], confidence: float, method: str) -> Estimate:
    """The estimate of a value that was computed, with certified ends."""
    return Estimate(
        value=value, lower=min(ends[0], value), upper=max(ends[1], value), confidence=confidence,
        method=method, hits=0, effective_sample_size=0.0, largest_weight_share=0.0,
        relative_standard_error=0.0,
    )  # fmt: skip
