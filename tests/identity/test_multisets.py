"""Digests of large databases: as the contents are, whatever the order and the way there."""

import random

import pytest

from simulator.data import Database
from simulator.identity import multisets
from simulator.identity.fingerprint import Walk, same

PEOPLE = [f"person {i}" for i in range(5000)]


def shuffled(records):
    return random.Random(1).sample(records, len(records))


def test_equal_contents_have_equal_digests_in_any_order():
    assert same(Database(PEOPLE), Database(shuffled(PEOPLE)))


def test_a_neighbours_digest_is_the_one_that_its_records_have():
    database = Database(PEOPLE)
    before = database.content_digest()
    steps = [
        (database.add("alice"), Database([*PEOPLE, "alice"])),
        (database.remove(PEOPLE[0]), Database(PEOPLE[1:])),
        (database.add(PEOPLE[7], 2), Database([*PEOPLE, PEOPLE[7], PEOPLE[7]])),
        (database.replace(PEOPLE[0], ("bob", 1)), Database([*PEOPLE[1:], ("bob", 1)])),
    ]
    for moved, anew in steps:
        assert moved == anew
        assert moved.content_digest() == anew.content_digest() != before
    assert database.add("alice").remove("alice").content_digest() == before


@pytest.mark.parametrize(
    "other",
    [
        Database({**dict.fromkeys(PEOPLE, 1), PEOPLE[0]: 2}),
        Database([*PEOPLE[1:], "person x"]),
        Database(PEOPLE[1:]),
        Database([*PEOPLE[1:], 0]),
    ],
)
def test_other_contents_have_other_digests(other):
    assert not same(Database(PEOPLE), other)


def test_numbers_that_are_equal_and_of_other_types_differ():
    whole, real = Database(range(5000)), Database(map(float, range(5000)))
    assert not same(whole, real)
    assert not same(whole, Database([*range(2, 5000), False, True]))


def test_a_step_by_an_equal_record_of_another_type_counts_the_record_that_is_held():
    database = Database(range(5000))
    database.content_digest()
    assert same(database.add(True), Database([*range(5000), 1]))
    assert same(database.remove(False), Database(range(1, 5000)))


class Person:
    """A record that can be altered."""

    __hash__ = object.__hash__
    name = "alice"


def test_what_is_no_plain_record_is_still_walked_through():
    person = Person()
    database = Database([*PEOPLE, person])
    assert database.content_digest() is None
    before = Walk().digest(database)
    person.name = "bob"
    assert Walk().digest(database) != before
    plain = Database(PEOPLE)
    assert plain.content_digest() is not None
    assert plain.add(person).content_digest() is None
    assert plain.add((1, (2, person))).content_digest() is None


def test_a_number_of_too_many_digits_is_left_to_the_walk():
    assert multisets.total({10**5000: 1}) is None
    assert not same(Database([*PEOPLE, 10**5000]), Database([*PEOPLE, 10**5000 + 1]))


def test_a_total_is_the_sum_of_the_terms():
    counts = {"alice": 3, ("bob", 1.5): 1, -0.0: 2, None: 7}
    assert multisets.total(counts) == sum(map(multisets.term, counts.items())) % multisets.MODULUS


def test_half_of_a_surrogate_pair_is_left_to_the_walk():
    database = Database([*PEOPLE, "\ud800"])
    assert multisets.total({"\ud800": 1}) == multisets.term(("\ud800", 1))  # written as \\ud800
    assert not same(database, Database([*PEOPLE, "\ud801"]))
