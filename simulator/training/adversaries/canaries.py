"""DP-SGD as an interaction: a model trained by steps whose answers are the view.

The step is :class:`simulator.training.GradientStep`; here is the training around it, played by
:func:`simulator.simulate` like any other adversary, on the tumour table with a canary, and the
view of an attacker with the last weights alone. Sources: Abadi and others,
CCS 2016, Algorithm 1; the canaries after Nasr and others, "Adversary Instantiation", S&P 2021.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge
from simulator.data import datasets
from simulator.data.databases import Database
from simulator.training.gradients import Floats, LogisticGradient, labelled_rows
from simulator.training.mechanisms.balls_in_bins import BallsInBins
from simulator.training.mechanisms.epochs import Epoch, moved
from simulator.training.mechanisms.gradient_step import GradientStep
from simulator.training.mechanisms.random_allocation import RandomAllocation

Row = tuple[float, ...]

CLIP = 1.0
LEARNING_RATE = 1.0


@lru_cache(maxsize=1)
def tumours() -> Database:
    """The tumour table for training: a 1, the 30 measurements, and 1 where it is malignant.

    Each measurement is in standard deviations from its mean; both are taken to be public.
    """
    records: list[Any] = list(datasets.load("breast_cancer"))
    table = np.array([record[:-1] for record in records], dtype=float)
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    rows = np.column_stack([np.ones(len(table)), scaled, [r[-1] == "malignant" for r in records]])
    return Database(map(tuple, rows.tolist()))


@lru_cache(maxsize=16)
def patient(share: float) -> Row:
    """A patient of the data set: this share of the others are harder to fit; 0 is the hardest.

    By the margins of a model that was trained without noise, in 60 steps.
    """
    rows = labelled_rows(tumours())
    margins = (2.0 * rows.labels - 1.0) * (rows.features @ np.array(plain_weights(60)))
    records: list[Any] = list(tumours())
    place = np.argsort(margins, kind="stable")[round(share * (len(margins) - 1))]
    return tuple(records[place])


def plain_weights(steps: int) -> Row:
    """The weights after steps of the same training without noise, on all tumours in every step."""
    rows = labelled_rows(tumours())
    weights = np.zeros(rows.features.shape[1])
    for _ in range(steps):
        terms = LogisticGradient(tuple(weights), CLIP).terms(rows)
        weights = weights - LEARNING_RATE * terms.mean(axis=0)
    return tuple(weights.tolist())


@lru_cache(maxsize=1)
def mislabelled() -> Row:
    """A canary: the mean malignant record three times as far from the middle, labelled benign.

    Training pulls the model away from this label, so its gradient stays longer than any clip, and
    the clipped one has norm CLIP in every round.
    """
    rows = labelled_rows(tumours())
    far = 3.0 * rows.features[rows.labels == 1.0].mean(axis=0)
    return (1.0, *far[1:].tolist(), 0.0)


@dataclass(frozen=True)
class Training:
    """DP-SGD from zero weights as an adversary: each round requests a step at the last weights.

    Parameters
    ----------
    database_0, database_1 : neighbours under add/remove-one, one of which holds the canary.
    noise_multiplier, rate : of every step.
    name : for tables.
    """

    database_0: Database
    database_1: Database
    noise_multiplier: float
    rate: float
    name: str = "dp-sgd"

    def __call__(self, coins: np.random.Generator) -> Generator[Challenge, Floats, None]:
        """Play."""
        weights = self.start
        while True:
            step = GradientStep(LogisticGradient(weights, CLIP), self.noise_multiplier, self.rate)
            answer = yield Challenge(self.database_0, self.database_1, step)
            weights = self.moved(weights, answer)

    @property
    def start(self) -> Row:
        """Zero weights."""
        many: int = labelled_rows(self.database_0).features.shape[1]
        return (0.0,) * many

    def moved(self, weights: Row, answer: Floats) -> Row:
        """The weights after a step, from its noisy sum: row 1 of the answer.

        The sum is divided by how many records a sample is expected to hold, a number that is the
        same in both experiments. A step that a filter refuses, of answer NaN, moves nothing.
        """
        if np.ndim(answer) == 0:
            return weights
        expected = max(1.0, self.rate * min(self.database_0.size, self.database_1.size))
        kept: list[float] = moved(np.array(weights), LEARNING_RATE / expected, answer[1]).tolist()
        return tuple(kept)

    def weights_after(self, answers: Iterable[Floats]) -> Row:
        """The last weights of a view, which a black-box attacker observes."""
        weights = self.start
        for answer in answers:
            weights = self.moved(weights, answer)
        return weights


def train_with(canary: Row, noise_multiplier: float, rate: float, name: str = "dp-sgd") -> Training:
    """Training on the tumour table, with ``canary`` in database 1 and not in database 0."""
    others = _without(canary)
    return Training(others, others.add(canary), noise_multiplier, rate, name)


@dataclass(frozen=True)
class TrainingByEpochs:
    """The same training where each round is an epoch of many steps, at the last epoch's weights.

    Parameters
    ----------
    database_0, database_1 : neighbours under add/remove-one, one of which holds the canary.
    epoch : of gradient steps; its first weights are those of the first round.
    name : for tables.
    """

    database_0: Database
    database_1: Database
    epoch: Epoch
    name: str = "dp-sgd"

    def __call__(self, coins: np.random.Generator) -> Generator[Challenge, Floats, None]:
        """Play."""
        epoch = self.epoch
        while True:
            answer = yield Challenge(self.database_0, self.database_1, epoch)
            epoch = self.after(epoch, answer)

    def after(self, epoch: Any, answer: Floats) -> Epoch:
        """The epoch that follows an answer."""
        query = replace(epoch.step.query, weights=epoch.weights_after(answer))
        following: Epoch = replace(epoch, step=replace(epoch.step, query=query))
        return following

    def weights_after(self, answers: Iterable[Floats]) -> Row:
        """The last weights of a view, which a black-box attacker observes."""
        epoch: Any = self.epoch
        for answer in answers:
            epoch = self.after(epoch, answer)
        weights: Row = epoch.step.query.weights
        return weights


def train_allocated(
    canary: Row, noise_multiplier: float, steps: int, selected: int = 1, name: str = "dp-sgd"
) -> TrainingByEpochs:
    """Training on the tumour table by epochs in which each patient is in ``selected`` steps."""
    others = _without(canary)
    size = LEARNING_RATE / max(1.0, others.size * selected / steps)
    epoch = RandomAllocation(_first_step(others, noise_multiplier), steps, selected, size)
    return TrainingByEpochs(others, others.add(canary), epoch, name)


def train_in_bins(
    canary: Row,
    noise_multiplier: float,
    bins: int,
    epochs: int,
    *,
    coefficients: tuple[float, ...] = (1.0,),
    name: str = "dp-sgd",
) -> TrainingByEpochs:
    """Training on the tumour table, one bin of every epoch for each patient, all in one round.

    The noise is correlated over the steps by the coefficients; see :class:`BallsInBins`.
    """
    others = _without(canary)
    size = LEARNING_RATE / max(1.0, others.size / bins)
    step = _first_step(others, noise_multiplier)
    epoch = BallsInBins(step, bins, epochs, coefficients, size)
    return TrainingByEpochs(others, others.add(canary), epoch, name)


def _first_step(others: Database, noise_multiplier: float) -> GradientStep:
    many = labelled_rows(others).features.shape[1]
    return GradientStep(LogisticGradient((0.0,) * many, CLIP), noise_multiplier, 1.0)


def _without(canary: Row) -> Database:
    others = tumours()
    return others.remove(canary) if canary in others else others


def logit(weights: Row, record: Row) -> float:
    """How strongly a model takes a record for a 1: the score of a black-box attack."""
    return float(np.dot(weights, record[:-1]))


def accuracy(weights: Row, database: Database) -> float:
    """The share of the records that the model labels as they are."""
    rows = labelled_rows(database)
    return float(np.mean((rows.features @ np.array(weights) > 0.0) == (rows.labels == 1.0)))
