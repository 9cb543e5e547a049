import itertools
import math

import numpy as np
import pytest
from scipy import stats

from simulator.data.databases import ADD_REMOVE, Database
from simulator.data.queries import counting_scores, function_query, histogram_query
from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.mechanisms import (
    Exponential,
    Free,
    Gaussian,
    Geometric,
    Laplace,
    LeakyRandomizedResponse,
    RandomizedResponse,
)
from simulator.mechanisms.above_threshold import AboveThreshold
from simulator.mechanisms.post_processed import Cells, PostProcessed, Recoded
from simulator.theory import FiniteLaw
from tests.helpers.mechanism_cases import ALICE, CASES, EVERYONE, OTHERS, chi_square, draws

EPSILONS = np.linspace(-1, 2, 13)
CUTS = (-1.0, 0.0, 0.3, 1.0, 7.5)
SCORES = counting_scores(["alice", "bob", "carol"])


def halve(outcome):
    return outcome // 2


def forget(outcome):
    return 0


def same(outcome):
    return outcome


TABLES = [
    RandomizedResponse(ALICE, 0.7),
    LeakyRandomizedResponse(ALICE, 0.7, 0.01),
    Exponential(SCORES, 1.5),
    AboveThreshold(SCORES, 1.0, 1.5),
    Cells(Laplace(ALICE, 0.7), CUTS),
    PostProcessed(Exponential(SCORES, 1.5), halve),
]


@pytest.mark.parametrize("mechanism", TABLES, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("function", [halve, forget, same])
def test_no_function_of_an_answer_tells_more(mechanism, function):
    after = PostProcessed(mechanism, function)
    for first, second in ((OTHERS, EVERYONE), (EVERYONE, OTHERS)):
        before_law, after_law = mechanism.law(first, second), after.law(first, second)
        for epsilon in EPSILONS:
            bound = before_law.delta(epsilon) + 1e-15
            assert after_law.delta(epsilon) <= bound
        if function is same:
            assert after_law.mean == pytest.approx(before_law.mean, rel=1e-12)
        if function is forget:
            assert after_law.support == (0.0, 0.0)
    assert after.guarantee() == mechanism.guarantee()


@pytest.mark.parametrize("mechanism", TABLES, ids=lambda m: type(m).__name__)
def test_the_pushed_law_is_that_of_processed_draws(mechanism):
    # false alarm 1e-6 each
    after = PostProcessed(mechanism, halve)
    p = after.table(OTHERS, EVERYONE, ADD_REMOVE)
    processed = [halve(int(y)) for y in draws(mechanism.pair(OTHERS, EVERYONE), 1, 4_000)]
    direct = draws(after.pair(OTHERS, EVERYONE), 1, 4_000).astype(int)
    for seen in (processed, direct):
        assert chi_square(np.bincount(seen, minlength=len(p[1])), p[1]) > 1e-6


@pytest.mark.parametrize(
    ("mechanism", "laws"),
    [
        (Laplace(ALICE, 0.7), [stats.laplace(v, 1 / 0.7) for v in (0, 1)]),
        (Gaussian(ALICE, 1.3), [stats.norm(v, 1.3) for v in (0, 1)]),
    ],
)
def test_cells_are_differences_of_distribution_functions(mechanism, laws):
    cells = Cells(mechanism, CUTS)
    edges = [-math.inf, *CUTS, math.inf]
    for table, law in zip(cells.table(OTHERS, EVERYONE, ADD_REMOVE), laws, strict=True):
        expected = [law.cdf(b) - law.cdf(a) for a, b in itertools.pairwise(edges)]
        np.testing.assert_allclose(table, expected, atol=1e-15)
    answers = draws(cells.pair(OTHERS, EVERYONE), 0, 4_000)
    noisy = np.searchsorted(CUTS, draws(mechanism.pair(OTHERS, EVERYONE), 0, 4_000))
    for seen in (answers.astype(int), noisy):
        assert (
            chi_square(np.bincount(seen, minlength=6), cells.table(OTHERS, OTHERS, ADD_REMOVE)[0])
            > 1e-6
        )
    far = Cells(mechanism, (20.0, 25.0)).table(OTHERS, EVERYONE, ADD_REMOVE)[0]
    assert far[1] == pytest.approx(laws[0].sf(20) - laws[0].sf(25), rel=1e-13)


def test_cells_at_the_kinks_keep_the_whole_loss():
    cells = Cells(Laplace(ALICE, 0.7), (0.0, 1.0))
    law = cells.law(OTHERS, EVERYONE)
    assert law.support == pytest.approx((-0.7, 0.7), rel=1e-12)
    whole = Laplace(ALICE, 0.7).law(OTHERS, EVERYONE)
    assert law.delta(0.3) < whole.delta(0.3)


def test_a_post_processing_that_adds_what_the_answer_does_not_hold_is_caught():
    # it looks at the database again: the data processing inequality fails
    peeking = FiniteLaw.from_probabilities([1.0, 0.0], [0.0, 1.0])
    assert peeking.delta(0.0) > TABLES[0].law(OTHERS, EVERYONE).delta(0.0)


def double(answer):
    return 2.0 * answer + 1.0


def undouble(answer):
    return (answer - 1.0) / 2.0


def test_a_bijection_changes_no_loss():
    for case in CASES[:3]:
        recoded = Recoded(case.mechanism, double, undouble)
        pair = recoded.pair(case.database_0, case.database_1, case.relation)
        for answer in draws(pair, 0, 50):
            expected = case.pair.loss(undouble(answer))
            assert pair.loss(answer) == expected
            arguments = (answer, case.database_0, case.database_1, case.relation)
            assert recoded.log_likelihood_ratio(*arguments) == expected
        assert recoded.law(case.database_0, case.database_1) == case.mechanism.law(
            case.database_0, case.database_1
        )
        noise = np.random.default_rng(0), np.random.default_rng(0)
        behind = case.mechanism.sample(case.database_0, noise[0])
        assert recoded.sample(case.database_0, noise[1]) == double(behind)
    counts = Recoded(Laplace(histogram_query("ab"), 1.0), np.negative, np.negative)
    answer, pair = np.array([-1.5, 0.2]), (Database([*"aab"]), Database([*"aabb"]))
    plain = counts.mechanism.pair(*pair)
    assert counts.pair(*pair).loss(answer) == plain.loss(-answer) != plain.loss(answer)


def moved_twice(database):
    return 2.0 * database.count_of("alice")


def negative(outcome):
    return -1


def half(outcome):
    return 0.5


def test_input():
    with pytest.raises(NotApplicable, match="cut it into Cells"):
        PostProcessed(Laplace(ALICE, 0.7), halve).pair(OTHERS, EVERYONE)
    for bad in (negative, half):
        with pytest.raises(InvalidInput, match="whole number"):
            PostProcessed(TABLES[0], bad).pair(OTHERS, EVERYONE)
    for cuts in [(), (1.0, 0.0), (1.0, 1.0), (math.nan,), (0.0, math.inf)]:
        with pytest.raises(InvalidInput, match="ascend"):
            Cells(Laplace(ALICE, 0.7), cuts)
    with pytest.raises(InvalidInput, match="Laplace or Gaussian"):
        Cells(Geometric(ALICE, 0.7), (0.0,))
    with pytest.raises(InvalidInput, match="free"):
        Cells(Laplace(ALICE, Free(0.1, 0.2)), (0.0,)).pair(OTHERS, EVERYONE)
    with pytest.raises(Breach, match="states"):
        Cells(Laplace(function_query(moved_twice, 1.0), 0.7), (0.0,)).pair(OTHERS, EVERYONE)
