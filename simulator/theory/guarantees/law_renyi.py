"""Renyi divergences of privacy-loss laws, rounded up."""

from __future__ import annotations

import math

import numpy as np
import scipy

from simulator.theory.guarantees.renyi_divergence import pure_renyi
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.theory.laws.subsampled import PoissonSubsampledLaw, mixed_loss
from simulator.theory.outward import UNIT, not_lost
from simulator.theory.pld.grid_laws import enclosing_grid_laws, round_step

_UP, _LOST = 1.0 + 1e-9, 1e-14
"""Margins above the error of quadrature and rounding in a Renyi divergence."""
_CELLS = 1 << 14
_REACH = 39.0
_LARGEST_FRACTION, _LARGEST_SUM = 500.0, 5000.0
"""A fractional order beyond the first is bounded by the whole orders around it, any order beyond
the second by convexity."""
_MOST_NODES = 1e6
"""Most nodes of a quadrature; beyond, the whole orders around a fractional one are used."""


def sampled_gaussian_renyi(sigma: float, rate: float, alpha: float) -> float:
    """D_alpha of the mixture from the noise: ln E[(1 - q + q e^m)^alpha]/(alpha - 1)."""
    if alpha > _LARGEST_SUM:  # (1 - q + q r)^alpha <= 1 - q + q r^alpha
        exponent = math.log(rate) + alpha * (alpha - 1.0) / (2.0 * sigma**2)
        return _rounded_up(float(np.logaddexp(math.log1p(-rate), exponent)) / (alpha - 1.0))
    if alpha == math.floor(alpha):
        k = np.arange(alpha + 1.0)
        logs = (
            scipy.special.gammaln(alpha + 1)
            - scipy.special.gammaln(k + 1)
            - scipy.special.gammaln(alpha - k + 1)
        )
        logs = logs + k * math.log(rate) + (alpha - k) * math.log1p(-rate)
        logs = logs + k * (k - 1.0) / (2.0 * sigma**2)
        # The terms k = 0 and 1, close to 1 together, are summed apart so that the sum keeps its
        # digits.
        far = float(scipy.special.logsumexp(logs[2:])) if alpha >= 2.0 else -math.inf
        near = (alpha - 1.0) * math.log1p(-rate) + math.log1p((alpha - 1.0) * rate)
        total = (
            np.logaddexp(near, far) if far > -1.0 else math.log1p(math.expm1(near) + math.exp(far))
        )
        return _rounded_up(float(total) / (alpha - 1.0))
    mu = 1.0 / sigma
    low, high = -_REACH, alpha * mu + _REACH
    # The trapezoidal rule's error decreases with the distance pi/mu of the poles over the spacing.
    spacing = 0.25 * min(1.0, sigma)
    if alpha > _LARGEST_FRACTION or high - low > _MOST_NODES * spacing:
        # (alpha - 1) D is convex in alpha, and 0 at alpha = 1: below its chord
        least, most = math.floor(alpha), math.ceil(alpha)
        share = alpha - least
        ends = [
            (order - 1.0) * sampled_gaussian_renyi(sigma, rate, order) if order > 1 else 0.0
            for order in (least, most)
        ]
        return _rounded_up(((1.0 - share) * ends[0] + share * ends[1]) / (alpha - 1.0))
    z = np.arange(low, high, spacing)
    log_odds = mu * (z - mu / 2.0)
    loss = mixed_loss(log_odds, rate)
    logs = -(z**2) / 2.0
    # The mean of the ratio, 1, is subtracted so that a small divergence keeps its digits.
    rise = np.expm1(np.minimum(alpha * loss, 700.0)) - alpha * np.expm1(np.minimum(loss, 700.0))
    if float((alpha * loss).max()) < 700.0:
        weights = np.exp(logs) / np.exp(logs).sum()
        total = float(weights @ rise) + 16.0 * UNIT * alpha * float(weights @ np.abs(loss))
        return _rounded_up(math.log1p(max(total, 0.0)) / (alpha - 1.0))
    whole = float(scipy.special.logsumexp(logs + alpha * loss) - scipy.special.logsumexp(logs))
    return _rounded_up(whole / (alpha - 1.0))


def law_renyi(law: PrivacyLossLaw, alpha: float) -> float:
    """Bound on the Renyi divergence of a law in the worse direction."""
    if law.infinite_mass > 0.0 or law.dual_infinite_mass > 0.0:
        return math.inf
    if isinstance(law, GaussianLaw):
        return not_lost(alpha * law.mu**2 / 2.0)
    # Not valid for sampling without replacement, whose pair joins both directions and is larger.
    if isinstance(law, PoissonSubsampledLaw) and isinstance(law.base, GaussianLaw):
        return _rounded_up(sampled_gaussian_renyi(1.0 / law.base.mu, law.rate, alpha))
    if not math.isfinite(law.support[1] - law.support[0]):
        return math.inf
    found, largest = 0.0, max(map(abs, law.support))
    for side in (law, law.reversed()):
        if law.is_discrete or isinstance(law, LaplaceLaw):
            moment = float(side.log_mgf(alpha - 1.0).real)
        else:
            # exp((alpha - 1) L) is convex in exp(-L), so the upper grid law has the larger mean.
            low, high = side.support
            step = round_step((high - low) / _CELLS)
            _, upper = enclosing_grid_laws(side, step, (low, high), alpha - 1.0)
            exponents = (alpha - 1.0) * (upper.losses + upper.slack)
            moment = float(scipy.special.logsumexp(exponents, b=upper.masses + upper.error))
        lost = 16.0 * UNIT * (1.0 + (alpha - 1.0) * largest)
        found = max(found, (moment + lost) / (alpha - 1.0))
    return min(_rounded_up(max(found, 0.0)), pure_renyi(largest, alpha))


def _rounded_up(divergence: float) -> float:
    return not_lost(divergence * _UP + _LOST)
