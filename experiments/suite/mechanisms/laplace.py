"""Laplace noise on one number: on a grid, several times, and in plain floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from experiments.suite.mechanisms.discrete import differences
from experiments.suite.mechanisms.entry import AnswerLaw, Sampler, StandardMechanism
from experiments.suite.mechanisms.noise import on_grid
from simulator.auditing.audits.patterns import Input
from simulator.theory import PureDP

COPIES = 20


@dataclass(frozen=True)
class NoisyVectorLaw(AnswerLaw):
    """Each coordinate of the input plus Laplace noise of its own, possibly recoded one to one.

    Attributes
    ----------
    scale : of the noise.
    noisy : answers to the noisy coordinates, shape (n, length); or to copies of a single one.
    copies : the number of answers for each coordinate.
    """

    scale: float
    noisy: Callable[[np.ndarray], np.ndarray] = lambda answers: answers.reshape(len(answers), -1)
    copies: int = 1

    def supremum(self, input_0: Input, input_1: Input) -> float:
        """The L1 distance over the scale, reached by answers that lie on one side of both."""
        return self.copies * differences(input_0, input_1) / self.scale

    def loss(self, input_0: Input, input_1: Input, answers: np.ndarray) -> np.ndarray:
        """See :meth:`AnswerLaw.loss`."""
        y = self.noisy(answers)
        farther = np.abs(y - np.asarray(input_1)) - np.abs(y - np.asarray(input_0))
        return farther.sum(axis=1) / self.scale


@dataclass(frozen=True)
class LeakyFloats(AnswerLaw):
    """A sum of floats: some are possible on one input only, so epsilon is infinite.

    The loss is that of real numbers, which an observer of the low bits exceeds.
    """

    real: AnswerLaw

    def supremum(self, input_0: Input, input_1: Input) -> float:
        """Infinite."""
        return math.inf

    def loss(self, input_0: Input, input_1: Input, answers: np.ndarray) -> np.ndarray:
        """See :meth:`AnswerLaw.loss`."""
        return self.real.loss(input_0, input_1, answers)


def laplace(scale: float, copies: int = 0) -> Sampler:
    """Add noise to the only coordinate; answers have shape (n,), or (n, copies)."""

    def sample(input: Input, n: int, rng: np.random.Generator) -> np.ndarray:
        return on_grid(rng.laplace(input[0], scale, (n, copies) if copies else n))

    return sample


def floats(input: Input, n: int, rng: np.random.Generator) -> np.ndarray:
    """Laplace noise of scale 10 with all 53 bits of the sum; shape (n,)."""
    return rng.laplace(input[0], 10.0, n)


REAL = NoisyVectorLaw(10.0)

MECHANISMS = (
    StandardMechanism(
        name="laplace",
        sample=laplace(10.0),
        claimed=PureDP(0.1),
        epsilon=0.1,
        reason="every answer below both inputs has this ratio",
        length=1,
        relation="one coordinate",
        answer="scalar",
        law=REAL,
        source="Dwork, McSherry, Nissim and Smith 2006",
    ),
    StandardMechanism(
        name="laplace-floats",
        sample=floats,
        claimed=PureDP(0.1),
        epsilon=math.inf,
        reason="floats next to 0 that one input never gives (Mironov 2012)",
        length=1,
        relation="one coordinate",
        answer="scalar",
        law=LeakyFloats(REAL),
        source="Mironov 2012",
    ),
    StandardMechanism(
        name="laplace-parallel",
        sample=laplace(200.0, COPIES),
        claimed=PureDP(0.1),
        epsilon=0.1,
        reason="twenty answers of 0.005 each, all below both inputs",
        length=1,
        relation="one coordinate",
        answer="vector",
        law=NoisyVectorLaw(200.0, copies=COPIES),
        source="Bichsel, Steffen, Bogunovic and Vechev 2021",
    ),
)
