"""delta(epsilon) of rounds of sampled Gaussians, by inverting their transform on a line.

The integral is that of :mod:`simulator.theory.pld.smoothed_tail` without smoothing: the transform
of many rounds decays by itself. Its values are those of
:mod:`simulator.theory.laws.sampled_transform`, each with a proven error. Beyond the line's end
abs(M(theta + i w)/M(theta)) is bounded in two ways. For some octaves it is bounded in cells of w:
one round's changes by at most the tilted loss's mean deviation times the distance from the middle.
Further out it is bounded by each round's own decay. Every round's factor is at most 1, so a bound
on some of the rounds is one on all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.theory.laws.sampled_transform import SampledTransform, decay
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.node_line import NodeLine, make_tail
from simulator.theory.pld.saddle_points import Saddles
from simulator.theory.pld.smoothed_tail import (
    SmoothedTail,
    Window,
    choose_window,
    points_needed,
)

_SHARE = 1e-3
"""Share of the tolerance for what is folded in, and for what is beyond the line's end."""
_LEEWAY = 6.0
"""Logarithm of how much larger than delta the line's terms may be, for a shorter period."""
_LONGER, _LENGTHS = 1.15, 3
"""The line's end is sought in steps of this factor, and moved that many times."""
_OCTAVES, _PER_OCTAVE = 12, 24
"""Octaves beyond the line's end, and their cells."""
_ENOUGH = 64
"""Laws that are enough there."""
_WORK, _MOST_NODES, _LOOKED_AT = 1 << 22, 1 << 14, 8
"""Most products of points and nodes, and most nodes, of each of a few laws; else a grid is
faster."""
_ROOM = 1 + 1e-9


@dataclass(frozen=True)
class SampledLine(NodeLine):
    """The line of sampled Gaussians, with what is known beyond its end."""

    items: tuple[tuple[SampledTransform, int], ...]

    def work(self, points: int, omega: float) -> float:
        """Products of points and nodes up to Im z = omega, the most of a few laws."""
        few = (self.items[index][0] for index in self._looked_at)
        return points * max(one.nodes_needed(self.theta, omega) for one in few)

    def length(self, first: float, wanted: float) -> float:
        """About where ln abs(M(z)/M(theta)) falls below ``wanted``; infinity where that is far."""
        runs = np.split(np.array([count for _, count in self.items]), self._looked_at[1:])
        omega = first
        while self.work(1, omega) <= _MOST_NODES:
            log = 0.0
            for index, run in zip(self._looked_at, runs):
                one, _ = self.items[index]
                nodes = one.nodes(self.theta, omega)
                size = np.abs(nodes.ratios(0.95 * omega, 0.05 * omega, 2)).max()
                log += int(run.sum()) * math.log(max(float(size), 1e-300))
            if log <= wanted:
                return omega
            omega *= _LONGER
        return math.inf

    def log_beyond(self, omega: float, wanted: float) -> float:
        """Upper bound on ln abs(M(z)/M(theta)) at every Im z >= omega.

        It is not sharpened below ``wanted``, and left where it cannot come so low.
        """
        worst = -math.inf
        for octave in range(_OCTAVES):
            start, end = omega * 2.0**octave, omega * 2.0 ** (octave + 1)
            beyond = self._log_decay(start, 2 ** (octave + 1))
            if beyond <= wanted:
                return max(worst, beyond)
            few = self._few(2**octave)
            if self.work(_PER_OCTAVE * len(few) // len(self.items), end) > _WORK:
                break
            worst = max(worst, self._log_in_cells(start, end, few))
            if worst > wanted:
                break
        return 0.0

    def _log_in_cells(self, start: float, end: float, few: range) -> float:
        width = (end - start) / _PER_OCTAVE
        logs = np.zeros(_PER_OCTAVE)
        for index in few:
            one, count = self.items[index]
            nodes = one.nodes(self.theta, end)
            size = np.abs(nodes.ratios(start + width / 2, width, _PER_OCTAVE))
            size += nodes.ratio_error(end) + self._deviation(index) * width / 2
            logs += count * np.log(np.minimum(size * _ROOM, 1.0))
        return float(logs.max())

    def _log_decay(self, omega: float, stride: int) -> float:
        total = 0.0
        for index in self._few(stride):
            bound = decay(self._variation(index), omega)
            total += self.items[index][1] * (math.log(bound) if bound > 0 else -math.inf)
        return total

    def _few(self, stride: int) -> range:
        """Every so many laws, but enough of them."""
        return range(0, len(self.items), max(min(stride, len(self.items) // _ENOUGH), 1))

    @cached_property
    def _looked_at(self) -> list[int]:
        few = np.linspace(0, len(self.items), _LOOKED_AT, endpoint=False).astype(int)
        return [int(index) for index in np.unique(few)]

    def _deviation(self, index: int) -> float:
        if index not in self._deviations:
            one, _ = self.items[index]
            self._deviations[index] = one.mean_deviation(self.theta)
        return self._deviations[index]

    def _variation(self, index: int) -> float:
        if index not in self._variations:
            one, _ = self.items[index]
            self._variations[index] = one.variation(self.theta)
        return self._variations[index]

    @cached_property
    def _deviations(self) -> dict[int, float]:
        return {}

    @cached_property
    def _variations(self) -> dict[int, float]:
        return {}


def sampled_tail(
    parts: CountedLaws, epsilon: float, saddles: Saddles, tolerance: float
) -> SmoothedTail | None:
    """A line that is fine enough for delta near ``epsilon``.

    None where a round is no sampled Gaussian, or the transform of all decays too slowly.
    """
    found = [(SampledTransform.of(law), count) for law, count in parts.items]
    items = tuple((one, count) for one, count in found if one is not None)
    if len(items) < len(found):
        return None
    log_value = saddles.log_value_at(epsilon)
    log_allowed = log_value + math.log(_SHARE * tolerance)
    theta, window, log_scale = _tilt(parts.representatives, epsilon, saddles, tolerance)
    others = max(theta, window.theta_above)
    if not all(one.can_be_tilted(others) for one, _ in items):
        return None
    line = SampledLine(items, theta)
    if line.log_value(theta)[0] - theta * epsilon > log_scale + 5 * _LEEWAY:
        return None  # the estimate's points end before the tilted loss does
    wanted = log_allowed - log_scale
    first = math.sqrt(max(-2 * wanted, 1.0)) / saddles.spread_at(epsilon)
    last = _LONGER * line.length(first, wanted)
    if not math.isfinite(last):
        return None
    folding = line.folding(window, epsilon, log_allowed)
    for _ in range(_LENGTHS):
        points = points_needed(folding.period, last)
        if line.work(points, last) > _WORK:
            return None
        log_rest = line.log_beyond(last, wanted)
        if log_rest <= wanted:
            return make_tail(line, epsilon, folding, points=points, log_rest=log_rest)
        last *= _LONGER**3
    return None


def _tilt(
    parts: CountedLaws, epsilon: float, saddles: Saddles, tolerance: float
) -> tuple[float, Window, float]:
    """A tilt from the saddle point on, its window, and ln of M(theta) exp(-theta epsilon).

    These are estimates. A larger tilt may have a shorter period, and terms that cancel more.
    """
    log_value, theta = saddles.log_value_at(epsilon), saddles.theta_at(epsilon)
    best: tuple[float, Window, float] | None = None
    while True:
        log_scale = float(parts.log_mgf(np.array(theta)).real) - theta * epsilon
        if best is not None and not log_scale - log_value <= _LEEWAY:
            return best
        window = choose_window(parts, epsilon, theta, 0.0, log_value, folded=_SHARE * tolerance)
        if best is not None and window.period >= best[1].period:
            return best
        best = theta, window, log_scale
        theta *= 2
