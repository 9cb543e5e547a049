"""Laws that the losses of shuffled batches and of divided sums dominate: certified lower ends.

No tight upper bound is known for batches of a shuffled database. What an adversary computes from
the answer loses no more than the answer, so the exact law of one observed number gives lower ends
of delta and epsilon, in any composition.
"""

from __future__ import annotations

import numpy as np
import scipy

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite
from simulator.theory.laws.base import Floats
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.parameters import count, positive

_WIDTH = 0.04
"""Of a cell, in standard deviations of the noise; what is lost is of second order in it."""
_REACH = 9.0
"""Standard deviations beyond the largest mean that are cut into cells; the rest is one cell."""
_FURTHEST = 1e3
"""Standard deviations that the mean of a batch may be above the others."""
_CELLS = 1600
_UNLIKELY, _LEAST = 1e-13, 1e-250
_NORMAL_ERROR, _SQUARES_ERROR = 64.0 * float(np.finfo(float).eps), 1e-13
"""Relative error of a probability below or above an edge: of normal noise, and per ten coordinates
of a sum of squares."""


def shuffled_batches(
    sigma: float, batches: int, absent: float = 1.0, present: float = 2.0
) -> FiniteLaw:
    """Law of the loss of the largest noisy sum, where one batch's sum is above that of the others.

    Parameters
    ----------
    sigma : standard deviation of the noise on the sum of each batch.
    batches : their number; a uniformly random one of them holds the differing record.
    absent, present : how far that batch's sum is above the sums of the others, on database 0 and on
        database 1. With gradients of norm at most 1 the defaults are a record of gradient +1 which
        database 0 has with gradient 0, among records of gradient -1. Random allocation is 0 and 1.

    The largest of the sums is in one of some hundred cells. For passes over the same batches, give
    ``sigma`` divided by the square root of their number.

    Source: Chua and others, "How Private are DP-SGD Implementations?", ICML 2024, who use one
    event, that a sum is above a threshold.

    >>> from simulator.training import shuffled_batches
    >>> round(shuffled_batches(sigma=1.0, batches=4).delta(0.5), 6)
    0.161326
    """
    sigma, many = positive("sigma", sigma), count("batches", batches)
    shifts = [finite("a shift", shift) / sigma for shift in (absent, present)]
    if min(shifts) < 0.0 or shifts[0] == shifts[1]:
        raise InvalidInput(
            "the batch's sum is above the others by two different numbers that are at least 0, "
            f"not {absent} and {present}"
        )
    least = float(scipy.special.ndtri(_UNLIKELY ** (1.0 / many)))
    if max(shifts) > _FURTHEST:
        raise InvalidInput(
            f"a sum that is {max(shifts):.3g} deviations above the others is recognised almost "
            f"surely; take sigma above {max(shifts) * sigma / _FURTHEST:.3g}"
        )
    edges = np.arange(least, max(shifts) + _REACH, _WIDTH)
    alone = (many - 1) * scipy.special.log_ndtr(edges)
    logs = [alone + scipy.special.log_ndtr(edges - shift) for shift in shifts]
    zero, one = ((np.exp(log), -np.expm1(log)) for log in logs)
    return law_of_cells(zero, one, _NORMAL_ERROR)


def scaled_noise(coordinates: int, ratio: float) -> FiniteLaw:
    """Law of the loss of the squared length of normal noise whose scale differs by ``ratio``.

    Parameters
    ----------
    coordinates : of the noise.
    ratio : above 0, not 1; standard deviation on database 0 over that on database 1.
    """
    many = count("coordinates", coordinates)
    if positive("ratio", ratio) == 1.0:
        raise InvalidInput("noise of one scale has no loss: give a ratio other than 1")
    found = [scipy.stats.chi2(many, scale=scale * scale) for scale in (ratio, 1.0)]
    ends = [f(_UNLIKELY) for law in found for f in (law.ppf, law.isf)]
    edges = np.linspace(min(ends), max(ends), _CELLS + 1)
    zero, one = ((law.cdf(edges), law.sf(edges)) for law in found)
    return law_of_cells(zero, one, _SQUARES_ERROR * max(1.0, 0.1 * many))


def law_of_cells(
    zero: tuple[Floats, Floats], one: tuple[Floats, Floats], accuracy: float
) -> FiniteLaw:
    """Law of which cell of the line an observed number is in; its ends are cells.

    Edges beyond which less than :data:`_LEAST` remains on either database are left out.

    Parameters
    ----------
    zero, one : on each database, the probabilities below and above ascending edges.
    accuracy : relative error of each of them; the law states that of their differences.
    """
    kept = np.ones(len(zero[0]), dtype=bool)
    for below, above in (zero, one):
        kept &= (below > _LEAST) & (above > _LEAST)
    if not kept.any():
        raise InvalidInput("the two databases have hardly an answer in common")
    masses, error = [], 0.0
    for below, above in (zero, one):
        low, high = below[kept], above[kept]
        between = np.where(low[1:] < 0.5, np.diff(low), -np.diff(high))
        cells = np.concatenate([low[:1], between, high[-1:]])
        nearest = np.minimum(np.append(low, 1.0), np.insert(high, 0, 1.0))
        error = max(error, float((accuracy * nearest / cells).max()))
        masses.append(cells)
    law = FiniteLaw.from_probabilities(*masses)
    return FiniteLaw(law.losses, law.log_masses, loss_error=2.0 * error)
