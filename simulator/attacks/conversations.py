"""An adversary in conversation with one mechanism: which messages break its guarantee.

The exact search tries every message after every answer. Where that is too large, the message with
the largest mean loss is sent after every answer, which is one adversary: its value is a lower end.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.facts import ShownByFacts
from simulator.foundations.validation import finite, nonnegative, probability_below_one
from simulator.mechanisms.interactive_mechanism import InteractiveMechanism
from simulator.mechanisms.tilted import outcomes_of
from simulator.theory.bracket import Bracket
from simulator.worst.conversations import worst_conversation

MOST_VIEWS = 200_000
"""Most points (state, loss) of the adversary that sends the largest message."""
_DIGITS = 12
_MARGIN = 1e-12


@dataclass(frozen=True, kw_only=True, repr=False)
class FoundConversation(ShownByFacts):
    """The messages that break a guarantee, or the worst that were found.

    Attributes
    ----------
    epsilon, promised : the guarantee: at most ``promised`` beyond ``epsilon``.
    databases, experiment : where delta was found.
    delta : ends of the delta of the messages; certain, as every answer is enumerated.
    upper : an upper end over all messages on these databases; None where it is not known.
    messages : the tree: after these answers, that message.
    relation : when two databases are neighbours.

    >>> from simulator import Database, PureDP, counting_query
    >>> from simulator.attacks import find_conversation
    >>> from simulator.mechanisms import ResponseTree, randomized_response_tree
    >>> root = randomized_response_tree([0.1, 0.2])
    >>> tree = ResponseTree(counting_query("alice"), root, PureDP(0.25))
    >>> find_conversation(tree, [(Database(), Database(["alice"]))]).delta.lower > 0.0
    True
    """

    mechanism: InteractiveMechanism
    epsilon: float
    promised: float
    databases: tuple[Database, Database]
    experiment: int
    delta: Bracket
    upper: float | None
    messages: dict[tuple[Any, ...], Any] = field(repr=False)
    relation: Relation = ADD_REMOVE

    @property
    def verdict(self) -> str:
        """``broken``, ``sound`` for the databases that were given, or ``undecided``."""
        if self.delta.lower > self.promised + 1e-11:
            return "broken"
        return (
            "sound"
            if self.upper is not None and self.upper <= self.promised + 1e-11
            else "undecided"
        )

    @property
    def rounds(self) -> int:
        """The rounds of a play: one opens the mechanism, each message takes one more."""
        return 1 + max((len(answers) + 1 for answers in self.messages), default=0)

    def facts(self) -> dict[str, str]:
        """The guarantee, and what came of it."""
        return {
            "mechanism": type(self.mechanism).__name__,
            "verdict": self.verdict,
            "promised": f"({self.epsilon:g}, {self.promised:g})",
            "delta": str(self.delta),
            "messages": str(self.rounds - 1),
        }

    def adversary(self, coins: np.random.Generator) -> Generator[Any, Any, None]:
        """Play the messages: a generator function for :func:`simulator.simulate`."""
        first, second = self.databases
        handle = yield first, second, self.mechanism
        answers: tuple[Any, ...] = ()
        while answers in self.messages:
            answer = yield handle.ask(self.messages[answers])
            answers = (*answers, answer)
        while True:  # stopped: nothing more is lost
            yield first, first, self.mechanism

    def program(self) -> str:
        """The adversary as text, with its messages by their representations."""
        lines = [
            "def adversary(coins):",
            "    handle = yield DATABASE_0, DATABASE_1, MECHANISM",
        ]
        fixed = self._fixed
        if fixed is not None:
            lines.append("    for message in (")
            lines += [f"        {_text(message)}," for message in fixed]
            lines += ["    ):", "        yield handle.ask(message)"]
        else:
            lines += ["    answers = ()", "    next_message = {"]
            lines += [f"        {key!r}: {_text(each)}," for key, each in self.messages.items()]
            lines += [
                "    }",
                "    while answers in next_message:",
                "        answer = yield handle.ask(next_message[answers])",
                "        answers = (*answers, answer)",
            ]
        lines += ["    while True:", "        yield DATABASE_0, DATABASE_0, MECHANISM"]
        return "\n".join(lines)

    @property
    def _fixed(self) -> list[Any] | None:
        """The messages where they do not depend on answers and follow every answer, else None."""
        by_length: dict[int, Any] = {}
        for answers, message in self.messages.items():
            if by_length.setdefault(len(answers), message) != message:
                return None
        fixed = [by_length[length] for length in sorted(by_length)]
        opening = self.mechanism.pair(*self.databases, self.relation)
        states = [opening.state]
        for message in fixed:
            following = []
            for state in states:
                if message not in list(self.mechanism.messages(state)):
                    return None
                possible, *_ = outcomes_of(opening.pair(state, message))
                following += [self.mechanism.after(state, message, each) for each in possible]
            states = list(dict.fromkeys(following))
        return fixed


def _text(message: Any) -> str:
    """A message in a program; its name where its representation is of one process only."""
    text = repr(message)
    name = getattr(message, "name", None)
    return str(name) if " at 0x" in text and isinstance(name, str) else text


def find_conversation(
    mechanism: InteractiveMechanism,
    pairs: Iterable[tuple[Database, Database]],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    relation: Relation = ADD_REMOVE,
) -> FoundConversation:
    """The messages to an interactive mechanism that get most beyond its guarantee.

    Parameters
    ----------
    pairs : neighbouring databases to open it on; both experiments are searched.
    epsilon, delta : the claim, where it is not the mechanism's guarantee.

    Raises
    ------
    InvalidInput : no pair, or a mechanism that is not interactive.
    NotApplicable : messages or answers are not finitely many.

    >>> from simulator import Database, PureDP, counting_query
    >>> from simulator.attacks import find_conversation
    >>> from simulator.mechanisms import ResponseTree, randomized_response_tree
    >>> root = randomized_response_tree([0.1, 0.2])
    >>> tree = ResponseTree(counting_query("alice"), root, PureDP(0.25))
    >>> found = find_conversation(tree, [(Database(), Database(["alice"]))])
    >>> found.verdict, found.rounds
    ('broken', 3)
    """
    if not isinstance(mechanism, InteractiveMechanism):
        raise InvalidInput(
            f"find_conversation takes an interactive mechanism, not {mechanism!r:.80}"
        )
    guarantee = mechanism.guarantee(relation)
    promised = guarantee.leak if delta is None else probability_below_one("delta", delta)
    at = guarantee.core.pure_epsilon if epsilon is None else epsilon
    at = nonnegative("epsilon", finite("epsilon", at))
    best: FoundConversation | None = None
    uppers: list[float | None] = []
    for first, second in pairs:
        if not relation.are_neighbours(first, second):
            raise InvalidInput(f"{first!r:.60} and {second!r:.60} are no neighbours")
        for experiment in (0, 1):
            side = _OpenedSide(mechanism, (first, second), relation, experiment)
            found = _exact(side, at) or _greedy(side, at)
            delta_found, upper, messages = found
            uppers.append(upper)
            if best is None or delta_found.lower > best.delta.lower:
                best = FoundConversation(
                    mechanism=mechanism, epsilon=at, promised=promised,
                    databases=(first, second), experiment=experiment, delta=delta_found,
                    upper=None, messages=messages, relation=relation,
                )  # fmt: skip
    if best is None:
        raise InvalidInput("give at least one pair of neighbouring databases")
    known = [upper for upper in uppers if upper is not None]
    upper = max(known) if len(known) == len(uppers) else None
    return FoundConversation(**{**_values(best), "upper": upper})


def _values(found: FoundConversation) -> dict[str, Any]:
    return {name: getattr(found, name) for name in found.__dataclass_fields__}


_Found = tuple[Bracket, float | None, dict[tuple[Any, ...], Any]]


class _OpenedSide:
    """A mechanism that was opened on two databases, seen from one experiment."""

    def __init__(
        self,
        mechanism: InteractiveMechanism,
        databases: tuple[Database, Database],
        relation: Relation,
        experiment: int,
    ) -> None:
        self.mechanism, self.databases, self.relation = mechanism, databases, relation
        self.experiment, self.opening = experiment, mechanism.pair(*databases, relation)

    def rows(self, state: Any, message: Any) -> list[tuple[Any, float, float]]:
        """(answer, its probability, its loss) of the possible answers."""
        pair = self.opening.pair(state, message)
        answers, *chances = outcomes_of(pair)
        sign = -1.0 if self.experiment else 1.0
        return [
            (answer, chance, sign * float(pair.loss(answer)))
            for answer, chance in zip(answers, chances[self.experiment])
            if chance > 0.0
        ]


_SMALL = 20_000
"""Points within which every message after every answer is tried."""


def _exact(side: _OpenedSide, epsilon: float) -> _Found | None:
    """The exact search; None where it is too large."""
    if not _few(side):
        return None
    first, second = side.databases
    found = worst_conversation(
        side.mechanism, first, second, epsilon=epsilon, experiment=side.experiment,
        relation=side.relation,
    )  # fmt: skip
    known = _Tree(side, epsilon, every=True)
    known.value(side.opening.state, -epsilon)
    return found.delta, found.delta.upper, known.messages()


def _few(side: _OpenedSide) -> bool:
    """Whether so few states can be reached that every message is tried."""
    seen, edge = set(), [side.opening.state]
    while edge:
        state = edge.pop()
        for message in side.mechanism.messages(state):
            for answer, _, _ in side.rows(state, message):
                after = side.mechanism.after(state, message, answer)
                if after not in seen:
                    seen.add(after)
                    edge.append(after)
        if len(seen) > _SMALL // 10:
            return False
    return True


def _greedy(side: _OpenedSide, epsilon: float) -> _Found:
    """The adversary that sends the message with the largest mean loss."""
    tree = _Tree(side, epsilon, every=False)
    value = tree.value(side.opening.state, -epsilon)
    error = tree.depth * 10.0**-_DIGITS + _MARGIN * value
    return Bracket(max(value - error, 0.0), min(value + error, 1.0)), None, tree.messages()


class _Tree:
    """Values of states and losses, by every message or by that with the largest mean loss."""

    def __init__(self, side: _OpenedSide, epsilon: float, *, every: bool) -> None:
        self.side, self.epsilon, self.every = side, epsilon, every
        self.best: dict[tuple[Any, float], tuple[float, Any]] = {}
        self.largest: dict[Any, Any] = {}
        self.depth = 0

    def value(self, state: Any, z: float, depth: int = 0) -> float:
        """The value of a state at the loss z past epsilon."""
        key = state, round(z, _DIGITS)
        if key in self.best:
            return self.best[key][0]
        if len(self.best) >= MOST_VIEWS or depth > sys.getrecursionlimit() // 4:
            raise NotApplicable("the conversation is too long; search a shorter one")
        self.depth = max(self.depth, depth)
        value, chosen = (-math.expm1(-z) if z > 0.0 else 0.0), None
        for message in self._tried(state):
            mean = math.fsum(
                chance * self.value(self.side.mechanism.after(state, message, answer), z + loss,
                                    depth + 1)
                for answer, chance, loss in self.side.rows(state, message)
            )  # fmt: skip
            if mean > value or (mean == value and not self.every):
                value, chosen = mean, message
        self.best[key] = value, chosen
        return value

    def _tried(self, state: Any) -> list[Any]:
        messages = self.side.mechanism.messages
        if self.every:
            return list(messages(state))
        if state not in self.largest:
            means = [
                (
                    math.fsum(chance * loss for _, chance, loss in self.side.rows(state, each)),
                    number,
                )
                for number, each in enumerate(messages(state))
            ]
            number = max(means, key=lambda each: (each[0], -each[1]))[1] if means else None
            self.largest[state] = [] if number is None else [list(messages(state))[number]]
        return self.largest[state]

    def messages(self, most: int = 50_000) -> dict[tuple[Any, ...], Any]:
        """After which answers which message is sent; answers after which nothing is won are not."""
        found: dict[tuple[Any, ...], Any] = {}
        edge: list[tuple[tuple[Any, ...], Any, float]] = [
            ((), self.side.opening.state, -self.epsilon)
        ]
        while edge:
            if len(found) == most:
                raise NotApplicable("the conversation has too many messages; search a shorter one")
            answers, state, z = edge.pop(0)
            value, message = self.best[state, round(z, _DIGITS)]
            if message is None or value == 0.0:
                continue
            found[answers] = message
            for answer, _, loss in self.side.rows(state, message):
                after = self.side.mechanism.after(state, message, answer)
                edge.append(((*answers, answer), after, z + loss))
        return found
