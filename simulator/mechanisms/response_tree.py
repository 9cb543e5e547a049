"""Interactive mechanisms with finitely many messages and answers, given by their tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import FrozenInstanceError, dataclass
from typing import Any, ClassVar, NoReturn
from weakref import WeakValueDictionary

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries import Query
from simulator.foundations.errors import Breach, InvalidInput
from simulator.mechanisms.base import ScalarPair
from simulator.mechanisms.finite import table_row
from simulator.mechanisms.interactive_mechanism import InteractiveMechanism, finite_answers
from simulator.mechanisms.randomized_response import bits
from simulator.mechanisms.values import check_query
from simulator.theory.guarantees.interface import Guarantee

_Reply = tuple[Any, tuple[float, ...], tuple[float, ...], "tuple[Node | None, ...]"]


class Node:
    """A point of a conversation: for each message, the law of the answer, and where it leads.

    Parameters
    ----------
    replies : by message, the probabilities of the answers 0, 1, ... where the bit is 0 and where it
        is 1, and the node after each answer (None: the conversation is over).

    Equal nodes are one object, so that a tree whose branches meet again is compared in no time.
    Raises InvalidInput for a message that is not hashable.

    >>> from simulator.mechanisms import Node
    >>> Node.of({"ask": ([0.75, 0.25], [0.25, 0.75])}).replies
    (('ask', (0.75, 0.25), (0.25, 0.75), (None, None)),)
    """

    __slots__ = ("__weakref__", "replies")
    _known: ClassVar[WeakValueDictionary[Any, Node]] = WeakValueDictionary()
    replies: tuple[_Reply, ...]

    def __new__(cls, replies: tuple[_Reply, ...]) -> Node:
        """The node with these replies."""
        if not isinstance(replies, tuple) or not all(isinstance(each, tuple) for each in replies):
            raise InvalidInput(f"a node is made by Node.of, not of {replies!r:.80}")
        try:
            known = cls._known.get(replies)
        except TypeError:
            raise InvalidInput("the messages of a node must be hashable") from None
        if known is None:
            known = super().__new__(cls)
            object.__setattr__(known, "replies", replies)
            cls._known[replies] = known
        return known

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"a node has a fixed {name}")

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Node, (self.replies,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Node:
        return self

    def __repr__(self) -> str:
        return f"Node of {', '.join(repr(message) for message, *_ in self.replies)}"

    @classmethod
    def of(cls, replies: Mapping[Any, Sequence[Any]]) -> Node:
        """A node from ``{message: (on_0, on_1, next nodes)}``; raises InvalidInput.

        Where the next nodes are left out, the conversation is over after every answer.
        """
        rows = []
        for message, (on_0, on_1, *after) in replies.items():
            table_row(on_0, on_1)
            following = tuple(after[0]) if after else (None,) * len(on_0)
            if len(following) != len(on_0):
                raise InvalidInput(
                    f"the message {message!r} has {len(on_0)} answers and {len(following)} nodes "
                    "after them: give one for each answer"
                )
            rows.append((message, tuple(map(float, on_0)), tuple(map(float, on_1)), following))
        return cls(tuple(rows))


@dataclass(frozen=True)
class ResponseTree(InteractiveMechanism):
    """Answer messages about one person's bit, by a table for every point of the conversation.

    Parameters
    ----------
    query : takes the values 0 and 1 only.
    root : the table of the first message; see :class:`Node`.
    claimed : the guarantee of the whole conversation. The search
        (:func:`simulator.worst.worst_conversation`) tells whether it keeps it.

    The answer is an outcome's index, as a float. Vadhan and Wang 2021 (Definition 3.2) prove
    theorems on concurrent composition for trees of this kind with randomized response.

    >>> from simulator import PureDP, counting_query
    >>> from simulator.mechanisms import ResponseTree, randomized_response_tree
    >>> root = randomized_response_tree([0.1, 0.2])
    >>> ResponseTree(counting_query("alice"), root, PureDP(0.3)).guarantee()
    PureDP(epsilon=0.3)
    """

    query: Query
    root: Node
    claimed: Guarantee

    def __post_init__(self) -> None:
        check_query("a response tree", self.query)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> Guarantee:
        """The claimed guarantee."""
        return self.claimed

    def opened(self, database_0: Database, database_1: Database, relation: Relation) -> Any:
        """(node, bit on database 0, bit on database 1)."""
        return self.root, *bits("a tree", self.query(database_0), self.query(database_1))

    def messages(self, state: Any) -> tuple[Any, ...]:
        """The messages of the node."""
        return () if state[0] is None else tuple(message for message, *_ in state[0].replies)

    def answers_to(self, state: Any, message: Any) -> ScalarPair:
        """The tables of the two bits; raises Breach for a message that the node does not take."""
        on, _ = self._reply(state, message)
        return finite_answers(on[int(state[1])], on[int(state[2])])

    def after(self, state: Any, message: Any, answer: Any) -> Any:
        """The node that the answer leads to."""
        _, following = self._reply(state, message)
        return following[int(answer)], state[1], state[2]

    def _reply(self, state: Any, message: Any) -> tuple[Any, tuple[Node | None, ...]]:
        node = state[0]
        for known, on_0, on_1, following in () if node is None else node.replies:
            if _same(known, message):
                return (on_0, on_1), following
        taken = ", ".join(repr(known) for known in self.messages(state)) or "none"
        said = " ".join(f"{message!r:.80}".split())  # the text of an array has several lines
        raise Breach(f"the tree takes no message {said} here; it takes: {taken}")


def _same(known: Any, message: Any) -> bool:
    """Whether the messages are equal; an array, which compares by element, is none of a node."""
    try:
        equal = known == message
    except (TypeError, ValueError):  # a tuple that holds an array
        return False
    return isinstance(equal, bool | np.bool_) and bool(equal)


def randomized_response_tree(epsilons: Sequence[float]) -> Node:
    """Randomized response to one message ("ask") after the other, with these epsilons.

    The whole conversation is (sum of epsilons)-DP.

    >>> from simulator.mechanisms import randomized_response_tree
    >>> (message, on_0, on_1, after), = randomized_response_tree([0.1, 0.2]).replies
    >>> message, [round(p, 6) for p in on_0], [round(p, 6) for p in on_1]
    ('ask', [0.524979, 0.475021], [0.475021, 0.524979])
    """
    node: Node | None = None
    for epsilon in reversed(epsilons):
        kept = 1.0 / (1.0 + math.exp(-epsilon))
        node = Node.of({"ask": ((kept, 1.0 - kept), (1.0 - kept, kept), (node, node))})
    if node is None:
        raise InvalidInput("a tree of randomized responses needs at least one epsilon")
    return node
