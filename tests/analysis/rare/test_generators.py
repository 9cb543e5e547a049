"""Rare events of generators whose states are enumerated, against closed forms and rules.

A generator that is opaque to the reader plays as before: it is the witness.
"""

import math

import pytest

from simulator import Laplace, PureDP, RandomizedResponse
from simulator.adversaries import Rule
from simulator.analysis.rare import Setting, estimate_rare
from tests.helpers.rare_cases import estimated, unread
from tests.helpers.small_games import ALICE, WITH_ALICE, WITHOUT_ALICE, on_alice

SMALL, LARGE = RandomizedResponse(ALICE, 0.3), RandomizedResponse(ALICE, 2.0)
FAMILY = PureDP(2.0)


def staked(coins):
    """The stake is rolled once: large with probability 1e-3."""
    bold = coins.random() < 1e-3
    while True:
        if bold:
            yield WITHOUT_ALICE, WITH_ALICE, LARGE
        else:
            yield WITHOUT_ALICE, WITH_ALICE, SMALL


def delta_of(epsilon, stake, rounds):
    """The exact divergence of randomised response, as a binomial sum."""
    right = 1.0 / (1.0 + math.exp(-stake))
    terms = []
    for n in range(rounds + 1):
        loss = (2 * n - rounds) * stake
        if loss > epsilon:
            chance = math.comb(rounds, n) * right**n * (1.0 - right) ** (rounds - n)
            terms.append(-chance * math.expm1(epsilon - loss))
    return math.fsum(terms)


def truth(epsilon, rounds=20):
    bold = math.ceil(1e-3 * 2**53) / 2**53
    return bold * delta_of(epsilon, 2.0, rounds) + (1.0 - bold) * delta_of(epsilon, 0.3, rounds)


@pytest.mark.parametrize("epsilon", [3.0, 20.0, 35.0])
def test_a_rolled_stake_is_exact_and_its_coins_are_tilted(epsilon):
    terms = {"family": FAMILY, "rounds": 20}
    exact = estimated(staked, epsilon, method="auto", **terms)
    assert exact.method == "doob"
    assert exact.delta.lower <= truth(epsilon) <= exact.delta.upper
    assert exact.delta.upper <= (1.0 + 1e-9) * exact.delta.lower
    covered = estimated(staked, epsilon, method="covering", **terms)
    assert covered.delta.lower <= truth(epsilon) <= covered.delta.upper
    assert covered.delta.upper <= 1.3 * covered.delta.lower
    by_hand = estimated(unread(staked), epsilon, trials=400, method="auto", **terms)
    assert by_hand.method == "guarded"
    assert by_hand.delta.lower <= truth(epsilon) <= by_hand.delta.upper


@pytest.mark.nightly
def test_a_generator_and_its_rule_have_one_answer():
    def press(coins):
        answer = 1.0
        while True:
            if answer < 0.5:
                answer = yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 0.5)
            else:
                answer = yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 0.2)

    def step(state, i, answer, coins):
        return state, 1 if i > 0 and answer < 0.5 else 0

    rule = Rule(step, on_alice(Laplace(ALICE, 0.2), Laplace(ALICE, 0.5)), 0)
    for point in ({"epsilon": 3.0}, {"delta": 1e-6}):
        ends = []
        for adversary in (press, rule):
            event = estimate_rare(
                adversary, PureDP(0.5), 30, 4000, method="auto", seed=2, confidence=1 - 1e-6,
                setting=Setting(jobs=1, progress=False), **point,
            )  # fmt: skip
            assert event.method == "covering"
            found = event.at_delta or event.delta
            ends.append((found.lower, found.upper))
        (low, high), (other_low, other_high) = ends
        assert max(low, other_low) <= min(high, other_high)
        assert high <= 1.3 * low
