"""Guarded play: compiled against interpreted, its weights against enumeration, and its bound."""

import math
from typing import NamedTuple

import numpy as np
import pytest

import simulator.engine.block
from simulator import Gaussian, Laplace, RandomizedResponse
from simulator.adversaries import Rule
from simulator.engine.algorithm_1 import play_as_generator
from simulator.engine.block import play_block, tilted_engine_for
from simulator.engine.compiled.tilted_kernel import TiltedEngine
from simulator.engine.sampling import Covering, Guarded, Steered, Tilted
from simulator.engine.specification import Played, Specification
from simulator.engine.weight_bounds import psi_bound_at, weight_exponents
from simulator.errors import InvalidInput
from simulator.theory import ApproxDP
from simulator.theory.filters.advanced import WhitehouseFilter
from simulator.theory.filters.sums import SumFilter
from tests.helpers.small_games import (
    ALICE,
    ANYTHING,
    FINITE,
    MECHANISMS,
    STEERED,
    adaptive,
    on_alice,
    survey,
)
from tests.helpers.trees import Script, approx, by_algorithm_1, leaves

pytestmark = pytest.mark.usefixtures("compiles")

GUARDS = [
    Guarded(Tilted(0.7), 1.3, 0.2),
    Guarded(STEERED, 0.4, 0.2),
    Guarded(Tilted(-0.5), 0.0, 0.6),
]
LOOSE = ApproxDP(6.0, 0.5)


def specification(adversary, sampling, rounds=4, **others):
    settings = {"trials": 60, "seed": 11, "block_size": 40} | others
    return Specification(adversary, LOOSE, rounds, sampling=sampling, **settings)


def turn(state, _i, answer, _coins):
    place = (state + (2 if answer > 1.0 else 1)) % 3
    return place, place


def toss(state, _i, answer, coins):
    return state, 1 if coins.random() < 0.3 or answer > 2.0 else 0


TURN = Rule(
    turn,
    on_alice(Laplace(ALICE, 0.7), MECHANISMS["exponential"], Gaussian(ALICE, 2.0)),
    0,
)
TOSS = Rule(toss, on_alice(Laplace(ALICE, 0.2), RandomizedResponse(ALICE, 0.5)))


def assert_same(first, second):
    assert first.losses.tolist() == second.losses.tolist()
    assert first.log_weights.tolist() == second.log_weights.tolist()
    assert str(first.views) == str(second.views)


@pytest.mark.sampled
@pytest.mark.parametrize("rule", [TURN, TOSS], ids=["continuous", "coins"])
def test_the_compiled_kernel_is_the_interpreter_bit_for_bit(rule):
    for sampling in GUARDS:
        s = specification(rule, sampling, rounds=25, keep_views=8)
        assert tilted_engine_for(s).complaint == ""
        for b in (0, 1):
            for block in range(s.blocks):
                assert_same(play_block(s, b, block), play_as_generator(s, b, block))


def test_a_filter_and_a_free_parameter_uncompiled(monkeypatch):
    """Left uncompiled the kernel is the same program."""
    from tests.analysis.rare.test_engines import FREE  # its menu has a free parameter of every kind

    build, engines = TiltedEngine.build, {}

    def uncompiled(s, compiled):
        played = Played.of(s)
        return engines.setdefault(played, build(*played.terms, compiled=False))

    monkeypatch.setattr(simulator.engine.block, "tilted_engine_for", uncompiled)
    for filter_ in (None, WhitehouseFilter(6.0, 0.95, 0.9)):
        rule = FREE if filter_ is None else FINITE
        for sampling in GUARDS:
            s = specification(rule, sampling, rounds=20, keep_views=4, filter=filter_)
            for b in (0, 1):
                assert_same(play_block(s, b, 1), play_as_generator(s, b, 1))


# --- against every view ----------------------------------------------------------------------


class Drawn(NamedTuple):
    """The draws of a play."""

    draws: tuple


def by_generator(s, b, draws):
    return by_algorithm_1(s, b, Drawn(draws))


def by_kernel(s, b, draws):
    engine = TiltedEngine.build(s.adversary, s.family, s.relation, s.filter, compiled=False)
    signed, log_weights, answers = np.empty(1), np.empty(1), np.empty((1, s.rounds))
    engine.play(
        b, s.sampling, s.rounds, np.random.default_rng(0), Script(draws),
        losses=signed, log_weights=log_weights, answers=answers,
    )  # fmt: skip
    return tuple(answers[0].tolist()), float(signed[0]), float(log_weights[0])


def assert_exact(s, b, play):
    """Of every view, Q = (1 - share) Q_beside + share Q_guard and W = P/Q, whoever drew it."""
    guarded = s.sampling
    parts = [
        leaves(s.adversary, s.rounds, b, measure, s.filter)
        for measure in (guarded.beside, Tilted(guarded.theta))
    ]
    law = [{leaf.answers: leaf.tilted for leaf in part} for part in parts]
    answers_of = [str(sorted(one, key=str)) for one in law]
    assert answers_of[0] == answers_of[1]
    by_name = [{str(answers): mass for answers, mass in one.items()} for one in law]
    total = 0.0
    for place, first in ((0, (1.0 + guarded.share) / 2.0), (1, guarded.share / 2.0)):
        for leaf in parts[place]:
            answers, signed, log_weight = play(s, b, (first, *leaf.draws))
            np.testing.assert_array_equal(answers, leaf.answers)
            np.testing.assert_allclose(signed, leaf.signed, rtol=1e-11, atol=1e-12)
            name = str(leaf.answers)
            mixed = (1.0 - guarded.share) * by_name[0][name] + guarded.share * by_name[1][name]
            assert mixed * math.exp(log_weight) == approx(leaf.probability)
            total += mixed if place == 0 else 0.0
            for theta, most in weight_exponents(s, b) or ():
                assert log_weight <= most - (theta * signed if theta else 0.0) + 1e-9
    assert total == approx(1.0)


@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("sampling", GUARDS, ids=["tilted", "steered", "backwards"])
@pytest.mark.sampled
@pytest.mark.parametrize("name", ["exponential", "leaky", "above threshold"])
def test_every_view_weighs_what_it_should(name, sampling, b):
    s = Specification(adaptive(name), ANYTHING, 3, 10, sampling=sampling)
    assert_exact(s, b, by_generator)
    assert_exact(s, b, by_kernel)


@pytest.mark.nightly
def test_every_view_of_a_generator_and_under_a_filter():
    for b in (0, 1):
        s = Specification(survey, ANYTHING, 3, 10, sampling=GUARDS[1])
        assert_exact(s, b, by_generator)
        s = Specification(FINITE, ANYTHING, 3, 10, sampling=GUARDS[1], filter=SumFilter(1.6, 0.1))
        assert_exact(s, b, by_kernel)


def test_a_guard_that_weighs_nothing_is_caught(monkeypatch):
    monkeypatch.setattr(Guarded, "log_weight", lambda self, beside, guard: beside)
    s = Specification(adaptive("exponential"), ANYTHING, 3, 10, sampling=GUARDS[0])
    with pytest.raises(AssertionError):
        assert_exact(s, 0, by_generator)


# --- its bound -------------------------------------------------------------------------------


@pytest.mark.parametrize("sampling", [
    Guarded(Tilted(2.0), 0.8, 0.2),
    Guarded(Tilted(6.0), 0.8, 0.2),
    Guarded(Steered(np.array([-3.0, 4.0]), np.array([[1, 0, 1, 0]]), (-2.0, 2.0)), 1.5, 0.2),
], ids=["mild", "far off", "steered astray"])  # fmt: skip
@pytest.mark.parametrize("compiled", [True, False])
def test_no_weight_passes_the_bound_known_in_advance(sampling, compiled):
    """Under whatever measure the other trials are drawn; some of them would pass it alone."""
    adversary = TOSS if compiled else (lambda coins: TOSS(coins))
    trials = 6000 if compiled else 400
    s = specification(adversary, sampling, 12, trials=trials, block_size=trials)
    theta = sampling.theta
    for b in (0, 1):
        bound = psi_bound_at(s, b, theta) - math.log(sampling.share)
        assert weight_exponents(s, b) == ([(theta, bound)] if math.isfinite(bound) else None)
        outcome = play_block(s, b, 0)
        signed = -outcome.losses if b else outcome.losses
        if math.isfinite(bound):
            assert (outcome.log_weights + theta * signed).max() <= bound + 1e-9
        else:
            assert not compiled  # the family LOOSE of the generator leaks


def test_without_a_guard_weights_pass_that_bound():
    """The test above can fail."""
    bare = specification(TOSS, Tilted(6.0), 12, trials=6000, block_size=6000)
    bound = psi_bound_at(bare, 0, 0.8) - math.log(0.2)
    outcome = play_block(bare, 0, 0)
    assert (outcome.log_weights + 0.8 * outcome.losses).max() > bound


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((Covering(1.0), 1.0, 0.2), "beside a Tilted or a Steered"),
        ((GUARDS[0], 1.0, 0.2), "beside a Tilted or a Steered"),
        ((Tilted(1.0), -1.0, 0.2), "theta >= 0"),
        ((Tilted(1.0), math.nan, 0.2), "theta"),
        ((Tilted(1.0), 1.0, 0.0), "share"),
        ((Tilted(1.0), 1.0, 1.0), "share"),
    ],
)
def test_bad_input_is_one_line(arguments, complaint):
    with pytest.raises(InvalidInput, match=complaint) as error:
        Guarded(*arguments)
    assert "\n" not in str(error.value)


def test_equal_measures_are_equal_and_written_alike():
    one, other = Guarded(Tilted(1.0), 2, 0.2), Guarded(Tilted(1), 2.0, 0.2)
    assert one == other
    assert str(one) == str(other) == "guarded:2.0,0.2:tilted:1.0"
    assert hash(one) == hash(other)
    assert one != Guarded(Tilted(1.0), 2.0, 0.3)
