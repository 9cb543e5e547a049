"""Group privacy: exact values from other formulas, bounds at random parameters, worst chains."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom, norm

from simulator import simulate
from simulator.data import (
    ADD_REMOVE,
    REPLACE_ONE,
    Database,
    Group,
    clipped_sum,
    counting_query,
    function_query,
    histogram_query,
)
from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.games import Standing, find
from simulator.games.library.group import worst_chain
from simulator.mechanisms import (
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    RandomizedResponse,
    RecordLevel,
    ShuffledBatches,
)
from simulator.theory import ApproxDP, GaussianDP, PureDP
from simulator.theory.guarantees.transforms import group
from tests.helpers.cases import case

GROUP = find("group")
COUNT = counting_query("hers")
OTHERS = Database({"others": 2})


def by_hand(mechanism, size, epsilon, point):
    """delta(point) of a group from the densities: Laplace, two normal tails, a binomial sum."""
    if mechanism == "laplace":
        total = size * epsilon
        return -math.expm1((point - total) / 2.0) if point < total else 0.0
    if mechanism == "gaussian":
        mu = size * epsilon
        return norm.cdf(mu / 2 - point / mu) - math.exp(point) * norm.cdf(-mu / 2 - point / mu)
    lies = np.arange(size + 1)
    loss = (size - 2 * lies) * epsilon
    chance = binom.pmf(lies, size, 1.0 / (1.0 + math.exp(epsilon)))
    return float(chance @ np.maximum(0.0, -np.expm1(point - loss)))


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian", "randomized-response"])
def test_every_mechanism_is_as_expected_at_random_parameters(mechanism):
    draws = np.random.default_rng(3)
    for _ in range(8):
        size, epsilon = int(draws.integers(1, 9)), float(draws.uniform(0.05, 1.5))
        at = float(draws.uniform(0.0, 1.2))
        outcome = GROUP.play(mechanism=mechanism, size=size, epsilon=epsilon, at=at, trials=100)
        with case(f"size {size}, epsilon {epsilon}, at {at}"):
            assert outcome.as_expected
            row = outcome.rows[0]
            exact = by_hand(mechanism, size, epsilon, at * size * epsilon)
            assert row.lower == pytest.approx(exact, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian", "randomized-response"])
def test_record_level_numbers_are_caught_at_user_level(mechanism):
    outcome = GROUP.play(mechanism=mechanism, trials=1000)
    caught = {each.row.what for each in outcome.judged if each.standing is Standing.CAUGHT}
    expected = {"the curve of one record", "(k epsilon, k delta)", "k rho"}
    assert caught == expected - ({"k rho"} if mechanism == "randomized-response" else set())


def by_program(epsilon, delta, size, at):
    """The worst chain by a linear program over the event's probabilities."""
    grow, rows, limits = math.exp(epsilon), [], []
    for i in range(size):
        for here, there in ((i, i + 1), (i + 1, i)):
            for sign, limit in ((1.0, delta), (-1.0, delta + grow - 1.0)):
                row = np.zeros(size + 1)
                row[here], row[there] = sign, -sign * grow
                rows.append(row)
                limits.append(limit)
    aim = np.r_[-1.0, np.zeros(size - 1), math.exp(at)]
    return -linprog(aim, np.array(rows), np.array(limits), bounds=(0.0, 1.0), method="highs").fun


def test_the_worst_chain_is_that_of_the_linear_program():
    draws = np.random.default_rng(6)
    for _ in range(60):
        size, epsilon = int(draws.integers(1, 8)), float(draws.uniform(0.05, 1.0))
        delta = float(draws.choice([0.0, 0.01, 0.1, 0.3]))
        at = float(draws.uniform(0.0, 1.1)) * size * epsilon
        found = worst_chain(epsilon, delta, size, at)
        with case(f"{size}, {epsilon}, {delta}, {at}"):
            assert found == pytest.approx(by_program(epsilon, delta, size, at), abs=1e-6)
            try:
                stated = group(ApproxDP(epsilon, delta), size).hockey_stick(at)
            except NotApplicable:  # the formula's delta reaches 1
                continue
            assert found <= stated * (1 + 1e-12) + 1e-15


def test_the_formula_of_an_approximate_promise_is_attained():
    """As in Vadhan 2017, Lemma 2.2, with the sum of delta e^(i epsilon) written out."""
    for size, epsilon in ((1, 0.3), (4, 0.3), (9, 1.0)):
        for delta in (1e-12, 1e-6, 1e-4):
            total = math.fsum(delta * math.exp(i * epsilon) for i in range(size))
            stated = group(ApproxDP(epsilon, delta), size)
            assert stated.delta == pytest.approx(total, rel=1e-12)
            found = worst_chain(epsilon, delta, size, size * epsilon)
            assert found == pytest.approx(total, rel=1e-9)
            assert size == 1 or found > 1.1 * size * delta


# --- the relation -------------------------------------------------------------------------------


def test_a_group_is_a_relation():
    three = Group(ADD_REMOVE, 3)
    assert str(three) == "groups of 3 (add/remove-one)"
    assert three == Group(ADD_REMOVE, 3) != Group(REPLACE_ONE, 3)
    for more, distance in ((0, 0), (1, 1), (3, 1), (4, 2), (7, 3)):
        assert three.distance(OTHERS, OTHERS.add("hers", more)) == distance
        assert three.are_neighbours(OTHERS, OTHERS.add("hers", more)) == (more <= 3)
    assert Group(REPLACE_ONE, 2).distance(OTHERS, OTHERS.add("hers")) == math.inf
    assert three.spread(-1.0, 2.0) == 6.0
    assert Group(REPLACE_ONE, 3).spread(-1.0, 2.0) == 9.0
    assert COUNT.sensitivity(three) == 3.0
    stated = function_query(lambda database: 2.0 * database.size, 2.0)
    assert stated.sensitivity(three) == 6.0
    by_relation = function_query(lambda database: 0.0, {ADD_REMOVE: 1.0, three: 2.5})
    assert by_relation.sensitivity(three) == 2.5
    with pytest.raises(NotApplicable, match="states its sensitivity under add/remove-one"):
        by_relation.sensitivity(Group(REPLACE_ONE, 3))


def test_bad_groups_are_one_line():
    with pytest.raises(InvalidInput, match="a group has at least one record"):
        Group(ADD_REMOVE, 0)
    with pytest.raises(InvalidInput, match=r"must be a whole number, not 2\.5"):
        Group(ADD_REMOVE, 2.5)
    with pytest.raises(InvalidInput, match="a group is of a relation such as ADD_REMOVE"):
        Group(Group(ADD_REMOVE, 2), 2)
    with pytest.raises(NotApplicable, match="wrap the mechanism in RecordLevel"):
        histogram_query("ab").sensitivity(Group(ADD_REMOVE, 2))
    batches = ShuffledBatches(Gaussian(clipped_sum(None, 0.0, 1.0), 1.0), 2)
    with pytest.raises(NotApplicable, match="batches of equal size"):
        batches.pair(OTHERS, OTHERS.add("hers", 2), Group(ADD_REMOVE, 2))


@pytest.mark.parametrize(
    "mechanism", [Laplace(COUNT, 0.4), Gaussian(COUNT, 2.0), Geometric(COUNT, 0.4)], ids=repr
)
def test_noise_for_one_record_under_a_group(mechanism):
    """The loss at some answers, from the loss of the mechanism at a query three times as large."""
    release, three = RecordLevel(mechanism), Group(ADD_REMOVE, 3)
    hers = OTHERS.add("hers", 3)
    pair = release.pair(OTHERS, hers, three)
    steps = [OTHERS.add("hers", i) for i in range(4)]
    for answer in (-2.0, 0.0, 1.0, 2.0, 5.0):
        chain = sum(mechanism.pair(here, there).loss(answer) for here, there in pairwise(steps))
        assert pair.loss(answer) == pytest.approx(chain, rel=1e-12)
    assert release.guarantee(three) == group(mechanism.guarantee(), 3)
    assert release.guarantee() == mechanism.guarantee()
    law = release.law(OTHERS, hers, three)
    assert law.delta(0.3) <= group(mechanism.guarantee(), 3).hockey_stick(0.3) * (1 + 1e-12)
    assert law.delta(0.3) > mechanism.law(OTHERS, OTHERS.add("hers")).delta(0.3)
    assert release.law(OTHERS, OTHERS, three).support == (0.0, 0.0)
    with pytest.raises(Breach, match=r"states L1 sensitivity 3 under groups of 3"):
        release.pair(OTHERS, OTHERS.add("hers", 4), three)


def test_without_the_wrapper_the_noise_is_for_the_group():
    three, hers = Group(ADD_REMOVE, 3), OTHERS.add("hers", 3)
    law = Laplace(COUNT, 0.4).law(OTHERS, hers, three)
    assert law.support[1] == pytest.approx(0.4)
    assert Gaussian(COUNT, 2.0).guarantee(three) == GaussianDP(1.5)


def test_a_play_that_is_not_within_the_group_is_a_breach():
    release = RecordLevel(Laplace(COUNT, 0.4))

    def four(coins):
        yield OTHERS, OTHERS.add("hers", 4), release

    with pytest.raises(Breach, match="not neighbours"):
        simulate(four, PureDP(2.0), 1, 100, relation=Group(ADD_REMOVE, 3), jobs=1)
    with pytest.raises(Breach, match=r"promises pure:1\.6, outside the family pure:0\.4"):
        simulate(four, PureDP(0.4), 1, 100, relation=Group(ADD_REMOVE, 4), jobs=1)


def test_what_is_not_wrapped():
    with pytest.raises(InvalidInput, match="only a mechanism with one real answer is wrapped"):
        RecordLevel(3)
    scores = Exponential(histogram_query("ab"), 0.4)
    with pytest.raises(NotApplicable):
        RecordLevel(scores).pair(OTHERS, OTHERS.add("a", 2), Group(ADD_REMOVE, 2))
    answer = RecordLevel(RandomizedResponse(COUNT, 0.4))
    assert answer.law(OTHERS, OTHERS.add("hers"), Group(ADD_REMOVE, 2)).support[1] == pytest.approx(
        0.4
    )
