"""Tilted play compiled and interpreted, draw for draw; the weights average to 1.

Statistical tests have fixed seeds and a false-alarm probability of ALARM each.
"""

import math

import numpy as np
import pytest
from scipy.stats import norm

import simulator.engine.block
from simulator import Gaussian, Laplace, RandomizedResponse
from simulator.adversaries import Rule
from simulator.engine.algorithm_1 import play_as_generator
from simulator.engine.block import play_block, tilted_engine_for
from simulator.engine.compiled.tilted_kernel import TiltedEngine
from simulator.engine.sampling import Steered, Tilted
from simulator.engine.specification import Played, Specification
from simulator.mechanisms import Exponential, Free, Geometric
from simulator.theory import ApproxDP
from simulator.theory.filters.advanced import WhitehouseFilter
from tests.helpers.small_games import (
    ALICE,
    ANYTHING,
    MECHANISMS,
    SCORES,
    STEERED,
    on_alice,
    survey,
)

pytestmark = pytest.mark.usefixtures("compiles")

ALARM = 1e-9
LOOSE = ApproxDP(6.0, 0.5)


def spend_on(entries):
    """Every entry's parameter is free: choose it by the last answer and what is left."""

    def spend(state, i, answer, _coins):
        left = state if i > 0 else 5.0
        parameter = 0.5 + 0.25 / (1.0 + left * left)
        if answer > 0.5:
            parameter = 0.9
        return left - parameter, i % entries, parameter

    return spend


def go_round(state, _i, answer, _coins):
    """Every table in turn, but one is passed over after a large answer."""
    place = (state + (2 if answer > 1.0 else 1)) % 7
    return place, place


def turn(state, _i, answer, _coins):
    place = (state + (2 if answer > 1.0 else 1)) % 3
    return place, place


def toss(state, _i, answer, coins):
    return state, 1 if coins.random() < 0.3 or answer > 2.0 else 0


CONTINUOUS = Rule(
    turn, on_alice(Laplace(ALICE, 0.7), Geometric(ALICE, 0.6), Gaussian(ALICE, 2.0)), state=0
)
FREE = Rule(
    spend_on(5),
    on_alice(
        Laplace(ALICE, Free(0.1, 1.0)),
        RandomizedResponse(ALICE, Free(0.1, 1.0)),
        Geometric(ALICE, Free(0.1, 1.0)),
        Gaussian(ALICE, Free(0.4, 1.0)),
        Exponential(SCORES, Free(0.1, 1.0)),
    ),
)
FREE_OF_TWO = Rule(spend_on(2), FREE.menu[:2])
TOSS = Rule(toss, on_alice(Laplace(ALICE, 0.2), RandomizedResponse(ALICE, 0.5)))
TABLES = Rule(go_round, on_alice(*MECHANISMS.values()), state=0)
RULES = {
    "every table": TABLES,
    "continuous": CONTINUOUS,
    "free parameters": FREE_OF_TWO,
    "coins": TOSS,
}
ON_EDGES = Steered(
    np.array([-0.5, 0.4, 1.5]),
    np.array([[0, 1, 2, 1, 0, 2], [2, 1, 0, 0, 1, 2]], dtype=np.int64),
    (-0.9, 0.9),
)
"""Its columns begin where sums of losses of 0.3 lie, so that rounding decides between two."""


def specification(adversary, sampling, **others):
    settings = {"rounds": 30, "trials": 50, "seed": 11, "block_size": 32, "keep_views": 50}
    return Specification(adversary, LOOSE, sampling=sampling, **(settings | others))


def assert_same(first, second):
    assert first.losses.tolist() == second.losses.tolist()
    assert first.log_weights.tolist() == second.log_weights.tolist()
    assert str(first.views) == str(second.views)  # NaN answers of refused rounds equal themselves


@pytest.mark.nightly
@pytest.mark.parametrize("name", RULES)
def test_the_compiled_kernel_is_the_interpreter_bit_for_bit(name):
    rule = RULES[name]
    for sampling in (Tilted(1.3), Tilted(-0.6), STEERED):
        s = specification(rule, sampling)
        assert tilted_engine_for(s).complaint == ""
        for b in (0, 1):
            for block in range(s.blocks):
                assert_same(play_block(s, b, block), play_as_generator(s, b, block))


def test_free_parameters_of_every_kind_uncompiled(monkeypatch):
    """numba takes half a minute for this rule; left uncompiled the kernel is the same program."""
    build = TiltedEngine.build
    engines = {}

    def uncompiled(specification, compiled):
        played = Played.of(specification)
        return engines.setdefault(played, build(*played.terms, compiled=False))

    monkeypatch.setattr(simulator.engine.block, "tilted_engine_for", uncompiled)
    for sampling in (Tilted(1.3), Tilted(-0.6), STEERED):
        s = specification(FREE, sampling)
        for b in (0, 1):
            assert_same(play_block(s, b, 1), play_as_generator(s, b, 1))


@pytest.mark.nightly
def test_a_filter_refuses_the_same_rounds_in_both():
    filter_ = WhitehouseFilter(6.0, 0.95, 0.9)
    s = specification(TABLES, STEERED, filter=filter_)
    for b in (0, 1):
        outcome = play_block(s, b, 0)
        assert_same(outcome, play_as_generator(s, b, 0))
        assert any(math.isnan(answer) for view in outcome.views for answer in view.answers)


def always(_state, _i, _answer, _coins):
    return 0.0, 0


@pytest.mark.nightly
def test_a_loss_on_a_columns_edge_is_steered_alike():
    rule = Rule(always, on_alice(RandomizedResponse(ALICE, 0.3)))
    s = specification(rule, ON_EDGES, rounds=40, trials=400, block_size=400, keep_views=0)
    for b in (0, 1):
        assert_same(play_block(s, b, 0), play_as_generator(s, b, 0))


def mean_weight_z(s, b, play):
    """How many standard errors the mean weight lies from 1."""
    weights = np.exp(np.concatenate([play(s, b, i).log_weights for i in range(s.blocks)]))
    return (weights.mean() - 1.0) / (weights.std() / math.sqrt(weights.size))


SMALL = Steered(
    np.array([-0.3, 0.0, 0.3]), np.array([[0, 1, 2], [2, 0, 1]], dtype=np.int64), (-1.0, 1.0)
)


@pytest.mark.sampled
@pytest.mark.parametrize("sampling", [Tilted(0.25), Tilted(-0.3), SMALL], ids=str)
@pytest.mark.parametrize("name", RULES)
def test_weights_average_to_one(name, sampling):
    s = specification(
        RULES[name], sampling, rounds=6, trials=10_000, block_size=5_000, keep_views=0
    )
    for b in (0, 1):
        assert abs(mean_weight_z(s, b, play_block)) < norm.isf(ALARM / 2)


def test_a_generators_weights_average_to_one():
    s = specification(survey, SMALL, rounds=5, trials=8000, block_size=8000, keep_views=0)
    for b in (0, 1):
        assert abs(mean_weight_z(s, b, play_block)) < norm.isf(ALARM / 2)


def test_a_wrong_psi_is_seen_in_the_mean_weight(monkeypatch):
    play = TiltedEngine.play

    def broken(self, b, sampling, rounds, coins, noise, *, log_weights, **others):
        play(self, b, sampling, rounds, coins, noise, log_weights=log_weights, **others)
        log_weights += rounds * 0.01

    monkeypatch.setattr(TiltedEngine, "play", broken)
    s = specification(TABLES, SMALL, rounds=6, trials=10_000, block_size=5_000, keep_views=0)
    for b in (0, 1):
        assert abs(mean_weight_z(s, b, play_block)) > norm.isf(ALARM / 2)


def test_families_that_hold_these_mechanisms():
    assert all(mechanism.guarantee().implies(ANYTHING) for mechanism in MECHANISMS.values())
