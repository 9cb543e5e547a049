"""Filters of realised losses in play: every engine hands them the same losses, with their sign."""

import math

import numpy as np
import pytest

from simulator import Laplace, PureDP, RandomizedResponse, simulate
from simulator.adversaries import Rule
from simulator.analysis.rare import enumerate_states
from simulator.engine.algorithm_1 import play_as_generator
from simulator.engine.sampling import Tilted
from simulator.engine.specification import Specification
from simulator.errors import InvalidInput, NotApplicable
from simulator.theory import RealisedFilter, SumFilter
from simulator.theory.filters.interface import Filter
from tests.helpers.games import ALICE, always, on_alice

pytestmark = pytest.mark.usefixtures("compiles")

SPEC = RealisedFilter(1.0, 0.02)
FAMILY = PureDP(0.3)
ROUNDS = 30
RISKY = Rule(
    lambda state, i, answer, coins: (state, 1 if answer > 0.5 else 0),
    on_alice(RandomizedResponse(ALICE, 0.11), RandomizedResponse(ALICE, 0.3)),
)


class Lopsided(Filter):
    """Admit while the realised loss is below 0.25, however far below it is."""

    name, source, proved = "lopsided", "broken on purpose", False

    @staticmethod
    def step(state, epsilon, delta):
        return state[0] < 0.25, state

    @staticmethod
    def observe(state, loss):
        return (state[0] + loss,)

    @property
    def initial(self):
        return (0.0,)


def generated(rule):
    def adversary(coins):
        return rule(coins)

    adversary.name = rule.name
    return adversary


def play(adversary, trials=200, rounds=ROUNDS, **others):
    return simulate(
        adversary, FAMILY, rounds, trials, jobs=1, progress=False, seed=5,
        **({"filter": SPEC, "block_size": 100} | others),
    )  # fmt: skip


@pytest.mark.nightly
@pytest.mark.parametrize("sampling", [None, Tilted(2.0)], ids=["plain", "tilted"])
def test_compiled_and_generated_play_is_the_same(sampling):
    compiled, plain = (play(a, keep_views=200, sampling=sampling)
                       for a in (RISKY, generated(RISKY)))  # fmt: skip
    refused = 0
    for one, other in zip(compiled.views, plain.views, strict=True):
        np.testing.assert_array_equal(one.answers, other.answers)
        refused += int(np.isnan(one.answers).sum())
    assert 0 < refused < 400 * ROUNDS
    for b in (0, 1):
        np.testing.assert_allclose(compiled.losses(b), plain.losses(b), atol=1e-12)


def test_what_is_admitted_is_what_the_running_filter_admits_from_the_losses():
    result = play(generated(RISKY), keep_views=40, trials=40)
    for view in result.views:
        replayed, running = result.replay(view), SPEC.fresh()
        for challenge, answer, loss in zip(
            replayed.challenges, view.answers, replayed.round_losses, strict=True
        ):
            guarantee = challenge.mechanism.guarantee()
            assert running.admits(guarantee) == (answer == answer)
            if answer == answer:
                running.spend(guarantee)
                running.observe(loss)


WAYS = [
    pytest.param(lambda rule: rule, id="compiled", marks=pytest.mark.nightly),
    pytest.param(generated, id="generated"),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sampling", [None, Tilted(0.5)], ids=["plain", "tilted"])
def test_the_loss_has_the_sign_of_experiment_0_in_both_experiments(sampling, way):
    """The lopsided filter stops at +0.3: a loss of the wrong sign would stop at -0.3."""
    adversary = way(Rule(always, on_alice(RandomizedResponse(ALICE, 0.1))))
    result = play(adversary, filter=Lopsided(1.0, 0.1), sampling=sampling)
    for b in (0, 1):
        losses = result.losses(b)
        assert losses.max() == pytest.approx(0.3)
        assert losses.min() < -0.35


@pytest.mark.parametrize("b", [0, 1])
def test_algorithm_1_hands_over_each_loss_as_it_is(b):
    adversary = generated(Rule(always, on_alice(RandomizedResponse(ALICE, 0.1))))
    s = Specification(adversary, FAMILY, 12, 30, seed=5, filter=Lopsided(1.0, 0.1))
    losses = play_as_generator(s, b, 0).losses
    assert losses.max() == pytest.approx(0.3)
    assert losses.min() < -0.35


def by_the_tree(spec, rounds, b, epsilon):
    """delta(epsilon) of RISKY in experiment b, over the tree of all answers."""

    def value(state, last, loss, left):
        if left == 0:
            return max(0.0, -math.expm1(epsilon - (-loss if b else loss)))
        entry = 1 if last > 0.5 else 0
        mechanism = RISKY.menu[entry].mechanism
        admitted, after = spec.step(state, mechanism.epsilon, 0.0)
        if not admitted:
            return value(after, math.nan, loss, left - 1)
        pair = mechanism.pair(*RISKY.menu[entry][:2])
        total = 0.0
        for answer in (0.0, 1.0):
            gained = pair.loss(answer)
            mass = 1.0 / (1.0 + math.exp(gained if b else -gained))
            total += mass * value(spec.observe(after, gained), answer, loss + gained, left - 1)
        return total

    return value(spec.initial, math.nan, 0.0, rounds)


@pytest.mark.parametrize("spec", [SPEC, Lopsided(1.0, 0.1)], ids=["realised", "lopsided"])
def test_enumerated_states_have_the_delta_of_the_tree_of_answers(spec):
    for b in (0, 1):
        s = Specification(RISKY, FAMILY, 9, 10, filter=spec)
        found = enumerate_states(s, b).delta(0.2)
        assert found == pytest.approx(by_the_tree(spec, 9, b, 0.2), rel=1e-9)


def test_what_cannot_be_accounted_for_is_refused_in_one_line():
    noise = Rule(always, on_alice(Laplace(ALICE, 0.2)))
    with pytest.raises(NotApplicable, match="continuum"):
        enumerate_states(Specification(noise, FAMILY, 5, 10, filter=SPEC), 0)
    assert len(play(generated(noise), rounds=5).losses(0)) == 200
    with pytest.raises(InvalidInput, match="nan"):
        SPEC.fresh().observe(math.nan)
    with pytest.raises(InvalidInput, match="observe"):
        type("Bad", (Lopsided,), {"observe": lambda self, loss: loss})(1.0, 0.1)
    running = SumFilter(1.0).fresh()
    running.observe(0.3)  # without effect
    assert running.state == SumFilter(1.0).initial
