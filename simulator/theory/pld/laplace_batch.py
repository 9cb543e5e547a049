"""Transforms of many Laplace laws on one line of integration, and their decay.

With t = theta + 1/2, z = theta + i omega and A = exp(-epsilon/2) cosh(t epsilon) the atoms' share,

    M(z) = exp(z epsilon) (1 - z/(1 + 2z) (1 - exp(-(1 + 2z) epsilon))),
    M(theta) = A + C,  C/A = tanh(t epsilon)/(2t),

and the part between the atoms is at most A/(2 abs(omega)) in modulus, as it is an integral of
exponentials: abs(M(z)) <= A (1 + 1/(2 abs(omega))).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.theory.laws.base import Floats, RealOrComplex
from simulator.theory.laws.laplace import LaplaceLaw, laplace_log_mgf
from simulator.theory.outward import UNIT

_BLOCK = 1 << 14
"""Numbers per block, so that they fit in a processor's cache."""
_LAWS_AT_ONCE = 16
"""Laws whose transforms are multiplied between two checks whether the product still matters."""
_LEAST = 1e-18
"""A smaller factor is replaced by this one, which is far below its rounding."""
_APPROXIMATION = 48
"""Laws that approximate any number of them in estimates."""


@dataclass(frozen=True, eq=False)
class LaplaceBatch:
    """Laplace laws: parameters (n,), and the number of rounds of each (n,)."""

    epsilons: Floats
    counts: Floats

    @classmethod
    def of(cls, items: list[tuple[LaplaceLaw, int]]) -> LaplaceBatch:
        """The batch, most rounds and largest epsilons first: their transforms decay fastest."""
        order = sorted(items, key=lambda item: (item[1], item[0].epsilon), reverse=True)
        epsilons = np.array([law.epsilon for law, _ in order], dtype=np.float64)
        return cls(epsilons, np.array([count for _, count in order], dtype=np.float64))

    @cached_property
    def top(self) -> float:
        """The largest total loss, to two units."""
        return math.fsum(self.epsilons * self.counts)

    def log_mgf(self, z: RealOrComplex) -> RealOrComplex:
        """Sum of count * psi(z); shape of z."""
        flat = np.ravel(z)
        total = np.zeros(flat.shape, dtype=np.asarray(z).dtype)
        laws = max(_BLOCK // max(flat.size, 1), 1)
        for start in range(0, self.epsilons.size, laws):
            part = slice(start, start + laws)
            psi = laplace_log_mgf(self.epsilons[part, None], flat)
            total += (self.counts[part, None] * psi).sum(axis=0)
        return np.asarray(total.reshape(np.shape(z)))

    def log_norms(self, theta: float) -> Floats:
        """psi(theta) - theta epsilon of each law, where theta > -1/2, shape (n,)."""
        drop = -np.expm1(-(1 + 2 * theta) * self.epsilons)
        return np.asarray(np.log1p(-theta / (1 + 2 * theta) * drop))

    def blocks(self) -> Iterator[tuple[Floats, float]]:
        """Yield blocks of laws with equal numbers of rounds, and that number."""
        ends = np.flatnonzero(np.diff(self.counts)) + 1
        for group in np.split(np.arange(self.counts.size), ends):
            for start in range(0, group.size, _LAWS_AT_ONCE):
                laws = group[start : start + _LAWS_AT_ONCE]
                yield self.epsilons[laws], float(self.counts[laws[0]])

    def log_decay(self, theta: float, omega: Floats) -> Floats:
        """Bound on ln abs(M(theta + i w))/M(theta) for every w >= omega > 0; shape of omega."""
        t = max(abs(theta + 0.5), 1e-150)
        inner = np.log1p(np.tanh(t * self.epsilons) / (2 * t))
        order = np.argsort(inner, kind="stable")
        inner, counts = inner[order], self.counts[order]
        outer = np.log1p(0.5 / omega)
        # Each law at min(outer - inner, 0): those with the largest inner share decay.
        first = np.searchsorted(inner, outer)
        rounds = np.r_[np.cumsum(counts[::-1])[::-1], 0.0][first]
        total = np.r_[np.cumsum((counts * inner)[::-1])[::-1], 0.0][first]
        slack = 8 * UNIT * (4 + self.counts.size) * (rounds * outer + total)
        return np.asarray(np.minimum(rounds * outer - total + slack, 0.0))

    def approximation(self) -> LaplaceBatch:
        """Few laws with nearly the same sum, for estimates."""
        if self.epsilons.size <= _APPROXIMATION:
            return self
        logs = np.log(self.epsilons)
        share = (logs - logs.min()) / max(float(np.ptp(logs)), 1e-300)
        group = np.minimum((share * _APPROXIMATION).astype(np.int64), _APPROXIMATION - 1)
        counts = np.bincount(group, self.counts, _APPROXIMATION).astype(np.float64)
        squares = np.bincount(group, self.counts * self.epsilons**2, _APPROXIMATION)
        some = counts > 0
        return LaplaceBatch(np.sqrt(squares[some] / counts[some]), counts[some])


def multiplied_ratios(
    epsilons: Floats, theta: float, omega: Floats
) -> tuple[RealOrComplex, Floats]:
    """Product of M(z)/M(theta) exp(-i omega epsilon) over laws, and its rounding.

    Shapes (m,), (n,); results (n,): the product, and a bound on the logarithm of how much larger or
    smaller the true product may be. Condition: theta > -1/2, not closer to it than 1e-9.
    """
    product = np.ones(omega.size, dtype=np.complex128)
    error = np.zeros(omega.size)
    points = max(_BLOCK // max(epsilons.size, 1), 1)
    t = theta + 0.5
    decay, rise = np.exp(-2 * t * epsilons)[:, None], -np.expm1(-2 * t * epsilons)[:, None]
    norm = 1 - theta / (2 * t) * rise
    for start in range(0, omega.size, points):
        here = slice(start, start + points)
        w = omega[here]
        share = (theta + 1j * w) / (2 * (t + 1j * w))
        angle = np.multiply.outer(epsilons, w)
        sine, cosine = np.sin(angle), np.cos(angle)
        twice = 2 * decay * sine
        drop = rise + twice * sine
        turn = twice * cosine
        real = (1 - share.real * drop + share.imag * turn) / norm
        imaginary = -(share.real * turn + share.imag * drop) / norm
        size = np.sqrt(real**2 + imaginary**2)
        # The terms of M(z) add up to M(theta) at most, each off by a few units of 1 + |z| epsilon.
        off = 32 * UNIT * (1 + np.multiply.outer(epsilons, np.abs(theta) + w))
        real[size < _LEAST] = size[size < _LEAST] = _LEAST
        error[here] = np.log1p(off / size).sum(axis=0)
        product[here] = np.prod(real + 1j * imaginary, axis=0)
    return product, error


def laplace_drop(epsilon: float, theta: float, omega: Floats) -> tuple[RealOrComplex, float]:
    """1 - exp(-(1 + 2z) epsilon), and M(theta) exp(-theta epsilon), of one law; theta > -1/2."""
    t = theta + 0.5
    decay, rise = math.exp(-2 * t * epsilon), -math.expm1(-2 * t * epsilon)
    sine, cosine = np.sin(epsilon * omega), np.cos(epsilon * omega)
    twice = 2 * decay * sine
    return rise + twice * sine + 1j * (twice * cosine), 1 - theta / (2 * t) * rise
