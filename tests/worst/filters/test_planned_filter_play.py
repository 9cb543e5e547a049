"""Filters with a plan inside play: the same rounds in every engine, and the promise holds."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from simulator import Laplace, RandomizedResponse, simulate
from simulator.adversaries import Rule
from simulator.analysis.estimation import violation
from simulator.mechanisms import LeakyRandomizedResponse
from simulator.theory import ApproxDP
from simulator.worst.filters.plans import certified_filter
from tests.helpers.games import ALICE, on_alice

pytestmark = pytest.mark.usefixtures("compiles")

FAMILY = ApproxDP(2.0, 0.01)
PROMISE = 1.0, 0.05
FALSE_ALARM = 1e-6


@cache
def spec():
    """A filter of rounds of .25, with a pool for smaller ones and a delta for leaks."""
    family = "pure:1+laplace:1"
    return certified_filter(family, 1.0, 0.05, 0.004, plan="pure:0.25", pool=0.1, spare=0.02)


def press(state, i, answer, coins):
    """Greedy: large stakes while behind, small ones while ahead; now and then a leaky round."""
    state += 1.0 if answer > 0.5 else -1.0 if answer == answer else 0.0
    if i % 7 == 6:
        return state, 4
    if i % 3 == 2:
        return state, 3
    return state, 0 if state > 2.0 else 1 if state > 0.0 else 2


GREEDY = Rule(
    press,
    on_alice(
        RandomizedResponse(ALICE, 0.05),
        RandomizedResponse(ALICE, 0.25),
        RandomizedResponse(ALICE, 0.55),
        Laplace(ALICE, 0.3),
        LeakyRandomizedResponse(ALICE, 0.1, 0.002),
    ),
    state=0.0,
)


def generated(rule):
    def adversary(coins):
        return rule(coins)

    adversary.name = rule.name
    return adversary


def play(adversary, trials=60, rounds=30, filter_=None, **others):
    return simulate(
        adversary, FAMILY, rounds, trials, jobs=1, progress=False, seed=5, block_size=5000,
        filter=filter_ or spec(), **others,
    )  # fmt: skip


@pytest.mark.nightly
def test_it_admits_the_same_rounds_compiled_and_generated():
    compiled, plain = (play(a, keep_views=60).views for a in (GREEDY, generated(GREEDY)))
    for one, other in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(one.answers, other.answers)


def test_what_is_admitted_in_play_is_what_its_step_admits():
    result, refused = play(generated(GREEDY), keep_views=40, trials=40), 0
    for view in result.views:
        replayed, state = result.replay(view), spec().initial
        for challenge, answer in zip(replayed.challenges, view.answers, strict=True):
            price = spec().price_of(challenge.mechanism, result.specification.relation)
            admitted, state = spec().step(state, *price)
            assert admitted == (answer == answer)
            refused += not admitted
    assert 0 < refused < 80 * 30


def broken():
    """The same filter with every pure round at the price of the plan's."""
    falls = next(f for kind, size, f in spec().moves if (kind, size) == ("pure", 0.25))
    moves = ((kind, size, falls if kind == "pure" else f) for kind, size, f in spec().moves)
    return replace(spec(), moves=tuple(moves))


@pytest.mark.nightly
def test_a_greedy_adversary_keeps_the_promise_and_breaks_a_broken_filter():
    for b in (0, 1):
        losses = play(GREEDY, trials=40_000, rounds=60).losses(b)
        verdict = violation(losses, *PROMISE, experiment=b, false_alarm=FALSE_ALARM / 2)
        assert verdict.outcome != "violated"
    losses = play(GREEDY, trials=4000, rounds=60, filter_=broken()).losses(0)
    assert violation(losses, *PROMISE, false_alarm=FALSE_ALARM).outcome == "violated"
