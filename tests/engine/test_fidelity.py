"""A play is a function of its seeds and keeps its promises, or it says who does not."""

import math
import random
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from simulator import Database, Laplace, PureDP, counting_query, simulate
from simulator.adversaries import Rule
from simulator.data import ADD_REMOVE
from simulator.data.queries import function_query
from simulator.engine.compiled.plain_kernel import Engine
from simulator.engine.compiled.tilted_kernel import TiltedEngine
from simulator.engine.sampling import Tilted
from simulator.foundations.errors import Breach, BrokenPromise, InvalidInput
from simulator.foundations.seeds import Stream, generator
from simulator.mechanisms import LeakyRandomizedResponse, Mechanism, RandomizedResponse
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.pure import ApproxDP

pytestmark = pytest.mark.usefixtures("compiles")

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")
FAMILY = PureDP(0.2)


class Unfaithful(RandomizedResponse):
    """Promises 0.2 whatever its epsilon."""

    def guarantee(self, relation=ADD_REMOVE):
        return FAMILY


@dataclass(frozen=True)
class Coin(Mechanism):
    """A plain mechanism whose loss is what its field says."""

    query: object
    lost: float
    promise: object = FAMILY

    def guarantee(self, relation=ADD_REMOVE):
        return self.promise

    def sample(self, database, noise, relation=ADD_REMOVE):
        return float(noise.random() < 0.5)

    def log_likelihood_ratio(self, answer, database_0, database_1, relation=ADD_REMOVE):
        return self.lost


@dataclass(frozen=True)
class Holder(Coin):
    """Holds another mechanism, in a tuple."""

    lost: float = 0.1


def play(adversary, family=FAMILY, rounds=5, trials=8, **others):
    return simulate(adversary, family, rounds, trials, seed=1, jobs=1, **others)


def always(mechanism):
    def adversary(coins):
        while True:
            yield WITHOUT, EVERYONE, mechanism

    return adversary


def step(state, i, answer, coins):
    return state, 0


# --- the blame ----------------------------------------------------------------------------------


@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("sampling", [None, Tilted(1.0)])
@pytest.mark.parametrize("form", ["generator", "uncompiled"])
def test_a_loss_beyond_the_promise_names_the_mechanism_and_both_numbers(b, sampling, form):
    mechanism = Unfaithful(ALICE, 0.5)
    rule = Rule(step, ((WITHOUT, EVERYONE, mechanism),))
    rng, losses, weights = np.random.default_rng(0), np.empty(3), np.empty(3)
    if form == "generator":
        plays = partial(play, always(mechanism), sampling=sampling, experiments=(b,))
    elif sampling is None:
        engine = Engine.build(rule, FAMILY, ADD_REMOVE, compiled=False)
        plays = partial(engine.play, b, rng, rng, losses, 5)
    else:
        tilted = TiltedEngine.build(rule, FAMILY, ADD_REMOVE, compiled=False)
        arrays = {"losses": losses, "log_weights": weights}
        plays = partial(tilted.play, b, sampling, 5, rng, rng, **arrays)
    with pytest.raises(BrokenPromise) as caught:
        plays()
    line = str(caught.value)
    numbers = "the mechanism promised 0.2, a round lost 0.5, at the answer "
    for words in (
        f"round 1, trial 0 of experiment {b}: Unfaithful(",
        "pure:0.2",
        numbers,
        "+1 × 'alice'",
    ):
        assert words in line
    assert "np." not in line
    assert caught.value.exit_code == 1


def test_a_compiled_kernel_stops_at_the_loss_beyond_the_promise():
    rule = Rule(step, ((WITHOUT, EVERYONE, Unfaithful(ALICE, 0.5)),))
    with pytest.raises(
        BrokenPromise,
        match=r"round 1, trial 0 of experiment 0: .* promised 0\.2, a round lost 0\.5,",
    ):
        play(rule)


@pytest.mark.parametrize("loss", [math.inf, -math.inf, 0.3])
def test_infinite_losses_and_finite_ones_under_promises_without_a_pure_epsilon(loss):
    for promise in (GaussianDP(0.2), ApproxDP(0.2, 0.1)):
        adversary = always(Coin(ALICE, loss, promise))
        # an infinite loss needs a delta; the loss -inf cannot be drawn in experiment 0 at all
        fine = loss == 0.3 or (loss == math.inf and isinstance(promise, ApproxDP))
        if fine:
            assert play(adversary, promise, experiments=(0,)).losses(0)[0] == pytest.approx(
                5 * loss
            )
        else:
            with pytest.raises(Breach):
                play(adversary, promise, experiments=(0,))


def test_rounding_is_no_breach_and_a_millionth_is():
    assert play(always(Coin(ALICE, 0.2 * (1 + 1e-13)))).losses(0)[0] > 1.0
    with pytest.raises(BrokenPromise):
        play(always(Coin(ALICE, 0.2 * (1 + 1e-6))))


def test_leaks_within_a_delta_play_on():
    leaky = LeakyRandomizedResponse(ALICE, 0.2, 0.1)
    assert np.isinf(play(always(leaky), ApproxDP(0.2, 0.1), trials=50).losses(0)).any()


# --- reproducible -------------------------------------------------------------------------------


def moody(draw):
    def adversary(coins):
        while True:
            yield WITHOUT, EVERYONE, Laplace(ALICE, 0.2 if draw() < 0.5 else 0.1)

    return adversary


KEPT = [0]


def count():
    KEPT[0] += 1
    return KEPT[0] % 7 / 7


@pytest.mark.parametrize(
    ("draw", "cause"),
    [
        (random.random, "the global random;"),
        (np.random.random, "the global numpy.random;"),
        (np.random.default_rng().random, "keeps something from trial to trial"),
        (random.SystemRandom().random, "os.urandom"),
        (count, "keeps something from trial to trial"),
    ],
)
def test_a_play_that_is_not_reproducible_warns_and_its_replay_refuses(draw, cause, capsys):
    result = play(moody(draw), keep_views=3, rounds=30, experiments=(0,))
    assert cause in capsys.readouterr().err
    with pytest.raises(Breach, match="the recorded loss is"):
        [result.replay(view) for view in result.views]


@pytest.mark.sampled
@pytest.mark.parametrize("sampling", [Tilted(1.0), None], ids=str)
def test_a_play_that_is_reproducible_is_silent_and_replays(capsys, sampling):
    def adversary(coins):
        while True:
            yield WITHOUT, EVERYONE, Laplace(ALICE, 0.2 if coins.random() < 0.5 else 0.1)

    before = random.getstate()
    result = play(adversary, keep_views=3, sampling=sampling)
    for view in result.views:
        result.replay(view)
    assert capsys.readouterr().err == ""
    assert random.getstate() == before


def test_a_compiled_rule_that_reads_beyond_an_array_is_a_breach():
    table = np.array([0.1, 0.2])

    def beyond(state, i, answer, coins):
        return state, int(table[i] < -1e300)

    with pytest.raises(Breach, match="IndexError"):
        play(Rule(beyond, ((WITHOUT, EVERYONE, Laplace(ALICE, 0.1)),)))


@pytest.mark.parametrize("move", [0.5, math.nan, -1, 1, 1e300, math.inf])
def test_a_move_that_is_no_index_is_refused_in_both_engines(move):
    menu = ((WITHOUT, EVERYONE, Laplace(ALICE, 0.1)),)
    rule = Rule(lambda state, i, answer, coins: (state, move), menu, name="odd")
    with pytest.raises(Breach, match="not on its menu"):
        play(lambda coins: rule(coins))


@pytest.mark.nightly
def test_a_compiled_fraction_is_refused():
    menu = ((WITHOUT, EVERYONE, Laplace(ALICE, 0.1)),)
    rule = Rule(lambda state, i, answer, coins: (state, 0.5), menu, name="odd")
    with pytest.raises(Breach, match=r"odd made the move 0.5, which is not on its menu"):
        play(rule)


# --- what the adversary is handed ---------------------------------------------------------------


def test_coins_lead_to_no_other_stream_and_draw_as_before():
    coins = generator(7, 3, Stream.COINS, 2)
    sequence = np.random.SeedSequence(7, spawn_key=(3, 0, 2))
    plain = np.random.Generator(np.random.SFC64(sequence))
    assert (coins.random(50) == plain.random(50)).all()
    assert not hasattr(coins.bit_generator.seed_seq, "entropy")
    with pytest.raises(TypeError):
        coins.spawn(1)


def test_an_answer_changed_in_place_leaves_the_view_as_it_was():
    both = function_query(lambda d: np.array([d.count("alice"), 0.0]), 1.0)

    def adversary(coins):
        while True:
            answer = yield WITHOUT, EVERYONE, Laplace(both, 0.1)
            answer[:] = 1e9

    result = play(adversary, keep_views=2)
    assert all(np.abs(np.array(view.answers)).max() < 1e6 for view in result.views)
    for view in result.views:
        result.replay(view)


LATER = 1.0


def test_a_query_whose_variables_change_is_prepared_anew():
    def closing(coins):
        factor = 0.0
        query = function_query(lambda d: factor * d.count("alice"), 1.0)
        while True:
            yield WITHOUT, EVERYONE, Laplace(query, 0.2)
            factor = 50.0

    class Held:
        factor = 0.0

    def holding(coins):
        held = Held()
        held.factor = 0.0
        query = function_query(lambda d: held.factor * d.count("alice"), 1.0)
        while True:
            yield WITHOUT, EVERYONE, Laplace(query, 0.2)
            held.factor = 50.0

    def looking(coins):
        global LATER
        LATER = 0.0
        query = function_query(lambda d: LATER * d.count("alice"), 1.0)
        while True:
            yield WITHOUT, EVERYONE, Laplace(query, 0.2)
            LATER = 50.0

    for adversary in (closing, holding, looking):
        with pytest.raises(Breach, match=r"round 2, trial 0 of experiment 0: .*moves it by 50"):
            play(adversary)


@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: Holder((m,))])
def test_the_queries_of_a_plain_mechanism_are_checked(wrap):
    fifty = function_query(lambda d: 50.0 * d.count("alice"), 1.0, name="fifty")
    with pytest.raises(Breach, match=r"fifty states L1 sensitivity 1 .* moves it by 50"):
        play(always(wrap(Coin(fifty, 0.1))))


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit, BaseException])
def test_whatever_a_users_code_raises_is_a_breach(error):
    def stop(*_):
        raise error("odd")

    def adversary(coins):
        yield WITHOUT, EVERYONE, Laplace(ALICE, 0.1)
        stop()

    class Stopping(Coin):
        sample = stop

    asked = function_query(stop, 1.0, name="asked")
    for cheat in (adversary, stop, always(Stopping(ALICE, 0.1)), always(Laplace(asked, 0.1))):
        with pytest.raises(Breach, match=error.__name__):
            play(cheat)
    with pytest.raises(Breach, match=error.__name__):
        play(Rule(step, ((WITHOUT, EVERYONE, Laplace(asked, 0.1)),)))


# --- nonsense -----------------------------------------------------------------------------------


@pytest.mark.parametrize("experiment", [2, -1, 0.5, "0", None, math.nan, [0]])
def test_there_are_two_experiments(experiment):
    result = play(always(Laplace(ALICE, 0.1)))
    for ask in (result.losses, lambda b: result.tail(0.1, b), lambda b: result.delta(0.1, b),
                lambda b: result.epsilon(0.1, b), result.moments, result.weighted):  # fmt: skip
        with pytest.raises(InvalidInput, match="the experiment must be 0 or 1"):
            ask(experiment)


@pytest.mark.parametrize("one", [1, True, np.int64(1), 1.0])
def test_one_is_one_in_every_form(one):
    result = play(always(Laplace(ALICE, 0.1)))
    assert result.tail(0.1, one) == result.tail(0.1, 1)


@pytest.mark.parametrize("value", ["x", None, math.nan, [math.nan, 1], {1: 2}])
def test_thresholds_are_numbers(value):
    result = play(always(Laplace(ALICE, 0.1)))
    for ask in (result.tail, result.delta, result.epsilon):
        with pytest.raises(InvalidInput, match="must be"):
            ask(value)


@pytest.mark.parametrize("make", [Laplace, RandomizedResponse])
def test_a_mechanism_asks_a_query(make):
    with pytest.raises(InvalidInput, match="counting_query"):
        make("alice", 0.1)


@pytest.mark.nightly
def test_a_compiled_step_that_reads_beyond_an_array_is_stopped_wherever_it_does():
    """The read comes in one trial of some thousand, long after the repeated ones."""
    table = np.array([0, 0, 0, 0])

    def step(state, i, answer, coins):
        if answer > 80.0:
            state = state + 5
        return state, table[state]

    menu = ((WITHOUT, EVERYONE, Laplace(ALICE, 0.1)),)
    beyond = Rule(step, menu, 0, "beyond")
    with pytest.raises(Breach, match=r"round \d+, trial \d+ of experiment 0: .*IndexError"):
        simulate(beyond, PureDP(0.1), 20, 50_000, seed=1, jobs=1, progress=False)
