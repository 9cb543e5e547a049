"""Every kind of event under every unit, against the databases that it is about.

A mechanism is written out: how it draws numbers of a small database, and the noise on their sum.
Its output laws on two neighbours are then finite mixtures, and their hockey-stick divergence is a
sum over a grid. No upper end may be below it, and no lower end above the largest one.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from simulator import Account
from simulator.auditing.conformance import events as conformance
from simulator.auditing.conformance import truth
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory import events
from simulator.theory.events import Unit
from tests.helpers.dp_events import dp, noise, sampled

UNITS = [
    ("add-remove", 1), ("replace-one", 1), ("replace-special", 1),
    ("add-remove", 3), ("replace-one", 2), ("replace-special", 2),
]  # fmt: skip
CLIPS = (1.0, 2.0)
EPSILONS = (0.0, 0.7, 1.9)
RATE, DRAWN, BATCH, OTHERS = 0.3, 2, 2, 3
REAL = np.linspace(-150.0, 150.0, 150_001)
WHOLE = np.arange(-300.0, 301.0)
CLOSE = 2e-6
"""Above the error of the sum over the grid."""


# --- how a mechanism draws: a database to the law of the sum ------------------------------------


def whole(values):
    return {sum(values): 1.0}


def of_samples(samples):
    law = {}
    for weight, chosen in samples:
        law[sum(chosen)] = law.get(sum(chosen), 0.0) + weight
    return law


def poisson(values, batch=0):
    samples = []
    for taken in itertools.product((False, True), repeat=len(values)):
        chosen = [value for value, one in zip(values, taken) if one]
        weight = RATE ** len(chosen) * (1 - RATE) ** (len(values) - len(chosen))
        kept = list(itertools.combinations(chosen, min(batch or len(chosen), len(chosen))))
        samples += [(weight / len(kept), each) for each in kept]
    return of_samples(samples)


def fixed_size(values):
    chosen = list(itertools.combinations(values, DRAWN))
    return of_samples([(1 / len(chosen), each) for each in chosen])


def drawn_again(values):
    chosen = list(itertools.product(values, repeat=DRAWN))
    return of_samples([(1 / len(chosen), each) for each in chosen])


# --- noise, and the divergence of two mixtures ---------------------------------------------------


def normal(x, scale):
    return np.exp(-0.5 * (x / scale) ** 2)


def laplace(x, scale):
    return np.exp(-np.abs(x) / scale)


def rounded(density):
    """The noise of the other law, rounded to a whole number."""
    fine = np.linspace(-0.5, 0.5, 401)[:-1] + 0.5 / 400

    def at(x, scale):
        return np.array([density(place + fine, scale).sum() for place in x])

    return at


@dataclass(frozen=True)
class Noise:
    """A law of noise on a grid; its density needs no constant."""

    density: object
    x: np.ndarray

    def output(self, law, scale):
        total = np.zeros(self.x.size)
        base = self.density(self.x, scale)
        step = self.x[1] - self.x[0]
        for shift, weight in law.items():
            places = round(shift / step)
            total += weight * np.roll(base, places)
        return total / base.sum()


GAUSSIAN, LAPLACE = Noise(normal, REAL), Noise(laplace, REAL)
DISCRETE_GAUSSIAN, DISCRETE_LAPLACE = Noise(normal, WHOLE), Noise(laplace, WHOLE)


def neighbours(unit, other):
    """Two databases with these records beside hers; her norm is the largest."""
    others = [other * unit.clip] * OTHERS
    absent = {"add-remove": [], "replace-one": [-unit.clip], "replace-special": [0.0]}
    return others + [unit.clip] * unit.records, others + absent[unit.relation] * unit.records


def divergence(unit, draw, kind, scale, epsilon):
    """The largest of both orders and of two choices of the other records."""
    found = 0.0
    for other in (0.0, -1.0):
        with_her, without = (
            kind.output(draw(database), scale) for database in neighbours(unit, other)
        )
        for p, q in ((with_her, without), (without, with_her)):
            found = max(found, float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum()))
    return found


# --- the calls -----------------------------------------------------------------------------------


def own(event):
    """An event of this package, made of the unit, in an account of that unit."""
    return lambda unit: Account(event(unit), unit.relation, unit.records)


def theirs(event):
    """An event of dp_accounting, whose noise is over the clip."""
    return lambda unit: events.from_dp_accounting(event(unit), unit.relation, unit.records)


def of_conformance(kind, scale, **more):
    def account(unit):
        if unit.records > 1 or unit.relation == "replace-special":
            raise NotApplicable("conformance has one record that is removed or replaced")
        event = conformance.PrivacyEvent(kind, unit.clip / scale, relation=unit.relation, **more)
        return truth.account([event])

    return account


def size_of(unit):
    return OTHERS + unit.records


# name: (the account of a unit, how it draws, noise, scale, whether the databases attain the pair)
KINDS = {
    "gaussian": (own(lambda u: events.gaussian(4.0, u.moves)), whole, GAUSSIAN, 4.0, True),
    "laplace": (own(lambda u: events.laplace(5.0, u.moves)), whole, LAPLACE, 5.0, True),
    "discrete gaussian": (
        own(lambda u: events.discrete_gaussian(4.0, int(u.moves))), whole, DISCRETE_GAUSSIAN, 4.0,
        True,
    ),
    "discrete Laplace": (
        own(lambda u: events.discrete_laplace(0.2, int(u.moves))), whole, DISCRETE_LAPLACE, 5.0,
        True,
    ),
    "rounded gaussian": (
        own(lambda u: events.discrete_gaussian(4.0, int(u.moves), rounded=True)), whole,
        Noise(rounded(normal), WHOLE), 4.0, True,
    ),
    "pure promise": (
        own(lambda u: events.promise(f"pure:{u.moves / 5.0!r}")), whole, LAPLACE, 5.0, False,
    ),
    "Gaussian promise": (
        own(lambda u: events.promise(f"gdp:{u.moves / 4.0!r}")), whole, GAUSSIAN, 4.0, False,
    ),
    "concentrated promise": (
        own(lambda u: events.promise(f"zcdp:{(u.moves / 4.0) ** 2 / 2!r}")), whole, GAUSSIAN, 4.0,
        False,
    ),
    "sampled gaussian": (
        own(lambda u: events.subsampled(events.gaussian(4.0, u.moves), RATE)), poisson, GAUSSIAN,
        4.0, True,
    ),
    "sampled laplace": (
        own(lambda u: events.subsampled(events.laplace(5.0, u.moves), RATE)), poisson, LAPLACE, 5.0,
        True,
    ),
    "sampled sum": (
        own(lambda u: events.sampled_sum(4.0, RATE, u.clip)), poisson, GAUSSIAN, 4.0, True,
    ),
    "cut batches": (
        own(lambda u: events.sampled_sum(4.0, RATE, u.clip, BATCH, size_of(u))),
        partial(poisson, batch=BATCH), GAUSSIAN, 4.0, False,
    ),
    "fixed size": (
        own(lambda u: events.subsampled(
            events.gaussian(4.0, u.moves), DRAWN / size_of(u), "without_replacement")),
        fixed_size, GAUSSIAN, 4.0, False,
    ),
    "drawn with replacement": (
        own(lambda u: events.sampled_with_replacement(
            events.laplace(5.0, u.moves), DRAWN, size_of(u))),
        drawn_again, LAPLACE, 5.0, False,
    ),
    "mixture": (
        own(lambda u: events.gaussian_mixture(4.0, (0.0, u.moves), (1 - RATE, RATE))), poisson,
        GAUSSIAN, 4.0, False,
    ),
    "dp_accounting Gaussian": (
        theirs(lambda u: noise(4.0 / u.clip)), whole, GAUSSIAN, 4.0, True,
    ),
    "dp_accounting Laplace": (
        theirs(lambda u: dp("LaplaceDpEvent", noise_multiplier=5.0 / u.clip)), whole, LAPLACE, 5.0,
        True,
    ),
    "dp_accounting discrete Laplace": (
        theirs(lambda u: dp(
            "DiscreteLaplaceDpEvent", noise_parameter=0.2, sensitivity=int(u.clip))),
        whole, DISCRETE_LAPLACE, 5.0, True,
    ),
    "dp_accounting Poisson": (
        theirs(lambda u: sampled(noise(4.0 / u.clip), RATE)), poisson, GAUSSIAN, 4.0, True,
    ),
    "dp_accounting cut batches": (
        theirs(lambda u: dp(
            "TruncatedSubsampledGaussianDpEvent", dataset_size=size_of(u),
            sampling_probability=RATE, truncated_batch_size=BATCH, noise_multiplier=4.0 / u.clip)),
        partial(poisson, batch=BATCH), GAUSSIAN, 4.0, False,
    ),
    "dp_accounting fixed size": (
        theirs(lambda u: dp(
            "SampledWithoutReplacementDpEvent", source_dataset_size=size_of(u), sample_size=DRAWN,
            event=noise(4.0 / u.clip))),
        fixed_size, GAUSSIAN, 4.0, False,
    ),
    "dp_accounting mixture": (
        theirs(lambda u: dp(
            "MixtureOfGaussiansDpEvent", standard_deviation=4.0, sensitivities=[0.0, u.clip],
            sampling_probs=[1 - RATE, RATE])),
        poisson, GAUSSIAN, 4.0, False,
    ),
    "conformance Gaussian": (
        of_conformance(conformance.GAUSSIAN, 4.0), whole, GAUSSIAN, 4.0, True,
    ),
    "conformance Laplace": (
        of_conformance(conformance.LAPLACE, 5.0), whole, LAPLACE, 5.0, True,
    ),
    "conformance sampled": (
        of_conformance(conformance.SUBSAMPLED_GAUSSIAN, 4.0, rate=RATE), poisson, GAUSSIAN, 4.0,
        True,
    ),
}  # fmt: skip

CALLS = [
    (name, Unit(relation, records, clip))
    for clip in CLIPS
    for name in KINDS
    for relation, records in UNITS
]


def verdicts(name, unit, epsilons=EPSILONS):
    """For each epsilon: sound, or what is wrong; or one refusal."""
    make, draw, kind, scale, attained = KINDS[name]
    try:
        account = make(unit)
        ends = [account.delta(epsilon) for epsilon in epsilons]
    except NotApplicable as error:
        return ["refused"] if "\n" not in str(error) else ["refused in several lines"]
    found = []
    for epsilon, answer in zip(epsilons, ends):
        exact = divergence(unit, draw, kind, scale, epsilon)
        if answer.upper < exact - CLOSE:
            found.append(f"unsound at {epsilon}: {answer.upper} for {exact}")
        elif attained and answer.lower > exact + CLOSE:
            found.append(f"its lower end {answer.lower} is above {exact} at {epsilon}")
        else:
            found.append("sound")
    return found


DAILY = [
    ("gaussian", Unit("replace-one", 1, 2.0)), ("laplace", Unit("add-remove", 3)),
    ("dp_accounting Gaussian", Unit("replace-one")), ("dp_accounting Laplace", Unit("replace-one")),
    ("dp_accounting Poisson", Unit("replace-one", 1, 2.0)),
    ("cut batches", Unit("replace-special")),
    ("sampled sum", Unit("add-remove", 3)), ("conformance Gaussian", Unit("replace-one")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "unit"), DAILY, ids=str)
def test_some_calls_are_sound(name, unit):
    assert verdicts(name, unit) == ["sound"] * len(EPSILONS)


@pytest.mark.nightly
@pytest.mark.parametrize("name", KINDS)
def test_no_call_is_unsound(name):
    """Of 300 units and events, three answers each, those that have a theorem."""
    for each, unit in CALLS:
        if each == name:
            assert set(verdicts(name, unit)) <= {"sound", "refused"}, unit


REFUSED = {
    "sampled laplace": {("replace-one", 1), *UNITS[3:]},
    "sampled gaussian": {("replace-one", 1), ("replace-one", 2)},
    "fixed size": {*UNITS} - {("replace-one", 1)},
    "drawn with replacement": {*UNITS} - {("replace-one", 1)},
    "cut batches": {*UNITS[3:]},
    "sampled sum": {("replace-one", 2)},
    "dp_accounting mixture": {("replace-one", 1), ("replace-one", 2)},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_theorem_is_refused(name):
    for relation, records in UNITS:
        unit = Unit(relation, records)
        try:
            refused = not KINDS[name][0](unit).rounds
        except NotApplicable:
            refused = True
        assert refused == ((relation, records) in REFUSED[name]), unit


def test_a_missing_factor_of_two_is_found(monkeypatch):
    """A unit that forgets that a replaced record moves a sum twice as far."""
    monkeypatch.setattr(Unit, "moves", property(lambda unit: unit.clip))
    unit = Unit("replace-one")
    for name in ("gaussian", "dp_accounting Gaussian", "dp_accounting Laplace",
                 "conformance Gaussian", "pure promise"):  # fmt: skip
        assert any(word.startswith("unsound") for word in verdicts(name, unit)), name


def test_a_missing_size_of_a_group_is_found(monkeypatch):
    """An account that takes a group for one record."""
    monkeypatch.setattr(Account, "unit", property(lambda account: Unit(account.relation)))
    unit = Unit("add-remove", 3)
    for name in ("gaussian", "laplace", "sampled sum", "pure promise"):
        assert any(word.startswith("unsound") for word in verdicts(name, unit)), name


@pytest.mark.parametrize(("relation", "expected"), [
    ("add-remove", 4.377178), ("replace-special", 4.377178), ("replace-one", 9.997256),
])  # fmt: skip
def test_the_published_epsilons_of_one_gaussian(relation, expected):
    found = events.from_dp_accounting(noise(1.0), relation).epsilon(1e-5)
    assert found.lower <= expected + 1e-6
    assert found.upper >= expected - 1e-6
    assert found.width < 1e-6


@pytest.mark.parametrize("wrong", [None, "x", {}, b"a", 3 + 1j])
def test_an_epsilon_that_is_no_number_is_refused(wrong):
    with pytest.raises(InvalidInput, match="epsilon must be a number"):
        Account(events.gaussian(1.0)).delta(wrong)


def test_a_relation_that_is_no_text_is_refused():
    with pytest.raises(InvalidInput, match="relation must be add-remove"):
        Unit(np.array([1, 2]))
