"""Composition on lines, and grid laws: against convolution, simulation, engines and libraries."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest

from simulator.theory import (
    FiniteLaw,
    GaussianLaw,
    LaplaceLaw,
    PoissonSubsampledLaw,
    compose_laws,
    randomized_response,
)
from simulator.theory.bounds import comparison
from simulator.theory.bracket import Bracket
from simulator.theory.laws.discrete import discrete_gaussian
from simulator.theory.laws.gaussian_curve import gaussian_delta, gaussian_epsilon
from simulator.theory.laws.quantile import loss_range
from simulator.theory.pld import distribution, enclosing_lines, jump_terms, lines_query
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.distribution import PLD, largest_delta
from simulator.theory.pld.enclosing_lines import enclosing_tails
from simulator.theory.pld.few_points import few_points
from simulator.theory.pld.grid_laws import enclosing_grid_laws, round_step
from simulator.theory.pld.jump_terms import Plan
from simulator.theory.pld.lines_query import LinesQuery
from simulator.theory.pld.tail import TINY
from tests.helpers.by_answers import ByAnswers
from tests.helpers.laws import subsampled_gaussian


@pytest.fixture(autouse=True)
def by_atoms(monkeypatch):
    """Sampled Gaussians are enclosed by atoms here, as laws without a transform are."""
    monkeypatch.setattr(lines_query, "sampled_tail", lambda *arguments: None)
    monkeypatch.setattr(enclosing_lines, "_serves", lambda *arguments: False)
    distribution._composed.cache_clear()
    yield
    distribution._composed.cache_clear()


BOTH = [subsampled_gaussian(1.0, 0.05), subsampled_gaussian(1.0, 0.05).reversed()]


@pytest.mark.nightly
@pytest.mark.parametrize("law", BOTH, ids=["add", "remove"])
@pytest.mark.parametrize("rounds", [2, 3])
def test_few_rounds_are_their_convolution(law, rounds):
    composed = compose_laws([(law, rounds)], 1e-6)
    for epsilon in (-0.05, 0.02, 0.09):
        exact = ByAnswers(law, {2: 2001, 3: 801}[rounds]).delta(rounds, epsilon)
        found = composed.delta(epsilon)
        assert found.lower <= exact * (1 + 1e-8)
        assert found.upper >= exact * (1 - 1e-8)
        assert found.width <= 1e-5 * found.upper


@pytest.mark.parametrize("law", BOTH, ids=["add", "remove"])
def test_thirty_rounds_are_what_is_simulated(law):
    # The mean of values in [0, 1] is off by more than the margin with probability 1e-9 at most
    # (Hoeffding).
    rounds, trials, epsilon = 30, 120_000, 0.2
    generator = np.random.default_rng(13)
    x = generator.normal(0, (1 / law.base.mu), (trials, rounds))
    if law.exchanged:
        x += generator.random((trials, rounds)) < law.rate
    ratio = 1 - law.rate + law.rate * np.exp((x - 0.5) / (1 / law.base.mu) ** 2)
    losses = (np.log(ratio) if law.exchanged else -np.log(ratio)).sum(axis=1)
    mean = np.maximum(-np.expm1(epsilon - losses), 0).mean()
    margin = np.sqrt(np.log(2e9) / (2 * trials))
    found = compose_laws([(law, rounds)], 1e-5).delta(epsilon)
    assert abs(found.midpoint - mean) <= margin
    assert margin < 0.2 * mean  # it is a test


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("delta", [0.1, 1e-6, 1e-12, 1e-30])
@pytest.mark.parametrize("closed", [(), enclosing_lines.CLOSED], ids=["atoms", "closed"])
def test_gaussians_on_lines_are_gaussian(delta, closed, monkeypatch):
    # The engine does not know that their sum has a closed form.
    for module in (enclosing_lines, jump_terms):
        monkeypatch.setattr(module, "CLOSED", closed)
    found = LinesQuery(CountedLaws.of([(GaussianLaw(0.3), 40)]), 1e-6).epsilon(delta)
    exact = gaussian_epsilon(0.3 * np.sqrt(40), delta)
    assert found.lower <= exact <= found.upper
    assert found.width <= 1e-6 * found.upper


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("delta", [0.05, 1e-8, 1e-30])
@pytest.mark.parametrize("law", BOTH, ids=["add", "remove"])
def test_brackets_of_coarse_and_fine_lines_intersect(law, delta):
    coarse, fine = (
        compose_laws([(law, 200)], tolerance).epsilon(delta) for tolerance in (1e-3, 1e-6)
    )
    coarse.meet(fine)
    assert 0 < fine.width <= 1e-6 * fine.upper
    assert coarse.width <= 1e-3 * coarse.upper


@pytest.mark.nightly
def test_delta_and_epsilon_are_inverse():
    composed = compose_laws([(BOTH[1], 100)], 1e-6)
    epsilon = composed.epsilon(1e-7)
    assert composed.delta(epsilon.upper * (1 + 1e-9)).lower <= 1e-7
    assert composed.delta(epsilon.lower * (1 - 1e-9)).upper >= 1e-7


def test_other_laws_are_composed_on_the_same_line():
    mixed = compose_laws([(BOTH[1], 20), (GaussianLaw(0.4), 2), (LaplaceLaw(0.1), 1)], 1e-4)
    bracket = mixed.epsilon(1e-6)
    assert bracket.width <= 1e-3 * bracket.upper
    without = compose_laws([(BOTH[1], 20), (GaussianLaw(0.4), 2)], 1e-4).epsilon(1e-6)
    assert without.upper < bracket.lower
    assert bracket.upper < without.upper + 0.1 + 1e-9


GRID_CASES = [
    (subsampled_gaussian(1.0, 0.05), 5e-4),
    (subsampled_gaussian(1.0, 0.05, True), 2e-3),
    (GaussianLaw(0.3), 0.01),
    (LaplaceLaw(0.3), 0.011),
    (FiniteLaw.from_probabilities([0.2, 0.5, 0.3], [0.4, 0.35, 0.25]), 0.013),
]


def curve(law, epsilon):
    return law.infinite_mass + np.maximum(-np.expm1(epsilon - law.losses), 0) @ law.masses


def test_a_curve_is_answered_alike_in_any_order_and_by_few_compositions(monkeypatch):
    """Which anchor answers follows from the question alone; its ends hold beside finer ones."""
    made = []
    monkeypatch.setattr(
        lines_query,
        "enclosing_tails",
        lambda *arguments: made.append(arguments) or enclosing_tails(*arguments),
    )
    deltas = np.logspace(-2, -9, 25)
    upward, downward = (LinesQuery(CountedLaws.of([(BOTH[0], 60)]), 1e-4) for _ in range(2))
    first = [upward.epsilon(float(delta)) for delta in deltas]
    compositions = len(made)
    assert compositions <= 12
    assert [downward.epsilon(float(delta)) for delta in deltas[::-1]] == first[::-1]
    finer = LinesQuery(CountedLaws.of([(BOTH[0], 60)]), 1e-6)
    for delta, found in zip(deltas[::6], first[::6]):
        assert found.width <= 1e-4 * found.upper
        exact = finer.epsilon(float(delta))
        assert found.lower <= exact.lower <= exact.upper <= found.upper


@pytest.mark.parametrize(("law", "step"), GRID_CASES, ids=str)
def test_one_round_lies_between_the_grid_laws(law, step):
    lower, upper = enclosing_grid_laws(law, round_step(step), loss_range(law, 1e-30))
    low, high = loss_range(law, 1e-6)
    assert lower.masses.min() >= 0
    for epsilon in np.linspace(low, high, 101):
        exact = law.delta(epsilon)
        assert curve(lower, epsilon) <= exact * (1 + 1e-10) + 1e-16
        assert curve(upper, epsilon) >= exact * (1 - 1e-10) - 1e-16


@pytest.mark.parametrize("exchanged", [False, True])
def test_cells_taken_from_a_similar_law_are_as_fine(exchanged):
    """Both laws enclose the curve, as closely as with cells of their own."""
    law, other = (subsampled_gaussian(1.0, rate, exchanged) for rate in (0.05, 0.06))
    step, reach = round_step(2e-4), loss_range(law, 1e-16)
    _, similar = enclosing_grid_laws(other, step, loss_range(other, 1e-16), 3.0)
    own = enclosing_grid_laws(law, step, reach, 3.0)
    taken = enclosing_grid_laws(law, step, reach, 3.0, start=similar.points)
    assert not np.array_equal(own[0].points, taken[0].points)
    epsilons = np.linspace(*loss_range(law, 1e-8), 60)
    gaps = []
    for lower, upper in (own, taken):
        for epsilon in epsilons:
            exact = law.delta(epsilon)
            assert curve(lower, epsilon) <= exact * (1 + 1e-10) + 1e-16
            assert curve(upper, epsilon) >= exact * (1 - 1e-10) - 1e-16
        gaps.append(sum(curve(upper, e) - curve(lower, e) for e in epsilons))
    assert gaps[1] <= 1.2 * gaps[0]


@pytest.mark.parametrize("mass", [0.3, 1e-6, 1e-30])
def test_a_range_has_that_mass_outside_and_not_much_less(mass):
    for law in (*BOTH, GaussianLaw(0.7)):
        low, high = loss_range(law, mass)
        assert law.sf(high) <= mass * (1 + 1e-9)
        assert law.cdf(low) <= mass * (1 + 1e-9)
        if high < law.support[1]:
            assert law.sf(0.98 * high) > mass
        if low > law.support[0]:
            assert law.cdf(0.98 * low) > mass


def test_the_grid_laws_close_in_second_order():
    law, gaps = subsampled_gaussian(1.0, 0.05, True), []
    for step in (4e-3, 2e-3, 1e-3):
        lower, upper = enclosing_grid_laws(law, round_step(step), loss_range(law, 1e-20))
        epsilons = np.linspace(0.1, 0.2, 200)
        gaps.append(max(curve(upper, e) - curve(lower, e) for e in epsilons))
    assert gaps[0] / gaps[1] == pytest.approx(4, rel=0.15)
    assert gaps[1] / gaps[2] == pytest.approx(4, rel=0.15)


@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize(
    ("sigma", "rate", "step"), [(0.5, 1e-4, 2e-6), (2.0, 0.2, 4e-5), (1, 0.01, 1e-4)]
)
def test_the_lower_law_keeps_both_masses_to_its_steep_ends(sigma, rate, step, exchanged):
    """A lower law that lost P1-mass at an end would be off in first order, in every round."""
    law = subsampled_gaussian(sigma, rate, exchanged)
    lower, upper = enclosing_grid_laws(law, round_step(step), loss_range(law, 1e-16), theta=4.0)
    assert lower.masses.min() >= 0
    assert lower.masses.sum() == pytest.approx(1.0, abs=1e-12)
    assert float(lower.masses @ np.exp(-lower.losses)) == pytest.approx(1.0, abs=1e-12)
    assert float((upper.masses - lower.masses) @ upper.losses) <= 0.5 * step**2
    for epsilon in np.r_[lower.losses[:40], np.linspace(*loss_range(law, 1e-9), 40)]:
        exact = law.delta(epsilon)
        assert curve(lower, epsilon) <= exact * (1 + 1e-10) + 1e-16
        assert curve(upper, epsilon) >= exact * (1 - 1e-10) - 1e-16


def test_chords_that_are_not_lowered_are_no_lower_curve():
    law = subsampled_gaussian(1.0, 0.05, True)
    _, upper = enclosing_grid_laws(law, round_step(2e-3), loss_range(law, 1e-30))
    epsilons = np.linspace(0.1, 0.2, 301)
    assert any(curve(upper, e) > law.delta(e) * (1 + 1e-6) for e in epsilons)


def test_steps_make_exact_grids():
    for step in (1.2345e-5, 0.1, 3.0):
        short = round_step(step)
        assert 0 <= step - short <= 2e-6 * step
        assert all((short * n) / n == short for n in (3, 12345, 4_000_003))


@pytest.mark.parametrize(("sigma", "rate", "rounds"), [(1.0, 0.01, 1000), (0.8, 0.1, 50)])
def test_dp_accounting_encloses_the_same_answer(sigma, rate, rounds):
    reason = "dp-accounting is not installed; it is in the extra conform"
    library = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution", reason=reason)
    law = subsampled_gaussian(sigma, rate)
    found = [compose_laws([(each, rounds)], 1e-6).epsilon(1e-6) for each in (law, law.reversed())]
    ours = max(found, key=lambda bracket: bracket.upper)
    theirs = [
        library.from_gaussian_mechanism(
            sigma,
            sampling_prob=rate,
            value_discretization_interval=1e-4,
            pessimistic_estimate=pessimistic,
        )
        .self_compose(rounds)
        .get_epsilon_for_delta(1e-6)
        for pessimistic in (False, True)
    ]
    assert theirs[0] <= ours.upper
    assert ours.lower <= theirs[1]


def test_laws_whose_atoms_share_no_grid_are_certified_all_the_same():
    """Two rounds of each: all sums of losses by a fine grid of their own, under both."""
    laws = [PoissonSubsampledLaw(LaplaceLaw(1.0), 0.3), PoissonSubsampledLaw(LaplaceLaw(0.7), 0.2)]
    found = compose_laws([(law, 2) for law in laws], 1e-5).delta(0.3)
    generator = np.random.default_rng(3)
    total = np.zeros(400_000)
    for law, epsilon in zip(laws, (1.0, 0.7)):
        for _ in range(2):
            y = generator.laplace(0, 1 / epsilon, total.size)
            base = epsilon * (np.abs(y - 1) - np.abs(y))
            total += -np.log1p(law.rate * np.expm1(-base))
    gains = np.maximum(-np.expm1(0.3 - total), 0.0)
    spread = 6 * gains.std() / math.sqrt(gains.size)  # 6 deviations: a false alarm in 1e-9
    assert found.lower - spread <= gains.mean() <= found.upper + spread
    assert found.width < 1e-2 * found.upper


@pytest.mark.nightly
def test_a_row_that_misses_its_tolerance_says_by_how_much(monkeypatch):
    rounds = [(subsampled_gaussian(4.0, 0.1), 2)]
    row = comparison.true_row(comparison.EpsilonAt(1e-5), rounds, both=True)
    assert "apart" not in row.source
    monkeypatch.setattr(comparison, "grid_tolerance", lambda laws: 1e-12)
    row = comparison.true_row(comparison.EpsilonAt(1e-5), rounds, both=True)
    relative = row.answer.width / row.answer.upper
    assert row.source.endswith(f"the ends are {relative:.2g} apart, relatively")


FAR = PLD.from_law(subsampled_gaussian(0.855, 0.0357)).self_compose(100)
"""Its losses are at most 3.64: delta(3.62) is below the doubles, and 1e-5 when reversed."""


@pytest.mark.sampled
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 2.6])
@pytest.mark.parametrize("pld", [FAR, FAR.reversed()], ids=["one", "other"])
def test_chernoffs_bound_is_above_delta(pld, epsilon):
    true = pld.delta(epsilon)
    assert true.upper <= pld._at_most(epsilon)
    if true.upper < 1e-3:  # a bound that stands in for delta loses a few digits, not all
        assert pld._at_most(epsilon) <= 1e3 * true.upper


def test_a_delta_below_the_doubles_takes_no_composition(monkeypatch):
    monkeypatch.setattr(lines_query, "enclosing_tails", None)  # a call would raise
    assert FAR.delta(3.62) == Bracket(0.0, TINY)


@pytest.mark.sampled
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 2.6, 3.62, 5.0])
def test_the_largest_delta_is_that_of_all_directions(epsilon):
    both = FAR, FAR.reversed()
    each = Bracket.largest(one.delta(epsilon) for one in both)
    assert largest_delta(both, epsilon) == each


@pytest.mark.parametrize("exchanged", [False, True], ids=["add", "remove"])
def test_losses_of_a_millionth_are_their_convolution(exchanged):
    """Three rounds at a rate of 1e-6: no grid that serves other laws resolves them."""
    law = subsampled_gaussian(8.0, 1e-6, exchanged)
    found = PLD.of([(law, 3)], 1e-4).epsilon(1e-27)
    assert found.width <= 1e-4 * found.upper
    exact = ByAnswers(law, 601, reach=14.0)
    assert exact.delta(3, found.lower) >= 1e-27 * (1 - 1e-6)
    assert exact.delta(3, found.upper) <= 1e-27 * (1 + 1e-6)
    assert found.upper >= found.lower > PLD.from_law(law).epsilon(1e-27).lower  # of one round


def by_direct_convolution(law, rounds, top, points, epsilon):
    """Bracket of delta: losses rounded down or up to a grid, and sums without a transform.

    No term is negative, so that all of them keep their digits.
    """
    step, found = top / points, []
    edges = step * np.arange(-points // 8, points + 1)
    for up in (False, True):
        masses = law.continuous_masses(np.r_[-np.inf, edges, np.inf])[0]
        one, lost = (masses[:-1], masses[-1]) if up else (masses[1:], 0.0)
        total, first = np.ones(1), -points // 8 * rounds
        for _ in range(rounds):
            total = np.convolve(total, one)
        losses = step * (first + np.arange(total.size))
        gains = np.maximum(-np.expm1(epsilon - losses), 0.0)
        found.append(float(total @ gains) + rounds * lost)
    return found


@pytest.mark.parametrize("rounds", [4, pytest.param(20, marks=pytest.mark.nightly)])
def test_one_large_loss_among_small_ones_is_their_direct_convolution(rounds):
    """One tilt serves either the many small losses or the large one that makes delta."""
    law = subsampled_gaussian(2.65, 4.4e-6, True)
    query = LinesQuery(CountedLaws.of([(law, rounds)]), 1e-4)
    found = query.epsilon(1.2e-23)
    assert found.width <= 1e-4 * found.upper
    assert len(query._plan(math.log(1.2e-23), 1e-3, None).terms) > 1
    low = by_direct_convolution(law, rounds, 4e-4, 2000, found.lower)
    high = by_direct_convolution(law, rounds, 4e-4, 2000, found.upper)
    assert low[1] >= 1.2e-23 >= high[0]
    assert low[0] > 0.5e-23  # it is a test
    assert high[1] < 2e-23


def test_what_is_uncertain_is_not_forgotten():
    """Each source of error, set to nothing, makes a bracket that is wrong or too narrow."""
    law = subsampled_gaussian(2.65, 4.4e-6, True)
    parts = CountedLaws.of([(law, 20)])
    fine = PLD.of([(law, 20)], 1e-5).delta(1.2e-4)
    plan = Plan.of(parts, math.log(fine.upper), 0.1, jumps=True)
    below, above = enclosing_tails(plan, 1.2e-4, math.log(fine.upper), 0.1)
    assert below.at(1.2e-4).lower <= fine.lower <= fine.upper <= above.at(1.2e-4).upper
    careless = [
        (dataclasses.replace(tail, smoothing=0.0) if hasattr(tail, "smoothing") else tail, times)
        for tail, times in below.terms
    ]
    assert dataclasses.replace(below, terms=tuple(careless)).at(1.2e-4).lower > fine.upper
    first = dataclasses.replace(plan, terms=plan.terms[:1])
    alone = enclosing_tails(first, 1.2e-4, math.log(fine.upper), 0.1)[1]
    assert alone.at(1.2e-4).upper < fine.lower


WEAK = {
    "rare and small": ([(subsampled_gaussian(1.5, 6e-6, True), 3000)], 5e-18),
    "low noise": ([(subsampled_gaussian(0.114, 6e-4, True), 125_718)], 7e-10),
    "sampled Laplace": ([(PoissonSubsampledLaw(LaplaceLaw(1 / 26.2325), 0.170777), 182)], 1e-29),
    "discrete": ([(discrete_gaussian(79.0), 16_870)], 1e-6),
    "ranges between atoms": (
        [
            (subsampled_gaussian(0.811, 0.00558, True), 5),
            (PoissonSubsampledLaw(discrete_gaussian(0.468), 9.42e-5, True), 1385),
            (PoissonSubsampledLaw(LaplaceLaw(1 / 28.0), 1.329e-6, True), 35_903),
        ],
        1e-10,
    ),
    "a steep edge": ([(subsampled_gaussian(0.3, 0.01, True), 50)], 1e-12),
    "mixed": (
        [
            (GaussianLaw(1 / 6), 5),
            (randomized_response(0.11), 20),
            (randomized_response(0.23), 9),
            (subsampled_gaussian(1.3, 0.02, True), 60),
            (subsampled_gaussian(2.1, 0.013, True), 40),
            (PoissonSubsampledLaw(LaplaceLaw(1 / 3.3), 0.05, True), 30),
        ],
        1e-6,
    ),
}


@pytest.mark.sampled(n=4)
@pytest.mark.parametrize("name", WEAK)
def test_a_bracket_is_narrow_and_lies_in_a_wider_one_of_other_lines(name):
    rounds, delta = WEAK[name]
    fine, wide = (PLD.of(rounds, each).epsilon(delta) for each in (1e-5, 1e-3))
    assert 0.0 < fine.width <= 1e-5 * fine.upper
    assert wide.lower <= fine.lower <= fine.upper <= wide.upper


def test_a_millionth_of_the_answer_is_what_is_asked_of_mixed_rounds():
    rounds, delta = WEAK["mixed"]
    found = PLD.of(rounds, 1e-6).epsilon(delta)
    assert found.width <= 1e-6 * found.upper


def test_a_law_of_many_losses_is_estimated_by_few():
    law = discrete_gaussian(300.0)
    few = few_points(law)
    assert few.losses.size <= 512 < 8192 < law.losses.size
    assert few_points(discrete_gaussian(10.0)) == discrete_gaussian(10.0)
    thetas = np.array([1.0, 100.0, 1000.0])
    within = (78.0 / 512) ** 2 / 12  # the variance of a group, in variances of the law
    assert few.log_mgf(thetas) == pytest.approx(law.log_mgf(thetas), rel=1.1 * within)


def test_many_rounds_of_wide_discrete_noise_are_gaussian():
    """The sum of the answers is a discrete Gaussian but for exp(-sigma^2), finer than its slope."""
    sigma, rounds, epsilon = 150.0, 1250, 1.5
    found = PLD.of([(discrete_gaussian(sigma), rounds)], 1e-6).delta(epsilon)
    assert found.width <= 2e-5 * found.upper
    limit = gaussian_delta(math.sqrt(rounds) / sigma, epsilon)
    assert found.lower <= limit <= found.upper


def test_a_bracket_is_narrow_beside_its_upper_end():
    query, line = (
        LinesQuery(CountedLaws.of([(BOTH[0], 60)]), 1e-4),
        SimpleNamespace(is_line=False, is_finest=False),
    )
    for upper in (1e-9, 1.0, 50.0):
        assert query._is_narrow(Bracket(upper * (1 - 0.9e-4), upper), line)
        assert not query._is_narrow(Bracket(upper * (1 - 1.1e-4), upper), line)
    assert query._is_narrow(Bracket(0.0, 0.0), line)
    assert not query._is_narrow(Bracket(1.0, math.inf), line)
