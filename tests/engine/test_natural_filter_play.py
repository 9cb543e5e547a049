"""The natural filter inside play: rules, generators and automata make the same decisions."""

import math

import numpy as np
import pytest

from simulator import Gaussian, Laplace, PureDP, RandomizedResponse, simulate
from simulator.adversaries import Rule
from simulator.analysis.ceilings import delta_ceiling, epsilon_ceiling
from simulator.analysis.rare import enumerate_states
from simulator.data import ADD_REMOVE
from simulator.engine.block import engine_for
from simulator.engine.compiled.menu import Menu
from simulator.engine.compiled.plain_kernel import Engine
from simulator.engine.specification import Specification
from simulator.errors import NotApplicable
from simulator.mechanisms import Free, LeakyRandomizedResponse
from simulator.theory import ZCDP, ApproxDP, GaussianDP, NaturalFilter, SumFilter
from simulator.theory.filters.natural import DominatingPair, Kind
from tests.helpers.games import ALICE, WITH_ALICE, WITHOUT_ALICE, always, on_alice

pytestmark = pytest.mark.usefixtures("compiles")

SPEC = NaturalFilter(1.0, 1e-3)
FAMILY = ApproxDP(1.0, 1e-3)
ROUNDS = 25


def wander(state, i, answer, coins):
    """Large stakes after an answer for Alice's presence, the leaky entry now and then."""
    if i % 5 == 4:
        return state, 2
    return state, 1 if answer > 0.5 else 0


MIXED = Rule(
    wander,
    on_alice(
        RandomizedResponse(ALICE, 0.1),
        Laplace(ALICE, 0.3),
        LeakyRandomizedResponse(ALICE, 0.2, 1e-4),
    ),
)
TWO = Rule(
    lambda state, i, answer, coins: (state, 1 if answer > 0.5 else 0),
    on_alice(RandomizedResponse(ALICE, 0.1), RandomizedResponse(ALICE, 0.3)),
)


def generated(rule):
    def adversary(coins):
        return rule(coins)

    adversary.name = rule.name
    return adversary


def play(adversary, trials=100, family=FAMILY, rounds=ROUNDS, **others):
    return simulate(
        adversary, family, rounds, trials, jobs=1, progress=False, seed=5, block_size=50,
        **({"filter": SPEC} | others),
    )  # fmt: skip


@pytest.mark.nightly
def test_compiled_interpreted_and_generated_play_is_the_same_to_the_bit():
    compiled, plain = play(MIXED, keep_views=200), play(generated(MIXED), keep_views=200)
    interpreted = Engine.build(MIXED, FAMILY, ADD_REMOVE, SPEC, compiled=False)
    machine = engine_for(compiled.specification)
    refused = 0
    for one, other in zip(compiled.views, plain.views, strict=True):
        np.testing.assert_array_equal(one.answers, other.answers)
        refused += int(np.isnan(one.answers).sum())
    assert 0 < refused < 200 * ROUNDS
    for b in (0, 1):
        np.testing.assert_array_equal(compiled.losses(b), plain.losses(b))
        found = []
        for engine in (interpreted, machine):
            losses, answers = np.empty(50), np.empty((50, ROUNDS))
            streams = np.random.default_rng(1), np.random.default_rng(2)
            engine.play(b, *streams, losses, ROUNDS, answers=answers)
            found.append((losses, answers))
        np.testing.assert_array_equal(found[0][0], found[1][0])
        np.testing.assert_array_equal(found[0][1], found[1][1])


@pytest.mark.nightly
def test_what_is_admitted_in_play_is_what_the_running_filter_admits():
    result = play(TWO, keep_views=40, trials=40)
    for view in result.views:
        replayed, running = result.replay(view), SPEC.fresh()
        for challenge, answer in zip(replayed.challenges, view.answers, strict=True):
            guarantee = challenge.mechanism.guarantee()
            assert running.admits(guarantee) == (answer == answer)
            if answer == answer:
                running.spend(guarantee)


def test_enumerated_states_are_those_that_are_played():
    losses = play(TWO, trials=20_000, rounds=12, family=PureDP(0.3)).losses(0)
    s = Specification(TWO, PureDP(0.3), 12, 10, filter=SPEC)
    exact = enumerate_states(s, 0).delta(0.5)
    gains = np.maximum(0.0, -np.expm1(0.5 - losses))
    # Hoeffding with a false alarm of 1e-9
    assert abs(gains.mean() - exact) < math.sqrt(math.log(2e9) / (2 * len(losses)))
    free = enumerate_states(Specification(TWO, PureDP(0.3), 12, 10), 0).delta(0.5)
    assert exact < 0.5 * free


def test_laplace_noise_on_one_number_is_charged_its_own_law():
    def ask_for(mechanism):
        def ask(coins):
            while True:
                yield WITHOUT_ALICE, WITH_ALICE, mechanism

        return ask

    spec = NaturalFilter(1.0, 1e-5)
    for mechanism, most in ((Laplace(ALICE, 0.05), 31), (RandomizedResponse(ALICE, 0.05), 30)):
        view = play(ask_for(mechanism), 1, rounds=40, keep_views=1, filter=spec).views[0]
        assert np.isfinite(view.answers).sum() == most
    table = Menu.of(Rule(always, on_alice(Laplace(ALICE, 0.05))), FAMILY, ADD_REMOVE, spec)
    assert table.prices == (DominatingPair(0.05, Kind.LAPLACE),)


def test_gaussian_rounds_of_any_size_appear_over_time():
    def ask(coins):
        for i in range(ROUNDS):
            yield WITHOUT_ALICE, WITH_ALICE, Gaussian(ALICE, 5.0 + i)

    view = play(ask, trials=1, keep_views=1, family=GaussianDP(0.2)).views[0]
    assert 0 < np.isfinite(view.answers).sum() < ROUNDS


def test_no_ceiling_rests_on_a_promise_that_is_not_kept():
    natural = Specification(TWO, PureDP(0.3), 40, 10, filter=SPEC)
    bare = Specification(TWO, PureDP(0.3), 40, 10)
    kept = Specification(TWO, PureDP(0.3), 40, 10, filter=SumFilter(1.0, 1e-3))
    assert delta_ceiling(natural, 1.0) == delta_ceiling(bare, 1.0) > 1e-3
    assert epsilon_ceiling(natural, 1e-3) == epsilon_ceiling(bare, 1e-3) > 1.0
    assert delta_ceiling(kept, 1.0) == 1e-3


def test_a_free_entry_is_refused_before_play():
    rule = Rule(
        lambda state, i, answer, coins: (state, 0, 0.2),
        on_alice(RandomizedResponse(ALICE, Free(0.1, 0.3))),
    )
    with pytest.raises(NotApplicable, match="natural filter cannot account for a free epsilon"):
        play(rule)


@pytest.mark.parametrize("adversary", [TWO, generated(TWO)], ids=["rule", "generator"])
def test_a_stored_run_resumes(tmp_path, adversary):
    play(adversary, trials=50, out=tmp_path)
    resumed = play(adversary, trials=150, out=tmp_path)
    assert resumed.specification.filter == SPEC
    np.testing.assert_array_equal(resumed.losses(0), play(adversary, trials=150).losses(0))


def test_a_mechanism_without_a_dominating_pair_is_refused():
    class Concentrated(RandomizedResponse):
        def guarantee(self, relation=ADD_REMOVE):
            return ZCDP(0.005)

    def ask(coins):
        while True:
            yield WITHOUT_ALICE, WITH_ALICE, Concentrated(ALICE, 0.1)

    with pytest.raises(NotApplicable, match=r"natural filter cannot account for zcdp:0\.005"):
        play(ask, family=ZCDP(0.01))
