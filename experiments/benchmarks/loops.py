"""Loops written by hand for one rule each: the limit that a compiled rule can reach.

Numbers are constants, nothing is looked up, and only the loss is checked. They play
experiment 0 in a family of :data:`EPSILON`, or of GaussianDP as large, and draw what the engine
draws: a test holds the losses of both against each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

EPSILON = 0.2
SCALE = 1.0 / EPSILON
LIMIT = EPSILON * (1.0 + 1e-9)
TRUTHS = np.array([1.0 / (1.0 + math.exp(-EPSILON / 2**i)) for i in range(4, -1, -1)])
"""Of randomized response at a sixteenth of epsilon, at an eighth, and so on, and at the whole."""
TRUTH_EIGHTH, TRUTH_HALF, TRUTH = (float(TRUTHS[i]) for i in (1, 3, 4))
HOSPITALS = np.array([7.0, 6.0] * 4)
"""Patients with the condition, without Alice."""
LEAVES = np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
"""Of the nine pairs of who leaves and who is counted, whether they are the same."""
COUNTED = np.array([1.0, 1.0, 398.0] * 3)

Loop = Callable[[np.ndarray, int, np.random.Generator, np.random.Generator], int]
"""``(losses, rounds, coins, noise)`` fills the losses, and returns -1, or the trial where one was
too large."""


def press_when_ahead(
    losses: np.ndarray, rounds: int, coins: np.random.Generator, noise: np.random.Generator
) -> int:
    """Laplace noise at half of epsilon, after an answer above one half at the whole of it."""
    for trial in range(losses.shape[0]):
        loss, answer = 0.0, 0.0
        for _ in range(rounds):
            strong = answer > 0.5
            size = (SCALE if strong else 2.0 * SCALE) * noise.standard_exponential()
            answer = size * (1.0 if noise.random() < 0.5 else -1.0)
            one = (-2.0 * EPSILON if strong else -EPSILON) * min(max(answer - 0.5, -0.5), 0.5)
            if not abs(one) <= LIMIT:
                return trial
            loss += one
        losses[trial] = loss
    return -1


def press_when_ahead_in_python(trials: int, rounds: int, noise: np.random.Generator) -> list[float]:
    """The losses of press-when-ahead by hand in Python, with numpy's scalar draws."""
    losses = []
    for _ in range(trials):
        loss, epsilon = 0.0, 0.5 * EPSILON
        for _ in range(rounds):
            size = noise.standard_exponential() / epsilon
            answer = size * (1.0 if noise.random() < 0.5 else -1.0)
            loss -= 2.0 * epsilon * min(max(answer - 0.5, -0.5), 0.5)
            epsilon = EPSILON if answer > 0.5 else 0.5 * EPSILON
        losses.append(loss)
    return losses


def press_by_response(
    losses: np.ndarray, rounds: int, coins: np.random.Generator, noise: np.random.Generator
) -> int:
    """Randomized response at half of epsilon, after the answer 1 at the whole of it."""
    for trial in range(losses.shape[0]):
        loss, answer = 0.0, 0.0
        for _ in range(rounds):
            strong = answer > 0.5
            truth = TRUTH if strong else TRUTH_HALF
            answer = 0.0 if noise.random() < truth else 1.0
            one = (EPSILON if strong else 0.5 * EPSILON) * (1.0 - 2.0 * answer)
            if not abs(one) <= LIMIT:
                return trial
            loss += one
        losses[trial] = loss
    return -1


def press_by_gaussian(
    losses: np.ndarray, rounds: int, coins: np.random.Generator, noise: np.random.Generator
) -> int:
    """Gaussian noise of deviation 10, after an answer above one half 5."""
    for trial in range(losses.shape[0]):
        loss, answer = 0.0, 0.0
        for _ in range(rounds):
            sigma = SCALE if answer > 0.5 else 2.0 * SCALE
            answer = sigma * noise.standard_normal()
            one = (0.5 - answer) / (sigma * sigma)
            if not abs(one) < math.inf:
                return trial
            loss += one
        losses[trial] = loss
    return -1


def budget_splitter(
    losses: np.ndarray, rounds: int, coins: np.random.Generator, noise: np.random.Generator
) -> int:
    """Laplace noise at epsilon over the root of the round's number."""
    for trial in range(losses.shape[0]):
        loss = 0.0
        for i in range(rounds):
            epsilon = EPSILON / math.sqrt(i + 1.0)
            size = noise.standard_exponential() / epsilon
            answer = size * (1.0 if noise.random() < 0.5 else -1.0)
            one = -2.0 * epsilon * min(max(answer - 0.5, -0.5), 0.5)
            if not abs(one) <= LIMIT:
                return trial
            loss += one
        losses[trial] = loss
    return -1


def database_changer(
    losses: np.ndarray, rounds: int, coins: np.random.Generator, noise: np.random.Generator
) -> int:
    """Laplace noise on another count every round, which one depending on the answer."""
    for trial in range(losses.shape[0]):
        loss, answer, place = 0.0, math.nan, 0
        for _ in range(rounds):
            place = (place + (3 if answer > 6.5 else 1)) & 7
            size = SCALE * noise.standard_exponential()
            answer = HOSPITALS[place] + size * (1.0 if noise.random() < 0.5 else -1.0)
            middle = HOSPITALS[place] + 0.5
            one = -2.0 * EPSILON * min(max(answer - middle, -0.5), 0.5)
            if not abs(one) <= LIMIT:
                return trial
            loss += one
        losses[trial] = loss
    return -1


def double_when_behind(
    losses: np.ndarray, rounds: int, coins: np.random.Generator, noise: np.random.Generator
) -> int:
    """Randomized response at a sixteenth of epsilon, doubled while behind."""
    for trial in range(losses.shape[0]):
        loss, level, evidence = 0.0, 0, 0
        for _ in range(rounds):
            stake = 1 << level
            gain = stake if noise.random() < TRUTHS[level] else -stake
            one = EPSILON / 16.0 * gain
            if not abs(one) <= LIMIT:
                return trial
            loss += one
            evidence += gain
            level = min(level + 1, 4) if evidence < 0 else 0
        losses[trial] = loss
    return -1


def feign_retreat(
    losses: np.ndarray, rounds: int, coins: np.random.Generator, noise: np.random.Generator
) -> int:
    """Randomized response at an eighth of epsilon until well behind, then at the whole of it."""
    threshold = -max(2, round(0.5 * math.sqrt(rounds)))
    for trial in range(losses.shape[0]):
        loss, evidence, bold = 0.0, 0, False
        for _ in range(rounds):
            true = noise.random() < (TRUTH if bold else TRUTH_EIGHTH)
            one = (EPSILON if bold else EPSILON / 8.0) * (1.0 if true else -1.0)
            if not abs(one) <= LIMIT:
                return trial
            loss += one
            evidence += 1 if true else -1
            bold = bold or evidence <= threshold
        losses[trial] = loss
    return -1


def fixed_worst_case(
    losses: np.ndarray, rounds: int, coins: np.random.Generator, noise: np.random.Generator
) -> int:
    """Randomized response at epsilon."""
    for trial in range(losses.shape[0]):
        loss = 0.0
        for _ in range(rounds):
            one = EPSILON if noise.random() < TRUTH else -EPSILON
            if not abs(one) <= LIMIT:
                return trial
            loss += one
        losses[trial] = loss
    return -1


def mechanism_switcher(
    losses: np.ndarray, rounds: int, coins: np.random.Generator, noise: np.random.Generator
) -> int:
    """Laplace noise, randomized response and a choice of two; the next after a yes."""
    selects = 1.0 / (1.0 + math.exp(0.5 * EPSILON))  # Alice, who is absent, rather than Bob
    of_alice, of_bob = math.log(2.0 * selects), math.log(2.0 * (1.0 - selects))
    for trial in range(losses.shape[0]):
        loss, mechanism = 0.0, 0
        for _ in range(rounds):
            if mechanism == 0:
                size = SCALE * noise.standard_exponential()
                answer = size * (1.0 if noise.random() < 0.5 else -1.0)
                one = -2.0 * EPSILON * min(max(answer - 0.5, -0.5), 0.5)
                present = answer > 0.5
            elif mechanism == 1:
                present = not noise.random() < TRUTH
                one = -EPSILON if present else EPSILON
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


def random_pair(
    losses: np.ndarray, rounds: int, coins: np.random.Generator, noise: np.random.Generator
) -> int:
    """Laplace noise on one of nine pairs, by the coins."""
    for trial in range(losses.shape[0]):
        loss = 0.0
        for _ in range(rounds):
            pair = int(coins.random() * 9)
            leaves = LEAVES[pair]
            absent = COUNTED[pair] - leaves
            size = SCALE * noise.standard_exponential()
            answer = absent + size * (1.0 if noise.random() < 0.5 else -1.0)
            half = 0.5 * leaves
            one = -2.0 * EPSILON * min(max(answer - (absent + half), -half), half)
            if not abs(one) <= LIMIT:
                return trial
            loss += one
        losses[trial] = loss
    return -1


def stop_when_sure(
    losses: np.ndarray, rounds: int, coins: np.random.Generator, noise: np.random.Generator
) -> int:
    """Laplace noise on Alice's bit until sure, from then on on something harmless."""
    sure = 1.5 * EPSILON * math.sqrt(rounds)
    for trial in range(losses.shape[0]):
        loss = 0.0
        for _ in range(rounds):
            unsure = abs(loss) < sure
            size = SCALE * noise.standard_exponential()
            answer = size * (1.0 if noise.random() < 0.5 else -1.0)
            one = -2.0 * EPSILON * min(max(answer - 0.5, -0.5), 0.5) if unsure else 0.0
            if not abs(one) <= LIMIT:
                return trial
            loss += one
        losses[trial] = loss
    return -1


LIBRARY: dict[str, Loop] = {
    "budget-splitter": budget_splitter,
    "database-changer": database_changer,
    "double-when-behind": double_when_behind,
    "feign-retreat": feign_retreat,
    "fixed-worst-case": fixed_worst_case,
    "mechanism-switcher": mechanism_switcher,
    "press-when-ahead": press_when_ahead,
    "random-pair": random_pair,
    "stop-when-sure": stop_when_sure,
}
"""By the names of the library's adversaries."""
