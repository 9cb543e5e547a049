"""Epsilon where delta is the probability of an infinite loss, or more than delta(0)."""

import math
from fractions import Fraction

import pytest

from simulator import Account
from simulator.foundations.errors import NotApplicable
from simulator.theory.bounds import base
from simulator.theory.events import compose, discrete, gaussian, laplace, promise, self_compose


def leaking(delta, rounds):
    return Account(self_compose(promise(f"approx:0,{delta!r}"), rounds))


def doubles_near(value, most=6):
    below = above = value
    found = [value]
    for _ in range(most):
        below, above = math.nextafter(below, 0.0), math.nextafter(above, 1.0)
        found += [below, above]
    return found


def wrong_ones():
    """Answers near delta = 1 - (1 - p)^k without the truth, 0 from there on; and how many."""
    wrong, answered = [], 0
    for p in (0.01, 0.02, 0.3, 1e-6, 0.1, 0.007):
        for rounds in (1, 2, 3, 5, 7, 10):
            lost = 1 - (1 - Fraction(p)) ** rounds
            for delta in doubles_near(float(lost)):
                truth = 0.0 if Fraction(delta) >= lost else math.inf
                try:
                    found = leaking(p, rounds).epsilon(delta)
                except NotApplicable:
                    continue
                answered += 1
                if truth not in found:
                    wrong.append((p, rounds, delta))
    return wrong, answered


def test_no_answer_is_wrong_by_rounding():
    wrong, answered = wrong_ones()
    assert not wrong
    assert answered >= 6 * 7  # one round has no rounding


def test_a_bound_that_trusts_its_rounding_is_seen(monkeypatch):
    monkeypatch.setattr(base.BoundOnComposition, "_require_room", lambda self, delta: None)
    assert wrong_ones()[0]


@pytest.mark.parametrize(
    ("event", "delta", "truth"),
    [
        (promise("approx:0,0.01"), 0.01, 0.0),
        (promise("approx:1,0.01"), 0.01, 1.0),
        (compose(promise("approx:1,0.01"), laplace(1.0)), 0.01, 2.0),
        (compose(promise("approx:1,0.01"), promise("pure:0.5")), 0.01, 1.5),
    ],
)
def test_one_round_that_leaks_with_delta(event, delta, truth):
    found = Account(event).epsilon(delta)
    assert truth in found
    assert found.width <= 1e-6


def test_what_rounding_leaves_open_is_said():
    with pytest.raises(NotApplicable, match=r"within rounding, delta 0\.5 is the probability"):
        Account(discrete([1.0, 0.0], [0.5, 0.5])).epsilon(0.5)
    above = Account(discrete([1.0, 0.0], [0.5, 0.5])).epsilon(0.5 + 1e-9)
    assert above.lower == above.upper == 0.0
    account = Account(compose(promise("approx:0.3,0.01"), self_compose(laplace(2.0), 3)))
    with pytest.raises(NotApplicable, match=r"within rounding|no epsilon is enough"):
        leaking(0.01, 2).epsilon(0.0199)
    assert account.epsilon(0.01).lower > 1.7


def test_at_delta_0_rounding_leaves_nothing_open():
    for event in (gaussian(1.0), compose(gaussian(1.0), promise("approx:0.1,0.01"))):
        with pytest.raises(NotApplicable, match="no finite epsilon holds at delta 0"):
            Account(event).epsilon(0.0)


def test_epsilon_is_0_from_delta_0_on():
    account = Account(compose(discrete([0.5, 0.5, 0.0], [0.4, 0.4, 0.2]), laplace(1.0)))
    least = account.delta(0.0).upper
    for delta in (least, 0.46, 0.5, 0.59, 0.6):
        found = account.epsilon(delta)
        assert found.lower == found.upper == 0.0
    assert account.epsilon(0.45).lower > 0.0
