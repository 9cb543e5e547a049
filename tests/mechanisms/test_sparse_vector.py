"""The sparse vector technique query by query, against its law as one round."""

import itertools
import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest

from simulator import Database, counting_query
from simulator.data.databases import ADD_REMOVE
from simulator.data.queries import function_query
from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.mechanisms import SparseVector
from simulator.mechanisms.above_threshold import first_above_law
from simulator.mechanisms.sparse_vector import next_chances
from simulator.trials.suite.thresholds import BELOW, Marks, all_marks
from simulator.worst import worst_conversation

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
ALICE, OTHERS = counting_query("alice"), counting_query("others")
ABSENT = function_query(lambda database: 1.0 - ALICE(database), 1.0, name="absent")


def chance(vector, queries, answers, b):
    """The probability of these answers on database b, by the chain rule."""
    state, total = vector.opened(WITHOUT, EVERYONE, ADD_REMOVE), 1.0
    for query, answer in zip(queries, answers):
        total *= vector.answers_to(state, query).outcomes()[1 + b][answer]
        state = vector.after(state, query, float(answer))
    return total


@pytest.mark.parametrize("most", [1, 2, None])
@pytest.mark.parametrize(("threshold_scale", "query_scale"), [(2.0, 4.0), (4.0, 1.3)])
def test_every_row_of_answers_has_the_probability_of_the_algorithm(
    most, threshold_scale, query_scale
):
    vector = SparseVector(
        epsilon=1.0, threshold=1.3, most=most, threshold_scale=threshold_scale,
        query_scale=query_scale,
    )  # fmt: skip
    queries = [ALICE, OTHERS, ALICE, OTHERS]
    for b, database in enumerate((WITHOUT, EVERYONE)):
        marks = Marks(1.3, threshold_scale, query_scale, most)
        values = tuple(float(query(database)) for query in queries)
        for row, expected in zip(all_marks(4, most), marks.probabilities(values)):
            answers = [int(mark) for mark in row if mark >= BELOW]
            assert chance(vector, queries, answers, b) == pytest.approx(expected, abs=1e-13)


def test_every_prefix_has_the_law_of_above_threshold():
    vector, queries = SparseVector(epsilon=0.8, threshold=2.0), [OTHERS, ALICE, ALICE, OTHERS]
    for b, database in enumerate((WITHOUT, EVERYONE)):
        margins = tuple((query(database) - 2.0) * 0.8 / 2.0 for query in queries)
        for length in range(1, 5):
            law = first_above_law(margins[:length])
            found = [chance(vector, queries, [0] * i + [1], b) for i in range(length)]
            found.append(chance(vector, queries, [0] * length, b))
            assert found == pytest.approx(list(law), abs=1e-13)


def test_far_margins_keep_their_digits():
    """A query 60 scales below the threshold, after one 3 below, by 30-digit quadrature."""

    def cdf(x):
        return mpmath.exp(x) / 2 if x < 0 else 1 - mpmath.exp(-x) / 2

    def known(y):
        return mpmath.exp(-abs(y)) / 2 * cdf((y + 3) / 2)

    with mpmath.workdps(30):
        kinks = [-120, -90, -60, -30, -3, 0, 30, 60]
        above = mpmath.quad(lambda y: known(y) * cdf((-60 - y) / 2), kinks)
        expected = float(above / mpmath.quad(known, kinks))
    found = next_chances(((-3.0, False),), -60.0, 2.0)[1]
    assert found == pytest.approx(expected, rel=1e-9)
    assert 0.0 < found < 1e-10


def test_it_keeps_its_promise_and_the_variants_as_published_do_not():
    right = SparseVector(epsilon=1.0, threshold=0.5, most=2, queries=(ALICE, ABSENT), longest=5)
    kept = worst_conversation(right, WITHOUT, EVERYONE, epsilon=1.0)
    assert kept.delta.upper < 1e-10
    assert worst_conversation(right, WITHOUT, EVERYONE, epsilon=0.5).delta.lower > 1e-3
    lee_and_clifton = replace(right, threshold_scale=4.0, query_scale=4.0 / 3.0)
    chen = replace(right, most=None, threshold_scale=2.0, query_scale=2.0)
    for wrong, least in ((lee_and_clifton, 0.03), (chen, 0.02)):
        found = worst_conversation(wrong, WITHOUT, EVERYONE, epsilon=1.0)
        assert found.delta.lower > least


def test_bad_input_is_one_line():
    vector = SparseVector(epsilon=1.0, longest=1)
    state = vector.opened(WITHOUT, EVERYONE, ADD_REMOVE)
    with pytest.raises(Breach, match="a message to a sparse vector is a query, not 3"):
        vector.answers_to(state, 3)
    with pytest.raises(Breach, match="has a sensitivity of 2, and the sparse vector takes 1"):
        vector.answers_to(state, function_query(lambda d: 2.0 * ALICE(d), 2.0, name="double"))
    with pytest.raises(Breach, match="takes queries of one number"):
        vector.answers_to(state, function_query(lambda d: np.zeros(2), 1.0, name="zeros"))
    with pytest.raises(Breach, match=r"exceeds|sensitivity"):
        vector.answers_to(state, function_query(lambda d: 2.0 * ALICE(d), 1.0, name="lying"))
    with pytest.raises(Breach, match="has stopped, after 1 answers above"):
        vector.answers_to(vector.after(state, ALICE, 1.0), ALICE)
    with pytest.raises(Breach, match="takes 1 messages at the most"):
        vector.answers_to(vector.after(state, ALICE, 0.0), ALICE)
    with pytest.raises(NotApplicable, match="listed where it has queries and a longest"):
        vector.messages(state)
    for wrong in ({"most": 0}, {"longest": 2.5}, {"threshold_scale": 0.0}, {"queries": (3,)},
                  {"most": None}, {"epsilon": math.inf}):  # fmt: skip
        with pytest.raises(InvalidInput):
            SparseVector(**{"epsilon": 1.0} | wrong)


def test_the_order_of_queries_does_not_matter_to_the_state():
    vector = SparseVector(epsilon=1.0, threshold=2.0)
    states = set()
    for order in itertools.permutations([ALICE, OTHERS, ALICE]):
        state = vector.opened(WITHOUT, EVERYONE, ADD_REMOVE)
        for query in order:
            state = vector.after(state, query, 0.0)
        states.add(state)
    assert len(states) == 1
