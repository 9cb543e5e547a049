"""The hockey-stick curve of two unit-variance Gaussians a distance mu apart, and its inverse."""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import NDArray

from simulator.foundations.errors import NotApplicable
from simulator.foundations.roots import crossing
from simulator.theory.bracket import Bracket
from simulator.theory.inverse import certain_inverse, falling_root

Floats = NDArray[np.float64]

_SQRT_TWO_PI = math.sqrt(2.0 * math.pi)
_UP = 1.0 + 2.0**-49
_CURVE_UP = 1.0 + 2.0**-42
_UNDERFLOW = 1e-307
LEAST_DELTA = 1e-300
"""The least delta whose Gaussian is found."""
_FAR = 40.0
"""Beyond it the normal tail is below the smallest double."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Hockey-stick divergence delta(epsilon) of N(mu, 1) from N(0, 1), any real epsilon.

    In the tail the two terms of the closed form cancel. Their common Gaussian density is factored
    out and only Mills ratios are subtracted, so a delta of 1e-300 keeps its digits.

    Source: Balle and Wang 2018, Theorem 8.
    """
    if mu == 0.0:
        return -math.expm1(min(0.0, epsilon))
    if epsilon < 0.0:
        return -math.expm1(epsilon) + math.exp(epsilon) * gaussian_delta(mu, -epsilon)
    near = epsilon / mu - mu / 2.0
    if abs(near) > _FAR:
        return 0.0 if near > 0.0 else 1.0
    density = math.exp(-0.5 * near * near) / _SQRT_TWO_PI
    if near < -1.0:  # then epsilon / mu + mu / 2 > 0, where Mills' ratio is small
        return float(scipy.special.ndtr(-near)) - density * float(_mills(np.array(near + mu)))
    return density * _mills_drop(near, mu)


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Least epsilon >= 0 with ``gaussian_delta(mu, epsilon) <= delta``, for 0 < delta < 1."""
    # For a very large mu, doubles near mu^2/2 are more than mu apart; the ceiling is the result.
    ceiling = gaussian_epsilon_ceiling(mu, delta)
    return falling_root(lambda epsilon: gaussian_delta(mu, epsilon), delta, ceiling)


def gaussian_epsilon_ceiling(mu: float, delta: float) -> float:
    """An upper bound on the epsilon, as Pr[L > E] bounds delta(E) and L ~ N(mu^2/2, mu^2)."""
    return mu * mu / 2.0 + mu * math.sqrt(2.0 * math.log(1.0 / delta))


def gaussian_delta_bracket(mu: float, epsilon: float) -> Bracket:
    """Bracket of the curve at epsilon >= 0, for a mu known to eight units.

    The curve increases in mu and decreases in epsilon, so moving both covers the rounding of the
    arguments; the Mills ratios and the density are accurate relative to themselves.
    """
    lower = gaussian_delta(mu / _UP, epsilon * _UP) / _CURVE_UP - _UNDERFLOW
    upper = gaussian_delta(mu * _UP, epsilon / _UP) * _CURVE_UP + _UNDERFLOW
    return Bracket(max(0.0, lower), min(1.0, upper))


def gaussian_epsilon_bracket(mu: float, delta: float) -> Bracket:
    """Bracket of the inverse, for 1e-300 <= delta < 1."""
    if mu == 0.0:
        return Bracket(0.0, 0.0)
    return certain_inverse(
        lambda epsilon: gaussian_delta_bracket(mu, epsilon),
        delta,
        start=gaussian_epsilon(mu, delta),
        top=gaussian_epsilon_ceiling(mu, delta) * (1.0 + 2.0**-40),
    )


def _mills(t: Floats) -> Floats:
    return np.asarray(np.sqrt(np.pi / 2) * scipy.special.erfcx(t / np.sqrt(2)))


def _mills_drop(low: float, gap: float) -> float:
    """m(low) - m(low + gap) for Mills' ratio m of the normal law, low >= -1, without cancellation.

    As m' = t m - 1, a short gap is integrated; a long one is a plain difference.
    """
    if gap > 1:
        return float(_mills(np.array(low)) - _mills(np.array(low + gap)))
    t = low + gap * (_NODES + 1) / 2
    # For large t 1 - t m(t) cancels; its continued fraction (depth 60) is exact to rounding.
    slope = np.where(t < 6, 1 - t * _mills(t), _mills_slope_far(np.maximum(t, 6.0)))
    return float(gap / 2 * _WEIGHTS @ slope)


def _mills_slope_far(t: Floats) -> Floats:
    """1 - t m(t) = m(t) c with m = 1/(t + c), c = 1/(t + 2/(t + 3/(t + ...)))."""
    tail = np.zeros_like(t)
    for n in range(60, 0, -1):
        tail = n / (t + tail)
    return tail / (t + tail)


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The mu of the Gaussian pair with this delta(epsilon), up to rounding.

    Raises NotApplicable for a delta below LEAST_DELTA.
    """
    if delta < LEAST_DELTA:
        raise NotApplicable(
            f"a Gaussian curve is found for a delta from {LEAST_DELTA:g}, not {delta!r}"
        )
    return crossing(
        lambda mu: math.log(max(gaussian_delta(mu, epsilon), LEAST_DELTA / 10.0) / delta),
        1e-4,
        60.0,
        xtol=1e-13,
    )
