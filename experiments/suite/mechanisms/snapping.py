"""The snapping mechanism: Laplace noise in floats without a leak (Mironov 2012, section 5)."""

from __future__ import annotations

import math

import numpy as np

from experiments.suite.mechanisms.discrete import DiscreteLaw
from experiments.suite.mechanisms.entry import StandardMechanism
from experiments.suite.mechanisms.noise import laplace_log_below
from simulator.auditing.audits.patterns import Input
from simulator.theory import PureDP

EPSILON = 0.1
BOUND = 100.0
SCALE = (1.0 + BOUND * 2.0**-49) / EPSILON
"""Of the noise: Mironov's Theorem 1 then gives EPSILON in floating point."""
STEP = 2.0 ** math.ceil(math.log2(SCALE))
"""Answers are multiples of this, the least power of two that is at least the scale."""
STEPS = math.floor(BOUND / STEP)


def uniform(n: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of (0, 1) at full precision: each float has the probability of its cell.

    A leading one, 52 random bits and a geometric exponent. A quotient of integers would omit most
    floats near 0, where the noise is large.
    """
    mantissa = rng.integers(1 << 52, 1 << 53, n).astype(float)
    return np.ldexp(mantissa, -52 - rng.geometric(0.5, n))


def sample(input: Input, n: int, rng: np.random.Generator) -> np.ndarray:
    """Clamp, add signed noise, round to a multiple of STEP, clamp; shape (n,).

    The theorem needs a correctly rounded logarithm. numpy's is within one unit in the
    last place, which moves the border of a rounding cell by 2^-50 or so of its width.
    """
    noise = np.log(uniform(n, rng))
    noise *= SCALE
    np.negative(noise, out=noise, where=rng.random(n, dtype=np.float32) < 0.5)
    noise += min(max(input[0], -BOUND), BOUND)
    return np.clip(np.rint(noise / STEP) * STEP, -BOUND, BOUND)


def probabilities(input: Input) -> np.ndarray:
    """The probability of each of the 2 STEPS + 3 answers in order, on real numbers."""
    borders = (np.arange(-STEPS - 1, STEPS + 1) + 0.5) * STEP - min(max(input[0], -BOUND), BOUND)
    below = np.exp(laplace_log_below(borders, SCALE))
    above = np.exp(laplace_log_below(-borders, SCALE))
    # a cell above 0 is a difference of upper tails: differences of numbers near 1 would cancel
    inner = np.where(borders[:-1] >= 0.0, above[:-1] - above[1:], below[1:] - below[:-1])
    return np.array([below[0], *inner, above[-1]])


def place(answers: np.ndarray) -> np.ndarray:
    """The place of each answer in the table."""
    return np.rint(np.clip(answers / STEP, -STEPS - 1, STEPS + 1)).astype(int) + STEPS + 1


MECHANISMS = (
    StandardMechanism(
        name="snapping-laplace",
        sample=sample,
        claimed=PureDP(EPSILON),
        epsilon=1.0 / SCALE,
        reason="on real numbers 0.1/(1 + 100/2^49), of the lowest answers; in floats at most 0.1",
        length=1,
        relation="one coordinate",
        answer="scalar",
        law=DiscreteLaw(probabilities, place),
        source="Mironov 2012",
    ),
)
