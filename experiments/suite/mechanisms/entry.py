"""A mechanism of the standard suite: its sampler, its claim and its exact law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from simulator.auditing.audits.patterns import Input, Neighbours, patterns
from simulator.theory import PureDP

Sampler: TypeAlias = Callable[[Input, int, np.random.Generator], np.ndarray]
"""``sample(input, n, rng)``: n answers, the first axis of an array."""


class AnswerLaw(ABC):
    """The exact law of a mechanism's answers on a pair of inputs."""

    @abstractmethod
    def supremum(self, input_0: Input, input_1: Input) -> float:
        """The supremum over the answers of ln of the ratio of likelihoods, 0 over 1; may be inf."""

    @abstractmethod
    def loss(self, input_0: Input, input_1: Input, answers: np.ndarray) -> np.ndarray:
        """Ln of the ratio of likelihoods, 0 over 1, of each answer; shape (n,)."""

    def epsilon(self, input_0: Input, input_1: Input) -> float:
        """The least epsilon that holds on this pair, in both directions."""
        return max(self.supremum(input_0, input_1), self.supremum(input_1, input_0))


@dataclass(frozen=True, kw_only=True)
class StandardMechanism:
    """One mechanism of the suite.

    Attributes
    ----------
    name : its name in reports.
    sample : draws n answers on an input.
    claimed : the guarantee that its authors claim on ``pairs``.
    epsilon : the exact supremum over all neighbouring inputs of this length; may be infinite.
    reason : why it is that number, in a line.
    length : of the inputs.
    relation : whether one coordinate or all of them may differ, by at most 1.
    answer : "scalar", or "vector" if an answer is a row.
    law : the exact law of the answers.
    source : where the mechanism is described.
    """

    name: str
    sample: Sampler
    claimed: PureDP
    epsilon: float
    reason: str
    length: int
    relation: Neighbours
    answer: Literal["scalar", "vector"]
    law: AnswerLaw
    source: str

    @property
    def private(self) -> bool:
        """Whether the claim holds on every pair of neighbouring inputs."""
        return self.epsilon <= self.claimed.epsilon * (1.0 + 1e-12)

    @property
    def pairs(self) -> tuple[tuple[Input, Input], ...]:
        """The standard pairs of neighbouring inputs, each in one order."""
        return patterns(self.length, self.relation)

    def pattern_epsilon(self) -> float:
        """The largest exact epsilon over the standard pairs: what an audit on them can reach."""
        return max(self.law.epsilon(*pair) for pair in self.pairs)
