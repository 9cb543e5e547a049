"""An adversary that changes its instrument."""

from __future__ import annotations

import numpy as np

from simulator.adversaries.contract import GeneratorAdversary, Playing
from simulator.adversaries.registry import library, pure_budget
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.data.queries import counting_scores
from simulator.mechanisms import Exponential, Laplace, RandomizedResponse
from simulator.theory.guarantees.interface import Guarantee


@library("mechanism-switcher")
def mechanism_switcher(family: Guarantee, rounds: int) -> GeneratorAdversary:
    """Switch between Laplace, randomized response and the exponential mechanism.

    It keeps a mechanism while the answers favour Alice's absence and moves on to the next when one
    favours her presence. Each mechanism has a privacy loss of another shape; the
    composition theorem covers the mixture without knowing which was used when.
    """
    epsilon = pure_budget(family)
    laplace, response = Laplace(ALICE, epsilon), RandomizedResponse(ALICE, epsilon)
    selection = Exponential(counting_scores(("alice", "bob")), epsilon)

    def adversary(coins: np.random.Generator) -> Playing:
        while True:
            present = False
            while not present:
                answer = yield WITHOUT_ALICE, EVERYONE, laplace
                present = answer > 0.5
            present = False
            while not present:
                answer = yield WITHOUT_ALICE, EVERYONE, response
                present = answer > 0.5
            present = False
            while not present:
                selected = yield WITHOUT_ALICE, EVERYONE, selection
                present = selected < 0.5  # the index 0 is Alice's

    return adversary
