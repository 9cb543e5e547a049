"""Mechanisms that run on a random sample of the records, which is kept secret."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, ClassVar

import numpy as np

from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database, Relation
from simulator.data.queries import Query, exceeded
from simulator.data.queries.counting import CountingQuery, PredicateQuery
from simulator.data.queries.sums import ClippedSum
from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.foundations.validation import whole
from simulator.foundations.wording import count_of
from simulator.mechanisms.base import ScalarMechanism, Scalars
from simulator.mechanisms.finite import FINITE, table_row
from simulator.mechanisms.known_noise import has_noise, noise_of, shift_law
from simulator.mechanisms.noise_mixture import NOISE_MIXTURE, mixture_row
from simulator.mechanisms.tilted import outcomes_of
from simulator.mechanisms.values import real
from simulator.theory.guarantees.discrete_gaussian import DiscreteGaussianDP
from simulator.theory.guarantees.dominated import DominatedDP
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.guarantees.subsampled import SubsampledGaussianDP
from simulator.theory.guarantees.transforms import amplified_by_sampling
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.subsampled import (
    PoissonSubsampledLaw,
    SampledWithoutReplacementLaw,
    check_rate,
)

_MOST_SAMPLES, _MOST_SUMS = 4096, 1 << 20


class _Sampled(ScalarMechanism):
    """The common part of both ways of sampling: the mixture over samples, and the guarantee."""

    __slots__ = ()

    mechanism: ScalarMechanism
    relation: ClassVar[Relation]
    way: ClassVar[str]

    @property
    def query(self) -> Query:  # type: ignore[override]
        """The query of the inner mechanism."""
        return self.mechanism.query

    @property
    def scalars(self) -> Scalars:  # type: ignore[override]
        """The kind: noise around a random value, or a table."""
        return NOISE_MIXTURE if has_noise(self.mechanism) else FINITE

    @property
    def parameter(self) -> float:
        """The privacy parameter of the inner mechanism; raises InvalidInput if it is free."""
        return self.mechanism.fixed_parameter()

    @property
    def _rate(self) -> float:
        raise NotImplementedError

    def _values(self, database: Database) -> dict[float, float]:
        """The probabilities of the query's values on a sample of the database."""
        return _gathered(
            (real(type(self).__name__, self.query(sample)), weight)
            for sample, weight in self._samples(database)
        )

    def _samples(self, database: Database) -> Iterator[tuple[Database, float]]:
        raise NotImplementedError

    def _check(self, relation: Relation) -> None:
        require_relation(relation, type(self))

    def guarantee(self, relation: Relation = ADD_REMOVE) -> Guarantee:
        """The guarantee of a sampled Gaussian, or the amplified pure or approximate guarantee.

        Raises NotApplicable under another relation, and for a mechanism whose worst pair has two
        directions.
        """
        self._check(relation)
        promised = self.mechanism.guarantee(relation)
        if isinstance(promised, GaussianDP) and promised.mu > 0.0:
            return SubsampledGaussianDP(1.0 / promised.mu, self._rate)
        if isinstance(promised, DiscreteGaussianDP):
            return _sampled_family(promised, self._rate)
        if self._rate == 0.0:
            return PureDP(0.0)
        return amplified_by_sampling(promised, self._rate)

    def worst_law(self, relation: Relation = ADD_REMOVE) -> PrivacyLossLaw | None:
        """The law of the sampled worst pair, both directions at once; None without a worst pair."""
        self._check(relation)
        base = self.mechanism.worst_law(relation) or self.mechanism.guarantee(relation).worst_law
        return None if base is None else SampledWithoutReplacementLaw(base, self._rate).simplest

    def checked_row(
        self, database_0: Database, database_1: Database, relation: Relation
    ) -> tuple[float, ...]:
        """``row`` for two databases; raises Breach where the query exceeds its sensitivity."""
        self._check(relation)
        self.mechanism.checked_row(database_0, database_1, relation)
        if not isinstance(self.query, CountingQuery | PredicateQuery | ClippedSum):
            self._check_samples_of(database_0, database_1)
        if not has_noise(self.mechanism):
            return table_row(*self._tables(database_0, database_1, relation))
        noise = noise_of(self.mechanism, relation)
        return mixture_row(noise, self._values(database_0), self._values(database_1))

    def _check_samples_of(self, database_0: Database, database_1: Database) -> None:
        """Raise Breach where neighbouring samples exceed the query's sensitivity."""
        added = [r for r, n in database_1.records() if n > database_0.count_of(r)]
        removed = [r for r, n in database_0.records() if n > database_1.count_of(r)]
        for sample, _ in self._samples(database_0):
            other = sample
            for record in removed:
                if not sample.count_of(record):
                    break
                other = other.remove(record)
            else:
                for record in added:
                    other = other.add(record)
                values = self.query(sample), self.query(other)
                complaint = exceeded(self.query, *values, self.relation)
                if complaint is not None:
                    raise Breach(f"on samples of the two databases {complaint}")

    def row(self, value_0: Any, value_1: Any, relation: Relation) -> tuple[float, ...]:
        """Raise NotApplicable; see ``checked_row``."""
        raise NotApplicable(f"{type(self).__name__} needs the databases, not the query's values")

    def _tables(
        self, database_0: Database, database_1: Database, relation: Relation
    ) -> list[np.ndarray]:
        """Probabilities of the outcomes on each database, as means over samples."""
        tables = []
        for database in (database_0, database_1):
            total: Any = 0.0
            for sample, weight in self._samples(database):
                _, masses, _ = outcomes_of(self.mechanism.pair(sample, sample, relation))
                total = total + weight * np.asarray(masses)
            tables.append(total / math.fsum(total))
        return tables

    def law(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> PrivacyLossLaw:
        """The exact law where the query has one value on one database and two on the other.

        Raises NotApplicable where other sampled records change the value too.
        """
        row = self.checked_row(database_0, database_1, relation)
        if not has_noise(self.mechanism):
            n = int(row[0])
            return FiniteLaw.from_probabilities(row[1 : 1 + n], row[1 + n :])
        first, second = self._values(database_0), self._values(database_1)
        sizes = len(first), len(second)
        if sizes == (1, 1) and first == second:
            return FiniteLaw.from_probabilities([1.0], [1.0])
        if sizes == (1, 1):
            (one,), (other,) = first, second
            return shift_law(self.mechanism, abs(other - one), relation)
        if sizes in ((1, 2), (2, 1)):
            less, more = (first, second) if sizes == (1, 2) else (second, first)
            (known,) = less
            if known in more:
                (other,) = set(more) - {known}
                base = shift_law(self.mechanism, abs(other - known), relation)
                found = PoissonSubsampledLaw(base, more[other])
                return found if sizes == (1, 2) else found.reversed()
        raise NotApplicable(
            f"{type(self).__name__} has a closed-form law where one record alone moves the query"
        )


def require_relation(relation: Relation, sampling: type[_Sampled]) -> None:
    """Raise NotApplicable unless this way of sampling hides a record under the relation."""
    if relation != sampling.relation:
        raise NotApplicable(
            f"sampling {sampling.way} hides a record under {sampling.relation}; no theorem is "
            f"known here under {relation}"
        )


@dataclass(frozen=True, slots=True)
class PoissonSubsampled(_Sampled):
    """A mechanism on a sample that holds each record with probability ``rate``, independently.

    An answer's likelihood is the mean over all samples. Counts and clipped sums may be of any
    database; for another query at most 4096 different samples are enumerated.

    Parameters
    ----------
    mechanism : Gaussian, Laplace, Geometric, :class:`AdditiveNoise`, of a query with one number;
        or one with finitely many outcomes.
    rate : in [0, 1].

    Source: Balle, Barthe and Gaboardi 2018, Theorem 8; see
    :class:`simulator.theory.PoissonSubsampledLaw`.

    >>> from simulator import Laplace, counting_query
    >>> from simulator.mechanisms import PoissonSubsampled
    >>> mechanism = PoissonSubsampled(Laplace(counting_query("alice"), 1.0), rate=0.1)
    >>> round(mechanism.guarantee().pure_epsilon, 6)
    0.158565
    """

    mechanism: ScalarMechanism
    rate: float

    relation: ClassVar[Relation] = ADD_REMOVE
    way: ClassVar[str] = "each record independently"

    def __post_init__(self) -> None:
        check_mechanism(self.mechanism)
        check_rate(self.rate)

    @property
    def _rate(self) -> float:
        return self.rate

    def _values(self, database: Database) -> dict[float, float]:
        if not isinstance(self.query, CountingQuery | PredicateQuery | ClippedSum):
            return _Sampled._values(self, database)
        found, counts = {float(self.query(Database())): 1.0}, dict[float, int]()
        for record, times in database.records():
            value = float(self.query(Database({record: 1})))
            if value == 0.0:
                continue
            counts[value] = counts.get(value, 0) + times
        for value, times in counts.items():
            likely = _likely(times, self.rate)
            probabilities = _binomial(likely, times, self.rate)
            kept = [(k * value, p) for k, p in zip(likely, probabilities) if p > 0.0]
            if len(found) * len(kept) > _MOST_SUMS:
                raise InvalidInput(
                    f"a sample of this database has more than {_MOST_SUMS} possible sums; give "
                    "fewer records, or fewer distinct values"
                )
            found = _gathered(
                (before + more, weight * chance)
                for before, weight in found.items()
                for more, chance in kept
                if weight * chance > 0.0
            )
        return found

    def _samples(self, database: Database) -> Iterator[tuple[Database, float]]:
        records = list(database.records())
        every = _every_sample(records)
        probabilities = [_binomial(range(times + 1), times, self.rate) for _, times in records]
        for counts in every:
            weight = math.prod(float(p[kept]) for p, kept in zip(probabilities, counts))
            if weight > 0.0:
                sample = {r: kept for (r, _), kept in zip(records, counts) if kept}
                yield Database(sample), weight


@dataclass(frozen=True, slots=True)
class SampledWithoutReplacement(_Sampled):
    """A mechanism on ``size`` of exactly ``population`` records, every subset equally likely.

    Parameters
    ----------
    mechanism : as of :class:`PoissonSubsampled`.
    size, population : whole, 0 <= size <= population; both are public. A mean over the sample is
        ``clipped_mean(..., at_least=size)``, whose sensitivity is that of a sample of this size.

    Source: Balle, Barthe and Gaboardi 2018, Theorem 9, under replace-one.

    >>> from simulator import Laplace, counting_query
    >>> from simulator.data import REPLACE_ONE
    >>> from simulator.mechanisms import SampledWithoutReplacement
    >>> count = Laplace(counting_query("alice"), 1.0)
    >>> sampled = SampledWithoutReplacement(count, size=10, population=100)
    >>> round(sampled.guarantee(REPLACE_ONE).pure_epsilon, 6)
    0.158565
    """

    mechanism: ScalarMechanism
    size: int
    population: int

    relation: ClassVar[Relation] = REPLACE_ONE
    way: ClassVar[str] = "a fixed number of records"

    def __post_init__(self) -> None:
        check_mechanism(self.mechanism)
        if whole("size", self.size, least=0) > whole("population", self.population):
            population = count_of(self.population, "record")
            raise InvalidInput(f"a sample of {self.size} is more than {population}")

    @property
    def _rate(self) -> float:
        return self.size / self.population

    def _samples(self, database: Database) -> Iterator[tuple[Database, float]]:
        if database.size != self.population:
            raise Breach(
                f"{type(self).__name__} was made for {count_of(self.population, 'record')}, and "
                f"was given {database.size}"
            )
        records = list(database.records())
        total = math.comb(self.population, self.size)
        for counts in _every_sample(records):
            if sum(counts) == self.size:
                ways = math.prod(
                    math.comb(times, kept) for kept, (_, times) in zip(counts, records)
                )
                sample = {r: kept for (r, _), kept in zip(records, counts) if kept}
                yield Database(sample), ways / total


@lru_cache(maxsize=64)
def _sampled_family(promised: DiscreteGaussianDP, rate: float) -> DominatedDP:
    return DominatedDP(SampledWithoutReplacementLaw(promised.worst_law, rate).simplest)


def _binomial(kept: range, times: int, rate: float) -> list[float]:
    """Probabilities of the numbers ``kept`` of equal records in a Poisson sample."""
    from scipy.stats import binom  # slow to import

    probabilities: list[float] = binom.pmf(np.arange(kept.start, kept.stop), times, rate).tolist()
    return probabilities


def _likely(times: int, rate: float) -> range:
    """The range of counts of equal records in a Poisson sample, but for mass 1e-300 (Bernstein)."""
    reach = math.ceil(40.0 * math.sqrt(times * rate * (1.0 - rate)) + 800.0)
    middle = round(times * rate)
    return range(max(middle - reach, 0), min(middle + reach, times) + 1)


def _every_sample(records: list[tuple[Any, int]]) -> Iterator[tuple[int, ...]]:
    """How often a sample holds each record, for all samples; InvalidInput where they are many."""
    many = math.prod(times + 1 for _, times in records)
    if many > _MOST_SAMPLES:
        raise InvalidInput(
            f"this database has {many} different samples, and at most {_MOST_SAMPLES} are "
            "enumerated; use a count or a clipped sum, or fewer records"
        )
    return product(*(range(times + 1) for _, times in records))


def _gathered(pairs: Any) -> dict[float, float]:
    found: dict[float, float] = {}
    for value, weight in pairs:
        found[value] = found.get(value, 0.0) + weight
    return found


def check_mechanism(mechanism: object) -> None:
    """Raise InvalidInput unless the mechanism can run on a sample."""
    if not isinstance(mechanism, ScalarMechanism) or isinstance(mechanism, _Sampled):
        raise InvalidInput(
            f"a sample is taken for a mechanism with one number as its answer, not {mechanism!r}"
        )
