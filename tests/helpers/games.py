"""Rules and generator adversaries that together use every feature of an engine."""

from simulator import Database, Gaussian, Laplace, PureDP, RandomizedResponse, counting_query
from simulator.adversaries import Rule
from simulator.data import counting_scores
from simulator.mechanisms import (
    Exponential,
    Free,
    Geometric,
    LeakyRandomizedResponse,
    ReportNoisyMax,
)
from simulator.theory import ApproxDP

WITH_ALICE = Database({"alice": 1, "bob": 1, "others": 7})
WITHOUT_ALICE = WITH_ALICE.remove("alice")
ALICE = counting_query("alice")
SCORES = counting_scores(["alice", "bob", "carol"])

KINDS = {
    "Laplace": Laplace(ALICE, 0.7),
    "randomized response": RandomizedResponse(ALICE, 0.5),
    "geometric": Geometric(ALICE, 0.6),
    "Gaussian": Gaussian(ALICE, 2.0),
    "exponential": Exponential(SCORES, 0.8),
    "report noisy max": ReportNoisyMax(SCORES, 0.4),
    "leaky": LeakyRandomizedResponse(ALICE, 0.5, 0.01),
}
ANYTHING = ApproxDP(2.0, 0.3)
"""A family wide enough for all of them."""


def on_alice(*mechanisms):
    return tuple((WITHOUT_ALICE, WITH_ALICE, mechanism) for mechanism in mechanisms)


def always(_state, _i, _answer, _coins):
    return 0.0, 0


def in_turn_by_answer(state, i, answer, _coins):
    """Go round the menu of seven, skipping an entry after a large answer."""
    place = int(state) + (2 if answer > 1.0 else 1)
    if place >= 7:
        place -= 7
    return float(place), place


def press(state, _i, answer, _coins):
    return state, 1 if answer > 0.5 else 0


def spend_on(entries):
    """Every entry's parameter is free; choose it from the last answer and what is left."""

    def spend(state, i, answer, _coins):
        left = state if i > 0 else 5.0
        parameter = 0.5 + 0.25 / (1.0 + left * left)
        if answer > 0.5:
            parameter = 0.9
        return left - parameter, i % entries, parameter

    return spend


def toss(state, _i, answer, coins):
    """Coins of three kinds decide; the state is a whole number, a float and a flag."""
    count, total, high = state
    u = coins.random()
    if answer == answer:
        total += answer
    high = total > float(count)
    move = 1 if u < 0.5 else 0
    if high and coins.standard_normal() > 0.0:
        move = 2
    return (count + 1, total + 0.1 * coins.standard_exponential(), high), move


def by_last_answer(_state, _i, answer, _coins):
    """Switch between finite mechanisms by the last answer; no coins, so it can be enumerated."""
    move = 0
    if answer == 1.0:
        move = 1
    elif answer > 1.0:
        move = 2
    return 0.0, move


FREE = on_alice(
    Laplace(ALICE, Free(0.1, 1.0)),
    RandomizedResponse(ALICE, Free(0.1, 1.0)),
    Geometric(ALICE, Free(0.1, 1.0)),
    Gaussian(ALICE, Free(0.4, 1.0)),
    Exponential(SCORES, Free(0.1, 1.0)),
)

EVERY_KIND = Rule(in_turn_by_answer, on_alice(*KINDS.values()))
PRESS = Rule(press, on_alice(Laplace(ALICE, 0.1), Laplace(ALICE, 0.2)), name="press")
SPEND = Rule(spend_on(5), FREE)
SPEND_ON_TWO = Rule(spend_on(2), FREE[:2])
TOSS = Rule(
    toss,
    on_alice(Laplace(ALICE, 0.3), Laplace(ALICE, 0.6), Laplace(ALICE, 0.9)),
    state=(0, 0.0, False),
)
FINITE = Rule(
    by_last_answer,
    on_alice(
        LeakyRandomizedResponse(ALICE, 0.5, 0.05),
        RandomizedResponse(ALICE, 0.9),
        Exponential(SCORES, 0.8),
    ),
)

RULES = {
    "every kind of mechanism in turn": (EVERY_KIND, ANYTHING),
    "one kind, by the last answer": (PRESS, PureDP(0.2)),
    "free parameters": (SPEND_ON_TWO, ApproxDP(4.0, 0.5)),
    "free parameters of every kind": (SPEND, ApproxDP(4.0, 0.5)),
    "coins, and a tuple for a state": (TOSS, PureDP(0.9)),
    "finite mechanisms": (FINITE, ANYTHING),
}


def press_when_ahead(coins):
    """The example of the README, as a generator function."""
    epsilon = 0.1
    while True:
        answer = yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, epsilon)
        epsilon = 0.2 if answer > 0.5 else 0.1


def wander(coins):
    """A generator adversary with coins, other databases every round, and every mechanism."""
    database = WITH_ALICE
    mechanisms = tuple(KINDS.values())
    while True:
        mechanism = mechanisms[coins.integers(len(mechanisms))]
        answer = yield database.remove("alice"), database, mechanism
        database = WITH_ALICE.add("others", int(max(answer, 0)) + int(coins.integers(3)))
