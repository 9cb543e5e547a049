"""Values of the wrong type or size in events, documents and filters: one line, and no traceback."""

import json

import pytest

from simulator.foundations.errors import InvalidInput
from simulator.theory import SumFilter, events
from simulator.theory.events import Account
from simulator.theory.events.open_account import OpenAccount
from simulator.theory.guarantees.run_counts import NegativeBinomialRuns


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: events.above_threshold(1.0, 1.0, monotonic="no"), "monotonic must be True or Fal"),
        (lambda: events.tree_aggregation(1.0, 4, padded="no"), "padded must be True or False"),
        (lambda: events.discrete_gaussian(1.0, 1, rounded="no"), "rounded must be True or False"),
        (lambda: events.discrete(3, 4), "p0 must be a list or tuple"),
        (lambda: events.discrete([0.5, 0.5], "ab"), "p1 must be a list or tuple"),
        (lambda: events.gaussian_mixture(1.0, 3, 4), "sensitivities must be a list"),
        (lambda: events.tree_aggregation(1.0, 10**400), "steps must be at most 2\\*\\*63"),
        (lambda: events.randomized_response(1.0, 10**400), "buckets must be at most"),
        (lambda: events.above_threshold(1.0, 1.0, positives=10**400), "positives must be at"),
        (lambda: events.self_compose(events.gaussian(1.0), 10**400), "count must be at most"),
        (lambda: events.self_compose("gaussian", 3), "an event of simulator.theory.events was"),
        (lambda: NegativeBinomialRuns.of_mean(4.0, -1.0), "shape must be above -1, not -1.0"),
        (lambda: events.subsampled(events.gaussian(1.0), 0.1, ["x"]), "sampling must be poisson"),
        (lambda: events.ComposedEvent(3), "events must be a list"),
        (lambda: Account(events.gaussian(1.0)).epsilon("x"), "delta must be a number"),
        (lambda: Account(events.gaussian(1.0)).delta(10**400), "a number within floats"),
        (lambda: Account.from_json(3), "must be text in JSON, not 3"),
        (lambda: SumFilter(1.0).fresh().admits("x"), "accounts for a guarantee"),
        (lambda: SumFilter(1.0).fresh().spend(3), "accounts for a guarantee"),
    ],
)
def test_it_is_refused_in_one_line(make, complaint):
    with pytest.raises(InvalidInput, match=complaint) as refused:
        make()
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300


def nested(levels, wrap):
    event = events.gaussian(1.0)
    for _ in range(levels):
        event = wrap(event)
    return event


@pytest.mark.parametrize("levels", [45, 2000])
def test_a_tree_is_as_deep_as_its_document_may_be(levels):
    if levels == 2000:
        with pytest.raises(InvalidInput, match="nested 90 levels deep"):
            nested(levels, events.compose)
        with pytest.raises(InvalidInput, match="nested 90 levels deep"):
            nested(levels, lambda e: events.self_compose(e, 1))
        return
    for event in (nested(44, events.compose), nested(89, lambda e: events.self_compose(e, 1))):
        account = Account(event)
        assert Account.from_json(account.to_json()) == account
        assert account.epsilon(1e-5).upper > 0.0


def document(event, version=1):
    return json.dumps({"dpcompose": "event", "version": version, "event": event})


def test_a_path_stands_once_in_a_complaint():
    with pytest.raises(InvalidInput) as refused:
        Account.from_json(document({"kind": "promise", "guarantee": 3}))
    assert str(refused.value) == "event.guarantee: must be a string, not 3"


def test_true_is_no_version():
    with pytest.raises(InvalidInput, match="has version true"):
        Account.from_json(document({"kind": "gaussian", "sigma": 1.0}, version=True))


def test_a_sensitivity_of_discrete_noise_is_calibrated_as_a_whole_number():
    text = document({"kind": "discrete_gaussian", "sigma": 10.0, "sensitivity": "?"})
    account = OpenAccount.from_json(text)
    found = account.calibrated(1.0, 1e-5)
    assert (found.value, found.beyond) == (2.0, 3.0)
    assert account.at(2).epsilon(1e-5).upper <= 1.0 < account.at(3).epsilon(1e-5).lower
