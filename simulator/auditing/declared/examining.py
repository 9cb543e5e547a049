"""Test a declared likelihood with draws of the mechanism.

Let P0 and P1 be the laws of the draws, L the declared loss. If L = ln dP0/dP1, then for every
event E

    E0[min(1, e^-L); E] = E1[min(1, e^L); E],

because both are the mass of min(P0, P1) on E; conversely, if it holds for all events, L is the
loss. So draws are kept with these weights as probabilities, see :class:`Overlap`: the kept draws of
both databases have the same law and the same expected number. That is a claim of (0,
0)-differential privacy, which is tested by bets as in an audit, each on an event that was chosen
from earlier draws. The evidence is the average of four bets: on the number of kept draws, on
events, on the bits of floats, with a slack for the rounding of correct noise, and on a wrong scale
of the loss. A small loss takes more draws: one that is wrong by the share r shows after a number
of kept draws in proportion to 1/(r^2 Var L). Those after ``DRAWS`` are bet on by number and scale.
A loss that is wrong on one event alone shows where the event is among the draws often enough.

If the mechanism has an exact law of its loss, the losses of the draws are compared with it by the
Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant, valid for every law.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from simulator.adversaries.contract import Challenge
from simulator.auditing.declared.betting import (
    SCALES,
    SPARE,
    EventBets,
    MassBets,
    ScaleBets,
    evidence,
)
from simulator.auditing.declared.classes import representatives
from simulator.auditing.declared.overlap import ROUNDING, Both, Draw, Noise, Overlap
from simulator.auditing.declared.verdict import Contradiction, Examined, FalseLikelihood
from simulator.auditing.evidence.events import Event
from simulator.auditing.evidence.float_features import each_bit, each_digit
from simulator.data.databases import Relation
from simulator.foundations.errors import NotApplicable
from simulator.foundations.seeds import Stream, generator
from simulator.foundations.stages import in_stages
from simulator.foundations.validation import false_alarm_of, whole
from simulator.mechanisms import Free, ScalarMechanism
from simulator.theory.laws.base import PrivacyLossLaw

DRAWS = 1 << 14
"""Draws of each database, for events of the answers; at least as many are made."""
MOST_DRAWS = 1 << 18
"""Draws of each database, at most, for all mechanisms of a play together."""
SEEN = 0.1
"""The error of a declared loss, relative to it, for which draws are made up to that number."""
ON_EVENT = 130.0
"""Kept draws of an event on which a loss that is wrong by 1 shows in 95% of tests, as tried."""
DEVIATIONS = 1.645
"""By which the evidence may fall short of its mean in one of twenty tests."""
FALSE_ALARM = 1e-6
"""The largest probability that any true likelihood of a play is contradicted."""

FIRST = 512
"""Draws of each database before the first bet."""
SLACK = 0.5
"""By how much the probability of an event on the bits of floats may differ: the rounding of correct
noise depends on the value it is added to (Mironov 2012)."""
POINTS = 32
"""Losses at which an exact law is compared."""


def examine(
    challenge: Challenge,
    relation: Relation,
    noise: Noise,
    *,
    draws: int | None = None,
    events: int = DRAWS,
    most: int = MOST_DRAWS,
    false_alarm: float = FALSE_ALARM,
    draw: Draw | None = None,
) -> Contradiction | Examined:
    """Look for an event that contradicts a challenge's declared likelihood.

    Parameters
    ----------
    challenge : two databases, and a mechanism with a likelihood.
    noise : the generators from which its answers on database 0 and on database 1 are drawn.
    draws : of each database, at most; a clear contradiction takes fewer. By default as many as an
        error of a tenth of the loss takes, from ``events`` to ``most``.
    events : the first draws of each database, with bets on events too.
    false_alarm : the probability with which a true likelihood is contradicted.
    draw : ``draw(b, rng)`` answers on database b; by default as in play.

    Returns the contradiction, or what would have been one. Raises InvalidInput, and what the
    mechanism raises.
    """
    database_0, database_1, mechanism = challenge
    first = whole("draws", events if draws is None else draws, 1)
    alpha = false_alarm_of(false_alarm) / 2.0
    pair = mechanism.pair(database_0, database_1, relation)
    drawn = Overlap(pair.sample if draw is None else draw, pair.loss, noise)
    bets = LikelihoodBets(drawn, alpha)
    found = bets.on_events(first)
    if found is None and draws is None:
        found = bets.on_scale(min(draws_for(drawn, alpha), most))
    if found is None:
        found = against_law(drawn, law_of(challenge, relation), alpha)
    if found is None:
        return Examined(
            mechanisms=1, met=1, draws=drawn.size,
            error=error_seen(drawn, alpha), share=share_seen(drawn, first),
        )  # fmt: skip
    event, numbers, on_0, on_1 = found
    return Contradiction(
        mechanism=repr(mechanism), pair=relation.difference(database_0, database_1),
        event=event, numbers=numbers, first=on_0, second=on_1,
        draws=drawn.size, false_alarm=false_alarm,
    )  # fmt: skip


def needed_growth(alpha: float) -> float:
    """The mean of ln of the evidence of the right scale that reaches the rejection level.

    In 95% of tests: a sum of small gains with the mean g has the variance 2 g. The scale that is
    listed next to it, up to a factor of sqrt(2) away, gains at least 0.91 of it.
    """
    level = math.log(4.0 * len(SCALES) / alpha) / 0.91
    root = (DEVIATIONS + math.sqrt(DEVIATIONS**2 + 2.0 * level)) / math.sqrt(2.0)
    return root * root


def kept_variance(drawn: Overlap) -> tuple[float, float]:
    """The variance of the declared losses of kept draws, and the share of draws that are kept."""
    losses = drawn.losses[0]
    weights = np.exp(np.minimum(-losses, 0.0))
    if not weights.sum() > 0.0:
        return 0.0, 0.0
    finite = np.where(weights > 0.0, losses, 0.0)
    mean = float(np.average(finite, weights=weights))
    square = float(np.average((finite - mean) ** 2, weights=weights))
    return (square if square > ROUNDING**2 else 0.0), float(weights.mean())


def error_seen(drawn: Overlap, alpha: float) -> float:
    """The relative error of the declared loss that so many draws show in 95% of tests."""
    variance, share = kept_variance(drawn)
    if variance == 0.0:
        return math.inf
    return math.sqrt(4.0 * needed_growth(alpha) / (drawn.size * share * variance))


def draws_for(drawn: Overlap, alpha: float) -> int:
    """The draws of each database that show an error of ``SEEN``, as far as the draws tell."""
    seen = error_seen(drawn, alpha)
    return drawn.size if seen == math.inf else math.ceil(drawn.size * min(seen / SEEN, 1e6) ** 2)


def share_seen(drawn: Overlap, draws: int) -> float:
    """The least share of min(P0, P1) on which alone a loss that is wrong by 1 shows mostly.

    In 95% of tests, by bets on events of so many draws.
    """
    kept = float(drawn.kept.mean()) / drawn.size * draws
    return ON_EVENT / kept if kept > ON_EVENT else 1.0


Found = tuple[str, str, float, float]
"""An event and two numbers, as text, and the two numbers."""


class LikelihoodBets:
    """All bets on the draws of one mechanism; their evidence is averaged.

    Parameters
    ----------
    drawn : no draws so far.
    alpha : the probability with which a true likelihood is contradicted.
    """

    def __init__(self, drawn: Overlap, alpha: float) -> None:
        self.drawn, self.level = drawn, -math.log(alpha)
        self.mass, self.scale = MassBets(), ScaleBets()
        self.logs = [0.0, 0.0, 0.0, 0.0]
        """Ln of the evidence: mass, scale, digits, bits."""

    def on_events(self, draws: int) -> Found | None:
        """Bet on events of earlier batches too, up to ``draws``; stop when evidence suffices."""
        drawn, aim = self.drawn, (SPARE + self.level) / draws
        events = [EventBets(each_digit, 0.0, aim), EventBets(each_bit, SLACK, aim)]
        while drawn.size < draws:
            start, before = drawn.size, drawn.kept.copy()
            kept = drawn.more(min(draws - start, max(FIRST, start)))
            losses = kept[0]["loss"], kept[1]["loss"]
            self.logs[2:] = [each.bet(kept) for each in events] if start else self.logs[2:]
            if self.settled(start, before, losses):
                return impossible(drawn) or self.found(events)
            if drawn.size < draws:
                for each in events:
                    each.learn(kept)
        return None

    def on_scale(self, draws: int) -> Found | None:
        """Bet on further draws up to ``draws``, by number and scale alone."""
        drawn = self.drawn
        while drawn.size < draws:
            start, before = drawn.size, drawn.kept.copy()
            losses = drawn.more_losses(min(draws - start, DRAWS))
            if self.settled(start, before, losses):
                return impossible(drawn) or self.found([])
        return None

    def settled(self, start: int, before: np.ndarray, losses: Both) -> bool:
        """Settle the bets on the draws after ``start``; whether there is a contradiction."""
        if impossible(self.drawn) is not None:
            return True
        if start:
            self.logs[0] = self.mass.bet(self.drawn, before, start)
        self.logs[1] = self.scale.bet(losses)
        return evidence(self.logs) >= self.level

    def found(self, events: Sequence[EventBets]) -> Found:
        """What is contradicted, by the bet with most evidence."""
        best = int(np.argmax(self.logs))
        event = events[best - 2].event() if best >= 2 and events else None
        if event is not None:
            return of_event(event)
        return of_scale(self.drawn) if best == 1 else of_mass(self.drawn)


def impossible(drawn: Overlap) -> Found | None:
    """An answer of likelihood 0 on its database, or a loss that is NaN; or None."""
    for b, sign in ((0, -1.0), (1, 1.0)):
        losses = drawn.losses[b]
        if np.isnan(losses).any():
            event = f"the answers drawn on database {b} that have no loss"
            numbers = "{first} of them, and {second} by the likelihood"
            return event, numbers, float(np.mean(np.isnan(losses))), 0.0
        never = losses == sign * np.inf
        if never.any():
            event = f"the answers on database {b} whose loss is {sign * np.inf}"
            numbers = "{first} of the draws are such, with probability {second} by the likelihood"
            return event, numbers, float(np.mean(never)), 0.0
    return None


def of_event(event: Event) -> Found:
    """An event, with its share of the overlap on each database."""
    numbers = (
        "it has the share {first} of min(P0, P1) by the draws on database 0 and {second} by those "
        "on database 1, which the likelihood makes equal"
    )
    if event.rough:
        numbers += f" but for {SLACK:g}"
    return f"the event that {event.words}", numbers, event.probability_0, event.probability_1


def of_mass(drawn: Overlap) -> Found:
    """The mass of the overlap on each database."""
    numbers = (
        "min(P0, P1) has the mass {first} by the draws on database 0 and {second} by those on "
        "database 1, which the likelihood makes equal"
    )
    first, second = (float(kept) / drawn.size for kept in drawn.kept)
    return "over all answers", numbers, first, second


def of_scale(drawn: Overlap) -> Found:
    """The mean of the declared loss over the overlap, on each database."""
    means = []
    for b, sign in ((0, -1.0), (1, 1.0)):
        weights = np.exp(np.minimum(sign * drawn.losses[b], 0.0))
        means.append(float(np.average(drawn.losses[b], weights=weights)))
    numbers = (
        "the declared loss has the mean {first} over min(P0, P1) by the draws on database 0 and "
        "{second} by those on database 1, which the likelihood makes equal"
    )
    return "over all answers", numbers, means[0], means[1]


def law_of(challenge: Challenge, relation: Relation) -> PrivacyLossLaw | None:
    """The exact law of the loss that a mechanism declares, or None."""
    try:
        return challenge.mechanism.law(challenge.database_0, challenge.database_1, relation)
    except NotApplicable:
        return None


def against_law(drawn: Overlap, law: PrivacyLossLaw | None, alpha: float) -> Found | None:
    """A loss at which the draws leave the band around the exact law, if there is one."""
    if law is None:
        return None
    band = math.sqrt(math.log(4.0 / alpha) / (2.0 * drawn.size))
    for b in (0, 1):
        losses = np.sort(drawn.losses[b])
        places = np.unique(np.linspace(0, len(losses) - 1, POINTS).astype(int))
        for t in np.unique(losses[places]):
            if not np.isfinite(t):
                continue
            room = ROUNDING * (1.0 + abs(float(t)))  # an atom's losses are rounded to either side
            for end, sign in ((t + room, 1.0), (t - room, -1.0)):
                declared = law.cdf(float(end), under=b)
                seen = float(np.searchsorted(losses, t, side="right" if sign > 0 else "left"))
                seen /= len(losses)
                if sign * (seen - declared) > band:
                    event = f"the event that the loss on database {b} is at most {end:.6g}"
                    numbers = "{first} of the draws, and {second} by the declared law"
                    return event, numbers, seen, declared
    return None


def fixed(challenges: Iterable[Challenge]) -> Iterator[Challenge]:
    """Challenges with a likelihood; a free parameter at both of its ends."""
    for challenge in challenges:
        mechanism = challenge.mechanism
        if not mechanism.has_likelihood:
            continue
        free = mechanism.parameter if isinstance(mechanism, ScalarMechanism) else None
        if isinstance(free, Free):
            assert isinstance(mechanism, ScalarMechanism)
            for end in dict.fromkeys((free.low, free.high)):
                yield challenge._replace(mechanism=mechanism.with_parameter(end))
        else:
            yield challenge


def require_declared(
    challenges: Iterable[Challenge],
    relation: Relation,
    seed: int,
    *,
    draws: int | None = None,
    events: int = DRAWS,
    false_alarm: float = FALSE_ALARM,
) -> Examined:
    """Examine the challenges with a likelihood; return what would have been found.

    Of those that differ in numbers alone a few stand for all, see
    :func:`~simulator.auditing.declared.classes.representatives`. The false-alarm probability is
    divided among them, and so are MOST_DRAWS, where ``draws`` of each are not given. Raises
    FalseLikelihood at the first that is contradicted.
    """
    met = list(fixed(challenges))
    distinct = representatives(met)
    passed = []
    for number, challenge in in_stages(list(enumerate(distinct)), "examining likelihoods"):
        noise = (
            generator(seed, number, Stream.DECLARED, 0),
            generator(seed, number, Stream.DECLARED, 1),
        )
        found = examine(
            challenge, relation, noise,
            draws=draws, events=events, most=MOST_DRAWS // len(distinct),
            false_alarm=false_alarm / len(distinct),
        )  # fmt: skip
        if isinstance(found, Contradiction):
            raise FalseLikelihood(str(found))
        passed.append(found)
    errors = [each.error for each in passed if math.isfinite(each.error)]
    return Examined(
        mechanisms=len(passed),
        met=len(met),
        draws=min((each.draws for each in passed), default=0),
        error=max(errors, default=math.inf),
        share=max((each.share for each in passed), default=1.0),
    )
