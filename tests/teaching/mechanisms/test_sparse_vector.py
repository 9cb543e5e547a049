"""The sparse vector technique query by query, against its law as one round."""

import itertools
import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest

from experiments.suite.mechanisms.thresholds import BELOW, Marks, all_marks
from simulator import Database, counting_query
from simulator.data.databases import ADD_REMOVE
from simulator.data.queries import function_query
from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.mechanisms.above_threshold import first_above_law
from simulator.mechanisms.quadrature import log_of_integral
from simulator.teaching.mechanisms import SparseVector
from simulator.teaching.mechanisms.sparse_vector import next_chances
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


def first_above(margin, threshold_scale, query_scale):
    """Pr[margin + Lap(query_scale) >= Lap(threshold_scale)], margin <= 0, by partial fractions."""
    a, b = threshold_scale**2, query_scale**2
    tails = b * math.exp(margin / query_scale) - a * math.exp(margin / threshold_scale)
    return tails / (2.0 * (b - a))


@pytest.mark.parametrize(
    ("threshold", "scales"),
    [(1000.0, (2.0, 800.0)), (2000.0, (2.0, 200.0)), (0.5, (0.001, 4.0)), (9e5, (1e-3, 1e5)),
     (2.01, (1.0, 1e-3))],
)  # fmt: skip
def test_a_first_answer_has_its_closed_form_however_wide_the_noise_of_queries(threshold, scales):
    vector = SparseVector(
        epsilon=1.0, threshold=threshold, threshold_scale=scales[0], query_scale=scales[1]
    )
    pair = vector.answers_to(vector.opened(WITHOUT, EVERYONE, ADD_REMOVE), ALICE)
    for value, found in zip((0.0, 1.0), pair.outcomes()[1:]):
        above = first_above(-abs(value - threshold), *scales)
        expected = [1 - above, above] if value < threshold else [above, 1 - above]
        assert found == pytest.approx(expected, rel=1e-11)


def test_the_worst_first_query_of_wide_noise_has_its_delta():
    """A nearly exact threshold: Laplace noise of scale 4 at one query, delta(0) = 0.1175."""
    vector = SparseVector(
        epsilon=1.0, threshold=0.5, threshold_scale=0.001, query_scale=4.0, queries=(ALICE,),
        longest=1,
    )  # fmt: skip
    found = worst_conversation(vector, WITHOUT, EVERYONE, epsilon=0.0).delta
    expected = 1.0 - 2.0 * first_above(-0.5, 0.001, 4.0)
    assert expected == pytest.approx(0.1175, abs=1e-4)
    assert found.lower - 1e-9 <= expected <= found.upper + 1e-9


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("marks", "margin", "ratio"),
    [
        (((2.0, False), (2.0, True), (5.0, True)), 2.0, 1e-3),
        (((30.0, False),) * 25, -900.0, 20.0),
        (((4.0, True),) * 400, -7.0, 20.0),
    ],
    ids=["narrow noise", "a steep slope", "a threshold far below all queries"],
)
def test_answers_before_count_at_every_ratio_of_the_scales(marks, margin, ratio):
    """By 45-digit quadrature on panels that grow by 1.7 from every kink, short below 0."""

    def cdf(x):
        return mpmath.exp(x) / 2 if x < 0 else 1 - mpmath.exp(-x) / 2

    def mass(*last):
        powers = {mark: (*marks, last).count(mark) for mark in (*marks, last)}

        def density(y):
            terms = (cdf((m - y if up else y - m) / ratio) ** n for (m, up), n in powers.items())
            return mpmath.exp(-abs(y)) * mpmath.fprod(terms)

        kinks = sorted({0.0, *(m for m, _ in powers)})
        away = [min(ratio, 1.0) * 1.7**n for n in range(60)]
        edges = {*kinks, *range(-200, 0, 8)}
        for a, b in itertools.pairwise([kinks[0] - 200, *kinks, kinks[-1] + 200]):
            edges |= {a, b} | {x for d in away if d < (b - a) / 2 for x in (a + d, b - d)}
        return mpmath.quad(density, sorted(edges), method="gauss-legendre", maxdegree=4)

    with mpmath.workdps(45):  # the tolerance of quad is absolute, and chances are of 1e-30
        below, above = mass(margin, False), mass(margin, True)
        expected = [float(below / (below + above)), float(above / (below + above))]
    assert next_chances(marks, margin, ratio) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("width", [1e-3, 1.0, 300.0])
def test_a_peak_far_from_the_kinks_is_found(width):
    def bell(y):
        return -0.5 * ((y - 421.3) / width) ** 2

    found = log_of_integral(bell, [0.0, 1000.0], 100.0, 9000.0)
    assert found == pytest.approx(math.log(width * math.sqrt(2 * math.pi)), abs=1e-12)


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
    for ratio in (1e-6, 1e-300, 1e12):
        with pytest.raises(InvalidInput, match=r"query_scale of 0.001 to 1e\+09 threshold scales"):
            SparseVector(epsilon=1.0, query_scale=2.0 * ratio)
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
