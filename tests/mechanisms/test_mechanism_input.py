"""What bad input gets: one line, never a number."""

import math

import numpy as np
import pytest

from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database
from simulator.data.queries import clipped_sum, counting_scores, function_query, histogram_query
from simulator.foundations.errors import Breach, DpcomposeError, InvalidInput, NotApplicable
from simulator.mechanisms import (
    Exponential,
    Free,
    Gaussian,
    Geometric,
    Laplace,
    LeakyRandomizedResponse,
    RandomizedResponse,
    ReportNoisyMax,
)
from simulator.mechanisms.finite import table_row
from tests.helpers.mechanism_cases import ALICE, EVERYONE, OTHERS

SCORES = counting_scores(["alice", "bob"])
OF_ONE_NUMBER = [Laplace, Gaussian, Geometric, RandomizedResponse]
OF_SCORES = [Exponential, ReportNoisyMax]


@pytest.mark.parametrize("kind", OF_ONE_NUMBER + OF_SCORES)
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, -np.inf, "much", None])
def test_a_parameter_must_be_positive_and_finite(kind, value):
    query = SCORES if kind in OF_SCORES else ALICE
    with pytest.raises(InvalidInput, match=r"(epsilon|sigma) must be") as caught:
        kind(query, value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        (0.0, 0.1),
        (np.nan, 0.1),
        (0.1, 1.0),
        (0.1, -1e-9),
        (0.1, np.nan),
        (Free(0.1, 0.2), 0.1),
        (800, 0.1),
    ],
)
def test_leaky_parameters(epsilon, delta):
    with pytest.raises(InvalidInput, match=r"(epsilon|delta) (must|= 800)"):
        LeakyRandomizedResponse(ALICE, epsilon, delta)


def test_noisy_max_cannot_leave_epsilon_free():
    with pytest.raises(InvalidInput, match="fixed epsilon"):
        ReportNoisyMax(SCORES, Free(0.1, 0.2))


@pytest.mark.parametrize(("low", "high"), [(0.2, 0.1), (0.0, 0.1), (0.1, np.inf), (np.nan, 0.1)])
def test_free_intervals(low, high):
    with pytest.raises(InvalidInput):
        Free(low, high)


@pytest.mark.parametrize("kind", [Laplace, Gaussian])
def test_scores_are_not_for_noise_on_every_coordinate(kind):
    with pytest.raises(InvalidInput, match="single score"):
        kind(SCORES, 1.0)


def half(record):
    return 0.5


@pytest.mark.parametrize("kind", [Geometric, RandomizedResponse, LeakyRandomizedResponse])
def test_fractions_are_not_for_mechanisms_on_whole_numbers(kind):
    arguments = (0.5, 0.1) if kind is LeakyRandomizedResponse else (0.5,)
    mechanism = kind(clipped_sum(half, 0, 1), *arguments)
    with pytest.raises(InvalidInput, match="gave"):
        mechanism.pair(OTHERS, EVERYONE)


@pytest.mark.parametrize("kind", [RandomizedResponse, LeakyRandomizedResponse])
def test_counts_above_one_are_not_bits(kind):
    arguments = (0.5, 0.1) if kind is LeakyRandomizedResponse else (0.5,)
    with pytest.raises(InvalidInput, match="0 or 1"):
        kind(ALICE, *arguments).pair(EVERYONE, EVERYONE.add("alice"))


@pytest.mark.parametrize("kind", [Geometric, RandomizedResponse])
def test_vectors_are_not_numbers(kind):
    with pytest.raises(InvalidInput, match="one number"):
        kind(histogram_query(["alice", "bob"]), 0.5).pair(OTHERS, EVERYONE)


@pytest.mark.parametrize("kind", OF_SCORES)
def test_numbers_are_not_scores(kind):
    with pytest.raises(InvalidInput, match="vector of scores"):
        kind(ALICE, 0.5).pair(OTHERS, EVERYONE)


def twice(database):
    return 2.0 * database.count_of("alice")


def not_a_number(database):
    return float("nan")


@pytest.mark.parametrize("kind", [Laplace, Gaussian, Geometric])
def test_a_query_that_moves_more_than_it_states_is_a_breach(kind):
    liar = kind(function_query(twice, 1.0), 0.5)
    for use in (liar.pair, liar.law) if kind is not Geometric else (liar.pair,):
        with pytest.raises(Breach, match="states"):
            use(OTHERS, EVERYONE)


@pytest.mark.parametrize("kind", [Laplace, Gaussian, Geometric, RandomizedResponse])
def test_an_answer_that_is_not_finite_is_a_breach(kind):
    with pytest.raises(Breach, match="not finite"):
        kind(function_query(not_a_number, 1.0), 0.5).pair(OTHERS, EVERYONE)


def test_scores_that_move_both_ways_need_twice_the_noise():
    def against(candidate, database):
        return (1.0 if candidate == "for" else -1.0) * database.count_of("alice")

    from simulator.data.queries import score_query

    scores = score_query(["for", "against"], against, 1.0)
    with pytest.raises(Breach, match="monotone=False"):
        ReportNoisyMax(scores, 0.5).pair(OTHERS, EVERYONE)
    pair = ReportNoisyMax(scores, 0.5, monotone=False).pair(OTHERS, EVERYONE)
    assert max(abs(pair.loss(0.0)), abs(pair.loss(1.0))) <= 0.5
    assert ReportNoisyMax(scores, 0.5).scale(REPLACE_ONE) == 4.0
    assert ReportNoisyMax(scores, 0.5).scale(ADD_REMOVE) == 2.0


def test_distant_counts_cost_neither_memory_nor_an_infinite_loss():
    mechanism = ReportNoisyMax(SCORES, 1.0)
    crowd = Database({"alice": 10**9, "bob": 3})
    pair = mechanism.pair(crowd, crowd.add("bob"))
    assert pair.loss(0.0) == pytest.approx(0.0, abs=1e-13)
    assert np.isfinite(pair.loss(1.0))


def test_large_scores_keep_the_digits_of_the_loss():
    crowd = Database({"alice": 10**12, "bob": 10**12 + 1})
    small = Database({"alice": 0, "bob": 1})
    mechanism = Exponential(SCORES, 0.7)
    for answer in (0.0, 1.0):
        far = mechanism.pair(crowd, crowd.add("alice")).loss(answer)
        near = mechanism.pair(small, small.add("alice")).loss(answer)
        assert far == pytest.approx(near, rel=1e-14)


def test_a_huge_epsilon_is_a_huge_loss_and_not_an_infinite_one():
    law = Exponential(SCORES, 4_000.0).law(Database(["alice"]), Database(["alice", "bob"]))
    assert law.infinite_mass == 0.0
    assert law.support == pytest.approx((math.log(2) - 2_000, math.log(2)), rel=1e-13)
    answers = RandomizedResponse(ALICE, 4_000.0).law(OTHERS, EVERYONE)
    assert answers.support == (-4_000.0, 4_000.0)


def test_several_moving_coordinates_have_no_closed_form():
    query = histogram_query(["alice", "bob"])
    with pytest.raises(NotApplicable, match="2 coordinates"):
        Laplace(query, 0.5).law(OTHERS, OTHERS.replace("bob", "alice"), REPLACE_ONE)


@pytest.mark.parametrize(
    ("first", "second"),
    [([0.5, 0.5], [1.0]), ([0.5, 0.6], [0.5, 0.5]), ([1.5, -0.5], [0.5, 0.5]), ([np.nan], [1.0])],
)
def test_a_table_needs_two_probability_vectors(first, second):
    with pytest.raises(InvalidInput, match="outcome probabilities"):
        table_row(first, second)


def test_every_complaint_is_of_the_project():
    assert issubclass(Breach, DpcomposeError)
    assert issubclass(InvalidInput, DpcomposeError)
