"""The worst adversary of an interactive mechanism with finitely many messages and answers.

delta(epsilon) = sum over views v of (P0(v) - e^epsilon P1(v))_+, and the adversary chooses every
message by what it has heard. By backward recursion, with z = loss so far - epsilon:
V(state, z) = max over messages of E0[V(next state, z + loss of the answer)], where
V = (1 - e^{-z})_+ when the conversation is over. Interleavings of several conversations are
messages of :class:`~simulator.mechanisms.Concurrent`: concurrent composition needs nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.validation import finite
from simulator.mechanisms.interactive_mechanism import InteractiveMechanism
from simulator.mechanisms.tilted import outcomes_of
from simulator.theory.bracket import Bracket

MOST_POINTS = 2_000_000
"""Most points of conversations that are kept; larger games are refused."""
_DIGITS = 12
"""Losses that agree to so many digits after the point are one. Each such rounding moves a value by
as much, as V has a slope of at most 1 in z."""
_MARGIN = 1e-12

_Best = dict[Any, tuple[float, Any, int]]
"""By state and z: the value, the message that reaches it, and the most messages that may follow."""


@dataclass(frozen=True, kw_only=True)
class WorstConversation:
    """The largest delta(epsilon) of any adversary, and the messages that reach it.

    Attributes
    ----------
    epsilon : where delta is taken.
    delta : its ends: the exact value up to round-off.
    points : how many points (state, loss so far) were visited.
    """

    mechanism: InteractiveMechanism
    epsilon: float
    delta: Bracket
    points: int
    _best: _Best
    _start: Any

    def message(self, state: Any, loss: float) -> Any:
        """What the worst adversary sends next; None where the conversation is over."""
        return self._best[_key(state, loss - self.epsilon)][1]

    def transcript(self) -> Iterator[str]:
        """The conversation along the answers of largest loss, one line for each message."""
        state, loss, number = self._start, 0.0, 0
        while (message := self.message(state, loss)) is not None:
            rows = _rows(self.mechanism, state, message)
            answer, chance, step = max(rows, key=lambda row: row[2])
            number, loss = number + 1, loss + step
            yield (
                f"{number}. {message!r} -> {answer:g} (probability {chance:.4g}, loss {step:+.4g}, "
                f"so far {loss:+.4g})"
            )
            state = self.mechanism.after(state, message, answer)


def worst_conversation(
    mechanism: InteractiveMechanism,
    database_0: Database,
    database_1: Database,
    *,
    epsilon: float,
    experiment: int = 0,
    relation: Relation = ADD_REMOVE,
) -> WorstConversation:
    """The largest delta(epsilon) that an adversary reaches by its choice of messages.

    Every message and answer is tried, so the value is exact up to round-off. With ``experiment`` 1
    it is the divergence of P1 from P0.

    Raises
    ------
    NotApplicable : messages or answers are not finitely many, or the game is too large.
    """
    finite("epsilon", epsilon)
    if experiment not in (0, 1):
        raise InvalidInput(f"the experiment is 0 or 1, not {experiment!r}")
    first, second = (database_0, database_1) if experiment == 0 else (database_1, database_0)
    start = mechanism.opened(first, second, relation)
    best: _Best = {}
    try:
        value, depth = _value(mechanism, start, -epsilon, best)
    except RecursionError:
        raise NotApplicable("the conversation goes on for too long; search a shorter one") from None
    error = depth * 10.0**-_DIGITS + _MARGIN * value
    ends = Bracket(max(value - error, 0.0), min(value + error, 1.0))
    return WorstConversation(
        mechanism=mechanism, epsilon=epsilon, delta=ends, points=len(best), _best=best, _start=start
    )


def _value(mechanism: InteractiveMechanism, state: Any, z: float, best: _Best) -> tuple[float, int]:
    key = _key(state, z)
    known = best.get(key)
    if known is not None:
        return known[0], known[2]
    value, chosen, depth = -math.inf, None, 0
    for message in mechanism.messages(state):
        terms = []
        for answer, chance, loss in _rows(mechanism, state, message):
            after = mechanism.after(state, message, answer)
            reached, left = _value(mechanism, after, z + loss, best)
            terms.append(chance * reached)
            depth = max(depth, 1 + left)
        if (total := math.fsum(terms)) > value:
            value, chosen = total, message
    if chosen is None:
        value = -math.expm1(-z) if z > 0.0 else 0.0
    if len(best) >= MOST_POINTS:
        raise NotApplicable(
            f"the conversation has more than {MOST_POINTS:,} points; search a smaller one"
        )
    best[key] = value, chosen, depth
    return value, depth


def _rows(
    mechanism: InteractiveMechanism, state: Any, message: Any
) -> list[tuple[Any, float, float]]:
    """(answer, its probability in experiment 0, its loss) of the answers that are possible."""
    pair = mechanism.answers_to(state, message)
    answers, on_0, _ = outcomes_of(pair)
    return [(a, p, float(pair.loss(a))) for a, p in zip(answers, on_0) if p > 0.0]


def _key(state: Any, z: float) -> tuple[Any, float]:
    return state, round(z, _DIGITS)
