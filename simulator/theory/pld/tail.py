"""The interface of composition engines: delta as a certified function of epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from simulator.theory.bracket import Bracket
from simulator.theory.laws.base import PrivacyLossLaw

TINY = 1e-307
"""A number below it has fewer digits than a double."""


@dataclass(frozen=True)
class SlopedBracket(Bracket):
    """Bracket of delta(epsilon), and the slope d delta/d epsilon, which is not certified."""

    slope: float = 0.0

    @classmethod
    def of_delta(
        cls, lower: float, upper: float, slope: float, *, lost: float = 0.0, relative: float = 1e-14
    ) -> SlopedBracket:
        """The ends moved into [0, 1], the probability ``lost`` of an infinite loss added.

        ``relative`` bounds the rounding of that probability.
        """
        low = min(max(lower + lost * (1.0 - relative), 0.0), 1.0)
        high = min(upper + lost * (1.0 + relative), 1.0)
        return cls(low, max(low, high), slope=slope)


class Tail(Protocol):
    """delta as a certified function of epsilon, accurate near the epsilon it was made for."""

    @property
    def reach(self) -> float:
        """The longest step of a search."""
        ...

    def at(self, epsilon: float) -> SlopedBracket:
        """Bracket of delta(epsilon); certain at every epsilon."""
        ...


@dataclass(frozen=True)
class OneRound:
    """The engine of a single law: its own delta, widened by its rounding.

    ``slack`` bounds the rounding of its losses.
    """

    law: PrivacyLossLaw
    slack: float = 0.0
    reach: float = math.inf

    def at(self, epsilon: float) -> SlopedBracket:
        """Bracket of the law's own delta."""
        # In a far tail delta changes by more than its own rounding within an ulp of epsilon.
        shift, relative = self._margins(epsilon)
        lower = self.law.delta(epsilon + shift) * (1 - relative)
        upper = self.at_most(epsilon)
        slope = -math.exp(min(epsilon, 700.0)) * self.law.sf(epsilon, under=1)
        return SlopedBracket(lower, min(max(upper, lower), 1.0), slope=slope)

    def at_most(self, epsilon: float) -> float:
        """The upper end alone."""
        shift, relative = self._margins(epsilon)
        return self.law.delta(epsilon - shift) * (1 + relative) + TINY

    def _margins(self, epsilon: float) -> tuple[float, float]:
        """Bounds on the error of the law's losses, and on the relative one of its delta."""
        return 1e-15 * abs(epsilon) + self.slack, 1e-12 + 2 * self.slack
