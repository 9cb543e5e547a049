"""Both engines against a plain transcription of Algorithm 1, draw for draw and in law.

Statistical tests have fixed seeds and a false-alarm probability of ALARM each.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import simulator.engine.block
from simulator import Laplace, PureDP
from simulator.adversaries import Rule
from simulator.engine.algorithm_1 import play_as_generator
from simulator.engine.block import Specification, engine_for, play_block
from simulator.engine.compiled.plain_kernel import Engine
from simulator.engine.specification import Played
from simulator.theory import ApproxDP
from tests.helpers.games import (
    ALICE,
    ANYTHING,
    EVERY_KIND,
    FINITE,
    KINDS,
    PRESS,
    RULES,
    always,
    on_alice,
    press_when_ahead,
    wander,
)
from tests.helpers.oracle import as_generator, compose_block, enumerate_losses

pytestmark = pytest.mark.usefixtures("compiles")

ALARM = 1e-9
"""The probability that a test of this file fails on a right engine, each."""

LONG_TO_COMPILE = {"every kind of mechanism in turn", "free parameters of every kind"}
"""Held against the oracle or the interpreter uncompiled, or else compiled once, below."""


def specification(adversary, family, rounds=40, trials=60, **others):
    settings = {"seed": 11, "block_size": 32, "keep_views": trials} | others
    return Specification(adversary, family, rounds, trials, **settings)


def uncompiled(specification, compiled=True):
    return Engine.build(*Played.of(specification).terms, compiled=False)


def assert_same_views(outcome, plays):
    """The views and losses of an outcome are those of the oracle, bit for bit."""
    assert len(outcome.views) == len(plays)
    for view, play in zip(outcome.views, plays):
        assert view.answers == tuple(play.answers)
    assert outcome.losses.tolist() == [play.loss for play in plays]


def assert_draw_for_draw(rule, family, play, **others):
    """``play`` gives the oracle's views in both experiments, in a first and a torn last block."""
    s = specification(rule, family, **others)
    for b in (0, 1):
        for block in range(s.blocks):
            assert_same_views(play(s, b, block), compose_block(s, b, block))


# --- draw for draw ------------------------------------------------------------------------------


@pytest.mark.sampled
@pytest.mark.parametrize("name", [name for name in RULES if name not in LONG_TO_COMPILE])
def test_the_compiled_kernel_plays_the_oracles_game_draw_for_draw(name):
    rule, family = RULES[name]
    assert engine_for(specification(rule, family)).complaint == ""
    assert_draw_for_draw(rule, family, play_block)


@pytest.mark.parametrize("name", RULES)
def test_the_kernel_uncompiled_is_the_interpreter_draw_for_draw(name, monkeypatch):
    rule, family = RULES[name]
    monkeypatch.setattr(simulator.engine.block, "engine_for", uncompiled)
    s = specification(rule, family)
    for b in (0, 1):
        kernel, generator = play_block(s, b, 1), play_as_generator(s, b, 1)
        assert kernel.losses.tolist() == generator.losses.tolist()
        assert kernel.views == generator.views


@pytest.mark.nightly
def test_the_compiled_kernel_is_the_interpreter_for_every_kind_of_mechanism():
    s = specification(EVERY_KIND, ANYTHING)
    for b in (0, 1):
        kernel, generator = play_block(s, b, 1), play_as_generator(s, b, 1)
        assert kernel.losses.tolist() == generator.losses.tolist()
        assert kernel.views == generator.views


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "report noisy max"])
def test_each_mechanism_is_played_as_it_draws_by_itself(kind, monkeypatch):
    monkeypatch.setattr(simulator.engine.block, "engine_for", uncompiled)
    assert_draw_for_draw(Rule(always, on_alice(KINDS[kind])), ANYTHING, play_block)


def test_a_generator_adversary_plays_the_oracles_game_draw_for_draw():
    assert_draw_for_draw(press_when_ahead, PureDP(0.2), play_block)


def test_whether_views_or_moments_are_kept_changes_no_loss():
    for adversary, family in [(PRESS, PureDP(0.2)), (press_when_ahead, PureDP(0.2))]:
        plain = specification(adversary, family, keep_views=0)
        for others in ({"keep_views": 7}, {"trace": True}, {"keep_views": 3, "trace": True}):
            kept = replace(plain, **others)
            for b in (0, 1):
                same = play_block(plain, b, 0).losses.tolist()
                assert play_block(kept, b, 0).losses.tolist() == same


def test_a_longer_run_begins_with_the_shorter_one():
    short, long = (specification(PRESS, PureDP(0.2), trials=n, keep_views=0) for n in (32, 96))
    assert play_block(short, 1, 0).losses.tolist() == play_block(long, 1, 0).losses.tolist()
    assert play_block(long, 1, 0).losses.tolist() != play_block(long, 1, 1).losses.tolist()


@pytest.mark.parametrize("adversary", [PRESS, press_when_ahead])
def test_moments_along_the_rounds_are_those_of_the_oracles_paths(adversary):
    s = specification(adversary, PureDP(0.2), trace=True)
    paths = []
    for play in compose_block(s, 1, 0):
        steps = [
            mechanism.log_likelihood_ratio(answer, first, second)
            for (first, second, mechanism), answer in zip(play.challenges, play.answers)
        ]
        paths.append(np.cumsum(steps))
    total, squares, count = play_block(s, 1, 0).trace
    np.testing.assert_allclose(total, np.sum(paths, axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(squares, np.sum(np.square(paths), axis=0), rtol=1e-12)
    assert (count == 32).all()


# --- in law -------------------------------------------------------------------------------------


def losses_of(rule, family, b, rounds, trials):
    s = specification(rule, family, rounds=rounds, trials=trials, block_size=trials, keep_views=0)
    return play_block(s, b, 0).losses


def assert_law(rule, family, rounds=4, trials=40_000):
    """Losses follow the law that walking the whole tree of answers gives: Pearson's chi-square."""
    for b in (0, 1):
        law = enumerate_losses(as_generator(rule), rounds, b)
        assert abs(sum(law.values()) - 1.0) < 1e-12
        found = losses_of(rule, family, b, rounds, trials)
        values, counts = np.unique(found, return_counts=True)
        atoms = np.array(sorted(law))
        place = [int(np.flatnonzero(_near(atoms, value))[0]) for value in values]
        observed = np.zeros(len(atoms))
        np.add.at(observed, place, counts)
        expected = trials * np.array([law[atom] for atom in atoms])
        rare = expected < 10.0
        pooled = [np.append(x[~rare], x[rare].sum()) for x in (observed, expected)]
        keep = pooled[1] > 0
        assert stats.chisquare(pooled[0][keep], pooled[1][keep]).pvalue > ALARM


def _near(atoms, value):
    if np.isinf(value):
        return atoms == value
    return np.abs(atoms - value) < 1e-9


@pytest.mark.nightly
def test_the_losses_of_finite_mechanisms_follow_their_exact_law():
    assert_law(FINITE, ANYTHING)


def assert_in_law(adversary, family, b, rounds=5, trials=1500):
    """Losses and the oracle's losses are draws of one law: two-sample Kolmogorov-Smirnov."""
    s = specification(adversary, family, rounds=rounds, trials=trials, block_size=trials)
    apart = replace(s, seed=s.seed + 1, keep_views=0)
    witness = [play.loss for play in compose_block(apart, b, 0)]
    found = play_block(s, b, 0).losses
    big = 1e3  # a revealing answer's infinite loss, as a number that the test can rank
    test = stats.ks_2samp(np.clip(found, -big, big), np.clip(witness, -big, big))
    assert test.pvalue > ALARM


@pytest.mark.sampled
@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("adversary", [EVERY_KIND, wander])
@pytest.mark.nightly
def test_mechanisms_that_draw_in_another_way_give_the_same_law(adversary, b):
    # report noisy max runs its algorithm for the oracle, and its table of probabilities here
    assert_in_law(adversary, ANYTHING, b)


# --- the same checks fail on a broken engine ----------------------------------------------------


def b_ignored(kernel):
    return lambda b, *rest, **sums: kernel(0, *rest, **sums)


def experiments_exchanged(kernel):
    return lambda b, *rest, **sums: kernel(1 - b, *rest, **sums)


def sign_flipped(kernel):
    def broken(b, entries, coins, noise, kept):
        status = kernel(b, entries, coins, noise, kept)
        kept.losses[:] *= -1.0
        return status

    return broken


def coins_for_noise(kernel):
    return lambda b, entries, coins, noise, kept: kernel(b, entries, noise, coins, kept)


def broken_engine(how):
    def build(specification, compiled):
        engine = uncompiled(specification)
        return replace(engine, kernel=how(engine.kernel))

    return build


@pytest.mark.parametrize("how", [b_ignored, experiments_exchanged, sign_flipped, coins_for_noise])
def test_draw_for_draw_fails_on_a_broken_kernel(how, monkeypatch):
    monkeypatch.setattr(simulator.engine.block, "engine_for", broken_engine(how))
    with pytest.raises(AssertionError):
        assert_draw_for_draw(PRESS, PureDP(0.2), play_block)


@pytest.mark.parametrize("how", [b_ignored, experiments_exchanged, sign_flipped])
def test_the_law_fails_on_a_broken_kernel(how, monkeypatch):
    monkeypatch.setattr(simulator.engine.block, "engine_for", broken_engine(how))
    with pytest.raises((AssertionError, IndexError)):
        assert_law(FINITE, ANYTHING, trials=8000)


class HalfTheNoise(Laplace):
    """Draws with half the noise that it claims."""

    def sample(self, database, noise, relation=None):
        answer, value = super().sample(database, noise), self.query(database)
        return value + 0.5 * (answer - value)


def test_the_oracle_tells_a_mechanism_with_half_the_noise():
    s = specification(Rule(always, on_alice(Laplace(ALICE, 0.7))), ApproxDP(2.0, 0.3))
    lying = Rule(always, on_alice(HalfTheNoise(ALICE, 0.7)))
    with pytest.raises(AssertionError):
        assert_same_views(play_as_generator(s, 0, 0), compose_block(s, 0, 0, as_generator(lying)))
