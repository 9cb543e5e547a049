"""Shuffled reports: the clone bound above exact enumeration, in fractions, and where it is met."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory import (
    ApproxDP,
    Composition,
    GaussianDP,
    PureDP,
    ShuffledDP,
    bound,
    bounds_for,
    compose_laws,
    parse_guarantee,
    shuffled,
    shuffled_law,
)
from simulator.theory.bracket import Bracket
from simulator.theory.laws import clone_sums, shuffled_responses
from simulator.theory.laws.clones import ClonePair

ODDS = 3  # e^epsilon_0, so that every probability is a fraction
LOCAL = math.log(ODDS)
RATIOS = [Fraction(1), Fraction(6, 5), Fraction(8, 5), Fraction(2), Fraction(5, 2), Fraction(14, 5)]


def responses(outputs):
    """Randomized response over so many values, in fractions."""
    total = ODDS + outputs - 1
    return [
        [Fraction(ODDS if said == meant else 1, total) for said in range(outputs)]
        for meant in range(outputs)
    ]


def histograms(randomizer, inputs):
    """Probability of every histogram of the reports, one report after the other."""
    law = {(0,) * len(randomizer[0]): Fraction(1)}
    for row in (randomizer[meant] for meant in inputs):
        grown = {}
        for counts, mass in law.items():
            for said, chance in enumerate(row):
                more = (*counts[:said], counts[said] + 1, *counts[said + 1 :])
                grown[more] = grown.get(more, 0) + mass * chance
        law = grown
    return law


def exact_delta(first, second, ratio):
    return sum(max(Fraction(0), mass - ratio * second.get(key, 0)) for key, mass in first.items())


def pair_of_definition(reports, share, ratio):
    """delta of the clone pair by its definition: C clones, A of them from Q, and hers."""
    truth, total = Fraction(ODDS, ODDS + 1), Fraction(0)
    for c in range(reports):
        chance = math.comb(reports - 1, c) * share**c * (1 - share) ** (reports - 1 - c)
        for a in range(c + 2):
            here, before = (Fraction(math.comb(c, i), 2**c) if i >= 0 else 0 for i in (a, a - 1))
            one = truth * before + (1 - truth) * here
            other = (1 - truth) * before + truth * here
            total += chance * max(Fraction(0), one - ratio * other)
    return total


def neighbours(outputs, reports):
    """Every pair of databases that differ in one person, up to order and names of the values."""
    for others in itertools.combinations_with_replacement(range(outputs), reports - 1):
        yield (0, *others), (1, *others)


@pytest.mark.parametrize(
    ("outputs", "reports"),
    [(2, 1), (2, 2), (2, 3), (2, 5), (2, 8), (3, 2), (3, 4), (3, 6), (4, 3)],
)
def test_the_clone_bound_is_above_every_pair_of_shuffled_responses(outputs, reports):
    randomizer = responses(outputs)
    bounds = [ClonePair(LOCAL, reports).delta_bracket(math.log(ratio)).upper for ratio in RATIOS]
    for zero, one in neighbours(outputs, reports):
        laws = histograms(randomizer, zero), histograms(randomizer, one)
        for first, second in (laws, laws[::-1]):
            for ratio, upper in zip(RATIOS, bounds):
                assert exact_delta(first, second, ratio) <= upper


def test_with_a_tenth_more_clones_it_would_not_be():
    reports, ratio = 8, RATIOS[-1]
    more = ClonePair(LOCAL, reports, clones=2.2 / (1 + ODDS)).delta_bracket(math.log(ratio)).upper
    laws = [histograms(responses(2), (x, *[0] * (reports - 1))) for x in (0, 1)]
    assert max(exact_delta(*laws, ratio), exact_delta(*laws[::-1], ratio)) > more * 1.01


@pytest.mark.parametrize("reports", range(1, 9))
def test_binary_responses_meet_the_bound(reports):
    stronger = ClonePair(LOCAL, reports)
    met = []
    for zero, one in neighbours(2, reports):
        laws = [histograms(responses(2), database) for database in (zero, one)]
        for ratio in RATIOS:
            lower, upper = stronger.delta_bracket(math.log(ratio))
            truth = max(exact_delta(*laws, ratio), exact_delta(*laws[::-1], ratio))
            assert truth <= upper
            met.append(truth >= lower)
    assert any(met)


@pytest.mark.parametrize("reports", [1, 2, 5, 12])
@pytest.mark.parametrize("share", [None, Fraction(1, 2), Fraction(1, 10)])
def test_the_curve_of_the_pair_is_that_of_its_definition(reports, share):
    pair = ClonePair(LOCAL, reports, None if share is None else float(share))
    for ratio in RATIOS:
        lower, upper = pair.delta_bracket(math.log(ratio))
        # The ends hold at the doubles next to ln 3 and ln ratio; so much may these move it.
        exact = float(pair_of_definition(reports, share or Fraction(2, 1 + ODDS), ratio))
        assert lower * (1 - 1e-13) <= exact <= upper * (1 + 1e-13)
        assert upper - lower <= 1e-11 * upper


def blurred(reports):
    """The table that the clones describe: two values, and others who show mostly neither.

    It is not private, as the others reveal themselves; no private one is needed for the law.
    """
    truth, share = 1 / (1 + math.exp(-LOCAL)), 2 / (1 + math.exp(LOCAL))
    table = [[truth, 1 - truth, 0], [1 - truth, truth, 0], [share / 2, share / 2, 1 - share]]
    others = [2] * (reports - 1)
    return shuffled_law(table, [0, *others], [1, *others])


def test_the_bound_is_met_where_the_others_show_no_more_than_clones():
    law, pair = blurred(6), ClonePair(LOCAL, 6)
    for epsilon in (0.0, 0.2, 0.7, 1.05):
        lower, upper = pair.delta_bracket(epsilon)
        assert law.delta(epsilon) == pytest.approx((lower + upper) / 2, rel=1e-12)
        assert law.reversed().delta(epsilon) == pytest.approx((lower + upper) / 2, rel=1e-12)


@pytest.mark.parametrize(("local", "reports", "epsilon"), [(0.5, 7000, 0.05), (3.0, 9000, 0.3)])
def test_a_window_of_clones_agrees_with_survival_functions(local, reports, epsilon):
    c = np.arange(reports)
    weights, m = binom.pmf(c, reports - 1, 2 / (1 + math.exp(local))), c + 1
    t = (1 + math.tanh(epsilon / 2) / math.tanh(local / 2)) / 2
    k = np.floor(t * m) + 1
    # E (X/m - t)_+ = Pr[X' >= k - 1]/2 - t Pr[X >= k], X' a binomial of one fewer
    excess = binom.sf(k - 2, m - 1, 0.5) / 2 - t * binom.sf(k - 1, m, 0.5)
    seen = weights > 1e-30
    expected = 2 * (1 + math.exp(epsilon)) * math.tanh(local / 2) * (weights @ (excess * seen))
    lower, upper = ClonePair(local, reports).delta_bracket(epsilon)
    assert expected == pytest.approx(lower, rel=1e-8)
    assert 0 < lower <= upper <= lower * (1 + 1e-9)


def test_blocks_of_clones_enclose_what_all_of_them_give(monkeypatch):
    pair = ClonePair(1.0, 50_000)
    exact = pair.delta_bracket(0.02)
    monkeypatch.setattr(clone_sums, "WORK", 2e4)
    lower, upper = pair.delta_bracket(0.02)
    assert lower < exact.lower <= exact.upper < upper < lower * 1.2


def test_epsilon_inverts_delta_and_no_clone_hides_a_lone_report():
    pair = ClonePair(2.0, 40)
    low, high = pair.epsilon_bracket(1e-3)
    assert pair.delta_bracket(high).upper <= 1e-3 < pair.delta_bracket(low).lower
    assert high - low < 1e-10
    alone = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(PureDP(2.0), 1))
    assert ClonePair(2.0, 1).epsilon_bracket(1e-3).upper == pytest.approx(alone.epsilon(1e-3).value)
    assert ClonePair(2.0, 40).epsilon_bracket(0.9) == Bracket(0.0, 0.0)


@pytest.mark.parametrize("reports", [3, 8, 40])
def test_shuffled_binary_responses_are_counted_right(reports):
    table = responses(2)
    for ones in {0, 1, reports // 2, reports - 1}:
        others = [1] * ones + [0] * (reports - 1 - ones)
        first, second = (histograms(table, (x, *others)) for x in (0, 1))
        atoms = shuffled_responses.response_atoms(LOCAL, reports, ones)
        for ratio in RATIOS:
            lower, upper = atoms.delta_bracket(math.log(ratio))
            exact = exact_delta(first, second, ratio)
            assert Fraction(lower) * (1 - Fraction(1, 10**13)) <= exact
            assert exact <= Fraction(upper) * (1 + Fraction(1, 10**13))


def test_the_worst_pair_is_found_in_either_direction():
    reports, ratio = 6, Fraction(6, 5)
    exact = max(
        exact_delta(first, second, ratio)
        for zero, one in neighbours(2, reports)
        for first, second in itertools.permutations(
            [histograms(responses(2), zero), histograms(responses(2), one)]
        )
    )
    lower, upper = shuffled_responses.response_delta(LOCAL, reports, math.log(ratio))
    assert lower * (1 - 1e-13) <= exact <= upper * (1 + 1e-13)


def test_histograms_of_more_values_are_enumerated_right():
    table = responses(3)
    zero, one = (0, 1, 2, 2), (1, 1, 2, 2)
    law = shuffled_law([[float(p) for p in row] for row in table], zero, one)
    first, second = histograms(table, zero), histograms(table, one)
    for ratio in RATIOS:
        exact = float(exact_delta(first, second, ratio))
        assert law.delta(math.log(ratio)) == pytest.approx(exact, rel=1e-12, abs=1e-15)


@pytest.mark.sampled
@pytest.mark.parametrize("local", [0.05, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("reports", [1_000, 30_000])
def test_the_closed_form_is_above_the_numerical_bound_which_is_above_the_responses(local, reports):
    composition = Composition.repeat(ShuffledDP(local, reports), 1)
    closed, summed, responded = (
        bound(name).on(composition)
        for name in ("clones-closed-form", "clones-numerical", "shuffled-randomized-response")
    )
    for delta in (1e-4, 1e-8):
        if math.exp(local) * 16 * math.log(2 / delta) > reports:
            with pytest.raises(NotApplicable, match="closed form"):
                closed.epsilon(delta)
            continue
        granted = closed.epsilon(delta)
        above, below = summed.epsilon(delta).upper, responded.epsilon(delta).lower
        assert 0 < below < above < granted.upper
        if local >= 0.5 and delta == 1e-8:
            assert granted.value / 6 < above  # a sixth of it would be too little
        assert closed.delta(granted.value).value == pytest.approx(delta, rel=1e-9)
        assert closed.delta(granted.value).value >= summed.delta(granted.value).upper


def test_the_closed_form_is_the_printed_one():
    with mpmath.workdps(40):
        e0, n, delta = mpmath.mpf(1), mpmath.mpf(10**4), mpmath.mpf(10) ** -6
        root = 8 * mpmath.sqrt(mpmath.e**e0 * mpmath.log(4 / delta)) / mpmath.sqrt(n)
        slope = (mpmath.e**e0 - 1) / (mpmath.e**e0 + 1)
        printed = mpmath.log(1 + slope * (root + 8 * mpmath.e**e0 / n))
    granted = bound("clones-closed-form").on(Composition.repeat(ShuffledDP(1.0, 10**4), 1))
    assert granted.epsilon(1e-6).value == pytest.approx(float(printed), rel=1e-14)
    assert granted.delta(0.0).value == 1.0  # the constant term is never earned
    assert granted.delta(0.9).value == pytest.approx(2 * math.exp(-(10**4) / (16 * math.e)))


def test_the_closed_form_has_the_logarithm_of_both_sides_and_one_side_would_do():
    """ln(4/delta) in the formula, ln(2/delta) in its condition; a constant of 1 is refuted."""
    local, reports, delta = 1.0, 10_000, 1e-6
    growth = math.exp(local)

    def formula(constant, sides):
        bracket = constant * math.sqrt(growth * math.log(sides / delta) / reports)
        return math.log1p(math.tanh(local / 2) * (bracket + 8 * growth / reports))

    rounds = Composition.repeat(ShuffledDP(local, reports), 1)
    summed = bound("clones-numerical").on(rounds).epsilon(delta).upper
    printed = bound("clones-closed-form").on(rounds).epsilon(delta).value
    assert printed == pytest.approx(formula(8, 4), rel=1e-12)
    assert summed < formula(8, 2) < printed
    assert [round(each, 4) for each in (summed, formula(8, 2), printed)] == [0.0432, 0.2096, 0.214]
    assert formula(1, 4) < summed


def test_several_rounds_are_above_the_pair_composed_and_close_to_it():
    rounds = 4
    composed = compose_laws([(blurred(9), rounds)])
    numerical = bound("clones-numerical").on(Composition.repeat(ShuffledDP(LOCAL, 9), rounds))
    for delta in (1e-2, 1e-6):
        true, upper = composed.epsilon(delta), numerical.epsilon(delta).upper
        assert true.lower <= upper <= true.upper * (1 + 1e-4)
    true, upper = composed.delta(2.0), numerical.delta(2.0).upper
    assert true.lower <= upper <= true.upper * (1 + 1e-3)


def test_several_rounds_reveal_at_least_what_the_responses_do():
    rounds, table = 3, [[float(p) for p in row] for row in responses(2)]
    composed = compose_laws([(shuffled_law(table, [0] * 9, [1, *[0] * 8]), rounds)])
    exact = max(one.delta(1.0).upper for one in (composed, composed.reversed()))
    composition = Composition.repeat(ShuffledDP(LOCAL, 9), rounds)
    answer = bound("shuffled-randomized-response").on(composition).delta(1.0)
    lower = answer.lower
    assert (answer.value, answer.upper) == (lower, 1.0)
    assert exact * (1 - 1e-4) <= lower <= exact * (1 + 1e-12)
    mixed = composition + Composition.of((ShuffledDP(0.5, 30), 2), (ShuffledDP(0.0, 30), 1))
    below = bound("shuffled-randomized-response").on(mixed).epsilon(1e-3).lower
    above = bound("clones-numerical").on(mixed).epsilon(1e-3).upper
    assert 0 < below < above < rounds * LOCAL + 1.0


def test_the_registry_encloses_a_shuffle():
    composition = Composition.repeat(ShuffledDP(1.0, 2_000), 1)
    answers = {one.name: one.epsilon(1e-5) for one in bounds_for(composition)}
    assert {"basic", "clones-closed-form", "clones-numerical"} < set(answers)
    upper = min(answer.upper for answer in answers.values())
    assert upper == answers["clones-numerical"].upper < 0.2
    assert answers["shuffled-randomized-response"].lower > upper / 2
    for name in ("clones-closed-form", "clones-numerical", "shuffled-randomized-response"):
        with pytest.raises(NotApplicable):
            bound(name).on(Composition.repeat(PureDP(1.0), 1))
    with pytest.raises(NotApplicable, match="one round"):
        bound("clones-closed-form").on(composition + composition)


def test_the_guarantee_is_a_family_like_the_others():
    family = shuffled(PureDP(1.0), 1000)
    assert family == ShuffledDP(1.0, 1000) == parse_guarantee("shuffled:1,1000")
    assert parse_guarantee(str(family)) == family
    assert family.implies(PureDP(1.0))
    assert not family.implies(PureDP(0.9))
    assert all(family.admits(kept) for kept in (ShuffledDP(0.9, 1001), PureDP(0.0)))
    assert not any(family.admits(other) for other in (ShuffledDP(1.0, 999), PureDP(0.5)))
    assert family.hockey_stick(0.1) == ClonePair(1.0, 1000).delta_bracket(0.1).upper
    assert family.hockey_stick(1.0) == 0.0
    assert family.renyi(2.0) == PureDP(1.0).renyi(2.0)


def test_nonsense_is_refused():
    for bad in (ApproxDP(1.0, 1e-6), GaussianDP(1.0)):
        with pytest.raises(NotApplicable):
            shuffled(bad, 10)
    for reports in (0, 1.5, True):
        with pytest.raises(InvalidInput):
            ShuffledDP(1.0, reports)
    with pytest.raises(NotApplicable):
        ClonePair(1.0, 10**9)
    with pytest.raises(NotApplicable, match="histograms"):
        shuffled_law(np.full((2, 8), 1 / 8), [0] * 40, [1] + [0] * 39)
    for table, zero, one in (
        ([[0.5, 0.6]], [0], [0]),
        ([[0.5, 0.5]], [0], [1]),
        ([[0.5, 0.5]], [0], [0, 0]),
        ([[0.5, 0.5]], [0.0], [0.0]),
        ([0.5, 0.5], [0], [0]),
    ):
        with pytest.raises(InvalidInput):
            shuffled_law(table, zero, one)
