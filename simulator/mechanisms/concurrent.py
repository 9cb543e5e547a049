"""Several interactive mechanisms as one: the adversary interleaves its messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.foundations.errors import Breach, InvalidInput
from simulator.mechanisms.base import Pair
from simulator.mechanisms.interactive_mechanism import InteractiveMechanism
from simulator.theory.guarantees.interface import Guarantee


@dataclass(frozen=True)
class Concurrent(InteractiveMechanism):
    """Interactive mechanisms on the same databases, with messages in any order.

    Parameters
    ----------
    parts : the mechanisms.
    claimed : the guarantee of all of them together, such as a composition theorem gives.
    in_turn : whether the conversations come one after the other: no message to an earlier part
        follows a message to a later one (sequential composition).

    A message is ``(part, message)``. An adversary that opens the parts one by one and interleaves
    plays the same game: the loss of its view is the same. Here the search for the worst adversary
    can interleave too.

    >>> from simulator import PureDP, counting_query
    >>> from simulator.mechanisms import Concurrent, ResponseTree, randomized_response_tree
    >>> part = ResponseTree(counting_query("alice"), randomized_response_tree([0.1]), PureDP(0.1))
    >>> Concurrent((part, part), PureDP(0.2)).guarantee()
    PureDP(epsilon=0.2)
    """

    parts: tuple[InteractiveMechanism, ...]
    claimed: Guarantee
    in_turn: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        for part in self.parts:
            if not isinstance(part, InteractiveMechanism):
                raise InvalidInput(f"only interactive mechanisms are interleaved, not {part!r}")
        if not self.parts:
            raise InvalidInput("interleaving needs at least one interactive mechanism")

    def guarantee(self, relation: Relation = ADD_REMOVE) -> Guarantee:
        """The claimed guarantee."""
        return self.claimed

    def opened(self, database_0: Database, database_1: Database, relation: Relation) -> Any:
        """The part spoken to last, and the states of all."""
        return 0, tuple(part.opened(database_0, database_1, relation) for part in self.parts)

    def messages(self, state: Any) -> Sequence[Any]:
        """The messages of all parts that may still be spoken to."""
        last, states = state
        first = last if self.in_turn else 0
        return [
            (i, message)
            for i, part in enumerate(self.parts)
            if i >= first
            for message in part.messages(states[i])
        ]

    def answers_to(self, state: Any, message: Any) -> Pair:
        """The part's own law; raises Breach for a part that does not exist or has had its turn."""
        i, said = self._checked(state, message)
        return self.parts[i].answers_to(state[1][i], said)

    def after(self, state: Any, message: Any, answer: Any) -> Any:
        """The states after the part's answer."""
        i, said = self._checked(state, message)
        states = list(state[1])
        states[i] = self.parts[i].after(states[i], said, answer)
        return i if self.in_turn else 0, tuple(states)

    def _checked(self, state: Any, message: Any) -> tuple[int, Any]:
        try:
            i, said = message
            in_range = i in range(len(self.parts))
        except (TypeError, ValueError):
            in_range = False
        if not in_range:
            raise Breach(
                f"a message to one of {len(self.parts)} mechanisms is (number, message) with a "
                f"number from 0, not {message!r}"
            )
        if self.in_turn and i < state[0]:
            raise Breach(f"mechanism {i} has had its turn: {state[0]} was spoken to since")
        return int(i), said
