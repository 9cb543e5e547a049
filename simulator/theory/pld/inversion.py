"""delta(epsilon) of any composition by inverting its transform: certified, without a grid.

With S the total loss, M(z) = E0[exp(zS); S finite] and U ~ N(s^2/2, s^2) independent, so that
E[exp(-U)] = 1, the transform of S + U is M(z) exp(s^2 z(1+z)/2), and for every theta > 0

    delta_s(E) = E0[(1 - exp(E - S - U))_+]
               = (1/2 pi) int M(z) exp(s^2 z(1+z)/2 - zE) / (z(1+z)) d omega,   z = theta + i omega.

Dominance. (1 - exp(E - l))_+ is convex in exp(-l) and E[exp(-U)] = 1, so by Jensen
delta <= delta_s: S + U is a pessimistic law. The excess of the smoothed function over the kinked
one at distance y = l - E from the kink is the time value of a Black-Scholes option, the integral
of its vega over volatilities up to s, hence at most s^2 exp(s^2/8) times the density of U at -y.
Taking expectations, with p_s the density of S + U,

    delta_s(E) - s^2 exp(s^2/8) p_s(E) <= delta(E) <= delta_s(E).

The gap is second order in s and does not grow with the number of rounds, and the line may run
through the saddle point (exponential tilting), so relative accuracy survives in the far tail.
For -1 < theta < 0 the same integral is -(1 - delta_s(E)), which serves large delta.

Trapezoidal rule with spacing 2 pi/W: by Poisson summation its error is exactly
sum_{n != 0} exp(theta n W) delta_s(E + nW), of known sign and bounded by Chernoff. The sum stops
at Omega; what is cut off is bounded through exp(-s^2 omega^2/2). Rounding is added up term by term.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy.special import erfc, xlogy

from simulator.theory.laws.base import Floats, RealOrComplex
from simulator.theory.pld.certified_tail import TailValue
from simulator.theory.pld.parts import Parts

_CUTOFF = 8.8  # s * Omega: exp(-8.8^2/2) is 1.5e-17
_UNIT = float(np.finfo(float).eps)
_CHUNK = 1 << 14
MAX_POINTS = 1 << 20
MAX_WORK = 1 << 28
_ALIAS = np.log(1e-15)
_FULL = 705.0
#: A bound on delta below this cannot be told from underflow.
_TINY = 1e-307


def _chernoff_constant(theta: Floats) -> Floats:
    """Logarithm of sup_y (1 - e^-y)_+ e^(-theta y) = theta^theta/(1+theta)^(1+theta); 0 below 0.

    (1 - e^-y)_+ <= c e^(theta y) for theta > 0 (Canonne, Kamath, Steinke 2020, Lemma 9), and
    min(1, e^-y) <= e^(theta y) for theta in [-1, 0].
    """
    positive = np.maximum(theta, 0.0)
    return np.asarray(xlogy(positive, positive) - xlogy(1 + positive, 1 + positive))


@dataclass(frozen=True)
class Window:
    """A period W, and the exponents that bound the mass folded in from above and from below."""

    period: float
    theta_above: float
    theta_below: float


def choose_window(
    parts: Parts, epsilon: float, theta: float, smoothing: float, log_value: float
) -> Window:
    """The shortest period whose folded mass is about 1e-15 of exp(log_value), an estimate."""
    reach = np.logspace(-8, 3, 221) * max(theta, 1.0)
    # delta takes Chernoff exponents >= 0, 1 - delta those in [-1, 0].
    least, most = (0.0, np.inf) if theta > 0 else (-1.0, 0.0)
    above = np.minimum(theta + reach, most)
    below = np.maximum(theta - reach, least)

    def need(other: Floats) -> tuple[float, float]:
        log_bound = _log_bound(parts, smoothing, other) - other * epsilon
        width = np.maximum(log_bound - log_value - _ALIAS, 1.0) / np.abs(other - theta)
        best = int(np.argmin(width))
        return float(width[best]), float(other[best])

    (up, theta_above), (down, theta_below) = need(above), need(below)
    return Window(max(up, down), theta_above, theta_below)


def _log_bound(parts: Parts, smoothing: float, theta: Floats) -> Floats:
    smooth = smoothing**2 * theta * (1 + theta) / 2
    return np.asarray(parts.log_mgf(theta) + smooth + _chernoff_constant(theta))


@dataclass(frozen=True)
class SmoothedTail:
    """One line of integration: the weights of its points, ready to be summed at any epsilon."""

    parts: Parts
    theta: float
    _: KW_ONLY
    smoothing: float
    window: Window
    centre: float
    omega: Floats
    terms: RealOrComplex
    log_scale: float
    value_noise: float
    density_noise: float

    @classmethod
    def make(
        cls, parts: Parts, epsilon: float, theta: float, smoothing: float, window: Window
    ) -> SmoothedTail:
        """Sample the transform on Re z = theta, for use near ``epsilon``."""
        spacing = 2 * np.pi / window.period
        omega = spacing * np.arange(points_needed(window.period, smoothing) + 1, dtype=np.float64)
        log_scale = float(parts.log_mgf(np.array(theta))) - theta * epsilon
        log_scale += smoothing**2 * theta * (1 + theta) / 2
        terms = np.empty(omega.shape, dtype=complex)
        value_noise = density_noise = 0.0
        for start in range(0, omega.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            z = theta + 1j * omega[part]
            log_m, error = parts.log_mgf_with_error(z, theta)
            log_m += smoothing**2 * z * (1 + z) / 2 - z * epsilon
            terms[part] = np.exp(log_m - log_scale) * (spacing / np.pi)
            error += 8 * _UNIT * (4 + np.abs(z) * abs(epsilon) + np.abs(log_m))
            wrong = np.abs(terms[part]) * error
            density_noise += float(wrong.sum())
            value_noise += float((wrong / np.abs(z * (1 + z))).sum())
        terms[0] /= 2
        # What is cut off: the integral of the Gaussian factor beyond the last point.
        cut = smoothing * omega[-1] / np.sqrt(2)
        rest = float(erfc(cut)) / (np.sqrt(2 * np.pi) * smoothing)
        return cls(
            parts, theta, smoothing=smoothing, window=window, centre=epsilon, omega=omega,
            terms=terms, log_scale=log_scale,
            value_noise=value_noise + rest / omega[-1] ** 2, density_noise=density_noise + rest,
        )  # fmt: skip

    @property
    def reach(self) -> float:
        """Beyond a few decay lengths the terms would no longer be centred."""
        return 2 / max(abs(self.theta), 1e-300)

    def at(self, epsilon: float) -> TailValue:
        """Certified bracket of delta(epsilon), with the infinite mass."""
        shift = epsilon - self.centre
        exponent = self.log_scale - self.theta * shift
        if abs(self.theta * shift) > 1e4 or exponent > _FULL:
            return TailValue(0.0, 1.0, 0.0)
        turned = self.terms * np.exp(-1j * self.omega * shift)
        z = self.theta + 1j * self.omega
        # Below the range of doubles the bracket is [0, tiny].
        scale = float(np.exp(max(exponent, -_FULL)))
        turning = 8 * _UNIT * (2 + self.omega * abs(shift))
        inner = turned / (1 + z)
        value = float((inner / z).real.sum())
        noise = self.value_noise + float(np.abs(inner / z) @ turning)
        density = float(turned.real.sum()) + self.density_noise + float(np.abs(turned) @ turning)
        slope = -float(inner.real.sum()) * scale
        relative = 8 * _UNIT * (4 + abs(self.log_scale) + abs(self.theta * epsilon))
        noise += abs(value) * relative
        gap = self.smoothing**2 * np.exp(self.smoothing**2 / 8) * density * (1 + relative)
        folded = self._folded(epsilon)
        low = scale * (abs(value) - noise) - folded
        high = scale * (abs(value) + noise)
        if self.theta > 0:
            lost = self.parts.infinite_mass
            low, high = max(low - scale * gap, 0.0), high + _TINY
            low = low if exponent > -_FULL else 0.0
            return _clip(low + lost * (1 - 1e-14), high + lost * (1 + 1e-14), slope)
        return _clip(1 - high - scale * gap, 1 - low, slope)

    def _folded(self, epsilon: float) -> float:
        """Chernoff bound on the mass that the trapezoidal rule adds from other periods."""
        total = 0.0
        for other in (self.window.theta_above, self.window.theta_below):
            log_bound = float(_log_bound(self.parts, self.smoothing, np.array(other)))
            decay = abs(other - self.theta) * self.window.period
            log_expm1 = decay + np.log(-np.expm1(-decay))
            total += float(np.exp(min(log_bound - other * epsilon - log_expm1, 700.0)))
        return 2 * total  # twice: the exponents are large numbers, and rounded


def points_needed(period: float, smoothing: float) -> int:
    """How many points the trapezoidal rule takes."""
    return int(np.ceil(_CUTOFF / smoothing * period / (2 * np.pi))) + 1


def coarsest_fit(period: float, work: int) -> float:
    """The least smoothing whose points fit memory (a million of them) and patience."""
    points = min(MAX_POINTS, max(MAX_WORK // work, 1 << 12))
    return float(_CUTOFF * period / (2 * np.pi * points))


def _clip(lower: float, upper: float, slope: float) -> TailValue:
    lower = min(max(lower, 0.0), 1.0)
    return TailValue(lower, max(lower, min(upper, 1.0)), slope)
