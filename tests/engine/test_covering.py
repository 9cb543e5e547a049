"""Covering measures: their laws, their weights and their automata against other ways to them."""

import math

import numpy as np
import pytest

from simulator import Gaussian, Laplace, PureDP, RandomizedResponse, simulate
from simulator.adversaries import Rule
from simulator.data.alice import ALICE
from simulator.data.databases import ADD_REMOVE
from simulator.engine.compiled.menu import Menu
from simulator.engine.enumerated.covering import CoveringEngine, picked
from simulator.engine.enumerated.enumeration import automaton_of
from simulator.engine.sampling import Covering
from simulator.errors import InvalidInput, NotApplicable
from simulator.mechanisms import Free, LeakyRandomizedResponse
from simulator.theory import GaussianDP, SumFilter
from simulator.theory.guarantees.pure import ApproxDP
from tests.helpers.pieces import LINES, challenge


def rr(epsilon):
    return challenge(RandomizedResponse(ALICE, epsilon))


def engine(rule, family, rounds, b=0, filter_=None):
    return CoveringEngine(Menu.of(rule, family, ADD_REMOVE, filter_, exchanged=bool(b)), rounds)


def feint(state, i, answer, coins):
    if 0 < i <= 3 and answer < 0.5:
        state = 1
    return state, 1 if i >= 3 and state == 0 else 0


def two_scales(state, i, answer, coins):
    if i == 0 and coins.random() < 1e-3:
        state = 1
    return state, 0 if state == 0 else (1 if i < 6 else 2)


def alternate(state, i, answer, coins):
    if answer > 0.5:
        state = (state[0] + 1, state[1])
    if coins.integers(3) == 0:
        state = (state[0], not state[1])
    return state, (i + state[0]) % 3 if state[1] else 0


MENU = (rr(0.25), rr(1.5), rr(0.4))
RULES = {
    "feint": Rule(feint, MENU, 0),
    "two-scales": Rule(two_scales, MENU, 0),
    "alternate": Rule(alternate, MENU, (0, False)),
}
BRANCHES = {
    "feint": lambda i: [(1.0, None)],
    "two-scales": lambda i: [(1e-3, 0.0), (1.0 - 1e-3, 0.5)] if i == 0 else [(1.0, 0.5)],
    "alternate": lambda i: [(1.0 / 3.0, 0), (2.0 / 3.0, 1)],
}
EPSILONS = (0.25, 1.5, 0.4)


class Fixed:
    """Coins that fall as told."""

    def __init__(self, value):
        self.random = self.integers = lambda *_: value


def law_of(name, rounds, b):
    """{signed loss: probability} by playing every sequence of coins and answers."""
    rule = RULES[name]
    here = {}
    for chance, coin in BRANCHES[name](0):
        key = (*rule.step(rule.state, 0, math.nan, Fixed(coin)), 0.0)
        here[key] = here.get(key, 0.0) + chance
    for i in range(rounds):
        ahead = {}
        for (state, move, loss), mass in here.items():
            epsilon = EPSILONS[move]
            truth = 1.0 / (1.0 + math.exp(-epsilon))
            for answer in (0.0, 1.0):
                right = answer == float(b)  # database 0 lacks Alice
                gained = round(loss + (epsilon if right else -epsilon), 9)
                for chance, coin in BRANCHES[name](i + 1) if i + 1 < rounds else [(1.0, None)]:
                    after = (
                        rule.step(state, i + 1, answer, Fixed(coin)) if i + 1 < rounds else (0, 0)
                    )
                    key = (*after, gained)
                    chance_here = mass * chance * (truth if right else 1.0 - truth)
                    ahead[key] = ahead.get(key, 0.0) + chance_here
        here = ahead
    law = {}
    for (_, _, loss), mass in here.items():
        law[loss] = law.get(loss, 0.0) + mass
    return law


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("rounds", [1, 2, 9])
def test_the_moments_are_those_of_the_law_of_the_loss(name, b, rounds):
    law = law_of(name, rounds, b)
    moments = engine(RULES[name], PureDP(1.5), rounds, b).moments
    for theta in (0.0, 0.5, 4.0, 40.0):
        expected = np.logaddexp.reduce([math.log(p) + theta * x for x, p in law.items()])
        assert moments.log_moment(theta) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("theta", [0.0, 0.7])
def test_the_draws_follow_the_law_tilted_as_a_whole(name, theta):
    """Each atom's count within 6 standard deviations: false alarms below 1e-6 in all."""
    rounds, trials = 6, 40_000
    law = law_of(name, rounds, 0)
    drawer = engine(RULES[name], PureDP(1.5), rounds)
    noise = np.random.Generator(np.random.SFC64(5))
    signed, _ = drawer.play(Covering(theta), noise, trials)
    total = math.fsum(p * math.exp(theta * x) for x, p in law.items())
    counts = dict(zip(*np.unique(np.round(signed, 6), return_counts=True)))
    for loss, mass in law.items():
        expected = trials * mass * math.exp(theta * loss) / total
        assert abs(counts.pop(round(loss, 6), 0) - expected) < 6.0 * math.sqrt(expected) + 3.0
    assert not counts


@pytest.mark.nightly
def test_a_continuous_answer_is_cut_and_the_pieces_add_up():
    """Against 400,000 plain trials of the same rule: within 6 standard errors."""

    def step(state, i, answer, coins):
        if i > 0 and answer > 0.8:
            state = min(state + 1, 3)
        return state, 1 if state >= 2 else 0

    rule = Rule(step, (challenge(Laplace(ALICE, 0.2)), challenge(Laplace(ALICE, 0.9))), 0, "bolder")
    plain = simulate(rule, PureDP(0.9), 8, 400_000, seed=1, jobs=1, progress=False)
    moments = engine(rule, PureDP(0.9), 8).moments
    for theta in (0.5, 1.0):
        weights = np.exp(theta * plain.losses(0))
        error = weights.std() / math.sqrt(len(weights))
        assert abs(math.exp(moments.log_moment(theta)) - weights.mean()) < 6.0 * error
    covered = simulate(
        rule, PureDP(0.9), 8, 20_000, seed=2, sampling=Covering(1.0), jobs=1, progress=False
    )
    for b in (0, 1):
        one, other = (r.delta(2.0, b, 1.0 - 1e-6) for r in (covered, plain))
        assert one.lower <= other.upper
        assert other.lower <= one.upper
        assert one.upper - one.lower < 0.2 * one.value


@pytest.mark.nightly
def test_compiled_gaussian_play_has_the_moments_of_its_measure():
    """Mean and variance of the loss are derivatives of M: within 6 standard errors, of 40,000."""

    def step(state, i, answer, coins):
        return state, 1 if answer > 0.5 else 0

    rule = Rule(
        step, (challenge(Gaussian(ALICE, 4.0)), challenge(Gaussian(ALICE, 2.0))), 0, "press"
    )
    play = engine(rule, GaussianDP(0.5), 6)
    theta, h = 2.0, 1e-3
    below, here, above = (play.moments.log_moment(theta + x) for x in (-h, 0.0, h))
    mean, variance = (above - below) / (2.0 * h), (above - 2.0 * here + below) / h**2
    signed, _ = play.play(Covering(theta), np.random.Generator(np.random.SFC64(3)), 40_000)
    error = 6.0 / math.sqrt(len(signed))
    assert abs(signed.mean() - mean) < error * signed.std()
    squares = (signed - signed.mean()) ** 2
    assert abs(squares.mean() - variance) < error * squares.std()


@pytest.mark.nightly
def test_a_result_of_covering_play_has_intervals_valid_in_advance():
    law = law_of("feint", 9, 0)
    result = simulate(
        RULES["feint"], PureDP(1.5), 9, 20_000, seed=3, sampling=Covering(1.0), progress=False
    )
    for epsilon in (3.0, 6.0, 8.1):
        exact = math.fsum(p * -math.expm1(epsilon - x) for x, p in law.items() if x > epsilon)
        found = result.delta(epsilon, confidence=1.0 - 1e-6)
        assert not found.no_value
        assert found.lower <= exact <= found.upper
        assert found.upper < 1.2 * found.lower


def test_infinite_losses_are_known_and_added():
    menu = (challenge(LeakyRandomizedResponse(ALICE, 0.5, 1e-4)),)
    rule = Rule(lambda s, i, a, c: (s, 0), menu, 0, "leaky")
    family = ApproxDP(0.5, 1e-4)
    moments = engine(rule, family, 10).moments
    assert moments.leak == pytest.approx(-math.expm1(10 * math.log1p(-1e-4)), rel=1e-12)
    result = simulate(
        rule, family, 10, 20_000, seed=1, sampling=Covering(2.0), experiments=[0], progress=False
    )
    exact = (
        math.fsum(
            math.comb(10, j) * p**j * q ** (10 - j) * -math.expm1(4.0 - 0.5 * (2 * j - 10))
            for p, q in [((1 - 1e-4) / (1 + math.exp(-0.5)), (1 - 1e-4) / (1 + math.exp(0.5)))]
            for j in range(10)
            if 0.5 * (2 * j - 10) > 4.0
        )
        + ((1 - 1e-4) / (1 + math.exp(-0.5))) ** 10 * -math.expm1(4.0 - 5.0)
        + moments.leak
    )
    found = result.delta(4.0, confidence=1.0 - 1e-6)
    assert found.lower <= exact <= found.upper
    assert found.lower > moments.leak


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("b", [0, 1])
def test_infinite_losses_after_a_continuous_answer(name, b):
    """A leaky round is asked for in half of all plays, or in some other share, by a comparison."""
    noise, family = LINES[name]
    menu = (challenge(noise), challenge(LeakyRandomizedResponse(ALICE, 0.1, 1e-4)))

    def after_a_high_answer(state, i, answer, coins):
        return state, 1 if i > 0 and answer > 1.5 else 0

    rule = Rule(after_a_high_answer, menu, 0, "after")
    delta = 0.25 if isinstance(family, GaussianDP) else 1e-4
    moments = engine(rule, ApproxDP(2.0, delta), 2, b).moments
    above = above_both(name, noise, b)
    assert 0.1 < above < 0.6
    assert moments.leak == pytest.approx(1e-4 * above, rel=1e-9)


def above_both(name, noise, b):
    """Pr[answer > 1.5] where the count is ``b``, from the textbook."""
    distance = 1.5 - b
    if name == "Gaussian":
        return 0.5 * math.erfc(distance / (noise.sigma * math.sqrt(2.0)))
    if name == "Laplace":
        return 0.5 * math.exp(-noise.epsilon * distance)
    ratio = math.exp(-noise.epsilon)  # mass (1 - r)/(1 + r) r^|z| at z
    return ratio ** (2 - b) / (1.0 + ratio)


@pytest.mark.nightly
def test_a_filter_and_a_free_parameter_are_part_of_the_state():
    menu = (challenge(RandomizedResponse(ALICE, Free(0.1, 0.5))),)

    def step(state, i, answer, coins):
        return state, 0, 0.5 if answer > 0.5 else 0.1

    rule = Rule(step, menu, 0, "free")
    filter_ = SumFilter(1.0)
    a = automaton_of(Menu.of(rule, PureDP(0.5), ADD_REMOVE, filter_), 12)
    signed, _ = CoveringEngine(Menu.of(rule, PureDP(0.5), ADD_REMOVE, filter_), 12).play(
        Covering(1.0), np.random.Generator(np.random.SFC64(1)), 4000
    )
    plain = simulate(rule, PureDP(0.5), 12, 4000, filter=filter_, jobs=1, progress=False)
    assert a.discrete
    assert set(np.round(signed, 6)) <= set(np.round(plain.losses(0), 6))
    assert abs(signed).max() <= 1.0 + 1e-9


@pytest.mark.parametrize(("adversary", "why"), [
    (Rule(lambda s, i, a, c: (s + a, 0), (challenge(Laplace(ALICE, 0.1)),), 0.0, "sum"),
     "number that is not finite"),
    (Rule(lambda s, i, a, c: (s if i == 0 else s + a, 0), (challenge(Laplace(ALICE, 0.1)),), 0.0,
          "sum from round 1"), "as a number"),
    (Rule(lambda s, i, a, c: (s * 1.1 + (a if i else 0.0), 0), (rr(0.1),), 0.0, "growing"),
     "do not close"),
])  # fmt: skip
def test_a_rule_that_cannot_be_enumerated_is_refused(adversary, why, monkeypatch):
    monkeypatch.setattr("simulator.engine.enumerated.state_count.MOST_NODES", 1000)
    with pytest.raises(NotApplicable, match=why):
        simulate(adversary, PureDP(0.1), 50, 10, sampling=Covering(1.0), jobs=1, progress=False)


def test_bad_input():
    with pytest.raises(InvalidInput, match="theta >= 0"):
        Covering(-1.0)
    with pytest.raises(InvalidInput, match="keep_views"):
        simulate(RULES["feint"], PureDP(1.5), 5, 10, sampling=Covering(1.0), keep_views=2)


def test_a_step_that_is_no_function_of_its_arguments_is_refused():
    def of_numpy(state, i, answer, coins):
        return state, int(np.random.random() < 0.5)  # noqa: NPY002 (the defect)

    seen = []

    def of_calls(state, i, answer, coins):
        seen.append(i)
        return state, len(seen) % 2

    for step in (of_numpy, of_calls):
        with pytest.raises(NotApplicable, match=r"test_covering.py:\d+: a call"):
            engine(Rule(step, (rr(0.1), rr(0.2)), 0, "impure"), PureDP(0.2), 6)


TWO = (challenge(Laplace(ALICE, 0.5)), challenge(Laplace(ALICE, 1.0)))


def swallowed(state, i, answer, coins):
    try:
        u = coins.choice(4)
    except Exception:
        u = 1
    return state, 1 if u == 0 else 0


def in_a_loop(state, i, answer, coins):
    n = 0
    while coins.random() < 0.5:
        n += 1
    return state, n % 2


@pytest.mark.parametrize("step", [
    lambda s, i, a, c: (s, 1 if i and type(a) is float else 0),
    lambda s, i, a, c: (s, 1 if str(a)[0] == "-" else 0),
    lambda s, i, a, c: (s, 1 if str(c.random())[2] == "1" else 0),
    swallowed,
    in_a_loop,
])  # fmt: skip
def test_what_comparisons_do_not_show_is_not_enumerated(step):
    """Steps that look at types, texts or errors, or draw in a loop: refused, in time."""
    with pytest.raises(NotApplicable):
        engine(Rule(step, TWO, 0, "sly"), PureDP(1.0), 4)


@pytest.mark.parametrize("theta", [1e12, 1e17, 1e300])
def test_a_theta_that_leaves_no_digits_is_refused(theta):
    with pytest.raises(InvalidInput, match="no correct digits"):
        simulate(RULES["feint"], PureDP(1.5), 8, 10, sampling=Covering(theta), jobs=1)


def test_a_bound_beyond_all_use_leaves_the_other_ends():
    result = simulate(
        RULES["feint"], PureDP(1.5), 8, 5000, seed=5, sampling=Covering(1e3), experiments=[0],
        progress=False,
    )  # fmt: skip
    found = result.epsilon(0.05)
    assert found.no_value
    assert found.lower < found.upper


def test_an_engine_plays_the_theta_that_it_is_given_whatever_it_played_before():
    def drawn(covering, theta):
        return covering.play(Covering(theta), np.random.default_rng(3), 400).signed

    played = engine(RULES["feint"], PureDP(1.5), 8)
    for theta in (0.0, 2.0, 2.0, 0.5, 0.0):
        fresh = drawn(engine(RULES["feint"], PureDP(1.5), 8), theta)
        np.testing.assert_array_equal(drawn(played, theta), fresh)
    assert drawn(played, 2.0).mean() > drawn(played, 0.0).mean() + 1.0


def test_no_leaf_without_a_share_is_drawn_where_rounding_runs_past_the_others():
    """Ten shares of 0.1 add up to less than 1 when they are taken off one by one."""
    shares = np.array([0.0, *[0.1] * 10, 0.0, 0.0])
    largest = 1.0 - 2.0**-53
    assert largest - math.fsum([0.1] * 9) < 0.1
    assert picked(shares, 0, len(shares), largest) == 10
    short = np.array([0.0, 0.25, 0.25 - 2.0**-50, 0.5, 0.0])
    assert picked(short, 0, 5, largest) == 3
    for u in np.linspace(0.0, largest, 997):
        assert shares[picked(shares, 0, len(shares), u)] > 0.0
        assert short[picked(short, 0, 5, u)] > 0.0


def test_each_theta_has_its_own_measure():
    """One engine that plays two thetas in turn draws what an engine made for the second draws."""
    turns, second = (engine(RULES["feint"], PureDP(1.5), 6) for _ in range(2))
    drawn = {}
    for name, played, theta in (
        ("first", turns, 0.5),
        ("turns", turns, 3.0),
        ("second", second, 3.0),
    ):
        drawn[name] = played.play(Covering(theta), np.random.default_rng(5), 200).signed
    assert np.array_equal(drawn["turns"], drawn["second"])
    assert not np.array_equal(drawn["turns"], drawn["first"])
