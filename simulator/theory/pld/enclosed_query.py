"""delta(epsilon) and epsilon(delta) of one round whose law is enclosed by two others."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from simulator.theory.bracket import Bracket
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.pld.tail import OneRound
from simulator.theory.pld.tail_inverse import lower_end, upper_end

_FIRST = 23.0
"""The step of the first try, over the least."""
_ATTEMPTS = 5
_SMALL_TAIL = 1e-8
"""Share of delta that the gathered tails may have."""


@dataclass(frozen=True)
class EnclosedQuery:
    """One round of a law without exact masses: its ends, nearer until a bracket is narrow enough.

    The distance of the ends is of second order in their step.
    """

    law: PrivacyLossLaw
    tolerance: float

    def delta(self, epsilon: float) -> Bracket:
        """Bracket of delta at an epsilon >= 0 below the largest finite loss."""

        def of(lower: OneRound, upper: OneRound) -> Bracket:
            below, above = lower.at(epsilon).lower, upper.at(epsilon).upper
            return Bracket(min(below, above), above)

        found = self._narrowed(of, 1.0)
        if 0.0 < found.upper < 1.0:
            found = found.meet(self._narrowed(of, found.upper))
        return found

    def epsilon(self, delta: float) -> Bracket:
        """Bracket of the least epsilon >= 0 at a ``delta`` of at least the infinite mass."""
        top = self.law.support[1]
        start = 5 * _FIRST * self.law.least_step

        def of(lower: OneRound, upper: OneRound) -> Bracket:
            reach = min(top, upper.law.support[1] + 1.0)
            above = upper_end(upper, delta, start, 0.0, reach)
            if upper.at(above).upper > delta:
                above = math.inf
            below = lower_end(lower, delta, min(above, 2 * start), 0.0, reach)
            return Bracket(min(below, above), above)

        return self._narrowed(of, delta)

    def _narrowed(self, of: Callable[[OneRound, OneRound], Bracket], delta: float) -> Bracket:
        """Intersection of the brackets at finer steps."""
        tail_mass = 10.0 ** (8 * math.floor(math.log10(max(_SMALL_TAIL * delta, 1e-280)) / 8))
        step, found = _FIRST * self.law.least_step, Bracket(0.0, math.inf)
        for _ in range(_ATTEMPTS):
            ends = self.law.enclosed(step, tail_mass)
            assert ends is not None
            now, before = of(*(OneRound(end, slack=end.shift_error) for end in ends)), found.width
            found = found.meet(now)
            narrow = found.width <= self.tolerance * found.upper < math.inf
            if narrow or step <= self.law.least_step or found.width > 0.9 * before:
                break
            share = (
                math.sqrt(self.tolerance * found.upper / found.width)
                if found.upper < math.inf
                else 0.25
            )
            step *= min(max(0.8 * share, 1 / 8), 0.5)
        return found
