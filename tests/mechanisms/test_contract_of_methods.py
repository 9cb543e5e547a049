"""A mechanism whose methods take other arguments than they are called with is refused at once."""

from copy import deepcopy
from dataclasses import dataclass, fields

import numpy as np
import pytest

from simulator import PureDP
from simulator.data import ADD_REMOVE, REPLACE_ONE, Database
from simulator.errors import Breach, InvalidInput
from simulator.mechanisms import BlackBox, Mechanism
from tests.helpers.cases import case
from tests.helpers.mechanism_cases import CASES


def test_a_wrong_signature_is_refused_where_the_class_is_written():
    with pytest.raises(InvalidInput) as caught:

        class Forgetful(Mechanism):
            def guarantee(self, relation=ADD_REMOVE):
                return PureDP(0.1)

            def sample(self, database):
                return 0.0

            def log_likelihood_ratio(self, answer, database_0, database_1, relation=ADD_REMOVE):
                return 0.0

    said = str(caught.value)
    assert len(said.splitlines()) == 1
    assert "Forgetful.sample(self, database) does not fit" in said
    assert "sample(self, database, noise, relation)" in said


@pytest.mark.parametrize("more", ["", ", relation=None", ", relation, extra=1", ", *others"])
def test_what_can_be_called_with_the_arguments_is_taken(more):
    names = {"Mechanism": Mechanism, "dataclass": dataclass}
    fits = bool(more)
    text = (
        "@dataclass(frozen=True)\nclass Own(Mechanism):\n"
        f"    def sample(self, database, noise{more}):\n        return 0.0\n"
    )
    if fits:
        exec(text, names)
    else:
        with pytest.raises(InvalidInput, match="does not fit the contract"):
            exec(text, names)


def test_a_black_box_needs_a_function():
    with pytest.raises(InvalidInput, match="BlackBox needs a function of a database, not 3"):
        BlackBox(3, PureDP(0.1))


def test_a_black_box_draws_from_the_generator_of_the_play_if_it_takes_one():
    def noisy(database, rng):
        return database.size + rng.random()

    for function in (noisy, lambda database, rng=None: noisy(database, rng)):
        box = BlackBox(function, PureDP(0.1)).pair(Database([]), Database(["alice"]))
        assert box.sample(1, np.random.default_rng(3)) == 1.0 + np.random.default_rng(3).random()
    for function in (lambda database: database.size, lambda database, scale=0: database.size):
        box = BlackBox(function, PureDP(0.1)).pair(Database([]), Database(["alice"]))
        assert [box.sample(b, np.random.default_rng(3)) for b in (0, 1)] == [0, 1]


class Fixed(Mechanism):
    """Gives one answer, and notes the relations that it is called with."""

    def __init__(self, answer):
        self.answer, self.relations = answer, []

    def guarantee(self, relation=ADD_REMOVE):
        return PureDP(0.1)

    def sample(self, database, noise, relation=ADD_REMOVE):
        self.relations.append(relation)
        return self.answer

    def log_likelihood_ratio(self, answer, database_0, database_1, relation=ADD_REMOVE):
        self.relations.append(relation)
        return 0.0

    def outcomes(self, database_0, database_1, relation=ADD_REMOVE):
        self.relations.append(relation)
        return [self.answer], [1.0], [1.0]


NEIGHBOURS = Database(["alice"]), Database(["bob"])


def test_every_method_is_called_with_the_relation_of_the_play():
    mechanism = Fixed(0.5)
    pair = mechanism.pair(*NEIGHBOURS, REPLACE_ONE)
    assert pair.sample(0, np.random.default_rng(0)) == 0.5
    assert pair.loss(0.5) == 0.0
    assert pair.outcomes() == ([0.5], [1.0], [1.0])
    assert mechanism.relations == [REPLACE_ONE] * 3


@pytest.mark.parametrize("finite", [0.5, np.float32(2.0), np.arange(3), "text", None])
def test_an_answer_is_passed_on_as_it_is(finite):
    assert Fixed(finite).pair(*NEIGHBOURS).sample(1, np.random.default_rng(0)) is finite


@pytest.mark.parametrize("answer", [np.nan, -np.inf, np.float32("nan"), np.array([1.0, np.inf])])
def test_a_number_in_an_answer_is_finite(answer):
    with pytest.raises(Breach, match=r"answered .*, which is not finite"):
        Fixed(answer).pair(*NEIGHBOURS).sample(1, np.random.default_rng(0))


def test_a_mechanism_is_a_value_that_stays_as_it_is():
    for one in CASES:
        mechanism = one.mechanism
        with case(one.name):
            copied = deepcopy(mechanism)
            assert copied == mechanism
            assert hash(copied) == hash(mechanism)
            assert copied.guarantee(one.relation) == mechanism.guarantee(one.relation)
            with pytest.raises(AttributeError):
                setattr(mechanism, fields(mechanism)[1].name, 0.5)
