"""One step of differentially private stochastic gradient descent (DP-SGD)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation, count_changes
from simulator.foundations.errors import Breach, InvalidInput
from simulator.foundations.validation import positive
from simulator.mechanisms.base import Pair, PairMechanism
from simulator.mechanisms.sampled import PoissonSubsampled, require_relation
from simulator.mechanisms.values import NO_LOSS
from simulator.theory.guarantees.subsampled import SubsampledGaussianDP
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.subsampled import PoissonSubsampledLaw, check_rate
from simulator.training.gradients import Floats, LabelledRows, LogisticGradient, labelled_rows

_FAR = 30.0


@dataclass(frozen=True, slots=True)
class GradientStep(PairMechanism):
    """The sum of the clipped gradients of a Poisson sample of the records, with Gaussian noise.

    Parameters
    ----------
    query : the gradient, at the weights of this step.
    noise_multiplier : > 0; the noise on each coordinate has standard deviation
        ``noise_multiplier * query.clip``.
    rate : in [0, 1]; the sample holds each record with this probability, independently.

    The threat model is that of accountants: it is public which of the records in both databases are
    sampled, and secret whether the one differing record is. So an answer has shape (2, d): the
    exact sum over the sampled records in both databases, and the noisy sum over the whole sample.
    Training uses the second row only. The loss of an answer is that of one Gaussian on a sample,
    with the record's clipped gradient as its shift: exactly the certified law if that gradient has
    norm ``clip``, and dominated by it if it is shorter.

    Source: Abadi and others, CCS 2016, Algorithm 1; Mironov, Talwar, Zhang 2019, Section 3.

    >>> from simulator.training import GradientStep, LogisticGradient
    >>> step = GradientStep(LogisticGradient((0.0, 0.0), clip=1.0), noise_multiplier=2.0, rate=0.1)
    >>> step.guarantee(), step.sigma
    (SubsampledGaussianDP(sigma=2.0, rate=0.1), 2.0)
    """

    query: LogisticGradient
    noise_multiplier: float
    rate: float

    def __post_init__(self) -> None:
        if not isinstance(self.query, LogisticGradient):
            raise InvalidInput(
                f"a gradient step needs a clipped gradient such as "
                f"LogisticGradient(weights, clip), not {self.query!r}"
            )
        positive("noise_multiplier", self.noise_multiplier)
        check_rate(self.rate)

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise on each coordinate."""
        return self.noise_multiplier * self.query.clip

    def guarantee(self, relation: Relation = ADD_REMOVE) -> SubsampledGaussianDP:
        """The sampled Gaussian guarantee; raises NotApplicable under replace-one."""
        require_relation(relation, PoissonSubsampled)
        return _family(self.noise_multiplier, self.rate)

    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> Pair:
        """The step on two databases; raises Breach unless they are neighbours."""
        require_relation(relation, PoissonSubsampled)
        return GradientPair(self, _apart(database_0, database_1))

    def law(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> PrivacyLossLaw:
        """The law of a Gaussian on a sample, at the norm of the record's clipped gradient."""
        require_relation(relation, PoissonSubsampled)
        pair = GradientPair(self, _apart(database_0, database_1))
        shift = math.hypot(*pair.gradient)
        if shift == 0.0:
            return NO_LOSS
        added = PoissonSubsampledLaw(GaussianLaw(shift / self.sigma), self.rate)
        return added if pair.holder == 1 else added.reversed()


@lru_cache(maxsize=64)
def _family(noise_multiplier: float, rate: float) -> SubsampledGaussianDP:
    return SubsampledGaussianDP(noise_multiplier, rate)


@lru_cache(maxsize=16)
def _apart(
    database_0: Database, database_1: Database
) -> tuple[LabelledRows, LabelledRows | None, int]:
    """The shared rows, the differing row, and the number of the database that holds it."""
    both, record, holder = differing_record(database_0, database_1)
    alone = None if record is None else labelled_rows(Database([record]))
    return labelled_rows(both), alone, holder


@lru_cache(maxsize=16)
def differing_record(database_0: Database, database_1: Database) -> tuple[Database, Any, int]:
    """The smaller database, the record that it lacks, and the number of the one that holds it.

    The record is None where the databases are equal. Raises Breach where they differ in more.
    """
    moved = count_changes(database_0, database_1)
    if not moved:
        return database_0, None, 1
    if len(moved) > 1 or abs(next(iter(moved.values()))) > 1:
        raise Breach(
            "a gradient step is played on databases that differ in one record: "
            + ADD_REMOVE.difference(database_0, database_1)
        )
    ((record, by),) = moved.items()
    return database_0 if by > 0 else database_1, record, int(by > 0)


class GradientPair:
    """A step on two databases.

    Attributes
    ----------
    gradient : the clipped gradient of the differing record, shape (d,).
    holder : the experiment whose database holds it.
    """

    __slots__ = ("gradient", "holder", "others", "step")

    def __init__(
        self, step: GradientStep, apart: tuple[LabelledRows, LabelledRows | None, int]
    ) -> None:
        self.step = step
        self.others, record, self.holder = apart
        self.gradient: Floats = (
            np.zeros(len(step.query.weights)) if record is None else step.query.terms(record)[0]
        )

    def sample(self, b: int, noise: np.random.Generator) -> Floats:
        """Draw the others' exact sum and the noisy sum on database ``b``, shape (2, d)."""
        step = self.step
        places = np.flatnonzero(noise.random(len(self.others.labels)) < step.rate)
        public = step.query.terms(self.others.taken(places)).sum(axis=0)
        noisy = public + step.sigma * noise.standard_normal(len(public))
        if noise.random() < step.rate and b == self.holder:
            noisy += self.gradient
        return np.stack([public, noisy])

    def loss(self, answer: Floats) -> float:
        """Privacy loss: ln(1 - q + q e^m), m the loss if the record is in the sample."""
        public, noisy = answer
        variance = self.step.sigma**2
        m = float((noisy - public - 0.5 * self.gradient) @ self.gradient) / variance
        present = _log_mixture(m, self.step.rate)
        return -present if self.holder else present


def _log_mixture(m: float, rate: float) -> float:
    """ln(1 - rate + rate e^m), accurate for a small rate and a small m."""
    if rate in (0.0, 1.0):
        return m * rate
    if m < _FAR and (rate <= 0.5 or m >= -1.0):
        return math.log1p(rate * math.expm1(m))
    without, present = math.log1p(-rate), m + math.log(rate)
    return max(without, present) + math.log1p(math.exp(-abs(present - without)))
