"""Test a declared likelihood with draws of the mechanism.

Let P0 and P1 be the laws of the draws, L the declared loss. If L = ln dP0/dP1, then for every
event E

    E0[min(1, e^-L); E] = E1[min(1, e^L); E],

because both are the mass of min(P0, P1) on E; conversely, if it holds for all events, L is the
loss. So draws are kept with these weights as probabilities, see :class:`Overlap`: the kept draws of
both databases have the same law and the same expected number. That is a claim of (0,
0)-differential privacy, which is tested by bets as in an audit, each on an event that was chosen
from earlier draws. The evidence is the average of three bets: on the number of kept draws, on
events, and on the bits of floats, with a slack for the rounding of correct noise.

If the mechanism has an exact law of its loss, the losses of the draws are compared with it by the
Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant, valid for every law.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from simulator.adversaries.contract import Challenge
from simulator.auditing.declared.betting import SPARE, EventBets, MassBets, evidence
from simulator.auditing.declared.overlap import ROUNDING, Draw, Noise, Overlap
from simulator.auditing.declared.verdict import Contradiction, FalseLikelihood
from simulator.auditing.evidence.events import Event
from simulator.auditing.evidence.float_features import each_bit, each_digit
from simulator.data.databases import Relation
from simulator.foundations.errors import NotApplicable
from simulator.foundations.seeds import Stream, generator
from simulator.foundations.stages import in_stages
from simulator.foundations.validation import open_probability, whole
from simulator.mechanisms import Free, ScalarMechanism
from simulator.theory.laws.base import PrivacyLossLaw

DRAWS = 1 << 14
"""Draws of each database, at most."""
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
    draws: int = DRAWS,
    false_alarm: float = FALSE_ALARM,
    draw: Draw | None = None,
) -> Contradiction | None:
    """Look for an event that contradicts a challenge's declared likelihood.

    Parameters
    ----------
    challenge : two databases, and a mechanism with a likelihood.
    noise : the generators from which its answers on database 0 and on database 1 are drawn.
    draws : of each database, at most; a clear contradiction takes fewer.
    false_alarm : the probability with which a true likelihood is contradicted.
    draw : ``draw(b, rng)`` answers on database b; by default as in play.

    Returns the contradiction, or None where there is none. Raises InvalidInput, and what the
    mechanism raises.
    """
    database_0, database_1, mechanism = challenge
    whole("draws", draws, 1)
    alpha = open_probability("false_alarm", false_alarm) / 2.0
    pair = mechanism.pair(database_0, database_1, relation)
    drawn = Overlap(pair.sample if draw is None else draw, pair.loss, noise)
    found = against_events(drawn, draws, alpha)
    if found is None:
        found = against_law(drawn, law_of(challenge, relation), alpha)
    if found is None:
        return None
    event, numbers, first, second = found
    return Contradiction(
        mechanism=repr(mechanism), pair=relation.difference(database_0, database_1),
        event=event, numbers=numbers, first=first, second=second,
        draws=drawn.size, false_alarm=false_alarm,
    )  # fmt: skip


Found = tuple[str, str, float, float]
"""An event and two numbers, as text, and the two numbers."""


def against_events(drawn: Overlap, draws: int, alpha: float) -> Found | None:
    """Bet on events of earlier batches, batch by batch; stop when the evidence suffices."""
    aim = (SPARE - math.log(alpha)) / draws
    mass = MassBets()
    event_bets = [EventBets(each_digit, 0.0, aim), EventBets(each_bit, SLACK, aim)]
    while drawn.size < draws:
        start, before = drawn.size, drawn.kept.copy()
        kept = drawn.more(min(draws - start, max(FIRST, start)))
        if (found := impossible(drawn)) is not None:
            return found
        if start:
            logs = [mass.bet(drawn, before, start), *(each.bet(kept) for each in event_bets)]
            if evidence(logs) >= -math.log(alpha):
                best = int(np.argmax(logs))
                event = event_bets[best - 1].event() if best else None
                return of_mass(drawn) if event is None else of_event(event)
        if drawn.size < draws:
            for each in event_bets:
                each.learn(kept)
    return None


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
    draws: int = DRAWS,
    false_alarm: float = FALSE_ALARM,
) -> int:
    """Examine every challenge with a likelihood; return how many there were.

    The false-alarm probability is divided among them. Raises FalseLikelihood at the first that is
    contradicted.
    """
    distinct = list(fixed(challenges))
    for number, challenge in in_stages(list(enumerate(distinct)), "examining likelihoods"):
        noise = (
            generator(seed, number, Stream.DECLARED, 0),
            generator(seed, number, Stream.DECLARED, 1),
        )
        found = examine(
            challenge, relation, noise, draws=draws, false_alarm=false_alarm / len(distinct)
        )
        if found is not None:
            raise FalseLikelihood(str(found))
    return len(distinct)
