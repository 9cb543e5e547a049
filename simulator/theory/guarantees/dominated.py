"""Families with a dominating pair of laws."""

from __future__ import annotations

import json
import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from simulator.foundations import grammar
from simulator.foundations.errors import InvalidInput
from simulator.foundations.strangers import from_json
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.law_renyi import law_renyi
from simulator.theory.guarantees.renyi_divergence import check_order
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.theory.laws.stored import LAWS
from simulator.theory.outward import UNIT, not_lost
from simulator.theory.stored import JsonNode


def laplace_rho(epsilon: float) -> float:
    """The least rho of Laplace noise, epsilon + exp(-epsilon) - 1, its mean loss, rounded up.

    The Renyi divergence over its order is largest as the order goes to 1.

    Source: arXiv 2510.25746; a test takes the supremum over orders.
    """
    if epsilon < 0.05:  # where the difference has few digits: the alternating series, cut
        series = 1.0
        for factor in (6.0, 5.0, 4.0, 3.0):
            series = 1.0 - epsilon / factor * series
        return epsilon**2 / 2.0 * series * (1.0 + 16.0 * UNIT)
    return epsilon + math.expm1(-epsilon) + 8.0 * UNIT * epsilon


class DominatedFamily(Guarantee):
    """A family of mechanisms dominated by one pair, in either order of the databases.

    The pair's composition then dominates every adaptive composition of the family: Zhu, Dong, Wang,
    "Optimal Accounting of Differential Privacy via Characteristic Function", AISTATS 2022,
    Definition 7 and Theorem 10.

    >>> from simulator.theory import DominatedFamily, SubsampledGaussianDP
    >>> issubclass(SubsampledGaussianDP, DominatedFamily)
    True
    """

    @property
    @abstractmethod
    def dominating_law(self) -> PrivacyLossLaw:
        """The law of the dominating pair."""

    @property
    @abstractmethod
    def attained_law(self) -> PrivacyLossLaw:
        """The law of a pair in the family; the exchanged pair belongs to the family too."""

    @property
    def _law(self) -> PrivacyLossLaw:
        """The dominating law; raises InvalidInput where a subclass returns anything else."""
        law = self.dominating_law
        if not isinstance(law, PrivacyLossLaw):
            raise InvalidInput(
                f"the dominating_law of {type(self).__name__} must be a privacy-loss law, as "
                f"LaplaceLaw(0.1), not {law!r:.80}"
            )
        return law

    def _hockey_stick(self, epsilon: float) -> float:
        return self._law.delta(epsilon)

    @property
    def pure_epsilon(self) -> float:
        """The largest loss of the pair in either direction; infinity where it is unbounded."""
        law = self._law.simplest
        if law.infinite_mass > 0.0 or law.dual_infinite_mass > 0.0:
            return math.inf
        return max(map(abs, law.support))

    @property
    def zcdp_rho(self) -> float:
        """That of Laplace noise, or of pure privacy where the loss is bounded, else infinity."""
        law = self._law
        if isinstance(law, LaplaceLaw):
            return laplace_rho(law.epsilon)
        epsilon = self.pure_epsilon
        return not_lost(epsilon * math.tanh(epsilon / 2.0)) if 0.0 < epsilon < math.inf else epsilon

    @property
    def mean_loss(self) -> float:
        """Upper bound on the mean loss: a Renyi divergence of an order just above 1."""
        return min(self.zcdp_rho, self.renyi(1.0 + 1e-3))


@dataclass(frozen=True)
class DominatedDP(DominatedFamily):
    """The family dominated by a pair of the given ``law``, in either order of the databases.

    The law must equal its reversed law, as that of :class:`SampledWithoutReplacementLaw` does.
    Raises InvalidInput where the two directions differ at one of a few epsilons.

    >>> from simulator.theory import DominatedDP, randomized_response
    >>> round(DominatedDP(randomized_response(0.2)).hockey_stick(0.1), 6)
    0.052324
    """

    law: PrivacyLossLaw
    kind: ClassVar[str] = "dominated"

    def __str__(self) -> str:
        return f"{self.kind}:{json.dumps(LAWS.write(self.law), separators=(',', ':'))}"

    @classmethod
    def of_named(cls, named: grammar.Term) -> Guarantee:
        """The family of a law in JSON; raises InvalidInput."""
        try:
            return cls(LAWS.read(JsonNode(from_json(named.text, "law"), "law")))
        except InvalidInput as error:
            raise InvalidInput(f"{cls.kind}: {error}") from None

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
        """Whether ``other`` has the same law: no other is known to be dominated."""
        return other.pure_epsilon == 0.0 or other.dominating_law == self.law

    def renyi(self, alpha: float) -> float:
        """Bound on the Renyi divergence of the pair; infinite where none is known."""
        check_order(alpha)
        return law_renyi(self.law.simplest, alpha)
