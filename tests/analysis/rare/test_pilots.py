"""Pilots keep to their budget, share their plays, and plan nothing that is refused.

The witness of a generator is the same adversary as a rule, by a covering measure: another engine,
and another measure. Statistical tests have fixed seeds; their intervals have confidence 1 - ALARM.
"""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import binom

from simulator import Laplace, PureDP, RandomizedResponse
from simulator.adversaries import Challenge, Rule
from simulator.analysis import Tilted
from simulator.analysis.estimation.weighted import HIDDEN
from simulator.analysis.rare.choosing import guard, plain_enough
from simulator.analysis.rare.drawing import upper_limit_without_hits
from simulator.analysis.rare.pilot import pilot_tilt, relative_error, typical_theta
from simulator.analysis.rare.rehearsal import (
    MOST_LAWS,
    Rehearsal,
    Rehearsals,
    _along,
    evenly_spaced,
    plain,
)
from simulator.data.databases import ADD_REMOVE
from simulator.engine.block import play_block
from simulator.engine.compiled.menu import Menu
from simulator.engine.outcomes.log_mean import MINIMUM_HITS
from simulator.engine.sampling import LARGEST_PSI
from simulator.engine.specification import Specification
from simulator.engine.weight_bounds import psi_bound_at
from simulator.errors import InvalidInput, Refusal
from simulator.mechanisms import Free
from simulator.theory import LaplaceLaw, SumFilter
from tests.helpers.rare_cases import estimated, unread
from tests.helpers.small_games import ALICE, WITH_ALICE, WITHOUT_ALICE, on_alice

FAMILY, ROUNDS = PureDP(0.1), 50
BOLD = RandomizedResponse(ALICE, 5.0)


def steady(coins):
    noise = Laplace(ALICE, 0.1)
    while True:
        yield WITHOUT_ALICE, WITH_ALICE, noise


def as_rule():
    return Rule(lambda state, i, answer, coins: (state, 0), on_alice(Laplace(ALICE, 0.1)), 0)


def detour(coins):
    """Bold after eight answers that say no, timid else: no single theta is best."""
    low, bold = RandomizedResponse(ALICE, 0.02), RandomizedResponse(ALICE, 0.1)
    count = 0
    for i in range(ROUNDS):
        answer = yield WITHOUT_ALICE, WITH_ALICE, bold if i > 8 and count < 3 else low
        count += i < 8 and answer > 0.5


def by_rule(**point):
    return estimated(
        as_rule(), method="covering", trials=4000, rounds=ROUNDS, family=FAMILY, **point
    )


@pytest.mark.sampled
@pytest.mark.parametrize("point", [{"epsilon": 3.0}, {"epsilon": 1.0}, {"delta": 1e-6}])
def test_one_challenge_takes_few_plays_and_its_law_says_the_theta(point):
    found = estimated(
        unread(steady), method="auto", trials=200, rounds=ROUNDS, family=FAMILY, **point
    )
    truth = by_rule(**point)
    assert found.method == "tilted"
    assert found.pilot_rounds <= 5 * 200 * ROUNDS / 4
    one, other = (e.at_delta or e.delta for e in (found, truth))
    assert max(one.lower, other.lower) <= min(one.upper, other.upper)
    assert not one.no_value
    assert one.upper < (3.0 if "delta" not in point else 1.2) * one.lower


def test_the_theta_of_one_law_is_that_of_the_least_bound():
    mu = 0.3

    def psi(theta):
        return 0.5 * theta * (1.0 + theta) * mu**2

    theta = typical_theta([(psi, 40.0)], 9.0)
    # derivative of 40 psi - 9 theta + ln c_theta
    assert 40.0 * (0.5 + theta) * mu**2 - 9.0 + math.log(theta / (1.0 + theta)) == pytest.approx(
        0.0, abs=0.01
    )
    with pytest.raises(Refusal, match="no tilt makes a loss of 9 typical"):
        typical_theta([(lambda theta: 0.1 * theta, 40.0)], 9.0)


@pytest.mark.parametrize("epsilon", [0.5, 1.5, 3.5])
def test_no_pilot_passes_its_budget(epsilon):
    found = estimated(unread(detour), epsilon, 200, "auto", rounds=ROUNDS, family=FAMILY)
    assert 0 < found.pilot_rounds <= 200 * ROUNDS
    few = estimated(unread(detour), epsilon, 48, "auto", rounds=ROUNDS, family=FAMILY)
    assert 0 < few.pilot_rounds <= 48 * ROUNDS


def test_a_budget_that_is_spent_is_spent_and_a_play_is_not_played_twice():
    s = Specification(steady, FAMILY, ROUNDS, 10, sampling=plain())
    rehearsals = Rehearsals(s, 0, 20_000)
    assert rehearsals.plain() is rehearsals.play(Tilted(0.0))
    once = rehearsals.spent
    assert once == rehearsals.trials * ROUNDS
    pilot_tilt(rehearsals, 3.0)
    while rehearsals.left >= rehearsals.trials:
        rehearsals.play(Tilted(float(len(rehearsals.known))))
    with pytest.raises(Refusal, match="within 20000 rounds of pilot"):
        rehearsals.play(Tilted(0.5))
    assert rehearsals.spent <= 20_000
    assert Rehearsals.of(Specification(steady, FAMILY, 1000, 5000), 0).budget == 5_000_000


def test_plain_play_is_planned_where_it_will_not_be_refused():
    for trials in (50, 200, 5000, 54_000, 10**6):
        probability = 1.0 / (1.0 + plain_enough(trials) ** 2)
        if probability < 1.0:
            assert binom(trials, min(probability, 1.0)).cdf(MINIMUM_HITS - 1) < 1e-6


def test_an_event_that_is_out_of_reach_has_valid_ends():
    """Fifty rounds of .1 lose 5 at most: beyond, the family says 0, and a wider one next to it."""
    none = estimated(unread(steady), 6.0, 300, "auto", rounds=ROUNDS, family=FAMILY)
    assert none.delta.upper == none.tail.upper == none.delta.value == 0.0
    assert none.pilot_rounds == 0
    wide = estimated(unread(steady), 6.0, 300, "auto", rounds=ROUNDS, family=PureDP(0.2))
    for found in (wide.tail, wide.delta):
        assert found.lower == 0.0 < found.upper < 1e-3
        assert "0 of 300 trials hit the event" in found.no_value


def test_the_limit_without_hits_is_that_of_a_binomial():
    limit = upper_limit_without_hits(math.log(0.01), 500, 0.95)
    assert (1.0 - limit / 0.01) ** 500 == pytest.approx(0.025, rel=1e-12)


def test_auto_has_no_value_where_losses_may_be_hidden():
    found = estimated(unread(steady), 4.0, 300, "auto", rounds=ROUNDS, family=PureDP(0.2))
    assert found.method == "guarded"
    assert math.isnan(found.delta.value)
    assert found.delta.no_value.startswith(HIDDEN)
    assert found.delta.lower < found.delta.upper


def test_an_epsilon_that_has_no_value_has_a_point_where_its_delta_is_measured():
    family = PureDP(0.2)
    found = estimated(unread(steady), None, 300, "auto", delta=1e-3, rounds=ROUNDS, family=family)
    assert found.at_delta.no_value.startswith(HIDDEN)
    assert found.at_delta.lower < found.epsilon < found.at_delta.upper
    assert found.delta.lower < 1e-3 < found.delta.upper


def bold(coins):
    while True:
        yield WITHOUT_ALICE, WITH_ALICE, BOLD


def test_the_theta_of_a_guard_leaves_digits_where_the_bound_falls_without_end():
    """At ten rounds of 5 no loss passes 50: the larger theta, the less the bound."""
    for adversary in (bold, Rule(lambda state, *_: (state, 0), on_alice(BOLD), 0)):
        s = Specification(adversary, PureDP(5.0), 10, 100, sampling=plain())
        found = guard(Rehearsals(s, 0, 1000), 50.0, plain())
        assert 1e3 < psi_bound_at(s, 0, found.theta) < LARGEST_PSI
        play_block(replace(s, sampling=found), 0, 0)
        with pytest.raises(InvalidInput, match="no correct digits"):
            play_block(replace(s, sampling=replace(found, theta=262_144.0)), 0, 0)


def test_derivatives_along_a_free_parameter_are_those_of_the_laws():
    entry = (WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, Free(0.05, 1.0)))
    rule = Rule(lambda s, i, a, c: (s, 0, 0.5), (Challenge(*entry),))
    menu = Menu.of(rule, PureDP(1.0), ADD_REMOVE, None)
    epsilons, theta, h = np.array([0.7, 0.06, 0.2, 0.95]), 0.8, 1e-3
    slopes, curvatures = _along(menu, 0, theta, epsilons)
    low, at, high = (
        np.array([float(LaplaceLaw(e).log_mgf(np.array([theta + d]))[0]) for e in epsilons])
        for d in (-h, 0.0, h)
    )
    np.testing.assert_allclose(slopes, (high - low) / (2 * h), rtol=0.02)
    np.testing.assert_allclose(curvatures, (high - 2 * at + low) / h**2, rtol=0.02)


def test_laws_that_stand_for_others_are_spaced_from_the_first_to_the_last():
    """Their counts add up to those of all."""
    laws = [(abs, 2.0), *((partial(pow, number), 0.5) for number in range(401))]
    first, *others = evenly_spaced(laws)
    assert first == laws[0]  # of a large count
    assert [psi.args for psi, _ in others] == [(400 * i // 199,) for i in range(MOST_LAWS)]
    assert first[1] + sum(often for _, often in others) == pytest.approx(2.0 + 401 * 0.5)


def test_the_error_of_one_trial_is_a_deviation_over_the_mean():
    signed = np.random.default_rng(0).normal(size=1000)
    values = np.exp(-signed) * np.maximum(-np.expm1(0.5 - signed), 0.0)
    played = Rehearsal(signed, -signed, lambda chosen: None, lambda chosen: [])
    assert relative_error(played, 0.5) == pytest.approx(values.std() / values.mean(), rel=1e-9)
    assert relative_error(played, 9.0) == math.inf


def test_every_round_but_a_refused_one_has_a_law():
    """The mean and the variance of randomized response's loss; the budget is of three rounds."""
    steps = [0.3, 0.1, 0.3]
    entries = on_alice(*(RandomizedResponse(ALICE, epsilon) for epsilon in steps[:2]))
    rule = Rule(lambda state, i, *_: (state, i % 2), entries, 0)
    s = Specification(rule, PureDP(0.3), 6, 100, sampling=plain(), filter=SumFilter(0.75))
    kept = Rehearsals.of(s, 0).plain().rounds_of(np.arange(5))
    mean = [epsilon * math.tanh(epsilon / 2.0) for epsilon in steps] + [0.0] * 3
    variance = [(epsilon / math.cosh(epsilon / 2.0)) ** 2 for epsilon in steps] + [0.0] * 3
    np.testing.assert_allclose(kept.slopes, [mean] * 5, rtol=1e-5)
    np.testing.assert_allclose(kept.curvatures, [variance] * 5, rtol=1e-5)
