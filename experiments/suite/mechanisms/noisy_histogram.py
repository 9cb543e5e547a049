"""Histograms with Laplace noise, of the right and of the wrong scale (Ding et al. 2018)."""

from __future__ import annotations

import numpy as np

from experiments.suite.mechanisms.entry import Sampler, StandardMechanism
from experiments.suite.mechanisms.laplace import NoisyVectorLaw
from experiments.suite.mechanisms.noise import on_grid
from simulator.auditing.audits.patterns import Input
from simulator.theory import PureDP


def histogram(scale: float) -> Sampler:
    """Add noise to every count; answers have shape (n, length)."""

    def sample(input: Input, n: int, rng: np.random.Generator) -> np.ndarray:
        return on_grid(rng.laplace(input, scale, (n, len(input))))

    return sample


def entry(name: str, scale: float, reason: str, source: str) -> StandardMechanism:
    """A histogram of five counts with noise of that scale."""
    return StandardMechanism(
        name=name,
        sample=histogram(scale),
        claimed=PureDP(0.1),
        epsilon=1.0 / scale,
        reason=reason,
        length=5,
        relation="one coordinate",
        answer="vector",
        law=NoisyVectorLaw(scale),
        source=source,
    )


MECHANISMS = (
    entry("noisy-histogram-1", 10.0, "one count moves by one", "Ding et al. 2018, Algorithm 9"),
    entry(
        "noisy-histogram-2", 0.1, "scale 0.1 where 10 is meant", "Ding et al. 2018, Algorithm 10"
    ),
)
