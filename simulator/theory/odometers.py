"""Privacy odometers: a running bound on the epsilon spent, valid at every time at once.

Unlike a filter an odometer has no budget; the adversary may stop it whenever it likes, even when
what it has seen is at its worst.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from simulator.errors import InvalidInput, NotApplicable
from simulator.theory.filter_rules import mixture_reading, mixture_step
from simulator.theory.guarantees import Guarantee


@dataclass(frozen=True)
class MixtureOdometer:
    """With probability 1 - ``delta`` the privacy loss is below the reading at every time at once.

    With Q the sum of squared epsilons and M the loss minus Q/2, exp(x M - x^2 Q / 2) is a
    supermartingale for every x >= 0. Its average over a half-normal x of variance 1/gamma is one
    too, and is at least sqrt(gamma / (Q + gamma)) exp(M^2 / (2 (Q + gamma))) for M >= 0, so Ville's
    inequality bounds M by sqrt((Q + gamma)(2 ln(1/delta) + ln(1 + Q/gamma))). The reading never
    exceeds the plain sum of epsilons.

    Attributes:
        delta: probability allowed to the bound to fail, in (0, 1).
        gamma: the Q (about) at which the reading should be tightest; above 0.

    Source: Whitehouse, Ramdas, Rogers and Wu 2023, mixture odometer.
    """

    delta: float
    gamma: float = 0.1

    def __post_init__(self) -> None:
        if not 0.0 < self.delta < 1.0:
            raise InvalidInput(f"an odometer's delta must be in (0, 1), not {self.delta!r}")
        if not (math.isfinite(self.gamma) and self.gamma > 0.0):
            raise InvalidInput(f"gamma must be finite and > 0, not {self.gamma!r}")

    def fresh(self) -> RunningOdometer:
        """An odometer at zero."""
        return RunningOdometer(self)


class RunningOdometer:
    """An odometer in use."""

    def __init__(self, spec: MixtureOdometer) -> None:
        self.spec = spec
        self.state = (0.0, 0.0, 0.0, spec.gamma, -math.log(spec.delta))

    def spend(self, guarantee: Guarantee) -> None:
        """Account for a round. Raises NotApplicable if its loss is unbounded."""
        epsilon = guarantee.core.pure_epsilon
        if not math.isfinite(epsilon):
            raise NotApplicable(f"the odometer cannot account for {guarantee}")
        self.state = mixture_step(self.state, epsilon, guarantee.leak)

    @property
    def epsilon(self) -> float:
        """The bound on the privacy loss so far."""
        return mixture_reading(self.state)

    @property
    def delta(self) -> float:
        """The delta that goes with it: the odometer's own plus the rounds' so far."""
        return self.spec.delta + self.state[2]

    def fresh(self) -> RunningOdometer:
        """The same odometer at zero."""
        return RunningOdometer(self.spec)
