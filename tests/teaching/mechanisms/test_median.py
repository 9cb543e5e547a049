"""The smooth sensitivity by its definition, over all databases of a small universe."""

import itertools
import math
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from simulator.adversaries.contract import Rule
from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database
from simulator.engine.compiled.plain_kernel import Engine
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.teaching.mechanisms.median import (
    LocalSensitivityMedian,
    SmoothSensitivityMedian,
    admissible_beta,
    median,
    smooth_sensitivity,
)
from simulator.teaching.mechanisms.scaled_laplace import SCALED_LAPLACE
from simulator.theory.guarantees.pure import ApproxDP, PureDP
from tests.helpers.exploring import examples
from tests.helpers.laplace_pairs import hockey_stick
from tests.helpers.mechanism_cases import draws

GRID = (0.0, 1.0, 3.0, 10.0)
SIZES = range(6)
ALL = [values for n in SIZES for values in itertools.combinations_with_replacement(GRID, n)]


def neighbours(values, relation):
    """Every neighbour over the grid, as sorted tuples; larger databases included."""
    without = [values[:i] + values[i + 1 :] for i in range(len(values))]
    if relation == ADD_REMOVE:
        return {*without, *(tuple(sorted((*values, v))) for v in GRID)}
    return {tuple(sorted((*rest, v))) for rest in without for v in GRID}


def middle(values):
    return median(np.array(values), GRID[0])


@lru_cache
def local(values, relation):
    return max((abs(middle(values) - middle(y)) for y in neighbours(values, relation)), default=0.0)


@lru_cache
def smooth(values, relation, beta):
    """Breadth first through databases, until no local sensitivity further away can matter."""
    best, seen, edge, steps = 0.0, {values}, {values}, 0
    while edge and GRID[-1] * math.exp(-beta * steps) > best:
        best = max(best, *(local(x, relation) * math.exp(-beta * steps) for x in edge))
        edge = {y for x in edge for y in neighbours(x, relation)} - seen
        seen |= edge
        steps += 1
    return best


@pytest.mark.sampled(n=3)
@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE_ONE], ids=str)
@pytest.mark.parametrize("beta", [0.15, 0.6, 2.0])
def test_smooth_sensitivity_is_its_definition(relation, beta):
    for values in ALL:
        if values or relation == ADD_REMOVE:
            exact = smooth_sensitivity(np.array(values), GRID[0], GRID[-1], beta, relation)
            assert exact == pytest.approx(smooth(values, relation, beta), rel=1e-14), values


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE_ONE], ids=str)
def test_local_sensitivity_is_its_definition(relation):
    for values in ALL:
        if values or relation == ADD_REMOVE:
            exact = smooth_sensitivity(np.array(values), GRID[0], GRID[-1], math.inf, relation)
            assert exact == local(values, relation), values


def test_the_printed_formula_for_an_odd_number_of_values():
    # max(x_m - x_{m-1}, x_{m+1} - x_m), Zhang 2020, lecture 7
    values = np.sort(np.random.default_rng(1).uniform(0, 10, 101))
    expected = max(values[50] - values[49], values[51] - values[50])
    assert smooth_sensitivity(values, 0, 10, math.inf, REPLACE_ONE) == expected


@examples(150)
@given(
    st.lists(st.floats(0, 10), min_size=1, max_size=12),
    st.floats(0, 10),
    st.integers(0, 11),
    st.floats(0.01, 3),
)
def test_it_is_a_smooth_upper_bound(values, new, place, beta):
    kept = values[: place % len(values)] + values[place % len(values) + 1 :]
    for other, relation in (([*values, new], ADD_REMOVE), ([*kept, new], REPLACE_ONE)):
        x, y = np.sort(values), np.sort(other)
        first, second = (smooth_sensitivity(v, 0, 10, beta, relation) for v in (x, y))
        assert abs(median(x, 0) - median(y, 0)) <= min(first, second)
        assert max(first, second) <= math.exp(beta) * min(first, second) * (1 + 1e-12)


def test_a_large_table_costs_little():
    values = np.sort(np.random.default_rng(0).uniform(0, 10, 100_000))
    smooth_one = smooth_sensitivity(values, 0, 10, 0.05, ADD_REMOVE)
    assert smooth_sensitivity(values, 0, 10, math.inf, ADD_REMOVE) < smooth_one < 0.01


@pytest.mark.sampled
@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE_ONE], ids=str)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-3), (1.0, 1e-2), (3.0, 0.05)])
def test_the_smooth_median_keeps_its_promise(relation, epsilon, delta):
    mechanism = SmoothSensitivityMedian(epsilon, delta, GRID[0], GRID[-1])
    assert mechanism.guarantee(relation) == ApproxDP(epsilon, delta)
    worst = 0.0
    for values in ALL:
        for other in neighbours(values, relation) if 1 < len(values) < 4 else ():
            row = mechanism.checked_row(Database(values), Database(other), relation)
            worst = max(worst, hockey_stick(row, epsilon))
    assert worst <= delta


def test_the_hockey_stick_of_the_test_sees_a_leak():
    row = (0.0, 0.0, 1.0, 1.3)
    seen = hockey_stick(row, 0.2)
    from scipy.integrate import quad

    def over(y):
        p, q = stats.laplace.pdf(y, 0, 1.0), stats.laplace.pdf(y, 0, 1.3)
        return max(p - math.exp(0.2) * q, 0.0)

    assert seen == pytest.approx(2 * quad(over, 0, 1)[0], rel=1e-6)
    assert hockey_stick((0.0, 1.0, 0.5, 0.5), 1.0) == pytest.approx(
        -math.expm1((1.0 - 2.0) / 2), rel=1e-9
    )


# Zhang 2020 (lecture 7): one zero fewer moves the local sensitivity from 0 to Lambda
STEADY = Database({0.0: 6, 10.0: 3})
SHAKY = Database({0.0: 5, 10.0: 4})
BROKEN = LocalSensitivityMedian(0.5, 0.0, 10.0)


def test_local_sensitivity_leaks_everything():
    pair = BROKEN.pair(STEADY, SHAKY, REPLACE_ONE)
    assert BROKEN.checked_row(STEADY, SHAKY, REPLACE_ONE) == (0.0, 0.0, 0.0, 20.0)
    assert {pair.loss(answer) for answer in draws(pair, 0, 50)} == {math.inf}
    assert {pair.loss(answer) for answer in draws(pair, 1, 50)} == {-math.inf}
    assert BROKEN.guarantee().implies(PureDP(0.5))  # it claims so; an audit must see otherwise
    repaired = SmoothSensitivityMedian(0.5, 1e-3, 0.0, 10.0).pair(STEADY, SHAKY, REPLACE_ONE)
    assert max(abs(repaired.loss(answer)) for answer in draws(repaired, 0, 50)) < 0.5


def test_local_sensitivity_breaks_its_promise_without_a_zero():
    x = Database([0.0, 4.9, 5.0, 5.1, 10.0])
    y = x.replace(5.1, 10.0)
    row = BROKEN.checked_row(x, y, REPLACE_ONE)
    assert min(row[2:]) > 0
    assert hockey_stick(row, 0.5) > 0.5


@pytest.mark.parametrize(
    ("row", "answer", "loss"),
    [
        ((1.0, 1.0, 0.0, 0.0), 1.0, 0.0),
        ((1.0, 2.0, 0.0, 0.0), 1.0, math.inf),
        ((1.0, 2.0, 0.0, 0.0), 2.0, -math.inf),
        ((1.0, 1.0, 0.0, 3.0), 1.0, math.inf),
        ((1.0, 1.0, 0.0, 3.0), 1.5, -math.inf),
        ((1.0, 1.0, 3.0, 0.0), 1.0, -math.inf),
        ((1.0, 1.0, 3.0, 0.0), 1.5, math.inf),
        ((1.0, 2.0, 3.0, 0.0), 1.0, math.inf),
    ],
)
def test_noise_of_no_size_is_an_atom(row, answer, loss):
    params = np.zeros(5)
    SCALED_LAPLACE.prepare(row, 1.0, params)
    assert SCALED_LAPLACE.loss(params, answer) == loss


def test_sampling_and_loss():
    # false alarm 1e-6 each
    x = Database([0.0, 4.0, 5.0, 7.0, 10.0])
    mechanism = SmoothSensitivityMedian(1.0, 1e-2, 0.0, 10.0)
    row = mechanism.checked_row(x, x.add(9.0), ADD_REMOVE)
    pair = mechanism.pair(x, x.add(9.0))
    laws = stats.laplace(row[0], row[2]), stats.laplace(row[1], row[3])
    assert row[2] != row[3]
    for b in (0, 1):
        sample = draws(pair, b, 5_000)
        assert stats.kstest(sample, laws[b].cdf).pvalue > 1e-6
        assert stats.kstest(sample, stats.laplace(row[b], row[2 + b] / 2).cdf).pvalue < 1e-6
        expected = laws[0].logpdf(sample[:50]) - laws[1].logpdf(sample[:50])
        np.testing.assert_allclose([pair.loss(y) for y in sample[:50]], expected, atol=1e-12)


def test_an_answer_draws_an_exponential_and_then_a_uniform_number():
    noise, single = np.random.default_rng(5), np.random.default_rng(5)
    for n in range(100):
        answer = SCALED_LAPLACE.sample((0.0, 1.0, 2.0, 3.0, 0.4), n % 2, noise)
        size, place = single.standard_exponential(), single.random()
        assert answer == n % 2 + (2.0 + n % 2) * size * (1.0 if place < 0.5 else -1.0)


@pytest.mark.nightly
def test_compiled_play_is_interpreted_play():
    def step(state, i, answer, coins):
        return state, i % 2

    x = Database([0.0, 4.0, 5.0, 7.0, 10.0])
    menu = (
        (x, x.add(9.0), SmoothSensitivityMedian(0.5, 1e-3, 0.0, 10.0)),
        (x, x.add(9.0), SmoothSensitivityMedian(0.4, 1e-3, 0.0, 10.0)),
    )
    rule, played = Rule(step, menu), []
    for compiled in (True, False):
        engine = Engine.build(rule, ApproxDP(0.5, 1e-3), ADD_REMOVE, compiled=compiled)
        assert engine.complaint == ""
        losses = np.zeros(50)
        engine.play(1, np.random.default_rng(0), np.random.default_rng(1), losses, 4)
        played.append(losses)
    np.testing.assert_allclose(*played, rtol=1e-13)


def test_admissibility():
    assert admissible_beta(1.0, 1e-6) == pytest.approx(0.5 / math.log(1e6), rel=1e-15)
    with pytest.raises(NotApplicable, match="not admissible"):
        admissible_beta(20.0, 0.3)
    with pytest.raises(NotApplicable, match="not admissible"):
        admissible_beta(0.1, 0.5)
    # the dilation's divergence, by integration
    beta = admissible_beta(3.0, 0.05)
    assert hockey_stick((0.0, 0.0, 1.0, math.exp(-beta)), 1.5) <= 0.05
    assert hockey_stick((0.0, 0.0, 1.0, math.exp(-5 * beta)), 1.5) > 0.05


@pytest.mark.parametrize(
    "arguments",
    [(0.0, 1e-3, 0, 1), (1.0, 0.0, 0, 1), (1.0, math.nan, 0, 1), (1.0, 1e-3, 1, 1)],
)
def test_input(arguments):
    with pytest.raises(InvalidInput):
        SmoothSensitivityMedian(*arguments)
    with pytest.raises(InvalidInput):
        LocalSensitivityMedian(-1.0, 0.0, 1.0)
    with pytest.raises(InvalidInput, match="not a number"):
        BROKEN.pair(Database(["alice"]), Database(["alice"]))
