"""What weighted samples claim: bounds known in advance bound, one sample serves both experiments,
and what tilting cannot reach is told."""

import math
from dataclasses import replace

import numpy as np
import pytest

from simulator import Database, Laplace, PureDP, RandomizedResponse, counting_query, simulate
from simulator.adversaries import Rule
from simulator.analysis.leaks import covers, unsampled_leak
from simulator.data import ADD_REMOVE, counting_scores
from simulator.engine.challenges import MOST_KEPT, Challenges
from simulator.engine.compiled.menu import Menu
from simulator.engine.compiled.plain_kernel import Engine
from simulator.engine.compiled.tilted_kernel import TiltedEngine, psi_bound, tilted_row
from simulator.engine.sampling import Steered, Tilted
from simulator.engine.specification import Specification
from simulator.engine.weight_bounds import psi_bound_at
from simulator.errors import Breach, InvalidInput, NotApplicable, Refusal
from simulator.mechanisms import Exponential, Free, LeakyRandomizedResponse, Scalars
from simulator.theory import ApproxDP, BoundedRange, Composition, bound
from tests.helpers.games import ALICE, FREE, RULES, WITH_ALICE, WITHOUT_ALICE, always, on_alice

pytestmark = pytest.mark.usefixtures("compiles")

CONFIDENCE = 1 - 1e-6
"""Of every interval here: an assertion on one fails a true program once in a million seeds."""


def play(adversary, family, rounds=20, trials=4000, **others):
    return simulate(adversary, family, rounds, trials, jobs=1, progress=False, seed=3, **others)


def psi(menu, entry, parameter, theta):
    """Psi of an entry at a parameter, from its tilt."""
    kind = menu.kinds[menu.kind[entry]]
    params = np.zeros_like(menu.params[entry])
    kind.prepare(menu.rows[entry], parameter, params)
    tilted = tilted_row(kind, params, theta)
    return float(tilted[0])


# Both candidates' order is the same on the two databases, and plain where epsilon is large: psi
# vanishes at both ends of the interval.
APART = Database({"a": 5}), Database({"a": 5, "b": 1})
SELECTION = Exponential(counting_scores(("a", "b")), Free(0.1, 12.0))
MIDDLE = Rule(lambda state, i, answer, coins: (state, 0, 1.5), ((*APART, SELECTION),))


@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize("theta", [0.1, 1.0, 7.0])
def test_psi_of_a_free_entry_is_bounded_between_its_ends_too(theta, exchanged):
    rules = [(MIDDLE, BoundedRange(12.0))]
    rules += [(Rule(always, (entry,)), ApproxDP(4.0, 0.5)) for entry in FREE]
    for rule, family in rules:
        menu = Menu.of(rule, family, ADD_REMOVE, exchanged=exchanged)
        limit = psi_bound(menu, 0, theta)
        ends = float(menu.low[0]), float(menu.high[0])
        largest = max(psi(menu, 0, parameter, theta) for parameter in np.geomspace(*ends, 200))
        assert largest <= limit * (1 + 1e-12)


def test_the_ends_of_a_free_entry_would_not_bound_its_psi():
    menu = Menu.of(MIDDLE, BoundedRange(12.0), ADD_REMOVE)
    assert psi(menu, 0, 1.0, 1.0) > 10 * max(psi(menu, 0, end, 1.0) for end in (0.1, 12.0))


@pytest.mark.nightly
@pytest.mark.parametrize("b", [0, 1])
def test_an_interval_from_a_bound_on_psi_holds_where_the_ends_would_not_do(b):
    result = play(MIDDLE, BoundedRange(12.0), rounds=5, sampling=Tilted(1.0))
    plain = play(MIDDLE, BoundedRange(12.0), rounds=5, trials=100_000).delta(0.05, b, CONFIDENCE)
    found = result.delta(0.05, b, CONFIDENCE)
    assert found.lower <= plain.upper
    assert plain.lower <= found.upper


@pytest.mark.nightly
@pytest.mark.parametrize("theta", [0.5, 4.0])
@pytest.mark.parametrize("name", ["free parameters", "finite mechanisms"])
def test_no_play_passes_the_bound_on_its_total_psi(name, theta):
    rule, family = RULES[name]
    for b in (0, 1):
        result = play(rule, family, rounds=12, trials=500, sampling=Tilted(theta), experiments=[b])
        signed = -result.losses(b) if b else result.losses(b)
        usable = np.isfinite(signed)
        total = result.log_weights[b][usable] + theta * signed[usable]
        limit = psi_bound_at(result.specification, b, theta)
        assert total.max() <= limit + 1e-9
        if math.isfinite(limit):
            assert total.max() > 0.0  # there was something to bound


@pytest.mark.nightly
def test_a_generators_bound_on_psi_comes_from_its_family():
    def ask(coins):
        while True:
            yield WITHOUT_ALICE, WITH_ALICE, RandomizedResponse(ALICE, 0.2)

    rule = Rule(always, on_alice(RandomizedResponse(ALICE, 0.2)))
    bounds = [psi_bound_at(Specification(a, PureDP(0.2), 30, 1), 0, 3.0) for a in (ask, rule)]
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-12)  # the extremal pair attains it


def test_an_adversary_that_cannot_be_hashed_is_estimated_as_any_other():
    class Ask:
        __hash__ = None

        def __call__(self, coins):
            while True:
                yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 0.2)

    assert play(Ask(), PureDP(0.2), trials=500, sampling=Tilted(3.0)).delta(1.0).value > 0.0


# One sample for both directions.


@pytest.mark.nightly
@pytest.mark.parametrize("sampling", [None, Tilted(1.0)])
@pytest.mark.parametrize("played", [0, 1])
def test_the_sample_of_one_experiment_serves_the_other(played, sampling):
    family, epsilon, rounds = PureDP(0.5), 0.5, 12
    rule = Rule(always, on_alice(Laplace(ALICE, epsilon)))
    other = 1 - played
    result = play(rule, family, rounds, 60_000, sampling=sampling, experiments=[played])
    losses, log_weights = result.weighted(other).one_by_one()
    direct = play(rule, family, rounds, 60_000, experiments=[other])
    # E_other[1{L in I}] by weights against counts, on intervals that both samples reach
    for low, high in ((-0.5, 0.0), (0.0, 0.5), (0.5, 1.5)):
        inside = np.exp(log_weights) * ((losses > low) & (losses <= high))
        counted = np.mean((direct.losses(other) > low) & (direct.losses(other) <= high))
        error = math.hypot(inside.std() / math.sqrt(losses.size), 0.5 / math.sqrt(losses.size))
        assert abs(inside.mean() - counted) < 5.5 * error  # 12 intervals: 5e-7 in all


@pytest.mark.nightly
def test_weights_the_wrong_way_round_are_told():
    """The test above can fail: without the exchange the same comparison does."""
    rule = Rule(always, on_alice(Laplace(ALICE, 0.5)))
    zero, one = play(rule, PureDP(0.5), 12, 60_000).samples.values()
    counted, unweighted = np.mean(one > 0.5), np.mean(zero > 0.5)
    assert abs(counted - unweighted) > 5.5 * math.sqrt(0.5 / 60_000)


@pytest.mark.nightly
@pytest.mark.parametrize("compiled", [True, False])
def test_a_sample_with_views_of_its_own_does_not_serve_the_other(compiled):
    leaky = LeakyRandomizedResponse(ALICE, 0.5, 0.01)
    rule = Rule(always, on_alice(leaky))
    adversary = rule if compiled else (lambda coins: rule(coins))
    result = play(adversary, ApproxDP(0.5, 0.01), trials=200, experiments=[0])
    with pytest.raises(NotApplicable, match="play experiment 1 itself"):
        result.delta(0.5, 1)


def test_a_family_with_leaks_covers_where_no_entry_leaks():
    pure, leaky = RandomizedResponse(ALICE, 0.5), LeakyRandomizedResponse(ALICE, 0.5, 0.01)
    for mechanisms, expected in (((pure,), True), ((Laplace(ALICE, 0.5),), True), ((leaky,), False),
                                 ((pure, leaky), False)):  # fmt: skip
        s = Specification(Rule(always, on_alice(*mechanisms)), ApproxDP(0.5, 0.01), 5, 1)
        assert [covers(s, b) for b in (0, 1)] == [expected, expected]


# Leaks, which no tilting makes likelier.

LEAK = ApproxDP(0.2, 1e-9)
LEAKY = Rule(always, on_alice(LeakyRandomizedResponse(ALICE, 0.2, 1e-9)))
EXACT = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(LEAK, 100))


@pytest.mark.nightly
@pytest.mark.parametrize("experiment", [0, 1])
def test_leaks_that_outweigh_what_tilting_finds_leave_the_ends(experiment):
    result = play(LEAKY, LEAK, 100, 20_000, sampling=Tilted(3.0))
    losses, log_weights = result.weighted(experiment).one_by_one()
    signed = -losses if experiment else losses
    seen = np.mean(np.exp(log_weights) * np.maximum(0, -np.expm1(12.0 - signed)))
    assert seen < 0.3 * EXACT.delta(12.0).value  # what would have been told
    found = result.delta(12.0, experiment)
    assert found.no_value
    assert found.lower <= EXACT.delta(12.0).value <= found.upper
    with pytest.raises(Refusal, match="infinite losses"):
        result.epsilon(1e-8, experiment)


def test_an_interval_allows_for_leaks_that_were_not_seen():
    result = play(LEAKY, LEAK, 100, 20_000, sampling=Tilted(3.0), experiments=[0])
    leak = unsampled_leak(result.specification, 0)
    assert leak == pytest.approx(1e-7, rel=1e-6)
    for epsilon in (9.0, 10.5):
        found = result.delta(epsilon, 0, CONFIDENCE)
        assert found.lower <= EXACT.delta(epsilon).value <= found.upper
        assert found.upper - found.value >= leak
    found = result.epsilon(2e-6, 0, CONFIDENCE)
    assert found.lower <= EXACT.epsilon(2e-6).value <= found.upper


@pytest.mark.nightly
def test_leaks_that_are_drawn_often_enough_need_no_allowance():
    family = ApproxDP(0.2, 0.01)
    rule = Rule(always, on_alice(LeakyRandomizedResponse(ALICE, 0.2, 0.01)))
    result = play(rule, family, 20, 20_000, sampling=Tilted(1.0), experiments=[0])
    exact = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(family, 20)).delta(3.0).value
    found = result.delta(3.0, 0, CONFIDENCE)
    assert found.lower <= exact <= found.upper
    assert found.upper < exact + 0.5 * unsampled_leak(result.specification, 0)


# Play.


@pytest.mark.nightly
@pytest.mark.parametrize("sampling", [Tilted(1.5), None])
@pytest.mark.parametrize("name", ["coins, and a tuple for a state"])
def test_more_trials_extend_the_same_sequence(name, sampling):
    rule, family = RULES[name]
    short, long = (
        play(rule, family, trials=n, block_size=64, sampling=sampling) for n in (150, 300)
    )
    for b in (0, 1):
        np.testing.assert_array_equal(short.losses(b), long.losses(b)[:150])
        if sampling:
            np.testing.assert_array_equal(short.log_weights[b], long.log_weights[b][:150])


@pytest.mark.nightly
@pytest.mark.parametrize("sampling", [Tilted(1.5), None])
def test_a_menu_of_wide_tables_plays_as_it_does_interpreted(sampling):
    names = tuple(f"person {i}" for i in range(16))
    full = Database(dict.fromkeys(names, 2))
    selection = Exponential(counting_scores(names), 0.5)
    free = Exponential(counting_scores(names), Free(0.2, 0.5))
    menu = [(full.remove(name), full, m) for name in names[:2] for m in (selection, free)]

    def step(state, i, answer, coins):
        return state, i % 4, 0.2 + 0.01 * (answer if answer == answer else 0.0)

    rule = Rule(step, tuple(menu))
    laid_out = Menu.of(rule, PureDP(0.5), ADD_REMOVE)
    assert laid_out.params.shape[1] > 64

    def interpreted(coins):
        return rule(coins)

    interpreted.name = rule.name
    results = [
        play(a, PureDP(0.5), 10, 200, sampling=sampling, block_size=100)
        for a in (rule, interpreted)
    ]
    for b in (0, 1):
        np.testing.assert_allclose(*(r.losses(b) for r in results), rtol=0, atol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("b", [0, 1])
def test_an_answer_that_its_experiment_cannot_give_is_told(b, compiled):
    """Without it one trial's loss would be infinite on the wrong side, and count for nothing."""

    class Impostor(RandomizedResponse):
        scalars = Scalars(
            "impostor",
            lambda row: 2,
            lambda row, parameter, params: None,
            lambda params, b, noise: float(b),
            lambda params, answer: math.inf if answer == 1.0 else -math.inf,
        )

    rule = Rule(always, on_alice(Impostor(ALICE, 0.2)))
    engine = Engine.build(rule, PureDP(0.2), ADD_REMOVE, compiled=compiled)
    rng = np.random.default_rng(0)
    with pytest.raises(Breach, match="has probability 0"):
        engine.play(b, rng, rng, np.empty(1), 3)


@pytest.mark.parametrize("engine", [Engine, TiltedEngine])
@pytest.mark.parametrize("b", [0, 1])
def test_an_answer_of_probability_0_is_told_where_any_loss_is_promised(b, engine):
    revealed = 0.0 if b else 3.0  # the bit that this experiment's database does not have

    class Impostor(LeakyRandomizedResponse):
        scalars = replace(
            LeakyRandomizedResponse.scalars,
            sample=lambda params, b, noise: revealed,
            sample_tilted=lambda params, tilted, noise: revealed,
        )

    s = Specification(
        Rule(always, on_alice(Impostor(ALICE, 0.2, 0.01))), ApproxDP(0.2, 0.01), 3, 2,
        sampling=None if engine is Engine else Tilted(1.0),
    )  # fmt: skip
    made = engine.build(s.adversary, s.family, ADD_REMOVE, compiled=False)
    with pytest.raises(Breach, match=rf"trial 0 of experiment {b}: .* answer of probability 0"):
        made.play_block(s, b, 0)


def test_challenges_that_cannot_be_hashed_do_not_fill_the_memory():
    query = counting_query("alice")
    query_of = type("Unhashable", (type(query),), {"__hash__": None})("alice")
    challenge = WITHOUT_ALICE, WITH_ALICE, Laplace(query_of, 0.2)
    family = Challenges(Specification(always, PureDP(0.2), 5, 1, sampling=Tilted(1.0)), 0)
    for _ in range(MOST_KEPT + 100):
        family.checked(challenge).tilted(1.0)
    assert not family.by_value
    assert not family.by_object


# Input.


@pytest.mark.nightly
def test_numbers_of_numpy_draw_what_plain_numbers_draw():
    rule, family = RULES["one kind, by the last answer"]
    plain = play(rule, family, 10, 50, sampling=Tilted(2.0))
    for measure in (Tilted(2), Tilted(np.float64(2.0))):
        other = play(rule, family, np.int64(10), np.int32(50), sampling=measure)
        assert other.specification == plain.specification
        np.testing.assert_array_equal(plain.losses(1), other.losses(1))


@pytest.mark.parametrize(
    ("others", "line"),
    [
        ({"sampling": 3.0}, "sampling must be"),
        ({"filter": 1.0}, "filter must be"),
        ({"sampling": Tilted(1.0), "trace": True}, "trace"),
    ],
)
def test_a_measure_or_filter_that_is_none(others, line):
    rule, family = RULES["one kind, by the last answer"]
    with pytest.raises(InvalidInput, match=line):
        play(rule, family, **others)


@pytest.mark.parametrize(
    ("levels", "grid", "span"),
    [
        (np.array([0.0, 1.0]), np.array([[0, 1]]), (0.0, math.inf)),
        (np.array([0.0, 1.0]), np.array([[0, 1]]), (1.0, 1.0)),
        (np.array([0.0, math.nan]), np.array([[0, 1]]), (0.0, 1.0)),
        (np.array([0.0, 1.0]), np.array([[0, 2]]), (0.0, 1.0)),
        (np.array([0.0, 1.0]), np.array([[0.0, 1.0]]), (0.0, 1.0)),
        (np.array([0.0, 1.0]), np.zeros((0, 2), dtype=int), (0.0, 1.0)),
        (np.array([[0.0, 1.0]]), np.array([[0]]), (0.0, 1.0)),
    ],
)
def test_steering_that_makes_no_sense(levels, grid, span):
    with pytest.raises(InvalidInput, match="steering needs"):
        Steered(levels, grid, span)
