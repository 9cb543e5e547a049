"""The blanket of one randomizer, against exact enumeration and the clones' binomial sums."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory import (
    FiniteLaw,
    GaussianLaw,
    LaplaceLaw,
    ShuffledRounds,
    compose_laws,
    shuffled_law,
)
from simulator.theory.laws import shuffled_blanket
from simulator.theory.laws.above_curve import law_above
from simulator.theory.laws.clones import ClonePair
from simulator.theory.laws.lattice_sums import LatticeTerms
from simulator.theory.laws.shuffled_blanket import ShuffledBlanket
from simulator.theory.laws.ternary_responses import TernaryResponses


def response(local, values):
    table = np.ones((values, values)) + math.expm1(local) * np.eye(values)
    return table / table.sum(axis=1, keepdims=True)


def cells_of(cdf, inputs=(0.0, 1.0, 0.5)):
    """Additive noise on three inputs, seen in four cells."""
    edges = np.array([-np.inf, 0.0, 0.5, 1.0, np.inf])
    return np.array([np.diff(cdf(edges - x)) for x in inputs])


def laplace_cdf(y):
    return np.where(y < 0, np.exp(np.minimum(y, 0)) / 2, 1 - np.exp(-np.maximum(y, 0)) / 2)


TABLES = {
    "response of 2": response(1.0, 2),
    "response of 3": response(1.5, 3),
    "Laplace": cells_of(laplace_cdf),
    "Gaussian": cells_of(norm(scale=0.7).cdf),
}


def worst_part(table, scale=1.0):
    """The largest exact delta over the blanket's bound, for all databases of others, n <= 5."""
    worst, law = 0.0, FiniteLaw.from_probabilities(table[0], table[1])
    assert (table >= np.minimum(table[0], table[1]) * (1 - 1e-12)).all()
    for reports in (1, 2, 5):
        for epsilon in (0.0, 0.3, 0.7):
            above = bound_with(law, reports, epsilon, scale)
            for others in itertools.combinations_with_replacement(range(len(table)), reports - 1):
                exact = shuffled_law(table, [0, *others], [1, *others])
                delta = max(exact.delta(epsilon), exact.reversed().delta(epsilon))
                worst = max(worst, delta / max(above, 1e-9))
    return worst


def bound_with(law, reports, epsilon, scale):
    """The bound with so much more blanket than there is."""
    if scale == 1.0:
        return ShuffledBlanket(law, reports).delta(epsilon)
    t, found = math.exp(epsilon), []
    for one in (law, law.reversed()):
        p = np.exp(one.log_masses)
        q = np.exp(one.log_masses - one.losses)
        m = np.minimum(p, q)
        terms = LatticeTerms.spread((p - t * q) / m / scale, m * scale, reports, 1e-3, 1e-12)
        found.append(terms.excess().upper / reports)
    return max(found)


@pytest.mark.parametrize("name", TABLES)
def test_every_database_of_others_is_below_the_blanket(name):
    assert 0.8 < worst_part(TABLES[name]) <= 1.0


def test_a_tenth_more_blanket_is_unsound():
    table = TABLES["response of 2"]
    assert worst_part(table, 1.0 + 1e-12) <= 1.0 + 1e-3
    assert worst_part(table, 1.1) > 1.005


@pytest.mark.parametrize("name", ["response of 2", "Laplace", "Gaussian"])
def test_equal_others_are_enclosed(name):
    table = TABLES[name]
    law = FiniteLaw.from_probabilities(table[0], table[1])
    for reports in (2, 6):
        for epsilon in (0.0, 0.3):
            below = ShuffledBlanket(law, reports).delta_bracket(epsilon).lower
            found = []
            for others in (0, 1):
                rest = [others] * (reports - 1)
                exact = shuffled_law(table, [0, *rest], [1, *rest])
                found += [exact.delta(epsilon), exact.reversed().delta(epsilon)]
            assert 0.8 * max(found) <= below <= max(found)


def test_a_lower_end_pays_for_the_spread_of_its_terms(monkeypatch):
    """One report of 16 outweighs the others exactly, and is rare; the lattice lies between them.

    With the others' law Q the terms P/Q - t are 4.5 and -0.3, half a step from points of it: their
    sum, 0, is spread to both sides.
    """
    reports, q, low = 16, 3e-7, 0.3
    t = 1.0 + low - low * reports * q
    p = q * (t + low * (reports - 1.0))
    pair = np.array([[p, 1.0 - p], [q, 1.0 - q]])
    rest, epsilon = [1] * (reports - 1), math.log(t)
    exact = shuffled_law(pair, [0, *rest], [1, *rest]).delta(epsilon)
    monkeypatch.setattr(shuffled_blanket, "_FINER", 2.0 / (reports * math.sqrt(q * (1.0 - q))))
    monkeypatch.setattr(shuffled_blanket, "_FAINT", 2000.0)
    blanket = ShuffledBlanket(FiniteLaw.from_probabilities(*pair), reports)
    assert blanket.delta_bracket(epsilon).lower <= exact


def test_binary_responses_have_the_bound_of_the_clones():
    law = FiniteLaw.from_probabilities(*response(1.0, 2))
    for reports, delta in ((100, 1e-6), (2_000, 1e-12)):
        clones = ClonePair(1.0, reports).epsilon_bracket(delta)
        blanket = ShuffledBlanket(law, reports).epsilon_bracket(delta)
        assert clones.lower <= blanket.upper <= clones.upper * 1.005


def test_the_ends_of_three_values_meet():
    law = FiniteLaw.from_probabilities(*response(1.0, 3)[:2])
    below = TernaryResponses(1.0, 3_000).epsilon_bracket(1e-8).lower
    assert below <= ShuffledBlanket(law, 3_000).epsilon_bracket(1e-8).upper <= below * 1.005


@pytest.mark.parametrize(
    "law", [LaplaceLaw(1.0), pytest.param(GaussianLaw(1.0), marks=pytest.mark.nightly)],
    ids=["Laplace", "Gaussian"],
)  # fmt: skip
def test_noise_is_bracketed(law):
    found = ShuffledBlanket(law, 10_000).epsilon_bracket(1e-6)
    assert 0.02 < found.lower < found.upper < found.lower * 1.36
    if isinstance(law, LaplaceLaw):
        assert found.upper < ClonePair(1.0, 10_000).epsilon_bracket(1e-6).lower


def test_losses_that_are_cut_count_as_revealed(monkeypatch):
    whole = ShuffledBlanket(GaussianLaw(1.0), 100).delta(0.5)
    monkeypatch.setattr(shuffled_blanket, "_CAPS", (0.01,))
    cut = ShuffledBlanket(GaussianLaw(1.0), 100).delta(0.5)
    assert whole < cut < norm.cdf(-math.log(8.0) + 0.5) + 10 * whole + 1e-2


@pytest.mark.parametrize("threshold", [0.0, 0.4])
def test_a_sum_on_a_lattice_is_that_of_convolutions(threshold):
    terms = LatticeTerms(0.1, -3, np.array([0.3, 0.3, 0.1, 0.2, 0.1]), 30)
    law = np.ones(1)
    for _ in range(30):
        law = np.convolve(law, terms.masses)
    sums = 0.1 * (np.arange(law.size) - 90)
    exact = math.fsum(law * np.maximum(sums - threshold, 0.0))
    lower, upper = terms.excess(threshold)
    assert lower <= exact * (1 + 1e-12)
    assert upper >= exact * (1 - 1e-12)
    assert upper - lower <= 1e-8 * exact


def test_spreading_keeps_the_mean_and_raises_the_sum():
    values, masses = np.array([0.93, -1.17]), np.array([0.3, 0.5])
    fine, coarse = (LatticeTerms.spread(values, masses, 8, h, 1e-14) for h in (0.01, 0.35))
    for terms in (fine, coarse):
        points = terms.step * (terms.first + np.arange(terms.masses.size))
        assert terms.masses @ points == pytest.approx(masses @ values, rel=1e-12)
    assert fine.excess().lower < coarse.excess().lower


def test_composed_rounds_are_above_the_exact_law():
    """Each round has three values and twenty reports, those of the others for the third value."""
    table = response(1.0, 3)
    law = FiniteLaw.from_probabilities(table[0], table[1])
    rounds = ShuffledRounds(((ShuffledBlanket(law, 20), 3),))
    one = shuffled_law(table, [0, *[2] * 19], [1, *[2] * 19])
    exact = compose_laws([(one, 3)], 1e-4)
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        assert exact.delta(epsilon).lower <= rounds.delta(epsilon)
    assert exact.epsilon(1e-6).lower <= rounds.epsilon(1e-6) <= exact.epsilon(1e-6).upper * 1.1


def test_composed_binary_responses_have_the_bound_of_the_clones():
    """Whose law is split onto a lattice, not made from its curve."""
    law = FiniteLaw.from_probabilities(*response(1.0, 2))
    for reports, rounds, delta in ((100, 3, 1e-3), (1_000, 50, 1e-9)):
        clones = ShuffledRounds(((ClonePair(1.0, reports), rounds),))
        blanket = ShuffledRounds(((ShuffledBlanket(law, reports), rounds),))
        assert blanket.epsilon(delta) == pytest.approx(clones.epsilon(delta), rel=5e-3)


def test_unequal_rounds_are_composed_in_any_order():
    pairs = (ShuffledBlanket(LaplaceLaw(0.5), 50), 2), (ClonePair(1.0, 60), 1)
    both = ShuffledRounds(pairs).delta(0.3)
    assert ShuffledRounds(pairs[::-1]).delta(0.3) == pytest.approx(both, rel=1e-9)
    assert both > max(ShuffledRounds((one,)).delta(0.3) for one in pairs)


@pytest.mark.parametrize("law", [GaussianLaw(0.5), FiniteLaw.from_probabilities(*response(2.0, 2))],
                         ids=["Gaussian", "response"])  # fmt: skip
def test_a_law_above_points_of_a_curve_is_above_the_curve(law):
    knots = np.linspace(0.0, 3.0, 40)
    deltas = np.array([law.delta(e) for e in knots])
    above, wrong = law_above(knots, deltas)
    assert 0.0 < wrong < 1e-8  # where slopes hardly differ, masses have few digits
    for epsilon in np.linspace(-2.0, 3.0, 101):
        truth = law.delta(epsilon)
        assert truth - 1e-14 <= above.delta(epsilon) <= truth + 2e-3
    assert above.log_masses.size > 2
    assert math.fsum(np.exp(above.log_masses)) + above.infinite_mass == pytest.approx(1.0)
    low, _ = law_above(knots, deltas * 0.99)  # points below the curve
    assert low.delta(0.5) < law.delta(0.5)


@pytest.mark.parametrize("deltas", [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.9, 0.0, 0.0], [0.5]])
def test_a_law_above_extreme_points_has_masses(deltas):
    law, _ = law_above([0.0, 0.1, 0.2][: len(deltas)], deltas)
    assert math.fsum(np.exp(law.log_masses)) + law.infinite_mass == pytest.approx(1.0)
    for epsilon, delta in zip((0.0, 0.1, 0.2), deltas):
        assert law.delta(epsilon) >= delta * (1.0 - 1e-12)


@pytest.mark.parametrize(
    ("first", "second", "delta", "exact"),
    [
        ([0.9, 0.1], [0.5, 0.5], 1e-3, math.log(4.99)),  # reversed, a larger loss
        ([0.5, 0.5, 0.0], [0.4, 0.3, 0.3], 1e-3, math.inf),
        ([0.5, 0.3, 0.2], [0.5, 0.2, 0.3], 0.1, 0.0),  # the root is within rounding of 0
        ([0.5, 0.5], [0.5, 0.5], 1e-3, 0.0),
        ([0.4, 0.6], [1.0, 0.0], 1e-3, math.inf),  # equal others always report the same
    ],
)
def test_epsilon_of_one_report_is_enclosed(first, second, delta, exact):
    blanket = ShuffledBlanket(FiniteLaw.from_probabilities(first, second), 1)
    if math.isinf(exact):
        with pytest.raises(NotApplicable, match="no finite epsilon"):
            blanket.epsilon_bracket(delta)
        return
    found = blanket.epsilon_bracket(delta)
    assert found.lower <= exact + 1e-12
    assert exact <= found.upper <= exact + 1e-4


def test_extreme_laws_have_a_curve():
    disjoint = FiniteLaw.from_probabilities([1.0, 0.0], [0.0, 1.0])
    assert ShuffledBlanket(disjoint, 4).delta_bracket(0.1).upper == 1.0
    faint = FiniteLaw.from_probabilities([1.0, 1e-20], [0.5, 0.5])
    assert ShuffledBlanket(faint, 1).delta_bracket(0.0).upper >= 0.5


def test_bad_input_is_refused():
    with pytest.raises(InvalidInput):
        ShuffledBlanket(LaplaceLaw(1.0), 0)
    with pytest.raises(NotApplicable):
        ShuffledBlanket(LaplaceLaw(1.0), 10**9)
    with pytest.raises(NotApplicable, match="no finite epsilon"):
        ShuffledBlanket(GaussianLaw(3.0), 3).epsilon_bracket(1e-12)
