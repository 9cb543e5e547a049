import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database
from simulator.data.queries import (
    Query,
    ScalarQuery,
    check_pair,
    clipped_mean,
    clipped_sum,
    counting_query,
    counting_scores,
    exceeded,
    function_query,
    histogram_query,
    score_query,
)
from simulator.data.queries.kept import checked_values
from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.identity.fingerprint import Walk
from simulator.identity.keys import is_fixed
from tests.helpers.exploring import examples

relaxed = examples(200)
VALUES = (-3.0, -1.0, 0.5, 2.0, 7.0)


def itself(value):
    return value


def is_positive(value):
    return value > 0


QUERIES = [
    counting_query(2.0),
    counting_query(is_positive),
    histogram_query([-1.0, 0.5, 2.0]),
    histogram_query([True, False], by=is_positive),
    histogram_query([2.0]),
    clipped_sum(itself, -2.0, 5.0),
    clipped_sum(itself, 1.0, 4.0),
    clipped_mean(itself, -2.0, 5.0, at_least=2),
    counting_scores(VALUES),
]


def neighbours(database, relation):
    if relation is ADD_REMOVE:
        return [database.add(value) for value in VALUES]
    return [database.replace(old, new) for old, _ in database.records() for new in VALUES]


@pytest.mark.sampled
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE_ONE], ids=str)
def test_no_pair_exceeds_a_stated_sensitivity(query, relation):
    @relaxed
    @given(st.lists(st.sampled_from(VALUES), min_size=2, max_size=5).map(Database))
    def holds(database):
        for other in neighbours(database, relation):
            check_pair(query, database, other, relation)
            check_pair(query, other, database, relation)

    holds()


@pytest.mark.parametrize(
    ("query", "relation", "database", "other"),
    [
        (counting_query(2.0), ADD_REMOVE, [], [2.0]),
        (counting_query(2.0), REPLACE_ONE, [7.0], [2.0]),
        (histogram_query(VALUES), ADD_REMOVE, [], [2.0]),
        (histogram_query(VALUES), REPLACE_ONE, [7.0], [2.0]),
        (histogram_query([2.0]), REPLACE_ONE, [7.0], [2.0]),
        (clipped_sum(itself, -2.0, 5.0), ADD_REMOVE, [], [7.0]),
        (clipped_sum(itself, -2.0, 5.0), REPLACE_ONE, [-3.0], [7.0]),
        (clipped_sum(itself, -5.0, 2.0), ADD_REMOVE, [], [-7.0]),
        (clipped_mean(itself, -2.0, 5.0, size=2), REPLACE_ONE, [0.5, -3.0], [0.5, 7.0]),
        (clipped_mean(itself, -2.0, 5.0, at_least=1), ADD_REMOVE, [-3.0], [-3.0, 7.0]),
        (clipped_mean(itself, -2.0, 5.0, at_least=1), REPLACE_ONE, [-3.0], [7.0]),
        (counting_scores(VALUES), ADD_REMOVE, [], [2.0]),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_stated_sensitivity_is_attained_and_anything_less_would_be_caught(
    query, relation, database, other
):
    value_0, value_1 = query(Database(database)), query(Database(other))
    norm = "max" if getattr(query, "norm", "L1") == "max" else "L1"
    change = np.abs(np.atleast_1d(np.asarray(value_1) - np.asarray(value_0)))
    largest = change.max() if norm == "max" else change.sum()
    assert largest == pytest.approx(query.sensitivity(relation), rel=1e-14)
    if norm == "L1":
        l2 = math.sqrt(float((change**2).sum()))
        assert l2 == pytest.approx(query.l2_sensitivity(relation), rel=1e-14)
    too_small = function_query(query, 0.999 * query.sensitivity(relation))
    assert exceeded(too_small, value_0, value_1, relation) is not None


def test_histogram_sensitivities_depend_on_the_relation():
    query = histogram_query("abc")
    assert query.sensitivity(ADD_REMOVE) == 1.0
    assert query.sensitivity(REPLACE_ONE) == 2.0
    assert query.l2_sensitivity(ADD_REMOVE) == 1.0
    assert query.l2_sensitivity(REPLACE_ONE) == math.sqrt(2.0)


def test_answers_by_hand():
    database = Database({2.0: 3, -3.0: 1, 7.0: 2})
    assert counting_query(2.0)(database) == 3
    assert counting_query(is_positive)(database) == 5
    assert histogram_query([7.0, 0.5, 2.0])(database).tolist() == [2, 0, 3]
    assert histogram_query([True, False], by=is_positive)(database).tolist() == [5, 1]
    assert clipped_sum(itself, -2.0, 5.0)(database) == 3 * 2.0 - 2.0 + 2 * 5.0
    assert clipped_mean(itself, -2.0, 5.0, size=6)(database) == 14.0 / 6
    assert counting_scores([-3.0, 7.0])(database).tolist() == [1.0, 2.0]


def test_columns_are_read_by_name(tmp_path):
    path = tmp_path / "patients.csv"
    path.write_text("group,age\nA,40\nB,60\nA,20\n")
    database = Database.from_csv(path)
    assert histogram_query(["A", "B"], by="group")(database).tolist() == [2, 1]
    assert clipped_sum("age", 0, 50)(database) == 110.0
    with pytest.raises(InvalidInput, match="no column 'weight'"):
        clipped_sum("weight", 0, 1)(database)
    with pytest.raises(InvalidInput, match=r"group of record .* not a number"):
        clipped_sum("group", 0, 1)(database)


@relaxed
@given(
    st.dictionaries(
        st.floats(-1e9, 1e9, allow_nan=False), st.integers(1, 10**6), min_size=1, max_size=8
    )
)
def test_sums_are_exact_up_to_the_last_rounding(histogram):
    exact = sum(Fraction(value) * times for value, times in histogram.items())
    assert clipped_sum(itself, -1e9, 1e9)(Database(histogram)) == float(exact)


def test_equal_queries_are_one_cache_key():
    assert len({counting_query("alice"), counting_query("alice"), counting_query("bob")}) == 2
    assert counting_query(is_positive) == counting_query(is_positive, name="another name")
    assert histogram_query("ab") == histogram_query("ab")
    assert clipped_sum("age", 0, 1) == clipped_sum("age", 0.0, 1.0)
    for query in QUERIES:
        assert pickle.loads(pickle.dumps(query)) == query
        assert hash(pickle.loads(pickle.dumps(query))) == hash(query)
        assert isinstance(query, Query)


# --- breaches -----------------------------------------------------------------------------------


def test_a_query_that_understates_its_sensitivity_is_caught():
    doubled = function_query(lambda database: 2 * database.size, 1.0, name="twice the size")
    with pytest.raises(Breach, match=r"twice the size states L1 sensitivity 1 .*moves it by 2"):
        check_pair(doubled, Database(["ab"]), Database(), ADD_REMOVE)


def test_an_understated_l2_sensitivity_is_caught():
    moved = function_query(lambda d: np.array([d.size, 0.0]), 1.0, l2_sensitivity=0.5, name="v")
    with pytest.raises(Breach, match=r"v states L2 sensitivity 0\.5"):
        check_pair(moved, Database(["a"]), Database(), ADD_REMOVE)


def test_an_understated_score_sensitivity_is_caught():
    scores = score_query(["a", "b"], lambda c, d: 3.0 * d.count_of(c), 2.0)
    with pytest.raises(Breach, match="scores states max sensitivity 2"):
        check_pair(scores, Database(["a"]), Database(), ADD_REMOVE)


def test_databases_that_are_not_neighbours_are_caught():
    with pytest.raises(Breach, match=r"not neighbours under add/remove-one: .*2 steps"):
        check_pair(counting_query("a"), Database({"a": 2}), Database(), ADD_REMOVE)


@pytest.mark.parametrize(
    ("value_0", "value_1", "message"),
    [(math.nan, 0.0, "not finite"), (0.0, math.inf, "not finite"), ([1.0], [1.0, 2.0], "shapes")],
)
def test_answers_that_make_no_sense_are_caught(value_0, value_1, message):
    assert message in exceeded(counting_query("a"), value_0, value_1, ADD_REMOVE)


def test_rounding_is_forgiven_but_not_much_more():
    query = clipped_sum(itself, 0.0, 0.1)
    large = 1e6
    assert exceeded(query, large, large + 0.1, ADD_REMOVE) is None
    assert exceeded(query, large, large + 0.1 + 1e-8, ADD_REMOVE) is not None
    assert exceeded(query, 0.0, 0.1 + 1e-15, ADD_REMOVE) is not None


class Unstated:
    """A query whose own arithmetic made its sensitivity no number."""

    name = "unstated"

    def __call__(self, database):
        return float(len(database))

    def sensitivity(self, relation):
        return math.nan

    l2_sensitivity = sensitivity


def test_a_sensitivity_that_is_no_number_is_exceeded():
    assert "states L1 sensitivity nan" in exceeded(Unstated(), 0.0, 1.0, ADD_REMOVE)


def test_a_sensitivity_stated_for_one_relation_is_not_used_for_another():
    query = function_query(len, {ADD_REMOVE: 1.0}, name="size")
    assert query.sensitivity(ADD_REMOVE) == 1.0
    with pytest.raises(NotApplicable, match=r"size states .* not under replace-one"):
        query.sensitivity(REPLACE_ONE)


def test_a_mean_must_know_something_about_its_size():
    with pytest.raises(InvalidInput, match="one of size="):
        clipped_mean(itself, 0.0, 1.0)
    public = clipped_mean(itself, 0.0, 1.0, size=2)
    with pytest.raises(NotApplicable, match="add/remove-one changes the size"):
        public.sensitivity(ADD_REMOVE)
    with pytest.raises(InvalidInput, match="stated for 2 records, the database holds 1"):
        public(Database([1.0]))
    with pytest.raises(InvalidInput, match="at least 2 records"):
        clipped_mean(itself, 0.0, 1.0, at_least=2)(Database([1.0]))


def test_scores_are_not_for_noise():
    with pytest.raises(NotApplicable, match="scores to select by"):
        counting_scores("ab").l2_sensitivity(ADD_REMOVE)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: clipped_sum(itself, 1.0, 1.0), "lower < upper"),
        (lambda: clipped_sum(itself, 0.0, math.inf), "finite"),
        (lambda: clipped_sum(itself, math.nan, 1.0), "finite"),
        (lambda: clipped_mean(itself, 0.0, 1.0, size=0), "at least 1"),
        (lambda: histogram_query([]), "at least one bin"),
        (lambda: histogram_query("aa"), "named twice"),
        (lambda: function_query(len, 0.0), "positive and finite"),
        (lambda: function_query(len, math.nan), "positive and finite"),
        (lambda: clipped_sum(itself, 0.0, 1.0)(Database(["a"])), "not a number"),
    ],
)
def test_nonsense_is_refused_in_one_line(make, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


class StatesNaN(ScalarQuery):
    """A query whose stated sensitivity is no number."""

    name = "no number"

    def __call__(self, database):
        return database.size

    def sensitivity(self, relation):
        return math.nan


def test_a_stated_nan_is_exceeded_by_every_pair():
    complaint = exceeded(StatesNaN(), 3.0, 4.0, ADD_REMOVE)
    assert complaint is not None
    assert "states L1 sensitivity nan" in complaint


def test_a_fixed_function_is_computed_once_for_each_database():
    calls = []

    def counted(database):
        calls.append(database)
        return float(database.count("alice"))

    everyone = Database({"alice": 1, "others": 9})
    pair = everyone.remove("alice"), everyone
    for fixed, expected in ((True, 2), (False, 6)):
        calls.clear()
        query = function_query(counted, 1.0, fixed=fixed)
        for _ in range(3):
            assert checked_values(query, *pair, ADD_REMOVE) == (0.0, 1.0)
        assert len(calls) == expected
    scores = score_query(("alice", "bob"), lambda one, d: float(d.count(one)), 1.0, fixed=True)
    assert is_fixed(scores)


@pytest.mark.parametrize("fixed", [True, False])
def test_a_function_may_fill_one_array_again(fixed):
    buffer = np.zeros(2)

    def filled(database):
        buffer[:] = len(database), database.count("alice")
        return buffer

    everyone = Database({"alice": 1, "others": 9})
    pair = everyone.remove("alice"), everyone
    query = function_query(filled, 2.0, fixed=fixed)
    for _ in range(2):
        values = checked_values(query, *pair, ADD_REMOVE)
        assert [value.tolist() for value in values] == [[9.0, 0.0], [10.0, 1.0]]
    assert [value.tolist() for value in check_pair(query, *pair, ADD_REMOVE)] == [[9, 0], [10, 1]]
    with pytest.raises(Breach, match="moves it by 2"):
        checked_values(function_query(filled, 1.0, fixed=fixed), *pair, ADD_REMOVE)


def test_fixed_functions_differ_as_their_code_does():
    one, two = (function_query(lambda d, k=k: k * len(d), 9.0, fixed=True) for k in (1.0, 2.0))
    assert one != two
    assert Walk().digest(one) != Walk().digest(two)
