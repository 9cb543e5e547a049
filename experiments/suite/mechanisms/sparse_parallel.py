"""The third and the fourth sparse vector side by side, each stopping after two answers above."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.suite.mechanisms.discrete import DiscreteLaw
from experiments.suite.mechanisms.entry import AnswerLaw, StandardMechanism
from experiments.suite.mechanisms.sparse_values import ValuesLaw
from experiments.suite.mechanisms.thresholds import Marks
from simulator.auditing.audits.patterns import Input
from simulator.theory import PureDP

LENGTH = 10
VALUES = ValuesLaw(Marks(1.0, 20.0, 40.0, 2))
MARKS = Marks(1.0, 40.0, 4 / 0.3, 2)


@dataclass(frozen=True)
class SideBySide(AnswerLaw):
    """Two independent mechanisms on the same input: losses and suprema add up."""

    left: AnswerLaw
    right: AnswerLaw
    width: int

    def supremum(self, input_0: Input, input_1: Input) -> float:
        """The sum of the two."""
        return self.left.supremum(input_0, input_1) + self.right.supremum(input_0, input_1)

    def loss(self, input_0: Input, input_1: Input, answers: np.ndarray) -> np.ndarray:
        """See :meth:`AnswerLaw.loss`."""
        left, right = answers[:, : self.width], answers[:, self.width :].astype(np.int8)
        return self.left.loss(input_0, input_1, left) + self.right.loss(input_0, input_1, right)


def sample(input: Input, n: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of the third variant, then of the fourth; shape (n, 20)."""
    return np.concatenate(
        [VALUES.sample(input, n, rng), MARKS.sample(input, n, rng)], axis=1, dtype=float
    )


MECHANISMS = (
    StandardMechanism(
        name="sparse-vector-parallel",
        sample=sample,
        claimed=PureDP(0.2),
        epsilon=0.575,
        reason="10/40 of the third variant and 1/40 + 4 x 3/40 of the fourth, in one limit",
        length=LENGTH,
        relation="all coordinates",
        answer="vector",
        law=SideBySide(VALUES, DiscreteLaw(MARKS.probabilities, MARKS.place), LENGTH),
        source="Bichsel, Steffen, Bogunovic and Vechev 2021",
    ),
)
