"""Mechanisms that publish some people's records in the clear, and nothing about the others."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator.databases import ADD_REMOVE, Database, Relation
from simulator.errors import Breach, InvalidInput
from simulator.mechanisms.base import Mechanism, Pair, PlainPair
from simulator.theory.guarantees import ApproxDP
from simulator.theory.laws import FiniteLaw
from simulator.validation import open_probability, whole


@dataclass(frozen=True)
class NameAndShame(Mechanism):
    """Publish each record in the clear with probability ``delta``, independently of the others.

    Parameters
    ----------
    delta : in (0, 1).

    The answer is the :class:`Database` of the published records, so ``"alice" in answer`` tells
    that Alice was there. It is (0, delta)-DP, in other words it keeps delta-additive secrecy
    (Properties of DP, chapter 5, exercise 2.3): two neighbours' answers differ only when the
    record that they differ in is published. A larger epsilon buys no smaller delta.
    """

    delta: float

    def __post_init__(self) -> None:
        open_probability("delta", self.delta)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> ApproxDP:
        """(0, delta)-DP under both relations; no smaller delta for any larger epsilon."""
        return ApproxDP(0.0, self.delta)

    def sample(
        self, database: Database, noise: np.random.Generator, relation: Relation = ADD_REMOVE
    ) -> Database:
        """Publish some records."""
        return Database({r: int(noise.binomial(n, self.delta)) for r, n in database.records()})

    def log_likelihood_ratio(
        self,
        answer: Database,
        database_0: Database,
        database_1: Database,
        relation: Relation = ADD_REMOVE,
    ) -> float:
        """The binomial factors of the records in which the databases differ; may be infinite."""
        hidden = math.log1p(-self.delta)
        gained = math.fsum(
            hidden * (database_0.count_of(r) - database_1.count_of(r))
            for r in differing(database_0, database_1)
        )
        return gained + log_choices(answer, database_0, database_1)

    def law(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> FiniteLaw:
        """The law over the published copies of the records in which the databases differ."""
        first, second = np.zeros(1), np.zeros(1)
        for record in differing(database_0, database_1):
            n0, n1 = database_0.count_of(record), database_1.count_of(record)
            seen = max(n0, n1) + 1
            first = np.add.outer(first, log_binomial(n0, self.delta, seen)).ravel()
            second = np.add.outer(second, log_binomial(n1, self.delta, seen)).ravel()
        return FiniteLaw.from_log_probabilities(first, second)


@dataclass(frozen=True)
class JustAFew(Mechanism):
    """Publish ``rows`` records in the clear, every choice of them equally likely.

    Parameters
    ----------
    rows : how many, at least 1.
    at_least : the public promise that every database holds at least so many records, >= rows.

    The answer is the :class:`Database` of the published records. Dwork and Roth 2014, section
    2.3, call it the "just a few" philosophy; Zhang 2020 (lecture 7). A person among n is
    published with probability rows/n, so it is (0, rows/at_least)-DP under replace-one and
    (0, rows/(at_least + 1))-DP under add/remove-one: a delta of the order of 1/n protects nobody.
    """

    rows: int
    at_least: int

    def __post_init__(self) -> None:
        whole("rows", self.rows)
        whole("at_least", self.at_least, least=self.rows)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> ApproxDP:
        """(0, rows/n)-DP for the least n that the larger neighbour may have."""
        delta = self.rows / (self.at_least + (relation.records_touched == 1))
        if delta >= 1.0:
            raise InvalidInput(
                f"publishing {self.rows} of {self.at_least} records publishes them all; "
                "state a larger at_least"
            )
        return ApproxDP(0.0, delta)

    def sample(
        self, database: Database, noise: np.random.Generator, relation: Relation = ADD_REMOVE
    ) -> Database:
        """Publish a random subset; raises Breach for a database smaller than promised."""
        self._check(database)
        records, counts = zip(*database.records())
        return Database(
            dict(zip(records, noise.multivariate_hypergeometric(counts, self.rows).tolist()))
        )

    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> Pair:
        """The two output distributions; raises Breach for databases smaller than promised."""
        self._check(database_0)
        self._check(database_1)
        return PlainPair(self, database_0, database_1, relation)

    def log_likelihood_ratio(
        self,
        answer: Database,
        database_0: Database,
        database_1: Database,
        relation: Relation = ADD_REMOVE,
    ) -> float:
        """Ways to choose the answer from each database, of all ways; may be infinite."""
        totals = log_choice_ratio(database_1.size, database_0.size, self.rows)
        return totals + log_choices(answer, database_0, database_1)

    def _check(self, database: Database) -> None:
        if database.size < self.at_least:
            raise Breach(
                f"JustAFew was promised at least {self.at_least} records, "
                f"the database holds {database.size}"
            )


def differing(database_0: Database, database_1: Database) -> list:
    """The records that the two databases hold in different numbers."""
    records = dict.fromkeys([r for d in (database_0, database_1) for r, _ in d.records()])
    return [r for r in records if database_0.count_of(r) != database_1.count_of(r)]


def log_choices(answer: Database, database_0: Database, database_1: Database) -> float:
    """Ln of the ratio of the ways to choose ``answer`` from each database.

    Raises InvalidInput for an answer that neither database can give.
    """
    total = 0.0
    for record in differing(database_0, database_1):
        k, n0, n1 = (d.count_of(record) for d in (answer, database_0, database_1))
        if k > max(n0, n1):
            raise InvalidInput(f"neither database can publish {k} x {record!r}")
        total += log_choice_ratio(n0, n1, k)
    return total


def log_choice_ratio(n0: int, n1: int, k: int) -> float:
    """Ln of C(n0, k)/C(n1, k), for k up to the larger; without large factorials."""
    if n0 > n1:
        return -log_choice_ratio(n1, n0, k)
    if k > n0:
        return -math.inf
    return math.fsum(math.log1p(-k / n) for n in range(n0 + 1, n1 + 1))


def log_binomial(n: int, p: float, length: int) -> np.ndarray:
    """Ln of the probabilities of 0..length-1 successes in n trials, minus infinity beyond n."""
    k = np.arange(n)
    steps = np.log((n - k) / (k + 1)) + (math.log(p) - math.log1p(-p))
    logs = n * math.log1p(-p) + np.concatenate(([0.0], np.cumsum(steps)))
    return np.concatenate((logs, np.full(length - n - 1, -math.inf)))
