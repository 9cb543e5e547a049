"""Renyi guarantees as curves over many orders, rounded up."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, logsumexp

from simulator.theory.outward import UNIT
from simulator.theory.parameters import LARGEST
from simulator.theory.renyi_guarantee import RenyiDP

WHOLE_ORDERS: tuple[int, ...] = (*range(2, 65), *range(72, 129, 8), *range(160, 513, 32), 1024)
"""Orders at which sums are written out."""

ORDERS: tuple[float, ...] = (
    *(1.0 + 0.01 * step for step in (1, 2, 5, 10, 20, 30, 40, 50, 60, 80)),
    *(float(order) for order in WHOLE_ORDERS),
)
"""Orders of every other curve."""


def sampled_gaussian_curve(mu: float, rate: float) -> RenyiDP:
    """Renyi DP of the Gaussian mechanism on a Poisson sample, under add-or-remove-one.

    At a whole order a the divergence of the mixture from the Gaussian is ln(A)/(a - 1) with
    A - 1 = sum over k >= 2 of binom(a, k) (1 - q)^(a-k) q^k (exp(mu^2 (k^2 - k)/2) - 1), all terms
    positive; that of the Gaussian from the mixture is no larger. Orders between follow by
    convexity. Rounded up; orders at which nothing finite is left are dropped.

    Source: Mironov, Talwar and Zhang 2019, Theorem 5 (the other direction) and Section 3.3.
    """
    curve = []
    for order in WHOLE_ORDERS:
        k = np.arange(2, order + 1)
        coefficient = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
        logs = np.array([coefficient, (order - k) * np.log1p(-rate), k * math.log(rate)])
        exponent = (k * (k - 1.0)) * (mu * mu / 2)
        with np.errstate(over="ignore", divide="ignore"):
            growth = np.where(
                exponent < 1.0, np.log(np.expm1(exponent)), exponent + np.log1p(-np.exp(-exponent))
            )
        terms = logs.sum(axis=0) + growth
        # Each logarithm is off by a few units of its largest part; gammaln is, of its own value.
        size = float(np.max(np.abs(logs).sum(axis=0) + np.abs(growth) + gammaln(order + 1)))
        log_excess = float(logsumexp(terms)) + 32.0 * UNIT * (size + order + 4.0)
        log_sum = math.log1p(math.exp(log_excess)) if log_excess < 700.0 else log_excess + 1e-300
        value = log_sum / (order - 1) * (1.0 + 16.0 * UNIT)
        if math.isfinite(value) and value <= LARGEST:
            curve.append((float(order), value))
    orders, values = zip(*curve)
    return RenyiDP(orders, values)
