"""Report noisy max with Laplace or exponential noise: the place, or the value, of the maximum."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from experiments.suite.mechanisms.discrete import DiscreteLaw
from experiments.suite.mechanisms.entry import AnswerLaw, Sampler, StandardMechanism
from experiments.suite.mechanisms.noise import (
    laplace_density,
    laplace_log_below,
    on_grid,
    quadrature,
)
from simulator.auditing.audits.patterns import Input
from simulator.theory import PureDP

SCALE = 20.0
"""2/epsilon at epsilon = 0.1."""

Noise = Literal["laplace", "exponential"]


def argmax(noise: Noise) -> Sampler:
    """The place of the largest noisy coordinate, integers of shape (n,)."""

    def sample(input: Input, n: int, rng: np.random.Generator) -> np.ndarray:
        return np.argmax(noisy(input, n, rng, noise), axis=1)

    return sample


def largest(noise: Noise) -> Sampler:
    """The largest noisy coordinate itself, shape (n,)."""

    def sample(input: Input, n: int, rng: np.random.Generator) -> np.ndarray:
        return on_grid(noisy(input, n, rng, noise).max(axis=1))

    return sample


def noisy(input: Input, n: int, rng: np.random.Generator, noise: Noise) -> np.ndarray:
    """Every coordinate with independent noise, shape (n, length)."""
    draw: Callable[..., np.ndarray] = rng.laplace
    if noise == "laplace":
        return draw(input, SCALE, (n, len(input)))
    return rng.exponential(SCALE, (n, len(input))) + np.asarray(input)


def log_below(x: np.ndarray, noise: Noise) -> np.ndarray:
    """Ln Pr[noise < x]."""
    if noise == "laplace":
        return laplace_log_below(x, SCALE)
    with np.errstate(divide="ignore"):
        return np.log(-np.expm1(-np.maximum(x, 0.0) / SCALE))


def log_density(x: np.ndarray, noise: Noise) -> np.ndarray:
    """Ln of the density of the noise."""
    with np.errstate(divide="ignore"):
        if noise == "laplace":
            return np.log(laplace_density(x, SCALE))
        return np.where(x < 0.0, -np.inf, -x / SCALE - math.log(SCALE))


def wins_at(input: Input, x: np.ndarray, noise: Noise) -> np.ndarray:
    """The density at which coordinate i is the largest and equals x; shape (len(x), length)."""
    away = x[:, None] - np.asarray(input)
    below = log_below(away, noise)
    others = np.stack([np.delete(below, i, axis=1).sum(axis=1) for i in range(len(input))], axis=1)
    return np.exp(log_density(away, noise) + others)


def places(noise: Noise) -> Callable[[Input], np.ndarray]:
    """The law of the place of the maximum: the integral of ``wins_at``."""

    def probabilities(input: Input) -> np.ndarray:
        nodes, weights = quadrature(input, SCALE)
        found: np.ndarray = weights @ wins_at(input, nodes, noise)
        return found

    return probabilities


@dataclass(frozen=True)
class MaximumLaw(AnswerLaw):
    """The law of the largest noisy coordinate.

    Below every coordinate, Laplace tails are pure exponentials: there the ratio is
    e^(sum of differences/scale). Above, the density is a mixture over the coordinate that wins;
    the ratio is scanned. With exponential noise nothing lies below the largest coordinate.
    """

    noise: Noise

    def supremum(self, input_0: Input, input_1: Input) -> float:
        """The largest ratio on a grid of step 2^-6; below all coordinates it is constant."""
        (top_0, at_0), (top_1, at_1) = ((max(x), x.count(max(x))) for x in (input_0, input_1))
        # beside the top t, Pr[max < x] falls as (x - t)^(coordinates at t)
        if self.noise == "exponential" and (top_0, at_0) < (top_1, at_1):
            return math.inf
        lowest, highest = min(*input_0, *input_1), max(*input_0, *input_1)
        low = lowest if self.noise == "laplace" else top_0
        x = np.arange(low, highest + 10 * SCALE, 2.0**-6)[self.noise == "exponential" :]
        return float(self.loss(input_0, input_1, x).max())

    def loss(self, input_0: Input, input_1: Input, answers: np.ndarray) -> np.ndarray:
        """See :meth:`AnswerLaw.loss`."""
        with np.errstate(divide="ignore"):
            logs = [
                np.log(wins_at(each, answers, self.noise).sum(axis=1))
                for each in (input_0, input_1)
            ]
        return logs[0] - logs[1]


def entry(
    number: int, sample: Sampler, law: AnswerLaw, epsilon: float, reason: str
) -> StandardMechanism:
    """The mechanism of Ding et al. of that number, from 1 to 4."""
    return StandardMechanism(
        name=f"report-noisy-max-{number}",
        sample=sample,
        claimed=PureDP(0.1),
        epsilon=epsilon,
        reason=reason,
        length=5,
        relation="all coordinates",
        answer="scalar",
        law=law,
        source=f"Ding et al. 2018, Algorithm {number + 4}",
    )


MECHANISMS = (
    entry(1, argmax("laplace"), DiscreteLaw(places("laplace"), lambda answers: answers), 0.1,
          "the limit as one coordinate falls far below the others, which move the other way"),
    entry(2, argmax("exponential"), DiscreteLaw(places("exponential"), lambda answers: answers),
          0.1, "a coordinate below the others, which move the other way"),
    entry(3, largest("laplace"), MaximumLaw("laplace"), 0.25,
          "five tails of 0.05 each, where the maximum is below every input"),
    entry(4, largest("exponential"), MaximumLaw("exponential"), math.inf,
          "a maximum just above the lower input is impossible for the higher one"),
)  # fmt: skip
