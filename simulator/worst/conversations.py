"""The worst adversary of an interactive mechanism with finitely many messages and answers.

delta(epsilon) = sum over views v of (P0(v) - e^epsilon P1(v))_+, and the adversary chooses every
message by what it has heard. By backward recursion, with z = loss so far - epsilon:
V(state, z) = max over messages of E0[V(next state, z + loss of the answer)], where
V = (1 - e^{-z})_+ when the conversation is over. Interleavings of several conversations are
messages of :class:`~simulator.mechanisms.Concurrent`: concurrent composition needs nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.validation import finite
from simulator.identity.keys import is_fixed
from simulator.mechanisms.interactive_mechanism import InteractiveMechanism, Opening
from simulator.mechanisms.tilted import outcomes_of
from simulator.theory.bracket import Bracket

MOST_POINTS = 2_000_000
"""Most points of conversations that are kept; larger games are refused."""
_DIGITS = 12
"""Losses that agree to so many digits after the point are one. Each such rounding moves a value by
as much, as V has a slope of at most 1 in z."""
_MARGIN = 1e-12


class _Point(NamedTuple):
    """The value of a state and z, the message that reaches it, and most messages that follow.

    ``longest`` counts those of the worst adversary, ``depth`` those of any.
    """

    value: float
    message: Any
    longest: int
    depth: int


_Best = dict[Any, _Point]


@dataclass(frozen=True, kw_only=True)
class WorstConversation:
    """The largest delta(epsilon) of any adversary, and the messages that reach it.

    Attributes
    ----------
    databases : the two on which the mechanism is opened.
    epsilon : where delta is taken.
    delta : its ends: the exact value up to round-off.
    points : how many points (state, loss so far) were visited.

    >>> from simulator import Database, PureDP, counting_query
    >>> from simulator.mechanisms import ResponseTree, randomized_response_tree
    >>> from simulator.worst import worst_conversation
    >>> root = randomized_response_tree([0.1, 0.2])
    >>> tree = ResponseTree(counting_query("alice"), root, PureDP(0.3))
    >>> found = worst_conversation(tree, Database(), Database(["alice"]), epsilon=0.0)
    >>> round(found.delta.upper, 6)
    0.099668
    """

    mechanism: InteractiveMechanism
    databases: tuple[Database, Database]
    epsilon: float
    delta: Bracket
    points: int
    _best: _Best
    _side: _Side

    def play(self, coins: np.random.Generator) -> Generator[Any, Any, None]:
        """The worst adversary, as a generator function for :func:`simulator.simulate`.

        It opens the mechanism in one round and sends its messages in the next ones; in the rounds
        that are left it opens the mechanism on two equal databases, which says nothing. A trial
        takes 1 + ``longest`` rounds. Its delta is that of the experiment of the search.
        """
        first, second = self.databases
        handle = yield first, second, self.mechanism
        state, z = self._side.opening.state, -self.epsilon
        while (message := self._best[_key(state, z)].message) is not None:
            answer = yield handle.ask(message)
            z += self._side.loss(state, message, answer)
            state = self.mechanism.after(state, message, answer)
        while True:
            yield first, first, self.mechanism

    @property
    def longest(self) -> int:
        """Most messages of the worst adversary."""
        return self._best[_key(self._side.opening.state, -self.epsilon)].longest

    def transcript(self) -> Iterator[str]:
        """The conversation along the answers that are worst, one line for each message."""
        state, z, number = self._side.opening.state, -self.epsilon, 0
        while (message := self._best[_key(state, z)].message) is not None:
            options = [
                (self._best[_key(after, z + step)].value, step, chance, answer, after)
                for answer, chance, step in self._side.rows(state, message)
                for after in (self.mechanism.after(state, message, answer),)
            ]
            _, step, chance, answer, after = max(options, key=itemgetter(0, 1))
            number, z = number + 1, z + step
            yield (
                f"{number}. {message!r} -> {answer:g} (probability {chance:.4g}, loss {step:+.4g}, "
                f"so far {z + self.epsilon:+.4g})"
            )
            state = after


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
    InvalidInput : the mechanism's states are not hashable, or may be altered.
    NotApplicable : messages or answers are not finitely many, or the game is too large.

    >>> from simulator import Database, PureDP, counting_query
    >>> from simulator.mechanisms import ResponseTree, randomized_response_tree
    >>> from simulator.worst import worst_conversation
    >>> root = randomized_response_tree([0.1, 0.2])
    >>> tree = ResponseTree(counting_query("alice"), root, PureDP(0.3))
    >>> found = worst_conversation(tree, Database(), Database(["alice"]), epsilon=0.0)
    >>> found.longest, round(found.delta.upper, 6)
    (2, 0.099668)
    """
    finite("epsilon", epsilon)
    if experiment not in (0, 1):
        raise InvalidInput(f"the experiment is 0 or 1, not {experiment!r}")
    best: _Best = {}
    try:
        opening = mechanism.pair(database_0, database_1, relation)
        if not is_fixed(opening.state):
            raise InvalidInput(
                f"the search needs states that are hashable and compare by what they hold, such as "
                f"tuples, and {type(mechanism).__name__} opens with {opening.state!r:.80}"
            )
        value, depth = _value(_Side(opening, experiment), opening.state, -epsilon, best)
    except RecursionError:
        raise NotApplicable("the conversation goes on for too long; search a shorter one") from None
    error = depth * 10.0**-_DIGITS + _MARGIN * value
    ends = Bracket(max(value - error, 0.0), min(value + error, 1.0))
    return WorstConversation(
        mechanism=mechanism, databases=(database_0, database_1), epsilon=epsilon, delta=ends,
        points=len(best), _best=best, _side=_Side(opening, experiment),
    )  # fmt: skip


def _value(side: _Side, state: Any, z: float, best: _Best) -> tuple[float, int]:
    mechanism, key = side.opening.mechanism, _key(state, z)
    try:
        known = best.get(key)
    except TypeError:
        raise InvalidInput(
            f"the search needs hashable states, and {type(mechanism).__name__}.after returned "
            f"{state!r:.80}"
        ) from None
    if known is not None:
        return known.value, known.depth
    value, chosen, longest, depth = -math.inf, None, 0, 0
    for message in mechanism.messages(state):
        terms, length = [], 0
        for answer, chance, loss in side.rows(state, message):
            after = mechanism.after(state, message, answer)
            reached, below = _value(side, after, z + loss, best)
            terms.append(chance * reached)
            depth = max(depth, 1 + below)
            length = max(length, 1 + best[_key(after, z + loss)].longest)
        if (total := math.fsum(terms)) > value:
            value, chosen, longest = total, message, length
    if chosen is None:
        value = -math.expm1(-z) if z > 0.0 else 0.0
    if len(best) >= MOST_POINTS:
        raise NotApplicable(
            f"the conversation has more than {MOST_POINTS:,} points; search a smaller one"
        )
    best[key] = _Point(value, chosen, longest, depth)
    return value, depth


@dataclass(frozen=True)
class _Side:
    """An opened mechanism, seen from one experiment: losses there are positive where it is typical.

    Databases and updates stay as they are; only the signs of losses change.
    """

    opening: Opening
    experiment: int

    def rows(self, state: Any, message: Any) -> list[tuple[Any, float, float]]:
        """(answer, its probability in the experiment, its loss) of possible answers."""
        answers, *chances = outcomes_of(self.opening.pair(state, message))
        return [
            (answer, chance, self.loss(state, message, answer))
            for answer, chance in zip(answers, chances[self.experiment])
            if chance > 0.0
        ]

    def loss(self, state: Any, message: Any, answer: Any) -> float:
        """The loss of an answer, with the experiment's sign."""
        loss = float(self.opening.pair(state, message).loss(answer))
        return -loss if self.experiment else loss


def _key(state: Any, z: float) -> tuple[Any, float]:
    return state, round(z, _DIGITS)
