"""A scalar pair's answer and its loss in one call, with its numbers at hand.

The interpreter plays a challenge very often, and two calls that look up params and draws cost it
as much as the draws themselves. The kinds that are played most are written out here once more, on
numbers that are drawn ahead; a test holds each against the two functions that it stands for, bit
for bit. Any other kind, and one whose sampling or loss was replaced, is played by its own two
functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulator.engine.interpreted.drawn_ahead import Ahead, NoiseSource
from simulator.mechanisms.base import Numbers, Scalars
from simulator.mechanisms.gaussian import GAUSSIAN
from simulator.mechanisms.laplace import LAPLACE
from simulator.mechanisms.randomized_response import RANDOMIZED_RESPONSE

Terms = tuple[Any, ...]
Play = Callable[[Terms], tuple[float, float]]
"""Draws an answer and returns it with its loss; the numbers at hand are its one argument.

One function for all challenges of a kind: Python calls those that it knows in half of the time.
"""


def fused(scalars: Scalars, params: Numbers, b: int, noise: NoiseSource) -> tuple[Play, Terms]:
    """What draws from the mechanism on database ``b``, and what to call it with."""
    sample, loss = scalars.sample, scalars.loss
    written_out = WRITTEN_OUT.get((sample, loss))
    if written_out is not None:
        return written_out[0], written_out[1](params, b, noise)
    return _any_kind, (sample, loss, params, b, noise)


def _any_kind(terms: Terms) -> tuple[float, float]:
    sample, loss, params, b, noise = terms
    if noise.reader is not None:
        noise.put_back()
    answer = sample(params, b, noise.scalars)
    return answer, loss(params, answer)


def _laplace_terms(params: Numbers, b: int, noise: NoiseSource) -> Terms:
    value, scale, middle = params[b], params[2], params[3]
    return value, scale, middle, -params[4], params[4], params[5], *_next(noise.laplaces)


def _laplace(terms: Terms) -> tuple[float, float]:
    value, scale, middle, below, half, slope, left, more = terms
    answer = value + scale * (left.pop() if left else more())
    place = answer - middle
    return answer, slope * (below if place < below else half if place > half else place)


def _gaussian_terms(params: Numbers, b: int, noise: NoiseSource) -> Terms:
    value, sigma, middle = params[b], params[2], params[3]
    return value, sigma, middle, params[4], *_next(noise.normals)


def _gaussian(terms: Terms) -> tuple[float, float]:
    value, sigma, middle, slope, left, more = terms
    answer = value + sigma * (left.pop() if left else more())
    return answer, slope * (answer - middle)


def _randomized_response_terms(params: Numbers, b: int, noise: NoiseSource) -> Terms:
    bit, truth = params[b], params[2]
    # the truth too is a difference: it makes 0.0 of a bit that is -0.0
    answers = abs(bit - 0.0), abs(bit - 1.0)
    true, lie = ((x, RANDOMIZED_RESPONSE.loss(params, x)) for x in answers)
    return truth, true, lie, *_next(noise.uniforms)


def _randomized_response(terms: Terms) -> tuple[float, float]:
    truth, true, lie, left, more = terms
    return true if (left.pop() if left else more()) < truth else lie


def _next(kind: Ahead) -> tuple[list[float], Callable[[], float]]:
    """What to take the next number from, and what to call where it is empty."""
    return kind.left, kind.more


WRITTEN_OUT: dict[tuple[Any, Any], tuple[Play, Callable[[Numbers, int, NoiseSource], Terms]]] = {
    (LAPLACE.sample, LAPLACE.loss): (_laplace, _laplace_terms),
    (GAUSSIAN.sample, GAUSSIAN.loss): (_gaussian, _gaussian_terms),
    (RANDOMIZED_RESPONSE.sample, RANDOMIZED_RESPONSE.loss): (
        _randomized_response, _randomized_response_terms,
    ),
}  # fmt: skip
"""By the two functions that each stands for, so that a replaced one is not passed over."""
