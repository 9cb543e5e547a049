"""No upper end of an account is above another one that the package has."""

from __future__ import annotations

import random

import pytest

from simulator import Account

PARTS = ("range:0.4", "range:1", "pure:0.3", "pure:1", "gdp:0.3", "zcdp:0.02", "approx:0.2,1e-9")


def mixes(number):
    draw = random.Random(0)
    for _ in range(number):
        yield [(draw.choice(PARTS), draw.choice((1, 2, 5, 30))) for _ in range(draw.randint(1, 3))]


def account(parts):
    found = Account()
    for text, count in parts:
        found = found.then(text, count)
    return found


@pytest.mark.parametrize("parts", list(mixes(12)), ids=str)
def test_an_account_is_at_most_its_own_rows(parts):
    held = account(parts)
    upper = held.epsilon(1e-6).upper
    for row in held.compare(delta=1e-6):
        assert upper <= row.answer.upper * (1 + 1e-6), row.name


@pytest.mark.parametrize("count", [1, 2, 4, 8, 64])
def test_a_bounded_range_costs_at_most_pure_privacy_of_its_width(count):
    others = [("gdp:0.2", 3), ("pure:0.5", 2)]
    ranged = account([("range:1", count), *others]).epsilon(1e-6).upper
    assert ranged <= account([("pure:1", count), *others]).epsilon(1e-6).upper
    assert account([("range:0.4", 1)]).epsilon(1e-6).upper < 0.4


def test_the_worst_mechanism_in_the_range_stays_below():
    """The extremal pairs of a range, composed by randomized response of half the width at least."""
    for count in (1, 4, 32):
        ranged = account([("range:1", count)]).epsilon(1e-6).upper
        assert ranged >= account([("pure:0.5", count)]).epsilon(1e-6).lower
