"""The relation of groups: distances, spreads, sensitivities, and what it is not for."""

import math

import pytest

from simulator.data import (
    ADD_REMOVE,
    REPLACE_ONE,
    Database,
    Group,
    counting_query,
    function_query,
    histogram_query,
)
from simulator.foundations.errors import InvalidInput, NotApplicable

COUNT = counting_query("hers")
OTHERS = Database({"others": 2})


def test_a_group_is_a_relation():
    three = Group(ADD_REMOVE, 3)
    assert str(three) == "groups of 3 (add/remove-one)"
    assert three == Group(ADD_REMOVE, 3) != Group(REPLACE_ONE, 3)
    for more, distance in ((0, 0), (1, 1), (3, 1), (4, 2), (7, 3)):
        assert three.distance(OTHERS, OTHERS.add("hers", more)) == distance
        assert three.are_neighbours(OTHERS, OTHERS.add("hers", more)) == (more <= 3)
    assert Group(REPLACE_ONE, 2).distance(OTHERS, OTHERS.add("hers")) == math.inf
    assert three.spread(-1.0, 2.0) == 6.0
    assert Group(REPLACE_ONE, 3).spread(-1.0, 2.0) == 9.0
    assert COUNT.sensitivity(three) == 3.0
    stated = function_query(lambda database: 2.0 * database.size, 2.0)
    assert stated.sensitivity(three) == 6.0
    by_relation = function_query(lambda database: 0.0, {ADD_REMOVE: 1.0, three: 2.5})
    assert by_relation.sensitivity(three) == 2.5
    with pytest.raises(NotApplicable, match="states its sensitivity under add/remove-one"):
        by_relation.sensitivity(Group(REPLACE_ONE, 3))


def test_bad_groups_are_one_line():
    with pytest.raises(InvalidInput, match="a group has at least one record"):
        Group(ADD_REMOVE, 0)
    with pytest.raises(InvalidInput, match=r"must be a whole number, not 2\.5"):
        Group(ADD_REMOVE, 2.5)
    with pytest.raises(InvalidInput, match="a group is of a relation such as ADD_REMOVE"):
        Group(Group(ADD_REMOVE, 2), 2)
    with pytest.raises(NotApplicable, match="wrap the mechanism in RecordLevel"):
        histogram_query("ab").sensitivity(Group(ADD_REMOVE, 2))
