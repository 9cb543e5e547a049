"""A challenge that repeats is prepared once, and anew as soon as anything inside of it changes."""

from dataclasses import dataclass

import numpy as np
import pytest

from simulator import Database, Laplace, PureDP, counting_query, simulate
from simulator.adversaries.contract import Challenge
from simulator.data import function_query
from simulator.data.queries import FunctionQuery
from simulator.engine.interpreted import interpreter
from simulator.engine.interpreted.interpreter import Prepared
from simulator.engine.specification import Specification
from simulator.foundations.errors import Breach

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")
FAMILY = PureDP(0.2)
FIFTY = function_query(lambda d: 50.0 * d.count("alice"), 1.0, name="fifty")


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


def forced(one, name, value):
    object.__setattr__(one, name, value)


def mechanism_altered(coins):
    mechanism = Laplace(ALICE, 0.2)
    for _ in range(6):
        yield WITHOUT, EVERYONE, mechanism
        forced(mechanism, "epsilon", 9.0)


def attributes_exchanged(coins):
    mechanism = Laplace(ALICE, 0.2)
    for _ in range(6):
        yield WITHOUT, EVERYONE, mechanism
        forced(mechanism, "__dict__", {"query": ALICE, "epsilon": 9.0})


def query_exchanged(coins):
    mechanism = Laplace(ALICE, 0.2)
    for _ in range(6):
        yield WITHOUT, EVERYONE, mechanism
        forced(mechanism, "query", FIFTY)


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


class Shifty(Database):
    """A database that changes its mind."""

    factor = 1

    def count_of(self, record):
        return self.factor * super().count_of(record)


def database_altered(coins):
    full = Shifty({"alice": 1, "others": 3})
    object.__setattr__(full, "factor", 1)
    for _ in range(6):
        yield WITHOUT, full, Laplace(ALICE, 0.2)
        object.__setattr__(full, "factor", 50)


@pytest.mark.parametrize(
    "adversary",
    [
        mechanism_altered, attributes_exchanged, query_exchanged, array_altered, list_altered,
        variable_altered, record_altered, database_altered,
    ],
)  # fmt: skip
def test_what_is_altered_between_rounds_is_checked_anew(adversary):
    with pytest.raises(Breach, match=r"round 2, trial 0: .*(moves it by|outside the family)"):
        play(adversary)


def test_what_is_altered_after_many_rounds_is_checked_anew():
    """By then the challenge is recognised by the ids of its objects."""

    def late(coins):
        mechanism = Laplace(ALICE, 0.2)
        for i in range(100):
            if i == 70:
                forced(mechanism, "epsilon", 9.0)
            yield WITHOUT, EVERYONE, mechanism

    with pytest.raises(Breach, match=r"round 71, trial 0: .*outside the family"):
        play(late, rounds=100)


def test_an_object_at_a_freed_address_is_not_taken_for_the_one_before():
    addresses = []

    def reusing(coins):
        mechanism = Laplace(ALICE, 0.2)
        for i in range(400):
            addresses.append(id(mechanism))
            yield WITHOUT, EVERYONE, mechanism
            mechanism = None
            mechanism = Laplace(ALICE, 0.2 if i < 398 else 9.0)

    with pytest.raises(Breach, match=r"round 400, trial 0: .*outside the family"):
        play(reusing, rounds=400, trials=1)
    assert len(set(addresses)) < len(addresses)  # addresses were indeed used again


@dataclass(frozen=True, eq=False)
class Liar(Laplace):
    """Equal to whatever it is compared with."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


@pytest.mark.parametrize("other", [Liar(FIFTY, 0.2), Liar(ALICE, 9.0)])
def test_one_that_claims_to_be_equal_is_looked_at(other):
    def lying(coins):
        mechanism = Liar(ALICE, 0.2)
        while True:
            yield WITHOUT, EVERYONE, mechanism
            mechanism = other

    with pytest.raises(Breach, match=r"round 2, trial 0: .*(moves it by|outside the family)"):
        play(lying)


def test_a_liar_that_is_kept_and_altered_is_checked_anew():
    def altered(coins):
        mechanism = Liar(ALICE, 0.2)
        while True:
            yield WITHOUT, EVERYONE, mechanism
            forced(mechanism, "epsilon", 9.0)

    with pytest.raises(Breach, match=r"round 2, trial 0: .*outside the family"):
        play(altered)


class LyingQuery(FunctionQuery):
    """Equal to whatever it is compared with."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return hash(ALICE)


class LyingFloat(float):
    """Equal to whatever it is compared with."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return hash(0.2)


class LyingDatabase(Database):
    """Equal to whatever it is compared with."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return hash(EVERYONE)


FIFTY_TOO = LyingQuery(FIFTY.function, FIFTY.l1, FIFTY.l2, "fifty")


@pytest.mark.parametrize(("name", "lie"), [("query", FIFTY_TOO), ("epsilon", LyingFloat(9.0))])
@pytest.mark.parametrize("late", [False, True])
def test_an_attribute_that_claims_to_be_the_one_before_is_not_believed(name, lie, late):
    def lying(coins):
        mechanism = Laplace(ALICE, 0.2)
        for i in range(9):
            if i == (8 if late else 1):
                forced(mechanism, name, lie)
            yield WITHOUT, EVERYONE, mechanism

    with pytest.raises(Breach, match=f"round {9 if late else 2}, trial 0: .*(moves|outside)"):
        play(lying, rounds=9)


@pytest.mark.parametrize(
    "other",
    [
        (WITHOUT, EVERYONE, Laplace(FIFTY_TOO, 0.2)),
        (WITHOUT, EVERYONE, Laplace(ALICE, LyingFloat(9.0))),
        (WITHOUT, LyingDatabase({"bob": 7}), Laplace(ALICE, 0.2)),
    ],
)
def test_a_new_challenge_that_claims_to_be_the_one_before_is_not_believed(other):
    def lying(coins):
        yield WITHOUT, EVERYONE, Laplace(ALICE, 0.2)
        while True:
            yield other

    with pytest.raises(Breach, match=r"round 2, trial 0: .*(moves|outside|not neighbours)"):
        play(lying)


class Louder(Laplace):
    """The same attributes, another promise."""

    def guarantee(self, relation=None):
        return PureDP(9.0)


def test_a_mechanism_that_changes_its_class_is_checked_anew():
    def changing(coins):
        mechanism = Laplace(ALICE, 0.2)
        while True:
            yield WITHOUT, EVERYONE, mechanism
            forced(mechanism, "__class__", Louder)

    with pytest.raises(Breach, match=r"round 2, trial 0: .*outside the family"):
        play(changing)


def test_an_attribute_more_or_less_is_noticed():
    def shadowing(coins):
        mechanism = Laplace(ALICE, 0.2)
        while True:
            yield WITHOUT, EVERYONE, mechanism
            forced(mechanism, "guarantee", lambda relation: PureDP(9.0))

    with pytest.raises(Breach, match=r"round 2, trial 0: .*outside the family"):
        play(shadowing)

    def deleting(coins):
        mechanism = Laplace(ALICE, 0.2)
        while True:
            yield WITHOUT, EVERYONE, mechanism
            object.__delattr__(mechanism, "epsilon")

    with pytest.raises(Breach, match=r"round 2, trial 0: .*epsilon"):
        play(deleting)


def test_a_mechanism_recognised_by_its_parts_is_watched_itself():
    def altered(coins):
        yield WITHOUT, EVERYONE, Laplace(ALICE, 0.2)
        mechanism = Laplace(ALICE, 0.2)
        for _ in range(5):
            yield WITHOUT, EVERYONE, mechanism
        forced(mechanism, "epsilon", 9.0)
        yield WITHOUT, EVERYONE, mechanism

    with pytest.raises(Breach, match=r"round 7, trial 0: .*outside the family"):
        play(altered, rounds=7)


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


def test_each_distinct_challenge_is_checked_once(monkeypatch):
    checks = []
    monkeypatch.setattr(
        interpreter, "admit", lambda *terms, of=interpreter.admit: checks.append(1) or of(*terms)
    )
    kept = Laplace(ALICE, 0.2)

    def adversary(coins):
        for _ in range(2):
            yield WITHOUT, EVERYONE, kept
            yield Challenge(WITHOUT, EVERYONE, Laplace(ALICE, 0.1))
            yield EVERYONE, WITHOUT, kept

    play(adversary, trials=10)
    repeated = len(checks)
    play(adversary, trials=16)
    assert len(checks) == 2 * repeated
    assert repeated == 2 * 3  # the play, and its repetition


def test_what_is_kept_is_bounded():
    def ever_new(coins):
        while True:
            yield WITHOUT, EVERYONE, Laplace(ALICE, 0.1 + 0.1 * coins.random())

    s = Specification(ever_new, FAMILY, 5, 1)
    prepared = Prepared(s, 0)
    challenges = ever_new(np.random.default_rng(0))
    for _ in range(interpreter.MAX_PREPARED + 100):
        prepared.ready(next(challenges))
    assert len(prepared.recognised.by_id) <= interpreter.MAX_PREPARED
    assert len(prepared.recognised.by_value) <= interpreter.MAX_PREPARED
