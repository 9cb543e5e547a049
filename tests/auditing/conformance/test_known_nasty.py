"""Some of the questions that are always asked: what they are there to catch."""

import math

import pytest

from simulator.auditing import conformance
from simulator.auditing.conformance.accountants import Truths
from simulator.auditing.conformance.events import GAUSSIAN
from simulator.auditing.conformance.verdicts import Ruling, judge


def by_error_function(mu, epsilon):
    def below(x):
        return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))

    return below(mu / 2 - epsilon / mu) - math.exp(epsilon) * below(-mu / 2 - epsilon / mu)


def by_tails(mu, epsilon):
    def below(x):
        return 0.5 * math.erfc(-x / math.sqrt(2.0))

    return below(mu / 2 - epsilon / mu) - math.exp(epsilon) * below(-mu / 2 - epsilon / mu)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("formula", "expected"), [(by_error_function, Ruling.UNSOUND), (by_tails, Ruling.SOUND)]
)
def test_a_gaussian_delta_by_the_error_function_is_unsound_and_one_by_tails_is_not(
    formula, expected
):
    case, truths = conformance.known_nasty()[2], Truths()
    (event,) = case.events
    assert event.kind == GAUSSIAN
    at = truths.place(case, "delta")
    claimed = formula(event.parameter * math.sqrt(event.count), at)
    assert judge("delta", claimed, truths.answer(case, "delta", at))[0] == expected


def test_advanced_composition_without_the_mean_of_the_loss_is_unsound():
    case = conformance.known_nasty()[3]
    (event,) = case.events
    squares = event.count * event.parameter**2
    without = math.sqrt(2.0 * squares * math.log(1.0 / case.delta))
    truth = Truths().answer(case, "epsilon", case.delta)
    assert judge("epsilon", without, truth)[0] == Ruling.UNSOUND
    drift = event.count * event.parameter * math.tanh(event.parameter / 2.0)
    assert judge("epsilon", without + drift, truth)[0] != Ruling.UNSOUND
