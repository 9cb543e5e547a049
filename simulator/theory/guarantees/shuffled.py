"""Guarantees of local reports in random order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from simulator.theory.guarantees.interface import Guarantee, within
from simulator.theory.guarantees.pure import PureDP, pure_delta
from simulator.theory.laws.clones import LARGEST_LOCAL, ClonePair
from simulator.theory.parameters import count, nonnegative


@dataclass(frozen=True)
class ShuffledDP(Guarantee):
    """``reports`` reports of epsilon-DP local randomizers in random order, under replace-one.

    Each person sends one report; a randomizer may depend on the reports before it. The reports are
    epsilon-DP in any order, which the conversions to other notions use. Only ``hockey_stick``, an
    upper bound, and the bounds on shuffling use the random order.

    Source: Erlingsson, Feldman, Mironov, Raghunathan, Talwar and Thakurta 2019; the pair of
    :class:`~simulator.theory.laws.clones.ClonePair`.

    >>> from simulator.theory import ShuffledDP
    >>> round(ShuffledDP(1.0, 1000).hockey_stick(0.1), 6)
    8.2e-05
    """

    epsilon: float
    reports: int
    kind: ClassVar[str] = "shuffled"

    def __post_init__(self) -> None:
        self._set("epsilon", nonnegative("epsilon", self.epsilon))
        self._set("reports", count("reports", self.reports))

    def admits(self, other: Guarantee) -> bool:
        """Whether ``other`` shuffles at least as many reports of at most this epsilon."""
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
