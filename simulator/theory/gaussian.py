"""The hockey-stick curve of two unit-variance Gaussians a distance mu apart, and its inverse."""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.special import erfcx, log_ndtr, ndtr

_SQRT_HALF_PI = math.sqrt(math.pi / 2.0)
_SQRT_TWO_PI = math.sqrt(2.0 * math.pi)


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Hockey-stick divergence delta(epsilon) of N(mu, 1) from N(0, 1), any real epsilon.

    In the tail the two terms of the textbook formula cancel, so their common Gaussian density is
    taken out and only Mills ratios are subtracted: a delta of 1e-300 keeps its digits.

    Source: Balle and Wang 2018, Theorem 8.
    """
    if mu == 0.0:
        return -math.expm1(min(0.0, epsilon))
    if epsilon < 0.0:
        return -math.expm1(epsilon) + math.exp(epsilon) * gaussian_delta(mu, -epsilon)
    near, far = epsilon / mu - mu / 2.0, epsilon / mu + mu / 2.0
    if near < 0.0:
        overlap = math.exp(min(0.0, epsilon + float(log_ndtr(-far))))
        return max(0.0, float(ndtr(-near)) - overlap)
    density = math.exp(-0.5 * near * near) / _SQRT_TWO_PI
    mills = _SQRT_HALF_PI * (
        float(erfcx(near * math.sqrt(0.5))) - float(erfcx(far * math.sqrt(0.5)))
    )
    return density * mills


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Least epsilon >= 0 with ``gaussian_delta(mu, epsilon) <= delta``, for 0 < delta < 1."""
    if gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    # Pr[L > E] bounds delta(E), and L is normal with mean mu^2/2 and deviation mu.
    high = mu * mu / 2.0 + mu * math.sqrt(2.0 * math.log(1.0 / delta))

    if gaussian_delta(mu, high) > delta:
        return high  # floats near mu^2 / 2 are spaced more widely than mu: nothing finer to find

    def excess(epsilon: float) -> float:
        return math.log(max(gaussian_delta(mu, epsilon), 5e-324)) - math.log(delta)

    return float(brentq(excess, 0.0, high, xtol=1e-15 * max(high, 1e-300), rtol=1e-14))
