"""The batches of a data loader that shuffles: of equal size, so one record's place moves others."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from simulator.data.databases import REPLACE_ONE, Database, Relation, count_changes
from simulator.data.queries.sums import ClippedSum
from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.foundations.validation import whole
from simulator.foundations.wording import count_of
from simulator.mechanisms.base import Pair, PairMechanism
from simulator.mechanisms.gaussian import Gaussian
from simulator.mechanisms.values import real
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.training.gradients import Floats
from simulator.training.mechanisms.epochs import log_mean_exp


@dataclass(frozen=True, slots=True)
class ShuffledBatches(PairMechanism):
    """The noisy sums of the batches of a shuffled database, in order.

    Parameters
    ----------
    step : noise on a clipped sum, which every batch takes of its records.
    batches : their number, which divides that of the records.
    passes : how often the same batches are used, with new noise; a loader that shuffles anew in
        every epoch is a round for each epoch, with one pass.
    batch_of : None where the records are shuffled and then cut into batches. Else the number of a
        record's batch, from 0: the batches are formed first, and their order is shuffled.

    The answer has shape (passes, batches). Nothing about the others is public. The likelihood is a
    mean over the place of the differing record, and is exact where the other records have one
    value, or the other batches one sum: then their places make no difference. The worst databases
    that are known are of that kind.

    No amplification is promised, as no tight theorem is known: shuffling is a mixture of places,
    in each of which one record changes one sum.

    >>> from simulator import Gaussian
    >>> from simulator.data import clipped_sum
    >>> from simulator.training import ShuffledBatches
    >>> ShuffledBatches(Gaussian(clipped_sum(float, 0, 1), sigma=2.0), batches=4).guarantee()
    GaussianDP(mu=0.5)
    """

    step: Gaussian
    batches: int
    passes: int = 1
    batch_of: Callable[[Any], int] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.step, Gaussian) or not isinstance(self.step.query, ClippedSum):
            raise InvalidInput(
                f"the sum of a batch is Gaussian noise on a clipped sum, not {self.step!r}"
            )
        whole("batches", self.batches)
        whole("passes", self.passes)

    @property
    def query(self) -> ClippedSum:  # type: ignore[override]
        """The query of every batch."""
        assert isinstance(self.step.query, ClippedSum)
        return self.step.query

    def guarantee(self, relation: Relation = REPLACE_ONE) -> GaussianDP:
        """That of a batch at a public place; raises NotApplicable under add/remove-one."""
        _require_replace_one(relation)
        shift = self.query.sensitivity(REPLACE_ONE)
        return GaussianDP(math.sqrt(self.passes) * shift / self.step.fixed_parameter())

    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = REPLACE_ONE
    ) -> Pair:
        """The batches on two databases; raises Breach unless they are neighbours."""
        _require_replace_one(relation)
        return BatchesPair(self, *_sums(self, database_0, database_1))


def _require_replace_one(relation: Relation) -> None:
    if relation != REPLACE_ONE:
        raise NotApplicable(
            "batches of equal size are cut from databases of one size: play them under "
            "replace-one, where a record with value 0 is an absent one"
        )


class BatchesPair:
    """Shuffled batches on two databases.

    Attributes
    ----------
    usual : the sum of a batch without the differing record.
    shifts : how far the batch with it is above that, on each database.
    """

    __slots__ = ("batches", "shifts", "usual")

    def __init__(self, batches: ShuffledBatches, usual: float, shifts: tuple[float, float]) -> None:
        self.batches, self.usual, self.shifts = batches, usual, shifts

    def sample(self, b: int, noise: np.random.Generator) -> Floats:
        """Draw the noisy sums on database ``b``, shape (passes, batches)."""
        kind = self.batches
        place = int(noise.integers(kind.batches))
        drawn = noise.standard_normal((kind.passes, kind.batches))
        answer: Floats = self.usual + kind.step.fixed_parameter() * drawn
        answer[:, place] += self.shifts[b]
        return answer

    def loss(self, answer: Floats) -> float:
        """Privacy loss: the ratio of two means over the places."""
        passes, variance = len(answer), self.batches.step.fixed_parameter() ** 2
        above = (answer - self.usual).sum(axis=0)
        zero, one = (
            log_mean_exp(shift * (above - 0.5 * passes * shift) / variance) for shift in self.shifts
        )
        return zero - one


@lru_cache(maxsize=16)
def _sums(
    mechanism: ShuffledBatches, database_0: Database, database_1: Database
) -> tuple[float, tuple[float, float]]:
    """The usual sum of a batch, and how far the one with the differing record is above it."""
    both = (database_0, database_1)
    size, rest = divmod(database_0.size, mechanism.batches)
    if rest or not size or database_1.size != database_0.size:
        raise Breach(
            f"{count_of(database_0.size, 'record')} and {count_of(database_1.size, 'record')} are "
            f"not two databases of one size that {count_of(mechanism.batches, 'batch', 'batches')} "
            "of equal size make up"
        )
    if (moved := sum(abs(n) for n in count_changes(*both).values())) > 2:
        raise Breach(f"the databases differ in {count_of(moved // 2, 'record')}, and not in one")
    if mechanism.batch_of is not None:
        sums = [_sums_of_batches(mechanism, database, size) for database in both]
        return _usual("batches, in their sums,", *sums)
    values = [sorted(real("a batch", mechanism.query(Database([r]))) for r in d) for d in both]
    usual, shifts = _usual("records, in their values,", *values)
    return size * usual, shifts


def _sums_of_batches(mechanism: ShuffledBatches, database: Database, size: int) -> list[float]:
    assert mechanism.batch_of is not None
    held: list[list[Any]] = [[] for _ in range(mechanism.batches)]
    for record in database:
        number = mechanism.batch_of(record)
        if number not in range(mechanism.batches) or len(held[number]) == size:
            raise Breach(
                f"batch {number!r} of {mechanism.batches} of {size} cannot hold {record!r}"
            )
        held[number].append(record)
    return sorted(real("a batch", mechanism.query(Database(records))) for records in held)


def _usual(what: str, zero: list[float], one: list[float]) -> tuple[float, tuple[float, float]]:
    """The value of all but one entry, and by how much that one exceeds it in each list."""
    kinds = sorted(set(zero) | set(one), key=lambda value: -zero.count(value) - one.count(value))
    usual = kinds[0]
    odd = [[value for value in values if value != usual] for values in (zero, one)]
    if max(map(len, odd)) > 1:
        raise NotApplicable(
            f"the likelihood of shuffled batches is known where the other {what} are equal; here "
            f"they are {', '.join(map(repr, kinds[:4]))}"
        )
    first, second = (values[0] - usual if values else 0.0 for values in odd)
    return usual, (first, second)
