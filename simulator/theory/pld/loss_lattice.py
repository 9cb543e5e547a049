"""Exact composition of laws whose losses share a lattice, by tilted FFT.

Every law is tilted, p(l) -> p(l) exp(theta l - psi(theta)), so that the bulk of the composed law
sits at the epsilon in question; the FFT's absolute error is then relative to delta there. The
transform is as long as the composed support: nothing wraps round, nothing is cut, no grid error.
Rounding is bounded in the 2-norm, where the FFT is stable (Higham, Accuracy and Stability of
Numerical Algorithms, 2nd ed., Theorem 24.2), and meets the weights through Cauchy-Schwarz.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from simulator.theory.lattice import MAX_POINTS, common_step
from simulator.theory.laws.base import Floats, PrivacyLossLaw, RealOrComplex
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.pairwise_sums import dot, norm
from simulator.theory.pld.tail import TINY, SlopedBracket

_UNIT = float(np.finfo(float).eps)
_UNSEEN = -90.0
"""Logarithm below which the product's transform counts as zero, far below rounding."""
_FEW = 16
"""Laws with at most this many atoms are transformed term by term: more accurate than an FFT."""


@dataclass(frozen=True)
class LossLattice:
    """Total losses base + step * n, n = 0 .. points-1; ``offsets[i]`` places the i-th law on it.

    ``mismatch`` bounds |total loss - its lattice point| (losses are rounded numbers).
    """

    base: float
    step: float
    points: int
    offsets: tuple[NDArray[np.int64], ...]
    mismatch: float

    @classmethod
    def of(cls, parts: CountedLaws) -> LossLattice | None:
        """The coarsest common lattice; None where there is none of manageable size."""
        if not all(law.is_discrete and law.atom_losses.size for law, _ in parts.items):
            return None
        rises = [law.atom_losses - law.atom_losses[0] for law, _ in parts.items]
        step = common_step(np.concatenate(rises))
        spans = [rise[-1] * count for rise, (_, count) in zip(rises, parts.items)]
        if step is None or sum(spans) / step >= MAX_POINTS:
            return None
        offsets = tuple(np.rint(rise / step).astype(np.int64) for rise in rises)
        counts = [count for _, count in parts.items]
        off = [np.abs(rise - n * step).max() for rise, n in zip(rises, offsets)]
        base, _ = parts.support
        scale = max(abs(parts.support[0]), abs(parts.support[1]))
        mismatch = float(np.dot(counts, off)) + 4 * _UNIT * scale + parts.loss_error
        points = int(sum(count * int(n[-1]) for count, n in zip(counts, offsets))) + 1
        return cls(base, step, points, offsets, mismatch)


@dataclass(frozen=True)
class LossLatticeTail:
    """The tilted law of the total loss on its lattice, ready to be summed at any epsilon."""

    parts: CountedLaws
    lattice: LossLattice
    theta: float
    _: KW_ONLY
    pmf: Floats
    log_scale: float
    noise: float

    @classmethod
    def make(cls, parts: CountedLaws, lattice: LossLattice, theta: float) -> LossLatticeTail:
        """Compose at tilt ``theta`` >= 0."""
        length = scipy.fft.next_fast_len(lattice.points, real=True)
        product, log_scale = CircularProduct(length), 0.0
        for (law, count), offsets in zip(parts.items, lattice.offsets):
            masses, log_total, rounding = _tilted(law, theta)
            log_scale += count * log_total
            phi, wrong, inexact = _transform(masses, offsets, length)
            product.add(phi, wrong + rounding, inexact, count)
        pmf, noise = product.law()
        return cls(
            parts, lattice, theta, pmf=pmf[: lattice.points], log_scale=log_scale, noise=noise
        )

    @property
    def reach(self) -> float:
        """Beyond a few decay lengths another tilt would serve better."""
        return 2 / max(self.theta, 1e-3)

    def at(self, epsilon: float) -> SlopedBracket:
        """Certified bracket of delta(epsilon), with the infinite mass."""
        above, slope = self._sum(epsilon - self.lattice.mismatch, +1)
        below, _ = self._sum(epsilon + self.lattice.mismatch, -1)
        return SlopedBracket.of_delta(below, above + TINY, slope, lost=self.parts.infinite_mass)

    def _sum(self, epsilon: float, sign: int) -> tuple[float, float]:
        """Sum of the lattice law, delta at epsilon, moved up or down by its rounding; its slope."""
        first = max(int(np.floor((epsilon - self.lattice.base) / self.lattice.step)) - 1, 0)
        # exp(-theta y) has died out after 750 decay lengths; without a tilt it never does.
        decay_rate = self.theta * self.lattice.step
        many = min(750 / decay_rate, self.lattice.points) if decay_rate > 1e-9 else np.inf
        index = np.arange(first, min(first + 4 + many, self.lattice.points)).astype(np.int64)
        y = self.lattice.base + self.lattice.step * index - epsilon
        index, y = index[y > 0], y[y > 0]
        decay = np.exp(-self.theta * y)
        weights = decay * -np.expm1(-y)
        top = self.lattice.base + self.lattice.step * (self.lattice.points - 1)
        exponent = self.log_scale + self.theta * (top - epsilon)
        relative = 8 * _UNIT * (8 + abs(self.log_scale) + self.theta * abs(top - epsilon))
        relative += 2 * self.parts.loss_error
        value = dot(weights, self.pmf[index])
        noise = norm(weights) * self.noise + abs(value) * relative
        scale = float(np.exp(min(exponent, 700.0)))
        slope = -scale * dot(decay * np.exp(-y), self.pmf[index])
        return scale * (value + sign * noise), slope


class CircularProduct:
    """The law of a sum on a circle of ``length`` points, from the transforms of its terms.

    Transforms are at most about 1, so the error of a power is the error of its base times the
    number of rounds. No factor is stored.
    """

    def __init__(self, length: int) -> None:
        self.length = length
        size = length // 2 + 1
        self._log_phi = np.zeros(size, dtype=complex)
        self._error, self._log_most = np.zeros(size), np.zeros(size)
        self._seen = np.arange(size)  # the frequencies whose product may still matter
        self._growth = self._inexact = 0.0

    def add(self, phi: RealOrComplex, wrong: float, inexact: float, count: int) -> None:
        """Multiply by the transform ``phi`` of one round's law, to the power ``count``.

        ``wrong`` bounds one part of its error at each frequency, ``inexact`` the 2-norm of the
        other part.
        """
        near = phi[self._seen]
        size = np.abs(near)
        most = self._log_most[self._seen] + count * np.log(size + wrong + inexact + 1e-300)
        kept = most > _UNSEEN
        self._seen, near, size = self._seen[kept], near[kept], np.maximum(size[kept], 1e-300)
        self._log_most[self._seen] = most[kept]
        logs = np.log(np.where(size > 1e-300, near, 1e-300))
        self._log_phi[self._seen] += count * logs
        self._error[self._seen] += count * (np.log1p(wrong / size) + 4 * _UNIT * (4 + np.abs(logs)))
        self._growth += count * (wrong + 2 * inexact)
        self._inexact += count * inexact

    def law(self) -> tuple[Floats, float]:
        """The masses, shape (length,), and a bound on the 2-norm of their error."""
        seen, log_phi, error = self._seen, self._log_phi[self._seen], self._error[self._seen]
        transform = np.zeros(self._log_phi.size, dtype=complex)
        transform[seen] = np.exp(log_phi)
        pmf = scipy.fft.irfft(transform, n=self.length)
        # 2-norms over the full circle; each inner frequency counts for itself and its conjugate.
        # Dropped frequencies are below this: factors are at most 1 + wrong + inexact, see growth.
        small = np.abs(transform[seen]) * np.expm1(np.minimum(error, 1.0))
        growth = float(np.exp(min(self._growth, 700.0)))
        amiss = np.full(transform.size, 2 * np.exp(_UNSEEN) * growth)
        amiss[seen] = np.where(error < 1, small, np.exp(np.minimum(log_phi.real + error, 700.0)))
        drift = np.sqrt(2.0) * (norm(amiss) + self._inexact * growth)
        inverse = 8 * _UNIT * np.log2(self.length + 1) * norm(pmf)
        return pmf, drift / np.sqrt(self.length) + inverse


def _tilted(law: PrivacyLossLaw, theta: float) -> tuple[Floats, float, float]:
    """Tilted masses, ln of their total before scaling, and the rounding of a transform of them.

    Losses are counted from the greatest one: a strong tilt then leaves its exponents small.
    """
    exponents = law.atom_log_masses + theta * (law.atom_losses - law.atom_losses[-1])
    top = float(exponents.max())
    log_total = top + float(np.log(np.exp(exponents - top).sum()))
    masses = np.exp(exponents - log_total)
    size = 4 + np.abs(exponents) + np.abs(law.atom_log_masses) + abs(log_total)
    return masses, log_total, 4 * _UNIT * dot(masses, size)


def _transform(
    masses: Floats, offsets: NDArray[np.int64], length: int
) -> tuple[RealOrComplex, float, float]:
    """Discrete Fourier transform of masses at offsets on a circle, and bounds on its error.

    They are for one part of it at each frequency, and for the 2-norm of the other.
    """
    if masses.size <= _FEW:
        turns = np.outer(np.arange(length // 2 + 1), offsets) % length
        return (np.exp(-2j * np.pi / length * turns) * masses).sum(axis=1), 8 * _UNIT, 0.0
    spread = np.asarray(np.bincount(offsets, weights=masses, minlength=length), dtype=np.float64)
    size = norm(spread) * np.sqrt(length)
    return scipy.fft.rfft(spread), 0.0, 8 * _UNIT * np.log2(length + 1) * size
