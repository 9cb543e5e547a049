"""The transform of the total loss at the points of a line Re z = theta that matter.

Every law's transform is at most its value on the real axis. Laws are multiplied one after the
other, and a point is left out as soon as the product is negligible; the bound on its contribution
is added to the rounding error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator.theory.laws.base import Floats, PrivacyLossLaw, RealOrComplex
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.outward import UNIT
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.laplace_batch import multiplied_ratios

_CHUNK = 1 << 14
_FEW = 0.7
"""Negligible points are dropped where at most this share remains."""
_GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class Scale:
    """ln M(theta) as the transform on the line is divided by it, and its rounding."""

    log: float
    slack: float

    @classmethod
    def of(cls, parts: CountedLaws, theta: float) -> Scale:
        """The same sums as :func:`sample` takes."""
        batch, mirrored = parts.laplaces, max(theta, -1 - theta)
        norms = batch.log_norms(mirrored)
        terms = [float(mirrored * batch.top), *map(float, norms * batch.counts)]
        terms += [count * float(law.log_mgf(theta).real) for law, count in parts.others]
        slack = 8 * UNIT * (abs(terms[0]) + float(batch.counts @ (2 + np.abs(norms))))
        slack += 8 * UNIT * (1 + math.fsum(abs(term) + 1 for term in terms))
        return cls(math.fsum(terms), slack)


@dataclass(frozen=True)
class Sampled:
    """Points that matter, omega (n,); M(z)/M(theta) exp(-z E) there, and relative errors (n,).

    ``left_out`` and ``left_out_whole`` bound the sums of the moduli of all other points, weighted
    by 1/abs(z(1 + z)) and not weighted.
    """

    omega: Floats
    ratio: RealOrComplex
    error: Floats
    left_out: float
    left_out_whole: float


def sample(
    parts: CountedLaws,
    theta: float,
    omega: Floats,
    smoothing: float,
    *,
    epsilon: float,
    negligible: float,
) -> Sampled:
    """Sample where a value, weighted by 1/abs(z(1 + z)), may be above ``negligible``.

    The values are of M(z) exp(-z epsilon) exp(smoothing^2 z(1 + z)/2), divided by that at theta,
    for ascending omega >= 0. Condition: theta is not closer to -1/2 than 1e-9.
    """
    chunks = [
        _sample(
            parts,
            theta,
            omega[start : start + _CHUNK],
            smoothing,
            epsilon=epsilon,
            negligible=negligible,
        )
        for start in range(0, omega.size, _CHUNK)
    ]
    return Sampled(
        np.concatenate([chunk.omega for chunk in chunks]),
        np.concatenate([chunk.ratio for chunk in chunks]),
        np.concatenate([chunk.error for chunk in chunks]),
        math.fsum(chunk.left_out for chunk in chunks),
        math.fsum(chunk.left_out_whole for chunk in chunks),
    )


class _Points:
    """The points not yet dropped; the logarithm of the product so far and its error."""

    def __init__(self, theta: float, omega: Floats, smoothing: float, negligible: float) -> None:
        self.omega, self.theta, self.negligible = omega, theta, negligible
        self.log = -((smoothing * omega) ** 2) / 2 + 1j * smoothing**2 * omega * (theta + 0.5)
        self.error = 8 * UNIT * (4 + np.abs(self.log))
        self.left_out = self.left_out_whole = 0.0
        self.tidy()

    def times(self, log: RealOrComplex, error: Floats) -> None:
        """Multiply by exp(log), whose logarithm is off by at most ``error``."""
        self.log = self.log + log
        self.error += error + 4 * UNIT * np.abs(self.log)
        self.tidy()

    def tidy(self) -> None:
        """Drop points if many have become negligible."""
        weight = (np.abs(self.theta) + self.omega) * (np.abs(1 + self.theta) + self.omega) / 2
        most = np.exp(np.minimum(self.log.real + self.error, 700.0))
        seen = most > self.negligible * weight
        if seen.mean() > _FEW if seen.size else True:
            return
        lost = most[~seen]
        z = np.hypot(self.theta, self.omega[~seen]) * np.hypot(1 + self.theta, self.omega[~seen])
        self.left_out += float((lost / z).sum()) * (1 + 1e-9)
        self.left_out_whole += float(lost.sum()) * (1 + 1e-9)
        self.omega, self.log, self.error = self.omega[seen], self.log[seen], self.error[seen]


def _sample(
    parts: CountedLaws,
    theta: float,
    omega: Floats,
    smoothing: float,
    *,
    epsilon: float,
    negligible: float,
) -> Sampled:
    points = _Points(theta, omega, smoothing, negligible)
    mirrored = theta < -0.5
    real = -1 - theta if mirrored else theta
    for epsilons, count in parts.laplaces.blocks():
        if not points.omega.size:
            break
        product, off = multiplied_ratios(epsilons, real, points.omega)
        log = np.log(product)
        error = count * (off + 4 * UNIT * (2 * epsilons.size + np.abs(log)))
        points.times(count * (log.conj() if mirrored else log), error)
    for law, count in _spread_out(parts.others):
        if not points.omega.size:
            break
        z = theta + 1j * points.omega
        psi = law.log_mgf(z)
        off = np.log1p(law.log_mgf_error(z, psi, theta)) + 4 * UNIT * (2 + np.abs(psi))
        psi = np.maximum(psi.real, -1e300) + 1j * psi.imag
        points.times(count * (psi - float(law.log_mgf(theta).real)), count * off)
    turn = (-parts.laplaces.top if mirrored else parts.laplaces.top) - epsilon
    turned = abs(parts.laplaces.top) + abs(epsilon)
    error = points.error + 8 * UNIT * (4 + points.omega * turned)
    return Sampled(
        points.omega,
        np.exp(points.log + 1j * points.omega * turn),
        np.expm1(np.minimum(error, 700.0)),
        points.left_out,
        points.left_out_whole,
    )


def _spread_out(
    items: tuple[tuple[PrivacyLossLaw, int], ...],
) -> list[tuple[PrivacyLossLaw, int]]:
    """The items, reordered so that neighbours differ, as do the points where they return to 1."""
    order = sorted(range(len(items)), key=lambda i: (i * _GOLDEN) % 1.0)
    return [items[i] for i in order]


def log_decay(parts: CountedLaws, theta: float, omega: Floats) -> Floats:
    """Bound on ln abs(M(theta + i w))/M(theta) for every w >= omega > 0; shape of omega.

    0 where nothing is known: the transform of atoms returns to its value on the real axis.
    """
    total = parts.laplaces.log_decay(theta, omega)
    for law, count in parts.others:
        if isinstance(law, GaussianLaw):
            total = total - count * (law.mu * omega) ** 2 / 2 * (1 - 1e-12)
    return total
