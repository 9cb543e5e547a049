"""E[(S - b)_+] of a sum of many independent terms on a lattice, by a tilted transform, enclosed.

With K(theta) = n ln E e^(theta G) and theta such that the tilted mean of S is b, the expectation is
e^(K(theta)) times a sum of the tilted probabilities of S weighted by (s - b) e^(-theta s), all near
the mean. These come from one discrete Fourier transform of length L. What it wraps is bounded by
Chernoff's inequality, its round-off by that of a transform of a probability vector: at most
8 log2(L) units in each entry.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from simulator.foundations.errors import NotApplicable
from simulator.foundations.roots import crossing
from simulator.theory.bracket import Bracket
from simulator.theory.laws.base import Floats
from simulator.theory.outward import UNIT

_REACH = 9.0  # deviations of the tilted sum on either side of b
_LONGEST = 1 << 23


@dataclass(frozen=True, eq=False)
class LatticeTerms:
    """``count`` independent terms with values step * (first + i) and probabilities ``masses[i]``.

    ``wrong`` bounds the relative error of each probability.
    """

    step: float
    first: int
    masses: Floats
    count: int
    wrong: float = 64.0 * UNIT

    @classmethod
    def spread(
        cls, values: Floats, masses: Floats, count: int, step: float, wrong: float
    ) -> LatticeTerms:
        """Each mass split onto the points around its value, with its mean; the rest is at 0.

        In convex order the law rises.
        """
        place = values / step
        below = np.floor(place)
        up = masses * (place - below)
        index = np.concatenate((below, below + 1.0, [0.0])).astype(np.int64)
        rest = max(0.0, 1.0 - math.fsum(masses))
        first = int(index.min())
        parts = np.concatenate((masses - up, up, [rest]))
        split = np.bincount(index - first, parts).astype(np.float64)
        return cls(step, first, split, count, wrong)

    @property
    def _values(self) -> Floats:
        return self.step * (self.first + np.arange(self.masses.size, dtype=np.float64))

    def _log_mgf(self, theta: float) -> tuple[float, Floats]:
        """Logarithm of E e^(theta G) of one term, and the tilted probabilities."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.masses) + theta * self._values
        top = float(logs.max())
        weights = np.exp(logs - top)
        total = float(weights.sum())
        return top + math.log(total), weights / total

    def _tilted(self, theta: float) -> tuple[float, float, float]:
        """K(theta), and mean and variance of the tilted sum."""
        log_mgf, weights = self._log_mgf(theta)
        mean = float(weights @ self._values)
        variance = float(weights @ (self._values - mean) ** 2)
        return self.count * log_mgf, self.count * mean, self.count * variance

    def excess(self, threshold: float = 0.0) -> Bracket:
        """Bracket of E[(S - threshold)_+], for a threshold of at least the mean of S.

        Raises NotApplicable where the transform would be too long.
        """
        if self.count * float(self._values[-1]) <= threshold:
            return Bracket(0.0, 0.0)
        theta = self._tilt(threshold)
        log_scale, _, variance = self._tilted(theta)
        spread = math.sqrt(variance) + self.step
        reach = _REACH * spread + self.step * self.masses.size
        length = 1 << max(4, math.ceil(math.log2(2.0 * reach / self.step + 2.0)))
        if length > _LONGEST or self.masses.size > length:
            raise NotApplicable("the sum needs a longer transform than is computed")
        sums, each = self._transformed(theta, length)
        centre = math.floor(threshold / self.step)
        points = centre + 1 + np.arange(math.floor(reach / self.step), dtype=np.int64)
        gains = self.step * points - threshold
        weights = np.maximum(gains, 0.0) * np.exp(-theta * gains)
        seen = np.maximum(sums[points % length], 0.0)
        scale = math.exp(log_scale - theta * threshold)
        far = [self._far(theta, sign, threshold, reach, log_scale) for sign in (1, -1)]
        wrapped = sum(far) * float(weights.max())
        most = float(weights.sum()) * each
        slack = self.count * (self.wrong + 32.0 * UNIT) + UNIT * (
            64.0 * (abs(log_scale) + abs(theta * threshold)) + points.size
        )
        low = scale * (float(weights @ seen) - most - wrapped) * (1.0 - slack)
        beyond = far[0] * (reach + spread) * math.exp(-theta * reach)
        high = scale * (float(weights @ seen) + most + beyond) * math.exp(slack)
        return Bracket(max(0.0, low), max(high, 0.0))

    def _tilt(self, threshold: float) -> float:
        """The theta >= 0 whose tilted mean is ``threshold``."""

        def short(theta: float) -> float:
            return self._tilted(theta)[1] - threshold

        if short(0.0) >= 0.0:
            return 0.0
        high = 1.0 / (self.step * self.masses.size)
        while short(high) < 0.0:
            high *= 2.0
            if high > 1e6 / self.step:
                return high
        return crossing(short, 0.0, high, rtol=1e-9)

    def _transformed(self, theta: float, length: int) -> tuple[Floats, float]:
        """Tilted probabilities of S modulo ``length``, and a bound on the error of each."""
        _, weights = self._log_mgf(theta)
        spectrum = scipy.fft.rfft(weights, length)
        size, unit = np.abs(spectrum), 8.0 * math.log2(length) * UNIT
        with np.errstate(divide="ignore"):
            log_size = self.count * np.log(size)
        power = np.exp(log_size)
        shift = self.first * self.count % length
        phase = self.count * np.angle(spectrum)
        wave = np.exp(1j * phase) * power
        turned = np.exp(-2j * np.pi / length * (shift * np.arange(size.size) % length))
        sums = scipy.fft.irfft(wave * turned, length)
        off = np.exp(self.count * np.log(size + unit)) - power
        off += (
            power
            * UNIT
            * (
                16.0 * self.count
                + 64.0
                + 2.0 * np.abs(log_size, where=power > 0, out=np.zeros_like(power))
            )
        )
        each = 2.0 * (float(off.sum()) + unit * float(power.sum())) / length
        return np.asarray(sums), each

    def _far(
        self, theta: float, sign: int, threshold: float, reach: float, log_scale: float
    ) -> float:
        """Bound on the tilted probability beyond ``reach`` on one side, by Chernoff's inequality.

        Also on E[(S - threshold) over its bound], as the exponent is at least 1/reach.
        """
        spread = reach / _REACH
        found = math.inf
        for share in (0.25, 0.5, 1.0):
            extra = max(share * _REACH / spread, 1.0 / reach)
            moved = self._tilted(theta + sign * extra)[0]
            exponent = moved - log_scale - sign * extra * (threshold + sign * reach)
            found = min(found, exponent)
        return math.exp(min(700.0, found))
