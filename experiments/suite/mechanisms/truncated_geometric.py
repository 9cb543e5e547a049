"""A geometric mechanism for counts that draws exact integers (Balcer and Vadhan 2018)."""

from __future__ import annotations

import math

import numpy as np

from experiments.suite.mechanisms.discrete import DiscreteLaw
from experiments.suite.mechanisms.entry import StandardMechanism
from simulator.auditing.audits.patterns import Input
from simulator.theory import PureDP

PEOPLE = 5
BITS = math.ceil(math.log(2.0 / 0.1))
"""Three, with the natural logarithm; the promise is ln(1 + 2^-BITS) and so 0.118, not 0.1."""
TOTAL = (2 ** (BITS + 1) + 1) * (2**BITS + 1) ** (PEOPLE - 1)


def cumulative(count: int) -> list[int]:
    """How many of TOTAL equally likely integers give at most 0, 1, ..., PEOPLE.

    Two-sided geometric noise of ratio q = 2^BITS/(2^BITS + 1), with all that lies outside moved to
    the ends: the tail beyond a distance d holds q^d/(1 + q).
    """
    low, high = 2**BITS, 2**BITS + 1

    def tail(distance: int) -> int:
        return low**distance * high ** (PEOPLE - distance)

    return [
        *(tail(count - z) for z in range(count)),
        *(TOTAL - tail(z - count + 1) for z in range(count, PEOPLE)),
        TOTAL,
    ]


def sample(input: Input, n: int, rng: np.random.Generator) -> np.ndarray:
    """Integers of 0..PEOPLE, shape (n,)."""
    drawn = rng.integers(1, TOTAL, n, endpoint=True)
    return np.searchsorted(cumulative(int(input[0])), drawn)


def probabilities(input: Input) -> np.ndarray:
    """The probability of each of 0..PEOPLE."""
    return np.diff(cumulative(int(input[0])), prepend=0) / TOTAL


MECHANISMS = (
    StandardMechanism(
        name="truncated-geometric",
        sample=sample,
        claimed=PureDP(math.log1p(2.0**-BITS)),
        epsilon=math.log1p(2.0**-BITS),
        reason="the ratio of neighbouring tails, 9/8",
        length=1,
        relation="one coordinate",
        answer="scalar",
        law=DiscreteLaw(probabilities, lambda answers: answers),
        source="Balcer and Vadhan 2018, Algorithm 4.8",
    ),
)
