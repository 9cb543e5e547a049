"""Draws for the removal direction, E_Q (U - e^epsilon)+, with weights bounded in advance.

Draws are from a mixture. One part is U^theta Q with a whole theta, P for 1, whose ratio to Q is
U^theta / Z with Z = E_Q U^theta: so (U - e^epsilon)+ times the inverse ratio is at most
Z max_u u^{-theta} (u - e^epsilon), at u = e^epsilon theta/(theta - 1). The other parts are
Gaussians around likely scores, and a field of small jumps. All draws have the weight of the mixture
(the balance heuristic), which is at most that of the first part over its share.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from simulator.foundations.errors import NotApplicable
from simulator.training.matrices.occupancies import Occupancies, reach
from simulator.training.matrices.pairs import BinnedPair
from simulator.training.matrices.parts import (
    Density,
    Drawn,
    MixturePart,
    MomentPart,
    likely_field,
)
from simulator.training.matrices.tilts import likely_tilts

Floats = NDArray[np.float64]

_TOTALS = (2, 3, 4, 6, 8, 10, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
"""The sizes of the dynamic programmes that are tried, one after the other."""
_POWER = 0.5
"""The share of the power before tuning."""
_LEAST_POWER, _MOST_POWER, _LEAST_SHARE = 0.2, 0.6, 0.1
_SHARES = 64.0
"""Shares are multiples of its inverse, so that they are the same on every processor."""
_AIM = 2000.0
"""The power's bound over its share is to be at most the value times this, within its shares."""


@dataclass(frozen=True)
class RemovalMeasure:
    """A mixture of a power and other parts.

    Attributes
    ----------
    pair : P and Q.
    power : the part that bounds the weights.
    others : the other parts.
    shares : of the power, then of the others.
    """

    pair: BinnedPair
    power: MomentPart
    others: tuple[MixturePart, ...]
    shares: tuple[float, ...]

    def log_bound(self, epsilon: float) -> float:
        """Ln of a bound on (U - e^epsilon)+ times the weight, for draws from this measure."""
        peak = log_peak(self.power.theta, epsilon)
        return self.power.log_moment + peak - math.log(self.shares[0])

    def draw(self, draws: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Losses ln U and log-weights ln dP/dS, each of shape (draws,)."""
        losses, ratios = self._draw(draws, generator)
        return losses, losses - logsumexp(ratios, axis=0)

    def _draw(self, draws: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Losses, and ln of share times ratio of each part, shape (parts, draws)."""
        kinds = np.searchsorted(np.cumsum(self.shares)[:-1], generator.random(draws), side="right")
        scores = np.empty((self.pair.bins, draws))
        first, occupied = kinds == 0, None
        scores[:, first], found = self.power.draw_occupied(int(first.sum()), generator)
        for kind, part in enumerate(self.others, 1):
            where = kinds == kind
            scores[:, where] = part.draw(int(where.sum()), generator)
        if self.power.difference is not None:
            occupied = np.empty(scores.shape, dtype=np.int64)
            occupied[:, first] = found
            occupied[:, ~first] = self.power.occupied_given(scores[:, ~first], generator)
        drawn = Drawn(scores, self.pair.log_ratio(scores.copy()), occupied)
        parts: tuple[Density, ...] = (self.power, *self.others)
        return drawn.losses, np.stack(
            [math.log(share) + part.log_ratio(drawn) for share, part in zip(self.shares, parts)]
        )

    def tuned(self, epsilon: float, draws: int, generator: np.random.Generator) -> RemovalMeasure:
        """The measure with shares for a small variance at ``epsilon``, from held-out draws.

        Each share is multiplied by the mean of the part's posterior probability, weighted with the
        squared excess (population Monte Carlo; Cappe, Guillin, Marin and Robert 2004).
        """
        losses, ratios = self._draw(draws, generator)
        with np.errstate(divide="ignore"):
            gains = losses + np.log(-np.expm1(np.minimum(epsilon - losses, 0.0)))
        base = ratios - np.log(np.array(self.shares))[:, None]
        start = logsumexp(ratios, axis=0)
        value = float(logsumexp(gains - start)) - math.log(draws)
        if value == -math.inf:
            return self
        shares = np.array(self.shares)
        for _ in range(8):
            mixed = logsumexp(base + np.log(shares)[:, None], axis=0)
            squares = 2.0 * gains - mixed - start
            weights = np.exp(squares - squares.max())
            shares = shares * (np.exp(base - mixed) @ weights)
            shares = np.maximum(shares / shares.sum(), _LEAST_SHARE)
        bound = self.log_bound(epsilon) + math.log(self.shares[0])
        needed = math.exp(min(bound - value - math.log(_AIM), 0.0))
        power = max(float(shares[0]), _LEAST_POWER, min(needed, _MOST_POWER))
        power = min(power, 1.0 - _LEAST_SHARE * len(self.others))
        power = math.ceil(power * _SHARES) / _SHARES
        rest = np.maximum(np.round((1.0 - power) * shares[1:] / shares[1:].sum() * _SHARES), 1.0)
        others = (1.0 - power) * rest / rest.sum()
        return replace(self, shares=(power, *others.tolist()))


def log_peak(theta: int, epsilon: float) -> float:
    """Ln of the largest u^{-theta} (u - e^epsilon), of u = e^epsilon theta/(theta - 1)."""
    if theta == 1:
        return 0.0
    return -(theta - 1) * (epsilon + math.log(theta / (theta - 1.0))) - math.log(theta)


def removal_measure(pair: BinnedPair, epsilon: float) -> RemovalMeasure:
    """The measure for the divergence at ``epsilon``; its theta has the least bound there."""
    power = _best_power(pair, lambda theta, log_moment: log_moment + log_peak(theta, epsilon))
    parts: list[MixturePart] = list(likely_tilts(pair, epsilon))
    field = likely_field(pair, epsilon)
    if field is not None:
        parts.append(field)
    share = (1.0 - _POWER) / len(parts)
    return RemovalMeasure(pair, power, tuple(parts), (_POWER, *[share] * len(parts)))


def removal_epsilon(pair: BinnedPair, delta: float) -> float:
    """An upper bound on epsilon(delta), from the moments of U."""

    def bound(theta: int, log_moment: float) -> float:
        if theta == 1:
            return math.inf
        at_zero = log_moment + log_peak(theta, 0.0)
        return (at_zero - math.log(delta)) / (theta - 1)

    power = _best_power(pair, bound)
    return max(0.0, bound(power.theta, power.log_moment))


class _Best(NamedTuple):
    bound: float
    power: MomentPart
    total: int
    inside: bool


def _best_power(pair: BinnedPair, bound: Callable[[int, float], float]) -> MomentPart:
    """The power of the least ``bound(theta, ln of its moment)``.

    The kernel is G, or one of fewer interactions where only that reaches a theta large enough.
    """
    distance, _ = reach(pair.gram)
    apart = _best_of_kernel(pair, *cut(pair.gram, 0), bound)
    least = 0 if apart is None else apart.power.theta // 2
    best: _Best | None = None
    for kept in range(distance, -1, -1):
        found = _best_of_kernel(pair, *cut(pair.gram, kept), bound, least)
        if found is not None and (best is None or found.bound < best.bound - math.log(2.0)):
            best = found
        if best is not None and best.inside:
            break
    if best is None:
        raise NotApplicable("no moment of U is within the range of floats: sigma is too small")
    return best.power


def _best_of_kernel(
    pair: BinnedPair,
    kernel: Floats,
    field: Floats,
    bound: Callable[[int, float], float],
    least: int = 0,
) -> _Best | None:
    """The best power of a kernel; its tables go up from one of at least ``least``, if that fits."""
    best: _Best | None = None
    first = sum(total < least for total in _TOTALS)
    for total in (*_TOTALS[first:], *_TOTALS[:first][::-1]):
        if best is not None and total < best.total:
            break
        try:
            table = Occupancies(kernel, total, field)
        except NotApplicable:
            if best is None:
                continue
            break
        bounds = [bound(theta, table.log_moment(theta)) for theta in range(1, total + 1)]
        place = int(np.argmin(bounds))
        inside = place + 1 < total
        if best is None or bounds[place] < best.bound:
            best = _Best(bounds[place], MomentPart(pair, table, place + 1), total, inside)
        if inside:
            break
    return best


def cut(gram: Floats, distance: int) -> tuple[Floats, Floats]:
    """A kernel K without interactions beyond a distance, with K - G >= 0, and its field.

    What is left out, in absolute value, is added to the diagonal in both its rows, so that K - G is
    diagonally dominant, so positive semidefinite. The field makes a single bin's weight 1.
    """
    bins = len(gram)
    apart = np.abs(np.arange(bins)[:, None] - np.arange(bins))
    apart = np.minimum(apart, bins - apart)
    rest = np.where(apart > distance, gram, 0.0)
    added = np.abs(rest).sum(axis=1)
    return gram - rest + np.diag(added), 0.5 * added
