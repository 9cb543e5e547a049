import math

import numpy as np
import pytest
from scipy import stats

from simulator.data import datasets
from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database
from simulator.foundations.errors import InvalidInput
from simulator.teaching.mechanisms.lloyd_step import LloydStep, lloyd_centres
from simulator.theory.guarantees.pure import PureDP
from tests.helpers.mechanism_cases import draws

POINTS = Database([(0.1, 0.2), (0.1, 0.2), (-0.5, 0.4), (0.9, -0.1), (-0.3, -0.6)])
CENTRES = ((0.5, 0.0), (-0.5, 0.0))
STEP = LloydStep(CENTRES, 0.25)


def test_counts_and_sums_by_hand():
    expected = [[3, 0.1 + 0.1 + 0.9, 0.2 + 0.2 - 0.1], [2, -0.8, -0.2]]
    np.testing.assert_allclose(STEP.exact(POINTS), expected, atol=1e-15)
    assert STEP.exact(Database()).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_centres_are_post_processing():
    answer = np.array([[4.0, 2.0, -1.0], [0.9, 5.0, 5.0]])
    assert lloyd_centres(answer, CENTRES) == ((0.5, -0.25), (-0.5, 0.0))
    assert lloyd_centres(STEP.exact(POINTS), CENTRES)[1] == pytest.approx((-0.4, -0.1))


CORNERS = [(s, 0.0) for s in (-1.0, 1.0)] + [(0.0, s) for s in (-1.0, 1.0)]


def largest_loss(step, first, second, relation):
    """sup over all answers: every coordinate contributes its shift over its scale."""
    scale = relation.records_touched / 0.25
    return np.abs(step.exact(first) - step.exact(second)).sum() / scale


@pytest.mark.parametrize(
    ("relation", "others"),
    [
        (ADD_REMOVE, [POINTS.add(c) for c in CORNERS]),
        (REPLACE_ONE, [POINTS.replace((0.1, 0.2), c) for c in CORNERS]),
        (REPLACE_ONE, [POINTS.add((1.0, 0.0)).replace((1.0, 0.0), (-1.0, 0.0))]),
    ],
)
def test_a_step_keeps_its_guarantee(relation, others):
    before = POINTS.add((1.0, 0.0)) if others[0].size > 5 and relation is REPLACE_ONE else POINTS
    promised = STEP.guarantee(relation)
    assert promised == PureDP(0.5)
    for other in others:
        worst = largest_loss(STEP, before, other, relation)
        assert worst <= 0.5 * (1 + 1e-12)
        pair = STEP.pair(before, other, relation)
        losses = [abs(pair.loss(y)) for y in draws(pair, 0, 300)]
        assert max(losses) <= worst * (1 + 1e-12)


def test_the_guarantee_is_attained_so_one_epsilon_for_both_would_not_do():
    pair = STEP.pair(POINTS, POINTS.add((1.0, 0.0)))
    # below every value of the database without the point
    below = np.array([[-9.0, -9.0, -9.0], [-9.0, -9.0, -9.0]])
    assert pair.loss(below) == pytest.approx(0.5, rel=1e-14)
    assert pair.loss(below) > PureDP(0.25).pure_epsilon


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE_ONE], ids=str)
def test_the_loss_is_the_log_likelihood_ratio(relation):
    step = LloydStep(CENTRES, 0.7, radius=2.0)
    other = POINTS.replace((0.9, -0.1), (-0.2, 1.7))
    scale = np.array([1.0, 2.0, 2.0]) * relation.records_touched / 0.7
    laws = [stats.laplace(step.exact(d), scale) for d in (POINTS, other)]
    pair = step.pair(POINTS, other, relation)
    for answer in draws(pair, 1, 20):
        expected = (laws[0].logpdf(answer) - laws[1].logpdf(answer)).sum()
        assert pair.loss(answer) == pytest.approx(expected, rel=1e-12)
        assert step.log_likelihood_ratio(answer, POINTS, other, relation) == pair.loss(answer)


def test_sampling():
    # false alarm 6e-6 in all
    step = LloydStep(CENTRES, 0.7, radius=2.0)
    sample = draws(step.pair(POINTS, POINTS), 0, 4_000)
    exact = step.exact(POINTS)
    for place in np.ndindex(2, 3):
        scale = (2.0 if place[1] else 1.0) / 0.7
        law = stats.laplace(exact[place], scale)
        assert stats.kstest(sample[:, *place], law.cdf).pvalue > 1e-6
        half = stats.laplace(exact[place], scale / 2)
        assert stats.kstest(sample[:, *place], half.cdf).pvalue < 1e-6
    flat = sample.reshape(-1, 6)
    signs = np.sign(flat - np.median(flat, axis=0))
    correlation = np.corrcoef(signs.T)[np.triu_indices(6, 1)]
    assert np.abs(correlation).max() < 5.5 / math.sqrt(len(flat))  # 5.5 sigma, 15 pairs: 6e-7


def test_private_steps_find_the_irises():
    iris = datasets.load("iris")
    columns = next(iter(iris.records()))[0].columns[:4]
    reach = max(sum(record[c] for c in columns) for record, _ in iris.records())
    centres = ((5.0, 3.5, 1.5, 0.2), (6.0, 3.0, 4.5, 1.5))
    step = LloydStep(centres, 50.0, columns, radius=reach)
    noise = np.random.default_rng(0)
    private = lloyd_centres(step.sample(iris, noise), centres)
    exact = lloyd_centres(step.exact(iris), centres)
    np.testing.assert_allclose(private, exact, atol=0.2)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: LloydStep((), 1.0), "centres"),
        (lambda: LloydStep(((0.0, 1.0), (0.0,)), 1.0), "centres"),
        (lambda: LloydStep(CENTRES, 0.0), "epsilon"),
        (lambda: LloydStep(CENTRES, 1.0, radius=math.inf), "radius"),
        (lambda: LloydStep(((math.nan, 0.0),), 1.0), "centre"),
        (lambda: LloydStep(CENTRES, 1.0, columns=("x",)), "centres"),
        (lambda: STEP.pair(Database(["alice"]), POINTS), "finite coordinates"),
        (lambda: STEP.pair(Database([(0.1,)]), POINTS), "finite coordinates"),
        (lambda: STEP.pair(Database([(0.1, math.inf)]), POINTS), "finite coordinates"),
        (lambda: STEP.pair(Database([(0.9, 0.2)]), POINTS), "above the stated radius"),
    ],
)
def test_input(build, message):
    with pytest.raises(InvalidInput, match=message):
        build()
