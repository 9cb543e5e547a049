"""Name and shame, and "just a few": additive secrecy that protects nobody who is named."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database
from simulator.foundations.errors import Breach, InvalidInput
from simulator.teaching.mechanisms.published import JustAFew, NameAndShame
from simulator.theory.guarantees.pure import ApproxDP, PureDP
from tests.helpers.mechanism_cases import chi_square

SMALL = Database({"bob": 2, "carol": 1})
PAIRS = [
    (SMALL, SMALL.add("alice"), ADD_REMOVE),
    (SMALL, SMALL.add("bob"), ADD_REMOVE),
    (SMALL.add("alice"), SMALL, ADD_REMOVE),
    (SMALL, SMALL.replace("carol", "alice"), REPLACE_ONE),
    (SMALL, SMALL.replace("bob", "alice"), REPLACE_ONE),
    (SMALL, SMALL, ADD_REMOVE),
]
DELTA = Fraction(1, 8)


def shamed(database):
    """Every set of people published, one by one, with its probability."""
    law = {}
    for kept in itertools.product([False, True], repeat=database.size):
        answer = Database(itertools.compress(database, kept))
        chance = DELTA ** sum(kept) * (1 - DELTA) ** (database.size - sum(kept))
        law[answer] = law.get(answer, 0) + chance
    return law


def few(database):
    law = {}
    for chosen in itertools.combinations(list(database), 2):
        answer = Database(chosen)
        law[answer] = law.get(answer, 0) + Fraction(1, math.comb(database.size, 2))
    return law


MECHANISMS = [(NameAndShame(float(DELTA)), shamed), (JustAFew(2, 3), few)]


def hockey_stick(p, q, epsilon):
    return sum(max(p.get(v, 0) - math.exp(epsilon) * q.get(v, 0), 0) for v in {*p, *q})


def log_ratio(p, q):
    return math.log(p) - math.log(q) if p and q else math.copysign(math.inf, p - q)


@pytest.mark.parametrize(("mechanism", "enumerate_"), MECHANISMS, ids=["shame", "few"])
@pytest.mark.parametrize(("first", "second", "relation"), PAIRS)
def test_loss_guarantee_and_law_by_enumeration(mechanism, enumerate_, first, second, relation):
    p, q = enumerate_(first), enumerate_(second)
    pair = mechanism.pair(first, second, relation)
    for answer in {*p, *q}:
        expected = log_ratio(p.get(answer, 0), q.get(answer, 0))
        assert pair.loss(answer) == pytest.approx(expected, abs=1e-13)
    promised = mechanism.guarantee(relation).delta
    assert hockey_stick(p, q, 0.0) <= promised * (1 + 1e-12)
    if mechanism is MECHANISMS[0][0]:
        for epsilon in (-0.5, 0.0, 0.1, 2.0):
            exact = hockey_stick(p, q, epsilon)
            assert mechanism.law(first, second).delta(epsilon) == pytest.approx(exact, abs=1e-14)


@pytest.mark.parametrize(("mechanism", "enumerate_"), MECHANISMS, ids=["shame", "few"])
def test_the_delta_is_attained_at_every_epsilon(mechanism, enumerate_):
    with_alice, without = enumerate_(SMALL.add("alice")), enumerate_(SMALL)
    for epsilon in (0.0, 1.0, 30.0):
        attained = hockey_stick(with_alice, without, epsilon)
        assert attained == pytest.approx(mechanism.guarantee(ADD_REMOVE).delta, rel=1e-12)
    assert not mechanism.guarantee(ADD_REMOVE).implies(PureDP(1e9))
    assert not mechanism.guarantee(ADD_REMOVE).implies(ApproxDP(5.0, 1e-3))


@pytest.mark.parametrize(("mechanism", "enumerate_"), MECHANISMS, ids=["shame", "few"])
def test_half_the_delta_is_caught(mechanism, enumerate_):
    broken = hockey_stick(enumerate_(SMALL.add("alice")), enumerate_(SMALL), 0.0)
    assert broken > mechanism.guarantee(ADD_REMOVE).delta / 2


@pytest.mark.parametrize(("mechanism", "enumerate_"), MECHANISMS, ids=["shame", "few"])
def test_sampling(mechanism, enumerate_):
    # false alarm 1e-6
    noise = np.random.default_rng(5)
    law = enumerate_(SMALL.add("alice"))
    places = {answer: i for i, answer in enumerate(law)}
    pair = mechanism.pair(SMALL, SMALL.add("alice"))
    seen = np.bincount([places[pair.sample(1, noise)] for _ in range(8_000)], minlength=len(law))
    assert chi_square(seen, np.array([float(p) for p in law.values()])) > 1e-6
    other = np.array([float(p) for p in law.values()])
    assert chi_square(seen, np.roll(other, 1)) < 1e-6


def test_a_crowd_of_equal_records_keeps_its_digits():
    crowd = Database({"alice": 2_000})
    law = NameAndShame(0.3).law(crowd, crowd.add("alice"))
    seen = np.arange(2_002)
    p, q = (stats.binom.pmf(seen, n, 0.3) for n in (2_000, 2_001))
    assert law.delta(0.0) == pytest.approx(np.maximum(p - q, 0).sum(), rel=1e-9)
    pair = NameAndShame(0.3).pair(crowd, crowd.add("alice"))
    loss = pair.loss(Database({"alice": 650}))
    expected = stats.binom.logpmf(650, 2_000, 0.3) - stats.binom.logpmf(650, 2_001, 0.3)
    assert loss == pytest.approx(expected, abs=1e-10)


def test_naming_alice_is_proof():
    pair = NameAndShame(0.01).pair(SMALL, SMALL.add("alice"))
    assert pair.loss(Database(["alice"])) == -math.inf
    assert pair.loss(Database(["bob"])) == pytest.approx(-math.log1p(-0.01), rel=1e-14)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, math.nan])
def test_delta_is_a_probability(delta):
    with pytest.raises(InvalidInput, match="delta"):
        NameAndShame(delta)


def test_just_a_few_needs_enough_people():
    with pytest.raises(InvalidInput, match="at_least"):
        JustAFew(3, 2)
    with pytest.raises(InvalidInput, match="publishes them all"):
        JustAFew(3, 3).guarantee(REPLACE_ONE)
    with pytest.raises(Breach, match="at least 9"):
        JustAFew(3, 9).pair(SMALL, SMALL)
    with pytest.raises(InvalidInput, match="neither"):
        NameAndShame(0.1).pair(SMALL, SMALL.add("alice")).loss(Database({"alice": 2}))
