"""Loops that a hand has specialised for one rule each: the limit that a compiled rule can reach.

Every number is in its place, nothing is looked up, and nothing is checked but the loss. They play
experiment 0 of the adversaries of :mod:`.adversaries`, at the same parameters.
"""

from __future__ import annotations

import math

import numpy as np

TRUTH_WEAK, TRUTH_STRONG = 1.0 / (1.0 + math.exp(-0.1)), 1.0 / (1.0 + math.exp(-0.2))
LIMIT = 0.2 * (1.0 + 1e-9)


def laplace(losses: np.ndarray, rounds: int, noise: np.random.Generator) -> int:
    """Laplace noise at epsilon 0.1, after an answer above one half at 0.2."""
    for trial in range(losses.shape[0]):
        loss, answer = 0.0, 0.0
        for _ in range(rounds):
            epsilon = 0.2 if answer > 0.5 else 0.1
            size = noise.standard_exponential() / epsilon
            answer = size * (1.0 if noise.random() < 0.5 else -1.0)
            one = -2.0 * epsilon * min(max(answer - 0.5, -0.5), 0.5)
            if not abs(one) <= LIMIT:
                return trial
            loss += one
        losses[trial] = loss
    return -1


def randomized_response(losses: np.ndarray, rounds: int, noise: np.random.Generator) -> int:
    """Randomized response at epsilon 0.1, after the answer 1 at 0.2."""
    for trial in range(losses.shape[0]):
        loss, answer = 0.0, 0.0
        for _ in range(rounds):
            strong = answer > 0.5
            truth = TRUTH_STRONG if strong else TRUTH_WEAK
            answer = 0.0 if noise.random() < truth else 1.0
            one = (0.2 if strong else 0.1) * (1.0 - 2.0 * answer)
            if not abs(one) <= LIMIT:
                return trial
            loss += one
        losses[trial] = loss
    return -1


def gaussian(losses: np.ndarray, rounds: int, noise: np.random.Generator) -> int:
    """Gaussian noise of deviation 10, after an answer above one half 5."""
    for trial in range(losses.shape[0]):
        loss, answer = 0.0, 0.0
        for _ in range(rounds):
            sigma = 5.0 if answer > 0.5 else 10.0
            answer = sigma * noise.standard_normal()
            one = (0.5 - answer) / (sigma * sigma)
            if not abs(one) < math.inf:
                return trial
            loss += one
        losses[trial] = loss
    return -1


def switcher(losses: np.ndarray, rounds: int, noise: np.random.Generator) -> int:
    """The library's mechanism-switcher at epsilon 0.2."""
    selects = 1.0 / (1.0 + math.exp(0.1))  # Alice, who is absent, rather than Bob
    of_alice, of_bob = math.log(2.0 * selects), math.log(2.0 * (1.0 - selects))
    for trial in range(losses.shape[0]):
        loss, mechanism = 0.0, 0
        for _ in range(rounds):
            if mechanism == 0:
                size = 5.0 * noise.standard_exponential()
                answer = size * (1.0 if noise.random() < 0.5 else -1.0)
                one = -0.4 * min(max(answer - 0.5, -0.5), 0.5)
                present = answer > 0.5
            elif mechanism == 1:
                present = not noise.random() < TRUTH_STRONG
                one = -0.2 if present else 0.2
            else:
                present = noise.random() < selects
                one = of_alice if present else of_bob
            if not abs(one) <= LIMIT:
                return trial
            loss += one
            if present:
                mechanism = (mechanism + 1) % 3
        losses[trial] = loss
    return -1
