"""The best choice among pairs in every round, against recursions that share nothing with it."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import scipy

from simulator import Account
from simulator.foundations.errors import NotApplicable
from simulator.theory.bounds import menu_recursion
from simulator.theory.bounds.certified_epsilon import certified_epsilon
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.menu_recursion import (
    Lattice,
    _Line,
    _lower,
    _upper,
    menu_delta,
    menu_epsilon,
)
from simulator.theory.bounds.registry import bound
from simulator.theory.events import compose, gaussian, self_compose, subsampled
from simulator.theory.guarantees.bounded_range import BoundedRange
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.guarantees.subsampled import SubsampledGaussianDP
from simulator.theory.laws.extremal import randomized_response
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.gaussian_curve import gaussian_delta
from simulator.theory.laws.subsampled import PoissonSubsampledLaw
from simulator.theory.pld.distribution import compose_laws


def directions(law):
    return law, law.reversed()


def sampled_gaussian(sigma, rate):
    return directions(PoissonSubsampledLaw(GaussianLaw(1.0 / sigma), rate))


def exact_value(pairs, rounds, factor):
    """The largest E0[(1 - factor e^-L)_+] of any adaptive choice from finite pairs, in fractions.

    Over every play: p and r are its probabilities in both experiments.
    """
    return largest_value([pairs] * rounds, factor)


def largest_value(menus, factor):
    """The same, with the pairs of every round."""

    @cache
    def value(played, p, r):
        if played == len(menus):
            return max(p - factor * r, Fraction(0))
        return max(
            sum(value(played + 1, p * a, r * b) for a, b in zip(first, second))
            for first, second in menus[played]
        )

    return value(0, Fraction(1), Fraction(1))


RESPONSES = [
    ([Fraction(7, 10), Fraction(3, 10)], [Fraction(51, 100), Fraction(49, 100)]),
    (
        [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)],
        [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)],
    ),
]


@pytest.mark.parametrize("pair", RESPONSES)
@pytest.mark.parametrize("factor", [Fraction(1), Fraction(3, 2), Fraction(9, 4)])
def test_small_games_are_those_of_fractions(pair, factor):
    menu = directions(FiniteLaw.from_probabilities(*([float(p) for p in side] for side in pair)))
    for rounds in (1, 2, 5):
        truth = float(exact_value([pair, pair[::-1]], rounds, factor))
        found = menu_delta(((menu, rounds),), math.log(factor), work=1e4 * rounds)
        assert found.lower <= truth * (1 + 1e-12) + 1e-12, (rounds, found, truth)
        assert truth <= found.upper * (1 + 1e-12) + 1e-12, (rounds, found, truth)
        assert found.width <= 1e-3 * truth + 1e-9, (rounds, found, truth)


def test_menus_that_differ_are_played_in_their_order():
    """Of both orders of two kinds of rounds, in fractions: they are not alike."""
    first, second = (Fraction(9, 10), Fraction(1, 10)), (Fraction(4, 5), Fraction(1, 5))
    pairs = ((first, second), RESPONSES[1])
    menus = [
        directions(FiniteLaw.from_probabilities(*([float(p) for p in side] for side in pair)))
        for pair in pairs
    ]

    def value(order, factor):
        return largest_value([[pairs[i], pairs[i][::-1]] for i in order], factor)

    truths, found = [], []
    for order in ((0, 0, 1, 1), (1, 1, 0, 0)):
        truths.append(float(value(order, Fraction(3, 2))))
        stages = ((menus[order[0]], 2), (menus[order[-1]], 2))
        found.append(menu_delta(stages, math.log(1.5), work=1e6))
        assert found[-1].lower <= truths[-1] * (1 + 1e-12)
        assert truths[-1] <= found[-1].upper * (1 + 1e-12)
    assert max(found[0].lower, found[1].lower) > min(found[0].upper, found[1].upper)


def test_turning_gains_and_a_fixed_direction_is_seen_to_fall_short():
    pair = RESPONSES[0]
    turned = exact_value([pair, pair[::-1]], 5, Fraction(3, 2))
    fixed = max(exact_value([one], 5, Fraction(3, 2)) for one in (pair, pair[::-1]))
    assert turned > fixed
    menu = directions(FiniteLaw.from_probabilities(*([float(p) for p in side] for side in pair)))
    found = menu_delta(((menu, 5),), math.log(1.5), work=1e5)
    for law in menu:
        assert menu_delta((((law,), 5),), math.log(1.5), work=1e5).upper < found.lower


def one_round(sigma, rate, epsilon):
    """The larger of both directions' curves at any real epsilon, from the Gaussian's own."""
    a = math.exp(epsilon)
    with_record = 1.0 - a
    if a > 1.0 - rate:  # q h(1 + (a - 1)/q)
        with_record = rate * gaussian_delta(1.0 / sigma, math.log1p((a - 1.0) / rate))
    share = 1.0 - a * (1.0 - rate)  # s h(a q / s)
    without = share * gaussian_delta(1.0 / sigma, math.log(a * rate / share)) if share > 0 else 0.0
    return max(with_record, without)


def test_two_rounds_of_the_sampled_gaussian_are_those_of_quadrature():
    sigma, rate, epsilon = 1.0, 0.05, 0.2

    def mean(with_record):
        def integrand(z):
            loss = math.log1p(rate * math.expm1((z - 0.5 / sigma) / sigma))
            if with_record:
                density = (1 - rate) * math.exp(-(z**2) / 2) + rate * math.exp(
                    -((z - 1 / sigma) ** 2) / 2
                )
                return density * one_round(sigma, rate, epsilon - loss)
            return math.exp(-(z**2) / 2) * one_round(sigma, rate, epsilon + loss)

        pieces = [(-9.0, -1.0), (-1.0, 1.0), (1.0, 2.5), (2.5, 4.0), (4.0, 10.0)]
        total = sum(
            scipy.integrate.quad(integrand, *piece, epsabs=1e-13, epsrel=1e-9, limit=200)[0]
            for piece in pieces
        )
        return total / math.sqrt(2.0 * math.pi)

    truth = max(mean(True), mean(False))
    found = menu_delta(((sampled_gaussian(sigma, rate), 2),), epsilon)
    assert found.lower <= truth * (1 + 1e-8)
    assert truth * (1 - 1e-8) <= found.upper
    assert found.width <= 1e-3 * truth


@pytest.mark.nightly
def test_one_law_alone_is_composed():
    law = PoissonSubsampledLaw(GaussianLaw(0.8), 0.1)
    for each in directions(law):
        composed = compose_laws([(each, 30)], 1e-6)
        for epsilon in (0.3, 1.5):
            found, truth = menu_delta((((each,), 30),), epsilon, work=1e6), composed.delta(epsilon)
            assert found.lower <= truth.upper
            assert truth.lower <= found.upper
            assert found.width <= 5e-3 * truth.upper
        found, truth = menu_epsilon((((each,), 30),), 1e-6, work=1e6), composed.epsilon(1e-6)
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper


def test_a_symmetric_pair_gains_nothing_by_turning():
    law = randomized_response(0.3)
    exact = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(PureDP(0.3), 20)).delta(1.0)
    found = menu_delta(((directions(law), 20),), 1.0, work=1e6)
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper


@pytest.mark.nightly
def test_ends_stay_ends_however_coarse_the_lattice():
    menu = sampled_gaussian(1.0, 0.02)
    fine = menu_epsilon(((menu, 50),), 1e-6, work=2e6)
    for work in (6e4, 1.5e5, 6e5):
        coarse = menu_epsilon(((menu, 50),), 1e-6, work=work)
        assert coarse.lower <= fine.upper
        assert fine.lower <= coarse.upper
        assert coarse.width > fine.width


def test_small_deltas_keep_their_digits():
    menu = sampled_gaussian(1.0, 0.01)
    epsilon = menu_epsilon(((menu, 20),), 1e-40, work=1e6)
    assert epsilon.width < 1e-3 * epsilon.upper
    delta = menu_delta(((menu, 20),), epsilon.midpoint, work=1e6)
    assert 0.97e-40 < delta.lower <= delta.upper < 1.03e-40


def test_what_no_lattice_holds_is_refused():
    menu = sampled_gaussian(1.0, 0.01)
    with pytest.raises(NotApplicable, match="too many"):
        menu_epsilon(((menu, 1000),), 1e-5, work=1e5)
    with pytest.raises(NotApplicable, match="below the recursion's reach"):
        menu_epsilon(((menu, 10),), 1e-280)
    with pytest.raises(NotApplicable, match="one lattice"):
        menu_epsilon(((sampled_gaussian(1e-4, 0.5), 5),), 1e-9)


@pytest.mark.nightly
def test_the_row_of_the_family_lies_between_one_direction_and_both():
    family = SubsampledGaussianDP(1.0, 0.01)
    rounds = Composition.repeat(family, 100)
    game = bound("any-direction").on(rounds)
    found = game.epsilon(1e-5)
    assert found.lower <= 0.722744 <= found.upper
    assert found.width < 1e-4
    fixed = max(
        compose_laws([(law, 100)], 1e-6).epsilon(1e-5).upper for law in sampled_gaussian(1, 0.01)
    )
    assert fixed < found.lower
    assert bound("one-direction").on(rounds).epsilon(1e-5).lower <= fixed
    assert found.upper < bound("dominating-both-directions").on(rounds).epsilon(1e-5).upper
    assert found.upper < bound("rdp-canonne-kamath-steinke").on(rounds).epsilon(1e-5).upper
    certain = certified_epsilon(rounds, 1e-5)
    assert (certain.lower, certain.upper) == (found.lower, found.upper)


def test_one_round_of_the_family_has_no_direction_to_change():
    once = Composition.repeat(SubsampledGaussianDP(1.0, 0.01), 1)
    found = bound("any-direction").on(once).epsilon(1e-5)
    assert found.width < 1e-9
    removal = sampled_gaussian(1.0, 0.01)[1]
    assert removal.delta(found.upper) <= 1e-5 * (1 + 1e-9)
    assert removal.delta(found.lower) >= 1e-5 * (1 - 1e-9)
    assert bound("any-direction").on(once).delta(0.1).upper == pytest.approx(removal.delta(0.1))


@pytest.mark.nightly
def test_a_thousand_rounds_of_the_family():
    found = bound("any-direction").on(Composition.repeat(SubsampledGaussianDP(1.0, 0.01), 1000))
    ends = found.epsilon(1e-5)
    assert ends.lower <= 1.835887 <= ends.upper
    assert ends.width < 2e-4


@pytest.mark.parametrize(
    ("rounds", "reason"),
    [
        (Composition.repeat(PureDP(0.1), 3), "worst pair"),
        (Composition.repeat(BoundedRange(0.1), 3), "Poisson sample"),
        (Composition.repeat(SubsampledGaussianDP(1.0, 1.0), 3), "worst pair"),
        (
            Composition.of(
                (SubsampledGaussianDP(1.0, 0.1), 2), (SubsampledGaussianDP(2.0, 0.1), 2)
            ).unordered,
            "depends on the order",
        ),
    ],
)
def test_what_the_row_is_not_for(rounds, reason):
    assert reason in bound("any-direction").why_not(rounds)


def test_the_largest_value_of_no_rounds_left_is_a_step():
    """One round of the menu is its larger curve, also below zero."""
    menu = sampled_gaussian(1.0, 0.3)
    for epsilon in np.linspace(0.0, 1.5, 4).tolist():
        truth = max(law.delta(epsilon) for law in menu)
        found = menu_delta(((menu, 1),), epsilon, work=1e6)
        assert found.lower <= truth <= found.upper


@pytest.mark.nightly
def test_events_are_played_in_their_order_and_alternating_ones_are_refused():
    first, second = subsampled(gaussian(1.0), 0.1), subsampled(gaussian(2.0), 0.1)
    one, other = (
        Account(compose(self_compose(a, 2), self_compose(b, 3)))
        .compare(delta=1e-3, names=["any-direction"])[0]
        .answer
        for a, b in ((first, second), (second, first))
    )
    assert max(one.lower, other.lower) > min(one.upper, other.upper)  # the order is seen
    alternating = Account(self_compose(compose(first, second), 3))
    with pytest.raises(NotApplicable, match="depends on the order"):
        alternating.compare(delta=1e-3, names=["any-direction"])
    alike = Account(self_compose(compose(first, first), 3))
    assert alike.compare(delta=1e-3, names=["any-direction"])[0].kind == "exact"


def test_rounds_too_many_for_the_recursion_lie_between_the_games_that_enclose_this_one():
    rounds = Composition.repeat(SubsampledGaussianDP(1.0, 0.01), 50_000)
    names = ("one-direction", "dominating-both-directions", "rdp-canonne-kamath-steinke")
    found = bound("any-direction").on(rounds).epsilon(1e-6)
    least, most, renyi = (bound(name).on(rounds).epsilon(1e-6) for name in names)
    assert found.lower == pytest.approx(least.lower, rel=1e-6)
    assert found.upper == min(most.upper, renyi.upper) == renyi.upper
    account = Account(self_compose(subsampled(gaussian(1.0), 0.01), 50_000))
    row = account.compare(delta=1e-6, names=["any-direction"])[0]
    assert (row.kind, row.answer.lower > 0.0) == ("upper", True)  # too wide to be called exact


@pytest.mark.nightly
def test_tiny_losses_have_narrow_ends_without_the_recursion():
    rounds = Composition.repeat(SubsampledGaussianDP(1e4, 1e-4), 100)
    found = bound("any-direction").on(rounds).epsilon(1e-12)
    assert found.lower == pytest.approx(found.upper, rel=1e-3)


def test_a_norm_is_rounded_up_and_hardly():
    values = np.random.default_rng(3).normal(size=1000)
    norm, exact = _Line.norm(None, values), math.sqrt(math.fsum(values**2))
    assert exact < norm < exact * (1.0 + 1e-8)


@pytest.mark.parametrize("noisy", [0, 1])
def test_noise_of_what_is_won_and_of_what_is_lost_lowers_the_lower_end(monkeypatch, noisy):
    menu, calls = directions(randomized_response(0.3)), []

    def noise(line, before, size, kernels):
        calls.append(size)
        return 1e-3 if len(calls) % 2 == noisy else 0.0

    stages = [(menu, 2)]
    lattice = Lattice.at_epsilon(stages, 0.2, 1e5)
    line = _Line(lattice)
    quiet, above = _lower(stages, line), _upper(stages, line)
    assert (quiet <= above).all()
    assert above[0] == 1.0 > above[1]
    monkeypatch.setattr(menu_recursion, "_noise", noise)
    np.testing.assert_allclose(
        _lower(stages, line), np.maximum(quiet - 1e-3 / line.tilt[line.inside], 0.0), atol=1e-9
    )
    assert len(calls) == 4
