"""An adversary that raises epsilon only after it has fallen behind."""

from __future__ import annotations

import math

import numpy as np

from simulator.adversaries.contract import Challenge, Rule
from simulator.adversaries.registry import library, pure_budget
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import RandomizedResponse
from simulator.theory.guarantees.interface import Guarantee


@library("feign-retreat")
def feign_retreat(family: Guarantee, rounds: int) -> Rule:
    """Play an eighth of the budget until the evidence is low, and all of it from then on.

    It raises epsilon once the evidence for Alice's absence has fallen below a threshold. Almost all
    large losses follow that early fall: sampling tilted by one theta towards large losses never
    falls and never sees them, sampling steered by the loss so far falls first and rises later.
    """
    epsilon = pure_budget(family)
    menu = tuple(
        Challenge(WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, stake))
        for stake in (0.125 * epsilon, epsilon)
    )
    threshold = -max(2, round(0.5 * math.sqrt(rounds)))  # in eighths of epsilon

    def step(
        state: tuple[int, int], i: int, answer: float, coins: np.random.Generator
    ) -> tuple[tuple[int, int], int]:
        evidence, bold = state
        if i > 0 and bold == 0:
            evidence += 1 if answer < 0.5 else -1
            if evidence <= threshold:
                evidence, bold = 0, 1
        return (evidence, bold), bold

    return Rule(step, menu, state=(0, 0), name="feign-retreat")
