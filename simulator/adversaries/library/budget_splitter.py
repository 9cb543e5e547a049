"""An adversary that spends less and less."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge, Rule
from simulator.adversaries.registry import library, pure_budget
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import Free, Laplace
from simulator.theory.guarantees.interface import Guarantee


@library("budget-splitter")
def budget_splitter(family: Guarantee, rounds: int) -> Rule:
    """Query Alice's bit with decreasing epsilon: epsilon/sqrt(i) in round i.

    The rounds are heterogeneous: a bound at the largest epsilon is far from tight, one that uses
    every epsilon_i is close. Its moves carry a real parameter, the epsilon of the round.
    """
    epsilon = pure_budget(family)
    free = Free(epsilon / math.sqrt(rounds), epsilon)
    menu = (Challenge(WITHOUT_ALICE, EVERYONE, Laplace(ALICE, free)),)

    # the state holds what the family fixes, so that one compiled kernel serves every family
    def step(
        state: tuple[float, float], i: int, answer: float, coins: np.random.Generator
    ) -> tuple[Any, int, float]:
        lowest, epsilon = state
        return state, 0, max(lowest, epsilon / math.sqrt(i + 1.0))

    return Rule(step, menu, state=(free.low, epsilon), name="budget-splitter")
