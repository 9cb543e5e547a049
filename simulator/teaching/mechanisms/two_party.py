"""Two parties count together without trusting each other: the view of one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries import Query
from simulator.foundations.errors import Breach, InvalidInput
from simulator.foundations.validation import positive
from simulator.mechanisms.base import Pair, PairMechanism
from simulator.mechanisms.laplace import Laplace
from simulator.mechanisms.values import check_query
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.laws.base import PrivacyLossLaw


@dataclass(frozen=True, slots=True)
class TwoPartyCount(PairMechanism):
    """Each party adds Lap(2 sensitivity/epsilon) to its own count and shares it.

    Parameters
    ----------
    query : real-valued, applied to each party's records apart.
    epsilon : > 0, as the protocol prints it.
    viewer : 1 or 2, the party whose view is the answer.
    party : of a record, 1 or 2; by default the record's first field.

    The answer is a float64 array of shape (3,): the viewer's own exact count, and the
    messages of parties 1 and 2. The common count is the sum of the messages. Zhang 2020
    (lecture 7), counting queries in the two-party model. The view depends on the other party's
    records through its message alone: epsilon/2-DP, half of what is printed. Databases that
    differ in the viewer's own records are not neighbours here (Breach), as the view holds them.
    """

    query: Query
    epsilon: float
    viewer: int = 1
    party: Callable[[Any], int] = itemgetter(0)

    def __post_init__(self) -> None:
        check_query("TwoPartyCount", self.query)
        positive("epsilon", self.epsilon)
        if self.viewer not in (1, 2):
            raise InvalidInput(f"the viewer must be party 1 or 2, not {self.viewer!r}")
        self._message()

    def _message(self) -> Laplace:
        return Laplace(self.query, 0.5 * self.epsilon)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> PureDP:
        """epsilon/2-DP for the other party's records."""
        return PureDP(0.5 * self.epsilon)

    def records_of(self, database: Database, party: int) -> Database:
        """One party's records; raises InvalidInput for a record of neither."""
        held: dict[Any, int] = {}
        for record, times in database.records():
            owner = self.party(record)
            if owner not in (1, 2):
                raise InvalidInput(f"record {record!r} belongs to party {owner!r}, not to 1 or 2")
            if owner == party:
                held[record] = times
        return Database(held)

    def _others(
        self, database_0: Database, database_1: Database, relation: Relation
    ) -> tuple[Database, Database]:
        own = [self.records_of(d, self.viewer) for d in (database_0, database_1)]
        if own[0] != own[1]:
            raise Breach(
                f"the databases differ in the records of party {self.viewer}, the viewer: "
                f"{relation.difference(*own)}"
            )
        first, second = (self.records_of(d, 3 - self.viewer) for d in (database_0, database_1))
        return first, second

    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> Pair:
        """The viewer's two views; raises Breach where its own records differ."""
        others = self._others(database_0, database_1, relation)
        own = self.records_of(database_0, self.viewer)
        message = self._message()
        return TwoPartyPair(
            self.viewer,
            float(self.query(own)),
            message.pair(own, own, relation),
            message.pair(*others, relation),
        )

    def law(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> PrivacyLossLaw:
        """The law of the loss of the other party's message."""
        return self._message().law(*self._others(database_0, database_1, relation), relation)


@dataclass(frozen=True, slots=True)
class TwoPartyPair:
    """What one party sees of the protocol on two databases that agree on its own records."""

    viewer: int
    own_count: float
    own: Pair
    other: Pair

    def sample(self, b: int, noise: np.random.Generator) -> np.ndarray:
        """Run the protocol: (own exact count, message 1, message 2)."""
        view = np.empty(3)
        view[0] = self.own_count
        view[self.viewer] = self.own.sample(0, noise)
        view[3 - self.viewer] = self.other.sample(b, noise)
        return view

    def loss(self, answer: np.ndarray) -> float:
        """Privacy loss: that of the other party's message."""
        return self.other.loss(float(answer[3 - self.viewer]))
