"""Audits of one run: the recursion against plays written out, false alarms, and bad input."""

import itertools
import math

import numpy as np
import pytest
import scipy

from simulator.auditing import audit_one_run
from simulator.auditing.audits import one_run
from simulator.errors import InvalidInput
from simulator.theory import ApproxDP, GaussianDP

LEAST = {4: 4, 12: 9}
"""Refuted where the first four guesses are right, or nine of the first twelve."""


def refuted(right):
    return any(sum(right[:place]) >= least for place, least in LEAST.items())


def probability(chance, revealed):
    """Of a refutation where the first guesses are right for sure and others with a chance."""
    return sum(
        math.prod(chance if each else 1.0 - chance for each in rest)
        for rest in itertools.product((False, True), repeat=12 - revealed)
        if refuted((True,) * revealed + rest)
    )


def bound(epsilon, delta, least=LEAST):
    choices = one_run._Choices(np.array([epsilon]), least)
    prices = np.geomspace(1e-3, 1.0, 60)[:, None] if delta else [np.ones(1)]
    return min(choices.at_most(np.array([delta]), price) for price in prices)


def test_pure_privacy_is_a_walk_of_independent_guesses():
    for epsilon in (0.1, 0.5, 2.0):
        chance = scipy.special.expit(epsilon)
        assert bound(epsilon, 0.0) == pytest.approx(probability(chance, 0), rel=1e-8)


def test_a_leak_that_reveals_many_coins_at_once_stays_below_the_bound_and_near_it():
    """With probability m delta / n the first n coins are revealed, which costs delta a coin."""
    epsilon, delta = 0.3, 0.01
    chance = scipy.special.expit(epsilon)
    reached = {}
    for revealed in range(1, 13):
        leaks = 12 * delta / revealed
        # revealed coins use 1, and the others nothing
        reached[revealed] = leaks * probability(chance, revealed) + (1.0 - leaks) * probability(
            chance, 0
        )
    assert max(reached.values()) <= bound(epsilon, delta) <= 1.3 * max(reached.values())


def test_the_budget_of_one_coin_is_delta_and_no_less():
    """Randomized response that reveals its coin with probability delta reaches the bound."""
    chance = scipy.special.expit(0.3)
    reached = chance + 0.01 * (1.0 - chance)
    assert reached <= bound(0.3, 0.01, {1: 1}) <= 1.001 * reached  # the prices are a grid
    assert bound(0.3, 0.005, {1: 1}) < reached


def randomized_response(epsilon, included, generator):
    right = generator.random(len(included)) < scipy.special.expit(epsilon)
    return np.where(right, 1.0, -1.0) * (2.0 * included - 1.0)


def coins(generator, many=40):
    return generator.random(many) < 0.5


@pytest.mark.nightly
def test_bounds_above_the_truth_are_as_rare_as_is_said():
    """60 plays at 90%: more than 19 false ones have probability below 1e-6 at the level."""
    generator = np.random.default_rng(3)
    false = 0
    for _ in range(60):
        included = coins(generator)
        scores = randomized_response(1.0, included, generator)
        false += audit_one_run(scores, included, confidence=0.9).epsilon > 1.0
    assert 0 < false <= 19


@pytest.mark.nightly
def test_coins_that_leak_together_refute_no_true_claim():
    """The joint leak is within (0, .05)-DP, and would show 60 right guesses were it ignored."""
    generator = np.random.default_rng(4)
    alarms = leaks = 0
    for _ in range(30):
        included = coins(generator, 20)
        scores = generator.normal(size=20)
        if generator.random() < 0.05:
            scores, leaks = included + 0.0, leaks + 1
        found = audit_one_run(scores, included, claimed=ApproxDP(0.0, 0.05))
        alarms += found.violated
    assert leaks > 0
    assert alarms == 0


def test_a_wrong_gaussian_claim_is_refuted_and_a_right_one_is_not():
    generator = np.random.default_rng(5)
    included = coins(generator, 200)
    scores = included + generator.normal(size=200)
    assert audit_one_run(scores, included, claimed="gdp:0.1").violated
    found = audit_one_run(scores, included, claimed=GaussianDP(1.0))
    assert not found.violated
    assert "not violated" in repr(found)


def test_the_bound_falls_with_delta_and_guesses_the_wrong_way_show_nothing():
    generator = np.random.default_rng(6)
    included = coins(generator, 500)
    scores = randomized_response(1.0, included, generator)
    pure, approximate = (
        audit_one_run(scores, included, delta=delta).epsilon for delta in (0.0, 1e-4)
    )
    assert 0.5 < approximate < pure < 1.2
    assert audit_one_run(scores, ~included).epsilon == 0.0


@pytest.mark.parametrize(
    ("scores", "included", "options", "message"),
    [
        ([1.0, 2.0], [True], {}, r"not shapes \(2,\) and \(1,\)"),
        ([], [], {}, "one entry for each canary"),
        ([1.0, math.nan], [True, False], {}, "none of them NaN"),
        (["a", "b"], [True, False], {}, "scores must be real numbers"),
        ([1.0, 2.0], [0.5, 1.0], {}, "included must be True or False"),
        ([1.0, 2.0], [2, 1], {}, "included must be True or False"),
        (range(50), [True] * 50, {}, "by a fair coin, and 50 of 50 were"),
        ([1.0, 2.0], [True, False], {"delta": 1.0}, "delta"),
        ([1.0, 2.0], [True, False], {"confidence": 1.0}, "confidence"),
        ([1.0, 2.0], [True, False], {"claimed": "pure"}, "pure"),
        (range(20_000), [True, False] * 10_000, {}, "at most 10000 canaries are audited"),
    ],
)
def test_bad_input_is_one_line(scores, included, options, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        audit_one_run(scores, included, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_many_plays_have_the_bounds_of_single_audits(delta):
    """Of scores that show nothing, something and nearly all; with ties."""
    rng, plays = np.random.default_rng(5), []
    for strength in (0.0, 0.5, 1.0, 2.0, 2.0, 4.0):
        included = rng.random(60) < 0.5
        plays.append((np.round(strength * included + rng.normal(size=60), 1), included))
    single = [audit_one_run(*play, delta=delta).epsilon for play in plays]
    assert one_run.bounds_of_plays(plays, delta=delta) == single
    assert len({*single}) > 3
