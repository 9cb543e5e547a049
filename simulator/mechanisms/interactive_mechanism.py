"""Interactive mechanisms with a likelihood: the loss of a whole interleaved view is exact.

The answer to a message depends on the database, on the messages and answers before it, and on the
mechanism's hidden randomness. Its law *given what was said before* is all that a play needs: the
answers of a conversation are drawn one after the other from these conditional laws, and their
losses add up to the loss of the conversation (the chain rule). So hidden randomness is never drawn:
a mechanism keeps in its state what its past answers say about it, on either database.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, NoReturn

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.foundations.errors import Breach, NotApplicable
from simulator.identity.keys import is_fixed
from simulator.mechanisms.base import Pair, PairMechanism, ScalarPair
from simulator.mechanisms.conversations import exchanged, message_copy
from simulator.mechanisms.copies import own_copy
from simulator.mechanisms.finite import FINITE, table_row

State = Hashable
"""What the messages and answers so far determine, on both databases; it never reaches the
adversary."""

_MOST_PAIRS = 4096
"""Most pairs that an opening keeps; beyond, all are dropped, which bounds the memory."""


class InteractiveMechanism(PairMechanism):
    """A mechanism that the adversary opens on two databases, and then sends messages to.

    A subclass is a frozen dataclass. It defines ``guarantee``, which holds for the whole
    conversation and is charged once, at the opening, and

    - ``opened(database_0, database_1, relation)``, the state before the first message;
    - ``answers_to(state, message)``, the two laws of the answer, as a
      :class:`~simulator.mechanisms.Pair`: :func:`finite_answers` makes one from two vectors;
      it raises Breach for a message that is not allowed;
    - ``after(state, message, answer)``, the next state;
    - ``messages(state)``, every message that an adversary may send, where these are finitely many;
      an empty tuple where the conversation is over. The search for the worst adversary needs it.

    A state is hashable and compares by what it holds (a tuple, or a frozen dataclass), and is never
    altered. A play also takes other states, at some cost; the search does not. The adversary plays
    it as
    ``handle = yield database_0, database_1, mechanism`` and ``answer = yield handle.ask(message)``;
    a message takes one round.

    >>> from simulator import Database, PureDP, counting_query
    >>> from simulator.data import ADD_REMOVE
    >>> from simulator.mechanisms import ResponseTree, randomized_response_tree
    >>> root = randomized_response_tree([0.1, 0.2])
    >>> tree = ResponseTree(counting_query("alice"), root, PureDP(0.3))
    >>> state = tree.opened(Database(["bob"]), Database(["bob", "alice"]), ADD_REMOVE)
    >>> tree.messages(state), round(tree.answers_to(state, "ask").loss(1.0), 6)
    (('ask',), -0.1)
    """

    __slots__ = ()

    @abstractmethod
    def opened(self, database_0: Database, database_1: Database, relation: Relation) -> State:
        """The state before the first message."""

    @abstractmethod
    def answers_to(self, state: Any, message: Any) -> Pair:
        """The law of the answer on either database, given the state; raises Breach."""

    @abstractmethod
    def after(self, state: Any, message: Any, answer: Any) -> State:
        """The state after an answer."""

    def messages(self, state: Any) -> Sequence[Any]:
        """Every message that may be sent; raises NotApplicable where they are not listed."""
        raise NotApplicable(f"{type(self).__name__} does not list the messages that it takes")

    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> Opening:
        """The opening on these two databases, whose answer is a conversation."""
        return Opening(self, self.opened(database_0, database_1, relation), relation)


class Opening:
    """An interactive mechanism on two databases, before the first message.

    Attributes
    ----------
    state : see :class:`InteractiveMechanism`.
    exchanged : whether the databases were exchanged, so that messages must be too.
    guarantee : of the whole conversation.
    """

    __slots__ = (
        "_fixed",
        "_keeps",
        "_pairs",
        "exchanged",
        "guarantee",
        "mechanism",
        "relation",
        "state",
    )

    def __init__(self, mechanism: InteractiveMechanism, state: State, relation: Relation) -> None:
        self.mechanism, self.state, self.relation = mechanism, state, relation
        self.exchanged = False
        self.guarantee = mechanism.guarantee(relation)
        self._pairs: dict[Any, Pair] = {}
        self._fixed = self._keeps = is_fixed(state)

    def pair(self, state: Any, message: Any) -> Pair:
        """The pair of a message in a state; kept until there is one with real answers.

        States that follow a real answer are new in every trial.
        """
        if not self._keeps:
            return self._made(state, message)
        try:
            known = self._pairs.get((state, message))
        except TypeError:  # not hashable
            return self._made(state, message)
        if known is None:
            known = self._made(state, message)
            if isinstance(known, ScalarPair) and known.scalars.outcomes is None:
                self._keeps = False
            if len(self._pairs) >= _MOST_PAIRS:
                self._pairs.clear()
            self._pairs[state, message] = known
        return known

    def _made(self, state: Any, message: Any) -> Pair:
        made = self.mechanism.answers_to(state, message)
        if not (hasattr(made, "sample") and hasattr(made, "loss")):
            raise Breach(
                f"{type(self.mechanism).__name__}.answers_to returned {made!r:.80}, and not a pair "
                "such as finite_answers(on_0, on_1) makes"
            )
        return made

    def sample(self, b: int, noise: np.random.Generator) -> Opening:
        """Itself: opening a mechanism says nothing about the data."""
        return self

    def loss(self, answer: Any) -> float:
        """0."""
        return 0.0

    def outcomes(self) -> tuple[list[Any], list[float], list[float]]:
        """The one answer."""
        return [self], [1.0], [1.0]

    def begun(self) -> Exchange:
        """A conversation at its beginning; a state that may be altered is copied for it."""
        return Exchange(self, self.state if self._fixed else own_copy(self.state))

    def __reduce__(self) -> NoReturn:
        raise Breach("the state of an interactive mechanism stays within its trial")


class Exchange:
    """A conversation with an interactive mechanism, in one trial.

    Attributes
    ----------
    opening : the mechanism on its two databases.
    state : see :class:`InteractiveMechanism`.
    loss : the privacy loss of the answers so far.
    """

    __slots__ = ("_last", "loss", "opening", "state")

    def __init__(self, opening: Opening, state: State) -> None:
        self.opening, self.state, self.loss = opening, state, 0.0
        self._last: tuple[Any, Any] = (self, None)

    @property
    def owner(self) -> Exchange:
        """Itself."""
        return self

    def pair(self, message: Any) -> Pair:
        """The law of the answer on either database, given the conversation so far."""
        return self.opening.pair(self.state, self._received(message))

    def heard(self, message: Any, answer: Any, loss: float) -> None:
        """Add the loss, and go on to the next state."""
        self.loss += loss
        self.state = self.opening.mechanism.after(self.state, self._received(message), answer)
        self._last = (self, None)  # the adversary may alter its message, and send it again

    def _received(self, message: Any) -> Any:
        if self._last[0] is not message:
            own = message_copy(message)
            self._last = message, exchanged(own) if self.opening.exchanged else own
        return self._last[1]


def finite_answers(on_0: Sequence[float], on_1: Sequence[float]) -> ScalarPair:
    """The pair of a message with answers 0.0, 1.0, ..., from their probabilities on the databases.

    Raises InvalidInput unless these are two vectors of one length that add up to 1.

    >>> from simulator.mechanisms import finite_answers
    >>> pair = finite_answers([0.75, 0.25], [0.25, 0.75])
    >>> [round(pair.loss(answer), 6) for answer in (0.0, 1.0)]
    [1.098612, -1.098612]
    """
    return ScalarPair(FINITE, table_row(on_0, on_1), 0.0)
