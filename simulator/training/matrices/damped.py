"""A normal variable damped by exp(-e^{y + s x}): its normalisation and exact draws.

The density is proportional to exp(-x^2/2 - e^{y + s x}), with s > 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicHermiteSpline
from scipy.special import wrightomega

Floats = NDArray[np.float64]

_REACH = 8.5
"""The normal mass beyond is 2e-17."""
_STRIP = 30.0
"""e^{-30} is the error of the trapezoidal rule."""
_PER_UNIT = 16
"""Nodes of the interpolation in a unit of y; the logarithm bends over 1, or over s if larger."""


def normalisation(y: ArrayLike, s: ArrayLike) -> tuple[Floats, Floats]:
    """Ln of E exp(-e^{y + s x}) for a standard normal x, and its derivative in y.

    By the trapezoidal rule about the mode. The integrand is bounded where |Im x| < pi/(2 s), so the
    error falls as exp(-pi^2/(s h)) in the spacing h, and as exp(-2 pi^2/h^2) for small s.
    """
    places, scales = np.broadcast_arrays(np.asarray(y, dtype=float), np.asarray(s, dtype=float))
    mode = -np.real(wrightomega(places + 2.0 * np.log(scales))) / scales
    spacing = min(0.5, math.pi**2 / (float(scales.max()) * _STRIP))
    many = math.ceil(_REACH / spacing)
    x = mode[..., None] + spacing * np.arange(-many, many + 1)
    powers = np.exp(np.minimum(places[..., None] + scales[..., None] * x, 700.0))
    exponents = -0.5 * x**2 - powers
    peak = exponents.max(axis=-1, keepdims=True)
    weights = np.exp(exponents - peak)
    total = weights.sum(axis=-1)
    log_mean = peak[..., 0] + np.log(total * spacing / math.sqrt(2.0 * math.pi))
    return log_mean, -(weights * powers).sum(axis=-1) / total


def interpolated(low: float, high: float, s: float) -> CubicHermiteSpline:
    """Ln of the normalisation as a function of y in [low, high], to eight digits or more."""
    many = 2 + math.ceil((high - low) * _PER_UNIT)
    nodes = np.linspace(low, high, many)
    return CubicHermiteSpline(nodes, *normalisation(nodes, s))


def draw(y: Floats, s: float, generator: np.random.Generator) -> Floats:
    """One exact draw for each y, by rejection.

    e^z is at least its tangent, so the density is at most that of a normal about the mode m, with
    the ratio exp(-w (e^{s d} - 1 - s d)) at x = m + d, where w = e^{y + s m}.
    """
    omega = np.real(wrightomega(y + 2.0 * math.log(s)))
    found = np.empty(len(y))
    open_ = np.arange(len(y))
    while open_.size:
        d = generator.standard_normal(open_.size)
        w = omega[open_] / s**2
        exponent = w * (np.expm1(np.minimum(s * d, 700.0)) - s * d)
        taken = generator.standard_exponential(open_.size) >= exponent
        found[open_[taken]] = d[taken] - omega[open_[taken]] / s
        open_ = open_[~taken]
    return found
