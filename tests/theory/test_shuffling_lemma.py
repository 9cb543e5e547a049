"""The lemma of simulator/theory/lemmas/shuffling-clones.md, and what would break it."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy.optimize import linprog

from simulator.theory import Composition, ShuffledDP, bound, shuffled_law
from simulator.theory.laws.clones import ClonePair
from simulator.theory.laws.shuffled_responses import pairs_tried, response_epsilon
from simulator.theory.laws.ternary_responses import TernaryResponses

LOCALS = [0.1, 0.4, math.log(2.0), 1.1, 2.0, 3.5]
WIDER = 1.1  # of the share of clones: the broken twin


def extremal(coins, local, inputs, pull=0.0):
    """A random vertex of the private randomizers whose columns are in {1, e}^inputs.

    With ``pull`` one that more often tells input 0 from input 1.
    """
    columns = np.array(list(itertools.product([1.0, math.exp(local)], repeat=inputs)))
    costs = coins.normal(size=len(columns)) - pull * np.abs(columns[:, 0] - columns[:, 1])
    found = linprog(costs, A_eq=columns.T, b_eq=np.ones(inputs))
    kept = found.x > 1e-9
    table = (columns[kept] * found.x[kept][:, None]).T
    return table / table.sum(axis=1, keepdims=True)


def excess_of(local, wider, reports, epsilon):
    share = min(1.0 - 1e-12, wider * 2.0 / (1.0 + math.exp(local)))
    upper = ClonePair(local, reports, share).delta_bracket(epsilon).upper
    return upper * (1.0 + 1e-9) + 1e-15


def worst_ratio(wider, trials, seed):
    """The largest delta of random randomizers over the clones'."""
    coins, worst = np.random.default_rng(seed), 0.0
    for _ in range(trials):
        local, reports = float(coins.choice(LOCALS)), int(coins.integers(2, 6))
        inputs = int(coins.integers(2, min(4, reports + 1) + 1))
        table = extremal(coins, local, inputs)
        others = [int(x) for x in coins.integers(0, inputs, size=reports - 1)]
        if coins.random() < 0.5:
            others = [inputs - 1] * (reports - 1)
        if (reports + 1.0) ** (table.shape[1] - 1) > 2e4:
            continue
        law = shuffled_law(table, [0, *others], [1, *others])
        for part in (0.0, 0.3, 0.7, 0.95):
            epsilon = part * local
            exact = max(law.delta(epsilon), law.reversed().delta(epsilon))
            worst = max(worst, exact / excess_of(local, wider, reports, epsilon))
    return worst


def test_random_extremal_randomizers_are_below_the_clones():
    assert 0.9 < worst_ratio(1.0, 60, 1) <= 1.0


def test_they_are_not_below_a_tenth_more_clones():
    assert worst_ratio(WIDER, 60, 1) > 1.0


@pytest.mark.nightly
def test_many_random_extremal_randomizers_are_below_the_clones():
    assert 0.99 < worst_ratio(1.0, 3000, 2) <= 1.0


def adaptive_worst(wider, trials, seed):
    """Randomizers that depend on the reports before: all permutations of three people."""
    coins, worst, people = np.random.default_rng(seed), 0.0, 3
    for _ in range(trials):
        local, inputs = float(coins.choice(LOCALS)), int(coins.integers(2, 4))
        tables = {}

        def place(past, coins=coins, local=local, inputs=inputs, tables=tables):
            if past not in tables:
                tables[past] = extremal(coins, local, inputs, pull=3.0 / local)
            return tables[past]

        others, sums = coins.integers(0, inputs, size=people - 1).tolist(), {0: {}, 1: {}}
        for changed in (0, 1):
            for order in itertools.permutations((changed, *others)):
                grown = {(): 1.0 / math.factorial(people)}
                for person in order:
                    grown = {
                        (*past, said): mass * chance
                        for past, mass in grown.items()
                        for said, chance in enumerate(place(past)[person])
                    }
                for seen, mass in grown.items():
                    sums[changed][seen] = sums[changed].get(seen, 0.0) + mass
        for part in (0.0, 0.5, 0.9):
            ratio = math.exp(part * local)
            for one, other in ((0, 1), (1, 0)):
                exact = sum(
                    max(0.0, mass - ratio * sums[other][seen]) for seen, mass in sums[one].items()
                )
                worst = max(worst, exact / excess_of(local, wider, people, part * local))
    return worst


def test_randomizers_that_depend_on_the_past_are_below_the_clones():
    assert 0.8 < adaptive_worst(1.0, 12, 3) <= 1.0 < adaptive_worst(WIDER, 12, 3)


def call_gap(growth, ratio, z, hidden):
    """E(G - z)_+ of the law with p = 1/(e + 1) minus that of the law with p = 0.

    ``hidden`` is the factor between a person's law and the blanket, which is e.
    """
    half = 1 / (1 + growth)
    first = half * (max(growth - ratio - z, 0) + max(1 - ratio * growth - z, 0))
    first += (1 - 2 * half) * max(-z, 0)
    second = max(hidden * (1 - ratio) - z, 0) / hidden + (1 - 1 / hidden) * max(-z, 0)
    return first - second


def test_the_convex_order_holds_at_fifty_digits():
    with mpmath.workdps(50):
        for local in (mpmath.mpf(each) for each in ("1e-6", "0.1", "0.7", "2", "6", "40")):
            growth = mpmath.exp(local)
            for part in (mpmath.mpf(k) / 16 for k in range(17)):
                ratio = mpmath.exp(local * part)
                low, high = 1 - ratio * growth, growth - ratio
                for step in range(33):
                    z = low + (high - low) * step / 32
                    gap = call_gap(growth, ratio, z, growth)
                    assert gap >= -(mpmath.mpf(10) ** -48) * growth**2
        # a randomizer that is less private where nothing is learned of the changed person
        assert call_gap(mpmath.e, mpmath.e, mpmath.mpf(-6), mpmath.e**1.5) < -0.2


@pytest.mark.parametrize("local", LOCALS)
def test_the_largest_variance_is_that_of_two_or_three_values(local):
    growth = math.exp(local)
    columns = np.array(list(itertools.product([1.0, growth], repeat=3)))
    gains = (columns[:, 0] - columns[:, 1]) ** 2 / columns[:, 2]
    found = linprog(-gains, A_eq=columns.T, b_eq=np.ones(3))
    stated = (growth - 1.0) ** 2 * max(1.0 / growth, 2.0 / (growth + 2.0))
    assert -found.fun == pytest.approx(stated, rel=1e-9)
    assert stated <= 2.0 * (growth - 1.0) ** 2 / (growth + 1.0)


@pytest.mark.parametrize("values", [3, 4])
@pytest.mark.parametrize("reports", [1, 2, 7])
def test_responses_over_three_values_are_counted_right(values, reports):
    local = 1.3
    table = np.ones((values, values)) + math.expm1(local) * np.eye(values)
    table /= table.sum(axis=1, keepdims=True)
    merged = np.column_stack([table[:, :2], table[:, 2:].sum(axis=1)])
    others = [2] * (reports - 1)
    law = shuffled_law(merged, [0, *others], [1, *others])
    for epsilon in (0.0, 0.2, 0.8, 1.2):
        lower, upper = TernaryResponses(local, reports, values).delta_bracket(epsilon)
        assert lower * (1 - 1e-13) <= law.delta(epsilon) <= upper * (1 + 1e-13)
        assert law.reversed().delta(epsilon) == pytest.approx(law.delta(epsilon), rel=1e-12)
        assert upper - lower <= 1e-9 * upper


def test_blocks_of_reports_enclose_what_all_of_them_give(monkeypatch):
    exact = TernaryResponses(1.0, 50_000).delta_bracket(0.02)
    monkeypatch.setattr("simulator.theory.laws.clone_sums.WORK", 2e4)
    lower, upper = TernaryResponses(1.0, 50_000).delta_bracket(0.02)
    assert lower < exact.lower <= exact.upper < upper < lower * 1.3


@pytest.mark.parametrize(
    ("local", "reports", "delta", "most"),
    [
        (0.2, 100, 1e-6, 1.035), (3.73, 10**4, 1e-6, 1.0135),
        pytest.param(0.1, 10**4, 1e-12, 1.025, marks=pytest.mark.nightly),
        pytest.param(2.5, 10**4, 1e-6, 1.045, marks=pytest.mark.nightly),
        pytest.param(math.log(2.0), 10**4, 1e-6, 1.17, marks=pytest.mark.nightly),
        pytest.param(5.0, 10**8, 1e-12, 1.0045, marks=pytest.mark.nightly),
    ],
)  # fmt: skip
def test_both_ends_are_as_close_as_stated(local, reports, delta, most):
    rounds = Composition.repeat(ShuffledDP(local, reports), 1)
    above = bound("clones-numerical").on(rounds).epsilon(delta).upper
    below = bound("shuffled-randomized-response").on(rounds).epsilon(delta).lower
    assert 0.0 < below <= above <= most * below


def test_more_pairs_of_binary_responses_add_little():
    first = response_epsilon(0.5, 20_000, 1e-6)
    assert list(pairs_tried(20_000)) == [0]
    assert response_epsilon(0.5, 9_999, 1e-6).upper > first.lower
    assert 0.0 <= first.width <= 1e-8
