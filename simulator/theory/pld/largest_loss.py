"""What is known of a composition by its largest loss alone, without its transform.

No finite total loss is above the sum T of the rounds' largest, so that epsilon = T needs the
infinite mass only. Where every round's largest loss is an atom, all of them occur together with a
probability p, and delta(epsilon) >= p (1 - exp(epsilon - T)): for a delta far below p both ends are
near T.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from simulator.theory.bracket import Bracket
from simulator.theory.outward import UNIT
from simulator.theory.pld.counted_laws import CountedLaws

_ROOM = 1e-13
"""For the rounding of a sum of products of two numbers."""


@dataclass(frozen=True)
class LargestLoss:
    """The sum of the largest losses, rounded down and up, and a lower end of ln p."""

    low: float
    top: float
    log_mass: float
    lost: float

    @classmethod
    def of(cls, parts: CountedLaws) -> LargestLoss:
        """That of a composition; without an atom at the top of a law, p is 0."""
        lost, top, error = parts.infinite_mass, parts.support[1], parts.loss_error
        log_mass, sums, size = -error, [], 0.0
        for law, n in parts.items:
            losses, logs = law.atom_losses, law.atom_log_masses
            if not losses.size:
                return cls(0.0, top, -math.inf, lost)
            sums.append(n * float(losses[-1]))
            log_mass += n * (float(logs[-1]) - 8 * UNIT * (2 + abs(float(logs[-1]))))
            size += abs(sums[-1])
        return cls(math.fsum(sums) - _ROOM * size - error, top, log_mass, lost)

    def epsilon(self, delta: float) -> Bracket:
        """Bracket of the least epsilon >= 0 at a delta."""
        upper = max(self.top, 0.0) if delta >= self.lost * (1 + _ROOM) else math.inf
        log_share = math.log(max(delta, 1e-300)) - self.log_mass
        lower = 0.0
        if log_share < -1.0:
            lower = max(self.low + math.log1p(-math.exp(log_share)) * (1 + _ROOM), 0.0)
        return Bracket(min(lower, upper), upper)

    def delta(self, epsilon: float) -> Bracket:
        """Bracket of delta at an epsilon."""
        below = -math.expm1(min(epsilon - self.low, 0.0)) * math.exp(min(self.log_mass, 0.0))
        upper = min(self.lost * (1 + _ROOM), 1.0) if epsilon >= self.top else 1.0
        return Bracket(min(below * (1 - _ROOM), upper), upper)
