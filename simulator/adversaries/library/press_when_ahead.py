"""An adversary that raises its stake while it wins."""

from __future__ import annotations

import numpy as np

from simulator.adversaries.contract import GeneratorAdversary, Playing
from simulator.adversaries.registry import library, pure_budget
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import Laplace
from simulator.theory.guarantees.interface import Guarantee


@library("press-when-ahead")
def press_when_ahead(family: Guarantee, rounds: int) -> GeneratorAdversary:
    """Query Alice's bit at half the budget; after an answer for her presence, at all of it.

    The noise of a round then depends on the answer before, so the rounds' losses are not
    independent, and only a theorem on adaptive composition covers it.
    """
    epsilon = pure_budget(family)
    weak, strong = Laplace(ALICE, 0.5 * epsilon), Laplace(ALICE, epsilon)

    def adversary(coins: np.random.Generator) -> Playing:
        answer = 0.0
        while True:
            answer = yield WITHOUT_ALICE, EVERYONE, strong if answer > 0.5 else weak

    return adversary
