"""delta of many laws on one lattice of losses, by inverting their transform on a line.

With losses base + h n, the transform has the period 2 pi/h but for a phase, and with z = theta +
i omega, theta > 0, and y in (0, h] the distance from E up to the next point of the lattice,

    delta(E) = (h/2 pi) int M(z) exp(-zE) K(z) d omega over one period,
    K(z) = sum exp(-zx)(1 - exp(-x)) over x = y, y + h, ...
         = exp(-zy) (1 - exp(-y) + exp(-zh)(exp(-y) - exp(-h)))
           / ((1 - exp(-zh))(1 - exp(-(1 + z)h))).

The trapezoidal rule with spacing 2 pi/W, W a multiple of h, adds exp(theta n W) delta(E + nW) as in
:mod:`simulator.theory.pld.smoothed_tail`. Where many laws are multiplied, few points of the line
matter; the FFT of :mod:`simulator.theory.pld.loss_lattice` takes all, but has less rounding.

The second factor of K is at most h in modulus, and abs(1 - exp(-w)) >= c abs(w) where the imaginary
part of w is at most pi and its real part at most a, c = min((1 - exp(-a))/a, (2/pi) exp(-a/2)).
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np

from simulator.theory.laws.base import PrivacyLossLaw, RealOrComplex
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.outward import UNIT
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.loss_lattice import LossLattice
from simulator.theory.pld.pairwise_sums import dot
from simulator.theory.pld.smoothed_tail import Folding, Window
from simulator.theory.pld.tail import TINY, SlopedBracket
from simulator.theory.pld.transform_on_line import Sampled, Scale, sample

_FULL = 700.0


def snapped(parts: CountedLaws, lattice: LossLattice) -> CountedLaws:
    """The laws with their losses on the lattice, but for rounding."""
    items: list[tuple[PrivacyLossLaw, int]] = []
    for (law, count), offsets in zip(parts.items, lattice.offsets):
        losses = law.atom_losses[0] + lattice.step * offsets
        on_it = FiniteLaw(losses, law.atom_log_masses, law.infinite_mass, law.dual_infinite_mass)
        items.append((on_it, count))
    return CountedLaws(tuple(items))


@dataclass(frozen=True)
class LatticeLineTail:
    """One line of integration over a period of the transform."""

    parts: CountedLaws
    lattice: LossLattice
    theta: float
    _: KW_ONLY
    folding: Folding
    centre: float
    line: Sampled
    spacing: float
    scale: Scale

    @classmethod
    def make(
        cls,
        parts: CountedLaws,
        lattice: LossLattice,
        epsilon: float,
        *,
        theta: float,
        window: Window,
        negligible: float,
    ) -> LatticeLineTail:
        """Sample the transform of laws on the lattice on Re z = theta > 0, near ``epsilon``.

        What is ``negligible`` in comparison with M(theta), over all points, is left out. The
        ``parts`` are :func:`snapped`.
        """
        # An odd number of points: all but the first represent their conjugates as well.
        half = math.ceil(window.period / lattice.step / 2)
        window = replace(window, period=(2 * half + 1) * lattice.step)
        spacing = 2 * np.pi / window.period
        grid = spacing * np.arange(half + 1, dtype=np.float64)
        line = sample(parts, theta, grid, 0.0, epsilon=epsilon, negligible=negligible / grid[-1])
        return cls(
            parts,
            lattice,
            theta,
            folding=Folding.of(parts, 0.0, theta, window),
            centre=epsilon,
            line=line,
            spacing=spacing,
            scale=Scale.of(parts, theta),
        )

    @property
    def reach(self) -> float:
        """Beyond a few decay lengths the terms would no longer be centred."""
        return 2 / self.theta

    def at(self, epsilon: float) -> SlopedBracket:
        """Certified bracket of delta(epsilon), with the infinite mass."""
        high, slope = self._sum(epsilon - self.lattice.mismatch, +1)
        low, _ = self._sum(epsilon + self.lattice.mismatch, -1)
        return SlopedBracket.of_delta(low, high + TINY, slope, lost=self.parts.infinite_mass)

    def _sum(self, epsilon: float, sign: int) -> tuple[float, float]:
        """The lattice law's delta, moved up or down by all that is uncertain in it; its slope."""
        shift = epsilon - self.centre
        exponent = self.scale.log - self.theta * epsilon
        if abs(self.theta * shift) > 1e4 or abs(exponent) > _FULL:
            return (1.0 if sign > 0 else 0.0), 0.0
        omega, z = self.line.omega, self.theta + 1j * self.line.omega
        kernel, decay = self._kernels(epsilon, z)
        weight = np.where(omega == 0.0, 0.5, 1.0) * (self.spacing * self.lattice.step / np.pi)
        turned = self.line.ratio * np.exp(-1j * omega * shift) * weight
        terms = turned * kernel
        value = float(terms.real.sum())
        reach = abs(self.lattice.base) + abs(epsilon) + self.lattice.step * self.lattice.points
        wrong = self.line.error + 16 * UNIT * (64 + np.abs(z) * (reach + abs(shift)))
        noise = dot(np.abs(terms), wrong) * (1 + 1e-9) + self._left_out()
        relative = 8 * UNIT * (8 + abs(exponent) + abs(self.theta * epsilon)) + self.scale.slack
        noise += abs(value) * relative
        scale = math.exp(exponent)
        folded = self.folding.at(epsilon) if sign < 0 else 0.0
        slope = -scale * float((turned * decay).real.sum())
        return scale * (value + sign * noise) - folded, slope

    def _left_out(self) -> float:
        """Bound on the points left out."""
        most = (1 + self.theta) * self.lattice.step
        share = min(-math.expm1(-most) / most, 2 / math.pi * math.exp(-most / 2))
        return self.line.left_out * self.spacing / math.pi / share**2 * (1 + 1e-9) + 1e-290

    def _kernels(self, epsilon: float, z: RealOrComplex) -> tuple[RealOrComplex, RealOrComplex]:
        """K(z), and the sum of exp(-(1 + z)x) over the lattice's distances x above E."""
        base, step = self.lattice.base, self.lattice.step
        point = math.floor((epsilon - base) / step) + 1
        y = min(max(base + step * point - epsilon, 0.0), step)
        first, second = -np.expm1(-z * step), -np.expm1(-(1 + z) * step)
        bend = math.exp(-y) * -math.expm1(y - step)
        kernel = np.exp(-z * y) * (-math.expm1(-y) + np.exp(-z * step) * bend) / (first * second)
        return kernel, np.exp(-(1 + z) * y) / second
