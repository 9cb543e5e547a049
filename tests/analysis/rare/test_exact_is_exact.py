"""What is called exact is: states by their signs, arithmetic as doubles round, losses hardly apart.

The witness adds up every play: it takes the step on numbers, answer by answer, and knows nothing of
how the package enumerates.
"""

import math

import numpy as np
import pytest

from simulator import Laplace, PureDP, RandomizedResponse, simulate
from simulator.adversaries import Rule
from simulator.analysis.rare import Setting, estimate_rare
from simulator.analysis.rare.doob import Layer, StateGraph, places_of
from simulator.engine.block import covering_engine
from simulator.engine.specification import Specification
from simulator.foundations.ties import tolerance
from tests.helpers.every_play import hockey_stick, law_of_plays
from tests.helpers.small_games import ALICE, WITH_ALICE, on_alice
from tests.helpers.step_ways import ways


def signed_zero(state, i, answer, coins):
    """Keep the sign of a zero that the first answer leads to, and look at it later."""
    if i == 1:
        state = 0.0 if answer == 0.0 else -0.0
    return state, 1 if i > 1 and math.copysign(1.0, state) > 0.0 else 0


def estimated(rule, family, rounds, method, trials=2000, **point):
    return estimate_rare(
        rule, family, rounds, trials, method=method, confidence=1 - 1e-6,
        setting=Setting(jobs=1, progress=False), **point,
    )  # fmt: skip


def kind_of_one(state, i, answer, coins):
    """Keep 1 or True after the first answer, and look at its type later."""
    if i == 1:
        state = 1 if answer == 0.0 else True
    return state, 1 if i > 1 and not isinstance(state, bool) else 0


@pytest.mark.parametrize("method", ["doob", "covering", "auto"])
@pytest.mark.parametrize("step", [signed_zero, kind_of_one])
def test_states_that_compare_equal_and_differ_are_two(step, method):
    epsilons = (0.1, 0.5)
    rule = Rule(step, on_alice(*(RandomizedResponse(ALICE, e) for e in epsilons)), 0.0)
    event = estimated(rule, PureDP(0.5), 12, method, epsilon=4.0)
    exact = hockey_stick(law_of_plays(rule, epsilons, 12), 4.0)
    assert exact > 1e-3
    assert event.delta.lower <= exact <= event.delta.upper
    if method == "doob":
        assert event.delta.value == pytest.approx(exact, rel=1e-12)


def chance_of(draw):
    def step(state, i, answer, coins):
        return state, int(bool(draw(coins)))

    return math.fsum(way.probability for way in ways(step, 0, (1, 1), 0.0) if way.move == 1)


@pytest.mark.parametrize("draw", [
    lambda coins: coins.random() + 2**50 > 2**50 + 0.5,
    lambda coins: coins.random() + 2**50 >= 2**50 + 0.5,
    lambda coins: 2**50 - coins.random() < 2**50 - 0.5,
    lambda coins: coins.random() + 2**50 == 2**50 + 0.5,
    lambda coins: (coins.random() + 2**50) * 3.0 - 1e15 > 3.0 * 2**50 + 1.6 - 1e15,
    lambda coins: coins.normal(1.7e18, 200.0) > 1.7e18,
    lambda coins: coins.normal(1.7e18, 200.0) == 1.7e18,
    lambda coins: coins.uniform(1e16, 1e16 + 8) > 1e16 + 4,
    lambda coins: coins.exponential(2.0) + 1e16 > 1e16 + 2,
    lambda coins: coins.uniform(1e16, 1e16 + 8) < 1e16 + 2,
])  # fmt: skip
def test_a_coin_is_compared_as_doubles_round(draw):
    """Against frequencies of 30,000 draws of the coin itself: five standard errors."""
    coins, n = np.random.default_rng(11), 30_000
    seen = sum(bool(draw(coins)) for _ in range(n)) / n
    chance = chance_of(draw)
    assert abs(chance - seen) <= 5.0 * math.sqrt(chance * (1.0 - chance) / n) + 1.0 / n


def test_a_coin_below_the_resolution_of_uniform_numbers_is_drawn_as_zero_is():
    assert chance_of(lambda coins: coins.random() < 1e-17) == 2.0**-53
    assert chance_of(lambda coins: coins.random() < 3.5 * 2.0**-53) == 4.0 * 2.0**-53
    assert chance_of(lambda coins: coins.random() <= 3.0 * 2.0**-53) == 4.0 * 2.0**-53
    assert chance_of(lambda coins: coins.random() == 0.5) == 2.0**-53
    assert chance_of(lambda coins: coins.random() > 1.0 - 2.0**-53) == 0.0
    assert chance_of(lambda coins: coins.random() >= 1.0 - 2.0**-53) == 2.0**-53


def test_nothing_is_above_or_below_nan():
    assert chance_of(lambda coins: coins.random() < math.nan) == 0.0
    assert chance_of(lambda coins: coins.random() > math.nan) == 0.0
    assert chance_of(lambda coins: coins.random() >= math.nan) == 0.0
    assert chance_of(lambda coins: coins.random() == math.nan) == 0.0
    assert chance_of(lambda coins: coins.random() != math.nan) == 1.0


def test_atoms_are_compared_by_the_products_that_doubles_have():
    """0.1 * 3 is above 0.3, and 1.0 // 0.1 is 9."""
    for by in (0.1, 0.3, 0.7, 1.1):
        for whole in range(-39, 41, 3):
            for threshold in (by * whole, round(by * whole, 6)):

                def step(state, i, answer, coins, by=by, threshold=threshold):
                    return state, int(by * answer > threshold) + 2 * int(by * answer == threshold)

                for way in ways(step, 0, (1, 1), (1.0, 0.0)):
                    for answer in range(whole - 3, whole + 4):
                        if way.low < answer < way.high:
                            assert step(0, 1, float(answer), None)[1] == way.move
    found = list(
        ways(lambda s, i, a, c: (s, int(a // 0.1) if 0 < a < 9 else 0), 0, (1, 1), (1.0, 0.0))
    )
    assert {w.move for w in found} == {0} | {int(a // 0.1) for a in map(float, range(1, 9))}


@pytest.mark.nightly
def test_a_threshold_that_moves_with_the_round_is_enumerated():
    """A Laplace answer against 0.5 i + 2: round by round, for the step computes with the round."""

    def rising(state, i, answer, coins):
        return int(i > 0 and answer > 0.5 * i + 2.0), state

    rule = Rule(rising, on_alice(Laplace(ALICE, 0.5), Laplace(ALICE, 0.1)), 0)
    engine = covering_engine(Specification(rule, PureDP(0.5), 6, 10), 0)
    assert engine.moments.automaton.rounds == 6
    event = estimated(rule, PureDP(0.5), 6, "covering", epsilon=1.2)
    plain = simulate(rule, PureDP(0.5), 6, 40_000, jobs=1, progress=False, experiments=(0,))
    found = plain.delta(1.2, 0, 1 - 1e-6)
    assert max(found.lower, event.delta.lower) <= min(found.upper, event.delta.upper)


def test_losses_that_are_hardly_apart_are_not_merged_beyond_the_tie():
    """One round of .5 or of .5 + 1e-9, by a coin; then nothing, but 2,000 rounds may add up."""
    nothing = (WITH_ALICE, WITH_ALICE, RandomizedResponse(ALICE, 0.1))

    def once(state, i, answer, coins):
        if i > 0:
            return state, 2
        return state, 1 if coins.random() < 0.5 else 0

    larger = 0.5 + 1e-9
    both = on_alice(RandomizedResponse(ALICE, 0.5), RandomizedResponse(ALICE, larger))
    event = estimated(
        Rule(once, (*both, nothing), 0), PureDP(0.6), 2000, "auto", epsilon=0.5 + 5e-10
    )
    exact = 0.5 / (1.0 + math.exp(-larger))
    assert event.method == "doob"
    assert event.tail.value == pytest.approx(exact, rel=1e-12)
    assert event.tail.lower <= exact <= event.tail.upper <= exact * (1.0 + 1e-10)


def test_losses_that_are_merged_widen_the_ends():
    """A chain of losses, each within rounding of the next: both ends of the tail say so."""
    unit = float(tolerance(0.0, 40))
    places = places_of(np.array([0.3 * unit * n for n in range(40)] + [1.0, np.inf, -np.inf]), unit)
    assert places.tolist() == [1] * 40 + [2, 3, 0]
    chances = np.array([0.5, 0.5])
    layer = Layer(np.array([0, 1]), np.ones(2), np.array([0, 0]), 2)
    graph = StateGraph(chances, (layer,), np.array([1.0]), spread=0.25)
    assert graph.tail(1.1) == 0.0
    assert graph.tail_ends(1.1) == (0.0, 1.0)
    assert graph.tail_ends(1.3) == (0.0, 0.0)
    assert graph.tail_ends(0.7)[0] > 1.0 - 1e-12
