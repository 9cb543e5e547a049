"""Noise around a random value: one kind of scalar functions for many mechanisms.

The answer is u + z: u is one of finitely many values, with a probability on each database, and z is
noise of one shape and scale. A single value gives plain noise (discrete, staircase, truncated); the
values of a query on samples give the noise on a random sample.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.foundations.errors import InvalidInput
from simulator.mechanisms.base import Numbers, Scalars

NORMAL, LAPLACE, GEOMETRIC, DISCRETE_NORMAL, STAIRCASE = range(5)
"""Shapes. Their scales: the standard deviation, the scale of the exponential (the geometric's per
unit), that of the discrete normal's exponent, and the width of a stair."""

_MOST_VALUES = 1 << 15

# row: shape, scale, epsilon of a stair, share of it that is high, reach (0: unbounded), n, then n
# values, and the n probabilities of each on the two databases
# params: the row with cumulated probabilities at its end, then the probabilities again
_VALUES = 6


@dataclass(frozen=True)
class Noise:
    """The shape and scale of noise, and the parameters of some shapes.

    ``reach`` > 0 conditions normal or Laplace noise on [-reach, reach].
    """

    shape: int
    scale: float
    step: float = 0.0
    share: float = 0.0
    reach: float = 0.0


def mixture_row(
    noise: Noise, first: Mapping[float, float], second: Mapping[float, float]
) -> tuple[float, ...]:
    """The row of a pair, from the probabilities of the values on either database.

    Raises InvalidInput for more than 32768 values, or one that is not whole under noise on the
    integers.
    """
    values = sorted({*first, *second})
    if len(values) > _MOST_VALUES:
        raise InvalidInput(
            f"the sampled query has {len(values)} possible values, and at most {_MOST_VALUES} are "
            "allowed; use a query of few values, or fewer records"
        )
    if noise.shape in (GEOMETRIC, DISCRETE_NORMAL) and not all(u.is_integer() for u in values):
        odd = next(u for u in values if not u.is_integer())
        raise InvalidInput(f"noise on the integers needs whole values; on a sample this is {odd!r}")
    return (
        float(noise.shape), noise.scale, noise.step, noise.share, noise.reach, float(len(values)),
        *values, *(first.get(u, 0.0) for u in values), *(second.get(u, 0.0) for u in values),
    )  # fmt: skip


def _width(row: Sequence[float]) -> int:
    return _VALUES + 5 * int(row[5])


def _prepare(row: Numbers, _parameter: float, params: Any) -> None:
    n = int(row[5])
    for i in range(_VALUES + n):
        params[i] = row[i]
    for b in range(2):
        total, last = 0.0, 0
        for i in range(n):
            p = row[_VALUES + (1 + b) * n + i]
            total += p
            params[_VALUES + (1 + b) * n + i] = total
            params[_VALUES + (3 + b) * n + i] = p
            last = i if p > 0.0 else last
        for i in range(last, n):
            params[_VALUES + (1 + b) * n + i] = 1.0


def _sample(params: Numbers, b: int, noise: np.random.Generator) -> float:
    shape, scale, n, reach = int(params[0]), params[1], int(params[5]), params[4]
    place = 0
    if n > 1:
        u, start = noise.random(), _VALUES + (1 + b) * n
        while u >= params[start + place]:
            place += 1
    centre = params[_VALUES + place]
    while True:
        if 0.0 < reach < scale:  # nearly flat, so few uniform proposals are rejected
            z = reach * (2.0 * noise.random() - 1.0)
            fall = 0.5 * (z / scale) ** 2 if shape == 0 else abs(z) / scale
            if noise.standard_exponential() < fall:
                continue
        elif shape == 0:
            z = scale * noise.standard_normal()
        elif shape == 1:
            z = scale * noise.standard_exponential() * (1.0 if noise.random() < 0.5 else -1.0)
        elif shape == 2:
            # The floor of an exponential is geometric; the difference of two is two-sided.
            up = math.floor(scale * noise.standard_exponential())
            z = float(up - math.floor(scale * noise.standard_exponential()))
        elif shape == 3:
            # Rejection from two-sided geometric noise (Canonne, Kamath, Steinke 2020, Algorithm 3).
            wide = math.floor(scale) + 1.0
            up = math.floor(wide * noise.standard_exponential())
            z = float(up - math.floor(wide * noise.standard_exponential()))
            gap = abs(z) - scale * scale / wide
            if noise.standard_exponential() < gap * gap / (2.0 * scale * scale):
                continue
        else:
            # Geng and Viswanath 2014, Algorithm 1: a stair, its high or low part, a place on it.
            epsilon, share = params[2], params[3]
            stair = math.floor(noise.standard_exponential() / epsilon)
            high = 0.0
            if share > 0.0:
                high = share / (share + (1.0 - share) * math.exp(-epsilon))
            place_on = noise.random()
            z = share * place_on if noise.random() < high else share + (1.0 - share) * place_on
            z = scale * (stair + z) * (1.0 if noise.random() < 0.5 else -1.0)
        if reach == 0.0 or abs(z) <= reach:
            return centre + z


def _loss(params: Numbers, answer: float) -> float:
    # Densities relative to that around one possible value, so that a small loss is accurate.
    shape, scale, n, reach = int(params[0]), params[1], int(params[5]), params[4]
    reference, peak_0, peak_1 = math.nan, -math.inf, -math.inf
    first, second = 0.0, 0.0
    for i in range(n):
        z = answer - params[_VALUES + i]
        if reach > 0.0 and abs(z) > reach:
            continue
        if reference != reference:
            reference = z
        if shape == 0 or shape == 3:
            log = (reference - z) * (reference + z) / (2.0 * scale * scale)
        elif shape == 1 or shape == 2:
            log = (abs(reference) - abs(z)) / scale
        else:
            here, there = abs(z) / scale, abs(reference) / scale
            steps = float(math.floor(there) - math.floor(here))
            steps += 1.0 if there - math.floor(there) >= params[3] else 0.0
            steps -= 1.0 if here - math.floor(here) >= params[3] else 0.0
            log = params[2] * steps
        # Two sums, each relative to its own largest term, as either may be far below the other.
        p0, p1 = params[_VALUES + 3 * n + i], params[_VALUES + 4 * n + i]
        if p0 > 0.0:
            if log > peak_0:
                first, peak_0 = first * math.exp(peak_0 - log), log
            first += p0 * math.exp(log - peak_0)
        if p1 > 0.0:
            if log > peak_1:
                second, peak_1 = second * math.exp(peak_1 - log), log
            second += p1 * math.exp(log - peak_1)
    if first == 0.0:
        return -math.inf
    if second == 0.0:
        return math.inf
    gap = peak_0 - peak_1
    if abs(gap) < 1.0:
        first *= math.exp(gap)
        ratio = (first - second) / second
        return math.log1p(ratio) if abs(ratio) < 0.5 else math.log(first) - math.log(second)
    return gap + math.log(first) - math.log(second)


NOISE_MIXTURE = Scalars(
    name="noise of a random centre", width=_width, prepare=_prepare, sample=_sample, loss=_loss
)
