"""No upper end of an account is above another one that the package has."""

from __future__ import annotations

import random

import pytest

from simulator import Account
from simulator.theory.events import (
    above_threshold,
    gaussian,
    laplace,
    promise,
    select,
    subsampled,
)

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


@pytest.mark.parametrize("count", [1, 3])
def test_a_bounded_range_on_a_sample_costs_at_most_pure_privacy_of_its_width(count):
    ranged, pure = (
        account([(subsampled(promise(text), 0.1), count)]).epsilon(1e-6).upper
        for text in ("range:0.4", "pure:0.4")
    )
    assert ranged <= pure * (1 + 1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(20))
def test_an_account_of_any_events_is_at_most_its_own_rows(seed):
    """Mixes over more kinds of events, at both questions; 20 seeds take some minutes."""
    draw = random.Random(seed)

    def number(low, high):
        return float(f"{draw.uniform(low, high):.3g}")

    kinds = [
        lambda: f"range:{number(0.01, 1.5)}", lambda: f"pure:{number(0.05, 1.2)}",
        lambda: f"gdp:{number(0.05, 1.0)}", lambda: f"zcdp:{number(0.001, 0.1)}",
        lambda: f"approx:{number(0.05, 0.5)},1e-9", lambda: f"renyi:2.0,{number(0.01, 0.1)},8.0,.4",
        lambda: laplace(number(2, 20)), lambda: gaussian(number(1, 10)),
        lambda: subsampled(gaussian(number(0.8, 3)), number(0.01, 0.3)),
        lambda: subsampled(promise(f"range:{number(0.1, 1.0)}"), number(0.01, 0.3)),
        lambda: above_threshold(number(10, 40), number(20, 80)),
        lambda: select(promise(f"pure:{number(0.02, 0.2)}"), 5.0),
    ]  # fmt: skip
    held = account([(draw.choice(kinds)(), draw.choice((1, 2, 5, 30))) for _ in range(2)])
    delta = draw.choice((1e-3, 1e-6, 1e-8))
    upper = held.epsilon(delta).upper
    for row in held.compare(delta=delta):
        assert row.kind == "lower" or upper <= row.answer.upper * (1 + 1e-6), row.name
    upper = held.delta(0.7).upper
    for row in held.compare(epsilon=0.7):
        assert row.kind == "lower" or upper <= row.answer.upper * (1 + 1e-5), row.name


def test_the_worst_mechanism_in_the_range_stays_below():
    """The extremal pairs of a range, composed by randomized response of half the width at least."""
    for count in (1, 8):
        ranged = account([("range:1", count)]).epsilon(1e-6).upper
        assert ranged >= account([("pure:0.5", count)]).epsilon(1e-6).lower
