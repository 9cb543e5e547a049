"""Event trees from JSON, from an Opacus history and from dp_accounting; and complaints."""

import json
import math

import numpy as np
import pytest
from scipy.optimize import brentq

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory import PureDP, RenyiDP, events, sampled_with_replacement
from simulator.theory.events import Account
from simulator.theory.events.open_account import OpenAccount
from simulator.theory.events.stored import EVENTS
from simulator.theory.laws.gaussian_curve import gaussian_delta
from simulator.training import min_separation, random_allocation
from tests.helpers.cases import case
from tests.helpers.dp_events import dp, noise, sampled

EVERYTHING = events.compose(
    events.self_compose(events.subsampled(events.gaussian(0.1 + 0.2), 1 / 3), 7),
    events.subsampled(events.laplace(1.5, 2.5), 0.25),
    events.sampled_with_replacement(events.laplace(1.5), 7, 100),
    events.sampled_sum(2.5, 0.1, 1.5, 20, 100),
    random_allocation(events.laplace(1.5), 9, 2, 3),
    min_separation(events.laplace(1.5), 0.1, 3, 9),
    events.select(events.promise(PureDP(0.1)), 10.0, math.inf),
    events.promise(RenyiDP((2.0, 8.0), (0.1, 1 / 3))),
    events.above_threshold(10.0, 20.0, positives=3, monotonic=True),
    events.tree_aggregation(5.0, (100, 7), padded=True),
    events.discrete((0.5, 0.5), (0.4, 0.6)),
    events.randomized_response(0.3, 4),
    events.discrete_gaussian(2.5, 3),
    events.discrete_laplace(0.1, 2, rounded=True),
    events.staircase(0.5, 0.4),
    events.gaussian_mixture(2.0, (0.0, 1.0), (0.9, 0.1)),
    events.nothing(),
)


def test_every_event_is_read_back_to_the_last_bit():
    inner = {events.GaussianEvent, events.LaplaceEvent, events.ComposedEvent}
    assert {type(event) for event in EVERYTHING.events} | inner == set(EVENTS.classes.values())
    account = Account(EVERYTHING)
    text = account.to_json()
    json.loads(text, parse_constant=pytest.fail)
    assert Account.from_json(text) == account
    assert Account.from_json(text).to_json() == text
    other = Account(events.gaussian(1.0), "replace-one", 3)
    assert Account.from_json(other.to_json()) == other


def test_a_document_as_a_person_writes_it():
    text = """{"dpcompose": "event", "version": 1, "event":
        {"kind": "self_compose", "count": 1e4, "event":
            {"kind": "subsampled", "rate": 0.01, "event": {"kind": "gaussian", "sigma": 1}}}}"""
    tree = events.self_compose(events.subsampled(events.gaussian(1.0), 0.01), 10_000)
    assert events.read_account(text) == Account(tree)
    tree = text.replace('"gaussian", "sigma": 1', '"tree_aggregation", "sigma": 1, "steps": 9')
    assert events.read_account(tree).event.event.event.steps == (9,)


def document(event, **more):
    return json.dumps({"dpcompose": "event", "version": 1, "event": event, **more})


NOISE = {"kind": "gaussian", "sigma": 1.0}


@pytest.mark.parametrize(
    ("event", "complaint"),
    [
        (NOISE | {"sigma": 0}, "event: sigma must be a positive number"),
        ({"kind": "compose", "events": [NOISE, NOISE | {"sigma": "much"}]},
         'event.events[1].sigma: must be a number, not "much"'),
        ({"kind": "subsampled", "rate": 1.5, "event": NOISE},
         "event: the sampling rate must be in [0, 1], not 1.5"),
        ({"kind": "self_compose", "count": 2.5, "event": NOISE}, "event.count: must be a whole"),
        ({"kind": "self_compose", "event": NOISE}, "event: self_compose needs a count"),
        ({"kind": "compose", "events": NOISE}, "event.events: must be a list"),
        ({"kind": "compose", "events": []}, "event: compose needs at least one event"),
        ({"kind": "gausian", "sigma": 1.0}, "no kind 'gausian'; there is gaussian"),
        (NOISE | {"rate": 0.1}, "event.rate: gaussian has no such member"),
        ({"kind": "promise", "guarantee": "pure:x"}, "event.guarantee: pure:x: epsilon must be"),
        ({"kind": "promise", "guarantee": 0.1}, "event.guarantee: must be a string, not 0.1"),
        (3, "event: must be an object, not 3"),
    ],
)  # fmt: skip
def test_a_bad_node_is_named_by_its_path(event, complaint):
    with pytest.raises(InvalidInput) as refused:
        events.read_account(document(event))
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_relation_that_is_none_and_a_tree_too_deep():
    with pytest.raises(InvalidInput, match="relation must be add-remove or replace-one"):
        events.read_account(document(NOISE, relation="swap"))
    deep = NOISE
    for _ in range(200):
        deep = {"kind": "self_compose", "count": 1, "event": deep}
    with pytest.raises(InvalidInput, match="nested more than 100 levels deep"):
        events.read_account(document(deep))


# --- Opacus -------------------------------------------------------------------------------------

HISTORY = [(1.1, 0.01, 1000), (0.9, 0.02, 50), (1.0, 0.5, 0)]


def test_a_history_of_opacus_is_read_from_python_and_from_json():
    tree = events.compose(
        events.self_compose(events.subsampled(events.gaussian(1.1), 0.01), 1000),
        events.self_compose(events.subsampled(events.gaussian(0.9), 0.02), 50),
    )
    assert events.from_opacus(HISTORY) == Account(tree)
    assert events.read_account(json.dumps(HISTORY)) == Account(tree)
    state = {"history": HISTORY, "mechanism": "prv"}
    assert events.read_account(json.dumps(state)) == Account(tree)
    assert events.from_opacus([]).event == events.nothing()


@pytest.mark.parametrize(
    ("history", "complaint"),
    [
        ([(1.0, 0.1, 5), (0.0, 0.1, 5)], r"history\[1\]: sigma must be a positive"),
        ([(1.0, 1.1, 5)], r"history\[0\]: the sampling rate must be in \[0, 1\]"),
        ([(1.0, 0.1, -5)], r"history\[0\]: the number of steps must be at least 0"),
        ([(1.0, 0.1)], r"history\[0\]: \(1.0, 0.1\) is not \(noise multiplier"),
        ([7], r"history\[0\]: 7 is not"),
        ([("a", 0.1, 5)], r"history\[0\]: sigma must be a number"),
    ],
)
def test_a_bad_history_is_refused_with_the_place(history, complaint):
    with pytest.raises(InvalidInput, match=complaint):
        events.from_opacus(history)


# --- dp_accounting ------------------------------------------------------------------------------


def truncated(batch):
    return dp("TruncatedSubsampledGaussianDpEvent", dataset_size=100, sampling_probability=0.01,
              truncated_batch_size=batch, noise_multiplier=1.0)  # fmt: skip


def many_sensitivities(count):
    weights, shifts = [1 / count] * count, [place / count for place in range(count)]
    return dp("MixtureOfGaussiansDpEvent", standard_deviation=1.0, sampling_probs=weights,
              sensitivities=shifts)  # fmt: skip


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (truncated(batch=10), events.sampled_sum(1.0, 0.01, batch=10, size=100)),
        (noise(2.0), events.gaussian(2.0)),
        (dp("NoOpDpEvent"), events.nothing()),
        (dp("LaplaceDpEvent", noise_multiplier=3.0), events.laplace(3.0)),
        (dp("DiscreteLaplaceDpEvent", noise_parameter=0.5, sensitivity=2),
         events.discrete_laplace(0.5, 2)),
        (sampled(noise(1.0)), events.subsampled(events.gaussian(1.0), 0.01)),
        (dp("SelfComposedDpEvent", event=noise(1.0), count=9),
         events.self_compose(events.gaussian(1.0), 9)),
        (dp("ComposedDpEvent", events=[noise(1.0), noise(2.0)]),
         events.compose(events.gaussian(1.0), events.gaussian(2.0))),
        (dp("SingleEpochTreeAggregationDpEvent", noise_multiplier=2.0, step_counts=[3, 0, 9]),
         events.tree_aggregation(2.0, (3, 9))),
        (dp("RepeatAndSelectDpEvent", event=noise(1.0), mean=5.0, shape=0.0),
         events.select(events.gaussian(1.0), 5.0, 0.0)),
        (dp("MixtureOfGaussiansDpEvent", standard_deviation=2.0, sensitivities=[0.0, 1.0, 1.0],
            sampling_probs=[0.5, 0.25, 0.25]),
         events.gaussian_mixture(2.0, (0.0, 1.0), (0.5, 0.5))),
        (dp("ZCDpEvent", rho=0.1, xi=0.0), events.promise("zcdp:0.1")),
        (dp("RandomAllocationDpEvent", event=noise(1.0), num_selected=2, num_steps=9),
         random_allocation(events.gaussian(1.0), 9, 2)),
        (dp("RandomAllocationDpEvent", event=noise(1.0), num_selected=0, num_steps=9),
         events.nothing()),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_an_event_of_dp_accounting_is_read(theirs, ours):
    assert events.from_dp_accounting(theirs) == Account(ours)


def test_a_random_sensitivity_is_refused_where_a_record_is_replaced():
    """Poisson sampling under replace-one has .2093716 at sigma 1 and rate .01, not .19945."""
    sampled = dp("MixtureOfGaussiansDpEvent", standard_deviation=1.0, sensitivities=[0.0, 1.0],
                 sampling_probs=[0.99, 0.01])  # fmt: skip
    assert events.from_dp_accounting(sampled).epsilon(1e-3).upper > 0.0
    for shifts, weights in (([0.0, 1.0], [0.99, 0.01]), ([3.0], [1.0])):
        mixture = dp("MixtureOfGaussiansDpEvent", standard_deviation=2.0, sensitivities=shifts,
                     sampling_probs=weights)  # fmt: skip
        with pytest.raises(NotApplicable, match="replace-special only, not under replace-one"):
            events.from_dp_accounting(mixture, "replace-one")


def composed_epsilon(first, second, rounds, delta):
    """epsilon(delta) of rounds of two densities on a line, by a plain transform of their loss."""
    x = np.linspace(-14.0, 14.0, 400_001)
    p, q = first(x), second(x)
    step, size = 2e-5, 1 << 20
    places = np.rint(np.log(p / q) / step).astype(int) % size
    masses = np.bincount(places, p * (x[1] - x[0]), size)
    masses = np.fft.irfft(np.fft.rfft(masses / masses.sum()) ** rounds, size).clip(0.0)
    losses = np.fft.fftfreq(size, 1.0 / size) * step

    def above(epsilon):
        kept = losses > epsilon
        return float(masses[kept] @ -np.expm1(epsilon - losses[kept])) - delta

    return brentq(above, 0.0, 5.0)


def normal(weights):
    """The density of a mixture of unit Gaussians, {mean: weight}."""
    return lambda x: (
        sum(w * np.exp(-0.5 * (x - m) ** 2) for m, w in weights.items()) / math.sqrt(2.0 * math.pi)
    )


def test_a_replaced_record_moves_a_sum_by_twice_the_norm():
    """A noise multiplier is s / C, with values of norm at most C (dp_accounting's dp_event.py)."""
    for relation, moved in (("add-remove", 1), ("replace-one", 2)):
        with case(relation):
            one = events.from_dp_accounting(noise(1.0), relation)
            truth = brentq(lambda e, mu=moved: gaussian_delta(mu, e) - 1e-5, 0.1, 20.0)
            assert one.epsilon(1e-5).upper == pytest.approx(truth, rel=1e-6)
            assert one.epsilon(1e-5).lower <= truth <= one.epsilon(1e-5).upper
            laplace = events.from_dp_accounting(
                dp("LaplaceDpEvent", noise_multiplier=4.0), relation
            )
            truth = -math.expm1((0.1 - moved / 4.0) / 2.0)
            assert laplace.delta(0.1).upper == pytest.approx(truth, rel=1e-6)
            whole = dp("DiscreteLaplaceDpEvent", noise_parameter=0.2, sensitivity=1)
            y = np.arange(-400, 401)
            mass = [math.tanh(0.1) * np.exp(-0.2 * abs(y - shift)) for shift in (0, moved)]
            truth = np.clip(mass[0] - math.exp(0.1) * mass[1], 0.0, None).sum()
            found = events.from_dp_accounting(whole, relation).delta(0.1)
            assert found.upper == pytest.approx(truth, rel=1e-6)
    assert events.from_dp_accounting(noise(1.0), "replace-one").epsilon(1e-5).value == (
        pytest.approx(9.99726, abs=1e-5)
    )


def test_a_batch_of_fixed_size_is_above_what_a_replaced_record_attains():
    drawn = dp("SampledWithoutReplacementDpEvent", source_dataset_size=1000, sample_size=10,
               event=noise(1.0))  # fmt: skip
    account = events.from_dp_accounting(drawn, "replace-one")
    reached = composed_epsilon(
        normal({0.0: 0.99, 1.0: 0.01}), normal({0.0: 0.99, -1.0: 0.01}), 100, 1e-5
    )
    assert reached == pytest.approx(0.8951, abs=2e-4)
    hundred = Account(events.self_compose(account.event, 100), "replace-one")
    assert hundred.epsilon(1e-5, 1e-3).upper >= reached


def test_what_has_no_meaning_for_a_replaced_record_is_refused():
    tree = dp("SingleEpochTreeAggregationDpEvent", noise_multiplier=2.0, step_counts=9)
    with pytest.raises(NotApplicable, match="of a tree is stated for a record that is there"):
        events.from_dp_accounting(tree, "replace-one")
    drawn = sampled(dp("LaplaceDpEvent", noise_multiplier=1.0))
    with pytest.raises(NotApplicable, match="poisson sampling has a theorem under add-remove and"):
        events.from_dp_accounting(drawn, "replace-one").epsilon(1e-5)
    allocated = dp("RandomAllocationDpEvent", event=noise(1.0), num_selected=2, num_steps=9)
    with pytest.raises(NotApplicable, match="replace-special only, not under"):
        events.from_dp_accounting(allocated, "replace-one").epsilon(1e-5)


def test_a_sample_drawn_with_replacement_keeps_what_its_theorem_says():
    drawn = dp("SampledWithReplacementDpEvent", source_dataset_size=100, sample_size=7,
               event=dp("LaplaceDpEvent", noise_multiplier=4.0))  # fmt: skip
    account = events.from_dp_accounting(drawn, "replace-one")
    promise = sampled_with_replacement(PureDP(0.5), 7, 100)
    (part,) = account.rounds
    assert part.guarantees[0].epsilon == pytest.approx(promise.epsilon, rel=1e-12)
    assert part.guarantees[0].delta == pytest.approx(promise.delta, rel=1e-12)
    assert not account.exact
    assert account.epsilon(0.01).lower == 0.0 < account.epsilon(0.01).upper
    with pytest.raises(NotApplicable, match=r"no finite epsilon holds at delta 1e-05: the loss is"):
        account.epsilon(1e-5)
    with pytest.raises(NotApplicable, match="under replace-one only, not under add-remove"):
        assert events.from_dp_accounting(drawn).rounds
    gaussian = dp("SampledWithReplacementDpEvent", source_dataset_size=100, sample_size=7,
                  event=noise(1.0))  # fmt: skip
    with pytest.raises(NotApplicable, match="pure differential privacy only"):
        assert events.from_dp_accounting(gaussian, "replace-one").rounds


def test_events_that_are_stated_for_replacing_a_record():
    truth = dp("RandomizedResponseDpEvent", noise_parameter=0.2, num_buckets=4)
    drawn = dp("SampledWithoutReplacementDpEvent", source_dataset_size=100, sample_size=7,
               event=noise(1.0))  # fmt: skip
    both = events.from_dp_accounting(dp("ComposedDpEvent", events=[truth, drawn]), "replace-one")
    first, second = both.event.events
    # 1 - p + p/k to p/k
    assert math.exp(first.epsilon) == pytest.approx(0.85 / 0.05, rel=1e-12)
    assert (first.buckets, second.rate, second.sampling) == (4, 0.07, "without_replacement")
    assert both.epsilon(1e-6).upper > 2
    with pytest.raises(NotApplicable, match="under replace-one only, not under add-remove"):
        events.from_dp_accounting(truth)


@pytest.mark.parametrize(
    ("theirs", "error", "complaint"),
    [
        (3, InvalidInput, "event: 3 is not a DpEvent of dp_accounting"),
        (dp("NonPrivateDpEvent"), InvalidInput, "NonPrivateDpEvent has no privacy"),
        (dp("UnsupportedDpEvent"), NotApplicable, "UnsupportedDpEvent is not read here"),
        (sampled(dp("UnsupportedDpEvent")), NotApplicable,
         r"^event \(PoissonSampledDpEvent\).event: Unsupported"),
        (many_sensitivities(3000), NotApplicable, "3000 sensitivities composes too slowly"),
        (dp("SelfComposedDpEvent", event=noise(0.0), count=9), InvalidInput,
         r"^event \(SelfComposedDpEvent\).event \(GaussianDpEvent\): sigma must be a positive"),
        (sampled(noise(1.0), rate=-0.1), InvalidInput, r"rate must be in \[0, 1\], not -0.1"),
        (dp("SampledWithoutReplacementDpEvent", source_dataset_size=10, sample_size=11,
            event=noise(1.0)), InvalidInput, "cannot be drawn from a population of 10"),
        (dp("RandomAllocationDpEvent", event=noise(1.0), num_selected=10, num_steps=9),
         InvalidInput, "cannot take part in 10 of 9 steps"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_by_name_with_the_path(theirs, error, complaint):
    with pytest.raises(error, match=complaint):
        events.from_dp_accounting(theirs)


def test_against_dp_accounting_itself():
    """Its answers are pessimistic: above our certified lower end, and not far above the upper."""
    theirs = pytest.importorskip("dp_accounting.dp_event")
    from dp_accounting.pld.pld_privacy_accountant import PLDAccountant

    gaussian, laplace = theirs.GaussianDpEvent, theirs.LaplaceDpEvent
    tree = theirs.ComposedDpEvent(
        [
            theirs.SelfComposedDpEvent(theirs.PoissonSampledDpEvent(0.02, gaussian(1.2)), 200),
            theirs.SelfComposedDpEvent(theirs.PoissonSampledDpEvent(0.1, laplace(4.0)), 10),
            theirs.DiscreteLaplaceDpEvent(0.1, 2),
            gaussian(6.0),
            theirs.NoOpDpEvent(),
        ]
    )
    claimed = PLDAccountant().compose(tree).get_epsilon(1e-6)
    found = events.from_dp_accounting(tree).epsilon(1e-6, 1e-3)
    assert found.lower <= claimed <= found.upper * 1.002


@pytest.mark.parametrize("shape", [0.0, 1.0, 2.5, math.inf])
def test_renyi_curves_against_dp_accounting(shape):
    theirs = pytest.importorskip("dp_accounting.dp_event")
    from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant

    run = theirs.SelfComposedDpEvent(
        theirs.PoissonSampledDpEvent(0.01, theirs.GaussianDpEvent(2.0)), 500
    )
    tree = theirs.RepeatAndSelectDpEvent(run, 10.0, shape)
    (part,) = events.from_dp_accounting(tree).rounds
    curve = part.guarantees[-1]
    orders = curve.renyi_orders
    accountant = RdpAccountant(orders)
    accountant.compose(tree)
    # An order bounds those below it: theirs and ours are compared as curves that know it.
    claimed = np.minimum.accumulate(np.asarray(accountant._rdp)[::-1])[::-1]
    stated = np.minimum.accumulate([value for _, value in curve.curve][::-1])[::-1]
    assert (stated <= claimed * (1 + 1e-6)).all()
    assert stated == pytest.approx(
        claimed, rel=1e-2
    )  # for Poisson theirs looks at these orders only


# --- an unknown ---------------------------------------------------------------------------------


def test_the_one_unknown_of_a_document_is_found():
    text = document({"kind": "compose", "events": [NOISE, NOISE | {"sigma": "?"}]})
    found = OpenAccount.from_json(text)
    assert (found.path, found.scale.name) == ("event.event.events[1].sigma", "sigma")
    assert found.at(3.0).event == events.compose(events.gaussian(1.0), events.gaussian(3.0))


@pytest.mark.parametrize(
    ("event", "complaint"),
    [
        (NOISE, 'one member must be "\\?" to be calibrated, not 0'),
        (NOISE | {"sigma": "?", "sensitivity": "?"}, "not 2"),
        ({"kind": "staircase", "epsilon": 1.0, "share": "?"}, "share cannot be calibrated"),
        ({"kind": "gausian", "sigma": "?"}, "no kind 'gausian'"),
    ],
)
def test_a_document_without_one_unknown_is_refused(event, complaint):
    with pytest.raises(InvalidInput, match=complaint):
        OpenAccount.from_json(document(event))
