"""Running sums of noisy counts (Wang, Ding, Wang, Kifer and Zhang 2019)."""

from __future__ import annotations

import numpy as np

from experiments.suite.mechanisms.entry import StandardMechanism
from experiments.suite.mechanisms.laplace import NoisyVectorLaw
from experiments.suite.mechanisms.noise import on_grid
from simulator.auditing.audits.patterns import Input
from simulator.theory import PureDP

LENGTH = 10


def sample(input: Input, n: int, rng: np.random.Generator) -> np.ndarray:
    """Running sums of counts with noise, shape (n, length); exact on the grid."""
    return np.cumsum(on_grid(rng.laplace(input, 10.0, (n, len(input)))), axis=1)


def counts(answers: np.ndarray) -> np.ndarray:
    """The noisy counts whose sums these are."""
    return np.diff(answers, axis=1, prepend=0.0)


MECHANISMS = (
    StandardMechanism(
        name="prefix-sum",
        sample=sample,
        claimed=PureDP(0.1 * LENGTH),
        epsilon=0.1 * LENGTH,
        reason="0.1 for one count that moves; here all ten do, and all answers are below both",
        length=LENGTH,
        relation="all coordinates",
        answer="vector",
        law=NoisyVectorLaw(10.0, counts),
        source="Wang, Ding, Wang, Kifer and Zhang 2019",
    ),
)
