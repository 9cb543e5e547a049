"""A finite law whose curve is above given points of a curve, in either direction."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from simulator.theory.laws.base import Floats
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.outward import UNIT

_NEAR = 2.0**-20  # slopes that are so near are one: the mass between them had no digits


def law_above(epsilons: Sequence[float], deltas: Sequence[float]) -> tuple[FiniteLaw, float]:
    """A law above every curve below the points, and the relative error of its masses.

    The points are on or above a curve delta(epsilon) that a pair has in both directions: ascending
    epsilons from 0, and a delta for each. A curve is convex in t = e^epsilon, so that it is below
    the chord of two such points; at 1/t it is 1 - 1/t + delta(t)/t, which is linear where delta
    is. Beyond the last point the mass is that of an infinite loss. The law equals its reversed law.

    Source: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, "Connect the Dots", PoPETs 2022.
    """
    heights = np.minimum.accumulate(np.minimum(1.0, np.asarray(deltas, dtype=float)))
    last = int(np.argmin(heights)) + 1
    losses, heights = np.asarray(epsilons, dtype=float)[:last], heights[:last]
    excess = np.expm1(losses)  # t - 1, whose differences keep their digits
    # Pr[L > 0] under P1 is at most half of what the curve at 0 leaves
    steepest = (1.0 - heights[0]) * (0.5 - _NEAR)
    heights[1:] = np.maximum(heights[1:], heights[0] - steepest * excess[1:])
    kept = _corners(excess, heights)
    excess, heights, losses = excess[kept], heights[kept], losses[kept]
    falls = np.append(-np.diff(heights) / np.diff(excess), 0.0)
    rare = falls[:-1] - falls[1:]  # Pr[L = loss] under P1, and of -loss under P0
    often = (1.0 + excess[1:]) * rare
    revealed = float(heights[-1])
    middle = 1.0 - revealed - math.fsum(often) - math.fsum(rare)
    where = np.concatenate((-losses[:0:-1], losses))
    masses = np.concatenate((rare[::-1], [middle], often))
    wrong = 64.0 + 8.0 / middle if middle > 0.0 else 64.0
    if rare.size:
        lost = 4.0 + 2.0 * float((excess[1:] / np.diff(excess)).max())
        wrong += 4.0 * lost * float((falls[:-1] / rare).max())
    possible = masses > 0.0
    law = FiniteLaw(where[possible], np.log(masses[possible]), revealed, revealed)
    return law, UNIT * wrong


def _corners(excess: Floats, heights: Floats) -> list[int]:
    """Of the lowest convex curve through or below the points, those where its slope changes."""
    kept: list[int] = []
    for i in range(excess.size):
        while len(kept) > 1:
            j, k = kept[-2:]
            before = (heights[j] - heights[k]) / (excess[k] - excess[j])
            if before > (heights[k] - heights[i]) / (excess[i] - excess[k]) * (1.0 + _NEAR):
                break
            kept.pop()
        kept.append(i)
    return kept
