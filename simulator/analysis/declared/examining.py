"""Hold a declared likelihood against draws of the mechanism itself.

Let P0 and P1 be the laws of the draws, L the declared loss. If L = ln dP0/dP1, then for every
event E

    E0[min(1, e^-L); E] = E1[min(1, e^L); E],

for both are the mass of min(P0, P1) on E; and conversely, if that holds for all events, L is
the loss. Both weights lie in [0, 1], so for an event chosen from earlier draws the difference of
one draw of each database is bounded, with mean 0, and a gambler who bets on its sign holds a
nonnegative martingale: by Ville's inequality his wealth reaches 1/alpha with probability at most
alpha (Shafer 2021, "Testing by betting"; Podkopaev and Ramdas 2023, "Sequential predictive
two-sample and independence testing"). Three more gamblers share the stake: one on the bits of
floats, where honest rounding is allowed for, and two on E0[e^-L] <= 1 and E1[e^L] <= 1.

Where the mechanism has an exact law of its loss, the losses of the draws are held against it by
the Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant, valid for every law.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge
from simulator.analysis.declared.columns import ColumnBlock, Tabulator
from simulator.analysis.declared.events import ROUNDING, SLACK, Both, Gap, Within, widest_gap
from simulator.analysis.declared.verdict import Contradiction, FalseLikelihood
from simulator.data.databases import Relation
from simulator.foundations.errors import NotApplicable
from simulator.foundations.seeds import Stream, generator
from simulator.foundations.stages import in_stages
from simulator.foundations.validation import open_probability, whole
from simulator.mechanisms import Free, ScalarMechanism
from simulator.theory.laws import PrivacyLossLaw

DRAWS = 1 << 14
"""Draws of each database, at most."""
FALSE_ALARM = 1e-6
"""The probability with which some true likelihood of a play is contradicted."""

FIRST = 512
LARGEST_BET = 0.5
SHRINKAGE = 2.5
"""Standard errors taken off a gap for the luck of having chosen it."""
POINTS = 32
"""Losses at which an exact law is compared."""

Draw = Callable[[int, np.random.Generator], Any]
Noise = tuple[np.random.Generator, np.random.Generator]


class Drawn:
    """Draws of both databases with their declared losses, and the columns made of them.

    Attributes
    ----------
    losses : of the draws on each database, shape (draws,).
    blocks : their columns, a tuple of blocks for each database; none before the first draw.
    """

    def __init__(self, draw: Draw, loss: Callable[[Any], float], noise: Noise) -> None:
        self.draw, self.loss, self.noise = draw, loss, noise
        self.losses: Both = (np.empty(0), np.empty(0))
        self.blocks: tuple[tuple[ColumnBlock, ...], ...] = ()
        self.tabulator: Tabulator | None = None

    def more(self, n: int) -> tuple[tuple[ColumnBlock, ...], ...]:
        """Draw ``n`` more answers on each database; return the columns of these alone."""
        answers = [[self.draw(b, self.noise[b]) for _ in range(n)] for b in (0, 1)]
        losses = [np.array([self.loss(a) for a in each], dtype=float) for each in answers]
        if self.tabulator is None:
            self.tabulator = Tabulator([*answers[0], *answers[1]])
        new = tuple(self.tabulator.blocks(answers[b], losses[b]) for b in (0, 1))
        self.losses = (
            np.concatenate([self.losses[0], losses[0]]),
            np.concatenate([self.losses[1], losses[1]]),
        )
        self.blocks = tuple(map(joined, self.blocks, new)) if self.blocks else new
        return new

    @property
    def size(self) -> int:
        """How many draws of each database there are."""
        return len(self.losses[0])

    def weights(self, start: int = 0) -> Both:
        """min(1, e^-L) of the draws on database 0, min(1, e^L) of those on 1."""
        first, second = (losses[start:] for losses in self.losses)
        return np.exp(-np.maximum(first, 0.0)), np.exp(np.minimum(second, 0.0))


def joined(
    first: tuple[ColumnBlock, ...], second: tuple[ColumnBlock, ...]
) -> tuple[ColumnBlock, ...]:
    """Blocks of the same columns, one below the other."""
    return tuple(
        replace(a, table=np.concatenate([a.table, b.table])) for a, b in zip(first, second)
    )


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
    drawn = Drawn(pair.sample if draw is None else draw, pair.loss, noise)
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
"""An event, and two numbers: in words, and themselves."""


def against_events(drawn: Drawn, draws: int, alpha: float) -> Found | None:
    """Bet, batch by batch, on what the batches before showed; stop when it is clear."""
    logs = np.zeros(4)
    chosen: list[Gap | None] = [None, None]
    while drawn.size < draws:
        start = drawn.size
        means = [mean_bet(drawn, b) for b in (0, 1)] if start else []
        if start:
            chosen = [widest_gap(drawn.blocks, drawn.weights(), rough) for rough in (False, True)]
        new = drawn.more(min(draws - start, max(FIRST, start)))
        if (found := impossible(drawn)) is not None:
            return found
        if not start:
            continue
        weights = drawn.weights(start)
        for i, gap in enumerate(chosen):
            if gap is not None:
                logs[i] += settled(gap, new, weights)
        for b, bet in enumerate(means):
            signed = drawn.losses[b][start:] * (1 if b else -1)
            logs[2 + b] += float(np.log1p(bet * np.expm1(np.minimum(signed, 700.0))).sum())
        if np.logaddexp.reduce(logs) - math.log(len(logs)) >= -math.log(alpha):
            best = int(np.argmax(logs))
            gap = chosen[best] if best < 2 else None
            return told_of_event(drawn, gap.event) if gap else told_of_mean(drawn, best - 2)
    return None


def settled(gap: Gap, blocks: tuple[tuple[ColumnBlock, ...], ...], weights: Both) -> float:
    """The log-wealth that a bet on an event gains on new draws; 0 where it is worth none."""
    event = gap.event
    allowed = SLACK if event.rough else 0.0
    first, second = (event.holds(each) * w for each, w in zip(blocks, weights))
    gains = event.sign * (first - second) - allowed * (weights[0] + weights[1]) / 2.0
    mean = abs(gap.mean) - SHRINKAGE * math.sqrt(gap.square / gap.pairs)
    if event.rough:
        mean -= allowed * float(weights[0].mean() + weights[1].mean()) / 2.0
    bet = min(max(mean, 0.0) / max(gap.square, 1e-300), LARGEST_BET)
    return float(np.log1p(bet * gains).sum())


def mean_bet(drawn: Drawn, b: int) -> float:
    """The share to bet on E0[e^-L] > 1, or on E1[e^L] > 1, by the draws so far."""
    gains = np.expm1(np.minimum(drawn.losses[b] * (1 if b else -1), 300.0))
    square = float(np.mean(gains**2))
    mean = float(gains.mean()) - SHRINKAGE * math.sqrt(square / len(gains))
    return min(max(mean, 0.0) / max(square, 1e-300), LARGEST_BET)


def impossible(drawn: Drawn) -> Found | None:
    """An answer to which its own database gives likelihood 0, or a loss that is no number."""
    for b, sign in ((0, -1.0), (1, 1.0)):
        losses = drawn.losses[b]
        if np.isnan(losses).any():
            event = f"the answers drawn on database {b} that have no loss"
            return (
                event,
                "{first} of them, and {second} by the likelihood",
                count(np.isnan(losses)),
                0.0,
            )
        never = losses == sign * np.inf
        if never.any():
            event = f"the answers on database {b} whose loss is {sign * np.inf}"
            numbers = "{first} of the draws are such, with probability {second} by the likelihood"
            return event, numbers, count(never), 0.0
    return None


def count(which: np.ndarray) -> float:
    """The share of the draws that are such."""
    return float(np.mean(which))


def told_of_event(drawn: Drawn, event: Within) -> Found:
    """An event and the two masses that it has."""
    first, second = (
        float(np.mean(event.holds(each) * w)) for each, w in zip(drawn.blocks, drawn.weights())
    )
    numbers = (
        "min(P0, P1) has {first} of it by the draws on database 0 and {second} by those on "
        "database 1, which the likelihood makes equal"
    )
    if event.rough:
        numbers += f" but for {SLACK:g} of their sum"
    return f"the event that {event}", numbers, first, second


def told_of_mean(drawn: Drawn, b: int) -> Found:
    """The mean of the likelihood ratio, which is at most 1."""
    name = "E1[e^L]" if b else "E0[e^-L]"
    with np.errstate(over="ignore"):
        mean = float(np.mean(np.exp(drawn.losses[b] * (1 if b else -1))))
    return (
        "over all answers",
        f"{name} is {{first}} by its draws, and at most {{second}}",
        mean,
        1.0,
    )


def law_of(challenge: Challenge, relation: Relation) -> PrivacyLossLaw | None:
    """The exact law of the loss that a mechanism declares, or None."""
    try:
        return challenge.mechanism.law(challenge.database_0, challenge.database_1, relation)
    except NotApplicable:
        return None


def against_law(drawn: Drawn, law: PrivacyLossLaw | None, alpha: float) -> Found | None:
    """The loss at which the draws leave the band around an exact law, if any, of both databases."""
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
