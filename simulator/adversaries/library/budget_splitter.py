"""An adversary that spends less and less."""

from __future__ import annotations

import math

import numpy as np

from simulator.adversaries.contract import GeneratorAdversary, Playing
from simulator.adversaries.registry import library, pure_budget
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import Laplace
from simulator.theory.guarantees.interface import Guarantee


@library("budget-splitter")
def budget_splitter(family: Guarantee, rounds: int) -> GeneratorAdversary:
    """Query Alice's bit with decreasing epsilon: epsilon/sqrt(i) in round i.

    The rounds are heterogeneous: a bound at the largest epsilon is far from tight, one that uses
    every epsilon_i is close. Its moves carry a real parameter, the epsilon of the round.
    """
    epsilon = pure_budget(family)
    least = epsilon / math.sqrt(rounds)

    def adversary(coins: np.random.Generator) -> Playing:
        i = 0
        while True:
            i += 1
            yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, max(least, epsilon / math.sqrt(i)))

    return adversary
