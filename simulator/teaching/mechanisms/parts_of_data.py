"""Parts of the data with a mechanism each, while records arrive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.foundations.errors import Breach
from simulator.mechanisms import Concurrent, InteractiveMechanism, Update, finite_answers
from simulator.mechanisms.base import Pair
from simulator.theory.guarantees.interface import Guarantee

READY = "ready?"
RECORD = Update(1, 0)
"""A record that arrives in experiment 0 only."""
Laws = tuple[tuple[float, float], tuple[float, float]]
"""By what arrived, nothing or a record: the probabilities of the answers 0 and 1."""


@dataclass(frozen=True)
class PartOfData(InteractiveMechanism):
    """Say whether this run is a weak one, then answer whether a record arrived.

    Parameters
    ----------
    chance : the probability that the run is weak. It is drawn at the beginning, whatever the data.
    strong, weak : the laws of the second answer.
    claimed : the guarantee of both answers together.
    """

    chance: float
    strong: Laws
    weak: Laws
    claimed: Guarantee

    def guarantee(self, relation: Relation = ADD_REMOVE) -> Guarantee:
        """The claimed guarantee."""
        return self.claimed

    def opened(self, database_0: Database, database_1: Database, relation: Relation) -> str:
        """Nothing was said."""
        return "new"

    def messages(self, state: str) -> Sequence[Any]:
        """First whether it is ready, then a record."""
        return {"new": (READY,), "strong": (RECORD,), "weak": (RECORD,)}.get(state, ())

    def answers_to(self, state: str, message: Any) -> Pair:
        """1 for a weak run; then the law of what arrived; raises Breach."""
        if state == "new" and isinstance(message, str) and message == READY:
            return finite_answers(*((1.0 - self.chance, self.chance),) * 2)
        if state in ("strong", "weak") and isinstance(message, Update):
            laws = self.weak if state == "weak" else self.strong
            return finite_answers(laws[bool(message.on_0)], laws[bool(message.on_1)])
        raise Breach(f"a part that is {state} takes no message {message!r}")

    def after(self, state: str, message: Any, answer: float) -> str:
        """Weak or strong; then it is over."""
        return "over" if state != "new" else ("weak" if answer else "strong")


@dataclass(frozen=True)
class InParallel(Concurrent):
    """Parts of the data with a mechanism each: one record in all differs, in one part.

    ``only`` is the part in which it must be, where that was fixed beforehand.
    """

    only: int | None = None

    def opened(self, database_0: Database, database_1: Database, relation: Relation) -> Any:
        """Whether a record has differed, and the states of the parts."""
        return False, super().opened(database_0, database_1, relation)

    def messages(self, state: Any) -> Sequence[Any]:
        """Those of the parts that keep the two streams neighbours."""
        return [one for one in super().messages(state[1]) if self._neighbours(state, one)]

    def answers_to(self, state: Any, message: Any) -> Pair:
        """The part's own law; raises Breach where a second record would differ."""
        found = super().answers_to(state[1], message)
        if not self._neighbours(state, message):
            raise Breach(f"the streams are no neighbours: no other record may differ: {message!r}")
        return found

    def after(self, state: Any, message: Any, answer: Any) -> Any:
        """The part's own next state."""
        return state[0] or differs(message), super().after(state[1], message, answer)

    def _neighbours(self, state: Any, message: Any) -> bool:
        return not differs(message) or (not state[0] and self.only in (None, message[0]))


def differs(message: Any) -> bool:
    """Whether the message brings different data in the two experiments."""
    return isinstance(message[1], Update) and message[1].differs
