"""Logarithms of binomial probabilities, accurate in the far tails, and their errors."""

from __future__ import annotations

import math

import numpy as np
import scipy

from simulator.theory.laws.base import Floats
from simulator.theory.outward import UNIT


def log_binomial_error(
    rounds: int | Floats, successes: Floats, log_p: float, log_q: float
) -> Floats:
    """Bound on the absolute error of :func:`log_binomial`, log_p and log_q being rounded too.

    Both are assumed to be off by four units of (1 + abs(log_p) + abs(log_q)), so the relative error
    of each mean is ``size`` units. The deviance is stationary where offset = x - mean is 0, so its
    error is proportional to the offset.
    """
    failures = rounds - successes
    size = 8.0 * (1.0 + abs(log_p) + abs(log_q))
    mean_1, mean_0 = rounds * math.exp(log_p), rounds * math.exp(log_q)
    offset = np.abs(mean_0 - failures if log_q < log_p else successes - mean_1)
    edge = rounds * np.where(successes == 0, abs(log_q), abs(log_p))
    inner = (successes > 0) & (failures > 0)
    return np.asarray(UNIT * (256.0 + np.where(inner, 32.0 * size * offset, 8.0 * edge)))


def log_binomial(rounds: int | Floats, successes: Floats, log_p: float, log_q: float) -> Floats:
    """Logarithms of binomial probabilities, by Loader's deviance form.

    ``rounds`` is one number, or one for each of the ``successes``.

    The large cancelling logarithms of factorials are replaced by Stirling's error and the
    deviance, so the absolute error is near 1e-15 times the deviation, not times ln k!.

    Source: Loader 2000, "Fast and accurate computation of binomial probabilities".
    """
    failures = rounds - successes
    mean_1, mean_0 = rounds * math.exp(log_p), rounds * math.exp(log_q)
    offset = mean_0 - failures if log_q < log_p else successes - mean_1  # successes - mean
    inner = (successes > 0) & (failures > 0)
    x, y, d = successes[inner], failures[inner], offset[inner]
    n = rounds[inner] if isinstance(rounds, np.ndarray) else np.array([float(rounds)])
    result = np.asarray(rounds * np.where(successes == 0, log_q, log_p))
    result[inner] = (
        _stirling_error(n)
        - _stirling_error(x)
        - _stirling_error(y)
        - _deviance(x, n * math.exp(log_p), d)
        - _deviance(y, n * math.exp(log_q), -d)
        + 0.5 * (np.log(n / (2.0 * math.pi)) - np.log(x) - np.log(y))
    )
    return result


def _stirling_error(n: Floats) -> Floats:
    """Logarithm of n! minus Stirling's formula, for n >= 1."""
    small = scipy.special.gammaln(np.minimum(n, 16.0) + 1.0) - (
        0.5 * np.log(2.0 * np.pi * np.minimum(n, 16.0))
        + np.minimum(n, 16.0) * (np.log(np.minimum(n, 16.0)) - 1.0)
    )
    square = 1.0 / (n * n)
    series = 1 / 1188 - square * (691 / 360360)
    series = 1 / 1680 - square * series
    series = 1 / 1260 - square * series
    series = 1 / 360 - square * series
    series = (1 / 12 - square * series) / n
    return np.where(n > 15.0, series, small)


def _deviance(x: Floats, mean: Floats, offset: Floats) -> Floats:
    """Deviance x ln(x / mean) + mean - x, given offset = x - mean without cancellation."""
    with np.errstate(divide="ignore", over="ignore"):  # a mean that underflows, or nearly
        apart = np.log(x / mean)
    near = np.abs(offset) < 0.1 * mean
    apart[near] = np.log1p(offset[near] / np.broadcast_to(mean, x.shape)[near])
    return np.asarray(x * apart - offset)
