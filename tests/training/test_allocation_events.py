"""Events of random allocation: what they resolve to, and their documents."""

import itertools
import json
import math

import numpy as np
import pytest

from simulator.errors import InvalidInput, NotApplicable
from simulator.theory import events
from simulator.theory.events import Account
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.training import random_allocation
from simulator.training.laws.allocation import AllocationLaw

ONE = random_allocation(events.gaussian(1.0), 20, epochs=3)


def test_an_epoch_is_a_round():
    assert Account(ONE).laws == [(AllocationLaw(GaussianLaw(1.0), 20), 3)]
    assert Account(ONE).exact
    again = events.self_compose(random_allocation(events.gaussian(1.0), 20), 3)
    assert Account(again).laws == Account(ONE).laws


@pytest.mark.nightly
def test_several_of_the_steps_are_blocks_of_two_sizes():
    account = Account(random_allocation(events.gaussian(1.0), 11, 4, 5))
    base = GaussianLaw(1.0)
    assert account.laws == [(AllocationLaw(base, 3), 15), (AllocationLaw(base, 2), 5)]
    assert not account.exact
    assert account.epsilon(0.5).lower == 0.0


def exact_of_several(epsilon, steps, selected, at):
    """Both divergences of k of t randomized responses, by all answers and all sets of steps."""
    truth = 1 / (1 + math.exp(-epsilon))
    removal = addition = 0.0
    for answers in itertools.product((0, 1), repeat=steps):
        mass = math.prod(1 - truth if answer else truth for answer in answers)
        ratios = np.exp([epsilon if answer else -epsilon for answer in answers])
        ratio = np.mean([np.prod(s) for s in itertools.combinations(ratios, selected)])
        removal += mass * max(ratio - math.exp(at), 0.0)
        addition += mass * max(1 - math.exp(at) * ratio, 0.0)
    return max(removal, addition)


@pytest.mark.sampled
@pytest.mark.parametrize(("steps", "selected"), [(3, 2), (5, 2), (6, 3), (5, 4)])
def test_several_of_the_steps_have_an_upper_end(steps, selected):
    event = random_allocation(events.randomized_response(0.8), steps, selected)
    for at in (0.1, 1.0):
        exact = exact_of_several(0.8, steps, selected, at)
        found = Account(event).delta(at)
        assert exact <= found.upper < 1.6 * exact + 0.02
        assert found.lower == 0.0


def test_every_step_is_the_composition_of_all():
    event = random_allocation(events.gaussian(1.0), 4, 4, 2)
    assert Account(event).laws == [(GaussianLaw(1.0), 8)]
    assert Account(event, "replace-one").exact


def test_it_composes_with_other_events():
    more = Account(ONE).then(events.subsampled(events.gaussian(1.0), 0.01), 50).then("pure:0.1")
    found, less = more.epsilon(1e-5), Account(ONE).epsilon(1e-5)
    assert less.upper < found.lower <= found.upper < less.upper + 0.6
    assert found.width < 2e-4 * found.upper


@pytest.mark.nightly
def test_its_rows_say_what_they_are():
    (row,) = Account(ONE).compare(delta=1e-5, names=["privacy-loss-distribution"])
    assert row.kind == "fixed-pair"
    assert row.answer.width < 1e-4 * row.answer.upper
    several = Account(random_allocation(events.gaussian(1.0), 20, 2))
    (row,) = several.compare(delta=1e-5, names=["privacy-loss-distribution"])
    assert (row.kind, row.answer.lower) == ("upper", 0.0)
    bounds = {row.name: row.answer for row in Account(ONE).compare(delta=1e-5)}
    assert bounds["analytic-gaussian"].upper > 3 * bounds["privacy-loss-distribution"].upper


def test_its_document():
    text = (
        '{"dpcompose": "event", "version": 1, "relation": "add-remove", "event": '
        '{"kind": "random_allocation", "steps": 20, "selected": 1, "epochs": 3, '
        '"event": {"kind": "gaussian", "sigma": 1.0}}}'
    )
    assert Account.from_json(text) == Account(ONE)
    assert Account.from_json(Account(ONE).to_json()) == Account(ONE)
    pld = Account(ONE).directions()[0]
    assert type(pld).from_json(pld.to_json()) == pld


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        ({"selected": 21}, "a record cannot take part in 21 of 20 steps"),
        ({"steps": 0}, "steps"),
        ({"steps": 2.5}, "steps"),
        ({"selected": 0}, "selected"),
        ({"epochs": 0}, "epochs"),
        ({"epochs": "many"}, "epochs"),
        ({"steps": 10**8}, "steps must be at most 10000000"),
        ({"event": {"kind": "gaussian", "sigma": 0}}, "sigma must be a positive"),
    ],
)
def test_bad_documents_have_one_clear_line(members, complaint):
    document = json.loads(Account(ONE).to_json())
    document["event"] |= members
    with pytest.raises(InvalidInput, match=complaint) as error:
        Account.from_json(json.dumps(document))
    assert "\n" not in str(error.value)


def test_other_relations_and_compositions_have_no_theorem():
    with pytest.raises(NotApplicable, match="replace-special only, not under replace-one"):
        Account(ONE, "replace-one").epsilon(1e-5)
    mixed = events.compose(events.gaussian(1.0), events.laplace(1.0))
    with pytest.raises(NotApplicable, match="has no law here unless all of it is"):
        Account(random_allocation(mixed, 3)).epsilon(1e-5)
