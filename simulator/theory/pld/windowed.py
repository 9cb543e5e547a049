"""Composition of laws on one grid by a tilted FFT on a circle shorter than the composed support.

As in :mod:`simulator.theory.pld.loss_lattice`, which bounds the rounding, each
law is tilted, p(l) -> p(l) exp(theta l - psi(theta)). The total's tilted law P is narrow, so a
window of losses holds nearly all of it; the circle has the window's length, and what is outside
wraps round into it. By Chernoff's bound, for any s > 0 and r > 0,

    P(outside) <= exp(psi(theta + s) - psi(theta) - s top)
                + exp(psi(theta - r) - psi(theta) + r bottom) = o,  psi of the total.

With w(y) = exp(-theta y)(1 - exp(-y)) for y = l - E > 0, at most w* = theta^theta/(1 + theta)^(1 +
theta), delta(E) = exp(psi(theta) - theta E) sum w(l - E) P(l). The circle's sum over the window
has every term of the window's own and at most w* o of what wrapped round; and the window lacks at
most w* o. So the truth is within exp(psi(theta) - theta E) w* o of the circle's sum, on either
side, however short the window.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass

import numpy as np
import scipy

from simulator.theory.laws.base import Floats
from simulator.theory.outward import UNIT
from simulator.theory.pld.grid_laws import GridLaw, Points
from simulator.theory.pld.loss_lattice import CircularProduct
from simulator.theory.pld.pairwise_sums import dot, norm
from simulator.theory.pld.tail import TINY, SlopedBracket

_RELATIVE = 1e-13
"""Error of every mass, relative to itself, that need not be an absolute one."""
_LEAST_TOTAL = 1e-250
_ROW = 2048
"""Terms that are added one by one."""
_BELOW, _ABOVE = 300.0, 700.0
"""Reach of a table of sums below and above its centre, in exponents."""


@dataclass(frozen=True)
class LossWindow:
    """Losses in [bottom, top), and the exponents by which Chernoff bounds what is outside."""

    bottom: float
    top: float
    theta_above: float
    theta_below: float

    @property
    def length(self) -> float:
        """In nats."""
        return self.top - self.bottom


class WindowedSum:
    """The total of rounds on one grid, tilted by ``theta`` >= 0, on a window; laws are added."""

    def __init__(self, theta: float, window: LossWindow, step: float, offset: float) -> None:
        self.theta, self.window, self.step, self.offset = theta, window, step, offset
        self.first = math.floor((window.bottom - offset) / step)
        last = math.ceil((window.top - offset) / step)
        self.length = scipy.fft.next_fast_len(last - self.first, real=True)
        self._product = CircularProduct(self.length)
        self._outside = [0.0, 0.0]
        self._log_scale = self._log_size = self._slack = self._log_finite = 0.0
        self._rounds = 0
        self._lost = False

    def add(self, law: GridLaw, count: int) -> None:
        """Add ``count`` rounds of a law on this grid."""
        exponents = self.theta * law.losses
        psi = _log_mgf(law, exponents)
        weights = np.exp(exponents - psi)
        tilted = weights * law.masses
        self._lost |= abs(float(tilted.sum()) - 1) > 1e-6  # all of it underflows
        # An error relative to each mass is one relative to the sum, as no term is negative.
        wrong = 4 * UNIT * tilted * (4 + np.abs(exponents) + abs(psi)) + weights * law.error
        rounding = float(np.maximum(wrong - _RELATIVE * tilted, 0.0).sum())
        spread = _wrapped(tilted, law.points, self.length)
        inexact = 16 * UNIT * np.log2(self.length) * norm(spread) * self.length**0.5
        self._product.add(scipy.fft.rfft(spread), rounding, inexact, count)
        self._log_scale += count * psi
        self._log_size += count * abs(psi)
        for side, theta in enumerate((self.window.theta_above, self.window.theta_below)):
            self._outside[side] += count * _log_mgf(law, theta * law.losses)
        self._slack += count * (law.slack + 4 * UNIT * abs(law.offset))
        self._log_finite += count * math.log1p(-law.infinite_mass)
        self._rounds += count

    def tail(self, centre: float) -> WindowedTail:
        """The tilted law of the total, to be summed at epsilons around ``centre``."""
        pmf, noise = self._product.law()
        low = centre - self.offset - _BELOW / (1 + self.theta)
        start = min(max(math.floor(low / self.step) - self.first, 0), pmf.size)
        pmf = np.roll(pmf, -(self.first % self.length))[start:]
        y = self.step * np.arange(self.first + start, self.first + self.length)
        # Where a step is wide the first point may be far below; no sum that is used includes it.
        y = np.maximum(y + (self.offset - centre), -2 * _BELOW / (1 + self.theta))
        once = pmf * np.exp(-np.minimum(self.theta * y, _ABOVE))
        twice = once * np.exp(-np.minimum(y, _ABOVE))
        return WindowedTail(
            self.theta,
            centre=centre,
            step=self.step,
            offset=self.offset,
            size=self.length,
            first=self.first + start,
            once=_sums_from_each(once),
            twice=_sums_from_each(twice),
            log_scale=self._log_scale,
            log_size=self._log_size,
            rounds=self._rounds,
            noise=float(noise),
            outside=math.inf if self._lost else self._mass_outside(),
            slack=self._slack,
            infinite_mass=-math.expm1(self._log_finite),
        )

    def _mass_outside(self) -> float:
        """Chernoff's bound on the tilted mass outside of the window."""
        window, total = self.window, 0.0
        sides = (window.theta_above, window.top), (window.theta_below, window.bottom)
        for (theta, end), log_mgf in zip(sides, self._outside):
            exponent = log_mgf - self._log_scale - (theta - self.theta) * end
            total += math.exp(min(exponent, 700.0))
        return 2 * total  # twice: the exponents are large numbers, and rounded


def _wrapped(masses: Floats, points: Points, length: int) -> Floats:
    """The masses at these points, on a circle of that length."""
    return np.bincount(points % length, masses, length).astype(np.float64, copy=False)


@dataclass(frozen=True)
class WindowedTail:
    """Sums of the tilted law P of the total loss over a window, see :class:`WindowedSum`.

    Attributes
    ----------
    size : points of the window.
    first : the point with which the sums begin.
    once, twice : sums of P e^(-theta y) and of P e^(-(1 + theta) y) from each point on, y being the
        distance from the centre; delta(E) is a combination of one of each.
    """

    theta: float
    _: KW_ONLY
    centre: float
    step: float
    offset: float
    size: int
    first: int
    once: Floats
    twice: Floats
    log_scale: float
    log_size: float
    rounds: int
    noise: float
    outside: float
    slack: float
    infinite_mass: float

    @property
    def reach(self) -> float:
        """Beyond a few decay lengths another tilt would serve better."""
        return 2 / max(self.theta, 1e-3)

    def at(self, epsilon: float) -> SlopedBracket:
        """Certified bracket of the grid laws' delta(epsilon), with the infinite mass."""
        high, slope = self._sum(epsilon - self.slack, +1)
        low, _ = self._sum(epsilon + self.slack, -1)
        return SlopedBracket.of_delta(
            low, high + TINY, slope, lost=self.infinite_mass, relative=1e-12
        )

    def _sum(self, epsilon: float, sign: int) -> tuple[float, float]:
        """Sum of the window, moved up or down by all that is uncertain in it; its slope."""
        shift = epsilon - self.centre
        far = shift * (1 + self.theta) < -_BELOW or abs(shift) * (1 + self.theta) > _ABOVE
        if far or not math.isfinite(self.outside + self.noise + self.log_scale):
            return (1.0 if sign > 0 else 0.0), 0.0
        above = math.floor((epsilon - self.offset) / self.step) + 1
        point = min(max(above - self.first, 0), self.once.size - 1)
        plain = float(self.once[point]) * math.exp(self.theta * shift)
        shrunk = float(self.twice[point]) * math.exp((1 + self.theta) * shift)
        # The weights are at most 1 and e^(-theta y), and at most the largest of all.
        most = math.exp(log_largest_weight(self.theta))
        many = self.size
        decay = max(-math.expm1(-2 * self.theta * self.step), 1 / many)
        largest = min(most * math.sqrt(many), 1 / math.sqrt(decay))
        exponent = self.log_scale - self.theta * epsilon
        added = _ROW + many / _ROW
        relative = 8 * UNIT * (1024 + added + self.log_size + self.theta * abs(epsilon))
        relative += 2 * _RELATIVE * self.rounds
        wrong = (largest + 2 * relative * math.sqrt(many)) * self.noise
        wrong += (abs(plain) + abs(shrunk)) * relative + most * self.outside
        scale = math.exp(min(exponent, 700.0))
        return scale * (plain - shrunk + sign * wrong), -scale * shrunk


def _sums_from_each(terms: Floats) -> Floats:
    """Sums of the terms (n,) from each on, and of none, (n + 1,).

    Within rows, then of whole rows: a sum takes n/_ROW + _ROW additions at most, not n.
    """
    rows = -(-terms.size // _ROW)
    table = np.zeros((rows, _ROW))
    table.ravel()[: terms.size] = terms
    inside = np.cumsum(table[:, ::-1], axis=1)[:, ::-1]
    after = np.zeros(rows)
    after[:-1] = np.cumsum(inside[:0:-1, 0])[::-1]
    return np.append((inside + after[:, None]).ravel()[: terms.size], 0.0)


def log_largest_weight(theta: float) -> float:
    """Logarithm of the largest exp(-theta y)(1 - exp(-y)), rounded up."""
    return float(
        scipy.special.xlogy(theta, theta) - scipy.special.xlogy(1 + theta, 1 + theta)
    ) + 1e-12 * (1 + theta)


def _log_mgf(law: GridLaw, exponents: Floats) -> float:
    """Logarithm of the mean of exp(exponents) on the grid; more where that underflows."""
    top = float(max(exponents[0], exponents[-1]))  # they rise or fall
    return top + math.log(max(dot(np.exp(exponents - top), law.masses), _LEAST_TOTAL))
