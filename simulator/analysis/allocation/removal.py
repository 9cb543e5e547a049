"""Draws for the removal direction, E_Q (U - e^epsilon)+, with weights bounded in advance.

A share of the draws is from R ~ U^theta Q, with theta whole: occupancies n of the bins from the
dynamic programme, then scores from N(G n, G). With Z = E_Q U^theta its ratio to Q is U^theta / Z,
so (U - e^epsilon)+ dQ/dR is at most Z max_u u^{-theta} (u - e^epsilon), at
u = e^epsilon theta/(theta - 1). The other draws are from Gaussians around scores that are likely
and have U a little above e^epsilon; their ratios to Q are explicit. All draws have the weight of
the mixture (the balance heuristic), which is at most that of R over R's share.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simulator.analysis.allocation.occupancies import Occupancies
from simulator.analysis.allocation.pairs import BinnedPair
from simulator.analysis.allocation.tilts import Tilts, likely_tilts
from simulator.foundations.errors import NotApplicable

Floats = NDArray[np.float64]

_TOTALS = (4, 6, 8, 10, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
"""The sizes of the dynamic programmes that are tried, one after the other."""
_POWER = 0.5
"""The share of U^theta Q."""


@dataclass(frozen=True)
class RemovalMeasure:
    """A mixture of U^theta Q and Gaussians.

    Attributes
    ----------
    pair : P and Q.
    occupancies : the dynamic programme.
    theta : a whole number, at least 2.
    tilts : the Gaussians.
    """

    pair: BinnedPair
    occupancies: Occupancies
    theta: int
    tilts: Tilts

    def log_bound(self, epsilon: float) -> float:
        """Ln of a bound on (U - e^epsilon)+ dQ/dS, for draws from this measure S."""
        return self.log_moment + log_peak(self.theta, epsilon) - math.log(_POWER)

    @cached_property
    def log_moment(self) -> float:
        """Ln of E_Q U^theta."""
        return self.occupancies.log_moment(self.theta)

    def draw(self, draws: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Losses ln U and log-weights ln dP/dS, each of shape (draws,)."""
        pair = self.pair
        powers = generator.random(draws) < _POWER
        moves = self.tilts.draw(draws, generator)
        moves[:, powers] = self.occupancies.draw(self.theta, int(powers.sum()), generator)
        noise = generator.standard_normal((pair.bins, draws))
        scores = np.asarray(pair.multiply_gram @ moves + pair.multiply_factor @ noise)
        others = math.log(1.0 - _POWER) + self.tilts.log_ratio(scores)
        losses = pair.log_ratio(scores)
        power = math.log(_POWER) + self.theta * losses - self.log_moment
        return losses, losses - np.logaddexp(power, others)


def log_peak(theta: int, epsilon: float) -> float:
    """Ln of the largest u^{-theta} (u - e^epsilon), of u = e^epsilon theta/(theta - 1)."""
    return -(theta - 1) * (epsilon + math.log(theta / (theta - 1.0))) - math.log(theta)


def removal_measure(pair: BinnedPair, epsilon: float) -> RemovalMeasure:
    """The measure for the divergence at ``epsilon``; its theta has the least bound there."""
    theta, occupancies = _best_power(
        pair, lambda theta, log_moment: log_moment + log_peak(theta, epsilon)
    )
    return RemovalMeasure(pair, occupancies, theta, likely_tilts(pair, epsilon))


def removal_epsilon(pair: BinnedPair, delta: float) -> float:
    """An upper bound on epsilon(delta), from the moments of U."""

    def bound(theta: int, log_moment: float) -> float:
        at_zero = log_moment + log_peak(theta, 0.0)
        return (at_zero - math.log(delta)) / (theta - 1)

    theta, occupancies = _best_power(pair, bound)
    return max(0.0, bound(theta, occupancies.log_moment(theta)))


def _best_power(pair: BinnedPair, bound: Callable[[int, float], float]) -> tuple[int, Occupancies]:
    """The theta of the least ``bound(theta, ln E U^theta)``, and a table that reaches it."""
    best, least, found = 2, math.inf, None
    for total in _TOTALS:
        try:
            table = Occupancies(pair.gram, total)
        except NotApplicable:
            if found is None:
                raise
            break
        bounds = [bound(theta, table.log_moment(theta)) for theta in range(2, total + 1)]
        place = int(np.argmin(bounds))
        if bounds[place] < least:
            best, least, found = place + 2, bounds[place], table
        if place + 2 < total:
            break
    assert found is not None
    return best, found
