"""A scalar pair's answer and its loss in one call, with its numbers at hand.

The interpreter plays a challenge very often, and two calls that look up params and draws cost it
as much as the draws themselves. The kinds that are played most are written out here once more, as
closures; a test holds each against the two functions that it stands for, bit for bit. Any other
kind, and one whose sampling or loss was replaced, is played by its own two functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulator.mechanisms.base import Numbers, Scalars
from simulator.mechanisms.gaussian import GAUSSIAN
from simulator.mechanisms.laplace import LAPLACE
from simulator.mechanisms.randomized_response import RANDOMIZED_RESPONSE

Play = Callable[[], tuple[float, float]]
"""Draws an answer and returns it with its loss."""


def fused(scalars: Scalars, params: Numbers, b: int, noise: Any) -> Play:
    """What draws from the mechanism on database ``b`` and returns the answer and its loss."""
    sample, loss = scalars.sample, scalars.loss
    written_out = WRITTEN_OUT.get((sample, loss))
    if written_out is not None:
        return written_out(params, b, noise)

    def play() -> tuple[float, float]:
        answer = sample(params, b, noise)
        return answer, loss(params, answer)

    return play


def _laplace(params: Numbers, b: int, noise: Any) -> Play:
    value, scale, middle = params[1] if b else params[0], params[2], params[3]
    half, below, slope = params[4], -params[4], params[5]
    exponential, uniform = noise.standard_exponential, noise.random

    def play() -> tuple[float, float]:
        answer = value + scale * exponential() * (1.0 if uniform() < 0.5 else -1.0)
        place = answer - middle
        return answer, slope * (below if place < below else half if place > half else place)

    return play


def _gaussian(params: Numbers, b: int, noise: Any) -> Play:
    value, sigma, middle = params[1] if b else params[0], params[2], params[3]
    slope, normal = params[4], noise.standard_normal

    def play() -> tuple[float, float]:
        answer = value + sigma * normal()
        return answer, slope * (answer - middle)

    return play


def _randomized_response(params: Numbers, b: int, noise: Any) -> Play:
    bit, truth, uniform = params[1] if b else params[0], params[2], noise.random
    true, lie = ((x, RANDOMIZED_RESPONSE.loss(params, x)) for x in (bit, abs(bit - 1.0)))

    def play() -> tuple[float, float]:
        return true if uniform() < truth else lie

    return play


WRITTEN_OUT: dict[tuple[Any, Any], Callable[[Numbers, int, Any], Play]] = {
    (LAPLACE.sample, LAPLACE.loss): _laplace,
    (GAUSSIAN.sample, GAUSSIAN.loss): _gaussian,
    (RANDOMIZED_RESPONSE.sample, RANDOMIZED_RESPONSE.loss): _randomized_response,
}
"""By the two functions that each stands for, so that a replaced one is not passed over."""
