"""The pair of k of t steps, every subset alike likely, and its draws in both directions.

U = e_k(V_1 ... V_t)/binom(t, k), an elementary symmetric polynomial of the ratios V_j = e^{a_j} of
the steps, which are independent lognormals under Q.

*Removal*: as for balls in bins, with the moments of :class:`SubsetTable`.

*Addition*: draws are from Q e^{-c S}, S = sum_j min(V_j, m), so the steps are independent. Where
U < e^{-epsilon}, S has a bound: e_k increases in every V_j, and is Schur-concave, so of all
vectors of entries up to m with the sum S it is least at (m, ... m, r, 0, ... 0).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import ndtr, ndtri

from simulator.engine.sampling import THETA_BITS, rounded
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.validation import positive, whole
from simulator.training.matrices import damped
from simulator.training.matrices.pairs import BinnedPair
from simulator.training.matrices.parts import MixturePart, MomentPart, likely_field
from simulator.training.matrices.removal import RemovalMeasure, log_peak
from simulator.training.matrices.subset_tables import SubsetTable
from simulator.training.matrices.tilts import Tilts

Floats = NDArray[np.float64]

_MOST_SELECTED = 100
_SMALL = 1e-250


@dataclass(frozen=True, eq=False)
class SubsetPair(BinnedPair):
    """The pair of a record in ``selected`` of the steps, which are the bins.

    >>> from simulator.training import random_subset
    >>> random_subset(sigma=2.0, steps=8, selected=2).selected
    2
    """

    selected: int

    def log_ratio(self, scores: Floats) -> Floats:
        """Ln U for scores of shape (steps, draws)."""
        exponents = scores - self.half_squares[:, None]
        peak = exponents.max(axis=0)
        shares = np.exp(exponents - peak)
        total = shares.sum(axis=0)
        shares /= total
        sums = np.zeros((self.selected + 1, scores.shape[1]))
        sums[0] = 1.0
        for step in shares:
            sums[1:] += sums[:-1] * step
        with np.errstate(divide="ignore"):
            logs = self.selected * (peak + np.log(total)) + np.log(sums[-1])
        small = sums[-1] < _SMALL
        if small.any():
            logs[small] = _log_symmetric(exponents[:, small], self.selected)
        return np.asarray(logs - math.log(math.comb(self.bins, self.selected)))


def _log_symmetric(exponents: Floats, selected: int) -> Floats:
    """Ln of e_k of e^exponents, by the same recursion in logarithms."""
    sums = np.full((selected + 1, exponents.shape[1]), -np.inf)
    sums[0] = 0.0
    for step in exponents:
        sums[1:] = np.logaddexp(sums[1:], sums[:-1] + step)
    return np.asarray(sums[-1])


def random_subset(sigma: float, steps: int, selected: int = 1) -> SubsetPair:
    """The pair of a record in ``selected`` of ``steps`` Gaussian steps, every subset alike likely.

    ``sigma`` is noise over sensitivity. Raises InvalidInput for a parameter out of its range.

    >>> from simulator.training import random_subset
    >>> random_subset(sigma=2.0, steps=8, selected=2).theorem
    'Feldman and Shenfeld 2025; Chua and others 2025'
    """
    sigma, steps, selected = (
        positive("sigma", sigma),
        whole("steps", steps),
        whole("selected", selected),
    )
    if selected > steps:
        raise InvalidInput(
            f"selected must be at most steps, not {selected} of {steps}", argument="selected"
        )
    if selected > _MOST_SELECTED:
        raise InvalidInput(
            f"selected must be at most {_MOST_SELECTED}, not {selected}", argument="selected"
        )
    strength = 1.0 / sigma**2
    if strength > 500.0:
        raise InvalidInput(
            f"sigma {sigma!r} is too small: ratios leave the range of floats", argument="sigma"
        )
    return SubsetPair(
        np.diag(np.full(steps, strength)),
        f"random subset, sigma={sigma!r}, steps={steps}, selected={selected}",
        "Feldman and Shenfeld 2025; Chua and others 2025",
        selected,
    )


def subset_removal(pair: SubsetPair, epsilon: float) -> RemovalMeasure:
    """The measure for the removal direction at ``epsilon``; its theta has the least bound."""
    power = _best_power(pair, lambda theta, log_moment: log_moment + log_peak(theta, epsilon))
    strength, chance = float(pair.gram[0, 0]), pair.selected / pair.bins
    # one step alone makes U large, with the others at their mean
    peak = math.log(max(math.expm1(epsilon), 1e-3) / chance + 1.0) / strength + 0.5
    alike = 1.05 * epsilon / (pair.selected * strength)
    tilts = [np.eye(pair.bins) * peak, np.full((pair.bins, 1), max(alike, 1e-3))]
    parts: list[MixturePart] = [
        Tilts(pair, rounded(tilt, THETA_BITS), width) for tilt, width in zip(tilts, (0.6, 1.0))
    ]
    field = likely_field(pair, epsilon / pair.selected)
    if field is not None:
        parts.append(field)
    return RemovalMeasure(pair, power, tuple(parts), (0.5, *[0.5 / len(parts)] * len(parts)))


def subset_removal_epsilon(pair: SubsetPair, delta: float) -> float:
    """An upper bound on epsilon(delta), from the moments of U."""

    def bound(theta: int, log_moment: float) -> float:
        if theta == 1:
            return math.inf
        return (log_moment + log_peak(theta, 0.0) - math.log(delta)) / (theta - 1)

    power = _best_power(pair, bound)
    return max(0.0, bound(power.theta, power.log_moment))


def _best_power(pair: SubsetPair, bound: Callable[[int, float], float]) -> MomentPart:
    """The theta of the least ``bound(theta, ln E U^theta)``, which has one minimum in theta."""
    strength = float(pair.gram[0, 0])
    known: dict[int, tuple[float, SubsetTable | None]] = {}

    def at(theta: int) -> float:
        if theta not in known:
            try:
                table = SubsetTable(strength, pair.bins, pair.selected, theta)
                known[theta] = (bound(theta, table.log_moment(theta)), table)
            except NotApplicable:
                known[theta] = (math.inf, None)
        return known[theta][0]

    low, high = 2, 3
    while high < 600 and at(high) < at(max(2, (2 * high) // 3)):
        low, high = high // 2, (3 * high + 1) // 2
    while high - low > 2:
        third = (high - low) // 3
        left, right = low + max(third, 1), high - max(third, 1)
        if left >= right:
            break
        low, high = (low, right) if at(left) <= at(right) else (left, high)
    for theta in (1, *range(max(2, low - 1), high + 1)):
        at(theta)
    best = min((value, theta) for theta, (value, _) in known.items())[1]
    table = known[best][1]
    if table is None:
        raise NotApplicable("no moment of U is within the range of floats: sigma is too small")
    return MomentPart(pair, table, best)


@dataclass(frozen=True)
class SubsetAdditionMeasure:
    """Draws from Q e^{-c S}, S = sum_j min(V_j, cap).

    Attributes
    ----------
    pair : P and Q.
    strength : c.
    cap : m.
    """

    pair: SubsetPair
    strength: float
    cap: float

    @property
    def _scale(self) -> float:
        return math.sqrt(float(self.pair.gram[0, 0]))

    @property
    def _top(self) -> float:
        """Where V = cap, in standard deviations."""
        return math.log(self.cap) / self._scale + 0.5 * self._scale

    @property
    def _capped(self) -> float:
        """The normalised mass above the cap, not divided by the normalisation."""
        return math.exp(-self.strength * self.cap) * float(ndtr(-self._top))

    @cached_property
    def _mass(self) -> float:
        """E exp(-c min(V, cap))."""
        scale, top = self._scale, self._top

        def density(x: float) -> float:
            ratio = math.exp(min(scale * x - 0.5 * scale**2, 700.0))
            return math.exp(-0.5 * x * x - self.strength * ratio) / math.sqrt(2.0 * math.pi)

        bend = (0.5 * scale**2 - math.log(self.strength)) / scale
        places = sorted({min(max(bend + shift / scale, -12.0), top) for shift in (-3.0, 0.0, 2.0)})
        inner = [place for place in places if -12.0 < place < top] or None
        found = quad(density, -12.0, max(top, -12.0), points=inner, epsrel=1e-12, limit=400)[0]
        return float(found) + self._capped

    def log_bound(self, epsilon: float) -> float:
        """Ln of a bound on (1 - e^epsilon U)+ dQ/dS, for draws from this measure S."""
        most = self._largest_sum(-epsilon)
        ends = np.linspace(0.0, most, 513)
        # on a cell the first factor is at most that of its lower end, the second of its upper end
        heights = [
            max(1.0 - math.exp(epsilon) * self._least_ratio(each), 0.0) for each in ends[:-1]
        ]
        steep = np.exp(self.strength * (ends[1:] - most))
        peak = float(np.max((np.array(heights) + 1e-12) * steep))
        if self._mass == 0.0:
            return math.inf
        return self.pair.bins * math.log(self._mass) + self.strength * most + math.log(peak) + 1e-8

    def _least_ratio(self, total: float) -> float:
        """The least U of ratios up to the cap with the sum ``total``."""
        whole_ones = math.floor(total / self.cap)
        k, rest = self.pair.selected, total - whole_ones * self.cap
        found = math.comb(whole_ones, k) * self.cap**k
        found += math.comb(whole_ones, k - 1) * self.cap ** (k - 1) * rest
        return found / math.comb(self.pair.bins, k)

    def _largest_sum(self, log_ratio: float) -> float:
        """The largest sum of ratios up to the cap for which U can be that small."""
        low, high = 0.0, self.cap * self.pair.bins
        if self._least_ratio(high) <= math.exp(log_ratio):
            return high
        for _ in range(200):
            middle = 0.5 * (low + high)
            above = self._least_ratio(middle) > math.exp(log_ratio)
            low, high = (low, middle) if above else (middle, high)
        return high

    def draw(self, draws: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Losses -ln U and log-weights ln dQ/dS, each of shape (draws,)."""
        scale, many = self._scale, self.pair.bins * draws
        noise = np.empty(many)
        high = generator.random(many) * self._mass < self._capped
        noise[high] = -ndtri(generator.random(int(high.sum())) * ndtr(-self._top))
        open_ = np.flatnonzero(~high)
        offset = math.log(self.strength) - 0.5 * scale**2
        while open_.size:
            found = damped.draw(np.full(open_.size, offset), scale, generator)
            taken = found <= self._top
            noise[open_[taken]] = found[taken]
            open_ = open_[~taken]
        scores = scale * noise.reshape(self.pair.bins, draws)
        losses = -self.pair.log_ratio(scores)
        sums = np.minimum(np.exp(scores - self.pair.half_squares[:, None]), self.cap).sum(axis=0)
        return losses, self.pair.bins * math.log(self._mass) + self.strength * sums

    def tuned(
        self, epsilon: float, draws: int, generator: np.random.Generator
    ) -> SubsetAdditionMeasure:
        """The measure itself: it has nothing to tune."""
        return self


_CAPS = (1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 14.0, 25.0, 60.0)


def subset_addition(pair: SubsetPair, epsilon: float) -> SubsetAdditionMeasure:
    """The measure of the least bound at ``epsilon``."""
    return _least(pair, epsilon, lambda measure: measure.log_bound(epsilon))


def subset_addition_epsilon(pair: SubsetPair, delta: float) -> float:
    """An upper bound on epsilon(delta), by the same bounds."""
    low, high = 0.0, 1.0
    while subset_addition(pair, high).log_bound(high) > math.log(delta):
        low, high = high, 2.0 * high
    for _ in range(7):
        middle = 0.5 * (low + high)
        above = subset_addition(pair, middle).log_bound(middle) > math.log(delta)
        low, high = (middle, high) if above else (low, middle)
    return high


def _least(
    pair: SubsetPair, epsilon: float, objective: Callable[[SubsetAdditionMeasure], float]
) -> SubsetAdditionMeasure:
    """The measure at which an objective is least."""
    typical = math.exp(-epsilon / pair.selected)
    center = math.log(pair.selected * max(epsilon, 0.05) / float(pair.gram[0, 0]) / typical)
    caps = _CAPS if pair.selected > 1 else _CAPS[-1:]
    best: tuple[float, float, float] | None = None
    for cap in (typical * each for each in caps):
        found = minimize_scalar(
            lambda log, cap=cap: objective(SubsetAdditionMeasure(pair, math.exp(log), cap)),
            bounds=(center - 7.0, center + 5.0),
            method="bounded",
            options={"xatol": 0.05},
        )
        if best is None or found.fun < best[0]:
            best = (float(found.fun), math.exp(found.x), cap)
    assert best is not None
    strength, cap = (float(rounded(each, THETA_BITS)) for each in best[1:])
    return SubsetAdditionMeasure(pair, strength, cap)
