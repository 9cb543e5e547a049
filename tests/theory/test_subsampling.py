"""Sampled records: the theorems of amplification beside exact pairs, in fractions."""

import itertools
import math
from fractions import Fraction

import pytest

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory import (
    ApproxDP,
    Composition,
    GaussianDP,
    GaussianLaw,
    LaplaceLaw,
    PoissonSubsampledLaw,
    PureDP,
    SubsampledDP,
    amplified_by_sampling,
    bound,
    bounds_for,
    compose_laws,
    parse_guarantee,
    randomized_response,
    sampled_with_replacement,
)

ODDS, RATE = 3, Fraction(1, 5)
EPSILON, AMPLIFIED = math.log(ODDS), math.log1p(float(RATE) * (ODDS - 1))
TRUTH = Fraction(ODDS, ODDS + 1)
WITHOUT = (TRUTH, 1 - TRUTH)
SAMPLED = tuple((1 - RATE) * p + RATE * (1 - p) for p in WITHOUT)
ROUND = SubsampledDP(EPSILON, 0.0, float(RATE))
FAMILY = Composition.repeat(ROUND, 1)
ENCLOSING = ("one-direction", "dominating-both-directions")


def delta(first, second, ratio):
    return sum(max(Fraction(0), p - ratio * q) for p, q in zip(first, second))


def test_sampled_randomized_response_attains_the_pure_theorem():
    reached = max(max(p / q, q / p) for p, q in zip(WITHOUT, SAMPLED))
    assert reached == 1 + RATE * (ODDS - 1)
    assert amplified_by_sampling(PureDP(EPSILON), float(RATE)).epsilon == pytest.approx(
        AMPLIFIED, rel=1e-14
    )
    granted = ROUND.pure_epsilon
    assert AMPLIFIED <= granted <= AMPLIFIED * (1 + 1e-14)
    assert SubsampledDP(1e-300, 0.0, 1e-300).pure_epsilon > 0.0
    broken = math.log1p(float(RATE) / 2 * (ODDS - 1))  # half the rate would promise too much
    assert delta(SAMPLED, WITHOUT, Fraction(math.exp(broken))) > 0.05


@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(11, 10), Fraction(13, 10)])
def test_one_round_is_exact(ratio):
    exact = float(max(delta(SAMPLED, WITHOUT, ratio), delta(WITHOUT, SAMPLED, ratio)))
    epsilon = math.log(ratio)
    assert ROUND.hockey_stick(epsilon) == pytest.approx(exact, rel=1e-12)
    lower, upper = (bound(name).on(FAMILY).delta(epsilon) for name in ENCLOSING)
    assert lower.lower * (1 - 1e-12) <= exact <= upper.upper * (1 + 1e-12)
    assert upper.upper - lower.lower <= 1e-5 * exact
    assert bound("amplified-by-sampling").on(FAMILY).delta(epsilon).upper >= exact


def test_the_leaky_pair_attains_the_approximate_theorem():
    leak = Fraction(1, 50)
    without = [leak, *((1 - leak) * p for p in WITHOUT), Fraction(0)]
    with_her = [Fraction(0), *((1 - leak) * p for p in WITHOUT[::-1]), leak]
    sampled = [(1 - RATE) * p + RATE * q for p, q in zip(without, with_her)]
    family = SubsampledDP(EPSILON, float(leak), float(RATE))
    promised = amplified_by_sampling(ApproxDP(EPSILON, float(leak)), float(RATE))
    ratio = 1 + RATE * (ODDS - 1)
    assert delta(sampled, without, ratio) == RATE * leak
    assert promised.delta == family.leak == pytest.approx(float(RATE * leak), rel=1e-15)
    for ratio in (Fraction(1), Fraction(11, 10), Fraction(3, 2)):
        exact = max(delta(sampled, without, ratio), delta(without, sampled, ratio))
        assert family.hockey_stick(math.log(ratio)) == pytest.approx(float(exact), rel=1e-12)
        amplified = bound("amplified-by-sampling").on(Composition.repeat(family, 1))
        assert amplified.delta(math.log(ratio)).upper >= exact


@pytest.mark.parametrize("rounds", [1, 3])
def test_leaky_rounds_are_covered_in_both_directions(rounds):
    leak = Fraction(1, 50)
    without = [leak, *((1 - leak) * p for p in WITHOUT), Fraction(0)]
    with_her = [Fraction(0), *((1 - leak) * p for p in WITHOUT[::-1]), leak]
    sampled = [(1 - RATE) * p + RATE * q for p, q in zip(without, with_her)]
    pairs = ((sampled, without), (without, sampled))
    family = SubsampledDP(EPSILON, float(leak), float(RATE))
    applied = bound("dominating-both-directions").on(Composition.repeat(family, rounds))
    for swaps in range(rounds + 1):
        laws = [pairs[i < swaps] for i in range(rounds)]
        products = [
            [math.prod(chosen) for chosen in itertools.product(*(law[side] for law in laws))]
            for side in (0, 1)
        ]
        for ratio in (Fraction(1), Fraction(6, 5), Fraction(8, 5)):
            exact = float(delta(*products, ratio))
            assert exact <= applied.delta(math.log(ratio)).upper * (1 + 1e-12)
            if swaps == 0:  # the removal in every round is not far from it
                assert applied.delta(math.log(ratio)).upper < 1.5 * exact


def test_a_uniform_subset_attains_it_under_replace_one():
    # Four records, two of them drawn; the response depends on whether the first one is drawn.
    drawn = list(itertools.combinations(range(4), 2))
    rate = Fraction(sum(0 in subset for subset in drawn), len(drawn))
    laws = []
    for holds in (True, False):  # replaced by another record it moves nothing
        said = [WITHOUT if holds and 0 in subset else WITHOUT[::-1] for subset in drawn]
        laws.append([sum(column) / len(drawn) for column in zip(*said)])
    reached = max(max(p / q, q / p) for p, q in zip(*laws))
    assert math.log(reached) == pytest.approx(
        amplified_by_sampling(PureDP(EPSILON), float(rate)).epsilon, rel=1e-14
    )


def drawn_with_replacement(drawn, records, start):
    """Both laws of a response whose odds grow by ODDS with each copy of the first record."""
    laws = []
    for weight in (1, 0):  # replaced by another record it counts for nothing
        total = [Fraction(0), Fraction(0)]
        for sample in itertools.product(range(records), repeat=drawn):
            odds = start * ODDS ** (weight * sample.count(0))
            total[0] += odds / (1 + odds)
            total[1] += 1 / (1 + odds)
        laws.append([mass / records**drawn for mass in total])
    return laws


@pytest.mark.parametrize("start", [Fraction(1, 300), Fraction(1, 9), Fraction(1, 2), Fraction(1)])
@pytest.mark.parametrize(("drawn", "records"), [(1, 4), (3, 4), (5, 3)])
def test_drawing_with_replacement_is_covered_at_any_number_of_copies(drawn, records, start):
    laws = drawn_with_replacement(drawn, records, start)
    for copies in range(1, drawn + 1):
        kept = sampled_with_replacement(PureDP(EPSILON), drawn, records, copies)
        ratio = Fraction(math.exp(kept.core.pure_epsilon))
        for first, second in (laws, laws[::-1]):
            assert delta(first, second, ratio) <= kept.leak + 1e-15
    assert kept.leak == 0.0
    once = sampled_with_replacement(PureDP(EPSILON), drawn, records)
    if drawn > 1:  # without the deltas of the groups it would promise too much
        steep = drawn_with_replacement(drawn, records, Fraction(1, 300))
        assert delta(*steep, Fraction(math.exp(once.core.pure_epsilon))) > 0


def test_one_draw_with_replacement_is_one_without():
    once = sampled_with_replacement(PureDP(1.0), 1, 20)
    assert once.epsilon == pytest.approx(
        amplified_by_sampling(PureDP(1.0), 1 / 20).epsilon, rel=1e-14
    )
    rare = sampled_with_replacement(PureDP(0.5), 10, 10**4, 3)
    by_hand = sum(
        math.comb(10, k) * 1e-4**k * (1 - 1e-4) ** (10 - k) * PureDP(k / 2).hockey_stick(1.5)
        for k in range(4, 11)
    )
    assert rare.delta == pytest.approx(by_hand, rel=1e-10)
    with pytest.raises(NotApplicable):
        sampled_with_replacement(GaussianDP(1.0), 5, 10)
    with pytest.raises(InvalidInput):
        sampled_with_replacement(PureDP(1.0), 0, 10)


@pytest.mark.parametrize("law", [LaplaceLaw(1.0), GaussianLaw(0.7)])
@pytest.mark.parametrize("rate", [0.01, 0.3])
def test_every_point_of_a_curve_is_amplified_and_some_direction_attains_it(law, rate):
    sampled = PoissonSubsampledLaw(law, rate)
    for epsilon in (0.1, 0.6, 0.95):
        promised = amplified_by_sampling(ApproxDP(epsilon, law.delta(epsilon)), rate)
        ends = sampled.delta(promised.epsilon), sampled.reversed().delta(promised.epsilon)
        assert max(ends) == pytest.approx(promised.delta, rel=1e-9)
        assert max(ends) > promised.delta * 0.6  # of a smaller rate it would be below
        assert min(ends) < max(ends)


@pytest.mark.parametrize("rounds", [2, 4])
def test_rounds_are_enclosed_whatever_the_order_of_adding_and_removing(rounds):
    composition = Composition.repeat(ROUND, rounds)
    below, above = (bound(name).on(composition) for name in ENCLOSING)
    amplified = bound("amplified-by-sampling").on(composition)
    pairs = ((SAMPLED, WITHOUT), (WITHOUT, SAMPLED))
    for ratio in (Fraction(6, 5), Fraction(7, 4)):
        exact = {}
        for swaps in range(rounds + 1):
            laws = [pairs[i < swaps] for i in range(rounds)]
            products = [
                [math.prod(chosen) for chosen in itertools.product(*(law[side] for law in laws))]
                for side in (0, 1)
            ]
            exact[swaps] = delta(*products, ratio)
        upper = above.delta(math.log(ratio)).upper
        assert upper * (1 + 1e-12) >= max(exact.values())
        lower = below.delta(math.log(ratio)).lower
        assert lower == pytest.approx(float(max(exact[0], exact[rounds])), rel=1e-5)
        assert amplified.delta(math.log(ratio)).upper > upper


def test_the_registry_holds_each_round_once_it_is_amplified():
    composition = Composition.of((SubsampledDP(1.0, 0.0, 0.1), 60), (SubsampledDP(2.0, 0, 0.01), 9))
    answers = {one.name: one.epsilon(1e-6) for one in bounds_for(composition)}
    lower, upper = (answers.pop(name) for name in ENCLOSING)
    assert 0 < lower.lower < upper.upper < min(answer.upper for answer in answers.values())
    assert {"basic", "kairouz-oh-viswanath-3.5", "rdp-mironov", "gdp"} < set(answers)
    whole = Composition.of((PureDP(1.0), 60), (PureDP(2.0), 9))
    assert answers["amplified-by-sampling"].upper < 0.3 * min(
        one.epsilon(1e-6).upper for one in bounds_for(whole) if one.kind != "approximation"
    )


def test_the_deltas_of_the_rounds_are_scaled_by_the_rate():
    composition = Composition.repeat(SubsampledDP(0.5, 1e-6, 0.1), 10)
    assert composition.leaks == pytest.approx(1e-6, rel=1e-12)
    amplified = bound("amplified-by-sampling").on(composition)
    plain = bound("kairouz-oh-viswanath-3.3").on(
        Composition.repeat(amplified_by_sampling(ApproxDP(0.5, 1e-6), 0.1), 10)
    )
    assert amplified.epsilon(1e-5).value == pytest.approx(plain.epsilon(1e-5).value, rel=1e-12)
    both = bound("dominating-both-directions").on(composition).epsilon(1e-5).upper
    assert 0.5 * amplified.epsilon(1e-5).value < both < amplified.epsilon(1e-5).value
    with pytest.raises(NotApplicable, match="reveals the record with the delta"):
        bound("one-direction").on(composition)
    with pytest.raises(NotApplicable, match="on a sample"):
        bound("amplified-by-sampling").on(Composition.repeat(PureDP(1.0), 2))


def test_with_every_record_the_sample_is_the_mechanism():
    everyone = Composition.repeat(SubsampledDP(0.3, 0.0, 1.0), 20)
    truth = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(PureDP(0.3), 20))
    for name in ("amplified-by-sampling", "dominating-both-directions"):
        answer = bound(name).on(everyone).epsilon(1e-5)
        assert answer.upper == pytest.approx(truth.epsilon(1e-5).value, rel=1e-6)


def test_no_direction_alone_is_above_the_other_over_several_rounds():
    law = PoissonSubsampledLaw(randomized_response(EPSILON), float(RATE))
    one, other = compose_laws([(law, 6)]), compose_laws([(law.reversed(), 6)])
    upper = bound("dominating-both-directions").on(Composition.repeat(ROUND, 6))
    for epsilon in (0.2, 1.0, 1.8):
        assert upper.delta(epsilon).upper >= max(
            one.delta(epsilon).lower, other.delta(epsilon).lower
        )


def test_the_family_is_read_and_compared():
    assert parse_guarantee("subsampled:1,0,0.1") == SubsampledDP(1.0, 0.0, 0.1)
    assert parse_guarantee(str(ROUND)) == ROUND
    assert ROUND.implies(PureDP(AMPLIFIED * (1 + 1e-12)))
    assert not ROUND.implies(PureDP(0.9 * AMPLIFIED))
    assert all(ROUND.admits(kept) for kept in (SubsampledDP(1.0, 0, 0.1), PureDP(0.0)))
    larger = (SubsampledDP(1.0, 0.0, 0.5), SubsampledDP(1.0, 0.1, 0.1), PureDP(AMPLIFIED))
    assert not any(ROUND.admits(other) for other in larger)
    for rate in (0.0, 1.1, math.nan):
        with pytest.raises(InvalidInput):
            SubsampledDP(1.0, 0.0, rate)
    with pytest.raises(NotApplicable):
        amplified_by_sampling(GaussianDP(1.0), 0.5)


def test_a_sampled_leak_is_attained():
    law = SubsampledDP(0.5, 0.1, rate=0.2).attained_law
    assert max(law.infinite_mass, law.reversed().infinite_mass) == pytest.approx(0.2 * 0.1)


def test_too_many_sampled_rounds_of_two_kinds_are_refused():
    many = Composition.of(
        (SubsampledDP(1.0, 0.0, 0.1), 20_000), (SubsampledDP(2.0, 0.0, 0.1), 20_000)
    )
    with pytest.raises(NotApplicable, match="40000 rounds are too many to compose"):
        bound("amplified-by-sampling").on(many)
