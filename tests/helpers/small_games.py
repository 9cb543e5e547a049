"""Small games with finitely many answers, and measures to play them under."""

import math
from dataclasses import dataclass

import numpy as np

from simulator import Laplace, PureDP, RandomizedResponse
from simulator.adversaries import Rule
from simulator.data import counting_scores
from simulator.engine.sampling import Steered, Tilted
from simulator.mechanisms import (
    AboveThreshold,
    Cells,
    Exponential,
    LeakyRandomizedResponse,
    Mechanism,
    PostProcessed,
    ReportNoisyMax,
)
from simulator.theory import ApproxDP
from tests.helpers.games import ALICE, WITH_ALICE, WITHOUT_ALICE, by_last_answer, on_alice

SCORES = counting_scores(["alice", "bob"])
ANYTHING = ApproxDP(3.0, 0.3)


def lump(outcome):
    return 0 if outcome < 2 else 1


@dataclass(frozen=True)
class Survey(Mechanism):
    """A mechanism of plain Python with three answers: randomized response with "pass"."""

    epsilon: float
    query = ALICE

    def guarantee(self, relation=None):
        return PureDP(self.epsilon)

    def vector(self, database):
        weights = [1.0, 1.0, math.exp(self.epsilon)]
        truth = ["no", "yes"][self.query(database)]
        order = {"no": (2, 1, 0), "yes": (0, 1, 2)}[truth]
        return [weights[place] / sum(weights) for place in order]

    def sample(self, database, noise, relation=None):
        return float(noise.choice(3, p=self.vector(database)))

    def log_likelihood_ratio(self, answer, database_0, database_1, relation=None):
        place = int(answer)
        return math.log(self.vector(database_0)[place] / self.vector(database_1)[place])

    def outcomes(self, database_0, database_1, relation=None):
        return [0.0, 1.0, 2.0], self.vector(database_0), self.vector(database_1)


class Unlisted(Survey):
    """The same, without a list of its answers."""

    def outcomes(self, database_0, database_1, relation=None):
        return Mechanism.outcomes(self, database_0, database_1)


MECHANISMS = {
    "randomized response": RandomizedResponse(ALICE, 0.9),
    "exponential": Exponential(SCORES, 0.8),
    "report noisy max": ReportNoisyMax(SCORES, 0.7),
    "above threshold": AboveThreshold(SCORES, 1.0, 1.1),
    "leaky": LeakyRandomizedResponse(ALICE, 0.5, 0.04),
    "post-processed": PostProcessed(LeakyRandomizedResponse(ALICE, 0.6, 0.03), lump),
    "cells": Cells(Laplace(ALICE, 0.8), (0.0, 0.5, 1.0)),
}


def rising(state, _i, answer, _coins):
    """Go to the stronger entry after an even answer, back to the weaker after an odd one."""
    place = 0
    if answer == answer and int(answer) % 2 == 0:
        place = 1
    return state + place, place


def adaptive(name):
    """A rule that switches between a mechanism and randomized response by the last answer."""
    return Rule(rising, on_alice(RandomizedResponse(ALICE, 0.3), MECHANISMS[name]), name="rising")


FINITE = Rule(
    by_last_answer,
    on_alice(
        LeakyRandomizedResponse(ALICE, 0.5, 0.05),
        RandomizedResponse(ALICE, 0.9),
        MECHANISMS["cells"],
    ),
    name="finite-switcher",
)


def survey(coins):
    """A generator over a plain Python mechanism, stronger after a "yes"."""
    epsilon = 0.3
    while True:
        answer = yield WITHOUT_ALICE, WITH_ALICE, Survey(epsilon)
        epsilon = 0.9 if answer > 1.5 else 0.3


def unlisted(coins):
    while True:
        yield WITHOUT_ALICE, WITH_ALICE, Unlisted(0.4)


THETAS = (-2.0, -1.0, -0.5, 0.0, 0.7, 5.0)
STEERED = Steered(
    np.array([-0.8, 0.0, 0.9, 3.0]),
    np.array([[3, 2, 1, 0], [0, 2, 3, 1]], dtype=np.int64),
    (-1.0, 1.5),
)
MEASURES = [*map(Tilted, THETAS), STEERED]
