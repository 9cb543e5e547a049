"""The largest budget of a filter that charges eps^2, by a backward recursion over units of it.

Row n holds the largest delta that an adversary with n units left can reach from each loss, up to
the errors that the lemmas of :mod:`simulator.worst.filters.certificate_check` allow for. This
search rounds to nearest; what it finds is checked there.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction

import numpy as np
import scipy
from numpy.typing import NDArray

from simulator.foundations.errors import NotApplicable
from simulator.theory.laws.gaussian_curve import gaussian_delta, gaussian_mu
from simulator.theory.outward import below

Floats = NDArray[np.float64]

LINEAR = 100
"""Cells of one unit below this cost; beyond, cells are wider by ``WIDENING``."""
WIDENING = 0.01
PER_ROOT = 12
"""Lattice points per square root of the unit."""
ABOVE, BELOW = 1.3, 1.5
"""Range of the lattice above epsilon and below zero, in square roots of the budget."""
CLOSE = 2e-3
"""Relative distance from delta at which the search ends."""
COARSE = 150
"""Units of the first search."""
TRIES = 12


@dataclass(frozen=True)
class ProofLayout:
    """What fixes the recursion, but for its values.

    Attributes
    ----------
    unit, units, reserve : in squared epsilons.
    step, first, start, last : the lattice ln u = i step for first <= i <= last; ``start`` is the
        last point that is not above epsilon.
    cells : the costs in units at which cells begin and end.
    ends : the epsilons of the costs 1, 2, ..., up to the last of ``cells``.
    """

    _: KW_ONLY
    unit: float
    units: int
    reserve: float
    step: float
    first: int
    start: int
    last: int
    cells: tuple[int, ...]
    ends: tuple[float, ...]


@dataclass(frozen=True)
class CostShape:
    """The cost of a round up to rounding in cells: near eps^2 for small eps.

    Attributes
    ----------
    largest : the largest epsilon.
    order : 0 for eps^2; else the cost is the Renyi divergence of randomized response of order
        1 + ``order``, which grows more slowly, times 2 / (1 + order).
    reserve : in units.
    """

    largest: float
    order: float
    reserve: float

    def cost(self, epsilon: Floats) -> Floats:
        """The cost."""
        if self.order == 0.0:
            return epsilon**2
        theta, half = self.order, epsilon / 2.0
        log_cosh = (np.logaddexp(x, -x) for x in ((2.0 * theta + 1.0) * half, half))
        top, bottom = log_cosh
        rise = 2.0 * np.sinh(np.minimum((theta + 1.0) * half, 300.0))
        rise *= np.sinh(np.minimum(theta * half, 300.0)) / np.cosh(np.minimum(half, 300.0))
        exact = np.where(theta * half < 10.0, np.log1p(rise), top - bottom)
        return np.asarray(exact * 2.0 / (theta * (theta + 1.0)))

    def epsilons(self, costs: Floats) -> Floats:
        """The epsilons of costs, by Newton's steps from above the root on a log scale."""
        low, high = np.sqrt(costs) * 0.5, np.sqrt(costs)
        while (short := self.cost(high) < costs).any():
            high = np.where(short, 2.0 * high, high)
        for _ in range(200):
            middle = 0.5 * (low + high)
            above = self.cost(middle) >= costs
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return high


def layout(epsilon: float, shape: CostShape, unit: float, units: int) -> ProofLayout:
    """The lattice and the cells for a unit."""
    start = math.ceil(epsilon * PER_ROOT / math.sqrt(unit))
    step = epsilon / start
    if Fraction(step) * start > Fraction(epsilon):
        step = below(step)
    spread = math.sqrt(unit * units) / step
    cells = _cells(shape, unit, units)
    costs: Floats = unit * np.arange(1.0, (cells or (0,))[-1] + 1.0)
    return ProofLayout(
        unit=unit,
        units=units,
        reserve=shape.reserve * unit,
        step=step,
        first=-math.ceil(BELOW * spread),
        start=start,
        last=start + math.ceil(ABOVE * spread),
        cells=cells,
        ends=tuple(shape.epsilons(costs).tolist()),
    )


def _cells(shape: CostShape, unit: float, units: int) -> tuple[int, ...]:
    """The costs at which cells begin and end, up to that of the largest; none below one unit."""
    most = float(shape.cost(np.array(shape.largest))) / unit
    if most <= 1.0:
        return ()
    last = min(units + 1, math.floor(most) + 1)
    ends, j = [1], 1
    while j < last:
        j = min(j + 1 if j < LINEAR else math.ceil(j * (1.0 + WIDENING)), last)
        ends.append(j)
    return tuple(ends)


def largest_layout(epsilon: float, delta: float, shape: CostShape, units: int) -> ProofLayout:
    """The layout with the largest unit at which no adversary reaches ``delta``.

    Its value is within ``CLOSE`` of delta. Raises NotApplicable where the search does not end.
    """
    mu = gaussian_mu(epsilon, delta)
    budget, slope = 0.97 * mu * mu, _slope(epsilon, mu)
    for count, goal in ((min(units, COARSE), 0.02), (units, CLOSE)):
        scaled = replace(shape, reserve=shape.reserve * count / units)
        last: tuple[float, float] | None = None
        for _ in range(TRIES):
            found = layout(epsilon, scaled, budget / count, count)
            here = math.log(budget), math.log(value(found) / delta)
            if -goal <= here[1] < 0.0:
                break
            if last is not None and here[0] != last[0]:
                slope = min(max((here[1] - last[1]) / (here[0] - last[0]), slope / 2), slope * 2)
            last = here
            budget *= math.exp(-max(min(here[1] + 0.4 * goal, 3.0), -3.0) / slope)
        else:
            raise NotApplicable(
                f"no budget was found at epsilon = {epsilon:g}, delta = {delta:g} and {units} units"
            )
    return found


def _slope(epsilon: float, mu: float) -> float:
    """The derivative of ln delta by ln mu^2, of the Gaussian pair."""
    ends = [gaussian_delta(mu * factor, epsilon) for factor in (0.99, 1.01)]
    return math.log(ends[1] / ends[0]) / (2.0 * math.log(1.01 / 0.99))


def value(found: ProofLayout) -> float:
    """The delta that an adversary reaches from the start, up to rounding."""
    lattice, n_cells = found.step * np.arange(found.first, found.last + 1), len(found.cells) - 1
    taps = [response_weights(found.ends[j - 1], found.step) for j in found.cells]
    unit_kernel = gaussian_weights(found.unit, found.step)
    wide_kernel = gaussian_weights(found.reserve, found.step)
    pad = max([len(k[0]) // 2 for k in (unit_kernel, wide_kernel)] + [t[0] + 1 for t in taps]) + 1
    points = len(lattice)
    rows = np.empty((found.units + 1, points + 2 * pad))
    fading = np.exp(-found.step * np.arange(pad, 0, -1))

    def store(n: int, values: Floats) -> None:
        rows[n, pad : pad + points] = values
        rows[n, pad + points :] = values[-1]
        rows[n, :pad] = 1.0 - (1.0 - values[0]) * fading

    def response(n: int, place: int) -> Floats:
        shift, weights = taps[place]
        row = rows[n]
        at = (pad + shift, pad + shift + 1, pad - shift, pad - shift - 1)
        found: Floats = weights[0] * row[at[0] : at[0] + points]
        for start, weight in zip(at[1:], weights[1:]):
            found += weight * row[start : start + points]
        return found

    def spread(n: int, kernel: tuple[Floats, float]) -> Floats:
        weights, infinite = kernel
        reach = len(weights) // 2
        inner = rows[n, pad - reach : pad + points + reach]
        return np.convolve(inner, weights, mode="valid") + infinite

    store(0, np.maximum(0.0, -np.expm1(lattice)))
    before: dict[int, tuple[Floats, Floats]] = {}
    for n in range(1, found.units + 1):
        best = spread(n - 1, unit_kernel)
        for cell in range(n_cells):
            j, after = found.cells[cell : cell + 2]
            if j > n:
                break
            upper = response(n - j, cell + 1)
            if after > j + 1:
                np.maximum(best, upper, out=best)
                continue
            lower = response(n - j, cell)
            if n > j:
                lower_before, upper_before = before[cell]
                most = np.maximum(lower, upper_before)
                np.maximum(best, most, out=best)
                np.maximum(best, 0.5 * most + 0.25 * (lower_before + upper), out=best)
            else:
                np.maximum(best, lower, out=best)
            before[cell] = lower, upper
        store(n, np.minimum(best, 1.0))
    return float(spread(found.units, wide_kernel)[found.start - found.first])


def response_weights(epsilon: float, step: float) -> tuple[int, tuple[float, ...]]:
    """The shift k and the weights of randomized response at k, k + 1, -k and -k - 1 steps of u."""
    shift = int(epsilon / step)
    rest = max(epsilon - shift * step, 0.0)
    worse = 1.0 / (1.0 + math.exp(epsilon))
    up, down = math.expm1(rest) / math.expm1(step), math.expm1(-rest) / math.expm1(-step)
    better = 1.0 - worse
    return shift, (worse * (1.0 - up), worse * up, better * (1.0 - down), better * down)


def gaussian_weights(square: float, step: float) -> tuple[Floats, float]:
    """The masses of losses -reach, ..., reach steps and of an infinite one, spread outward."""
    mu, reach = math.sqrt(square), int(10 * math.sqrt(square) / step) + 2
    ends = step * np.arange(-reach, reach + 1)
    masses = [
        np.diff(scipy.special.ndtr((ends + shift) / mu)) for shift in (-square / 2, square / 2)
    ]
    low, high = np.exp(-ends[:-1]), np.exp(-ends[1:])
    right = np.clip((masses[0] * low - masses[1]) / (low - high), 0.0, masses[0])
    weights = np.zeros(len(ends))
    weights[1:] += right
    weights[:-1] += masses[0] - right
    weights[0] += scipy.special.ndtr((ends[0] - square / 2) / mu)
    return weights, float(scipy.special.ndtr((square / 2 - ends[-1]) / mu))
