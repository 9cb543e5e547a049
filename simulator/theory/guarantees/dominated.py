"""Families with a dominating pair of laws."""

from __future__ import annotations

import json
import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite
from simulator.theory.guarantees.interface import Guarantee, within
from simulator.theory.guarantees.renyi_divergence import check_order, pure_renyi
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.discrete import discrete_gaussian
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.theory.laws.stored import LAWS
from simulator.theory.laws.subsampled import (
    PoissonSubsampledLaw,
    SampledWithoutReplacementLaw,
    check_rate,
    mixed_loss,
)
from simulator.theory.outward import UNIT, not_lost
from simulator.theory.parameters import positive
from simulator.theory.pld.grid_laws import enclosing_grid_laws, round_step
from simulator.theory.stored import JsonNode, parsed

_UP, _LOST = 1.0 + 1e-9, 1e-14
"""Margins above the error of quadrature and rounding in a Renyi divergence."""
_CELLS = 1 << 14
_REACH = 39.0
_LARGEST_FRACTION, _LARGEST_SUM = 500.0, 5000.0
"""A fractional order beyond the first is bounded by the whole orders around it, any order beyond
the second by convexity."""
_MOST_NODES = 1e6
"""Most nodes of a quadrature; beyond, the whole orders around a fractional one are used."""


class DominatedFamily(Guarantee):
    """A family of mechanisms dominated by one pair, in either order of the databases.

    The pair's composition then dominates every adaptive composition of the family: Zhu, Dong, Wang,
    "Optimal Accounting of Differential Privacy via Characteristic Function", AISTATS 2022,
    Definition 7 and Theorem 10.
    """

    @property
    @abstractmethod
    def dominating_law(self) -> PrivacyLossLaw:
        """The law of the dominating pair."""

    @property
    @abstractmethod
    def attained_law(self) -> PrivacyLossLaw:
        """The law of a pair in the family; the exchanged pair belongs to the family too."""

    def _hockey_stick(self, epsilon: float) -> float:
        return self.dominating_law.delta(epsilon)

    @property
    def pure_epsilon(self) -> float:
        """The largest loss of the pair in either direction; infinity where it is unbounded."""
        law = self.dominating_law.simplest
        if law.infinite_mass > 0.0 or law.dual_infinite_mass > 0.0:
            return math.inf
        return max(map(abs, law.support))

    @property
    def zcdp_rho(self) -> float:
        """The rho of pure differential privacy where the loss is bounded, else infinity."""
        epsilon = self.pure_epsilon
        return not_lost(epsilon * math.tanh(epsilon / 2.0)) if 0.0 < epsilon < math.inf else epsilon

    @property
    def mean_loss(self) -> float:
        """Upper bound on the mean loss: a Renyi divergence of an order just above 1."""
        return min(self.zcdp_rho, self.renyi(1.0 + 1e-3))


@dataclass(frozen=True)
class SubsampledGaussianDP(DominatedFamily):
    """Gaussian noise ``sigma`` at sensitivity 1 on a Poisson sample of ``rate``; add or remove one.

    In every round the adversary chooses which of the two neighbours holds the record. Accountants
    assume that it is the same neighbour in every round: :attr:`attained_law` in either direction
    gives their epsilon, a lower end here. The pair that dominates both directions gives an upper
    end. For epsilon >= 0 the divergence of the removal is the larger one. (With h the Gaussian's
    curve in a = e^epsilon they are q h(1 + (a - 1)/q) and s h(a q/s), where s = 1 - a (1 - q): h
    falls, s <= q, and a q/s - 1 - (a - 1)/q = (a - 1)^2 (1 - q)/(q s) >= 0.)

    Renyi divergences by Mironov, Talwar, Zhang, "Renyi Differential Privacy of the Sampled
    Gaussian Mechanism", 2019, Section 3.3.
    """

    sigma: float
    rate: float
    kind: ClassVar[str] = "subsampled-gaussian"

    def __post_init__(self) -> None:
        self._set("sigma", positive("sigma", self.sigma))
        check_rate(self.rate)
        self._set("rate", float(self.rate))

    @property
    def attained_law(self) -> PrivacyLossLaw:
        """The law of adding the record; reversed, of removing it."""
        return PoissonSubsampledLaw(GaussianLaw(1.0 / self.sigma), self.rate).simplest

    @property
    def worst_law(self) -> PrivacyLossLaw | None:
        """The Gaussian's law at rate 0 or 1; else None, as no pair of the family is the worst."""
        return self.attained_law if self.rate in (0.0, 1.0) else None

    @cached_property
    def dominating_law(self) -> PrivacyLossLaw:
        """Removal above 0, addition below: both directions at once."""
        return SampledWithoutReplacementLaw(GaussianLaw(1.0 / self.sigma), self.rate).simplest

    def admits(self, other: Guarantee) -> bool:
        """See :meth:`Guarantee.admits`: at least this sigma, at most this rate."""
        if isinstance(other, SubsampledGaussianDP):
            return within(self.sigma, other.sigma) and within(other.rate, self.rate)
        return other.pure_epsilon == 0.0 or (self.rate == 1.0 and within(other.gdp_mu, self.gdp_mu))

    @property
    def pure_epsilon(self) -> float:
        """Infinite: a Gaussian's loss is unbounded, on a sample too."""
        return 0.0 if self.rate == 0.0 else math.inf

    @property
    def zcdp_rho(self) -> float:
        """1/(2 sigma^2), as without sampling: the divergences agree at large orders."""
        return 0.0 if self.rate == 0.0 else not_lost(1.0 / self.sigma**2 / 2.0)

    @property
    def gdp_mu(self) -> float:
        """1/sigma, as without sampling: in the tails the two curves differ by a factor only."""
        return 0.0 if self.rate == 0.0 else 1.0 / self.sigma

    def renyi(self, alpha: float) -> float:
        """The divergence of the removal, which is the larger one; rounded up."""
        check_order(alpha)
        if self.rate == 0.0:
            return 0.0
        if self.rate == 1.0:
            return not_lost(alpha / self.sigma**2 / 2.0)
        return min(_sampled_renyi(self.sigma, self.rate, alpha), alpha * self.zcdp_rho)


@dataclass(frozen=True)
class DiscreteGaussianDP(DominatedFamily):
    """Discrete Gaussian noise of ``sigma`` at a whole ``sensitivity``.

    (sensitivity/sigma)^2/2-zCDP by Canonne, Kamath, Steinke, "The Discrete Gaussian for
    Differential Privacy", NeurIPS 2020, Theorem 4.
    """

    sigma: float
    sensitivity: float
    kind: ClassVar[str] = "discrete-gaussian"

    def __post_init__(self) -> None:
        self._set("sigma", positive("sigma", self.sigma))
        size = finite("sensitivity", self.sensitivity)
        if not (size >= 1.0 and size.is_integer()):
            raise InvalidInput(f"the sensitivity must be whole and at least 1, not {size!r}")
        self._set("sensitivity", size)

    @cached_property
    def _law(self) -> PrivacyLossLaw:
        return discrete_gaussian(self.sigma, round(self.sensitivity))

    @property
    def worst_law(self) -> PrivacyLossLaw:
        """The law at a shift by the whole sensitivity."""
        return self._law

    dominating_law = attained_law = worst_law

    def admits(self, other: Guarantee) -> bool:
        """See :meth:`Guarantee.admits`: the same noise at no larger sensitivity."""
        if isinstance(other, DiscreteGaussianDP):
            return other.sigma == self.sigma and other.sensitivity <= self.sensitivity
        return other.pure_epsilon == 0.0

    @property
    def zcdp_rho(self) -> float:
        """As of the Gaussian."""
        return not_lost((self.sensitivity / self.sigma) ** 2 / 2.0)

    def renyi(self, alpha: float) -> float:
        """At most alpha rho."""
        return check_order(alpha) * self.zcdp_rho


@dataclass(frozen=True)
class DominatedDP(DominatedFamily):
    """The family dominated by a pair of the given ``law``, in either order of the databases.

    The law must equal its reversed law, as that of :class:`SampledWithoutReplacementLaw` does.
    Raises InvalidInput where the two directions differ at one of a few epsilons.
    """

    law: PrivacyLossLaw
    kind: ClassVar[str] = "dominated"

    def __str__(self) -> str:
        return f"{self.kind}:{json.dumps(LAWS.write(self.law), separators=(',', ':'))}"

    @classmethod
    def of_text(cls, text: str) -> Guarantee:
        """See :meth:`Guarantee.of_text`; the law as JSON."""
        return cls(LAWS.read(JsonNode(parsed(text, "law"), "law")))

    def __post_init__(self) -> None:
        if not isinstance(self.law, PrivacyLossLaw):
            raise InvalidInput(f"a dominated family needs a privacy-loss law, not {self.law!r}")
        top = min(max(map(abs, self.law.simplest.support)), 50.0)
        for epsilon in (0.0, 0.1 * top, 0.5 * top, 0.9 * top):
            one, other = self.law.delta(epsilon), self.law.reversed().delta(epsilon)
            if abs(other - one) > 1e-6 * max(one, other) + 1e-290:
                raise InvalidInput(
                    f"the exchanged pair has delta {other:.6g} at epsilon {epsilon:.6g}, the pair "
                    f"itself {one:.6g}: a family holds in either order, so give the law of the "
                    "larger curve of both directions"
                )

    @property
    def worst_law(self) -> PrivacyLossLaw:
        """The law itself."""
        return self.law

    dominating_law = attained_law = worst_law

    def admits(self, other: Guarantee) -> bool:
        """See :meth:`Guarantee.admits`: only an equal law is known to be dominated."""
        return other.pure_epsilon == 0.0 or other.dominating_law == self.law

    def renyi(self, alpha: float) -> float:
        """Bound on the Renyi divergence of the pair; infinite where none is known."""
        check_order(alpha)
        return law_renyi(self.law.simplest, alpha)


def _sampled_renyi(sigma: float, rate: float, alpha: float) -> float:
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
            (order - 1.0) * _sampled_renyi(sigma, rate, order) if order > 1 else 0.0
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
        return _rounded_up(_sampled_renyi(1.0 / law.base.mu, law.rate, alpha))
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
