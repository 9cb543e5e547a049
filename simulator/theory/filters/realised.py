"""A filter that stops on the realised privacy loss, and why it keeps its promise.

Whether a round may run depends on the loss L = sum of ln(p0/p1) of the answers so far, and not on
guarantees alone. "Realisation-Level Privacy Filtering" (Coon, Vippathalla and Taylor, arXiv
2604.08630) has such a filter: by its abstract it keeps (epsilon, delta)-differential privacy for
arbitrary mechanisms, and by a summary it looks ahead one round and has parameters delta-tilde,
theta and N. Its definitions were not available to us; the rule and the proof below are our own.

Proved in simulator/theory/lemmas/realised-loss.md.

**Only for a known pair.** L is the loss between the two databases of the game. A deployment that
must protect every record needs a filter for each pair of neighbours, as the loss of another pair is
another one, and what is refused depends on it.
"""

from __future__ import annotations

import math

from simulator.foundations.errors import NotApplicable
from simulator.theory.filters.interface import Filter, Price, State
from simulator.theory.filters.rules import realised_loss, realised_step
from simulator.theory.guarantees.interface import Guarantee


def coarse_state(state: State, up: bool, steps: int = 100) -> State:
    """The state with its two sums rounded to multiples of the budget / ``steps``.

    Rounded up it admits less from there on, down not less. For the search of the worst adversary.
    """
    loss, *spent, leaked, leaked_error, promised, budget, leak_budget = state
    unit = budget / steps
    near = math.ceil if up else math.floor
    kept = [unit * near(each / unit + (-1e-9 if up else 1e-9)) for each in spent]
    return (loss, *kept, leaked, leaked_error, promised, budget, leak_budget)


class RealisedFilter(Filter):
    """Admit a round while what rounds can add to delta from the realised losses on is within delta.

    Rounds far from where the loss passes epsilon are free. The proof, and what it needs to know:
    :mod:`simulator.theory.filters.realised`. Every mechanism needs a likelihood.

    >>> from simulator import PureDP
    >>> from simulator.theory import RealisedFilter
    >>> running = RealisedFilter(1.0, 1e-6).fresh()
    >>> running.spend(PureDP(0.1))
    >>> running.observe(-0.1)
    >>> running.admits(PureDP(0.1))
    True
    """

    name = "realised"
    source = "our own, of the kind of arXiv 2604.08630, 2026"
    step = staticmethod(realised_step)
    observe = staticmethod(realised_loss)

    @property
    def initial(self) -> State:
        """No sums, and the budgets."""
        budgets = (self.epsilon, self.delta - self.rounds_delta, self.rounds_delta)
        return (0.0, 0.0, 0.0, 0.0, 0.0, *budgets)

    def price(self, guarantee: Guarantee) -> Price:
        """The pure epsilon, or -mu where only a Gaussian pair dominates the round."""
        pure, mu = guarantee.core.pure_epsilon, guarantee.core.gdp_mu
        if math.isfinite(pure):
            return pure, guarantee.leak
        if not math.isfinite(mu):
            raise NotApplicable(f"the {self.name} filter cannot account for {guarantee}")
        return -mu, guarantee.leak
