"""Handles and messages: how an adversary talks to mechanisms that it has opened.

The adversary opens an interactive mechanism in one round, and receives a :class:`Handle` without
data. In later rounds it sends messages by ``handle.ask(message)``, to any of its open mechanisms in
any order; this is concurrent composition. The state of a conversation lasts for one trial and never
reaches the adversary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from simulator.foundations.errors import Breach
from simulator.identity.keys import is_fixed
from simulator.mechanisms.base import Pair
from simulator.mechanisms.copies import own_copy


@dataclass(frozen=True)
class Handle:
    """The answer that the adversary receives when it opens an interactive mechanism.

    ``number`` counts the openings of the trial from 0. Handles of different trials may be equal;
    only the trial's own object takes messages.

    >>> from simulator.mechanisms import Handle
    >>> Handle(2).ask(("count", "alice"))
    Ask(handle=Handle(number=2), message=('count', 'alice'))
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
    """A message to an interactive mechanism that was opened in an earlier round of this trial.

    >>> from simulator.mechanisms import Handle
    >>> Handle(0).ask("ask")
    Ask(handle=Handle(number=0), message='ask')
    """

    handle: Handle
    message: Any


@dataclass(frozen=True)
class Update:
    """Data that arrive in a message: ``on_0`` in experiment 0, ``on_1`` in experiment 1.

    A mechanism that takes updates states which of them keep the two streams neighbours.

    >>> from simulator.mechanisms import Update
    >>> Update(1, 0).differs, Update(1, 1).differs
    (True, False)
    """

    on_0: Any
    on_1: Any

    @property
    def differs(self) -> bool:
        """Whether the two experiments receive different data."""
        return bool(self.on_0 != self.on_1)


def exchanged(message: Any) -> Any:
    """The message with the two experiments exchanged: its updates, also those within tuples."""
    if isinstance(message, Update):
        return Update(message.on_1, message.on_0)
    if type(message) is tuple:
        return tuple(map(exchanged, message))
    return message


class Conversation(Protocol):
    """An open interactive mechanism, in one trial."""

    @property
    def owner(self) -> Any:
        """The object that holds the state, which no other conversation may share."""

    def pair(self, message: Any) -> Pair:
        """The two distributions of the answer to a message, given what was said before."""

    def heard(self, message: Any, answer: Any, loss: float) -> None:
        """Take note of an answer and its loss; raises Breach where it breaks a promise."""


class Conversations:
    """The interactive mechanisms that one trial has opened.

    ``earlier`` are those of the trial before: an opener that returns one object twice would carry
    state from trial to trial.
    """

    __slots__ = ("_by_handle", "_earlier", "_handles", "_owners")

    def __init__(self, earlier: Conversations | None = None) -> None:
        self._handles: list[Handle] = []
        self._by_handle: dict[int, Conversation] = {}
        self._owners: dict[int, Any] = {}
        self._earlier = {} if earlier is None else earlier._owners

    @property
    def any(self) -> bool:
        """Whether this trial has opened one."""
        return bool(self._handles)

    def open(self, conversation: Conversation, handle: Handle | None = None) -> Handle:
        """The handle of a new conversation, that of a recorded play if given; raises Breach."""
        owner = conversation.owner
        if id(owner) in self._owners or id(owner) in self._earlier:
            raise Breach(
                f"an interactive mechanism opened {owner!r} twice: make a new "
                "object each time, for state must not pass from trial to trial"
            )
        given = handle or Handle(len(self._handles))
        self._handles.append(given)  # kept, so that the id stays its own
        self._by_handle[id(given)] = conversation
        self._owners[id(owner)] = owner
        return given

    def find(self, ask: Ask) -> Conversation | None:
        """The conversation of a message; None for a handle that was not given out."""
        return self._by_handle.get(id(ask.handle))

    def of(self, ask: Ask) -> Conversation:
        """The conversation of a message; raises Breach for another trial's handle."""
        found = self.find(ask)
        if found is None:
            raise Breach(
                f"the adversary sent to {ask.handle!r}, which was not opened in this trial: a "
                "handle is valid only in the trial that opened it"
            )
        return found


def message_copy(message: Any) -> Any:
    """A copy of a message, so that the adversary's own cannot be altered.

    What cannot change, and an object of a library that cannot be copied, is passed as it is.
    """
    try:
        if is_fixed(message):
            return message
        return own_copy(message)
    except KeyboardInterrupt:
        raise
    except BaseException:  # copying runs a user's code
        return message
