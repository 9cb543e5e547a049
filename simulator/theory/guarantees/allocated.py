"""The guarantee of an epoch in which records take part in steps chosen at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from simulator.foundations.errors import InvalidInput
from simulator.theory.guarantees.interface import Guarantee, within
from simulator.theory.guarantees.pure import kept
from simulator.theory.laws.gaussian_curve import gaussian_delta
from simulator.theory.parameters import count, positive


@dataclass(frozen=True)
class RandomAllocationDP(Guarantee):
    """An epoch of ``steps`` Gaussian sums, each record in ``selected`` of them; add or remove one.

    Noise ``sigma`` at sensitivity 1. Which steps hold the record is secret and uniform.
    ``hockey_stick`` is an upper bound: that of as many steps at public places, as the divergence of
    a mixture is at most the largest of its parts.
    """

    sigma: float
    steps: int
    selected: int = 1
    kind: ClassVar[str] = "random-allocation"

    def __post_init__(self) -> None:
        self._set("sigma", positive("sigma", self.sigma))
        self._set("steps", count("steps", self.steps))
        self._set("selected", count("selected", self.selected))
        if self.selected > self.steps:
            raise InvalidInput(
                f"a record cannot take part in {self.selected} of {self.steps} steps"
            )

    @classmethod
    def of_numbers(cls, numbers: Sequence[float]) -> Guarantee:
        """See :meth:`Guarantee.of_numbers`; one step of each record where none is given."""
        return super().of_numbers([*numbers, 1] if len(numbers) == 2 else numbers)

    def admits(self, other: Guarantee) -> bool:
        """See :meth:`Guarantee.admits`: the same steps with at least this noise."""
        if isinstance(other, RandomAllocationDP):
            same = (other.steps, other.selected) == (self.steps, self.selected)
            return same and within(self.sigma, other.sigma)
        return other.pure_epsilon == 0.0

    def _hockey_stick(self, epsilon: float) -> float:
        return gaussian_delta(self.gdp_mu, epsilon)

    @property
    def zcdp_rho(self) -> float:
        """mu^2 / 2, with mu as below."""
        return kept(self.gdp_mu, self.gdp_mu**2 / 2.0)

    @property
    def gdp_mu(self) -> float:
        """That of ``selected`` steps at public places."""
        return math.sqrt(self.selected) / self.sigma
