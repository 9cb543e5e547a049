"""What an audit found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from simulator.analysis.evidence.events import Event
from simulator.theory.guarantees.families import Guarantee


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """The verdict on a claim, and what the draws prove.

    Attributes
    ----------
    verdict : "violated", or "not violated": that no violation was seen, not that there is none.
    claimed : the claim.
    epsilon : lower bound on epsilon at ``at_delta``, with probability ``confidence``.
    delta : lower bound on delta at ``at_epsilon``, with probability ``confidence``.
    event : the event that says most against the claim, counted on draws that it was not learned
        from; None where every answer came out alike.
    transcript : an answer in the event, drawn on the input that it favours, in words, line by line;
        empty where none was at hand.
    pair : the pair of inputs that the draws were spent on, in words; ``pair_number`` its place.
    evidence : the largest ln of the evidence against the claim, an e-value that may be looked at
        after every batch. Half of the permitted error is for it; the other half is for one event
        on the draws after a quarter of the budget, a number fixed beforehand.
    samples : draws per input, over all pairs.
    stopped : why no more were drawn: "violated", "futile", "budget" or "time".
    detectable : the smallest epsilon at ``at_delta`` that the whole budget would have shown to be
        too large with probability 0.9, by an event as likely as the one given.
    detectable_delta : the same for delta at ``at_epsilon``.
    reproducible : whether the seed gives the same answers again.
    seconds : how long it took.
    """

    verdict: Literal["violated", "not violated"]
    claimed: Guarantee
    epsilon: float
    at_delta: float
    delta: float
    at_epsilon: float
    event: Event | None
    transcript: tuple[str, ...]
    pair: str
    pair_number: int
    evidence: float
    confidence: float
    samples: int
    budget: int
    stopped: Literal["violated", "futile", "budget", "time"]
    detectable: float
    detectable_delta: float
    seed: int
    reproducible: bool
    seconds: float

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted at the confidence."""
        return self.verdict == "violated"

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        event = self.event
        return {
            "verdict": self.verdict,
            "claimed": str(self.claimed),
            "epsilon": self.epsilon,
            "at_delta": self.at_delta,
            "delta": self.delta,
            "at_epsilon": self.at_epsilon,
            "event": None
            if event is None
            else {
                "words": event.words,
                "favours": event.favours,
                "hits_0": event.hits_0,
                "hits_1": event.hits_1,
                "draws": event.draws,
            },
            "transcript": list(self.transcript),
            "pair": self.pair,
            "evidence": self.evidence,
            "confidence": self.confidence,
            "samples": self.samples,
            "budget": self.budget,
            "stopped": self.stopped,
            "detectable": self.detectable,
            "detectable_delta": self.detectable_delta,
            "seed": self.seed,
            "reproducible": self.reproducible,
            "seconds": self.seconds,
        }

    def _seen(self) -> str:
        """The smallest violation that the budget would have shown, in words."""
        delta = f"delta {self.detectable_delta:.4g}"
        if self.detectable == float("inf"):
            return delta
        return f"epsilon {self.detectable:.4g} or {delta}"

    def __str__(self) -> str:
        sure = f"{100 * self.confidence:.10g}%"
        lines = [f"{self.verdict}: {self.claimed}, inputs {self.pair}"]
        if self.event is not None:
            event = self.event
            lines.append(f"event: {event.words}")
            lines.append(
                f"  {event.hits_0} of {event.draws} on input 0, {event.hits_1} of {event.draws} "
                f"on input 1 ({event.probability_0:.4g} and {event.probability_1:.4g})"
            )
        lines.append(
            f"epsilon >= {self.epsilon:.4g} at delta {self.at_delta:g}; "
            f"delta >= {self.delta:.4g} at epsilon {self.at_epsilon:g} (each with {sure})"
        )
        if self.event is None:
            lines.append("no event told the inputs apart")
        elif not self.violated:
            lines.append(
                f"this budget would have seen {self._seen()} with probability 0.9, by an event as "
                "likely as this one"
            )
        replay = f"seed {self.seed}"
        if not self.reproducible:
            replay += ", which does not replay it: the sampler draws from elsewhere"
        lines.append(
            f"{self.samples} of {self.budget} draws per input, {self.seconds:.1f} s, {replay}"
        )
        return "\n".join(lines)
