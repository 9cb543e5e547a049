"""Laws of finitely many answers, by a table of probabilities for each input."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from experiments.suite.mechanisms.entry import AnswerLaw
from simulator.auditing.audits.patterns import Input


@dataclass(frozen=True)
class DiscreteLaw(AnswerLaw):
    """The law of finitely many answers.

    Attributes
    ----------
    probabilities : input to the probability of each answer, shape (m,).
    place : answers, n of them, to their places in that table, integers of shape (n,).
    """

    probabilities: Callable[[Input], np.ndarray]
    place: Callable[[np.ndarray], np.ndarray]

    def losses(self, input_0: Input, input_1: Input) -> np.ndarray:
        """Ln of the ratio of probabilities of each answer; NaN where neither input gives it."""
        table_0, table_1 = self.probabilities(input_0), self.probabilities(input_1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(table_0) - np.log(table_1)

    def supremum(self, input_0: Input, input_1: Input) -> float:
        """See :meth:`AnswerLaw.supremum`."""
        return float(np.nanmax(self.losses(input_0, input_1)))

    def loss(self, input_0: Input, input_1: Input, answers: np.ndarray) -> np.ndarray:
        """See :meth:`AnswerLaw.loss`."""
        return self.losses(input_0, input_1)[self.place(answers)]


def differences(input_0: Input, input_1: Input) -> float:
    """The L1 distance of two inputs."""
    return math.fsum(abs(x - y) for x, y in zip(input_0, input_1))
