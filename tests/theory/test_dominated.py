"""Families of a dominating pair: their curves, Renyi divergences and compositions."""

import math

import mpmath
import numpy as np
import pytest

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory import (
    ApproxDP,
    BoundedRange,
    Composition,
    DiscreteGaussianDP,
    DominatedDP,
    GaussianDP,
    GaussianLaw,
    LaplaceLaw,
    PoissonSubsampledLaw,
    PureDP,
    RenyiFilter,
    SampledWithoutReplacementLaw,
    SubsampledGaussianDP,
    bound,
    bounds_for,
    compose_laws,
    discrete_gaussian,
    parse_guarantee,
    randomized_response,
)
from simulator.theory.bounds.certified_epsilon import certified_epsilon
from simulator.theory.guarantees import law_renyi

CASES = [(1.0, 0.01), (0.5, 0.3), (4.0, 1e-4)]


def exact_renyi(sigma, rate, alpha):
    """By quadrature in thirty digits, of the removal and of the addition."""
    with mpmath.workdps(30):
        sigma, rate, alpha = map(mpmath.mpf, (sigma, rate, alpha))

        def ratio(x):
            return 1 - rate + rate * mpmath.exp((x - mpmath.mpf(1) / 2) / sigma**2)

        far = 12 * sigma
        found = []
        for power, centre in ((alpha, alpha), (1 - alpha, 0)):
            knots = sorted({-far, -sigma, 0, sigma, centre - far, centre, centre + far, far + 1})

            def gain(x, p=power):  # less what has the mean 0
                return mpmath.npdf(x, 0, sigma) * (ratio(x) ** p - 1 - p * (ratio(x) - 1))

            moment = mpmath.quad(gain, knots)
            found.append(float(mpmath.log1p(moment) / (alpha - 1)))
        return found


@pytest.mark.sampled
@pytest.mark.parametrize(("sigma", "rate"), CASES)
@pytest.mark.parametrize("alpha", [1.001, 1.5, 2.0, 3.7, 20.0, 20.5])
def test_renyi_divergences_are_those_by_quadrature_rounded_up(sigma, rate, alpha):
    removal, addition = exact_renyi(sigma, rate, alpha)
    assert addition <= removal * (1 + 1e-12)
    found = SubsampledGaussianDP(sigma, rate).renyi(alpha)
    assert removal <= found <= removal * (1 + 1e-8) + 1e-12


def test_half_of_the_divergence_would_be_seen():
    removal, _ = exact_renyi(1.0, 0.01, 2.0)
    assert not SubsampledGaussianDP(1.0, 0.005).renyi(2.0) >= removal


@pytest.mark.parametrize(("sigma", "rate"), CASES)
def test_large_orders_are_bounded_and_grow(sigma, rate):
    guarantee = SubsampledGaussianDP(sigma, rate)
    orders = [1.5, 2.0, 2.5, 10.0, 499.5, 500.5, 4999.5, 5000.0, 5000.5, 1e7]
    values = [guarantee.renyi(order) for order in orders]
    assert values == sorted(values)
    for order, value in zip(orders, values):
        assert value <= order * guarantee.zcdp_rho


@pytest.mark.parametrize(("sigma", "rate"), CASES)
def test_the_curve_is_the_larger_of_both_directions(sigma, rate):
    law = PoissonSubsampledLaw(GaussianLaw(1 / sigma), rate)
    guarantee = SubsampledGaussianDP(sigma, rate)
    for epsilon in (0.0, 1e-3, 0.1, 0.5, 3.0):
        both = law.delta(epsilon), law.reversed().delta(epsilon)
        assert guarantee.hockey_stick(epsilon) == pytest.approx(max(both), rel=1e-12)


def test_a_family_is_read_as_it_is_written():
    guarantee = parse_guarantee("subsampled-gaussian:1.5,0.02")
    assert guarantee == SubsampledGaussianDP(1.5, 0.02)
    assert parse_guarantee(str(guarantee)) == guarantee
    for text in ("subsampled-gaussian:0,0.1", "subsampled-gaussian:1,2", "subsampled-gaussian:1"):
        with pytest.raises(InvalidInput, match=r"^subsampled-gaussian"):
            parse_guarantee(text)


@pytest.mark.parametrize(
    "law", [randomized_response(0.3, 1e-3), SampledWithoutReplacementLaw(LaplaceLaw(0.8), 0.1)]
)
def test_a_family_of_any_pair_is_read_as_it_is_written(law):
    family = DominatedDP(law)
    assert parse_guarantee(str(family)) == family
    for text in ("dominated:0.1", "dominated:", 'dominated:{"kind":"gaussian","mu":-1}'):
        with pytest.raises(InvalidInput, match="dominated"):
            parse_guarantee(text)


def test_more_noise_and_fewer_records_are_within():
    family = SubsampledGaussianDP(1.0, 0.1)
    assert family.admits(SubsampledGaussianDP(1.2, 0.1))
    assert family.admits(SubsampledGaussianDP(1.0, 0.05))
    assert family.admits(PureDP(0.0))
    assert not family.admits(SubsampledGaussianDP(0.9, 0.1))
    assert not family.admits(SubsampledGaussianDP(1.0, 0.2))
    assert not family.admits(GaussianDP(1.0))
    assert SubsampledGaussianDP(1.0, 1.0).admits(GaussianDP(1.0))
    assert GaussianDP(1.0).admits(family)


def test_a_family_of_randomized_response_composes_as_pure_privacy():
    family = DominatedDP(randomized_response(0.3))
    exact = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(PureDP(0.3), 50)).epsilon(1e-6)
    found = bound("dominating-pairs").on(Composition.repeat(family, 50)).epsilon(1e-6)
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    assert found.upper - found.lower < 1e-6


@pytest.mark.nightly
def test_a_round_that_may_leak_composes_beside_pairs():
    parts = Composition.of((DominatedDP(LaplaceLaw(0.3)), 5), (ApproxDP(0.2, 1e-7), 5))
    found = bound("dominating-pairs").on(parts).delta(1.5)
    laws = [(LaplaceLaw(0.3), 5), (randomized_response(0.2, 1e-7), 5)]
    exact = compose_laws(laws).delta(1.5)
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper


def test_a_sampled_family_lies_between_one_direction_and_both():
    """Neither alone is the truth of an adversary who may exchange the databases every round."""
    composition = Composition.repeat(SubsampledGaussianDP(1.0, 0.05), 20)
    answers = {one.name: one.epsilon(1e-5) for one in bounds_for(composition)}
    lower, upper = answers["one-direction"], answers["dominating-both-directions"]
    assert lower.lower < answers["rdp-canonne-kamath-steinke"].upper
    assert lower.lower < upper.upper
    law = PoissonSubsampledLaw(GaussianLaw(1.0), 0.05).reversed()
    removal = compose_laws([(law, 20)], 1e-6).epsilon(1e-5)
    assert lower.lower == pytest.approx(removal.lower, rel=1e-5)
    found = certified_epsilon(composition, 1e-5)
    game = answers["any-direction"]
    assert (found.lower, found.upper) == (game.lower, game.upper)
    assert lower.lower < game.lower
    assert game.upper < upper.upper
    turned = compose_laws([(law, 10), (law.reversed(), 10)], 1e-6).epsilon(1e-5)
    assert turned.lower <= upper.upper
    with pytest.raises(NotApplicable, match="worst pair"):
        bound("dominating-pairs").on(composition)


def test_a_renyi_filter_admits_sampled_rounds():
    family, filter_ = SubsampledGaussianDP(2.0, 0.01), RenyiFilter(0.5, 1e-5)
    admitted = filter_.fresh()
    rounds = 0
    while admitted.admits(family):
        admitted.spend(family)
        rounds += 1
    log_share = math.log(filter_.alpha * 1e-5)
    budget = 0.5 + log_share / (filter_.alpha - 1) - math.log1p(-1 / filter_.alpha)
    assert rounds == math.floor(budget / family.renyi(filter_.alpha))
    truth = bound("one-direction").on(Composition.repeat(family, rounds)).epsilon(1e-5)
    assert truth.lower <= 0.5


@pytest.mark.parametrize("alpha", [1.2, 2.0, 9.0])
def test_divergences_of_a_bounded_pair_are_above_quadrature(alpha):
    base, rate = 0.8, 0.2
    family = DominatedDP(SampledWithoutReplacementLaw(LaplaceLaw(base), rate))
    law = family.law
    exact = math.log(
        sum(
            float(mpmath.quad(lambda t: _density(law, t) * mpmath.exp((alpha - 1) * t), piece))
            for piece in ([law.support[0], -1e-12], [1e-12, law.support[1]])
        )
        + sum(math.exp(m + (alpha - 1) * t) for m, t in zip(law.atom_log_masses, law.atom_losses))
    ) / (alpha - 1)
    assert exact * (1 - 1e-6) <= family.renyi(alpha) <= exact * (1 + 1e-5)


def _density(law, at, width=1e-7):
    edges = [float(at) - width / 2, float(at) + width / 2]
    return float(law.continuous_masses(np.array(edges))[0][0]) / width


def test_a_pair_of_two_directions_is_no_family():
    with pytest.raises(InvalidInput, match="either order"):
        DominatedDP(PoissonSubsampledLaw(GaussianLaw(1.0), 0.1))
    with pytest.raises(InvalidInput, match="needs a privacy-loss law"):
        DominatedDP(0.1)


def test_discrete_gaussian_noise_has_the_divergences_of_the_gaussian_and_no_largest_loss():
    family = DiscreteGaussianDP(2.0, 1.0)
    assert parse_guarantee(str(family)) == family
    assert family.pure_epsilon == math.inf
    law = family.worst_law
    for alpha in (1.5, 2.0, 7.0):
        exact = float(law.log_mgf(alpha - 1)) / (alpha - 1)
        assert exact <= family.renyi(alpha) * (1 + 1e-12)
        assert exact == pytest.approx(family.renyi(alpha), rel=1e-3)
    assert family.admits(DiscreteGaussianDP(2.0, 1.0))
    assert not family.admits(DiscreteGaussianDP(1.9, 1.0))
    with pytest.raises(InvalidInput, match="whole"):
        DiscreteGaussianDP(2.0, 1.5)
    found = bound("dominating-pairs").on(Composition.repeat(family, 10)).delta(1.0)
    assert found.lower <= compose_laws([(law, 10)]).delta(1.0).upper
    assert DominatedDP(discrete_gaussian(2.0)).renyi(2.0) == math.inf


@pytest.mark.parametrize("alpha", [2.0, 4.0])
def test_a_pair_that_joins_both_directions_loses_more_than_the_worse_of_them(alpha):
    law = SampledWithoutReplacementLaw(GaussianLaw(1.0), 0.01)
    own = float(law.log_mgf(alpha - 1.0)) / (alpha - 1.0)  # by quadrature
    assert own > 1.3 * SubsampledGaussianDP(1.0, 0.01).renyi(alpha)
    assert DominatedDP(law).renyi(alpha) >= own * (1 - 1e-6)


@pytest.mark.parametrize(("sigma", "alpha"), [(0.05, 1.3), (0.05, 2.7), (0.5, 1.5)])
def test_with_little_noise_a_divergence_is_bounded_by_whole_orders(monkeypatch, sigma, alpha):
    """The chord is above the quadrature, and not far; at 1e-4 the nodes would fill the memory."""
    quadrature = SubsampledGaussianDP(sigma, 0.01).renyi(alpha)
    monkeypatch.setattr(law_renyi, "_MOST_NODES", 1.0)
    chord = SubsampledGaussianDP(sigma, 0.01).renyi(alpha)
    assert quadrature < chord <= alpha / (2.0 * sigma**2) * (1.0 + 1e-12)
    monkeypatch.undo()
    assert 0.0 < SubsampledGaussianDP(1e-4, 0.01).renyi(alpha) < math.inf


@pytest.mark.parametrize("epsilon", [1e-4, 0.099, 0.101, 1.0, 40.0])
def test_the_rho_of_bounded_range_is_the_supremum_over_orders_and_pairs(epsilon):
    """The Renyi divergence of the extremal pair of t, written out, largest over t and the order."""
    with mpmath.workdps(40):
        e = mpmath.mpf(epsilon)

        def over_order(theta, t):
            up = (1 - mpmath.exp(t - e)) / (1 - mpmath.exp(-e))
            mean = up * mpmath.exp(theta * t) + (1 - up) * mpmath.exp(theta * (t - e))
            return mpmath.log(mean) / theta / (1 + theta)

        orders = [mpmath.mpf(10) ** k for k in (-9, -6, -3, -1, 0, 1, 2)]

        def over_pairs(theta, low, high):
            points = [low + (high - low) * k / 16 for k in range(17)]
            best = max(points[1:-1], key=lambda t: over_order(theta, t))
            near = (high - low) / 16
            return (
                over_order(theta, best)
                if near < e * mpmath.mpf("1e-4")
                else over_pairs(theta, best - near, best + near)
            )

        found = max(over_pairs(theta, mpmath.mpf(0), e) for theta in orders)
        rho = BoundedRange(epsilon).zcdp_rho
        exact = e / (mpmath.expm1(e)) - 1 - mpmath.log(e / mpmath.expm1(e))
        assert found <= exact <= rho
        assert found == pytest.approx(float(exact), rel=1e-6)
    assert rho == pytest.approx(float(exact), rel=1e-8)
    assert rho < min(epsilon**2 / 8, PureDP(epsilon).zcdp_rho)
    assert rho == BoundedRange(epsilon).mean_loss


@pytest.mark.parametrize("epsilon", [1e-4, 0.01, 0.049, 0.051, 0.5, 1.0, 3.0, 20.0])
def test_the_rho_of_laplace_noise_is_the_supremum_over_orders(epsilon):
    """Mironov 2017, Proposition 6, written out; at order 1 it is the mean of the loss."""
    with mpmath.workdps(60):
        e = mpmath.mpf(epsilon)

        def over_order(theta):
            a = 1 + theta
            grown = a * mpmath.exp(theta * e) + theta * mpmath.exp(-a * e)
            return mpmath.log(grown / (2 * a - 1)) / theta / a

        found = max(over_order(mpmath.mpf(10) ** (k / mpmath.mpf(8))) for k in range(-96, 40))
        exact = e + mpmath.exp(-e) - 1
        rho = DominatedDP(LaplaceLaw(epsilon)).zcdp_rho
        assert found <= exact <= rho
        assert found == pytest.approx(float(exact), rel=1e-9)
    assert rho == pytest.approx(float(exact), rel=1e-9)
    assert rho < PureDP(epsilon).zcdp_rho
