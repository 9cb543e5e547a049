"""Mechanisms that publish some records in the clear, and nothing about the others."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.data.databases import ADD_REMOVE, Database, Relation, count_changes
from simulator.foundations.errors import Breach, InvalidInput
from simulator.foundations.validation import open_probability, whole
from simulator.foundations.wording import count_of
from simulator.mechanisms.base import PairMechanism
from simulator.theory.guarantees.pure import ApproxDP
from simulator.theory.laws.finite import FiniteLaw

Counts = NDArray[np.int64]


class Publishing(PairMechanism):
    """Publish a random multiset of the database's records in the clear.

    A subclass is a frozen dataclass; it defines ``draw`` and ``log_weight``.
    """

    __slots__ = ()

    @abstractmethod
    def draw(self, counts: Counts, noise: np.random.Generator) -> Counts:
        """How often each record is published; ``counts`` and the result have shape (records,)."""

    @abstractmethod
    def log_weight(self, size_0: int, size_1: int) -> float:
        """Ln of the ratio of the likelihoods, without the numbers of ways to choose the answer."""

    def check(self, database: Database) -> None:
        """Raise Breach for a database that is not as promised; by default every database is."""

    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> PublishedPair:
        """The two output distributions; raises Breach for a database that is not as promised."""
        self.check(database_0)
        self.check(database_1)
        return PublishedPair(self, database_0, database_1)


class PublishedPair:
    """A publishing mechanism on two databases."""

    __slots__ = ("_changes", "_counts", "_mechanism", "_records", "_weight")

    def __init__(self, mechanism: Publishing, database_0: Database, database_1: Database) -> None:
        both = (database_0, database_1)
        self._mechanism = mechanism
        self._records = [[r for r, _ in d.records()] for d in both]
        self._counts = [np.array([n for _, n in d.records()], dtype=np.int64) for d in both]
        self._changes = changes(database_0, database_1)
        self._weight = mechanism.log_weight(database_0.size, database_1.size)

    def sample(self, b: int, noise: np.random.Generator) -> Database:
        """Draw the published records of database ``b``."""
        published = self._mechanism.draw(self._counts[b], noise)
        records = self._records[b]
        return Database({records[i]: int(published[i]) for i in np.flatnonzero(published)})

    def loss(self, answer: Database) -> float:
        """Privacy loss; raises InvalidInput for an answer that neither database can give."""
        total = self._weight
        for record, n0, n1 in self._changes:
            k = answer.count_of(record)
            if k > max(n0, n1):
                raise InvalidInput(f"neither database can publish {k} x {record!r}")
            total += log_choice_ratio(n0, n1, k)
        return total


@dataclass(frozen=True, slots=True)
class NameAndShame(Publishing):
    """Publish each record in the clear with probability ``delta``, independently of the others.

    Parameters
    ----------
    delta : in (0, 1).

    The answer is the :class:`Database` of the published records, so ``"alice" in answer`` reveals
    that Alice was there. It is (0, delta)-DP, in other words it keeps delta-additive secrecy
    (Properties of DP, chapter 5, exercise 2.3): two neighbours' answers differ only when the record
    that they differ in is published. A larger epsilon buys no smaller delta.
    """

    delta: float

    def __post_init__(self) -> None:
        open_probability("delta", self.delta)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> ApproxDP:
        """(0, delta)-DP under both relations; no smaller delta for any larger epsilon."""
        return ApproxDP(0.0, self.delta)

    def draw(self, counts: Counts, noise: np.random.Generator) -> Counts:
        """Publish each record independently."""
        return noise.binomial(counts, self.delta)

    def log_weight(self, size_0: int, size_1: int) -> float:
        """The log weight of the records that are hidden."""
        return (size_0 - size_1) * math.log1p(-self.delta)

    def law(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> FiniteLaw:
        """The law over the published copies of the records in which the databases differ."""
        first, second = np.zeros(1), np.zeros(1)
        for _, n0, n1 in changes(database_0, database_1):
            seen = max(n0, n1) + 1
            first = np.add.outer(first, log_binomial(n0, self.delta, seen)).ravel()
            second = np.add.outer(second, log_binomial(n1, self.delta, seen)).ravel()
        return FiniteLaw.from_log_probabilities(first, second)


@dataclass(frozen=True, slots=True)
class JustAFew(Publishing):
    """Publish ``rows`` records in the clear, every choice of them equally likely.

    Parameters
    ----------
    rows : how many, at least 1.
    at_least : the promised least number of records of every database, >= rows; public.

    The answer is the :class:`Database` of the published records. Dwork and Roth 2014, section
    2.3, call it the "just a few" philosophy; Zhang 2020 (lecture 7). A person among n is
    published with probability rows/n, so it is (0, rows/at_least)-DP under replace-one and
    (0, rows/(at_least + 1))-DP under add/remove-one: a delta of order 1/n protects no record.
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
                f"publishing {self.rows} of {count_of(self.at_least, 'record')} publishes them "
                "all; state a larger at_least"
            )
        return ApproxDP(0.0, delta)

    def draw(self, counts: Counts, noise: np.random.Generator) -> Counts:
        """Choose the rows without replacement."""
        return noise.multivariate_hypergeometric(counts, self.rows)

    def log_weight(self, size_0: int, size_1: int) -> float:
        """The log ratio of the numbers of sets of rows."""
        return log_choice_ratio(size_1, size_0, self.rows)

    def check(self, database: Database) -> None:
        """Raise Breach for a database smaller than promised."""
        if database.size < self.at_least:
            raise Breach(
                f"JustAFew needs at least {count_of(self.at_least, 'record')}, "
                f"the database holds {database.size}"
            )


def changes(database_0: Database, database_1: Database) -> list[tuple[Any, int, int]]:
    """The records that the databases hold in different numbers, with both numbers."""
    moved = count_changes(database_0, database_1)
    return [(r, database_0.count_of(r), database_1.count_of(r)) for r in moved]


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
