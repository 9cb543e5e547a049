"""Privacy filters inside play: the same compiled and interpreted, refusals that run nothing, and a
total that keeps the promise."""

import math

import numpy as np
import pytest

from simulator import Gaussian, Laplace, PureDP, RandomizedResponse, simulate
from simulator.adversaries import Rule
from simulator.analysis.estimation import violation
from simulator.data import ADD_REMOVE
from simulator.engine.compiled.menu import Menu
from simulator.engine.compiled.plain_kernel import Engine
from simulator.engine.sampling import Tilted
from simulator.errors import NotApplicable
from simulator.mechanisms import Free, LeakyRandomizedResponse, Mechanism
from simulator.theory import (
    ApproxDP,
    GaussianDP,
    RenyiFilter,
    ResidueFilter,
    RogersFilter,
    SumFilter,
    WhitehouseFilter,
    ZCDPFilter,
)
from tests.helpers.games import ALICE, WITH_ALICE, WITHOUT_ALICE, always, on_alice

pytestmark = pytest.mark.usefixtures("compiles")

FAMILY = ApproxDP(2.0, 0.01)
FILTERS = {
    "sum": SumFilter(1.5, 0.02, 0.02),
    "rogers": RogersFilter(3.0, 0.1),
    "whitehouse": WhitehouseFilter(2.0, 0.1, 0.02),
    "zcdp": ZCDPFilter(2.0, 0.1, 0.02),
    "renyi": RenyiFilter(2.0, 0.1, 0.02),
    "residue": ResidueFilter(2.0, 0.1, 0.02),
}
FALSE_ALARM = 1e-6


def spend(state, i, answer, coins):
    """Raise the stake after an answer for Alice's presence; after a refusal ask for less."""
    if answer != answer:
        state = max(0.5 * state, 0.02)
    elif answer > 0.5:
        state = min(1.5 * state, 1.0)
    if i % 5 == 4:
        return state, 2, 0.5
    return state, 1 if coins.random() < 0.3 else 0, state


GREEDY = Rule(
    spend,
    on_alice(
        RandomizedResponse(ALICE, Free(0.01, 1.0)),
        RandomizedResponse(ALICE, Free(0.01, 2.0)),  # of one kind: soon compiled
        LeakyRandomizedResponse(ALICE, 0.3, 0.005),
    ),
    state=0.4,
)


def interpreted(rule):
    def adversary(coins):
        return rule(coins)

    adversary.name = rule.name
    return adversary


def play(adversary, rounds=25, trials=200, family=FAMILY, **others):
    return simulate(
        adversary, family, rounds, trials, jobs=1, progress=False, seed=5, block_size=5000, **others
    )


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "sampling"), [*((name, None) for name in FILTERS), ("zcdp", Tilted(1.0))]
)
def test_a_filter_admits_the_same_rounds_compiled_and_interpreted(name, sampling):
    results = [
        play(a, filter=FILTERS[name], keep_views=200, sampling=sampling)
        for a in (GREEDY, interpreted(GREEDY))
    ]
    refused = 0
    for compiled, plain in zip(results[0].views, results[1].views, strict=True):
        np.testing.assert_allclose(compiled.answers, plain.answers, rtol=1e-12, equal_nan=True)
        refused += int(np.isnan(compiled.answers).sum())
    assert 0 < refused < 400 * 25
    for b in (0, 1):
        np.testing.assert_allclose(results[0].losses(b), results[1].losses(b), atol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("adversary", [GREEDY, interpreted(GREEDY)], ids=["compiled", "generator"])
@pytest.mark.parametrize("name", FILTERS)
def test_what_a_filter_admits_is_what_the_running_filter_admits(name, adversary):
    """The engine's bookkeeping against the filter kept by hand along each replayed view."""
    spec = FILTERS[name]
    result = play(adversary, filter=spec, keep_views=40, trials=40)
    for view in result.views:
        replayed, running = result.replay(view), spec.fresh()
        for challenge, answer in zip(replayed.challenges, view.answers, strict=True):
            guarantee = challenge.mechanism.guarantee()
            assert running.admits(guarantee) == (answer == answer)
            if answer == answer:
                running.spend(guarantee)


@pytest.mark.sampled
@pytest.mark.parametrize("make", [lambda rule: rule, interpreted], ids=["compiled", "generator"])
def test_a_refused_query_costs_nothing_and_a_cheaper_one_may_follow(make):
    def alternate(state, i, answer, coins):
        return state, i % 2

    rule = Rule(alternate, on_alice(Laplace(ALICE, 0.1), Laplace(ALICE, 0.9)))
    held = play(make(rule), rounds=12, filter=SumFilter(0.5), keep_views=20)
    for view in held.views:
        admitted = [answer == answer for answer in view.answers]
        assert admitted == [True, False] * 5 + [False, False]
        replayed = held.replay(view)
        assert replayed.round_losses[1::2] == (0.0,) * 6
        assert replayed.loss == held.losses(view.experiment)[view.trial]


@pytest.mark.nightly
@pytest.mark.parametrize("b", [0, 1])
def test_a_refused_query_draws_nothing(b):
    """Five rounds of one trial take the draws of five, refusals in between or not."""
    menu = on_alice(Laplace(ALICE, 0.1), Laplace(ALICE, 0.9))
    in_between = Rule(lambda state, i, answer, coins: (state, i % 2), menu)
    left = []
    for rule, rounds in ((in_between, 10), (Rule(always, menu), 5)):
        engine = Engine.build(rule, FAMILY, ADD_REMOVE, SumFilter(0.5))
        noise, losses = np.random.default_rng(2), np.empty(1)
        engine.play(b, np.random.default_rng(1), noise, losses, rounds)
        left.append((losses[0], noise.random()))
    assert left[0] == left[1]


def test_a_refused_mechanism_is_never_asked_to_sample():
    calls = []

    class Counted(Mechanism):
        def guarantee(self, relation=ADD_REMOVE):
            return PureDP(0.4)

        def sample(self, database, noise, relation=ADD_REMOVE):
            calls.append(database)
            return 0.0

        def log_likelihood_ratio(self, answer, database_0, database_1, relation=ADD_REMOVE):
            return 0.0

    def ask(coins):
        while True:
            yield WITHOUT_ALICE, WITH_ALICE, Counted()

    play(ask, rounds=10, trials=7, filter=SumFilter(1.0), experiments=[0])
    # two rounds of 0.4 fit into 1; the first trials, here all, are played twice
    assert len(calls) == 2 * 7 * 2


@pytest.mark.sampled
@pytest.mark.parametrize("adversary", [GREEDY, interpreted(GREEDY)], ids=["compiled", "generator"])
@pytest.mark.parametrize("name", FILTERS)
def test_the_whole_keeps_what_the_filter_promises(name, adversary):
    spec = FILTERS[name]
    trials = 40_000 if adversary is GREEDY else 4000
    result = play(adversary, rounds=40, trials=trials, filter=spec)
    for b in (0, 1):
        verdict = violation(
            result.losses(b), spec.epsilon, spec.delta, experiment=b, false_alarm=FALSE_ALARM / 20
        )
        assert verdict.outcome != "violated"


@pytest.mark.nightly
def test_without_its_filter_the_same_adversary_breaks_the_promise():
    spec = FILTERS["sum"]
    losses = play(GREEDY, rounds=40, trials=40_000).losses(0)
    assert (
        violation(losses, spec.epsilon, spec.delta, false_alarm=FALSE_ALARM).outcome == "violated"
    )


@pytest.mark.nightly
@pytest.mark.parametrize("b", [0, 1])
def test_a_sum_filter_holds_every_single_view(b):
    rule = Rule(
        lambda state, i, answer, coins: (state, 0, 0.3 if answer > 0.5 else 0.7),
        on_alice(RandomizedResponse(ALICE, Free(0.1, 1.0))),
    )
    losses = play(rule, rounds=30, trials=2000, filter=SumFilter(1.6)).losses(b)
    assert np.abs(losses).max() <= 1.6 + 1e-12
    assert np.abs(losses).max() > 1.5  # and nearly all of it was spent


def test_a_free_entry_that_a_filter_cannot_price_is_refused_before_play():
    rule = Rule(
        lambda state, i, answer, coins: (state, 0, 2.0), on_alice(Gaussian(ALICE, Free(2.0, 3.0)))
    )
    with pytest.raises(NotApplicable, match=r"menu entry 0 .* free sigma .* fixed values"):
        play(rule, family=GaussianDP(1.0), filter=ZCDPFilter(2.0, 0.1))


def test_a_free_entry_is_priced_as_its_largest_parameter():
    entries = on_alice(Laplace(ALICE, Free(0.05, 0.4)), Laplace(ALICE, 0.1))
    menu = Menu.of(Rule(always, entries), PureDP(0.4), ADD_REMOVE, SumFilter(2.0))
    assert menu.prices == ((0.4, 0.0), (0.1, 0.0))


@pytest.mark.nightly
def test_a_filter_changes_no_draw_before_it_refuses():
    """A budget that is never reached costs nothing."""
    wide = SumFilter(1e6, 0.9, 0.9)
    rule = Rule(always, on_alice(Laplace(ALICE, 0.1)))
    views = [play(a, rounds=10, filter=wide, keep_views=50).views
             for a in (rule, interpreted(rule))]  # fmt: skip
    for view, other in zip(*views, strict=True):
        assert view == other
        assert all(math.isfinite(answer) for answer in view.answers)
