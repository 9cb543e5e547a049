"""An adversary that raises epsilon only after it has fallen behind."""

from __future__ import annotations

import math

import numpy as np

from simulator.adversaries.contract import GeneratorAdversary, Playing
from simulator.adversaries.registry import library, pure_budget
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import RandomizedResponse
from simulator.theory.guarantees.interface import Guarantee


@library("feign-retreat")
def feign_retreat(family: Guarantee, rounds: int) -> GeneratorAdversary:
    """Play an eighth of the budget until the evidence is low, and all of it from then on.

    It raises epsilon once the evidence for Alice's absence has fallen below a threshold. Almost all
    large losses follow that early fall: sampling tilted by one theta towards large losses never
    falls and never sees them, sampling steered by the loss so far falls first and rises later.
    """
    epsilon = pure_budget(family)
    timid, bold = RandomizedResponse(ALICE, 0.125 * epsilon), RandomizedResponse(ALICE, epsilon)
    threshold = -max(2, round(0.5 * math.sqrt(rounds)))  # in eighths of epsilon

    def adversary(coins: np.random.Generator) -> Playing:
        evidence = 0
        while evidence > threshold:
            answer = yield WITHOUT_ALICE, EVERYONE, timid
            evidence += 1 if answer < 0.5 else -1
        while True:
            yield WITHOUT_ALICE, EVERYONE, bold

    return adversary
