"""The best of several runs: its law by enumeration, its plays, and the guarantees it keeps."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from simulator import PureDP, simulate
from simulator.data.databases import Database
from simulator.data.queries import counting_query
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.mechanisms import Cells, Gaussian, Laplace, RandomizedResponse, Table
from simulator.teaching.mechanisms import BestOf, FixedRuns, NegativeBinomialRuns, PoissonRuns
from simulator.teaching.mechanisms.best_of import best_of_guarantee, best_of_law
from simulator.theory import ApproxDP, GaussianDP, compose_laws
from simulator.theory.laws.finite import FiniteLaw
from tests.helpers.cases import case
from tests.helpers.mechanism_cases import chi_square

ALICE = counting_query("alice")
WITH, WITHOUT = Database({"alice": 1, "others": 3}), Database({"others": 3})
COUNTS = [
    *(NegativeBinomialRuns.of_mean(4.0, shape) for shape in (1.0, 0.0, 0.5, -0.5, 3.0)),
    NegativeBinomialRuns.of_mean(1.0),
    PoissonRuns(4.0),
    FixedRuns(4),
]
LOW = (0.1, 0.2, 0.3, 0.4)
HIGH = (0.4, 0.1, 0.2, 0.3)


def chances(runs, most=1200):
    """Pr[K = k] for k = 0, 1, ..., by the definition of the law."""
    k = np.arange(most)
    if isinstance(runs, FixedRuns):
        return (k == runs.number).astype(float)
    if isinstance(runs, PoissonRuns):
        return stats.poisson.pmf(k, runs.rate)
    if runs.gamma == 1.0:
        return (k == 1).astype(float)
    rising = np.cumsum(np.log((k[1:-1] + runs.shape) / (k[1:-1] + 1.0)))
    logs = np.r_[0.0, rising] + k[1:] * math.log(1.0 - runs.gamma)
    weights = np.exp(logs)  # (shape)_k / k! up to the factor |shape|, which is 1 of k = 1
    return np.r_[0.0, weights / weights.sum()]


@pytest.mark.sampled(n=12)
@pytest.mark.parametrize("runs", COUNTS, ids=str)
@pytest.mark.parametrize("scores", [(0, 1, 2, 3), (3, 1, 2, 0), (0, 1, 1, 0)])
def test_the_law_is_that_of_the_enumerated_numbers_of_runs(runs, scores):
    law = np.array(LOW)
    expected = np.zeros(5)
    for k, chance in enumerate(chances(runs)):
        for y in range(4):
            tied = [j for j in range(4) if scores[j] == scores[y]]
            below = sum(law[j] for j in range(4) if scores[j] < scores[y])
            upto = below + law[tied].sum()
            if k:
                expected[y] += chance * (upto**k - below**k) * law[y] / law[tied].sum()
            elif y == 0:
                expected[4] += chance
    found = best_of_law(LOW, scores, runs)
    assert found == pytest.approx(expected[: len(found)], abs=2e-8)
    assert len(found) == 4 + (runs.none > 0.0)
    assert runs.mean == pytest.approx(float(np.arange(1200) @ chances(runs)), rel=1e-6)


def test_ties_are_broken_by_the_first_of_the_best_runs():
    scores = (0, 1, 1, 0)
    expected = np.zeros(4)
    for outcomes in itertools.product(range(4), repeat=3):
        winner = max(outcomes, key=lambda y: scores[y])  # the first of equals
        expected[winner] += np.prod([LOW[y] for y in outcomes])
    assert best_of_law(LOW, scores, FixedRuns(3)) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("runs", COUNTS, ids=str)
def test_tiny_probabilities_keep_their_digits(runs):
    """The least and the greatest of three cells, against 60 digits."""
    tiny = 1e-13
    found = runs.between([0.0, tiny, 1 - tiny], [tiny, 1 - 2 * tiny, tiny], [1 - tiny, tiny, 0.0])

    def generating(x):
        if isinstance(runs, FixedRuns):
            return x**runs.number
        if isinstance(runs, PoissonRuns):
            return mpmath.exp(runs.rate * (x - 1))
        gamma, shape = mpmath.mpf(runs.gamma), mpmath.mpf(runs.shape)
        if gamma == 1:
            return x
        if shape == 0:
            return mpmath.log(1 - (1 - gamma) * x) / mpmath.log(gamma)
        return ((1 - (1 - gamma) * x) ** -shape - 1) / (gamma**-shape - 1)

    with mpmath.workdps(60):
        ends = [generating(x) for x in (mpmath.mpf(0), mpmath.mpf(tiny), 1 - mpmath.mpf(tiny), 1)]
        expected = [float(high - low) for low, high in itertools.pairwise(ends)]
    assert found == pytest.approx(expected, rel=1e-11)


@pytest.mark.sampled(n=3)
@pytest.mark.parametrize("runs", COUNTS, ids=str)
def test_runs_that_are_really_drawn_have_this_law(runs):
    """8,000 selections from drawn runs; a false alarm has probability 1e-6 per case."""
    draws = np.random.default_rng(5)
    ks = draws.choice(1200, p=chances(runs) / chances(runs).sum(), size=8_000)
    seen = np.zeros(5, dtype=int)
    for k in ks:
        outcomes = draws.choice(4, p=HIGH, size=k)
        seen[outcomes.max() if k else 4] += 1
    law = best_of_law(HIGH, range(4), runs)
    assert chi_square(seen[: len(law)], law) > 1e-6
    assert chi_square(seen[: len(law)], np.roll(law, 1)) < 1e-6


def test_selections_compose_in_the_experiment_as_any_mechanism():
    """Three selections, adaptively chosen: plays and tilted plays meet the exact composition."""
    best = BestOf(Table(ALICE, LOW, HIGH), NegativeBinomialRuns.of_mean(3.0))

    def select_thrice(coins):
        for _ in range(3):
            yield WITH, WITHOUT, best

    exact = compose_laws([(best.law(WITH, WITHOUT), 3)], 1e-9).delta(2.0)
    family = best.guarantee()
    plain = simulate(select_thrice, family, 3, 4000, seed=3, jobs=1).delta(2.0, confidence=0.9999)
    assert plain.lower <= exact.upper
    assert plain.upper >= exact.lower
    from simulator.analysis import Tilted

    tilted = simulate(select_thrice, family, 3, 4000, seed=3, jobs=1, sampling=Tilted(2.0)).delta(
        2.0, confidence=0.9999
    )
    assert tilted.lower <= exact.upper
    assert tilted.upper >= exact.lower


def nested(epsilon, delta, points=400):
    """Points (q, t) of the region in which two distribution functions can be, by its definition."""
    q, t = np.meshgrid(np.linspace(0, 1, points + 1), np.linspace(0, 1, points + 1))
    grow = math.exp(epsilon)
    inside = (q <= grow * t + delta) & (1 - t <= grow * (1 - q) + delta)
    return q[inside], t[inside]


def slope(runs, x, step=1e-6):
    """f'(x), from the probability of a small cell at x."""
    start = np.clip(x - step / 2, 0.0, 1.0 - step)
    return runs.between(start, np.full_like(x, step), 1.0 - start - step) / step


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.1])
@pytest.mark.parametrize("runs", COUNTS, ids=str)
def test_the_growth_is_the_largest_in_the_region(runs, delta):
    q, t = nested(0.7, delta)
    keep = (t > 1e-3) | (not isinstance(runs, FixedRuns))
    searched = float(np.log(slope(runs, q[keep]) / slope(runs, t[keep])).max())
    growth = runs.growth(0.7, delta)
    assert searched <= growth + 1e-4
    if math.isfinite(growth):
        assert searched == pytest.approx(growth, abs=0.04)
    else:
        low, high = slope(runs, np.array([2e-6, delta]))
        assert math.log(high / low) > 10.0


def test_no_random_base_pair_exceeds_the_guarantee():
    """Random pairs, pure and approximate, in random order of scores."""
    draws = np.random.default_rng(8)
    nearest = 0.0
    for trial in range(300):
        runs = COUNTS[trial % len(COUNTS)]
        on_0, on_1 = draws.dirichlet(np.full(5, 0.8), size=2)
        if trial % 2:  # an outcome of one database only
            on_0, on_1 = np.r_[0.9 * on_0, 0.1, 0.0], np.r_[0.9 * on_1, 0.0, 0.1]
        base = Table(ALICE, on_0 / on_0.sum(), on_1 / on_1.sum())
        scores = tuple(draws.permutation(len(on_0)))
        best = BestOf(base, runs, scores)
        law = best.law(WITHOUT, WITH)
        promised = best.guarantee()
        with case(f"{trial}: {runs}"):
            attained = law.delta(promised.epsilon)
            limit = promised.delta if isinstance(promised, ApproxDP) else 0.0
            assert attained <= limit + 1e-12
            if not trial % 2:
                reached = max(map(abs, law.support))
                assert reached <= promised.epsilon
                nearest = max(nearest, reached / promised.epsilon)
            else:
                for reverse in (law, law.reversed()):
                    assert reverse.delta(promised.epsilon) <= limit + 1e-12
    assert nearest > 0.75


def test_a_gaussian_run_keeps_the_renyi_curve():
    cuts = tuple(np.linspace(-4, 5, 60))
    for runs in (NegativeBinomialRuns.of_mean(8.0), PoissonRuns(8.0)):
        best = BestOf(Cells(Gaussian(ALICE, 2.0), cuts), runs)
        largest = 0.0
        curve = best.guarantee()
        assert curve.pure_epsilon == math.inf
        for law in (best.law(WITHOUT, WITH), best.law(WITH, WITHOUT)):
            for order in (2.0, 4.0, 16.0):
                exact = float(law.log_mgf(order - 1.0)) / (order - 1.0)
                assert exact <= curve.renyi(order)
                largest = max(largest, exact / GaussianDP(0.5).renyi(order))
        assert largest > 1.4  # one run's curve is passed


def test_the_runs_of_a_fixed_number_cost_epsilon_each():
    best = BestOf(RandomizedResponse(ALICE, 0.5), FixedRuns(6))
    law = best.law(WITHOUT, WITH)
    assert law.support[1] == pytest.approx(3.0, rel=1e-12)
    assert best.guarantee() == PureDP(best.guarantee().epsilon)
    assert best.guarantee().epsilon == pytest.approx(3.0, rel=1e-9)


def test_bad_input_is_one_line():
    base = Table(ALICE, LOW, HIGH)
    with pytest.raises(InvalidInput, match="runs must be a law such as FixedRuns"):
        BestOf(base, 10)
    with pytest.raises(InvalidInput, match="scores must be finite"):
        BestOf(base, FixedRuns(2), (0.0, 1.0, math.nan, 2.0))
    with pytest.raises(InvalidInput, match="4 outcomes, and there are 3 scores"):
        BestOf(base, FixedRuns(2), (0.0, 1.0, 2.0)).law(WITHOUT, WITH)
    with pytest.raises(NotApplicable, match="cut it into Cells"):
        BestOf(Laplace(ALICE, 1.0), FixedRuns(2)).pair(WITHOUT, WITH)
    with pytest.raises(NotApplicable, match="no guarantee is stated here for the best of"):
        best_of_guarantee(GaussianDP(1.0), FixedRuns(3))
    with pytest.raises(InvalidInput, match="the mean number of runs must be at least 1"):
        NegativeBinomialRuns.of_mean(0.5)
    with pytest.raises(InvalidInput, match="shape must be above -1"):
        NegativeBinomialRuns(-1.0, 0.5)
    with pytest.raises(InvalidInput, match="the mean number of runs must be positive"):
        PoissonRuns(0.0)
    assert FiniteLaw.from_probabilities(LOW, LOW).support == (0.0, 0.0)
