"""The law of the Gaussian mechanism on a Poisson sample of the records."""
# ruff: noqa: D102  (overrides inherit the docstring of PrivacyLossLaw)

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from simulator.deferred import logsumexp
from simulator.errors import InvalidInput
from simulator.theory.gaussian_curve import gaussian_delta
from simulator.theory.laws.base import Floats, PrivacyLossLaw, RealOrComplex
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.normal_cells import normal_cells
from simulator.theory.parameters import positive
from simulator.validation import finite

#: Beyond so many deviations the normal tail is below the smallest double.
_REACH = 39.0
_MOST_NODES = 1 << 15
_BLOCK = 1 << 18
_NO_LOSS = FiniteLaw(np.zeros(1), np.zeros(1))


@dataclass(frozen=True)
class SubsampledGaussianLaw(PrivacyLossLaw):
    """Sum of sensitivity 1 with noise N(0, sigma^2), each record kept with probability ``rate``.

    The dominating pair under add-or-remove-one: without Alice N(0, sigma^2), with her the mixture
    (1 - rate) N(0, sigma^2) + rate N(1, sigma^2). The pair is not symmetric, so the law and its
    :meth:`reversed` (``exchanged``) are two different ones and the answer is the worse of both.
    With M(x) = ln(1 - rate + rate exp((x - 1/2)/sigma^2)) the loss is -M(x), exchanged M(x).

    Source: Mironov, Talwar, Zhang, "Renyi Differential Privacy of the Sampled Gaussian Mechanism",
    2019; Zhu, Dong, Wang, "Optimal Accounting via Characteristic Function", AISTATS 2022,
    Theorem 11, for both directions under composition. At rate 1 it is the Gaussian's law, at
    rate 0 nothing is lost.

    Raises InvalidInput unless sigma > 0 is finite and 0 <= rate <= 1. ``log_mgf``, the mean and the
    variance are by quadrature: accurate to about 1e-12, but not certified.
    """

    sigma: float
    rate: float
    exchanged: bool = False
    has_exact_transform = False
    has_accurate_cells = True

    def __post_init__(self) -> None:
        positive("sigma", self.sigma)
        if not 0.0 <= finite("rate", self.rate) <= 1.0:
            raise InvalidInput(f"the sampling rate must be in [0, 1], not {self.rate!r}")

    @cached_property
    def simplest(self) -> PrivacyLossLaw:
        if self.rate == 1.0:
            return GaussianLaw(1.0 / self.sigma)
        return _NO_LOSS if self.rate == 0.0 else self

    @property
    def atom_losses(self) -> Floats:
        return np.zeros(1 if self.rate == 0.0 else 0)

    @property
    def atom_log_masses(self) -> Floats:
        return np.zeros(1 if self.rate == 0.0 else 0)

    @property
    def support(self) -> tuple[float, float]:
        if self.simplest is not self:
            return self.simplest.support
        edge = math.log1p(-self.rate)
        return (edge, math.inf) if self.exchanged else (-math.inf, -edge)

    @property
    def is_discrete(self) -> bool:
        return self.rate == 0.0

    @property
    def mean(self) -> float:
        if self.simplest is not self:
            return self.simplest.mean
        losses, logs = self._quadrature
        return float(np.exp(logs) @ losses)

    @property
    def variance(self) -> float:
        if self.simplest is not self:
            return self.simplest.variance
        losses, logs = self._quadrature
        return float(np.exp(logs) @ (losses - self.mean) ** 2)

    def log_mgf(self, theta: ArrayLike) -> RealOrComplex:
        if self.simplest is not self:
            return self.simplest.log_mgf(theta)
        losses, logs = self._quadrature
        points = np.asarray(theta)
        flat, block = points.ravel(), max(_BLOCK // losses.size, 1)
        parts = [np.zeros(0, dtype=points.dtype)]
        for start in range(0, flat.size, block):
            exponents = flat[start : start + block, None] * losses + logs
            top = exponents.real.max(axis=-1)
            parts.append(np.log(np.exp(exponents - top[:, None]).sum(axis=-1)) + top)
        return np.asarray(np.concatenate(parts).reshape(points.shape))

    @cached_property
    def _quadrature(self) -> tuple[Floats, Floats]:
        """Losses and log-masses under P0 of the trapezoidal rule over the answer.

        The integrand is analytic up to a distance of pi sigma^2 from the real line, so the rule's
        error falls exponentially with sigma^2 over its spacing.
        """
        low, high = -_REACH * self.sigma, 1.0 + _REACH * self.sigma
        spacing = 0.5 * min(self.sigma, self.sigma**2)
        count = int(min(math.ceil((high - low) / spacing), _MOST_NODES))
        x = np.linspace(low, high, count + 1)
        log_odds = math.log(self.rate) + (x - 0.5) / self.sigma**2
        loss = np.logaddexp(math.log1p(-self.rate), log_odds)
        logs = -((x / self.sigma) ** 2) / 2 + (loss if self.exchanged else 0.0)
        logs = logs - logsumexp(logs)
        return (loss if self.exchanged else -loss), logs

    def delta(self, epsilon: float) -> float:
        # Where the loss is epsilon, the mixture's two terms are in a known ratio, so that what is
        # left is a multiple of the Gaussian's own curve, which keeps its digits.
        if self.simplest is not self:
            return self.simplest.delta(epsilon)
        edge, mu = math.log1p(-self.rate), 1.0 / self.sigma
        if self.exchanged:
            if epsilon <= edge:
                return -math.expm1(epsilon)
            return self.rate * gaussian_delta(mu, self._log_odds_at(epsilon))
        if epsilon >= -edge:
            return 0.0
        share = -math.expm1(epsilon + edge)
        return share * gaussian_delta(mu, -self._log_odds_at(-epsilon))

    def _log_odds_at(self, loss: float) -> float:
        return float(self._log_odds(np.array([loss]))[0])

    def _log_odds(self, loss: Floats) -> Floats:
        """(x - 1/2)/sigma^2 = ln((e^M - (1 - rate))/rate) of the answer x where M is ``loss``."""
        edge = math.log1p(-self.rate)
        above = np.maximum(loss - edge, 0.0)
        with np.errstate(divide="ignore"):  # at the edge of the support x = -infinity
            small = np.log(np.expm1(np.minimum(above, 1.0))) + edge - math.log(self.rate)
            # Near M = 0 the digits are those of M, not of its distance from the edge.
            share = np.maximum(np.expm1(np.minimum(loss, 1.0)) / self.rate, -1.0)
            middle = np.log1p(share)
        large = loss - math.log(self.rate) + np.log1p(-np.exp(-np.maximum(above, 0.5)))
        near = np.abs(loss) <= np.abs(loss - edge)
        return np.where(loss > 1.0, large, np.where(near, middle, small))

    def reversed(self) -> SubsampledGaussianLaw:
        return replace(self, exchanged=not self.exchanged)

    def continuous_masses(self, edges: Floats) -> tuple[Floats, Floats]:
        if self.simplest is not self:
            return self.simplest.continuous_masses(edges)
        losses = edges if self.exchanged else -edges[::-1]
        z = 0.5 / self.sigma + self.sigma * self._log_odds(losses)
        without = normal_cells(z)
        mixed = (1 - self.rate) * without + self.rate * normal_cells(z - 1.0 / self.sigma)
        return (mixed, without) if self.exchanged else (without[::-1], mixed[::-1])
