"""Mechanisms that are made for one record, played against groups of records."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.data.databases import ADD_REMOVE, Database, Group, Relation
from simulator.data.queries import Query
from simulator.data.queries.kept import checked_values
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.mechanisms.base import Pair, PairMechanism, ScalarMechanism
from simulator.mechanisms.known_noise import has_noise, shift_law
from simulator.mechanisms.tilted import outcomes_of
from simulator.mechanisms.values import NO_LOSS, is_number
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.transforms import group
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.finite import FiniteLaw


@dataclass(frozen=True, slots=True)
class RecordLevel(PairMechanism):
    """A mechanism whose noise is that for one record, whatever the relation of the game is.

    Under ``Group(ADD_REMOVE, k)`` the databases differ in up to k records, the noise is the one
    for a single record, and the guarantee is that of a group of k. Without this wrapper a mechanism
    under that relation makes its noise for the whole group, and keeps its own guarantee. Under any
    other relation it is the mechanism itself.

    Parameters
    ----------
    mechanism : with one real answer, and a query with one number as its value.

    >>> from simulator import Laplace, counting_query
    >>> from simulator.data import ADD_REMOVE, Group
    >>> from simulator.mechanisms import RecordLevel
    >>> RecordLevel(Laplace(counting_query("alice"), 0.125)).guarantee(Group(ADD_REMOVE, 3))
    PureDP(epsilon=0.375)
    """

    mechanism: ScalarMechanism

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, ScalarMechanism):
            raise InvalidInput(
                f"only a mechanism with one real answer is wrapped, not {self.mechanism!r:.80}"
            )

    @property
    def query(self) -> Query:  # type: ignore[override]
        """The query of the mechanism."""
        return self.mechanism.query

    def guarantee(self, relation: Relation = ADD_REMOVE) -> Guarantee:
        """That of a group, by :func:`simulator.theory.guarantees.transforms.group`."""
        if isinstance(relation, Group):
            return group(self.mechanism.guarantee(relation.of), relation.size)
        return self.mechanism.guarantee(relation)

    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> Pair:
        """The two laws; raises Breach where the query moves by more than ``size`` steps may."""
        if not isinstance(relation, Group):
            return self.mechanism.pair(database_0, database_1, relation)
        first, second = self._values(database_0, database_1, relation)
        return self.mechanism.scalar_pair(self.mechanism.row(first, second, relation.of))

    def law(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> PrivacyLossLaw:
        """The exact law of the loss: of noise at the shift of the group, or of a table."""
        if not isinstance(relation, Group):
            return self.mechanism.law(database_0, database_1, relation)
        if has_noise(self.mechanism):
            first, second = self._values(database_0, database_1, relation)
            shift = abs(first - second)
            return shift_law(self.mechanism, shift, relation.of) if shift > 0.0 else NO_LOSS
        _, *laws = outcomes_of(self.pair(database_0, database_1, relation))
        return FiniteLaw.from_probabilities(*laws)

    def _values(
        self, database_0: Database, database_1: Database, relation: Group
    ) -> tuple[float, float]:
        values = checked_values(self.query, database_0, database_1, relation)
        if not all(map(is_number, values)):
            raise NotApplicable(f"{self.query.name} has a vector as its value: no group is played")
        first, second = map(float, values)
        return first, second
