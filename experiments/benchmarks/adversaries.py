"""The adversary that is timed, as a rule with each mechanism and as a generator."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from simulator import Gaussian, Laplace, PureDP, RandomizedResponse, counting_query
from simulator.adversaries import Challenge, Rule
from simulator.data import histogram_query
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import Exponential, ScalarMechanism
from simulator.theory import GaussianDP, Guarantee

PURE = PureDP(0.2)
GAUSSIAN = GaussianDP(0.2)


def press(weak: ScalarMechanism, strong: ScalarMechanism) -> Rule:
    """Play ``weak``; after an answer above one half, ``strong``."""
    menu = tuple(Challenge(WITHOUT_ALICE, EVERYONE, mechanism) for mechanism in (weak, strong))

    def step(state: float, i: int, answer: float, coins: np.random.Generator) -> tuple[Any, int]:
        return state, 1 if answer > 0.5 else 0

    return Rule(step, menu, name="press-when-ahead")


def laplace() -> tuple[Rule, Guarantee]:
    """Laplace noise at epsilon 0.1 and 0.2."""
    return press(Laplace(ALICE, 0.1), Laplace(ALICE, 0.2)), PURE


def randomized_response() -> tuple[Rule, Guarantee]:
    """Randomized response at epsilon 0.1 and 0.2."""
    return press(RandomizedResponse(ALICE, 0.1), RandomizedResponse(ALICE, 0.2)), PURE


def gaussian() -> tuple[Rule, Guarantee]:
    """Gaussian noise at mu 0.1 and 0.2."""
    return press(Gaussian(ALICE, 10.0), Gaussian(ALICE, 5.0)), GAUSSIAN


TWO = histogram_query(["alice", "bob"])
"""The scores of two candidates."""
WEAK, STRONG = Laplace(ALICE, 0.1), Laplace(ALICE, 0.2)


def two_challenges(coins: np.random.Generator) -> Generator[Any, float, None]:
    """The same adversary with its two mechanisms made once."""
    mechanism = WEAK
    while True:
        answer = yield WITHOUT_ALICE, EVERYONE, mechanism
        mechanism = STRONG if answer > 0.5 else WEAK


def unread(coins: np.random.Generator) -> Generator[Any, float, None]:
    """The same, in a form that is not read: it plays in Python."""
    answers = [0.0]
    while True:
        answers[0] = yield WITHOUT_ALICE, EVERYONE, STRONG if answers[0] > 0.5 else WEAK


def mechanism_anew(coins: np.random.Generator) -> Generator[Any, float, None]:
    """The same, with a mechanism made in every round."""
    epsilon = 0.1
    while True:
        answer = yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, epsilon)
        epsilon = 0.2 if answer > 0.5 else 0.1


def query_anew(coins: np.random.Generator) -> Generator[Any, float, None]:
    """The same, with a mechanism and a query made in every round."""
    epsilon = 0.1
    while True:
        answer = yield WITHOUT_ALICE, EVERYONE, Laplace(counting_query("alice"), epsilon)
        epsilon = 0.2 if answer > 0.5 else 0.1


def database_anew(coins: np.random.Generator) -> Generator[Any, float, None]:
    """The same, with a mechanism and a database made in every round."""
    epsilon = 0.1
    while True:
        answer = yield EVERYONE.remove("alice"), EVERYONE, Laplace(ALICE, epsilon)
        epsilon = 0.2 if answer > 0.5 else 0.1


def continuous(coins: np.random.Generator) -> Generator[Any, float, None]:
    """Laplace noise at an epsilon that depends on the last answer and is new in every round."""
    epsilon = 0.1
    while True:
        answer = yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, epsilon)
        epsilon = 0.1 + 0.1 / (1.0 + abs(answer))


def selection_anew(coins: np.random.Generator) -> Generator[Any, float, None]:
    """A choice of two at an epsilon that is new in every round."""
    while True:
        yield WITHOUT_ALICE, EVERYONE, Exponential(TWO, 0.1 + 0.1 * coins.random())
