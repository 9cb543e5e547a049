"""Composition of laws on one grid by a tilted FFT on a circle shorter than the composed support.

As in :mod:`simulator.theory.pld.loss_lattice`, with which it shares the account of rounding, each
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
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property

import numpy as np
import scipy

from simulator.theory.laws.base import Floats
from simulator.theory.outward import UNIT
from simulator.theory.pld.grid_laws import GridLaw
from simulator.theory.pld.loss_lattice import circular_product
from simulator.theory.pld.pairwise_sums import dot, norm
from simulator.theory.pld.tail import TINY, SlopedBracket

#: Error of every mass, relative to itself, that need not be an absolute one.
_RELATIVE = 1e-13
_LEAST_TOTAL = 1e-250
#: Terms that are added one by one.
_ROW = 2048
#: How far below its centre, in exponents, and how far above it a table of sums reaches.
_BELOW, _ABOVE = 300.0, 700.0


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


@dataclass(frozen=True)
class WindowedTail:
    """The tilted law of the total loss on a window of the grid, ready to be summed."""

    theta: float
    _: KW_ONLY
    centre: float
    step: float
    first: int
    offset: float
    pmf: Floats
    log_scale: float
    log_size: float
    rounds: int
    noise: float
    outside: float
    slack: float
    infinite_mass: float

    @classmethod
    def make(
        cls,
        laws: Sequence[tuple[GridLaw, int]],
        theta: float,
        window: LossWindow,
        centre: float,
    ) -> WindowedTail:
        """Compose ``count`` rounds of each law, all on one grid, at tilt ``theta`` >= 0.

        It will be asked at epsilons around ``centre``.
        """
        step = laws[0][0].step
        offset = math.fsum(count * law.offset for law, count in laws)
        first = math.floor((window.bottom - offset) / step)
        last = math.ceil((window.top - offset) / step)
        length = scipy.fft.next_fast_len(last - first, real=True)
        factors, log_scale, log_size, lost = [], 0.0, 0.0, False
        for law, count in laws:
            exponents = theta * law.losses
            psi = _log_mgf(law, theta)
            weights = np.exp(exponents - psi)
            tilted = weights * law.masses
            lost |= abs(float(tilted.sum()) - 1) > 1e-6  # all of it underflows
            # An error relative to each mass stays one of the whole: no term is negative.
            wrong = 4 * UNIT * tilted * (4 + np.abs(exponents) + abs(psi)) + weights * law.error
            rounding = float(np.maximum(wrong - _RELATIVE * tilted, 0.0).sum())
            index = np.arange(law.first, law.first + tilted.size) % length
            spread = np.asarray(
                np.bincount(index, weights=tilted, minlength=length), dtype=np.float64
            )
            inexact = 16 * UNIT * np.log2(length) * norm(spread) * length**0.5
            factors.append((scipy.fft.rfft(spread), rounding, inexact, count))
            log_scale += count * psi
            log_size += count * abs(psi)
        pmf, noise = circular_product(factors, length)
        return cls(
            theta,
            centre=centre,
            step=step,
            first=first,
            offset=offset,
            pmf=np.roll(pmf, -(first % length)),
            log_scale=log_scale,
            log_size=log_size,
            rounds=sum(count for _, count in laws),
            noise=float(noise),
            outside=math.inf if lost else _outside(laws, theta, window, log_scale),
            slack=sum(count * (law.slack + 4 * UNIT * abs(law.offset)) for law, count in laws),
            infinite_mass=-math.expm1(
                sum(count * math.log1p(-law.infinite_mass) for law, count in laws)
            ),
        )

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

    @cached_property
    def _table(self) -> tuple[int, Floats, Floats]:
        """First point; sums of P e^(-theta y) and of P e^(-(1 + theta) y) from each point on.

        y is the distance from the centre; delta(E) is a combination of one of each.
        """
        low = self.centre - self.offset - _BELOW / (1 + self.theta)
        start = min(max(math.floor(low / self.step) - self.first, 0), self.pmf.size)
        pmf = self.pmf[start:]
        y = self.step * np.arange(self.first + start, self.first + self.pmf.size)
        # Where a step is wide the first point may be far below; no sum that is asked for has it.
        y = np.maximum(y + (self.offset - self.centre), -2 * _BELOW / (1 + self.theta))
        once = pmf * np.exp(-np.minimum(self.theta * y, _ABOVE))
        twice = once * np.exp(-np.minimum(y, _ABOVE))
        sums = (_sums_from_each(terms) for terms in (once, twice))
        return self.first + start, next(sums), next(sums)

    def _sum(self, epsilon: float, sign: int) -> tuple[float, float]:
        """Sum of the window, moved up or down by all that is uncertain in it; its slope."""
        first, once, twice = self._table
        shift = epsilon - self.centre
        far = shift * (1 + self.theta) < -_BELOW or abs(shift) * (1 + self.theta) > _ABOVE
        if far or not math.isfinite(self.outside + self.noise + self.log_scale):
            return (1.0 if sign > 0 else 0.0), 0.0
        above = math.floor((epsilon - self.offset) / self.step) + 1
        point = min(max(above - first, 0), once.size - 1)
        plain = float(once[point]) * math.exp(self.theta * shift)
        shrunk = float(twice[point]) * math.exp((1 + self.theta) * shift)
        # The weights are at most 1 and e^(-theta y), and at most the largest of all.
        most = math.exp(log_largest_weight(self.theta))
        many = self.pmf.size
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


def _log_mgf(law: GridLaw, theta: float) -> float:
    """Logarithm of the mean of exp(theta L) on the grid; more where that underflows."""
    exponents = theta * law.losses
    top = float(exponents.max())
    return top + math.log(max(dot(np.exp(exponents - top), law.masses), _LEAST_TOTAL))


def _outside(
    laws: Sequence[tuple[GridLaw, int]], theta: float, window: LossWindow, log_scale: float
) -> float:
    """Chernoff's bound on the tilted mass outside of the window."""
    total = 0.0
    for other, end in ((window.theta_above, window.top), (window.theta_below, window.bottom)):
        log_mass = sum(count * _log_mgf(law, other) for law, count in laws) - log_scale
        total += math.exp(min(log_mass - (other - theta) * end, 700.0))
    return 2 * total  # twice: the exponents are large numbers, and rounded
