"""The result of an audit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from simulator.auditing.audits.fixed_size_tests import Power
from simulator.auditing.evidence.events import Event
from simulator.foundations.facts import ShownByFacts
from simulator.theory.guarantees.interface import Guarantee

_VISIBLE = 1e-5
"""The least share by which a bound is above the claim where it is printed as what was found."""


def _power(log: float) -> str:
    """exp(log) as text, however large."""
    return f"{math.exp(log):.3g}" if log < 700.0 else f"10^{log / math.log(10.0):.0f}"


AN_EXCEPTION = (
    "an exception follows the data, and is an answer as any other: catch it, and answer on every "
    "input alike"
)


def next_step(event: Event) -> str:
    """What to look for where an event by itself names no cause; "" where it does."""
    text = event.words
    if text.startswith("there is ") or "number of parts" in text or "none at all" in text:
        return (
            "a part of the answer is there or not because of the data; release a fixed set of "
            "parts, or choose them by a private selection"
        )
    if " character of " in text or text.startswith(("length of ", "capitals ", "spaces ")):
        return "a text follows the data: compare some answers of both inputs"
    if text.startswith(("a weighted sum of", "a weighted count of", "a sum of scores", "boosted")):
        return (
            "several parts together give the input away: look for noise that parts share, for a "
            "part computed from others, and for noise that is too small for all parts together; "
            "audit each part alone"
        )
    return ""


@dataclass(frozen=True, kw_only=True, repr=False)
class AuditResult(ShownByFacts):
    """The verdict on a claim, with lower bounds and the evidence.

    Attributes
    ----------
    verdict : "violated", or "not violated", which does not prove that there is no violation.
    claimed : the claim.
    epsilon : lower bound on epsilon at ``at_delta``, with probability ``confidence``.
    delta : lower bound on delta at ``at_epsilon``, with probability ``confidence``.
    event : the event with the most evidence against the claim, counted on draws that it was not
        learned from; None if all answers were equal.
    transcript : an answer in the event, on the input that it favours, as lines of text; or empty.
    pair : the pair of inputs of most draws, as text; ``pair_number`` its place.
    evidence : the largest ln of the evidence against the claim, an e-value that is valid after
        every batch. It has a part of the error level; the rest is for the bounds, and for tests of
        events on a number of draws fixed in advance.
    samples : draws per input, over all pairs.
    stopped : why no more were drawn: "violated", "futile", "budget" or "time".
    power : has ``detectable``, the smallest epsilon at ``at_delta`` that the whole budget would
        have shown to be too large with probability 0.9, by an event as likely as the one given, and
        ``detectable_delta``, the same for delta at ``at_epsilon``; None without an event.
    divergence : for a claim on Renyi divergences, the one that is too large, as text; or "".
    beyond_bits : if the event is on the bits of floats, a second audit to twelve significant
        digits; or None.
    warnings : lines on defects of the sampler, such as answers that never vary.
    unaudited : why nothing was audited: every answer is the same on both inputs, or the budget is
        too small to refute the claim for any mechanism; or "".
    needed : the evidence that refutes the claim.
    kind : what ``evidence`` is mostly of: "events", "likelihood ratios" or "divergences".
    reproducible : whether the seed gives the same answers again.
    seconds : the time of the audit.

    >>> from simulator.auditing import audit
    >>> result = audit(lambda bit, rng: bit, 0, 1, claimed="pure:1", samples=2000)
    >>> result.verdict, result.epsilon > 1, result.raises
    ('violated', True, False)
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
    power: Power | None
    seed: int
    reproducible: bool
    seconds: float
    divergence: str = ""
    beyond_bits: AuditResult | None = None
    warnings: tuple[str, ...] = ()
    unaudited: str = ""
    needed: float = float("inf")
    kind: str = "events"

    @property
    def found(self) -> list[str]:
        """What refutes the claim, with its number: a bound, or bets against the claim."""
        bounds = []
        if self.epsilon > self.at_epsilon * (1.0 + _VISIBLE):
            bounds.append(f"epsilon >= {self.epsilon:.6g} at delta = {self.at_delta:.6g}")
        if self.delta > self.at_delta * (1.0 + _VISIBLE):
            bounds.append(f"delta >= {self.delta:.6g} at epsilon = {self.at_epsilon:.6g}")
        if self.violated and self.evidence >= self.needed:
            bounds.append(
                f"bets on {self.kind} against the claim: stake times {_power(self.evidence)}, "
                f"where {_power(self.needed)} has probability {_power(-self.needed)} at most"
            )
        return bounds

    @property
    def detectable(self) -> float:
        """The least epsilon that ``power`` makes it find; infinite without an event."""
        return float("inf") if self.power is None else self.power.detectable

    @property
    def detectable_delta(self) -> float:
        """The least delta that ``power`` makes it find; infinite without an event."""
        return float("inf") if self.power is None else self.power.detectable_delta

    @property
    def by_bits(self) -> bool:
        """Whether the claim is refuted by the bits of floats."""
        return self.violated and self.event is not None and self.event.rough

    @property
    def raises(self) -> bool:
        """Whether the answer in the event is an exception; a text would stand in quotes."""
        return self.transcript[:1] != () and self.transcript[0].lstrip("(").startswith("raised ")

    def advice(self) -> list[str]:
        """Lines on what an engineer does next, and on a leak in the bits of floats."""
        if not self.violated or self.event is None:
            return []
        if not self.by_bits:
            step = AN_EXCEPTION if self.raises else next_step(self.event)
            return [f"what to do: {step}"] if step else []
        lines = [
            f"floating-point noise gives inputs away (Mironov 2012): {self.event.bit}",
            "what to do: draw discrete noise, or snap answers to a grid; bits=False (--no-bits) "
            "judges a mechanism by twelve significant digits",
        ]
        beyond = self.beyond_bits
        if beyond is not None and beyond.violated and beyond.event is not None:
            lines.append(f"the claim is violated beyond the bits too: {beyond.event.words}")
        elif beyond is not None:
            lines.append(
                f"beyond the bits nothing was found in {beyond.samples} more draws: "
                f"epsilon >= {beyond.epsilon:.4g} at delta {beyond.at_delta:g}"
            )
        return lines

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
            "divergence": self.divergence,
            "advice": self.advice(),
            "beyond_bits": None if self.beyond_bits is None else self.beyond_bits.verdict,
            "warnings": list(self.warnings),
            "unaudited": self.unaudited,
            "found": self.found,
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
        """The smallest violation that the budget would have shown, as text."""
        delta = f"delta {self.detectable_delta:.4g}"
        if self.detectable == float("inf"):
            return delta
        return f"epsilon {self.detectable:.4g} or {delta}"

    def facts(self) -> dict[str, str]:
        """The verdict, the event that it rests on, and what is certain."""
        event = {} if self.event is None else {"event": self.event.words}
        return {
            "verdict": self.verdict,
            "claimed": str(self.claimed),
            **event,
            "epsilon": f"at least {self.epsilon:.4g} at delta {self.at_delta:g}",
            "delta": f"at least {self.delta:.4g} at epsilon {self.at_epsilon:g}",
            "confidence": f"{100 * self.confidence:.10g}%",
            "draws": f"{self.samples} of {self.budget} per input",
        }

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
        if self.divergence:
            unproved = "" if self.violated else ", which these draws do not prove"
            lines.append(f"divergence: {self.divergence}{unproved}")
        lines += self.advice()
        if self.violated and self.evidence >= self.needed:
            lines.append(f"found: {self.found[-1]}")
        lines.append(
            f"epsilon >= {self.epsilon:.4g} at delta {self.at_delta:g}; "
            f"delta >= {self.delta:.4g} at epsilon {self.at_epsilon:g} (each with {sure})"
        )
        if self.event is None:
            lines.append("no event distinguishes the inputs")
        elif not self.violated:
            lines.append(
                f"this budget would have seen {self._seen()} with probability 0.9, by an event as "
                "likely as this one"
            )
        lines += [f"warning: {warning}" for warning in self.warnings]
        replay = f"seed {self.seed}"
        if not self.reproducible:
            replay += ", which does not replay it: the sampler draws from elsewhere"
        lines.append(
            f"{self.samples} of {self.budget} draws per input, {self.seconds:.1f} s, {replay}"
        )
        return "\n".join(lines)
