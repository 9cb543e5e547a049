"""Guarantees of mechanisms on a secret random sample of the records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite, probability_below_one
from simulator.theory.guarantees.dominated import DominatedFamily
from simulator.theory.guarantees.interface import Guarantee, within
from simulator.theory.guarantees.law_renyi import law_renyi, sampled_gaussian_renyi
from simulator.theory.guarantees.pure import PureDP, pure_delta
from simulator.theory.guarantees.renyi_divergence import check_order
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.extremal import randomized_response
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.subsampled import (
    PoissonSubsampledLaw,
    SampledWithoutReplacementLaw,
    check_rate,
)
from simulator.theory.outward import UNIT, not_lost
from simulator.theory.parameters import nonnegative, positive


@dataclass(frozen=True)
class SubsampledDP(DominatedFamily):
    """An (epsilon, delta)-DP mechanism run on a secret random sample of the records.

    Each record is in it independently with probability ``rate``, under add-or-remove-one; or it is
    a uniform subset of that share of the records, under replace-one. The mechanism on the sample
    keeps (ln(1 + rate (e^epsilon - 1)), rate delta); ``hockey_stick`` and the bounds on dominated
    families are tighter.

    Source: Balle, Barthe and Gaboardi 2018, Theorems 8 and 9; Zhu, Dong and Wang 2022, Theorem 11.

    >>> from simulator.theory import SubsampledDP
    >>> round(SubsampledDP(1.0, 0.0, rate=0.01).amplified_epsilon, 6)
    0.017037
    """

    epsilon: float
    delta: float
    rate: float
    kind: ClassVar[str] = "subsampled"

    def __post_init__(self) -> None:
        self._set("epsilon", nonnegative("epsilon", self.epsilon))
        self._set("delta", probability_below_one("delta", self.delta))
        self._set("rate", sampling_rate(self.rate))

    def admits(self, other: Guarantee) -> bool:
        """Whether ``other`` has at most this epsilon, delta and rate."""
        if isinstance(other, SubsampledDP):
            return (
                within(other.epsilon, self.epsilon)
                and within(other.delta, self.delta)
                and within(other.rate, self.rate)
            )
        return other.pure_epsilon == 0.0

    @property
    def amplified_epsilon(self) -> float:
        """ln(1 + rate (e^epsilon - 1)), rounded up."""
        if self.epsilon == 0.0:
            return 0.0
        return not_lost(amplified_epsilon(self.epsilon, self.rate) * (1.0 + 8.0 * UNIT))

    def _hockey_stick(self, epsilon: float) -> float:
        # The mixture against the pair's other law: rate delta(ln(1 + (e^epsilon - 1)/rate)).
        inner = amplified_epsilon(epsilon, 1.0 / self.rate)
        return self.rate * (self.delta + (1.0 - self.delta) * pure_delta(self.epsilon, inner))

    @property
    def attained_law(self) -> PrivacyLossLaw:
        """The law of sampled randomized response that adds the record; reversed, removes it."""
        base = randomized_response(self.epsilon, self.delta)
        return PoissonSubsampledLaw(base, self.rate).simplest

    @cached_property
    def dominating_law(self) -> PrivacyLossLaw:
        """The larger curve of both directions: removal above epsilon = 0, addition below."""
        base = randomized_response(self.epsilon, self.delta)
        return SampledWithoutReplacementLaw(base, self.rate).simplest

    @property
    def core(self) -> Guarantee:
        """The guarantee of the same mechanism with delta 0.

        With probability rate delta the extremal pair reveals the record. In the other direction the
        rest is covered for epsilon >= 0, as delta (1 - e^epsilon (1 - rate)) <= rate delta, and for
        epsilon < 0 as the pair is symmetric.
        """
        return SubsampledDP(self.epsilon, 0.0, self.rate)

    @property
    def leak(self) -> float:
        """Rate delta."""
        return self.rate * self.delta

    @property
    def pure_epsilon(self) -> float:
        """The amplified epsilon when delta is 0, else infinity."""
        return self.amplified_epsilon if self.delta == 0.0 else math.inf

    @property
    def implied(self) -> PureDP | None:
        """Pure differential privacy when delta is 0, else None."""
        return PureDP(self.amplified_epsilon) if self.delta == 0.0 else None

    @property
    def loss_variance(self) -> float:
        """As of pure differential privacy when delta is 0, else infinity."""
        return math.inf if self.implied is None else self.implied.loss_variance

    def renyi(self, alpha: float) -> float:
        """The divergence of the dominating pair."""
        return law_renyi(self.dominating_law.simplest, check_order(alpha))


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

    >>> from simulator.theory import SubsampledGaussianDP
    >>> round(SubsampledGaussianDP(1.0, 0.01).hockey_stick(0.1), 6)
    7.3e-05
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
        """Whether ``other`` has at least this sigma and at most this rate."""
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
        return min(sampled_gaussian_renyi(self.sigma, self.rate, alpha), alpha * self.zcdp_rho)


def amplified_epsilon(epsilon: float, rate: float) -> float:
    """ln(1 + rate (e^epsilon - 1)); with 1/rate it is the inverse in epsilon."""
    if epsilon == 0.0:
        return 0.0
    if epsilon <= 1.0:
        return math.log1p(rate * math.expm1(epsilon))
    return epsilon + math.log(rate + (1.0 - rate) * math.exp(-epsilon))


def sampling_rate(rate: float) -> float:
    """Return the rate as a float; raise InvalidInput unless it lies in (0, 1]."""
    number = finite("the sampling rate", rate)
    if not 0.0 < number <= 1.0:
        raise InvalidInput(f"the sampling rate must be in (0, 1], not {rate!r}")
    return number
