"""A challenge that repeats is prepared once, and anew as soon as anything inside of it changes."""

import enum
import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

import simulator.engine.challenges
from simulator import (
    Database,
    Laplace,
    PureDP,
    RandomizedResponse,
    counting_query,
    simulate,
)
from simulator.adversaries import Rule
from simulator.adversaries.contract import Challenge, off_menu, out_of_range
from simulator.data import ADD_REMOVE, function_query
from simulator.data.queries import counting_scores
from simulator.engine.algorithm_1 import play_as_generator
from simulator.engine.block import met_at_first
from simulator.engine.challenges import MOST_KEPT, Challenges
from simulator.engine.compiled.menu import Menu
from simulator.engine.specification import Specification
from simulator.foundations.errors import Breach
from simulator.identity.keys import is_fixed
from simulator.mechanisms import Free, Mechanism
from simulator.mechanisms.laplace import LAPLACE
from tests.helpers.oracle import compose_block

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")
FAMILY = PureDP(0.2)


def play(adversary, rounds=6, trials=4, **others):
    return simulate(
        adversary,
        FAMILY,
        rounds,
        trials,
        seed=1,
        jobs=1,
        experiments=(0,),
        progress=False,
        **others,
    )


def array_altered(coins):
    factor = np.ones(1)
    query = function_query(lambda d: float(factor[0]) * d.count("alice"), 1.0)
    mechanism = Laplace(query, 0.2)
    for _ in range(6):
        yield WITHOUT, EVERYONE, mechanism
        factor[0] = 50.0


def list_altered(coins):
    factors = [1.0]
    mechanism = Laplace(function_query(lambda d: factors[0] * d.count("alice"), 1.0), 0.2)
    for _ in range(6):
        yield WITHOUT, EVERYONE, mechanism
        factors[0] = 50.0


def variable_altered(coins):
    factor = 1.0
    mechanism = Laplace(function_query(lambda d: factor * d.count("alice"), 1.0), 0.2)
    for _ in range(6):
        yield WITHOUT, EVERYONE, mechanism
        factor = 50.0


class Person:
    """A record that can be altered, told by its identity."""

    weight = 1.0


def record_altered(coins):
    alice = Person()
    full = Database([alice, "others"])
    weigh = function_query(
        lambda d: sum(getattr(r, "weight", 0.0) * n for r, n in d.records()), 1.0
    )
    mechanism = Laplace(weigh, 0.2)
    for _ in range(6):
        yield full.remove(alice), full, mechanism
        alice.weight = 50.0


class Reweighted(Database):
    """A database whose count depends on an attribute that changes."""

    __slots__ = ("factor",)

    def count_of(self, record):
        return getattr(self, "factor", 1) * super().count_of(record)


def database_altered(coins):
    full = Reweighted({"alice": 1, "others": 3})
    for _ in range(6):
        yield WITHOUT, full, Laplace(ALICE, 0.2)
        object.__setattr__(full, "factor", 50)


class Adjustable(Mechanism):
    """A mechanism that is no frozen value, as a user writes one by hand."""

    query = ALICE

    def __init__(self, epsilon):
        self.epsilon = epsilon

    def guarantee(self, relation=ADD_REMOVE):
        return PureDP(self.epsilon)

    def sample(self, database, noise, relation=ADD_REMOVE):
        return Laplace(ALICE, 0.2).sample(database, noise, relation)

    def log_likelihood_ratio(self, answer, database_0, database_1, relation=ADD_REMOVE):
        of = Laplace(ALICE, 0.2)
        return of.log_likelihood_ratio(answer, database_0, database_1, relation)


def mechanism_altered(coins):
    mechanism = Adjustable(0.2)
    for _ in range(6):
        yield WITHOUT, EVERYONE, mechanism
        mechanism.epsilon = 9.0


@pytest.mark.parametrize(
    "adversary",
    [
        array_altered, list_altered, variable_altered, record_altered, database_altered,
        mechanism_altered,
    ],
)  # fmt: skip
def test_what_is_altered_between_rounds_is_checked_anew(adversary):
    with pytest.raises(
        Breach, match=r"round 2, trial 0 of experiment 0: .*(moves it by|outside the family)"
    ):
        play(adversary)


def test_an_object_at_a_freed_address_is_not_taken_for_the_one_before():
    addresses = []

    def reusing(coins):
        mechanism = Laplace(ALICE, 0.2)
        for i in range(400):
            addresses.append(id(mechanism))
            yield WITHOUT, EVERYONE, mechanism
            mechanism = None
            mechanism = Laplace(ALICE, 0.2 if i < 398 else 9.0)

    with pytest.raises(Breach, match=r"round 400, trial 0 of experiment 0: .*outside the family"):
        play(reusing, rounds=400, trials=1)
    assert len(set(addresses)) < len(addresses)  # addresses were indeed used again


class TwoFaced(tuple):
    """Another triple each time that it is taken apart."""

    def __iter__(self):
        self.taken = getattr(self, "taken", 0) + 1
        return iter((WITHOUT, EVERYONE, Laplace(ALICE, 0.2 if self.taken == 1 else 9.0)))


def test_what_is_sent_is_taken_apart_once():
    sent = []

    def two_faced(coins):
        while True:
            sent.append(TwoFaced((1, 2, 3)))
            yield sent[-1]

    play(two_faced)
    assert {one.taken for one in sent} == {1}


def counted(monkeypatch, name):
    """The calls of a function that prepares challenges."""
    calls, of = [], getattr(simulator.engine.challenges, name)
    monkeypatch.setattr(
        f"simulator.engine.challenges.{name}", lambda *terms: calls.append(terms) or of(*terms)
    )
    return calls


def test_each_distinct_challenge_is_checked_once(monkeypatch):
    checks = counted(monkeypatch, "check_mechanism")
    kept = Laplace(ALICE, 0.2)

    def adversary(coins):
        for _ in range(2):
            yield WITHOUT, EVERYONE, kept
            yield Challenge(WITHOUT, EVERYONE, Laplace(counting_query("alice"), 0.1))
            yield EVERYONE, EVERYONE.remove("alice"), kept

    play(adversary, trials=10)
    repeated = len(checks)
    play(adversary, trials=16)
    assert len(checks) == 2 * repeated
    assert repeated == 2 * 3  # the play, and its repetition


def test_an_address_of_a_mechanism_that_was_kept_for_a_while_may_be_used_again():
    def adversary(coins):
        for i in range(100):
            mechanism = Laplace(ALICE, 0.1)
            for _ in range(3):
                yield WITHOUT, EVERYONE, mechanism
            del mechanism
            yield WITHOUT, EVERYONE, Laplace(ALICE, 0.1)
            yield WITHOUT, EVERYONE, Laplace(ALICE, 0.2 if i < 99 else 9.0)

    with pytest.raises(Breach, match=r"round 500, trial 0 of experiment 0: .*outside the family"):
        play(adversary, rounds=500, trials=1)


def test_a_parameter_beyond_the_family_is_found_after_many_within():
    def adversary(coins):
        for epsilon in (0.1, 0.2, 0.15, 0.17, 0.21):
            yield WITHOUT, EVERYONE, Laplace(ALICE, epsilon)

    with pytest.raises(
        Breach, match=r"round 5, trial 0 of experiment 0: Laplace.* outside the family"
    ):
        play(adversary, rounds=5)


def test_a_loss_is_held_against_the_promise_of_its_own_parameter(monkeypatch):
    """A loss that is too large at .15 is found, though it was allowed at .2 before."""

    def adversary(coins):
        for epsilon in (0.1, 0.2, 0.15):
            yield WITHOUT, EVERYONE, Laplace(ALICE, epsilon)

    play(adversary, rounds=3)

    def too_large(params, answer):
        epsilon = 1.0 / params[2]
        return math.copysign(0.16 if math.isclose(epsilon, 0.15) else epsilon, answer)

    monkeypatch.setattr(Laplace, "scalars", replace(LAPLACE, loss=too_large))
    with pytest.raises(Breach, match=r"round 3.*broke its promise"):
        play(adversary, rounds=3)


class Doubled(Laplace):
    """A user's mechanism whose pair is that of twice the parameter."""

    __slots__ = ()

    def guarantee(self, relation=ADD_REMOVE):
        return PureDP(2.0 * self.epsilon)

    def pair(self, database_0, database_1, relation=ADD_REMOVE):
        return Laplace(self.query, 2.0 * self.epsilon).pair(database_0, database_1, relation)


class Stepped(Laplace):
    """A user's mechanism whose row depends on its parameter: half the noise above 0.075."""

    __slots__ = ()

    def guarantee(self, relation=ADD_REMOVE):
        return PureDP(2.0 * self.epsilon)

    def row(self, value_0, value_1, relation):
        return float(value_0), float(value_1), 0.5 if self.epsilon > 0.075 else 1.0


def ever_new(kind, low, high):
    """Mechanisms of a kind, with a new parameter in every round."""

    def adversary(coins):
        while True:
            yield WITHOUT, EVERYONE, kind(ALICE, coins.uniform(low, high))

    return adversary


class Threefold(Database):
    """It equals a plain database, and counts every record three times."""

    def count_of(self, record):
        return 3 * super().count_of(record)


def test_a_database_of_a_users_class_is_no_plain_one_that_it_equals():
    threefold = Threefold({"alice": 1, "others": 3}), Threefold({"others": 3})

    def adversary(coins):
        yield WITHOUT, EVERYONE, Laplace(ALICE, 0.2)
        yield *threefold[::-1], Laplace(ALICE, 0.2)

    assert threefold[0] == EVERYONE
    with pytest.raises(
        Breach, match=r"round 2, trial 0 of experiment 0: .* this pair moves it by 3"
    ):
        play(adversary, rounds=2)


def test_a_subclass_of_a_user_is_played_by_its_own_pair_and_row():
    def doubled(query, epsilon):
        return Laplace(query, 2.0 * epsilon)

    def stepped(query, epsilon):
        return Laplace(query, epsilon * (2.0 if epsilon > 0.075 else 1.0))

    for kind, witness in ((Doubled, doubled), (Stepped, stepped)):
        for b in (0, 1):
            plays = [
                play_as_generator(Specification(ever_new(one, 0.05, 0.1), FAMILY, 30, 3), b, 0)
                for one in (kind, witness)
            ]
            assert plays[0].losses.tolist() == plays[1].losses.tolist()


def test_what_is_prepared_for_one_challenge_is_not_played_for_another():
    """Mechanisms, queries and databases that are kept, made anew and mixed, against the oracle."""
    bob = counting_query("bob")
    full = EVERYONE.add("bob")
    kept = [Laplace(ALICE, 0.2), Laplace(bob, 0.1)]

    def mixed(coins):
        while True:
            person = ("alice", "bob")[coins.integers(2)]
            without = full.remove(person) if coins.random() < 0.5 else REMOVED[person]
            mechanism = kept[coins.integers(2)]
            if coins.random() < 0.5:
                kind = (Laplace, RandomizedResponse)[coins.integers(2)]
                mechanism = kind(counting_query(person), (0.1, 0.2)[coins.integers(2)])
            pair = (without, full) if coins.random() < 0.5 else (full, without)
            yield *pair, mechanism

    REMOVED = {person: full.remove(person) for person in ("alice", "bob")}
    s = Specification(mixed, FAMILY, 60, 20, keep_views=20)
    for b in (0, 1):
        outcome, plays = play_as_generator(s, b, 0), compose_block(s, b, 0)
        assert [view.answers for view in outcome.views] == [tuple(p.answers) for p in plays]
        assert outcome.losses.tolist() == [p.loss for p in plays]


def test_what_is_kept_is_bounded():
    def ever_new(coins):
        while True:
            query = counting_query(float(coins.random()))
            yield WITHOUT, EVERYONE, Laplace(ALICE, 0.1 + 0.1 * coins.random())
            yield WITHOUT, EVERYONE, Laplace(query, 0.1)

    family = Challenges(Specification(ever_new, FAMILY, 5, 1), 0)
    challenges = ever_new(np.random.default_rng(0))
    for _ in range(2 * MOST_KEPT):
        family.checked(next(challenges))
    assert len(family.by_value) == MOST_KEPT
    assert len(family.by_object) <= MOST_KEPT


def test_a_challenge_of_the_first_rounds_is_found_after_many_that_are_new(monkeypatch):
    checks = counted(monkeypatch, "check_mechanism")
    kept = Laplace(ALICE, 0.2)
    family = Challenges(Specification(ever_new(Laplace, 0.1, 0.2), FAMILY, 5, 1), 0)
    first = family.checked((WITHOUT, EVERYONE, kept))
    for i in range(2 * MOST_KEPT):
        family.checked((WITHOUT, EVERYONE, Laplace(ALICE, 0.1 + 1e-6 * i)))
    before = len(checks)
    for mechanism in (kept, Laplace(ALICE, 0.2)):
        assert family.checked((WITHOUT, EVERYONE, mechanism)) is first
    assert len(checks) == before


class Side(enum.Enum):
    LEFT = 1


@dataclass(frozen=True)
class Point:
    """A user's frozen value."""

    x: float
    tags: tuple = ()


def test_what_is_fixed():
    for fixed in (
        1, 0.5, "a", None, (1, ("a",)), EVERYONE, ALICE, Laplace(ALICE, 0.1), Point(0.5),
        Fraction(1, 2), Free(0.1, 0.2), Side.LEFT, counting_scores(["a", "b"]),
    ):  # fmt: skip
        assert is_fixed(fixed), fixed
    for loose in (
        [1], (1, [2]), {"a": 1}, np.ones(2), object(), len, {}.get, lambda d: 1, print,
        function_query(lambda d: 1.0, 1.0), counting_query(lambda r: True), Point(0.5, ([],)),
        Reweighted([1]), Adjustable(0.2),
    ):  # fmt: skip
        assert not is_fixed(loose), loose


def test_what_is_sent_is_recorded_once_where_declared_likelihoods_are_not_trusted():
    first, second = Laplace(ALICE, 0.1), RandomizedResponse(ALICE, 0.2)

    def adversary(coins):
        for mechanism in (first, second, first):
            yield WITHOUT, EVERYONE, mechanism

    played = {
        trust: play_as_generator(
            Specification(adversary, FAMILY, rounds=3, trials=4, seed=1, trust=trust), 0, 0
        )
        for trust in (False, True)
    }
    assert played[True].challenges == ()
    assert played[False].challenges == (
        Challenge(WITHOUT, EVERYONE, first),
        Challenge(WITHOUT, EVERYONE, second),
    )


def test_an_entry_without_a_free_number_is_recorded_though_it_is_not_sent(monkeypatch):
    for name in ("RECORDED", "LEAST_RECORDED"):
        monkeypatch.setattr(f"simulator.engine.block.{name}", 20)
    mechanisms = RandomizedResponse(ALICE, 0.1), RandomizedResponse(ALICE, 0.2), Laplace(ALICE, 0.2)
    menu = tuple(Challenge(WITHOUT, EVERYONE, each) for each in mechanisms)
    rule = Rule(lambda state, i, answer, coins: (state, 0), menu)
    s = Specification(rule, FAMILY, rounds=2, trials=1000, seed=1, trust=False)
    assert set(met_at_first(s, 0, 0)) == set(menu)


def test_a_menu_says_what_is_wrong_with_a_move():
    entry = Challenge(WITHOUT, EVERYONE, Laplace(ALICE, Free(0.05, 0.1)))
    rule = Rule(lambda state, i, answer, coins: (state, 0, 0.1), (entry,))
    menu = Menu.of(rule, FAMILY, ADD_REMOVE, None)
    assert menu.complaint(0, 0.07) == ""
    assert menu.complaint(0, 0.3) == out_of_range(rule.name, 0.3)
    assert menu.complaint(1, 0.07) == off_menu(rule.name, 1)
