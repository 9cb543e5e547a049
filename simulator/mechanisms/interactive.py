"""Mechanisms that are opened once and take messages in later rounds; their state lasts one trial.

Examples are above-threshold query by query, and a library's filter or odometer. The adversary opens
an object with state, a new one in every trial. It receives a :class:`Handle` without data, and the
engine passes its messages to the trial's own object.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.foundations.errors import Breach
from simulator.mechanisms.black_box import NoLikelihood, Raised, answer_of
from simulator.mechanisms.copies import own_copy
from simulator.theory.guarantees.families import Guarantee


@dataclass(frozen=True)
class Handle:
    """The answer that the adversary receives when it opens an interactive mechanism.

    ``number`` counts the openings of the trial from 0. Handles of different trials may be equal;
    only the trial's own object takes messages.
    """

    number: int

    def ask(self, message: Any = None) -> Ask:
        """The challenge of a later round: ``answer = yield handle.ask(message)``."""
        return Ask(self, message)

    def __copy__(self) -> Handle:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Handle:
        return self


@dataclass(frozen=True, eq=False)
class Ask:
    """A message to an interactive mechanism that was opened in an earlier round of this trial."""

    handle: Handle
    message: Any


@dataclass(frozen=True, repr=False, slots=True)
class Interactive(NoLikelihood):
    """A mechanism that the adversary opens, and queries in later rounds by ``handle.ask(message)``.

    Parameters
    ----------
    opener : ``opener(database, rng)`` or ``opener(database)`` makes the object of one trial. It is
        called with each message and returns the answer, or is a generator that is sent each
        message and yields the answer (up to its first ``yield`` it runs when it is opened).
    claimed : the guarantee of the whole conversation, charged once, at the opening.
    name : for messages; by default the opener's.

    The answer to the opening is a :class:`Handle`, or :class:`Raised` where the opener raises. Each
    message takes one round.
    """

    opener: Callable[..., Any]
    claimed: Guarantee
    name: str = ""
    with_generator: bool = field(init=False, default=False, repr=False)

    def __post_init__(self) -> None:
        self.describe(self.opener)

    def sample(
        self, database: Database, noise: np.random.Generator, relation: Relation = ADD_REMOVE
    ) -> Conversation | Raised:
        """Open it on ``database``; raises Breach for an object that takes no messages."""
        arguments = (database, noise) if self.with_generator else (database,)
        try:
            opened = self.opener(*arguments)
            ask = opened
            if hasattr(opened, "send"):
                next(opened)
                ask = opened.send
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # any exception of a user's code is an answer
            return Raised.of(error)
        if not callable(ask):
            raise Breach(
                f"{self!r} opened {opened!r}, which takes no messages: return something to call "
                "with each message, or a generator"
            )
        return Conversation(opened, ask)


class Conversation:
    """The object of one trial, which never reaches the adversary."""

    __slots__ = ("ask", "opened")

    def __init__(self, opened: Any, ask: Callable[..., Any]) -> None:
        self.opened = opened
        self.ask = ask

    @property
    def owner(self) -> Any:
        """The object that holds the state: that of a method, else itself."""
        return getattr(self.opened, "__self__", self.opened)

    def __reduce__(self) -> NoReturn:
        raise Breach("the object of an interactive mechanism stays within its trial")


class MessagePair:
    """One message to a conversation."""

    __slots__ = ("_conversation", "_message")

    def __init__(self, conversation: Conversation, message: Any) -> None:
        self._conversation = conversation
        self._message = message_copy(message)

    def sample(self, b: int, noise: np.random.Generator) -> Any:
        """The answer to the message."""
        return answer_of(self._conversation.ask, self._message)

    def loss(self, answer: Any) -> float:
        """NaN, as it is unknown."""
        return math.nan


def message_copy(message: Any) -> Any:
    """A copy of a message, so that the adversary's own cannot be altered.

    An object of a library that cannot be copied is passed as it is.
    """
    try:
        return own_copy(message)
    except KeyboardInterrupt:
        raise
    except BaseException:  # copying runs a user's code
        return message


class Conversations:
    """The interactive mechanisms that one trial has opened.

    ``earlier`` are those of the trial before: an opener that returns one object twice would carry
    state from trial to trial.
    """

    __slots__ = ("_earlier", "_handles", "_opened")

    def __init__(self, earlier: Conversations | None = None) -> None:
        self._handles: list[Handle] = []
        self._opened: list[Conversation] = []
        self._earlier = () if earlier is None else tuple(earlier._opened)

    def open(self, conversation: Conversation) -> Handle:
        """The handle of a new conversation; raises Breach."""
        for other in (*self._earlier, *self._opened):
            if other.owner is conversation.owner:
                raise Breach(
                    f"an interactive mechanism opened {conversation.opened!r} twice: make a new "
                    "object each time, for state must not pass from trial to trial"
                )
        self._handles.append(Handle(len(self._handles)))
        self._opened.append(conversation)
        return self._handles[-1]

    def pair(self, ask: Ask) -> MessagePair:
        """A message to a conversation of this trial; raises Breach for another trial's handle."""
        for handle, conversation in zip(self._handles, self._opened):
            if handle is ask.handle:
                return MessagePair(conversation, ask.message)
        raise Breach(
            f"the adversary sent to {ask.handle!r}, which was not opened in this trial: a handle "
            "is valid only in the trial that opened it"
        )
