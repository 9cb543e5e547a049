"""Privacy odometers: running bounds on the epsilon spent, valid at all times simultaneously.

Unlike a filter, an odometer has no budget; the adversary may stop at any time, chosen from the
answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from simulator.foundations.errors import NotApplicable
from simulator.foundations.validation import instance, open_probability
from simulator.theory.filters.rules import mixture_reading, mixture_step
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.parameters import positive


@dataclass(frozen=True)
class MixtureOdometer:
    """An odometer whose reading bounds the epsilon spent at any stopping time.

    Let u be the reading and d the running ``delta`` when the adversary stops, by any stopping rule,
    and L the privacy loss of its view. Then E0[(1 - e^(u - L))_+] <= E0[d]: where u never passes
    some epsilon and d never passes some delta, the view keeps (epsilon, delta)- differential
    privacy. Pr0[L > u at any time] is at most :attr:`RunningOdometer.tail`, which is this
    odometer's ``delta`` while every round is pure and 1 otherwise: a round of (epsilon, delta)-DP
    may exceed its epsilon with a probability far above its delta.

    Proof. With Q the sum of squared epsilons and M the loss of the rounds minus Q/2, each round
    being a randomized response, exp(x M - x^2 Q / 2) is a supermartingale for every x >= 0. Its
    average over a half-normal x of variance 1/gamma is one too, and is at least
    sqrt(gamma / (Q + gamma)) exp(M^2 / (2 (Q + gamma))) for M >= 0, so Ville's
    inequality bounds M by sqrt((Q + gamma)(2 ln(1/delta) + ln(1 + Q/gamma))) at all times
    simultaneously. The reading is Q/2 more, or the sum of epsilons if less. A pure round's loss has
    a moment-generating function below that of randomized response. A round of
    (epsilon_i, delta_i)-DP is a function of randomized response that reveals everything with
    probability delta_i; so P0(S) <= E1[e^u; S] + delta + E0[sum of delta_i] for every event
    S of the view.

    Attributes
    ----------
    delta : probability that the bound fails, in (0, 1).
    gamma : the Q (about) at which the reading should be tightest; above 0.

    Source: Whitehouse, Ramdas, Rogers and Wu 2023, mixture odometer; Kairouz, Oh and Viswanath
    2017, Theorem 3.3 (the function of randomized response).

    >>> from simulator import PureDP
    >>> from simulator.theory import MixtureOdometer
    >>> running = MixtureOdometer(delta=1e-6).fresh()
    >>> for _ in range(100):
    ...     running.spend(PureDP(0.1))
    >>> round(running.epsilon, 4), running.delta
    (6.2473, 1e-06)
    """

    delta: float
    gamma: float = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", open_probability("an odometer's delta", self.delta))
        object.__setattr__(self, "gamma", positive("an odometer's gamma", self.gamma))

    def fresh(self) -> RunningOdometer:
        """An odometer at zero."""
        return RunningOdometer(self)


class RunningOdometer:
    """An odometer in use; its promise is stated in :class:`MixtureOdometer`.

    >>> from simulator.theory import ApproxDP, MixtureOdometer
    >>> running = MixtureOdometer(delta=1e-6).fresh()
    >>> running.spend(ApproxDP(0.1, 1e-6))
    >>> round(running.epsilon, 6), round(running.delta, 9), running.tail
    (0.1, 2e-06, 1.0)
    """

    def __init__(self, spec: MixtureOdometer) -> None:
        self.spec = instance("the odometer", spec, MixtureOdometer)
        self.state = (0.0, 0.0, 0.0, 0.0, spec.gamma, -math.log(spec.delta))

    def spend(self, guarantee: Guarantee) -> None:
        """Account for a round. Raises NotApplicable if its loss is unbounded."""
        epsilon = guarantee.core.pure_epsilon
        if not math.isfinite(epsilon):
            raise NotApplicable(f"the odometer cannot account for {guarantee}")
        self.state = mixture_step(self.state, epsilon, guarantee.leak)

    @property
    def epsilon(self) -> float:
        """The reading: the epsilon spent so far."""
        return mixture_reading(self.state)

    @property
    def delta(self) -> float:
        """The running delta: the odometer's own plus the rounds' so far, at most 1."""
        return min(1.0, self.spec.delta + self.state[3])

    @property
    def tail(self) -> float:
        """Bound on Pr[the loss is ever above the reading]: 1 once a round had a delta."""
        return self.spec.delta if self.state[3] == 0.0 else 1.0

    def fresh(self) -> RunningOdometer:
        """The same odometer at zero."""
        return RunningOdometer(self.spec)
