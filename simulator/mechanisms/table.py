"""Any mechanism with finitely many answers about one person's bit, by its table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.data.databases import ADD_REMOVE, Relation
from simulator.data.queries import Query
from simulator.foundations.errors import InvalidInput
from simulator.mechanisms.finite import FiniteMechanism, table_row
from simulator.mechanisms.randomized_response import bits
from simulator.mechanisms.values import check_query
from simulator.theory.guarantees.pure import ApproxDP
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.outward import above


@dataclass(frozen=True, slots=True)
class Table(FiniteMechanism):
    """Answer with the probabilities of a table, one row for each value of a bit.

    Parameters
    ----------
    query : takes the values 0 and 1 only.
    on_0, on_1 : the probabilities of the answers 0, 1, ... where the bit is 0 and where it is 1.

    The guarantee is the (epsilon, delta) that the table has: epsilon the largest finite loss in
    either direction, delta the largest probability of an answer that reveals the bit.

    >>> from simulator import Database, counting_query
    >>> from simulator.mechanisms import Table
    >>> table = Table(counting_query("alice"), on_0=(0.75, 0.25), on_1=(0.25, 0.75))
    >>> round(table.guarantee().pure_epsilon, 6)
    1.098612
    """

    query: Query
    on_0: tuple[float, ...]
    on_1: tuple[float, ...]

    def __post_init__(self) -> None:
        check_query("a table", self.query)
        for name in ("on_0", "on_1"):
            object.__setattr__(self, name, tuple(float(p) for p in getattr(self, name)))
        if len(self.on_0) != len(self.on_1):
            raise InvalidInput(
                f"a table needs as many answers for either bit, not {len(self.on_0)} and "
                f"{len(self.on_1)}"
            )
        table_row(self.on_0, self.on_1)

    @property
    def epsilon(self) -> float:
        """The largest finite loss in either direction."""
        return self.guarantee().epsilon

    def guarantee(self, relation: Relation = ADD_REMOVE) -> ApproxDP:
        """(epsilon, delta)-DP, as the table has it."""
        law = FiniteLaw.from_probabilities(self.on_0, self.on_1)
        epsilon = max((abs(loss) for loss in law.support), default=0.0)
        return ApproxDP(
            epsilon if self.on_0 == self.on_1 else above(epsilon),
            max(law.infinite_mass, law.dual_infinite_mass),
        )

    def probabilities(
        self, value_0: Any, value_1: Any, relation: Relation
    ) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities of the answers for two bits."""
        rows = np.array(self.on_0), np.array(self.on_1)
        first, second = (rows[int(bit)] for bit in bits("a table", value_0, value_1))
        return first, second

    @classmethod
    def of_law(cls, query: Query, law: PrivacyLossLaw) -> Table:
        """A table whose loss has the finite law, bit 0 being experiment 0.

        Raises InvalidInput for a law with a continuous part.
        """
        if not law.is_discrete:
            raise InvalidInput("only a law with finitely many losses has a table")
        first = np.exp(law.atom_log_masses)
        second = np.exp(law.atom_log_masses - law.atom_losses)
        on_0 = np.concatenate((first, [law.infinite_mass, 0.0]))
        on_1 = np.concatenate((second, [0.0, law.dual_infinite_mass]))
        possible = (on_0 > 0.0) | (on_1 > 0.0)
        on_0, on_1 = on_0[possible], on_1[possible]
        return cls(query, tuple(on_0 / math.fsum(on_0)), tuple(on_1 / math.fsum(on_1)))
