"""An adversary that changes its instrument."""

from __future__ import annotations

import numpy as np

from simulator.adversaries.contract import Challenge, Rule
from simulator.adversaries.registry import library, pure_budget
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.data.queries import counting_scores
from simulator.mechanisms import Exponential, Laplace, RandomizedResponse
from simulator.theory.guarantees.interface import Guarantee

LAPLACE, RESPONSE, SELECTION = range(3)


@library("mechanism-switcher")
def mechanism_switcher(family: Guarantee, rounds: int) -> Rule:
    """Switch between Laplace, randomized response and the exponential mechanism.

    It keeps a mechanism while the answers favour Alice's absence and moves on to the next when one
    favours her presence. Each mechanism has a privacy loss of another shape; the
    composition theorem covers the mixture without knowing which was used when.
    """
    epsilon = pure_budget(family)
    menu = tuple(
        Challenge(WITHOUT_ALICE, EVERYONE, mechanism)
        for mechanism in (
            Laplace(ALICE, epsilon),
            RandomizedResponse(ALICE, epsilon),
            Exponential(counting_scores(("alice", "bob")), epsilon),
        )
    )

    def step(state: int, i: int, answer: float, coins: np.random.Generator) -> tuple[int, int]:
        mechanism = state
        if i > 0:
            # the exponential mechanism answers with an index: 0 selects Alice
            present = answer < 0.5 if mechanism == 2 else answer > 0.5
            if present:
                mechanism = (mechanism + 1) % 3
        return mechanism, mechanism

    return Rule(step, menu, state=0, name="mechanism-switcher")
