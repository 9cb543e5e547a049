"""An adversary with a stopping rule."""

from __future__ import annotations

import math

import numpy as np

from simulator.adversaries.contract import GeneratorAdversary, Playing
from simulator.adversaries.registry import library, pure_budget
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import Laplace
from simulator.theory.guarantees.interface import Guarantee


@library("stop-when-sure")
def stop_when_sure(family: Guarantee, rounds: int) -> GeneratorAdversary:
    """Query Alice's bit until the evidence is large, and equal databases from then on.

    It adds up the evidence of the answers, which is the privacy loss itself, and stops at about
    1.5 standard deviations of what all rounds would give. Optional stopping moves
    probability into one lump just beyond the threshold; a bound that looks at the loss must hold
    for it.
    """
    epsilon = pure_budget(family)
    sure = 1.5 * epsilon * math.sqrt(rounds)
    laplace = Laplace(ALICE, epsilon)

    def adversary(coins: np.random.Generator) -> Playing:
        evidence = 0.0
        while abs(evidence) < sure:
            answer = yield WITHOUT_ALICE, EVERYONE, laplace
            evidence += 2.0 * epsilon * min(max(0.5 - answer, -0.5), 0.5)
        while True:
            yield EVERYONE, EVERYONE, laplace

    return adversary
