"""The two ways of computing the truth share nothing and agree, so one vouches for the other."""

import math

import pytest

from simulator.auditing.conformance.events import (
    APPROX,
    GAUSSIAN,
    LAPLACE,
    PURE,
    RANDOMIZED_RESPONSE,
    SUBSAMPLED_GAUSSIAN,
    PrivacyEvent,
)
from simulator.auditing.conformance.truth import Truth
from simulator.auditing.conformance.witness import delta_at, epsilon_at

COMPOSITIONS = {
    "gaussian": (PrivacyEvent(GAUSSIAN, 0.3, 20), PrivacyEvent(GAUSSIAN, 0.7, 2)),
    "one Laplace": (PrivacyEvent(LAPLACE, 1.0, 1),),
    "two Laplace": (PrivacyEvent(LAPLACE, 1.0, 1), PrivacyEvent(LAPLACE, 0.6, 1)),
    "Laplace": (PrivacyEvent(LAPLACE, 0.05, 1000),),
    "responses": (PrivacyEvent(RANDOMIZED_RESPONSE, 0.1, 300),),
    "pure and approx": (PrivacyEvent(PURE, 0.3, 10), PrivacyEvent(APPROX, 0.2, 20, 1e-9)),
    "everything": (
        PrivacyEvent(GAUSSIAN, 0.4, 5),
        PrivacyEvent(LAPLACE, 0.2, 30),
        PrivacyEvent(APPROX, 0.1, 9, 1e-10),
    ),
    "Laplace and responses": (PrivacyEvent(LAPLACE, 0.2, 6), PrivacyEvent(PURE, 0.4, 9)),
}


@pytest.mark.sampled
@pytest.mark.parametrize("delta", [1e-3, 1e-8, 1e-14])
@pytest.mark.parametrize("name", COMPOSITIONS)
def test_both_ways_agree(name, delta):
    events = COMPOSITIONS[name]
    truth = Truth(events)
    epsilon = 0.98 * truth.epsilon(delta).lower
    if epsilon == math.inf:  # the leaks alone are more
        assert delta_at(events, epsilon).value > delta
        assert epsilon_at(events, delta, 1.0).value == math.inf
        return
    found = truth.delta(epsilon)
    second = delta_at(events, epsilon)
    assert second.value == pytest.approx(found.lower, rel=1e-4)


@pytest.mark.parametrize("kind", [GAUSSIAN, LAPLACE])
def test_both_ways_agree_where_a_record_is_replaced(kind):
    events = (PrivacyEvent(kind, 0.3, 3, relation="replace-one"),)
    second = delta_at(events, 0.7)
    assert second.value == pytest.approx(Truth(events).delta(0.7).lower, rel=1e-4)
    added = delta_at([PrivacyEvent(kind, 0.6, 3)], 0.7)
    assert second.value == pytest.approx(added.value, rel=1e-9)


@pytest.mark.sampled
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_a_subsampled_gaussian_is_enclosed(count, relation):
    events = (PrivacyEvent(SUBSAMPLED_GAUSSIAN, 0.8, count, rate=0.05, relation=relation),)
    found = Truth(events).delta(0.5)
    second = delta_at(events, 0.5)
    assert found.lower == pytest.approx(second.value, rel=2e-4)
    assert found.width <= 1e-4 * found.upper


def test_epsilon_is_the_inverse_of_delta():
    events = COMPOSITIONS["everything"]
    found = epsilon_at(events, 1e-6, 1.0)
    assert Truth(events).epsilon(1e-6).lower == pytest.approx(found.value, rel=1e-5)


def test_leaks_are_the_delta_at_infinity():
    events = (PrivacyEvent(APPROX, 0.5, 3, 0.1),)
    assert delta_at(events, math.inf).value == pytest.approx(1 - 0.9**3)
    assert epsilon_at(events, 0.2, 1.0).value == math.inf
