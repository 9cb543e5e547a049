"""The larger epsilon of both directions, of which the other one need not be composed."""

import math

import pytest

from simulator import Account
from simulator.theory import GaussianLaw, LaplaceLaw, PoissonSubsampledLaw, randomized_response
from simulator.theory.bracket import Bracket
from simulator.theory.events import promise
from simulator.theory.laws.discrete import discrete_gaussian
from simulator.theory.pld.distribution import PLD, largest_epsilon
from simulator.theory.pld.lines_query import LinesQuery
from simulator.theory.pld.saddle_points import Saddles


def both(rounds, tolerance=1e-5):
    turned = [(law.reversed(), count) for law, count in rounds]
    return PLD.of(rounds, tolerance), PLD.of(turned, tolerance)


def sampled(law, rate=0.01):
    return PoissonSubsampledLaw(law, rate)


COMPOSED = {
    "losses end below": [(sampled(LaplaceLaw(0.3)), 10)],
    "Chernoff's bound": [(sampled(GaussianLaw(1.0)), 300)],
    "one line": [(sampled(GaussianLaw(0.1)), 3000)],
    "atoms": [(sampled(LaplaceLaw(0.3)), 1000)],
    "several kinds": [
        (sampled(LaplaceLaw(0.3)), 20),
        (sampled(GaussianLaw(0.5), 0.02), 30),
        (sampled(randomized_response(0.4), 0.1), 5),
        (discrete_gaussian(20.0), 3),
    ],
}


@pytest.fixture(params=COMPOSED.values(), ids=COMPOSED)
def rounds(request):
    return request.param


@pytest.mark.parametrize("delta", [0.2, 1e-6, 1e-25])
def test_the_largest_epsilon_is_that_of_all_directions(rounds, delta):
    one, other = both(rounds)
    found = largest_epsilon((one, other), delta)
    each = Bracket.largest(pld.epsilon(delta) for pld in (one, other))
    assert found.lower == each.lower
    assert found.upper <= each.upper
    assert found == largest_epsilon((other, one), delta)


@pytest.mark.parametrize("delta", [1e-300, 1e-6, 0.2])
def test_an_infinite_epsilon_is_the_largest(delta):
    """Both directions leak more than delta, or one of them."""
    leaky = randomized_response(0.1, 0.3)
    assert Account(promise("approx:0.1,0.3")).epsilon(delta).lower == math.inf
    for plds in (both([(leaky, 2)]), (PLD.of([(leaky, 1)]), PLD.of([(LaplaceLaw(0.3), 1)]))):
        assert largest_epsilon(plds, delta) == largest_epsilon(plds[::-1], delta)
        assert largest_epsilon(plds, delta).lower == math.inf


def test_the_other_direction_is_not_inverted(rounds, monkeypatch):
    one, other = both(rounds)  # adding a record, and removing it
    truth = other.epsilon(1e-6)
    asked = []
    monkeypatch.setattr(PLD, "epsilon", lambda self, delta: asked.append(self) or truth)
    assert largest_epsilon((one, other), 1e-6) == truth
    assert asked == [other]


def wrong_ones(rounds):
    """Epsilons that are said to be enough and are not; and how often it is said."""
    one, _ = both(rounds, 1e-4)
    right, wrong = 0, []
    for delta in (0.1, 1e-6, 1e-20):
        middle = one.epsilon(delta).value
        for share in (0.5, 0.999, 1.02):
            said = one.is_enough(share * middle, delta)
            right += said
            if said and one.delta(share * middle).lower > delta:
                wrong.append((delta, share))
    return wrong, right


def test_what_is_enough_is_enough(rounds):
    wrong, right = wrong_ones(rounds)
    assert not wrong
    assert right >= 2


def test_a_bound_that_is_too_small_is_seen(monkeypatch):
    monkeypatch.setattr(Saddles, "log_value_at", lambda self, epsilon: -1e3)  # the estimate passes
    assert not wrong_ones(COMPOSED["atoms"])[0]
    monkeypatch.setattr(LinesQuery, "_bound", lambda self, plan, epsilon: 0.0)
    assert wrong_ones(COMPOSED["atoms"])[0]
