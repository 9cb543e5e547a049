"""An adversary that raises its stake while it wins."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge, Rule
from simulator.adversaries.registry import library, pure_budget
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import Laplace
from simulator.theory.guarantees.interface import Guarantee


@library("press-when-ahead")
def press_when_ahead(family: Guarantee, rounds: int) -> Rule:
    """Query Alice's bit at half the budget; after an answer for her presence, at all of it.

    The noise of a round then depends on the answer before, so the rounds' losses are not
    independent, and only a theorem on adaptive composition covers it.
    """
    epsilon = pure_budget(family)
    menu = tuple(
        Challenge(WITHOUT_ALICE, EVERYONE, Laplace(ALICE, stake))
        for stake in (0.5 * epsilon, epsilon)
    )

    def step(state: float, i: int, answer: float, coins: np.random.Generator) -> tuple[Any, int]:
        return state, 1 if answer > 0.5 else 0

    return Rule(step, menu, name="press-when-ahead")
