"""Queries of anybody's code: what it looks at may change between two rounds, in any way."""

import os

import numpy as np
import pytest

from simulator import Database, Laplace, PureDP, simulate
from simulator.data import function_query
from simulator.foundations.errors import Breach, InvalidInput

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")

WEIGHT = 0.0


class Held:
    weight = 0.0


def by_global(database):
    return WEIGHT * database.count_of("alice")


def by_class(database):
    return Held.weight * database.count_of("alice")


def by_default(database, weight=(0.0,)):
    return weight[0] * database.count_of("alice")


def by_attribute(database):
    return by_attribute.weight * database.count_of("alice")


def by_environment(database):
    return float(os.environ["DPCOMPOSE_TEST_WEIGHT"]) * database.count_of("alice")


def set_weight(weight):
    global WEIGHT
    WEIGHT = Held.weight = by_attribute.weight = weight
    by_default.__defaults__ = ((weight,),)
    os.environ["DPCOMPOSE_TEST_WEIGHT"] = str(weight)


@pytest.mark.parametrize("answer", [by_global, by_class, by_default, by_attribute, by_environment])
def test_code_of_a_user_is_asked_every_round(answer, monkeypatch):
    """Whatever a query's code looks at may have changed since: it is no part of a challenge."""
    monkeypatch.setenv("DPCOMPOSE_TEST_WEIGHT", "0")
    noisy = Laplace(function_query(answer, 1.0), 0.2)

    def adversary(coins):
        set_weight(0.0)
        yield WITHOUT, EVERYONE, noisy
        while True:
            set_weight(1.0)
            yield WITHOUT, EVERYONE, noisy

    result = simulate(adversary, PureDP(0.2), 4, 50, jobs=1, progress=False, keep_views=2)
    assert np.abs(result.losses(0)).max() > 0.3
    result.replay(result.views[0])
    set_weight(0.0)

    def louder(coins):
        set_weight(1.0)
        yield WITHOUT, EVERYONE, noisy
        set_weight(10.0)
        yield WITHOUT, EVERYONE, noisy

    with pytest.raises(Breach, match="moves it by 10"):
        simulate(louder, PureDP(0.2), 2, 50, jobs=1, progress=False)


def test_an_error_of_an_adversary_has_its_file_and_line():
    def attack(coins):
        yield from ()
        raise ZeroDivisionError("by hand")

    line = attack.__code__.co_firstlineno + 2
    with pytest.raises(Breach, match=rf"by hand \(test_code_of_a_user\.py, line {line}\)"):
        simulate(attack, PureDP(0.2), 3, 5, jobs=1, progress=False)


@pytest.mark.parametrize("family", [0.2, None, 3])
def test_a_family_that_is_none_is_named(family):
    for adversary in ("press-when-ahead", lambda coins: iter(())):
        with pytest.raises(InvalidInput, match="the family must be a guarantee such as PureDP"):
            simulate(adversary, family, 3, 5, jobs=1, progress=False)
