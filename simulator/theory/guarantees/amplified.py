"""Guarantees amplified by a secret sample or by shuffling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite, probability_below_one
from simulator.theory.guarantees.dominated import DominatedFamily, law_renyi
from simulator.theory.guarantees.interface import Guarantee, within
from simulator.theory.guarantees.pure import PureDP, pure_delta
from simulator.theory.guarantees.renyi_divergence import check_order
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.clones import LARGEST_LOCAL, ClonePair
from simulator.theory.laws.extremal import randomized_response
from simulator.theory.laws.subsampled import PoissonSubsampledLaw, SampledWithoutReplacementLaw
from simulator.theory.outward import UNIT, not_lost
from simulator.theory.parameters import count, nonnegative


@dataclass(frozen=True)
class ShuffledDP(Guarantee):
    """``reports`` reports of epsilon-DP local randomizers in random order, under replace-one.

    Each person sends one report; a randomizer may depend on the reports before it. The reports are
    epsilon-DP in any order, which the conversions to other notions use. Only ``hockey_stick``, an
    upper bound, and the bounds on shuffling use the random order.

    Source: Erlingsson, Feldman, Mironov, Raghunathan, Talwar and Thakurta 2019; Feldman, McMillan
    and Talwar 2021, Theorem 3.1.
    """

    epsilon: float
    reports: int
    kind: ClassVar[str] = "shuffled"

    def __post_init__(self) -> None:
        self._set("epsilon", nonnegative("epsilon", self.epsilon))
        self._set("reports", count("reports", self.reports))

    def admits(self, other: Guarantee) -> bool:
        """See :meth:`Guarantee.admits`: at least as many reports, at most this epsilon."""
        if isinstance(other, ShuffledDP) and other.reports >= self.reports:
            return within(other.epsilon, self.epsilon)
        return other.pure_epsilon == 0.0

    @cached_property
    def pair(self) -> ClonePair:
        """The pair of laws that dominates the family, for an epsilon above 0."""
        return ClonePair(self.epsilon, self.reports)

    def _hockey_stick(self, epsilon: float) -> float:
        if epsilon >= self.epsilon:
            return 0.0
        if self.epsilon > LARGEST_LOCAL:  # shuffling has no effect
            return pure_delta(self.epsilon, epsilon)
        return self.pair.delta(epsilon)

    @property
    def pure_epsilon(self) -> float:
        """The epsilon of one report."""
        return self.epsilon

    @property
    def implied(self) -> PureDP:
        """Pure differential privacy of one report."""
        return PureDP(self.pure_epsilon)

    @property
    def loss_variance(self) -> float:
        """As of pure differential privacy with :attr:`pure_epsilon`."""
        return self.implied.loss_variance


@dataclass(frozen=True)
class SubsampledDP(DominatedFamily):
    """An (epsilon, delta)-DP mechanism run on a secret random sample of the records.

    Each record is in it independently with probability ``rate``, under add-or-remove-one; or it is
    a uniform subset of that share of the records, under replace-one. The mechanism on the sample
    keeps (ln(1 + rate (e^epsilon - 1)), rate delta); ``hockey_stick`` and the bounds on dominated
    families are tighter.

    Source: Balle, Barthe and Gaboardi 2018, Theorems 8 and 9; Zhu, Dong and Wang 2022, Theorem 11.
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
        """See :meth:`Guarantee.admits`: at most this epsilon, delta and rate."""
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
