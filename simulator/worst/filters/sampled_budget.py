"""Costs of Gaussians on a Poisson sample, in whole units, and the delta that an adversary reaches.

The sigma and the rate of a round are chosen adaptively. A round costs the least listed cost whose
rate, in the row of the largest listed sigma that is not above its own, is at least its own. This
search rounds to nearest; what it finds is checked by
:mod:`simulator.worst.filters.certificate_check`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction

import numpy as np
import scipy
from numpy.typing import NDArray

from simulator.foundations.errors import NotApplicable
from simulator.theory.guarantees.subsampled import SubsampledGaussianDP
from simulator.theory.laws.gaussian_curve import gaussian_mu
from simulator.theory.outward import below

Floats = NDArray[np.float64]

PER_ROOT = 7
"""Lattice points per square root of the unit."""
ABOVE, BELOW = 1.3, 1.5
"""Range of the lattice above epsilon and below zero, in square roots of the budget."""
CORE = 20
"""Losses of at most so many steps are atoms; beyond, atoms are farther apart by ``WIDENING``."""
WIDENING = 1.12
DEVIATIONS = 10.0
"""Normal deviations beyond which a loss counts as infinite."""
FEW = 8
"""All whole costs up to this; beyond, they grow by ``GROWTH``."""
GROWTH = 1.25
CLOSE, TRIES = 5e-3, 10
ORDERS = (2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 15.0, 20.0, 28.0, 40.0, 60.0)
FINE_ORDERS = (*(1.0 + k / 8 for k in range(4, 152)), *(float(k) for k in range(20, 65)))
MOST_VALUES = 5 * 10**7
"""Of all rows."""
SPAN = 1000.0
"""The largest rate over the smallest that has a cost of its own."""


@dataclass(frozen=True)
class SampledLayout:
    """The costs and the lattice of a proof.

    Attributes
    ----------
    units : the budget.
    sigmas : ascending. costs : whole units, ascending. rates : a row for each sigma, with the
        largest rate of each cost.
    step, first, start, last : the lattice ln u = i step for first <= i <= last; ``start`` is the
        last point that is not above epsilon.
    nodes : the losses, in steps, on which the laws are spread.
    """

    _: KW_ONLY
    units: int
    sigmas: tuple[float, ...]
    costs: tuple[int, ...]
    rates: tuple[tuple[float, ...], ...]
    step: float
    first: int
    start: int
    last: int
    nodes: tuple[int, ...]


def renyi_share(
    promise: tuple[float, float], sigma: float, rate: float, orders: Sequence[float] = ORDERS
) -> float:
    """One over the rounds of constant parameters that Renyi accounting admits, at its best order.

    Raises NotApplicable where no order has a budget.
    """
    epsilon, delta = promise
    round_ = SubsampledGaussianDP(sigma, rate)
    budgets = {a: epsilon + math.log(a * delta) / (a - 1) - math.log1p(-1 / a) for a in orders}
    shares = [round_.renyi(a) / budget for a, budget in budgets.items() if budget > 0.0]
    if not shares:
        raise NotApplicable(f"no Renyi order has a budget at epsilon = {epsilon:g}")
    return min(shares)


class SampledCosts:
    """The costs of (sigma, rate) up to a unit: one over the rounds that Renyi accounting admits.

    Any costs can be proved, with a unit of their own; these make constant parameters alike.
    """

    def __init__(
        self, promise: tuple[float, float], sigmas: Sequence[float], largest: float
    ) -> None:
        self.log_rates = np.linspace(math.log(largest / SPAN), math.log(largest), 60)
        self.log_costs = [
            [math.log(renyi_share(promise, s, math.exp(r))) for r in self.log_rates] for s in sigmas
        ]

    @property
    def most(self) -> float:
        """The cost of the largest rate and the smallest sigma."""
        return math.exp(max(row[-1] for row in self.log_costs))

    def rates(self, costs: Floats) -> tuple[tuple[float, ...], ...]:
        """The rates of costs, at most the largest, with six digits; a row for each sigma."""
        found = [np.exp(np.interp(np.log(costs), row, self.log_rates)) for row in self.log_costs]
        return tuple(tuple(float(f"{rate:.6g}") for rate in row) for row in found)


def costs_up_to(most: float) -> tuple[int, ...]:
    """The listed costs, the last one at least ``most``."""
    costs = [1]
    while costs[-1] < most:
        costs.append(max(costs[-1] + 1, math.floor(costs[-1] * GROWTH)))
    return tuple(costs)


def layout(
    epsilon: float,
    units: int,
    sigmas: tuple[float, ...],
    costs: tuple[int, ...],
    rates: tuple[tuple[float, ...], ...],
) -> SampledLayout:
    """The lattice for a number of units and their costs."""
    unit = gaussian_mu(epsilon, 1e-6) ** 2 / units  # a typical variance of a unit's loss
    start = math.ceil(epsilon * PER_ROOT / math.sqrt(unit))
    step = epsilon / start
    if Fraction(step) * start > Fraction(epsilon):
        step = below(step)
    spread = math.sqrt(unit * units) / step
    widest = DEVIATIONS / sigmas[0] + 0.5 / sigmas[0] ** 2
    largest = max(row[-1] for row in rates)
    reach = math.ceil(math.log1p(largest * math.expm1(min(widest, 600.0))) / step)
    ends, k = list(range(CORE + 1)), CORE
    while k < reach:
        k = math.ceil(k * WIDENING)
        ends.append(k)
    return SampledLayout(
        units=units,
        sigmas=sigmas,
        costs=costs,
        rates=rates,
        step=step,
        first=-math.ceil(BELOW * spread),
        start=start,
        last=start + math.ceil(ABOVE * spread),
        nodes=(*(-k for k in reversed(ends[1:])), *ends),
    )


def value(found: SampledLayout) -> float:
    """The delta that an adversary reaches from the start, up to rounding."""
    lattice = found.step * np.arange(found.first, found.last + 1)
    pad, points = max(found.nodes) + 1, len(lattice)
    rows = np.empty((found.units + 1, points + 2 * pad))
    fading = np.exp(-found.step * np.arange(pad, 0, -1))
    nodes = np.array(found.nodes)
    options = [
        (cost, *pieces(weights, infinite, nodes))
        for place, cost in enumerate(found.costs)
        for sigma, row in zip(found.sigmas, found.rates)
        if place == 0 or row[place] > row[place - 1]
        for weights, infinite in laws(sigma, row[place], nodes * found.step)
    ]

    def store(n: int, values: Floats) -> None:
        rows[n, pad : pad + points] = values
        rows[n, pad + points :] = values[-1]
        rows[n, :pad] = 1.0 - (1.0 - values[0]) * fading

    store(0, np.maximum(0.0, -np.expm1(lattice)))
    for n in range(1, found.units + 1):
        best = rows[n - 1, pad : pad + points].copy()
        for cost, core, far, infinite in options:
            if cost > n:
                break
            row = rows[n - cost]
            mean = np.convolve(row[pad - CORE : pad + points + CORE], core, mode="valid")
            for k, weight in far:
                mean += weight * row[pad - k : pad - k + points]
            mean += infinite
            np.maximum(best, mean, out=best)
        store(n, np.minimum(best, 1.0))
    return float(rows[found.units, pad + found.start - found.first])


def pieces(
    weights: Floats, infinite: float, nodes: NDArray[np.int64]
) -> tuple[Floats, list[tuple[int, float]], float]:
    """The weights of adjacent losses, those of the others above 1e-25, and the infinite mass."""
    near = np.abs(nodes) <= CORE
    far = [(int(k), float(w)) for k, w in zip(nodes[~near], weights[~near]) if w > 1e-25]
    return weights[near], far, infinite


def laws(sigma: float, rate: float, losses: Floats) -> list[tuple[Floats, float]]:
    """The two directions' masses on losses, spread outward, and of an infinite loss."""
    found = []
    for sign in (1.0, -1.0):
        ends = np.sort(sign * losses)
        inside = np.expm1(ends) / rate + 1.0
        x = np.full(len(ends), -np.inf)
        x[inside > 0.0] = sigma**2 * np.log(inside[inside > 0.0]) + 0.5
        without = (
            np.diff(scipy.special.ndtr(x / sigma)),
            scipy.special.ndtr(-x[-1] / sigma),
            scipy.special.ndtr(x[0] / sigma),
        )
        upward = np.diff(-scipy.special.ndtr(-x / sigma))  # accurate above
        plain = np.where(x[1:] > 0.0, upward, without[0])
        shifted = np.where(
            x[1:] > 1.0,
            np.diff(-scipy.special.ndtr((1.0 - x) / sigma)),
            np.diff(scipy.special.ndtr((x - 1.0) / sigma)),
        )
        mixed = (1.0 - rate) * plain + rate * shifted
        mixed_ends = [
            (1.0 - rate) * without[i] + rate * tail
            for i, tail in (
                (1, scipy.special.ndtr((1.0 - x[-1]) / sigma)),
                (2, scipy.special.ndtr((x[0] - 1.0) / sigma)),
            )
        ]
        if sign > 0.0:
            first, second, top, bottom = mixed, plain, mixed_ends[0], mixed_ends[1]
        else:  # the loss is turned around: below is above
            ends, first, second = -ends[::-1], plain[::-1], mixed[::-1]
            top, bottom = without[2], without[1]
        low, high = np.exp(-ends[:-1]), np.exp(-ends[1:])
        right = np.clip((first * low - second) / (low - high), 0.0, first)
        weights = np.zeros(len(ends))
        weights[1:] += right
        weights[:-1] += first - right
        weights[0] += bottom
        found.append((weights, float(top)))
    return found


def largest_layout(
    promise: tuple[float, float], sigmas: tuple[float, ...], largest: float, units: int
) -> SampledLayout:
    """The layout with the largest unit at which no adversary reaches the promise's delta.

    Raises NotApplicable where the search does not end, or the rows would take too much memory.
    """
    epsilon, delta = promise
    table = SampledCosts(promise, sigmas, largest)
    share, slope = 0.8 / units, 8.0
    last: tuple[float, float] | None = None
    for _ in range(TRIES):
        costs = tuple(cost for cost in costs_up_to(table.most / share) if cost <= units)
        rates = table.rates(share * np.array(costs, dtype=float))
        found = layout(epsilon, units, sigmas, costs, rates)
        width = found.last - found.first + 2 * max(found.nodes)
        if units * width > MOST_VALUES:
            raise NotApplicable(
                f"Gaussians of sigma = {sigmas[0]:g} lose too much at once for {units} units: give "
                "a larger sigma, or fewer units"
            )
        here = math.log(share), math.log(value(found) / delta)
        if -CLOSE <= here[1] < 0.0 or (here[1] < 0.0 and costs == (1,)):
            return found  # or every round costs one unit, and no larger unit is needed
        if last is not None and here[0] != last[0]:
            slope = min(max((here[1] - last[1]) / (here[0] - last[0]), 2.0), 40.0)
        last = here
        share *= math.exp(-max(min(here[1] + 0.4 * CLOSE, 4.0), -4.0) / slope)
    raise NotApplicable(f"no budget was found at epsilon = {epsilon:g}, delta = {delta:g}")
