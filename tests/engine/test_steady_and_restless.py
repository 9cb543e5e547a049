"""Rules that stay with an entry, leave it often, or do now this and now that: compiled and not.

The kernel reads an entry's numbers in one of two ways, after how often the rule has changed its
entry; the losses, answers and sums along the rounds are the same to the bit.
"""

import numpy as np
import pytest

from simulator import Laplace, PureDP, RandomizedResponse
from simulator.adversaries import Challenge, Rule
from simulator.data import ADD_REMOVE
from simulator.engine.compiled.plain_kernel import Engine
from simulator.mechanisms import Free
from tests.helpers.mechanism_cases import ALICE, EVERYONE, OTHERS


def challenge(mechanism):
    return Challenge(OTHERS, EVERYONE, mechanism)


ONE_KIND = tuple(challenge(Laplace(ALICE, epsilon)) for epsilon in (0.1, 0.2, 0.3))
KINDS = (
    challenge(RandomizedResponse(ALICE, 0.3)),
    challenge(Laplace(ALICE, Free(0.05, 0.3))),
    challenge(Laplace(ALICE, 0.2)),
)


def stays(state, i, answer, coins):
    return state, 1, 0.25


def changes(state, i, answer, coins):
    return state, i % 3, 0.1 + 0.01 * (i % 7)


def now_and_then(state, i, answer, coins):
    # a stretch of its life in each manner: many trials long, for coins are drawn in each
    if coins.random() < 0.01:
        state = 1.0 - state
    return state, (1 if answer > 0.5 else 2) if state > 0.5 else 0, 0.2


def stops(state, i, answer, coins):
    if abs(answer) > 20.0:
        state = 1.0
    return state, 2 if state > 0.5 else 0, 0.3


@pytest.mark.nightly
@pytest.mark.parametrize("rounds", [1, 9, 60])
@pytest.mark.parametrize("menu", [ONE_KIND, KINDS], ids=["one kind", "several"])
@pytest.mark.parametrize("step", [stays, changes, now_and_then, stops])
def test_a_steady_and_a_restless_rule_play_the_same_compiled_and_not(step, menu, rounds):
    trials = 529
    played = []
    for compiled in (True, False):
        built = Engine.build(Rule(step, menu), PureDP(0.3), ADD_REMOVE, compiled=compiled)
        assert not built.complaint
        for b in (0, 1):
            losses, trace = np.empty(trials), np.zeros((3, rounds))
            answers = np.empty((trials, rounds))
            built.play(
                b, np.random.default_rng(1), np.random.default_rng(2), losses, rounds,
                trace=trace, answers=answers,
            )  # fmt: skip
            played.append((losses, trace, answers))
    for ours, theirs in zip(played[:2], played[2:], strict=True):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)
