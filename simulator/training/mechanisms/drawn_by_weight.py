"""A step over records that a weighted sampler draws with replacement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy

from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database, Relation, count_changes
from simulator.data.queries.sums import ClippedSum
from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.foundations.validation import whole
from simulator.mechanisms.base import Pair, PairMechanism
from simulator.mechanisms.gaussian import Gaussian
from simulator.mechanisms.values import real
from simulator.theory.guarantees.subsampled import SubsampledGaussianDP
from simulator.training.gradients import Floats
from simulator.training.mechanisms.epochs import log_mean_exp


@dataclass(frozen=True, slots=True)
class DrawnByWeight(PairMechanism):
    """The noisy sum of ``draws`` records, each drawn by weight, with replacement.

    Parameters
    ----------
    step : noise on a clipped sum; a record that is drawn twice counts twice.
    draws : of a batch.
    weight_of : the weight of a record, >= 0; public, and the same for both of two neighbours.
    records : how many there are.

    It claims what a Poisson sample of rate draws/n keeps, as if all weights were equal: a record of
    a large weight is drawn far more often, and more than once. Played under replace-one, where a
    record of value 0 is an absent one. The likelihood is exact where all other records have value
    0: the sum is then that of how often the record is drawn.

    >>> from simulator import Gaussian
    >>> from simulator.data import clipped_sum
    >>> from simulator.training import DrawnByWeight
    >>> step = Gaussian(clipped_sum(float, 0, 1), sigma=2.0)
    >>> DrawnByWeight(step, draws=10, weight_of=lambda record: 1.0, records=100).guarantee()
    SubsampledGaussianDP(sigma=2.0, rate=0.1)
    """

    step: Gaussian
    draws: int
    weight_of: Callable[[Any], float]
    records: int

    def __post_init__(self) -> None:
        if not isinstance(self.step, Gaussian) or not isinstance(self.step.query, ClippedSum):
            raise InvalidInput(f"a step is Gaussian noise on a clipped sum, not {self.step!r}")
        if whole("draws", self.draws) > whole("records", self.records):
            raise InvalidInput(
                f"{self.draws} draws are claimed as a rate of {self.records} records"
            )

    def guarantee(self, relation: Relation = REPLACE_ONE) -> SubsampledGaussianDP:
        """What is claimed: the guarantee of a Poisson sample."""
        if relation != REPLACE_ONE:
            raise NotApplicable("a weighted sampler draws from databases of one size: replace-one")
        scale = self.step.query.sensitivity(ADD_REMOVE)
        return SubsampledGaussianDP(self.step.fixed_parameter() / scale, self.draws / self.records)

    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = REPLACE_ONE
    ) -> Pair:
        """The step on two databases; raises Breach unless they are neighbours."""
        self.guarantee(relation)
        return WeightedPair(self, *_drawn(self, database_0, database_1))


class WeightedPair:
    """A weighted sample on two databases.

    Attributes
    ----------
    share : of the weights, that of the differing record.
    values : its value on each database.
    """

    __slots__ = ("kind", "log_counts", "share", "values")

    def __init__(self, kind: DrawnByWeight, share: float, values: tuple[float, float]) -> None:
        self.kind, self.share, self.values = kind, share, values
        counts = np.arange(kind.draws + 1)
        self.log_counts: Floats = scipy.stats.binom.logpmf(counts, kind.draws, share)

    def sample(self, b: int, noise: np.random.Generator) -> float:
        """Draw the noisy sum on database ``b``."""
        times = int(noise.binomial(self.kind.draws, self.share))
        sigma = self.kind.step.fixed_parameter()
        return float(times * self.values[b] + sigma * noise.standard_normal())

    def loss(self, answer: float) -> float:
        """Privacy loss, the ratio of two mixtures over how often the record is drawn."""
        sigma, times = self.kind.step.fixed_parameter(), np.arange(self.kind.draws + 1)
        zero, one = (
            log_mean_exp(
                self.log_counts + times * value * (answer - 0.5 * times * value) / sigma**2
            )
            for value in self.values
        )
        return zero - one


@lru_cache(maxsize=16)
def _drawn(
    kind: DrawnByWeight, database_0: Database, database_1: Database
) -> tuple[float, tuple[float, float]]:
    """The share of the differing record in the weights, and its values."""
    moved = count_changes(database_0, database_1)
    if sorted(moved.values()) != [-1, 1] or database_0.size != kind.records:
        raise Breach(
            f"a weighted sample is played on two databases of {kind.records} records, one of which "
            "is replaced"
        )
    before, after = sorted(moved, key=lambda record: moved[record])
    query = kind.step.query
    others = [r for r in database_0.remove(before) if query(Database([r])) != 0.0]
    weights = [float(kind.weight_of(record)) for record in database_0]
    if others or kind.weight_of(before) != kind.weight_of(after):
        raise NotApplicable(
            "the likelihood of a weighted sample is known where the other records have value 0, "
            "and the two that differ have one weight"
        )
    first, second = (real("a step", query(Database([r]))) for r in (before, after))
    return float(kind.weight_of(before)) / sum(weights), (first, second)
