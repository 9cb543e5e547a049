"""A filter that charges a pure round what it takes from a Gaussian trade-off curve.

The residue of a curve after a round is the largest curve of a given family that, composed with the
round, stays below it. The idea and the name are those of "Privacy Filters are Captured by Residues"
(Regehr, Hu, Leeman, Manurangsi, Tholoniat and Lecuyer, arXiv 2602.15815v2), whose abstract has a
residue filter for Gaussian differential privacy. Its definitions were not available to us: the rule
and the proof are our own, and need not be those of the paper.

Proved in simulator/theory/lemmas/residue.md.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from functools import cache, cached_property
from typing import Any

from simulator.foundations.errors import NotApplicable
from simulator.theory.filters.gaussian import GaussianFilter
from simulator.theory.filters.interface import Filter, Price, State
from simulator.theory.filters.rules import residue_step
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP


@dataclass(frozen=True)
class ResidueFilter(Filter):
    """Admit a round while what it leaves of a Gaussian curve is not below nothing.

    The state is mu, at first the largest one whose curve keeps the promise. A pure round of eps
    takes about eps^2 (1 + eps^2 / (6 mu^2)) of mu^2, more at the end, and a Gaussian one its mu^2.
    Proved for every adaptive choice of eps-DP and mu-GDP rounds, in
    :mod:`simulator.theory.filters.residue`.

    Attributes
    ----------
    epsilon, delta, rounds_delta : as of :class:`Filter`.
    basic : whether basic composition admits rounds, too.

    >>> from simulator.theory import GaussianDP, ResidueFilter
    >>> running = ResidueFilter(1.0, 1e-6).fresh()
    >>> running.admits(GaussianDP(0.2)), running.admits(GaussianDP(0.5))
    (True, False)
    """

    _: KW_ONLY
    basic: bool = True
    name = "residue"
    source = "arXiv 2602.15815, 2026, by its abstract; the rule and its proof are our own"
    step = staticmethod(residue_step)

    @cached_property
    def mu(self) -> float:
        """The largest mu whose curve keeps the promise, without the rounds' own deltas."""
        return GaussianFilter(self.epsilon, self.delta, self.rounds_delta).mu

    @property
    def initial(self) -> State:
        """All of mu and no sums, the budget of basic composition, and the delta of the rounds."""
        basic = self.epsilon if self.basic else 0.0
        return (self.mu, 0.0, 0.0, 0.0, 0.0, basic, self.rounds_delta)

    def price(self, guarantee: Guarantee) -> Price:
        """The pure epsilon, or -mu where the Gaussian pair of another mechanism is the smaller one.

        A round at -mu has no part in basic composition.
        """
        core = guarantee.core
        pure, mu = core.pure_epsilon, core.gdp_mu
        if isinstance(core, PureDP) or (math.isfinite(pure) and not mu < pure):
            return pure, guarantee.leak
        if not math.isfinite(mu):
            raise NotApplicable(f"the {self.name} filter cannot account for {guarantee}")
        return -mu, guarantee.leak

    def with_one_sum(self, epsilon: float) -> Filter:
        """Without the sum of epsilons: play beyond mu is within basic composition."""
        return replace(self, basic=False) if epsilon >= self.epsilon else self


class OneNumber:
    """A residue filter without basic composition, as a filter whose state is one growing number.

    For the search of the worst adversary, see :class:`~simulator.worst.own_filter.OwnFilter`: the
    state is -mu. Rounds with a delta of their own raise NotApplicable.
    """

    monotone = True

    def __init__(self, filter_: ResidueFilter) -> None:
        self.filter = replace(filter_, basic=False)
        self.epsilon, self.delta = filter_.epsilon, filter_.delta
        self.initial = -self.filter.mu
        self._price = cache(self.filter.price)

    def admit(self, state: float, guarantee: Guarantee) -> tuple[bool, float]:
        """Whether the round may run, and -mu after it."""
        price, leak = self._price(guarantee)
        if leak:
            raise NotApplicable(f"this form of the residue filter takes no delta of {guarantee}")
        whole: Any = (-state, *self.filter.initial[1:])
        admitted, after = residue_step(whole, price, 0.0)
        return admitted, -after[0] if admitted else state
