"""The gambler's doubling strategy."""

from __future__ import annotations

import numpy as np

from simulator.adversaries.contract import GeneratorAdversary, Playing
from simulator.adversaries.registry import library, pure_budget
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import RandomizedResponse
from simulator.theory.guarantees.interface import Guarantee

DOUBLINGS = 4


@library("double-when-behind")
def double_when_behind(family: Guarantee, rounds: int) -> GeneratorAdversary:
    """Double epsilon while the evidence is against Alice's absence.

    It starts with randomized response at a sixteenth of the budget. While the total evidence for
    her absence is negative it doubles epsilon, up to the whole budget; otherwise it returns to the
    smallest. Gambling systems change the distribution of the loss, many small gains for rare large
    losses, but every bound still holds. Sampling tilted towards large losses never
    falls behind, and so never sees the large stakes.
    """
    epsilon = pure_budget(family)
    responses = tuple(RandomizedResponse(ALICE, epsilon / 2**i) for i in range(DOUBLINGS, -1, -1))

    def adversary(coins: np.random.Generator) -> Playing:
        level, evidence = 0, 0
        while True:
            answer = yield WITHOUT_ALICE, EVERYONE, responses[level]
            evidence += 2**level if answer < 0.5 else -(2**level)
            level = min(level + 1, DOUBLINGS) if evidence < 0 else 0

    return adversary
