"""How many rounds of one epsilon filters admit, and how many any sound filter can."""

from __future__ import annotations

import math
import sys
from dataclasses import replace

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import bound
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.named import filter_class
from simulator.theory.filters.residue import ResidueFilter
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.inverse import first_without
from simulator.worst.filters.sum_budgets import budget_of

PUBLISHED = ("sum", "rogers", "whitehouse", "zcdp", "renyi")
"""The sound published filters."""
MOST = 10**7
MOST_STEPS = 10**5
"""Most rounds that are admitted one by one."""
_SLACK = 1e-12
"""Relative rounding of a quotient of a budget by a cost."""


def rounds_admitted(filter_: Filter, epsilon: float) -> int:
    """How many rounds of an ``epsilon``-DP mechanism a filter of sums of costs admits."""
    if isinstance(filter_, ResidueFilter):  # what a round takes depends on what is left
        by_basic = math.floor(filter_.epsilon / epsilon * (1.0 + _SLACK)) if filter_.basic else 0
        running, count = replace(filter_, basic=False).fresh(), 0
        while count < MOST_STEPS and running.admits(PureDP(epsilon)):
            running.spend(PureDP(epsilon))
            count += 1
        return max(count, by_basic)
    budget = budget_of(filter_, epsilon)
    if not budget.cost(epsilon) > budget.possible / sys.float_info.max:
        raise NotApplicable(f"the cost of a round of {epsilon:g} is below the range of floats")
    return math.floor(budget.possible / budget.cost(epsilon) * (1.0 + _SLACK))


def published_rounds(promise: tuple[float, float], epsilon: float) -> dict[str, int]:
    """The rounds that each published filter of that promise admits; 0 where it does not apply."""
    found = {}
    for name in PUBLISHED:
        try:
            found[name] = rounds_admitted(filter_class(name)(*promise), epsilon)
        except (InvalidInput, NotApplicable):
            found[name] = 0
    return found


def most_rounds(promise: tuple[float, float], epsilon: float) -> int:
    """The rounds of randomized response that a sound filter can admit, whatever its cost.

    Its adversary plays randomized response of ``epsilon`` in all rounds: one more loses more than
    is promised.
    """
    exact = bound("kairouz-oh-viswanath-3.3")

    def keeps(rounds: int) -> bool:
        if rounds * epsilon <= promise[0]:
            return True
        played = Composition.repeat(PureDP(epsilon), rounds)
        return bool(exact.on(played).delta(promise[0]).lower <= promise[1])

    return first_without(keeps, math.floor(promise[0] / epsilon), MOST) - 1
