"""Two laws on a lattice that enclose the total loss of many different randomized responses.

The curve of randomized response, and of its composition, increases in every epsilon. Hence rounding
every epsilon up to the lattice bounds the curve from above, and rounding down from below (the idea
of Murtagh and Vadhan 2016, Section 5).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from simulator.theory.lattice import common_step
from simulator.theory.outward import UNIT, above, below
from simulator.theory.pld.response_atoms import Floats, LossAtoms, log_responses

_OPERATIONS = 1e9  # multiply-adds of the convolution: about half a second
_LEAST_CELLS = 2_000

ResponseCounts = tuple[tuple[float, int], ...]


def lattice_step(parts: ResponseCounts) -> float | None:
    """The finest step within the allowed work for these (epsilon, rounds); None if too coarse.

    The convolution costs about (rounds x cells), and the cells span twice the sum of epsilons.
    A step that divides every epsilon is preferred: nothing is then rounded.
    """
    rounds = sum(count for _, count in parts)
    cells = min(4e6, _OPERATIONS / rounds)
    if cells < _LEAST_CELLS + 2 * rounds:
        return None
    span = 2.0 * math.fsum(count * epsilon for epsilon, count in parts)
    common = common_step(np.array([epsilon for epsilon, _ in parts]))
    if common is not None and span <= common * cells:
        return common
    return span / (cells - 2 * rounds)


@lru_cache(maxsize=4)
def enclosing_atoms(parts: ResponseCounts, step: float) -> tuple[LossAtoms, LossAtoms]:
    """Atoms whose curve is below, and atoms whose curve is above, that of the composition."""
    return _rounded(parts, step, math.floor), _rounded(parts, step, math.ceil)


def _rounded(parts: ResponseCounts, step: float, rounding: Callable[[float], int]) -> LossAtoms:
    mass: Floats = np.ones(1)
    cells = [_whole(epsilon / step, rounding) for epsilon, _ in parts]
    step = _covering(parts, cells, step, rounding)
    total = sum(n * count for n, (_, count) in zip(cells, parts))
    log_error = 0.0
    for n, (_, count) in zip(cells, parts):
        mass, error = _convolve(mass, n, count, step)
        log_error += error
    losses = (total - 2.0 * np.arange(mass.size, dtype=np.float64)) * step
    kept = (losses > 0.0) & (mass > 0.0)
    logs = np.log(mass[kept])
    return LossAtoms(losses[kept], logs, log_error + UNIT * np.abs(logs), 2 * UNIT * total * step)


def _covering(
    parts: ResponseCounts, cells: list[int], step: float, rounding: Callable[[float], int]
) -> float:
    """The step, moved so that its multiples are on the right side of every epsilon."""
    each = [epsilon / n for (epsilon, _), n in zip(parts, cells) if n > 0]
    if rounding is math.ceil:
        return above(max([step, *map(above, each)]))
    return below(min([step, *map(below, each)]))


def _whole(ratio: float, rounding: Callable[[float], int]) -> int:
    """Round, except a number that is whole up to rounding errors."""
    nearest = round(ratio)
    return nearest if abs(ratio - nearest) <= 1e-12 * ratio else rounding(ratio)


def _convolve(mass: Floats, cells: int, count: int, step: float) -> tuple[Floats, float]:
    """Add ``count`` responses of ``cells`` steps each, and a bound on the relative error of that.

    Every term is positive, so no digit is lost.
    """
    if cells == 0:
        return mass, 0.0
    log_mass, log_error = log_responses(cells * step, count, np.arange(count + 1, dtype=np.float64))
    weights = np.exp(log_mass)
    possible = weights > 0.0
    error = float(np.max(log_error[possible] + UNIT * np.abs(log_mass[possible])))
    result = np.zeros(mass.size + cells * count)
    for shift, weight in enumerate(weights):
        if weight > 0.0:
            result[shift * cells : shift * cells + mass.size] += weight * mass
    return result, error + UNIT * (count + 4)
