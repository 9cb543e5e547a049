"""An adversary with a stopping rule."""

from __future__ import annotations

import math

import numpy as np

from simulator.adversaries.contract import Challenge, Rule
from simulator.adversaries.registry import library, pure_budget
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import Laplace
from simulator.theory.guarantees.interface import Guarantee


@library("stop-when-sure")
def stop_when_sure(family: Guarantee, rounds: int) -> Rule:
    """Query Alice's bit until the evidence is large, and equal databases from then on.

    It adds up the evidence of the answers, which is the privacy loss itself, and stops at about
    1.5 standard deviations of what all rounds would give. Optional stopping moves
    probability into one lump just beyond the threshold; a bound that looks at the loss must hold
    for it.
    """
    epsilon = pure_budget(family)
    sure = 1.5 * epsilon * math.sqrt(rounds)
    menu = (
        Challenge(WITHOUT_ALICE, EVERYONE, Laplace(ALICE, epsilon)),
        Challenge(EVERYONE, EVERYONE, Laplace(ALICE, epsilon)),
    )

    # the state holds what the family fixes, so that one compiled kernel serves every family
    def step(
        state: tuple[float, float, float], i: int, answer: float, coins: np.random.Generator
    ) -> tuple[tuple[float, float, float], int]:
        evidence, epsilon, sure = state
        if i > 0 and abs(evidence) < sure:
            evidence += 2.0 * epsilon * min(max(0.5 - answer, -0.5), 0.5)
        return (evidence, epsilon, sure), 0 if abs(evidence) < sure else 1

    return Rule(step, menu, state=(0.0, epsilon, sure), name="stop-when-sure")
