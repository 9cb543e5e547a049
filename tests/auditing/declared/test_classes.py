"""Of challenges that differ in numbers alone, few stand for all; no other class is left out."""

import time
from dataclasses import dataclass, replace

import numpy as np
import pytest

from simulator.adversaries.contract import Challenge
from simulator.auditing.declared import FalseLikelihood, require_declared
from simulator.auditing.declared.classes import MOST_EXAMINED, MOST_OF_A_CLASS, representatives
from simulator.data.databases import ADD_REMOVE, Database
from simulator.data.queries import counting_query
from simulator.mechanisms import Laplace, Mechanism
from simulator.theory.guarantees.pure import PureDP

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")
MANY = np.random.default_rng(5).uniform(0.1, 0.2, 1000).tolist()


@dataclass(frozen=True)
class Beyond(Mechanism):
    """Laplace noise, which a mistake halves where epsilon is above a threshold."""

    epsilon: float
    threshold: float = 0.199

    def guarantee(self, relation=ADD_REMOVE):
        return PureDP(1.0)

    def sample(self, database, noise, relation=ADD_REMOVE):
        epsilon = self.epsilon * (2.0 if self.epsilon > self.threshold else 1.0)
        return database.count_of("alice") + noise.laplace(scale=1.0 / epsilon)

    def log_likelihood_ratio(self, answer, database_0, database_1, relation=ADD_REMOVE):
        first, second = (d.count_of("alice") for d in (database_0, database_1))
        return self.epsilon * (abs(answer - second) - abs(answer - first))


class Plain(Beyond):
    """The same by a class that hashes by its address."""

    __hash__ = object.__hash__


def challenges(mechanisms):
    return [Challenge(WITHOUT, EVERYONE, mechanism) for mechanism in mechanisms]


def epsilons(found):
    return sorted(challenge.mechanism.epsilon for challenge in found)


@pytest.mark.parametrize("kind", [Beyond, Plain, lambda e: Laplace(ALICE, e)])
def test_of_many_parameters_both_ends_and_some_between_are_examined(kind):
    found = epsilons(representatives(challenges(map(kind, MANY))))
    assert len(found) == MOST_OF_A_CLASS
    assert (found[0], found[-1]) == (min(MANY), max(MANY))
    assert max(np.diff(found)) < 0.2 * (max(MANY) - min(MANY))


def test_few_are_all_examined_and_what_differs_otherwise_is_another_class():
    few = challenges(Laplace(ALICE, e) for e in MANY[:MOST_OF_A_CLASS])
    assert representatives(few) == few
    other = challenges(Laplace(counting_query("others"), e) for e in MANY)
    back = [Challenge(EVERYONE, WITHOUT, c.mechanism) for c in other]
    both = representatives([*challenges(Laplace(ALICE, e) for e in MANY), *other, *back])
    assert len(both) == 3 * MOST_OF_A_CLASS


def test_what_a_function_closes_over_is_a_parameter():
    def above(t):
        return counting_query(lambda record: record > t)

    found = representatives(challenges(Laplace(above(t), 0.1) for t in MANY))
    assert len(found) == MOST_OF_A_CLASS


def test_two_parameters_have_both_ends_each():
    many = [Beyond(e, t) for e, t in zip(MANY, MANY[::-1])]
    found = [c.mechanism for c in representatives(challenges(many))]
    assert len(found) == MOST_OF_A_CLASS
    for name in ("epsilon", "threshold"):
        values = [getattr(each, name) for each in found]
        assert (min(values), max(values)) == (min(MANY), max(MANY))


def test_a_false_mechanism_of_another_class_is_found_among_a_thousand():
    many, false = [Laplace(ALICE, e) for e in MANY], Beyond(0.5, 0.4)
    assert representatives(challenges([*many, false]))[-1].mechanism is false
    with pytest.raises(FalseLikelihood, match=r"^Beyond\("):
        require_declared(challenges([false, *many]), ADD_REMOVE, 1, draws=1024)


@pytest.mark.nightly
def test_a_mechanism_that_is_false_beyond_a_threshold_of_its_parameter_is_found():
    """Five of four hundred are false, at the end of the range."""
    many = [Beyond(e, 0.99) for e in np.linspace(0.5, 1.0, 400)]
    with pytest.raises(FalseLikelihood, match=r"^Beyond\("):
        require_declared(challenges(many), ADD_REMOVE, 1)
    true = [replace(each, threshold=2.0) for each in many]
    before = time.process_time()
    found = require_declared(challenges(true), ADD_REMOVE, 1)
    assert (found.mechanisms, found.met) == (MOST_OF_A_CLASS, 400)
    assert "16 of 400 mechanisms examined" in str(found)
    assert time.process_time() - before < 60.0


@pytest.mark.parametrize("name", ["patient {}", "{0:x}-{0}", "{}"])
def test_new_databases_in_every_round_are_one_class_of_which_few_are_examined(name):
    """The records are new, and so are the queries that name them and the databases' sizes."""
    records = [name.format(10**6 + 7919 * i) for i in range(200)]

    def meet(kind):
        for i, record in enumerate(records):
            without = Database({f"others of {record}": 3 + i})
            yield Challenge(without, without.add(record), Laplace(counting_query(record), kind))

    many = list(meet(0.1))
    found = representatives(many)
    assert len(found) == MOST_OF_A_CLASS
    sizes = [len(challenge.database_0) for challenge in found]
    assert (min(sizes), max(sizes)) == (3, 202)
    other = [Challenge(second, first, mechanism) for first, second, mechanism in many]
    assert len(representatives([*many, *other])) == 2 * MOST_OF_A_CLASS


def test_of_endlessly_many_classes_a_limited_number_is_examined():
    query = [counting_query(lambda record, i=i: record == i) for i in range(400)]
    many = challenges(Laplace(each, 0.1) for each in query)
    few = challenges(Laplace(ALICE, e) for e in MANY[:100])
    found = representatives([*many, *few])
    assert len(found) == MOST_EXAMINED
    assert found[0] is many[0]
    assert found[-1] in few
    assert representatives([*many[: MOST_EXAMINED - 16], *few])[-1] in few
