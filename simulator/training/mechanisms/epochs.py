"""Many steps of training as one round, where a record takes part in a secret set of steps.

The answer of such a round is the noisy sum of every step. Its likelihood is a mean over the sets of
steps that the differing record may be in, and that mean is exact also where the gradients of a step
depend on the answers of the steps before it. See :mod:`.random_allocation` and
:mod:`.balls_in_bins` for the ways to deal records to steps.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries.counting import CountingQuery, PredicateQuery
from simulator.data.queries.kept import checked_values
from simulator.data.queries.sums import ClippedSum
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite
from simulator.mechanisms.base import Pair, PairMechanism
from simulator.mechanisms.gaussian import Gaussian
from simulator.mechanisms.sampled import PoissonSubsampled, require_relation
from simulator.mechanisms.values import real
from simulator.training.gradients import Floats, LabelledRows, labelled_rows
from simulator.training.mechanisms.gradient_step import GradientStep, differing_record

LARGEST_WEIGHT = 100.0
"""Weights are kept within it, which is post-processing: no noise makes them infinite."""

Bits = NDArray[np.bool_]


class Epoch(PairMechanism):
    """The noisy sums of ``steps`` steps, each over the records that take part in it.

    A subclass is a frozen dataclass with the fields below. It defines ``dealt`` and
    ``log_mean_ratio``, and ``noises`` and ``whitened`` where the noise is correlated.

    Parameters
    ----------
    step : a :class:`GradientStep` of rate 1, or a :class:`Gaussian` of a count or a clipped sum:
        the sum that every step takes over its own records, and its noise.
    step_size : each step of gradients is at weights moved by minus this times the noisy sum of the
        step before; 0 keeps them.

    As for :class:`GradientStep`, the steps of the records that are in both databases are public.
    So an answer has shape (2, steps, d): the exact sums over the others, and the noisy sums.
    """

    __slots__ = ()

    step: GradientStep | Gaussian
    step_size: float

    @property
    @abstractmethod
    def length(self) -> int:
        """The number of steps."""

    @abstractmethod
    def dealt(self, records: int, noise: np.random.Generator) -> Bits:
        """Draw the steps that each record takes part in, shape (records, steps)."""

    @abstractmethod
    def log_mean_ratio(self, seen: Floats, terms: Floats) -> float:
        """Ln of the mean likelihood ratio, with the differing record to without it.

        Parameters
        ----------
        seen : what ``whitened`` makes of the noisy sums less the others' sums, over the standard
            deviation of the noise, shape (steps, d).
        terms : the record's term in each step in the same unit, shape (steps, d).
        """

    def noises(self, draws: Floats) -> Floats:
        """The noise of every step, from independent normal draws of one shape."""
        return draws

    def whitened(self, sums: Floats) -> Floats:
        """Inverse of ``noises``."""
        return sums

    def check(self) -> None:
        """Raise InvalidInput unless the step and its size can be played."""
        if isinstance(self.step, GradientStep):
            if self.step.rate != 1.0:
                raise InvalidInput(
                    "the records of a step are dealt, and not sampled once more: give a gradient "
                    f"step of rate 1, not {self.step.rate!r}"
                )
        elif not isinstance(self.step, Gaussian) or not isinstance(
            self.step.query, CountingQuery | PredicateQuery | ClippedSum
        ):
            raise InvalidInput(
                "an epoch is made of gradient steps, or of Gaussian noise on a count or a clipped "
                f"sum, not of {self.step!r}"
            )
        if finite("step_size", self.step_size) < 0.0:
            raise InvalidInput(f"the step size must be at least 0, not {self.step_size!r}")

    @property
    def noise_multiplier(self) -> float:
        """Standard deviation of the noise over the largest norm of one record's term."""
        if isinstance(self.step, GradientStep):
            return self.step.noise_multiplier
        return self.step.fixed_parameter() / self.step.query.sensitivity(ADD_REMOVE)

    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> Pair:
        """The steps on two databases; raises Breach unless they are neighbours."""
        require_relation(relation, PoissonSubsampled)
        holder = differing_record(database_0, database_1)[2]
        return EpochPair(self, _terms(self.step, database_0, database_1), holder)

    def weights_after(self, answer: Floats) -> tuple[float, ...]:
        """The weights after the last step of an answer, of an epoch of gradients."""
        assert isinstance(self.step, GradientStep)
        weights = np.array(self.step.query.weights)
        for noisy in answer[1]:
            weights = moved(weights, self.step_size, noisy)
        return tuple(weights.tolist())


def moved(weights: Floats, step_size: float, noisy: Floats) -> Floats:
    """The weights after a step along a noisy sum of gradients."""
    after: Floats = np.clip(weights - step_size * noisy, -LARGEST_WEIGHT, LARGEST_WEIGHT)
    return after


class EpochPair:
    """An epoch on two databases.

    Attributes
    ----------
    holder : the experiment whose database holds the differing record.
    """

    __slots__ = ("epoch", "holder", "terms")

    def __init__(self, epoch: Epoch, terms: Terms, holder: int) -> None:
        self.epoch, self.terms, self.holder = epoch, terms, holder

    def sample(self, b: int, noise: np.random.Generator) -> Floats:
        """Draw the others' exact sums and the noisy sums on database ``b``: (2, steps, d)."""
        epoch, terms = self.epoch, self.terms
        taken = epoch.dealt(terms.many + 1, noise)  # the differing record is the last one
        drawn = epoch.noises(noise.standard_normal((epoch.length, len(terms.start))))
        answer, weights = np.empty((2, *drawn.shape)), terms.start
        for steps in self._blocks:
            answer[0, steps] = terms.of_others(weights, taken[:-1, steps])
            answer[1, steps] = answer[0, steps] + terms.sigma * drawn[steps]
            if b == self.holder:
                answer[1, steps] += taken[-1, steps, None] * terms.of_record(weights)
            weights = moved(weights, epoch.step_size, answer[1, steps][-1])
        return answer

    @property
    def _blocks(self) -> list[slice]:
        """Steps at the same weights: all of them, or each one by itself."""
        length = self.epoch.length
        if self.epoch.step_size == 0.0:
            return [slice(0, length)]
        return [slice(i, i + 1) for i in range(length)]

    def loss(self, answer: Floats) -> float:
        """Privacy loss: the record's terms follow from the noisy sums of the steps before."""
        epoch, terms, weights = self.epoch, self.terms, self.terms.start
        shifts = np.empty(answer.shape[1:])
        for steps in self._blocks:
            shifts[steps] = terms.of_record(weights)
            weights = moved(weights, epoch.step_size, answer[1, steps][-1])
        seen = epoch.whitened((answer[1] - answer[0]) / terms.sigma)
        present = epoch.log_mean_ratio(seen, shifts / terms.sigma)
        return -present if self.holder else present


class Terms(Protocol):
    """What records add to the sum of a step.

    Attributes
    ----------
    many : how many records are in both databases.
    start : the weights of the first step, shape (d,).
    sigma : standard deviation of the noise on each coordinate.
    """

    @property
    def many(self) -> int:
        """How many records are in both databases."""

    @property
    def start(self) -> Floats:
        """The weights of the first step, shape (d,)."""

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise on each coordinate."""

    def of_others(self, weights: Floats, taken: Bits) -> Floats:
        """The sums over the records that are in each step, (s, d); ``taken`` is (many, s)."""

    def of_record(self, weights: Floats) -> Floats:
        """The term of the differing record, shape (d,)."""


@dataclass(frozen=True)
class _Gradients:
    step: GradientStep
    others: LabelledRows
    record: LabelledRows | None

    @property
    def many(self) -> int:
        return len(self.others.labels)

    @property
    def start(self) -> Floats:
        return np.array(self.step.query.weights)

    @property
    def sigma(self) -> float:
        return self.step.sigma

    def of_others(self, weights: Floats, taken: Bits) -> Floats:
        places = np.flatnonzero(taken.any(axis=1))
        terms = self.step.query.terms(self.others.taken(places), weights)
        sums: Floats = taken[places].T.astype(float) @ terms
        return sums

    def of_record(self, weights: Floats) -> Floats:
        if self.record is None:
            return np.zeros(len(weights))
        term: Floats = self.step.query.terms(self.record, weights)[0]
        return term


@dataclass(frozen=True)
class _Values:
    values: Floats
    value: float
    sigma: float

    @property
    def many(self) -> int:
        return len(self.values)

    @property
    def start(self) -> Floats:
        return np.zeros(1)

    def of_others(self, weights: Floats, taken: Bits) -> Floats:
        sums: Floats = taken.T.astype(float) @ self.values[:, None]
        return sums

    def of_record(self, weights: Floats) -> Floats:
        return np.array([self.value])


@lru_cache(maxsize=16)
def _terms(step: GradientStep | Gaussian, database_0: Database, database_1: Database) -> Terms:
    common, record, _ = differing_record(database_0, database_1)
    if isinstance(step, GradientStep):
        rows = None if record is None else labelled_rows(Database([record]))
        return _Gradients(step, labelled_rows(common), rows)
    checked_values(step.query, database_0, database_1, ADD_REMOVE)
    values = np.array([real("an epoch", step.query(Database([r]))) for r in common])
    value = 0.0 if record is None else real("an epoch", step.query(Database([record])))
    return _Values(values, value, step.fixed_parameter())


def log_mean_exp(logs: Floats) -> float:
    """Ln of the mean of e^a over the entries, accurate where all of them are small."""
    top = float(logs.max())
    if top < 1.0:
        excess = float(np.expm1(logs).mean())
        if excess > -0.5:
            return math.log1p(excess)
    return top + math.log(float(np.exp(logs - top).mean()))
