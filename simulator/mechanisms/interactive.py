"""Interactive mechanisms that are arbitrary code, without a likelihood.

Examples are above-threshold query by query, and a library's filter or odometer. The adversary opens
an object with state, a new one in every trial. It receives a handle without data, and the engine
passes its messages to the trial's own object.
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
from simulator.mechanisms.conversations import message_copy
from simulator.theory.guarantees.interface import Guarantee


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

    The answer to the opening is a :class:`~simulator.mechanisms.Handle`, or :class:`Raised` where
    the opener raises. Each message takes one round. Where likelihoods are known, derive from
    :class:`~simulator.mechanisms.InteractiveMechanism` instead.

    >>> from simulator import PureDP
    >>> from simulator.mechanisms import Interactive
    >>> def opener(database, rng):
    ...     return lambda message: database.count_of(message) + rng.laplace(scale=10.0)
    >>> Interactive(opener, PureDP(0.1)).guarantee()
    PureDP(epsilon=0.1)
    """

    opener: Callable[..., Any]
    claimed: Guarantee
    name: str = ""
    with_generator: bool = field(init=False, default=False, repr=False)

    def __post_init__(self) -> None:
        self.describe(self.opener)

    def sample(
        self, database: Database, noise: np.random.Generator, relation: Relation = ADD_REMOVE
    ) -> OpenedObject | Raised:
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
        return OpenedObject(opened, ask)


class OpenedObject:
    """The conversation with the object of one trial, which never reaches the adversary."""

    __slots__ = ("ask", "opened")

    def __init__(self, opened: Any, ask: Callable[..., Any]) -> None:
        self.opened = opened
        self.ask = ask

    @property
    def owner(self) -> Any:
        """The object that holds the state: that of a method, else itself."""
        return getattr(self.opened, "__self__", self.opened)

    def pair(self, message: Any) -> MessagePair:
        """The answer to a message; its law is unknown."""
        return MessagePair(self, message)

    def heard(self, message: Any, answer: Any, loss: float) -> None:
        """Nothing: the object keeps its own state."""

    def __reduce__(self) -> NoReturn:
        raise Breach("the object of an interactive mechanism stays within its trial")


class MessagePair:
    """One message to an object."""

    __slots__ = ("_conversation", "_message")

    def __init__(self, conversation: OpenedObject, message: Any) -> None:
        self._conversation = conversation
        self._message = message_copy(message)

    def sample(self, b: int, noise: np.random.Generator) -> Any:
        """The answer to the message."""
        return answer_of(self._conversation.ask, self._message)

    def loss(self, answer: Any) -> float:
        """NaN, as it is unknown."""
        return math.nan
